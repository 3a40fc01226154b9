/*
 * localise_case - what was lost, as a case for the judge. Pure.
 *
 * Each lossy way is an observation over its elements, and, where nobody knows which way
 * lost it, over those by which the reply may have come back. What arrived over other
 * ways speaks for each of their elements by itself. Suspects are switches, links (one
 * way or both), and, where nothing on it stands out, the whole way from one rack to
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

/* slow: for losses that only minutes show, few of many; their usual share is told by
 * rm_judge_base_loss before each use. */
int localise_case_init(struct localise_case *c, bool slow);
void localise_case_release(struct localise_case *c);

/* What is known of a lossy way already. */
enum localise_known {
	LOCALISE_NEWS,
	LOCALISE_KNOWN_MISSED, /* some may be late: those that are missed say nothing */
	LOCALISE_KNOWN_BACK, /* replies to it vanish: its unknown losses say nothing */
	LOCALISE_KNOWN_REPLIES, /* neither does */
	LOCALISE_KNOWN          /* all of it */
};

/* From the map's lossy ways; known: NULL if all is news. -ENOMEM. */
int localise_case_build(struct localise_case *c, struct localise_map *map,
    rm_mono_t now, localise_seen *seen,
    enum localise_known (*known)(
	const struct localise_path *path, const struct localise_sum *sum, void *arg),
    void *arg);
/* By so many parts at most. As rm_judge_explain. */
int localise_case_explain(
    struct localise_case *c, size_t most, struct rm_explanation *ret);

/* All that is between two racks, one way. */
struct localise_suspect localise_suspect_path(const struct localise_element *pair);

void localise_suspect_part(const struct localise_suspect *suspect, struct rm_part *ret);
/* Its elements are on this way, or it is the whole of it. */
bool localise_suspect_on(
    const struct localise_suspect *suspect, const struct localise_path *path);

#endif
