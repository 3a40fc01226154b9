/*
 * summary - sums up the results of a rack into the rows that are sent to the analyzer.
 * Pure.
 *
 * There is a row for each destination ToR and class, with sketches of delays. This row
 * is sent every row_interval; when it becomes bad, it is sent at once, with its flows.
 * There is also a row for each RNIC, with counts and quantiles. This row is sent every
 * rnic_interval, and at once when the RNIC becomes bad. A row covers the time since it
 * was sent last, so no result is in two rows, and rows can be summed up.
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
/* a row is bad if, in a second, it has so many losses */
#define SUMMARY_BAD_LOST 3
/* and they are at least this share of the probes, in 1/1000 */
#define SUMMARY_BAD_PER_MILLE 10

struct summary_options {
	int64_t row_interval_ns;  /* default 10 s */
	int64_t rnic_interval_ns; /* default 60 s */
};

int summary_new(const struct summary_options *options, rm_mono_t now, rm_wall_t wall,
    struct summary **ret);
void summary_free(struct summary *summary);

/* Adds a result. Hot path. src: index of the member in the roster; dst_tor: number of
 * the ToR in the roster. */
void summary_add(struct summary *summary, const struct wire_result *result,
    uint32_t src, uint16_t dst_tor);

/* Adds the directions of losses to a ToR that were added before without direction. */
void summary_directions(
    struct summary *summary, uint16_t dst_tor, uint64_t forward, uint64_t reverse);

/* bad: a part that includes this member has a fault; false: it is healthy again. */
void summary_mark_rnic(struct summary *summary, uint32_t src, bool bad);

/* Call it once a second: finds rows that have become bad since the last call. */
void summary_check(struct summary *summary);

/*
 * True: a message is due. *ret is the message, without head and raw counters, valid
 * until the next call of a function of this module. The rows in it are set to 0.
 */
bool summary_take(struct summary *summary, const struct roster *roster, rm_mono_t now,
    rm_wall_t wall, struct wire_summary *ret);

/* True: the last message ended a row_interval, so all rows have been sent. */
bool summary_sent_all(const struct summary *summary);

/* Call it when members have other indexes: the rows of RNICs are set to 0. */
void summary_renumber(struct summary *summary);

/* The last row of an RNIC that was sent, without host and device; NULL: there was
 * none. */
const struct wire_rnic_row *summary_rnic_last(
    const struct summary *summary, uint32_t src);
struct summary_marks {     /* totals of probes, as they arrived at the responders */
	uint64_t markable; /* with ECT or CE: switches may mark these */
	uint64_t marked;   /* with CE: a switch has marked these */
};
struct summary_marks summary_marks(const struct summary *summary);
/* The number of results refused so far: no free row, or no memory for the row of the
 * RNIC. */
const uint64_t *summary_refused(const struct summary *summary);

#endif
