/*
 * localise_pairs - stores the pairs of racks between which a switch loses all packets.
 * Pure. A wrong entry in its tables affects the packets from one rack to another, or
 * also those back. A switch may have several wrong entries. A pair is reported when it
 * has been blamed for some seconds, and forgotten some seconds after it was blamed
 * last.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_PAIRS_H
#define ANALYZER_SUSPICION_LOCALISE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/finding/localise_losses.h"
#include "rackmesh/judge/verdict.h"

/* maximum number of pairs of one switch; further ones are not stored */
#define LOCALISE_PAIRS 16

struct localise_pairs {
	struct localise_pair { /* one direction */
		char from[RM_NAME_BYTES], to[RM_NAME_BYTES];
		rm_mono_t since, seen; /* when it was blamed first, and last */
		bool reported;
	} pairs[LOCALISE_PAIRS];
	size_t count; /* 0: the switch may lose packets between any racks */
};

/* Call it when the suspect, a transit, is blamed. reported: it is named in a verdict
 * now, and its pair is reported, too; otherwise the pair is reported once it has been
 * blamed for some seconds. */
void localise_pairs_note(struct localise_pairs *pairs,
    const struct localise_suspect *suspect, bool reported, rm_mono_t now);

/* True: the path leads from and to the racks of a reported pair, or there are no pairs
 * at all. */
bool localise_pairs_on(
    const struct localise_pairs *pairs, const struct localise_path *path);

/* Writes text such as "only from tor1 to tor2 and between tor3 and tor4". */
void localise_pairs_report(
    const struct localise_pairs *pairs, char out[RM_EVIDENCE_TEXT]);

#endif
