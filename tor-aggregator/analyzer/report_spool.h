/*
 * report spool - the two lanes to the analyzer: summaries and incidents.
 *
 * Each lane is a spool: a message gets a number (incarnation: the spool's identity;
 * seq) and is kept, on disk if there is a folder, until the analyzer acknowledges it
 * and so takes over the responsibility. A full lane drops its oldest message. For each
 * lane, always: in = delivered + spooled + dropped. Only messages that are on disk are
 * sent.
 */
#ifndef TOR_AGGREGATOR_ANALYZER_REPORT_SPOOL_H
#define TOR_AGGREGATOR_ANALYZER_REPORT_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/spool/spool.h"
#include "schemas/wire.h"

struct rm_incident;
struct rm_loop;
struct rm_worker;
struct report_spool;

struct report_spool_options {
	const char *aggregator, *region; /* copied */
	bool off; /* without an analyzer messages are counted and dropped */
	/* With summaries/ and incidents/ in it; NULL: memory only. */
	const char *folder;
	uint64_t summary_bytes, incident_bytes;
	uint64_t incarnation; /* for lanes that are created; 0: random */
};

struct report_spool_counts { /* of one lane; up to date after report_spool_held */
	uint64_t in;         /* created, and found at the start */
	uint64_t delivered;
	uint64_t dropped_full;  /* dropped for newer ones */
	uint64_t dropped_write; /* could not be written: too large, or out of memory */
	uint64_t dropped_off;
	uint64_t bytes; /* of messages for the analyzer */
};

/* On failure error names the problem with the folder. */
int report_spool_new(struct rm_loop *loop, struct rm_worker *worker,
    const struct report_spool_options *options, struct report_spool **ret,
    struct rm_error *error);
void report_spool_free(struct report_spool *reports); /* after the worker was freed */

/* Called when more messages can be read. There is only one listener. */
void report_spool_listen(
    struct report_spool *reports, void (*on_ready)(void *arg), void *arg);

/* Fills the head of the message. */
void report_spool_summary(
    struct report_spool *reports, const struct wire_summary *summary);
void report_spool_incident(struct report_spool *reports, const char *tor,
    enum wire_incident_state state, const struct rm_incident *incident);

/* Reads the first message with a number >= seq that is on disk, as rm_spool_get;
 * after -EAGAIN, and when there are new messages, on_ready is called. */
int report_spool_take(struct report_spool *reports, enum wire_lane lane, uint64_t seq,
    struct rm_spool_item *ret);
/* Returns the number up to which messages were removed: a number that was never sent
 * (from a lost disk, or from before a restored backup) means all sent ones. */
uint64_t report_spool_acked(
    struct report_spool *reports, enum wire_lane lane, uint64_t seq);

uint64_t report_spool_incarnation(
    const struct report_spool *reports, enum wire_lane lane);
uint64_t report_spool_held(struct report_spool *reports, enum wire_lane lane);
const struct report_spool_counts *report_spool_counts(
    const struct report_spool *reports, enum wire_lane lane);
/* NULL: the lanes are off. */
const struct rm_spool_counts *report_spool_lane_counts(
    const struct report_spool *reports, enum wire_lane lane);

#endif
