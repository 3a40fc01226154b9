/*
 * history_counts - counts points by what happened to them.
 */
#ifndef ANALYZER_HISTORY_HISTORY_COUNTS_H
#define ANALYZER_HISTORY_HISTORY_COUNTS_H

#include <stdint.h>

struct history_counts {
	uint64_t points;           /* points that were put into the spools */
	uint64_t refused_messages; /* messages of which no point can be made */
	/* rows of which no point can be made, in messages with other points */
	uint64_t left_out_points;
	uint64_t left_out_paths; /* see HISTORY_MAX_MARKED_PATHS */
	uint64_t refused_points; /* points that the database has refused */
	uint64_t delivered_points, batches, failed_attempts, splits;
	uint64_t config_faults; /* attempts that were answered with 401, 403 or 404 */
};

#endif
