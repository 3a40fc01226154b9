/*
 * window - counts per pair and time bin, from raw results and receive counts. Pure.
 *
 * A bin contains the probes that were sent within bin_ns on the aggregator's monotonic
 * clock. It closes when every reporting agent has reported beyond its end plus the
 * probe time-out, or after a bounded wait; results that come later are counted as late,
 * and ignored. The judge uses the sum of the last judge_bins closed bins: bins are
 * never recomputed.
 *
 * RNICs are indexes: members of the rack from 0, remote RNICs from WINDOW_REMOTE_BASE.
 */
#ifndef TOR_AGGREGATOR_WINDOW_WINDOW_H
#define TOR_AGGREGATOR_WINDOW_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"
#include "tor-aggregator/window/window_pair.h"

#define WINDOW_REMOTE_BASE 0x10000u /* index of remote RNIC i: this + i */

struct window;

struct window_options {
	int64_t bin_ns;      /* 250 ms */
	unsigned judge_bins; /* 4: the judged window is one second */
	unsigned open_bins;  /* bins that can be open at once: 40 */
	int64_t timeout_ns;  /* the agents' probe time-out, 500 ms */
	int64_t wait_ns;  /* longest wait after the end of a bin plus the time-out: 500
			   * ms (age of a batch: 200 ms) */
	size_t max_pairs; /* results of further pairs are refused; 131072 */
};

enum window_status { WINDOW_COUNTED, WINDOW_LATE, WINDOW_REFUSED };

struct window_closed { /* one closing; valid until the next call */
	rm_mono_t start,
	    end;      /* end of the judged window, i.e. of its judge_bins newest bins */
	bool partial; /* results may be missing: this aggregator started or stalled */
	const struct window_pair *pairs;
	size_t pair_count;
};

int window_new(
    const struct window_options *options, rm_mono_t now, struct window **ret);
/* Applies to open bins, too. */
void window_set_timeout(struct window *window, int64_t timeout_ns);
void window_free(struct window *window);

/* Hot path. sent: on the aggregator's clock. */
enum window_status window_add(struct window *window, rm_mono_t sent,
    const struct wire_result *result, uint32_t src, uint32_t dst);

/* Counts a reply to a probe that was reported as lost before, in the bin that closes
 * next. sent: the probe, on the aggregator's clock. */
void window_overdue(struct window *window, rm_mono_t sent,
    const struct wire_result *result, uint32_t src, uint32_t dst);

/* dst's reflector received `received` probes of src between from and to. */
enum window_status window_arrived(struct window *window, uint32_t src, uint32_t dst,
    rm_mono_t from, rm_mono_t to, uint64_t received);

/* dst's receive counts are complete up to this time, so a missing row means 0. */
void window_counts_through(struct window *window, uint32_t dst, rm_mono_t through);

/*
 * Closes the next bin if it is due. everything_through: the time up to which the
 * results of all reporting agents have arrived (the earliest of their last heartbeats,
 * minus the time-out), or now when there is no such agent. True: a bin was closed, and
 * *ret is filled; call it again until it returns false.
 */
bool window_close(struct window *window, rm_mono_t now, rm_mono_t everything_through,
    struct window_closed *ret);

/* This aggregator was stalled for long or has just started: judged windows that start
 * before `until` are partial. */
void window_mark_partial(struct window *window, rm_mono_t until);
/* This aggregator was stalled for a short time: a judged window with a bin that starts
 * before `until` is partial, unless all results had arrived when that bin closed. */
void window_mark_doubtful(struct window *window, rm_mono_t until);

/* Members or remote RNICs were renumbered: deletes the counts of all pairs, but keeps
 * the bins. */
void window_renumber(struct window *window);

#endif
