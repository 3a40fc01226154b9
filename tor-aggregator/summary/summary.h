/*
 * summary - collects the results of a rack that are sent to the analyzer. Pure.
 *
 * Rows per (destination ToR, class) with sketches, every row_interval; a row that turns
 * bad is sent at once, with its flows. Per RNIC: counts and quantiles, every
 * rnic_interval, at once when bad. Each row covers the time since it was last sent, so
 * that rows add up; no result is in two.
 */
#ifndef TOR_AGGREGATOR_SUMMARY_SUMMARY_H
#define TOR_AGGREGATOR_SUMMARY_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct roster;
struct summary;

#define SUMMARY_MAX_ROWS 512
#define SUMMARY_BAD_LOST 3       /* a row is bad with so many losses in a second ... */
#define SUMMARY_BAD_PER_MILLE 10 /* ... and this share of the sent probes */

struct summary_options {
	int64_t row_interval_ns;  /* 10 s */
	int64_t rnic_interval_ns; /* 60 s */
};

int summary_new(const struct summary_options *options, rm_mono_t now, rm_wall_t wall,
    struct summary **ret);
void summary_free(struct summary *summary);

/* Hot path. src: a member's index; dst_tor: the roster's number of it. */
void summary_add(struct summary *summary, const struct wire_result *result,
    uint32_t src, uint16_t dst_tor);

/* Adds losses towards that ToR whose direction was not known before. */
void summary_directions(
    struct summary *summary, uint16_t dst_tor, uint64_t forward, uint64_t reverse);

/* A part that includes this member was found at fault, or is healthy again. */
void summary_mark_rnic(struct summary *summary, uint32_t src, bool bad);

/* Call it once a second: finds rows that have turned bad since the last call. */
void summary_check(struct summary *summary);

/*
 * True: something is due. Then *ret (head and raw counters unfilled) has it, valid
 * until the next call of any function here; the rows that were sent start anew.
 */
bool summary_take(struct summary *summary, const struct roster *roster, rm_mono_t now,
    rm_wall_t wall, struct wire_summary *ret);

/* True: the last message ended an interval of rows. Then all rows have been sent. */
bool summary_sent_all(const struct summary *summary);

/* Members were renumbered: values per RNIC start anew. */
void summary_renumber(struct summary *summary);

/* The row per RNIC that was taken last (host, device unset); NULL: none yet. */
const struct wire_rnic_row *summary_rnic_last(
    const struct summary *summary, uint32_t src);
struct summary_marks {     /* over all probes so far, as the responders received them */
	uint64_t markable; /* with ECT or CE: a switch may mark it */
	uint64_t marked;   /* with CE */
};
struct summary_marks summary_marks(const struct summary *summary);
/* Results refused so far because there was no row, or no memory for their RNIC's
 * row. */
const uint64_t *summary_refused(const struct summary *summary);

#endif
