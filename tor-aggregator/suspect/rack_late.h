/*
 * rack_late - RNICs whose packets arrive, but late. Pure.
 *
 * All round trips with it take longer than any fabric does, those of its peers with
 * each other do not. A rack of two tells nothing, nor one in which most are late. Late
 * it is after a second, and where all RNICs of a host are, it is the host.
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
	uint64_t timed, slow;  /* of the round trips with it */
	unsigned late, well;   /* pairs with others: slow, quick */
	unsigned own;          /* of them those that it timed itself */
	uint64_t older, newer; /* probes of either half of the window */
	enum rack_late_status status;
};

/* lates: one per member. */
void rack_late_count(const struct rack_legs *legs, struct rack_late *lates);

/* Slow with all, of whom at least two are quick with others; in all of the window. */
bool rack_late_is(
    const struct rack_legs *legs, const struct rack_late *lates, size_t member);

/* After the count, and after anything worse of the members has been found: fills what
 * is to be said of each. bad: of those something worse is said already. memories, bad:
 * one per member. */
void rack_late_judge(const struct rack *rack, const struct rack_legs *legs,
    rm_wall_t window_start, const bool *bad, struct rack_suspect_memory *memories,
    struct rack_late *lates);

/* In words: of a member, or of all of its host. The others are those that are not late
 * themselves. */
void rack_late_words(const struct rack *rack, const struct rack_legs *legs,
    const struct rack_late *lates, size_t member, struct rm_evidence *evidence);

/* And how many tell of it, and who is ruled out. witnesses: scratch, one per member. */
void rack_late_evidence(const struct rack *rack, const struct rack_legs *legs,
    const struct rack_late *lates, size_t member, bool *witnesses,
    struct rm_evidence *evidence);

/* Of a ToR through which nothing comes back in time. */
enum rack_late_tor {
	RACK_TOR_DEAD,
	RACK_TOR_ARRIVES, /* its RNICs count what is sent to them: replies may come yet
			   */
	RACK_TOR_LATE,    /* they come when nobody waits for them any more */
};

enum rack_late_tor rack_late_tor(const struct rack_legs *legs);
void rack_late_tor_words(const struct rack_legs *legs, struct rm_evidence *evidence);

#endif
