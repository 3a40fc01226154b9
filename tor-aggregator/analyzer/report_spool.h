/*
 * report_spool - stores the messages to the analyzer in two lanes: summaries and
 * incidents.
 *
 * Each lane is a spool. A message gets the spool's incarnation and a number (seq), and
 * is kept, on disk if there is a folder, until the analyzer acknowledges it: from then
 * on the analyzer is responsible for it. A full lane drops its oldest message. For each
 * lane this always holds: in = delivered + spooled + dropped. With a folder, a message
 * is sent only when it is on disk.
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
	bool off; /* true: there is no analyzer, so messages are counted and dropped */
	/* Contains the folders summaries/ and incidents/; NULL: memory only. */
	const char *folder;
	uint64_t summary_bytes, incident_bytes;
	uint64_t incarnation; /* for new spools; 0: random */
};

/* counts of one lane; call report_spool_held before you read them */
struct report_spool_counts {
	/* messages created, and messages found on disk at the start */
	uint64_t in;
	uint64_t delivered;
	uint64_t dropped_full; /* messages dropped because the lane was full */
	/* messages dropped because they were too large, or memory ran out */
	uint64_t dropped_write;
	uint64_t dropped_off;
	uint64_t bytes; /* bytes of all messages in */
};

/* On failure *error describes the problem with the folder. */
int report_spool_new(struct rm_loop *loop, struct rm_worker *worker,
    const struct report_spool_options *options, struct report_spool **ret,
    struct rm_error *error);
void report_spool_free(struct report_spool *reports); /* free the worker first */

/* on_ready is called when more messages can be read. A second call replaces the
 * first. */
void report_spool_listen(
    struct report_spool *reports, void (*on_ready)(void *arg), void *arg);

/* Adds a summary to its lane, and fills in the message's head. */
void report_spool_summary(
    struct report_spool *reports, const struct wire_summary *summary);
void report_spool_incident(struct report_spool *reports, const char *tor,
    enum wire_incident_state state, const struct rm_incident *incident);

/* Reads the first message whose number is at least seq, like rm_spool_get. -EAGAIN: it
 * cannot be read yet; on_ready will be called. on_ready is also called for new
 * messages. */
int report_spool_take(struct report_spool *reports, enum wire_lane lane, uint64_t seq,
    struct rm_spool_item *ret);
/* The analyzer has acknowledged all messages up to seq. Returns the number up to which
 * messages were removed. If seq is above the numbers of all messages on disk (the disk
 * was lost, or a backup was restored), these are all messages on disk. */
uint64_t report_spool_acked(
    struct report_spool *reports, enum wire_lane lane, uint64_t seq);

uint64_t report_spool_incarnation(
    const struct report_spool *reports, enum wire_lane lane);
uint64_t report_spool_held(struct report_spool *reports, enum wire_lane lane);
const struct report_spool_counts *report_spool_counts(
    const struct report_spool *reports, enum wire_lane lane);
/* Returns NULL if the lanes are off. */
const struct rm_spool_counts *report_spool_lane_counts(
    const struct report_spool *reports, enum wire_lane lane);

#endif
