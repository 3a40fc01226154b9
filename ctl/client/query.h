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
	const char *list; /* key of the array in the answer: "switches" */
	unsigned limit;   /* maximum number of items in one answer of the daemon; 0: no
			     limit */
	/* Keys of the filters that the arguments of the command line set, in this
	 * order; NULL: no more arguments. */
	const char *keys[QUERY_FILTERS];

	const char *filters[QUERY_FILTERS]; /* the arguments; NULL: not given */
	bool all;
	bool json; /* query_show sets this: the answer is printed as it is */
};

/* Reads the filters and --all from the command line. False: the command line is wrong,
 * and the error was printed. */
bool query_arguments(struct query *query, const struct ctl *ctl, const char *usage);

/* Prints a table, unless the answer is printed as it is. Returns an exit code. */
int query_rows(
    const struct query *query, const struct column *columns, const json_t *rows);

/* Requests the list. With --json the answer is printed as it is, else show prints it
 * with query_rows. show is called in both cases: its exit code is returned, and it may
 * print on stderr what is missing. */
int query_show(const struct query *query, const struct ctl *ctl, const char *base,
    int (*show)(const json_t *answer, const struct query *query));

#endif
