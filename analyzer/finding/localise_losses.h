/*
 * localise_losses - the types of the judge's input: lossy paths, the elements on them,
 * suspects. Functions are in localise_case.h.
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
	/* Of a switch that is suspected only for the packets from one rack to another,
	 * which a wrong entry in its tables loses: the pair of these racks. NULL: for
	 * all packets. and_back: also for those in the other direction. */
	const struct localise_element *transit;
	bool and_back;
	/* It is judged by the packets of the class dscp alone. */
	bool one_class;
	uint8_t dscp;
};

/* One element of the judge: a switch, a link, a pair, or a transit, i.e. the packets
 * that cross one switch from one rack to another. Its index is the judge's number of
 * the element. */
struct localise_local {
	struct localise_element *element;       /* of a transit: the switch */
	const struct localise_element *transit; /* of a transit: the pair; else NULL */
	/* Of a pair, and of each of its transits: index of the next transit + 1; 0:
	 * there is none. */
	uint32_t next_transit;
	/* It loses packets of the class dscp only, if any: packets of other classes are
	 * no evidence for or against it. See localise_one_class. */
	bool one_class;
	bool on_all_paths; /* it loses packets of this class on nearly all its paths */
	uint8_t dscp;
	/* Of a transit, on the lossy paths: probes sent, and those without a reply. */
	double sent, unanswered;
	double lost;    /* probes on their way out, or in an unknown direction */
	double weighed; /* the same in independent observations: see
			   localise_observe_witnesses */
	size_t lossy;   /* number of lossy paths over it */
	/* replies that were lost on it, and all replies */
	double reverse, reverse_sent;
	/* See localise_dead_links. Of a switch or ToR: the number of its dead links, at
	 * most 2, and the cable of the last one; if there are 2, the losses of paths
	 * over its dead links, and of its other paths. */
	bool is_dead_link;
	uint8_t dead_links;
	uint64_t dead_cable;
	double lost_on_dead, lost_beside;
	uint32_t fans[2]; /* of a ToR, by localise_fan_direction: index of its fan + 1;
			     0: not made yet */
};

enum localise_lossy_classes { LOCALISE_ALL_CLASSES, LOCALISE_CLASS, LOCALISE_OTHERS };

struct localise_lossy { /* a lossy path, and its counts */
	struct localise_path *path;
	struct localise_sum sum;
	/* What is summed: all packets, those of the class dscp, or those of the others.
	 */
	enum localise_lossy_classes classes;
	uint8_t dscp;
	bool again; /* another entry is of the same path */
};

struct localise_cable {
	uint64_t cable;
	uint32_t local;
};

struct localise_fan;
struct localise_over;

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
	struct localise_lossy *lossy; /* paths that lost packets on the way out */
	size_t lossy_count, lossy_size;
	bool by_flow; /* flows lose all their probes: each flow is one observation */
	struct localise_cable *cables; /* memory of suspect_cables */
	size_t cable_size;
	struct localise_over *over; /* by local: see localise_one_class */
	size_t over_size;
	uint64_t stamp;     /* see localise_element.stamp and localise_path.stamp */
	bool slow;          /* judges minutes, for small losses */
	bool late;          /* judges late replies as losses */
	bool with_replies;  /* lost and arrived replies are observations, too */
	bool with_transits; /* transits are suspects: few enough paths are lossy */
	struct localise_fan *fans;
	size_t fan_count, fan_size;
	rm_mono_t now;
	int64_t current_ns; /* a path without a row for longer is not used now */
};

/* Makes room for `need` items of `size` bytes in *(void **)array, which has room for
 * *have items. -ENOMEM. */
int localise_losses_grow(void *array, size_t *have, size_t need, size_t size);

#define LOCALISE_MAX_PARTS 128 /* parts that are blamed at the same time */
#define LOCALISE_MIN_LOST 2.5  /* with fewer losses an element is no suspect */

#endif
