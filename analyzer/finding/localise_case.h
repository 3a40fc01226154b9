/*
 * localise_case - the losses, as the input of the judge. Pure. Each lossy path is an
 * observation over its elements and, if the direction of its losses is not known, over
 * the elements by which the reply may have returned. Arrivals over other paths are
 * observations of each of their elements separately. Suspects are switches, links (one
 * or both directions) and, if nothing on it stands out, the whole path from one rack to
 * another.
 */
#ifndef ANALYZER_FINDING_LOCALISE_CASE_H
#define ANALYZER_FINDING_LOCALISE_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/finding/localise_losses.h"
#include "analyzer/paths/localise_map.h"
#include "rackmesh/judge/judge.h"

/* Over minutes: ln by which either a switch or several of its links must be likelier.
 */
#define LOCALISE_CLEAR 5.0

/* slow: for losses that only minutes show, a few of many packets; the usual loss is set
 * by rm_judge_base_loss before each use. */
int localise_case_init(struct localise_case *c, bool slow);
void localise_case_release(struct localise_case *c);

/* Known explanations of a lossy path's losses. */
enum localise_known {
	LOCALISE_NEWS,
	LOCALISE_KNOWN_MISSED, /* some probes may be late: missing ones do not count */
	/* replies to it are lost: its losses of unknown direction do not count */
	LOCALISE_KNOWN_BACK,
	LOCALISE_KNOWN_REPLIES, /* neither does */
	LOCALISE_KNOWN          /* all of it */
};

/* From the map's lossy paths; known: NULL if nothing is explained yet. -ENOMEM. */
int localise_case_build(struct localise_case *c, struct localise_map *map,
    rm_mono_t now, localise_seen *seen,
    enum localise_known (*known)(
	const struct localise_path *path, const struct localise_sum *sum, void *arg),
    void *arg);
/* By so many parts at most. As rm_judge_explain. */
int localise_case_explain(
    struct localise_case *c, size_t most, struct rm_explanation *ret);

/* All elements between two racks, in one direction. */
struct localise_suspect localise_suspect_path(const struct localise_element *pair);

void localise_suspect_part(const struct localise_suspect *suspect, struct rm_part *ret);
/* The suspect's elements are on this path, or it is the whole path. */
bool localise_suspect_on(
    const struct localise_suspect *suspect, const struct localise_path *path);

#endif
