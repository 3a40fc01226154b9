/*
 * query - asks a daemon for a list, by the filters of the command line: "switch [TOR
 * [PORT]] [--all]" is GET /v1/switches?tor=TOR&port=PORT&all=1.
 */
#ifndef CTL_CLIENT_QUERY_H
#define CTL_CLIENT_QUERY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct column;
struct ctl;

#define QUERY_FILTERS 2

struct query {
	const char *path; /* "/v1/switches" */
	const char *list; /* the array that the answer has: "switches" */
	unsigned limit;   /* the daemon's own; 0: it has none */
	/* Filters that the arguments of the command line set, in order; NULL: no more
	 * arguments. */
	const char *keys[QUERY_FILTERS];

	const char *filters[QUERY_FILTERS]; /* the arguments; NULL: not given */
	bool all;
	bool json; /* set by query_show: the answer is printed as it came */
};

/* Reads filters and --all of the command line. False: it is wrong; the error has been
 * printed. */
bool query_arguments(struct query *query, const struct ctl *ctl, const char *usage);

/* A table, unless the answer is printed as it came. Returns an exit code. */
int query_rows(
    const struct query *query, const struct column *columns, const json_t *rows);

/* With --json prints the answer as it is. Otherwise calls show, which prints it by
 * query_rows. In both cases show's exit code is returned, and it may print on standard
 * error what is missing. */
int query_show(const struct query *query, const struct ctl *ctl, const char *base,
    int (*show)(const json_t *answer, const struct query *query));

#endif
