/*
 * localise_pairs - the pairs of racks between which a switch loses all packets. Pure. A
 * wrong entry of its tables affects packets from one rack to another, or also back. A
 * switch may have several: each is reported once when it has been blamed for a while,
 * and is forgotten a while after it was blamed last.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_PAIRS_H
#define ANALYZER_SUSPICION_LOCALISE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/finding/localise_losses.h"
#include "rackmesh/judge/verdict.h"

#define LOCALISE_PAIRS 16 /* of one switch: those beyond have no names */

struct localise_pairs {
	struct localise_pair { /* one direction */
		char from[RM_NAME_BYTES], to[RM_NAME_BYTES];
		rm_mono_t since, seen; /* blamed */
		bool reported;
	} pairs[LOCALISE_PAIRS];
	size_t count; /* 0: it is not known to be of some racks alone */
};

/* The suspect is a switch's transit, and is blamed now; reported: it is named for that.
 */
void localise_pairs_note(struct localise_pairs *pairs,
    const struct localise_suspect *suspect, bool reported, rm_mono_t now);

/* The path is from and to one of the reported pairs; if there are none, any path is. */
bool localise_pairs_on(
    const struct localise_pairs *pairs, const struct localise_path *path);

/* "only from tor1 to tor2 and between tor3 and tor4" */
void localise_pairs_report(
    const struct localise_pairs *pairs, char out[RM_EVIDENCE_TEXT]);

#endif
