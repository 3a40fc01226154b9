/*
 * rack_late - finds RNICs whose packets arrive, but late. Pure.
 *
 * Nearly all round trips with the RNIC take WINDOW_SLOW_NS or longer, which no round
 * trip takes in a fabric without faults, while those between its peers are faster. This
 * cannot be decided if half of the RNICs are late. If only two RNICs of the rack probe
 * each other, their probes to other racks show which of the two is late. An RNIC is
 * reported as late after a second; if all RNICs of a host are late, the host is
 * reported.
 */
#ifndef TOR_AGGREGATOR_SUSPECT_RACK_LATE_H
#define TOR_AGGREGATOR_SUSPECT_RACK_LATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct rack;
struct rack_legs;
struct rack_suspect_memory;
struct rm_evidence;

enum rack_late_status { RACK_LATE_NOTHING, RACK_LATE_RNIC, RACK_LATE_HOST };

struct rack_late { /* the round trips of one member in one window */
	/* number of round trips with the member: timed, and slow */
	uint64_t timed, slow;
	/* number of its pairs that are late, and that are quick */
	unsigned late, quick;
	/* the same of its pairs with RNICs of other racks, which are not in the counts
	 * above */
	unsigned outside_late, outside_quick;
	unsigned own; /* number of its pairs that it timed itself */
	/* number of probes in the older and in the newer half of the window */
	uint64_t older, newer;
	enum rack_late_status status;
};

/* Fills `lates`, one per member. */
void rack_late_count(const struct rack_legs *legs, struct rack_late *lates);

/* True: the member is late in this window: slow with its peers and quick with none,
 * while at least two members are quick with others; and the probes are spread over the
 * window. If only two members have timed round trips with each other: it is slow with
 * all other racks, too, and its peer is quick with at least half of them. */
bool rack_late_is(
    const struct rack_legs *legs, const struct rack_late *lates, size_t member);

/* Fills the status of each member. Call it after rack_late_count, and after worse
 * faults of the members have been found. bad: members with a worse verdict. memories,
 * bad: one per member. */
void rack_late_judge(const struct rack *rack, const struct rack_legs *legs,
    rm_wall_t window_start, const bool *bad, struct rack_suspect_memory *memories,
    struct rack_late *lates);

/* Writes the sentence on a late member, or on its late host. The "others" in it are the
 * members that are not late. */
void rack_late_sentence(const struct rack *rack, const struct rack_legs *legs,
    const struct rack_late *lates, size_t member, struct rm_evidence *evidence);

/* Fills the sentence, the number of peers, and the parts that were ruled out.
 * witnesses: scratch, one per member. */
void rack_late_evidence(const struct rack *rack, const struct rack_legs *legs,
    const struct rack_late *lates, size_t member, bool *witnesses,
    struct rm_evidence *evidence);

/* State of a ToR through which no reply arrives before the time-out. */
enum rack_late_tor {
	RACK_TOR_DEAD,
	RACK_TOR_ARRIVES, /* probes arrive at its RNICs: replies may arrive later */
	RACK_TOR_LATE,    /* replies arrive after the time-out */
};

enum rack_late_tor rack_late_tor(const struct rack_legs *legs);
void rack_late_tor_sentence(const struct rack_legs *legs, struct rm_evidence *evidence);

#endif
