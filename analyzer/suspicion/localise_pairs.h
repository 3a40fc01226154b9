/*
 * localise_pairs - between which racks a switch takes what crosses it. Pure.
 *
 * A bad entry of its tables takes what goes from one rack to another, or also back. One
 * switch may have several: each is told once it has been blamed for a while, and is
 * forgotten a while after it was blamed last.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_PAIRS_H
#define ANALYZER_SUSPICION_LOCALISE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/finding/localise_losses.h"
#include "rackmesh/judge/verdict.h"

#define LOCALISE_PAIRS 16 /* of one switch: those beyond have no names */

struct localise_pairs {
	struct localise_pair { /* one way */
		char from[RM_NAME_BYTES], to[RM_NAME_BYTES];
		rm_mono_t since, seen; /* blamed */
		bool reported;
	} pairs[LOCALISE_PAIRS];
	size_t count; /* 0: it is not known to be of some racks alone */
};

/* The suspect is a switch's transit, and is blamed now; told: it is named for that. */
void localise_pairs_note(struct localise_pairs *pairs,
    const struct localise_suspect *suspect, bool reported, rm_mono_t now);

/* The way is from and to one of those that are told; any is, where there are none. */
bool localise_pairs_on(
    const struct localise_pairs *pairs, const struct localise_path *path);

/* "only from tor1 to tor2 and between tor3 and tor4" */
void localise_pairs_report(
    const struct localise_pairs *pairs, char out[RM_EVIDENCE_TEXT]);

#endif
