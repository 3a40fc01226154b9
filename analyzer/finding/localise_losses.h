/*
 * localise_losses - the parts of a judge's input: lossy paths, the elements on them,
 * suspects.
 */
#ifndef ANALYZER_FINDING_LOCALISE_LOSSES_H
#define ANALYZER_FINDING_LOCALISE_LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/paths/localise_map.h"
#include "rackmesh/judge/judge.h"

struct localise_suspect {                     /* one of the judge's candidates */
	enum rm_part_type type;               /* ToR, switch, link or path */
	struct localise_element *elements[2]; /* of a path: the ToRs at its ends */
	size_t element_count;
	/* Of a switch: only what crosses it from one rack to another, or also back, as
	 * a bad entry of its tables takes; NULL: all. The pair. */
	const struct localise_element *transit;
	bool and_back;
};

struct localise_local { /* an element of the judge's */
	struct localise_element *element;
	/* Of a transit (element: the switch): the pair. Of a pair, or of a transit, the
	 * next of its transits + 1; 0: none. */
	const struct localise_element *transit;
	uint32_t next_transit;
	/* For a transit, on the lossy paths: sent, and not answered. */
	double sent, unanswered;
	double lost;
	double weighed;               /* of it, each flow once where flows die whole */
	size_t lossy;                 /* paths over it */
	double reverse, reverse_sent; /* replies on it: lost, of so many */
	uint32_t fans[2];             /* of a ToR: see localise_fan, + 1; 0: none yet */
};

struct localise_lossy { /* a path, and its observations */
	struct localise_path *path;
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
	struct localise_lossy *lossy; /* that lost packets on the way out */
	size_t lossy_count, lossy_size;
	bool by_flow; /* flows are lost whole: their probes are one witness each */
	struct localise_cable *cables; /* scratch */
	size_t cable_size;
	uint64_t stamp; /* of the lossy paths of this input, and their elements */
	bool slow;
	bool late;          /* of what is late, not lost */
	bool with_replies;  /* what became of replies is evidence, too */
	bool with_transits; /* so little is lost that each of them may be a suspect */
	struct localise_fan *fans;
	size_t fan_count, fan_size;
	rm_mono_t now;
	int64_t current_ns; /* older paths carry nothing now */
};

#define LOCALISE_MAX_PARTS 128 /* that are blamed at once */
#define LOCALISE_MIN_LOST 2.5  /* with fewer losses nothing is suspected */

#endif
