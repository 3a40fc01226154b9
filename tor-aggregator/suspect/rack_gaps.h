/*
 * rack_gaps - RNICs that are dead for a moment, again and again. Pure.
 *
 * An RNIC that is dead for half a second seldom covers the newest half of a window
 * completely, as a dead RNIC must: its start and end are anywhere. One such gap is not
 * enough to name it. If it had another one before, and worked in between, it is named.
 */
#ifndef TOR_AGGREGATOR_SUSPECT_RACK_GAPS_H
#define TOR_AGGREGATOR_SUSPECT_RACK_GAPS_H

#include <stdbool.h>

#define RACK_GAPS_WINDOWS_PER_S 4 /* one per bin */
#define RACK_GAPS_FRESH (6 * RACK_GAPS_WINDOWS_PER_S)
/* Windows from one gap to the next. */
#define RACK_GAPS_WITHIN (60 * RACK_GAPS_WINDOWS_PER_S)

struct rack_gaps {       /* of one member; initially zeros */
	bool inside;     /* a gap has not ended yet */
	unsigned since;  /* windows since the last gap ended, from 1 on; 0: none */
	unsigned before; /* the same value when this gap began */
};

/* Call it for every window. works: the member works in its newest half. */
void rack_gaps_pass(struct rack_gaps *gaps, bool works);

/* Call it when this window shows the member dead for a moment. Returns the number of
 * windows since the gap before; 0: it is the first. */
unsigned rack_gaps_note(struct rack_gaps *gaps);

/* True: it had gaps, not only one, so recently that the losses of the last seconds
 * come from them: a share of loss says nothing. */
bool rack_gaps_are_fresh(const struct rack_gaps *gaps);

#endif
