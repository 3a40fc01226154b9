/*
 * localise_case - makes the input of the judge from the losses. Pure. Each lossy path
 * is an observation over its elements and, if the direction of its losses is not known,
 * over the elements by which the reply may have returned. Probes that arrived over
 * other paths are observations of each of their elements separately. Suspects are
 * switches, links (one or both directions), transits (packets from one rack to another
 * over one switch) and everything between two racks, which is called a path.
 */
#ifndef ANALYZER_FINDING_LOCALISE_CASE_H
#define ANALYZER_FINDING_LOCALISE_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/finding/localise_losses.h"
#include "analyzer/paths/localise_map.h"
#include "rackmesh/judge/judge.h"

/* Over minutes: ln of the factor by which a switch must be likelier than several of its
 * links, or these than the switch. */
#define LOCALISE_CLEAR 5.0

/* slow: judges small losses, which only minutes show. Then call rm_judge_base_loss
 * before each use, to set the share that is usually lost without a fault. */
int localise_case_init(struct localise_case *c, bool slow);
void localise_case_release(struct localise_case *c);

/* The losses of a path that a known part explains. The other losses are observations.
 */
enum localise_known {
	LOCALISE_NEWS,         /* none */
	LOCALISE_KNOWN_MISSED, /* the losses are lost replies, which may only be late */
	LOCALISE_KNOWN_BACK,   /* the losses of unknown direction are lost replies */
	LOCALISE_KNOWN_REPLIES, /* both of these */
	LOCALISE_KNOWN          /* all */
};

/* Makes the input from the map's lossy paths. known: returns which losses are
 * explained; NULL: none are explained yet. Returns 0 or -ENOMEM. */
int localise_case_build(struct localise_case *c, struct localise_map *map,
    rm_mono_t now, localise_seen *seen,
    enum localise_known (*known)(
	const struct localise_path *path, const struct localise_sum *sum, void *arg),
    void *arg);
/* Explains the losses by at most this many parts; see rm_judge_explain. */
int localise_case_explain(
    struct localise_case *c, size_t most, struct rm_explanation *ret);

/* Returns the suspect of all elements between two racks, in one direction. */
struct localise_suspect localise_suspect_path(const struct localise_element *pair);

void localise_suspect_part(const struct localise_suspect *suspect, struct rm_part *ret);
/* True: the suspect's elements are on this path, or the suspect is the whole path. */
bool localise_suspect_on(
    const struct localise_suspect *suspect, const struct localise_path *path);

#endif
