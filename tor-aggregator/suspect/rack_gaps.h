/*
 * rack_gaps - finds RNICs that are dead for about half a second (a gap), again and
 * again. Pure.
 *
 * An RNIC is named as dead only if it loses all probes in the newest half of a window.
 * A gap of half a second seldom covers exactly the newest half of a window. A single
 * gap is not enough to name the RNIC; two of them are, if the RNIC worked in between.
 */
#ifndef TOR_AGGREGATOR_SUSPECT_RACK_GAPS_H
#define TOR_AGGREGATOR_SUSPECT_RACK_GAPS_H

#include <stdbool.h>

#define RACK_GAPS_WINDOWS_PER_S 4 /* one per bin */
/* Number of windows after a gap in which longer windows may contain it. */
#define RACK_GAPS_FRESH (6 * RACK_GAPS_WINDOWS_PER_S)
/* Largest number of windows from the end of a gap to the next gap. */
#define RACK_GAPS_WITHIN (60 * RACK_GAPS_WINDOWS_PER_S)

struct rack_gaps {   /* the gaps of one member; initially zeros */
	bool inside; /* a gap has not ended yet */
	/* windows since the last gap ended, from 1 on; 0: there was no gap */
	unsigned since;
	unsigned before; /* value of `since` when the newest gap began */
};

/* Call it for each window. works: the member works in the newest half of the window. */
void rack_gaps_pass(struct rack_gaps *gaps, bool works);

/* Call it if the member has a gap in this window. Returns the number of windows since
 * the gap before it; 0: it is the first gap. */
unsigned rack_gaps_note(struct rack_gaps *gaps);

/* True: the member had two gaps or more, and the last gap is so recent that it may be
 * the cause of the losses in the last seconds: then their share is no steady loss. */
bool rack_gaps_are_fresh(const struct rack_gaps *gaps);

#endif
