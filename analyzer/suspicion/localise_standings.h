/*
 * localise_standings - what is suspected and what is named, since when.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_STANDINGS_H
#define ANALYZER_SUSPICION_LOCALISE_STANDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/finding/localise_find.h"
#include "analyzer/paths/localise_classes.h"
#include "analyzer/suspicion/localise_pairs.h"
#include "rackmesh/judge/verdict.h"

#define LOCALISE_JUST_NOW_NS (500 * RM_NS_PER_MS) /* blamed, and perhaps not named */

struct localise_standing {
	struct rm_part part; /* a switch that is a ToR: see localise_part_same */
	struct localise_pairs pairs; /* of a switch: for what crosses it between them */
	bool named;
	bool slow; /* named by losses that only many seconds show */
	rm_mono_t since, seen, reported_at;
	rm_mono_t decided;   /* when nothing else would have done as well, last */
	rm_mono_t led[2];    /* when it was likelier than all others, last: see slow */
	rm_wall_t first_end; /* of the rows that showed the first losses */
	int64_t late_ns;     /* so much later than usual these came */
	enum rm_kind turn;   /* what its losses look like now, and since when */
	rm_mono_t turn_at;
	rm_wall_t start;
	/* Of what is late: probes over it, and those that never came back, of rows that
	 * came until then. */
	double crossed, missed, overdue;
	bool large_alone; /* as it was told last: see localise_sizes */
	bool one_class;   /* likewise: only those of the class dscp; see classes */
	uint8_t dscp;
	struct localise_classes classes;
	rm_mono_t counted;
	struct rm_verdict verdict;
};

struct localise_standings {
	struct localise_standing *standings;
	size_t count, size;
};

struct localise_now {
	struct localise_map *map;
	struct localise_case *c;
	rm_mono_t now;
	rm_wall_t wall;
};

#endif
