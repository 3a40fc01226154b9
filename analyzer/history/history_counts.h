/*
 * history_counts - what became of points on their way into the database.
 */
#ifndef ANALYZER_HISTORY_HISTORY_COUNTS_H
#define ANALYZER_HISTORY_HISTORY_COUNTS_H

#include <stdint.h>

struct history_counts {
	uint64_t points;           /* into the spools */
	uint64_t refused_messages; /* make no points */
	uint64_t left_out_points;  /* of messages whose other points were taken */
	uint64_t refused_points;   /* by the database */
	uint64_t delivered_points, batches, failed_attempts, splits;
	uint64_t config_faults; /* 401, 403, 404: attempts */
};

#endif
