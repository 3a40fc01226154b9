/*
 * rack_gaps - RNICs that are dead for a moment, again and again. Pure.
 *
 * One that is dead for half a second seldom covers the newest half of a window whole,
 * which is what a dead one has to: its edges lie anywhere. Once is not enough to name
 * it. If it was so before, and worked in between, it is.
 */
#ifndef TOR_AGGREGATOR_SUSPECT_RACK_GAPS_H
#define TOR_AGGREGATOR_SUSPECT_RACK_GAPS_H

#include <stdbool.h>

#define RACK_GAPS_WINDOWS_PER_S 4 /* one per bin */
#define RACK_GAPS_FRESH (6 * RACK_GAPS_WINDOWS_PER_S)
#define RACK_GAPS_WITHIN (60 * RACK_GAPS_WINDOWS_PER_S) /* from one to the next */

struct rack_gaps {   /* of one member; begins as zeros */
	bool inside; /* of one, which has not ended yet */
	unsigned
	    since; /* windows since the last one ended, from 1 on; 0: there is none */
	unsigned before; /* the same, as this one began */
};

/* One window of it, whatever it says. works: the member does, in its newest half. */
void rack_gaps_pass(struct rack_gaps *gaps, bool works);

/* This window shows it dead for a moment. How many windows after the one before; 0: it
 * is the first. */
unsigned rack_gaps_note(struct rack_gaps *gaps);

/* It was dead for a moment, and not for the first time, so lately that the losses of
 * some seconds are those: a share of them says nothing. */
bool rack_gaps_are_fresh(const struct rack_gaps *gaps);

#endif
