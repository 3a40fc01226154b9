/*
 * intake - the sessions of all aggregators: they dial us, say whose racks they serve,
 * and send summaries and incidents until we acknowledge them.
 *
 * A message is acknowledged when its ticket is durable (intake_durable), so that
 * from then on we are responsible for it. What comes again is acknowledged again and
 * not applied twice; what is missing is counted, never waited for. A new life of an
 * aggregator may have lost numbers, and so ours of it are forgotten: what it sends
 * again is then taken again, a summary marked as repeated if its time says so. When
 * it cannot be taken, the session is not read until it can: nothing is dropped. An
 * aggregator speaks for its own ToRs only.
 */
#ifndef ANALYZER_INTAKE_INTAKE_H
#define ANALYZER_INTAKE_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

#define INTAKE_MAX_PEERS 16384   /* aggregators whose numbers are remembered */
#define INTAKE_MAX_UNACKED 4096  /* messages of one lane of one aggregator */
#define INTAKE_MAX_PENDING 65536 /* messages of one lane of all */

struct intake;
struct rm_loop;
struct rm_strangers;
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
	struct rm_address peer;
	rm_wall_t since;
	rm_mono_t heard;
	char (*tors)[RM_NAME_BYTES];
	size_t tor_count;
	uint64_t summaries, incidents; /* messages, also repeated ones */
	uint64_t unacked;
	/* Of its certificate and of its controller's, "" if none: when it ends, in
	 * wall-clock seconds, once that is soon; 0: not soon. */
	int64_t ends_s, controller_ends_s;
	char controller[RM_NAME_BYTES];
};

struct intake_callbacks {
	/* NULL, or why it is not welcome. Before the session is. */
	const char *(*on_hello)(const struct intake_info *session, void *arg);
	void (*on_gone)(const struct intake_info *session, void *arg);
	/* It goes to another analyzer; on_gone follows. */
	void (*on_left)(const struct intake_info *session, void *arg);
	void (*on_heard)(const struct intake_info *session, void *arg);
	/* -ENOBUFS, -ENOMEM: not now. -EBADMSG: never. */
	int (*take_summary)(
	    const struct wire_summary_view *view, uint64_t *ticket, void *arg);
	int (*take_incident)(
	    const struct wire_incident *incident, uint64_t *ticket, void *arg);
	/* Each once, as far as their numbers tell; after take_summary. repeated: an
	 * earlier life of the aggregator has sent it, and it was counted then. */
	void (*on_summary)(
	    const struct wire_summary_view *view, bool repeated, void *arg);
	/* Before take_incident; may come again. < 0: not now. */
	int (*on_incident)(const struct wire_incident *incident, void *arg);
	void (*on_drilled)(const struct intake_info *session,
	    const struct wire_drill_answer *answer, void *arg);
	void *arg;
};

struct intake_counts {
	uint64_t sessions, accepted, refused_connections, refused_hellos, replaced;
	uint64_t silent; /* dropped for it */
	uint64_t summaries, incidents, repeated, missing, acks;
	uint64_t refused_messages; /* damaged, malformed, unknown */
	uint64_t foreign;          /* of another's region, name or ToR */
	uint64_t pointless; /* verified, but no points: acknowledged and forgotten */
	uint64_t held;      /* times that a session was not read on */
	uint64_t peers;
};

int intake_new(struct rm_loop *loop, const struct intake_options *options,
    const struct intake_callbacks *callbacks, struct intake **ret);
void intake_free(struct intake *intake);

int intake_accept(int fd, const struct rm_address *peer, void *intake);
void intake_durable(struct intake *intake, enum wire_lane lane, uint64_t ticket);
/* We ourselves stood still until now: nobody was silent meanwhile. */
void intake_stalled(struct intake *intake, rm_mono_t now);
/* By the session's id. -ENOTCONN: it is gone; else as rm_link_send. */
int intake_drill(
    struct intake *intake, uint64_t session, const struct wire_drill *drill);

/* The i-th session, NULL past the end; borrowed until the loop turns. */
const struct intake_info *intake_get(const struct intake *intake, size_t i);
/* The welcome one of that name, or NULL. */
const struct intake_info *intake_find(
    const struct intake *intake, const char *region, const char *name);
const struct intake_counts *intake_counts(const struct intake *intake);
/* Who has not said yet who it is. */
const struct rm_strangers *intake_strangers(const struct intake *intake);

#endif
