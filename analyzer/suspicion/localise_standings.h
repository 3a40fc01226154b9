/*
 * localise_standings - the types for the parts that are suspected or named, with the
 * time since when. The functions are in localise_standing.h.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_STANDINGS_H
#define ANALYZER_SUSPICION_LOCALISE_STANDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/finding/localise_find.h"
#include "analyzer/paths/localise_classes.h"
#include "analyzer/suspicion/localise_pairs.h"
#include "rackmesh/judge/verdict.h"

/* A part that was blamed within this time was blamed in one of the last two rounds. */
#define LOCALISE_JUST_NOW_NS (500 * RM_NS_PER_MS)

/* A part that is suspected, or named in a verdict. */
struct localise_standing {
	struct rm_part part; /* find it by localise_part_same */
	/* for a switch that loses packets only between pairs of racks: these pairs */
	struct localise_pairs pairs;
	bool named;
	bool slow; /* the part is named for losses that only minutes show */
	/* since: when the suspicion began; seen: when the part was blamed last */
	rm_mono_t since, seen;
	rm_mono_t reported_at; /* when its verdict was made last; ns 0: never named */
	/* when a finding last blamed this part alone, not "A or B" */
	rm_mono_t decided;
	/* when the part was last the likeliest one; [0]: by seconds, [1]: by minutes */
	rm_mono_t led[2];
	rm_wall_t first_end; /* end of the time of the rows with the first losses */
	int64_t late_ns;     /* how much later than usual these rows arrived */
	enum rm_kind turn;   /* kind of its losses in the last round */
	/* since when they have this kind, if it is not the reported kind */
	rm_mono_t turn_at;
	rm_wall_t start; /* start of the evidence's window */
	/* For a late part, in rows that arrived until `counted`: crossed: probes that
	 * crossed it; missed: those whose reply never arrived; overdue: those whose
	 * reply arrived after its timeout. */
	double crossed, missed, overdue;
	bool large_alone; /* the verdict reports losses of large packets only */
	/* the verdict reports losses of packets of the class dscp only */
	bool one_class;
	uint8_t dscp;
	struct localise_classes classes;
	rm_mono_t counted;
	struct rm_verdict verdict;
};

/* A standing whose part is found at a switch or ToR. It has the index of the next
 * standing there + 1; 0: there is none. */
struct localise_at_node {
	uint32_t standing, next;
};

struct localise_standings {
	struct localise_standing *standings;
	size_t count, size;
	/* how often a part was not suspected because no place was left for it */
	uint64_t refused;
	/* The index of localise_at_node; index_stamp 0: there is no index now. */
	struct localise_at_node *at_nodes;
	size_t at_count, at_size;
	uint64_t index_stamp;
};

struct localise_now { /* the input of one round of judgement */
	struct localise_map *map;
	struct localise_case *c;
	rm_mono_t now;
	rm_wall_t wall;
};

#endif
