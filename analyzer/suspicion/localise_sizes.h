/*
 * localise_sizes - decides whether a part loses only large packets, which happens if
 * its MTU is too small. Pure.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_SIZES_H
#define ANALYZER_SUSPICION_LOCALISE_SIZES_H

#include <stdbool.h>

#include "analyzer/finding/localise_find.h"
#include "rackmesh/judge/verdict.h"

struct localise_sizes { /* probes of the last two seconds over one part */
	double large_sent, large_lost;
	double small_sent, small_lost;
	unsigned least_bytes; /* size of the smallest large packet that was lost */
};

/* back: for a link that is suspected in one direction only, its other direction;
 * otherwise NULL */
void localise_sizes_see(rm_mono_t now, const struct localise_suspect *suspect,
    const struct localise_element *back, struct localise_sizes *ret);

/* True: most of the large packets are lost, and hardly any small one. was: the result
 * was true a second ago; then fewer packets are enough. */
bool localise_sizes_large_alone(const struct localise_sizes *sizes, bool was);

/* Appends the counts by size as text. */
void localise_sizes_report(
    const struct localise_sizes *sizes, char observed[RM_EVIDENCE_TEXT]);

#endif
