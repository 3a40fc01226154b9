/*
 * cnp_balance - judges whether the CNPs that RNICs of a region send arrive at the
 * senders that they are addressed to. Pure.
 *
 * The CNPs that one receiver sends go to senders in all racks, so only the sums of a
 * region can be compared. Each rack reports, for one minute, how many CNPs and RDMA
 * packets its RNICs sent and received, how many of its RNICs count all four, and which
 * do not. RNICs of racks without a recent summary do not count either.
 *
 * CNPs that are missing may have gone to RNICs that do not count CNPs. Such an RNIC is
 * granted as many CNPs as it sent RDMA packets: no RNIC receives more. An RNIC that
 * reports no packets either is granted CNP_UNCOUNTED_WEIGHT times the CNPs of an
 * average RNIC of the region, which may be too few: the sentence then says how many it
 * would have received. CNPs are lost if more are missing. With less than
 * CNP_COVERAGE_PCT of the RNICs counting there is no verdict, nor where the packets
 * sent and received differ by more than CNP_CLOSED_PCT: RNICs outside of the sums take
 * part then. Minutes of racks begin at different times: CNPs are lost once they were
 * missing for CNP_LOST_NS without a break.
 */
#ifndef ANALYZER_MARKS_CNP_BALANCE_H
#define ANALYZER_MARKS_CNP_BALANCE_H

#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define CNP_MAX_RACKS 16384
#define CNP_JUDGE_NS (5 * RM_NS_PER_S)
/* If there was no summary for this time, a rack is outdated. */
#define CNP_FRESH_NS (60 * RM_NS_PER_S)
/* If there was no summary for this time, the rack is deleted: no summary of it is
 * expected. */
#define CNP_FORGET_NS (600 * RM_NS_PER_S)
#define CNP_LOST_NS (180 * RM_NS_PER_S)
#define CNP_FEW 10000 /* if fewer CNPs were sent in a minute, they are not compared */
/* If fewer CNPs than this share arrive, CNPs are being lost. */
#define CNP_ARRIVING_PCT 90
/* If more arrive than this, RNICs outside of the sums send CNPs, too. */
#define CNP_MOST_ARRIVING_PCT 110
#define CNP_COVERAGE_PCT 90
#define CNP_UNCOUNTED_WEIGHT 10
/* RDMA packets sent and received may differ by this share, in percent */
#define CNP_CLOSED_PCT 5

enum cnp_state { CNP_NOT_KNOWN, CNP_NOT_NEEDED, CNP_WORKING, CNP_LOST };

#define CNP_NAMES 256
#define CNP_TEXT 640
struct cnp_finding {
	enum cnp_state state;
	rm_wall_t since; /* for CNP_LOST: since when CNPs are missing */
	/* CNPs of the last minute, of the RNICs that count CNPs */
	uint64_t sent, received;
	uint64_t rnics, rnics_counting;
	/* "tor1: h1/mlx5_0, h2/mlx5_0; tor2 (8)": the first RNICs that do not count
	 * CNPs; with ", ..." at the end if there are more. */
	char uncounted[CNP_NAMES];
	char sentence[CNP_TEXT];
};

struct cnp_balance;

struct cnp_balance *cnp_balance_new(void);              /* NULL when out of memory */
void cnp_balance_free(struct cnp_balance *cnp_balance); /* NULL is fine */

/* A summary without the rack's state, or older than CNP_FRESH_NS, is ignored. age_ns:
 * age of the summary by monotonic clocks; below 0: it is in doubt, and the summary is
 * ignored, too. */
void cnp_balance_summary(struct cnp_balance *cnp_balance,
    const struct wire_summary *summary, int64_t age_ns, rm_mono_t now);
/* May be called at any time. Results are computed again every CNP_JUDGE_NS. */
void cnp_balance_judge(struct cnp_balance *cnp_balance, rm_mono_t now, rm_wall_t wall);
const struct cnp_finding *cnp_balance_finding(const struct cnp_balance *cnp_balance);

const char *cnp_state_str(enum cnp_state state); /* "not-known" ..., "failing" */

#endif
