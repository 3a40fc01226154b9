/*
 * rack_late - RNICs whose packets arrive, but late. Pure.
 *
 * All round trips with the RNIC take longer than in any fabric, while those of its
 * peers with each other do not. A rack of two RNICs is not enough to decide, nor one in
 * which most are late. An RNIC is reported as late after a second; if all RNICs of a
 * host are, the host is.
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

struct rack_late {             /* of one member, in one window */
	uint64_t timed, slow;  /* round trips with it */
	unsigned late, well;   /* pairs with others: slow, quick */
	unsigned own;          /* those of them that it timed itself */
	uint64_t older, newer; /* probes in either half of the window */
	enum rack_late_status status;
};

/* lates: one per member. */
void rack_late_count(const struct rack_legs *legs, struct rack_late *lates);

/* True: it is slow with all peers, of which at least two are quick with others; in
 * all of the window. */
bool rack_late_is(
    const struct rack_legs *legs, const struct rack_late *lates, size_t member);

/* Call it after the count, and after worse faults of the members have been found:
 * fills a status for each. bad: members with a worse verdict. memories, bad: one per
 * member. */
void rack_late_judge(const struct rack *rack, const struct rack_legs *legs,
    rm_wall_t window_start, const bool *bad, struct rack_suspect_memory *memories,
    struct rack_late *lates);

/* Writes the sentence on a member, or on all of its host. The others are the members
 * that are not late themselves. */
void rack_late_sentence(const struct rack *rack, const struct rack_legs *legs,
    const struct rack_late *lates, size_t member, struct rm_evidence *evidence);

/* Fills the number of witnesses, and the parts that were ruled out. witnesses:
 * scratch, one per member. */
void rack_late_evidence(const struct rack *rack, const struct rack_legs *legs,
    const struct rack_late *lates, size_t member, bool *witnesses,
    struct rm_evidence *evidence);

/* State of a ToR through which no reply comes back in time. */
enum rack_late_tor {
	RACK_TOR_DEAD,
	RACK_TOR_ARRIVES, /* its RNICs count the probes sent to them: replies may still
			     come */
	RACK_TOR_LATE,    /* replies come after the time-out */
};

enum rack_late_tor rack_late_tor(const struct rack_legs *legs);
void rack_late_tor_sentence(const struct rack_legs *legs, struct rm_evidence *evidence);

#endif
