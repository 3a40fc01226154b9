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

#include "analyzer/paths/localise_map.h"
#include "rackmesh/judge/judge.h"

struct localise_suspect {                     /* one of the judge's candidates */
	enum rm_part_type type;               /* ToR, switch, link or path */
	struct localise_element *elements[2]; /* of a path: the ToRs at its ends */
	size_t element_count;
};

struct localise_local { /* an element of the judge's */
	struct localise_element *element;
	double lost;
	double weighed;               /* of it, each flow once where flows die whole */
	size_t lossy;                 /* ways over it */
	double reverse, reverse_sent; /* replies on it: lost, of so many */
	uint32_t fans[2];             /* of a ToR: see localise_fan, + 1; 0: none yet */
};

struct localise_lossy { /* a way, and what was seen on it */
	struct localise_way *way;
	struct localise_sum sum;
};

struct localise_cable {
	uint64_t cable;
	uint32_t local;
};

struct localise_fan;

struct localise_case {
	struct rm_judge *judge;
	struct rm_observation *observations;
	size_t observation_count, observation_size;
	struct rm_candidate *candidates;
	size_t candidate_size;
	struct localise_suspect *suspects; /* by candidate */
	size_t suspect_count, suspect_size;
	struct localise_local *locals;
	size_t local_count, local_size;
	struct localise_lossy *lossy; /* that lost something on the way out */
	size_t lossy_count, lossy_size;
	bool by_flow; /* flows are lost whole: their probes are one witness each */
	struct localise_cable *cables; /* scratch */
	size_t cable_size;
	uint64_t stamp; /* of this case's lossy ways and their elements */
	bool slow;
	bool with_replies; /* what became of replies is evidence, too */
	struct localise_fan *fans;
	size_t fan_count, fan_size;
	rm_mono_t now;
	int64_t current_ns; /* ways that are older carry nothing now */
};

#define LOCALISE_MIN_LOST 2.5 /* fewer make nobody a suspect */

/* slow: for losses that only minutes show, few of many; their usual share is told by
 * rm_judge_base_loss before each use. */
int localise_case_init(struct localise_case *c, bool slow);
void localise_case_release(struct localise_case *c);

/* What is known of a lossy way already. */
enum localise_known {
	LOCALISE_NEWS,
	LOCALISE_KNOWN_BACK, /* replies to it vanish: its unknown losses say nothing */
	LOCALISE_KNOWN       /* all of it */
};

/* From the map's lossy ways; known: NULL if all is news. -ENOMEM. */
int localise_case_build(struct localise_case *c, struct localise_map *map,
    rm_mono_t now, localise_seen *seen,
    enum localise_known (*known)(
	const struct localise_way *way, const struct localise_sum *sum, void *arg),
    void *arg);
/* Room for `need` items of `size` bytes in *(void **)array. -ENOMEM. */
int localise_case_grow(void *array, size_t *have, size_t need, size_t size);
int localise_case_explain(struct localise_case *c, struct rm_explanation *ret);

/* All that is between two racks, one way. */
struct localise_suspect localise_suspect_path(const struct localise_element *pair);

void localise_suspect_part(const struct localise_suspect *suspect, struct rm_part *ret);
/* Its elements are on this way, or it is the whole of it. */
bool localise_suspect_on(
    const struct localise_suspect *suspect, const struct localise_way *way);

#endif
