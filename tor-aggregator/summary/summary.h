/*
 * summary - what of a rack's results travels on. Pure.
 *
 * Rows per (destination ToR, class) with sketches, every row_interval; a row that
 * turns bad goes at once, with its flows. Per RNIC: counts and quantiles, every
 * rnic_interval, at once when bad. Each row covers the time since it last went, so
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
#define SUMMARY_BAD_LOST 3       /* a row is bad from so many lost in a second ... */
#define SUMMARY_BAD_PER_MILLE 10 /* ... and this share of what was sent */

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

/* Of the losses towards that ToR that no direction is known of yet. */
void summary_directions(
    struct summary *summary, uint16_t dst_tor, uint64_t forward, uint64_t reverse);

/* A part of these members was found at fault, or no longer. */
void summary_mark_rnic(struct summary *summary, uint32_t src, bool bad);

/* Once a second: which rows have turned bad since the last call? */
void summary_check(struct summary *summary);

/*
 * Is something due? Then *ret (head and raw counters unfilled) has it, valid until
 * the next call of any function here; what went starts afresh.
 */
bool summary_take(struct summary *summary, const struct roster *roster, rm_mono_t now,
    rm_wall_t wall, struct wire_summary *ret);

/* Did the last message end an interval of rows? Then no row is left to tell. */
bool summary_sent_all(const struct summary *summary);

/* Members were renumbered: per-RNIC figures start afresh. */
void summary_renumber(struct summary *summary);

/* The last taken per-RNIC row (host, device unset); NULL: none yet. */
const struct wire_rnic_row *summary_rnic_last(
    const struct summary *summary, uint32_t src);
struct summary_marks {     /* of all probes so far, as the responders received them */
	uint64_t markable; /* with ECT or CE: a switch may mark it */
	uint64_t marked;   /* with CE */
};
struct summary_marks summary_marks(const struct summary *summary);
/* Results that found no row, or no memory for their RNIC's, so far. */
const uint64_t *summary_refused(const struct summary *summary);

#endif
