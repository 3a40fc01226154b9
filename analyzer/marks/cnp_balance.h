/*
 * cnp_balance - whether the CNPs that RNICs of a region send reach the senders that
 * they are for. Pure.
 *
 * What one RNIC sends as a receiver, many others handle as senders, of all racks: only
 * the sums of a region can be compared, and only if all of it is counted. So racks tell
 * for each minute how many CNPs and packets of RDMA their RNICs sent and received, and
 * how many of the RNICs count all of it. Where RNICs do not count, or where much more
 * is received than sent or the other way round, there are ends that nobody reads, and
 * nothing is found. Minutes of racks begin at different times: CNPs are lost once they
 * were missing for CNP_LOST_NS without a break.
 */
#ifndef ANALYZER_MARKS_CNP_BALANCE_H
#define ANALYZER_MARKS_CNP_BALANCE_H

#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define CNP_MAX_RACKS 16384
#define CNP_JUDGE_NS (5 * RM_NS_PER_S)
#define CNP_FRESH_NS (60 * RM_NS_PER_S)   /* then a rack is missing; */
#define CNP_FORGET_NS (600 * RM_NS_PER_S) /* then it is not expected any more */
#define CNP_LOST_NS (180 * RM_NS_PER_S)
#define CNP_FEW 10000       /* sent in a minute: fewer tell nothing */
#define CNP_ARRIVING_PCT 90 /* of those sent; below they are lost */
#define CNP_CLOSED_PCT 5    /* by which packets sent and received may differ */

enum cnp_state { CNP_NOT_KNOWN, CNP_NOT_NEEDED, CNP_WORKING, CNP_LOST };

#define CNP_TEXT 240
struct cnp_finding {
	enum cnp_state state;
	rm_wall_t since;         /* of CNP_LOST: when they began to be missing */
	uint64_t sent, received; /* CNPs in the last minute, by RNICs that count */
	char sentence[CNP_TEXT];
};

struct cnp_balance;

struct cnp_balance *cnp_balance_new(void);              /* NULL when out of memory */
void cnp_balance_free(struct cnp_balance *cnp_balance); /* NULL is fine */

/* One without the rack's state, or older than CNP_FRESH_NS, says nothing. */
void cnp_balance_summary(struct cnp_balance *cnp_balance,
    const struct wire_summary *summary, rm_mono_t now, rm_wall_t wall);
/* May be called at any time. Results are computed again every CNP_JUDGE_NS. */
void cnp_balance_judge(struct cnp_balance *cnp_balance, rm_mono_t now, rm_wall_t wall);
const struct cnp_finding *cnp_balance_finding(const struct cnp_balance *cnp_balance);

const char *cnp_state_str(enum cnp_state state); /* "not-known" ..., "failing" */

#endif
