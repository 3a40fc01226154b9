/*
 * report spool - the two lanes to the analyzer: summaries and incidents.
 *
 * Each lane is a spool: a message is numbered (incarnation: the spool's identity; seq)
 * and kept, on disk if there is a folder, until the analyzer acknowledges it and so is
 * responsible for it. A full lane drops its oldest. Always, per lane: in = delivered +
 * spooled + dropped. Only durable messages are sent.
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
	bool off; /* without an analyzer messages are made, counted and dropped */
	const char *folder; /* summaries/ and incidents/ in it; NULL: memory only */
	uint64_t summary_bytes, incident_bytes;
	uint64_t incarnation; /* of lanes that are made anew; 0: random */
};

struct report_spool_counts { /* of one lane; up to date after report_spool_held */
	uint64_t in;         /* made, and found at the start */
	uint64_t delivered;
	uint64_t dropped_full;  /* dropped for newer ones */
	uint64_t dropped_write; /* could not be written: too large, or out of memory */
	uint64_t dropped_off;
	uint64_t bytes; /* of what was made for the analyzer */
};

/* On failure error says what is wrong with a folder. */
int report_spool_new(struct rm_loop *loop, struct rm_worker *worker,
    const struct report_spool_options *options, struct report_spool **ret,
    struct rm_error *error);
void report_spool_free(struct report_spool *reports); /* after the worker */

/* Called when more messages can be read. One listener. */
void report_spool_listen(
    struct report_spool *reports, void (*on_ready)(void *arg), void *arg);

/* The head is filled here. */
void report_spool_summary(
    struct report_spool *reports, const struct wire_summary *summary);
void report_spool_incident(struct report_spool *reports, const char *tor,
    enum wire_incident_state state, const struct rm_incident *incident);

/* The first with a number >= seq that is durable, as rm_spool_get; after -EAGAIN, and
 * when there are new ones, on_ready follows. */
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
