/*
 * localise_standings - the parts that are suspected or named, and since when. Types
 * only; functions are in localise_standing.h.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_STANDINGS_H
#define ANALYZER_SUSPICION_LOCALISE_STANDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/finding/localise_find.h"
#include "analyzer/paths/localise_classes.h"
#include "analyzer/suspicion/localise_pairs.h"
#include "rackmesh/judge/verdict.h"

/* Blamed within this time: in one of the last two rounds. */
#define LOCALISE_JUST_NOW_NS (500 * RM_NS_PER_MS)

/* A part that is suspected, or named in a verdict. */
struct localise_standing {
	struct rm_part part;         /* find it by localise_part_same */
	struct localise_pairs pairs; /* of a switch that loses packets between these */
	bool named;
	bool slow;             /* named for losses that only minutes show */
	rm_mono_t since, seen; /* suspected since; blamed last */
	rm_mono_t reported_at; /* when its verdict was made last; ns 0: never named */
	rm_mono_t decided;     /* when a finding last blamed it, not "A or B" */
	rm_mono_t led[2];      /* when it was last the likeliest one; [1]: by minutes */
	rm_wall_t first_end;   /* end of the rows with the first losses */
	int64_t late_ns;       /* how much later than usual these rows arrived */
	enum rm_kind turn;     /* kind that its losses had in the last round */
	rm_mono_t turn_at; /* since when they have it, if it is not the reported kind */
	rm_wall_t start;   /* start of the evidence's window */
	/* Of a late part, in rows that arrived until `counted`: probes that crossed it,
	 * those whose reply never arrived, and those whose reply arrived after its
	 * timeout. */
	double crossed, missed, overdue;
	bool large_alone; /* the verdict reports losses of large packets only */
	bool one_class;   /* the verdict reports losses of the class dscp only */
	uint8_t dscp;
	struct localise_classes classes;
	rm_mono_t counted;
	struct rm_verdict verdict;
};

/* A standing whose part is found at a switch or ToR, and the next one there: its index
 * + 1; 0: there is none. */
struct localise_at_node {
	uint32_t standing, next;
};

struct localise_standings {
	struct localise_standing *standings;
	size_t count, size;
	/* The index of localise_at_node; index_stamp 0: there is none now. */
	struct localise_at_node *at_nodes;
	size_t at_count, at_size;
	uint64_t index_stamp;
};

struct localise_now { /* one round of judgement */
	struct localise_map *map;
	struct localise_case *c;
	rm_mono_t now;
	rm_wall_t wall;
};

#endif
