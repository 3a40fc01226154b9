/*
 * intake_info - the options of intake, its callbacks, and the data of a session.
 */
#ifndef ANALYZER_INTAKE_INTAKE_INFO_H
#define ANALYZER_INTAKE_INTAKE_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/core/version.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

/* maximum number of aggregators whose message numbers are stored */
#define INTAKE_MAX_PEERS 16384
/* maximum number of unacknowledged messages of one lane of one aggregator */
#define INTAKE_MAX_UNACKED 4096
/* maximum number of unacknowledged messages of one lane of all aggregators */
#define INTAKE_MAX_PENDING 65536

struct rm_tls;

struct intake_options {
	const char *name; /* borrowed */
	uint64_t incarnation;
	size_t max_sessions;
	/* 3 s: if a peer that has sent pings is silent for longer, its link is closed
	 */
	int64_t silence_ns;
	struct rm_tls *tls; /* borrowed; NULL: plaintext */
};

struct intake_info {
	uint64_t id; /* never 0, and never reused */
	bool is_welcome, is_held;
	char region[RM_NAME_BYTES], name[RM_NAME_BYTES];
	/* release of the aggregator; "": not reported */
	char software[RM_VERSION_BYTES];
	struct rm_address peer;
	int64_t row_interval_ns; /* time between two summaries of healthy rows */
	rm_wall_t since;
	rm_mono_t last_seen;
	char (*tors)[RM_NAME_BYTES];
	size_t tor_count;
	/* numbers of messages, including repeated ones */
	uint64_t summaries, incidents;
	uint64_t unacked;
	/* When the certificates of the aggregator, and of its controller ("": none),
	 * expire, in seconds since the epoch; 0: not soon. */
	int64_t ends_s, controller_ends_s;
	char controller[RM_NAME_BYTES];
};

struct intake_callbacks {
	/* Called before a session begins. Returns NULL to accept it, else the reason of
	 * the refusal. */
	const char *(*on_hello)(const struct intake_info *session, void *arg);
	void (*on_gone)(const struct intake_info *session, void *arg);
	/* The aggregator goes to another analyzer; on_gone follows. */
	void (*on_left)(const struct intake_info *session, void *arg);
	void (*on_seen)(const struct intake_info *session, void *arg);
	/* Stores a message, and sets *ticket. -ENOBUFS, -ENOMEM: intake tries again
	 * later. -EBADMSG: the message can never be stored. */
	int (*take_summary)(
	    const struct wire_summary_view *view, uint64_t *ticket, void *arg);
	int (*take_incident)(
	    const struct wire_incident *incident, uint64_t *ticket, void *arg);
	/* Called once for each summary, in the order of numbers, after take_summary.
	 * repeated: an earlier incarnation of the aggregator has sent the same summary,
	 * and it was applied then. */
	void (*on_summary)(
	    const struct wire_summary_view *view, bool repeated, void *arg);
	/* Called before take_incident, possibly several times for one incident. < 0:
	 * intake tries again later. */
	int (*on_incident)(const struct wire_incident *incident, void *arg);
	void (*on_drilled)(const struct intake_info *session,
	    const struct wire_drill_answer *answer, void *arg);
	void *arg;
};

struct intake_counts {
	uint64_t refused_hellos, replaced;
	uint64_t silent; /* links closed because of silence */
	uint64_t summaries, incidents, repeated, missing, acks;
	/* messages that were damaged, malformed or of an unknown kind */
	uint64_t refused_messages;
	/* messages with the region, name or ToR of another aggregator */
	uint64_t foreign;
	/* valid messages of which no point can be made: they are acknowledged, and not
	 * stored */
	uint64_t pointless;
	uint64_t held; /* how often the reading of a session was paused */
	/* hellos with an interval above WIRE_MAX_SUMMARY_INTERVAL_S */
	uint64_t refused_intervals;
	uint64_t peers;
};

#endif
