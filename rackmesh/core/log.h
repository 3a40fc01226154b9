/*
 * log - lines on stderr with a journald priority prefix ("<3>").
 *
 * Only the files that wire a daemon together, or that do its I/O, log, and they log
 * each failure once; libraries return errors. Repeated lines of a call site are
 * limited: some are left out, and a later line has their number. Text from a peer goes
 * through rm_log_quote first.
 */
#ifndef RACKMESH_CORE_LOG_H
#define RACKMESH_CORE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

enum rm_log_level {
	RM_LOG_ERROR = 3, /* syslog's numbers */
	RM_LOG_WARNING = 4,
	RM_LOG_INFO = 6,
	RM_LOG_DEBUG = 7,
};

/* Names the process in every line and routes libevent's log here. name is
 * borrowed for the life of the process. */
void rm_log_open(const char *name);
void rm_log_set_level(enum rm_log_level level); /* default RM_LOG_INFO */

/* r: a negative errno whose text is appended, or 0 for none. */
#define rm_log_error(r, ...) rm_log_at(RM_LOG_ERROR, __FILE__, __LINE__, r, __VA_ARGS__)
#define rm_log_warn(r, ...) \
	rm_log_at(RM_LOG_WARNING, __FILE__, __LINE__, r, __VA_ARGS__)
#define rm_log_info(...) rm_log_at(RM_LOG_INFO, __FILE__, __LINE__, 0, __VA_ARGS__)
#define rm_log_debug(...) rm_log_at(RM_LOG_DEBUG, __FILE__, __LINE__, 0, __VA_ARGS__)

void rm_log_at(enum rm_log_level level, const char *file, int line, int r,
    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Copies text in quotes to out, with all characters that are not printable escaped, cut
 * to fit. Returns out. */
const char *rm_log_quote(char *out, size_t out_len, const char *text, size_t text_len);

/* For tests and fuzzers: lines go to this function instead of stderr; NULL restores
 * stderr. */
typedef void rm_log_sink(enum rm_log_level level, const char *line, void *arg);
void rm_log_set_sink(rm_log_sink *sink, void *arg);

/* Limits the lines of a call site. Pure. Within 10 s a call site may write the same
 * text 5 times, and 50 texts in all; suppressed lines are counted, and its next line
 * gives the number. */
#define RM_LOG_LIMIT_WINDOW_NS (10 * RM_NS_PER_S)
#define RM_LOG_LIMIT_SAME 5
#define RM_LOG_LIMIT_LINES 50
#define RM_LOG_LIMIT_CALLERS 512

struct rm_log_caller {
	const char *file; /* NULL: free */
	int line;
	rm_mono_t since; /* start of the time window of this call site */
	unsigned lines;  /* lines that were written in the window */
	uint64_t text;   /* hash of the text that was written last */
	unsigned same;   /* how often in a row that text was written */
	uint64_t suppressed;
};

/* All zeros at first. Call sites for which the table has no room share its last
 * entry. */
struct rm_log_limit {
	struct rm_log_caller callers[RM_LOG_LIMIT_CALLERS + 1];
};

/* file: a string literal, compared by address. *suppressed: number of lines of this
 * site suppressed since its last one; set only when true is returned. */
bool rm_log_limit_allows(struct rm_log_limit *limit, const char *file, int line,
    const char *text, rm_mono_t now, uint64_t *suppressed);

#endif
