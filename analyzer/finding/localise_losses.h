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

struct localise_suspect {                     /* one part that the judge may blame */
	enum rm_part_type type;               /* ToR, switch, link or path */
	struct localise_element *elements[2]; /* for a path: the ToRs at its ends */
	size_t element_count;
	/* For a switch that is suspected only of losing the packets from one rack to
	 * another, by a wrong entry in its tables: the pair of these racks. NULL: it is
	 * suspected for all packets. and_back: it is suspected for the packets in the
	 * other direction, too. */
	const struct localise_element *transit;
	bool and_back;
	/* The suspect is judged only by packets of the class dscp. */
	bool one_class;
	uint8_t dscp;
};

/* One element of the judge: a switch, a link, a pair, or a transit, i.e. the packets
 * that cross one switch from one rack to another. Its index is the judge's number of
 * the element. */
struct localise_local {
	struct localise_element *element; /* for a transit: its switch */
	/* for a transit: the pair of its racks; otherwise NULL */
	const struct localise_element *transit;
	/* For a pair, and each of its transits: index of the next transit + 1; 0: there
	 * is none. */
	uint32_t next_transit;
	/* It loses packets of the class dscp only, if any: packets of other classes are
	 * no evidence for or against it. See localise_one_class. */
	bool one_class;
	bool on_all_paths; /* it loses packets of this class on nearly all its paths */
	uint8_t dscp;
	/* For a transit, on the lossy paths: the probes sent, and the probes without a
	 * reply. */
	double sent, unanswered;
	/* probes that were lost on their way out, or in an unknown direction */
	double lost;
	/* the number `lost` in independent observations: see localise_observe_witnesses
	 */
	double weighed;
	size_t lossy; /* number of lossy paths over the element */
	/* Replies that were lost on the element, and all replies. */
	double reverse, reverse_sent;
	/* is_dead_link: see localise_dead_links. The others are for a switch or ToR:
	 * the number of its dead links, at most 2, and the cable of the last one; with
	 * 2 dead links, the losses of the paths over them, and the losses of its other
	 * paths. */
	bool is_dead_link;
	uint8_t dead_links;
	uint64_t dead_cable;
	double lost_on_dead, lost_beside;
	/* for a ToR, by localise_fan_direction: index of its fan + 1; 0: not made yet
	 */
	uint32_t fans[2];
};

enum localise_lossy_classes { LOCALISE_ALL_CLASSES, LOCALISE_CLASS, LOCALISE_OTHERS };

struct localise_lossy { /* a lossy path, and its counts */
	struct localise_path *path;
	struct localise_sum sum;
	/* What this entry counts: all packets, the packets of the class dscp, or those
	 * of all other classes. */
	enum localise_lossy_classes classes;
	uint8_t dscp;
	bool again; /* another entry is for the same path */
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
	struct localise_lossy *lossy; /* the paths that lost packets on the way out */
	size_t lossy_count, lossy_size;
	/* true: flows lose all their probes, so each flow is one observation */
	bool by_flow;
	struct localise_cable *cables; /* memory of suspect_cables */
	size_t cable_size;
	struct localise_over *over; /* one per local: see localise_one_class */
	size_t over_size;
	uint64_t stamp; /* see localise_element.stamp and localise_path.stamp */
	bool slow;      /* true: judges the losses of minutes, to find small losses */
	bool late;      /* true: judges late replies as if they were losses */
	bool with_replies;  /* lost and arrived replies are observations, too */
	bool with_transits; /* transits are suspects: few enough paths are lossy */
	struct localise_fan *fans;
	size_t fan_count, fan_size;
	rm_mono_t now;
	int64_t current_ns; /* a path without a row for this time is not used now */
};

/* Makes room for `need` items of `size` bytes in *(void **)array, which has room for
 * *have items. Returns 0 or -ENOMEM. */
int localise_losses_grow(void *array, size_t *have, size_t need, size_t size);

/* maximum number of parts that are blamed at the same time */
#define LOCALISE_MAX_PARTS 128
#define LOCALISE_MIN_LOST 2.5 /* an element with fewer losses is no suspect */

#endif
