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
	/* What the words of the command line filter by; NULL: no more words. */
	const char *keys[QUERY_FILTERS];

	const char *filters[QUERY_FILTERS]; /* these words; NULL: not given */
	bool all;
	bool json; /* set by query_show: the answer is printed as it came */
};

/* Reads filters and --all of the command line. False: it makes no sense; said, with
 * usage. */
bool query_arguments(struct query *query, const struct ctl *ctl, const char *usage);

/* A table, unless the answer is printed as it came. Returns an exit code. */
int query_rows(
    const struct query *query, const struct column *columns, const json_t *rows);

/* Shows the answer as it came with --json. Else show prints it, by query_rows; either
 * way its exit code is returned, and it may say on standard error what is missing. */
int query_show(const struct query *query, const struct ctl *ctl, const char *base,
    int (*show)(const json_t *answer, const struct query *query));

#endif
