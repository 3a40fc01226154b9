/*
 * localise_classes - whether packets of one class (DSCP) alone are lost, as with a
 * wrong queue, policer or lossless priority. Pure.
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

/* What crossed a part by class. */
struct localise_classes {
	struct localise_class_counts of[LOCALISE_CLASSES];
	rm_mono_t counted; /* rows that came until then are counted; ns 0: none */
};

/* Adds the newest two sets of rows of the path, as far as they are not counted. */
void localise_classes_add(
    struct localise_classes *classes, const struct localise_path *path, rm_mono_t now);
/* All paths are added: older seconds lose weight. */
void localise_classes_end(struct localise_classes *classes, rm_mono_t now);

/* Only packets of the class *dscp are lost, and enough others arrived to tell. was: it
 * was so a second ago: less is enough. */
bool localise_classes_one_alone(
    const struct localise_classes *classes, bool was, uint8_t *dscp);

/* Appends the figures in words. */
void localise_classes_report(const struct localise_classes *classes, uint8_t dscp,
    char observed[RM_EVIDENCE_TEXT]);

#endif
