/*
 * localise_classes - decides whether packets of only one class (DSCP) are lost, as
 * happens with a wrong queue, policer or lossless priority. Pure.
 */
#ifndef ANALYZER_PATHS_LOCALISE_CLASSES_H
#define ANALYZER_PATHS_LOCALISE_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/paths/localise_path.h"
#include "rackmesh/judge/verdict.h"

#define LOCALISE_CLASSES 64 /* DSCPs */

struct localise_class_counts {
	float sent, lost;
};

/* Probes that crossed a part, by class. */
struct localise_classes {
	struct localise_class_counts of[LOCALISE_CLASSES];
	/* rows that arrived until this time are counted; ns 0: none are */
	rm_mono_t counted;
};

/* Adds those of the path's newest two sets of rows that are not counted yet. */
void localise_classes_add(
    struct localise_classes *classes, const struct localise_path *path, rm_mono_t now);
/* Call it when all paths of the part are added: lowers the weight of older seconds. */
void localise_classes_end(struct localise_classes *classes, rm_mono_t now);

/* True: only packets of the class *dscp are lost, and so many of other classes have
 * arrived that this is no chance. was: the result was true a second ago, or the judge
 * has found the class; then less evidence is enough. */
bool localise_classes_one_alone(
    const struct localise_classes *classes, bool was, uint8_t *dscp);

/* Appends text with the lost and sent probes of this class, and those of the other
 * classes. */
void localise_classes_report(const struct localise_classes *classes, uint8_t dscp,
    char observed[RM_EVIDENCE_TEXT]);

#endif
