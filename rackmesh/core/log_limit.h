/*
 * log_limit - which lines of a call site are worth writing. Pure.
 *
 * Within 10 s a call site may write the same text 5 times, and 50 texts in all;
 * what is held back is counted and told with its next line.
 */
#ifndef RACKMESH_CORE_LOG_LIMIT_H
#define RACKMESH_CORE_LOG_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define RM_LOG_LIMIT_WINDOW_NS (10 * RM_NS_PER_S)
#define RM_LOG_LIMIT_SAME 5
#define RM_LOG_LIMIT_LINES 50
#define RM_LOG_LIMIT_SITES 512

struct rm_log_site {
	const char *file; /* NULL: free */
	int line;
	rm_mono_t since; /* start of its window */
	unsigned lines;  /* written in the window */
	uint64_t text;   /* hash of the last one */
	unsigned same;   /* how often that was written in a row */
	uint64_t suppressed;
};

/* Zeroed at first. The last site is shared by all that find no other place. */
struct rm_log_limit {
	struct rm_log_site sites[RM_LOG_LIMIT_SITES + 1];
};

/* file: a literal, told apart by its address. *suppressed: how many lines of this
 * site were held back since its last one; set only when true. */
bool rm_log_limit_allows(struct rm_log_limit *limit, const char *file, int line,
    const char *text, rm_mono_t now, uint64_t *suppressed);

#endif
