/*
 * localise_sizes - whether a part loses large packets alone, as one does whose MTU is
 * too small. Pure.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_SIZES_H
#define ANALYZER_SUSPICION_LOCALISE_SIZES_H

#include <stdbool.h>

#include "analyzer/finding/localise_find.h"
#include "rackmesh/judge/verdict.h"

struct localise_sizes { /* of the last two seconds, over one part */
	double large_sent, large_lost;
	double small_sent, small_lost;
	unsigned least_bytes; /* of the large ones that were lost */
};

/* back: of a link that is suspected one way, the other one; or NULL. */
void localise_sizes_see(rm_mono_t now, const struct localise_suspect *suspect,
    const struct localise_element *back, struct localise_sizes *ret);

/* Most of the large packets over it are lost, and hardly any small one. was: it was so
 * a second ago, and fewer tell. */
bool localise_sizes_large_alone(const struct localise_sizes *sizes, bool was);

/* Appends that in words. */
void localise_sizes_report(
    const struct localise_sizes *sizes, char observed[RM_EVIDENCE_TEXT]);

#endif
