/*
 * history_counts - counts points by what happened to them.
 */
#ifndef ANALYZER_HISTORY_HISTORY_COUNTS_H
#define ANALYZER_HISTORY_HISTORY_COUNTS_H

#include <stdint.h>

struct history_counts {
	uint64_t points;           /* put into the spools */
	uint64_t refused_messages; /* messages from which no point can be made */
	/* rows that cannot be points, in messages with other points */
	uint64_t left_out_points;
	uint64_t refused_points; /* refused by the database */
	uint64_t delivered_points, batches, failed_attempts, splits;
	uint64_t config_faults; /* attempts that were answered with 401, 403 or 404 */
};

#endif
