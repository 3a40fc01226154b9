/*
 * intake_info - options of intake, and data of its sessions.
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

#define INTAKE_MAX_PEERS 16384   /* aggregators whose message numbers are kept */
#define INTAKE_MAX_UNACKED 4096  /* messages of one lane of one aggregator */
#define INTAKE_MAX_PENDING 65536 /* messages of one lane of all */

struct rm_tls;

struct intake_options {
	const char *name; /* borrowed */
	uint64_t incarnation;
	size_t max_sessions;
	int64_t silence_ns; /* 3 s: of one that pings; then its link is dropped */
	struct rm_tls *tls; /* borrowed; NULL: plaintext */
};

struct intake_info {
	uint64_t id; /* never 0, never used again */
	bool is_welcome, is_held;
	char region[RM_NAME_BYTES], name[RM_NAME_BYTES];
	char software[RM_VERSION_BYTES]; /* its release; "": not reported */
	struct rm_address peer;
	int64_t row_interval_ns; /* between two summaries of healthy rows */
	rm_wall_t since;
	rm_mono_t last_seen;
	char (*tors)[RM_NAME_BYTES];
	size_t tor_count;
	uint64_t summaries, incidents; /* messages, also repeated ones */
	uint64_t unacked;
	/* When its certificate and its controller's ("": no controller) expire, in
	 * wall-clock seconds, if that is soon; 0: not soon. */
	int64_t ends_s, controller_ends_s;
	char controller[RM_NAME_BYTES];
};

struct intake_callbacks {
	/* NULL, or the reason to refuse it. Called before the session begins. */
	const char *(*on_hello)(const struct intake_info *session, void *arg);
	void (*on_gone)(const struct intake_info *session, void *arg);
	/* It goes to another analyzer; on_gone follows. */
	void (*on_left)(const struct intake_info *session, void *arg);
	void (*on_seen)(const struct intake_info *session, void *arg);
	/* -ENOBUFS, -ENOMEM: try again later. -EBADMSG: never. */
	int (*take_summary)(
	    const struct wire_summary_view *view, uint64_t *ticket, void *arg);
	int (*take_incident)(
	    const struct wire_incident *incident, uint64_t *ticket, void *arg);
	/* Called once for each, by their numbers; after take_summary. repeated: an
	 * earlier incarnation of the aggregator has sent it, and it was counted
	 * then. */
	void (*on_summary)(
	    const struct wire_summary_view *view, bool repeated, void *arg);
	/* Called before take_incident; the same may come again. < 0: try again
	 * later. */
	int (*on_incident)(const struct wire_incident *incident, void *arg);
	void (*on_drilled)(const struct intake_info *session,
	    const struct wire_drill_answer *answer, void *arg);
	void *arg;
};

struct intake_counts {
	uint64_t refused_hellos, replaced;
	uint64_t silent; /* dropped for it */
	uint64_t summaries, incidents, repeated, missing, acks;
	uint64_t refused_messages; /* damaged, malformed, unknown */
	uint64_t foreign;          /* with another aggregator's region, name or ToR */
	uint64_t pointless; /* verified, but without points: acknowledged and dropped */
	uint64_t held;      /* times that reading of a session was paused */
	uint64_t refused_intervals; /* beyond WIRE_MAX_SUMMARY_INTERVAL_S */
	uint64_t peers;
};

#endif
