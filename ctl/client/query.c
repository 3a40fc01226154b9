#include "ctl/client/query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"
#include "ctl/client/show.h"

bool
query_arguments(struct query *query, const struct ctl *ctl, const char *usage)
{
	size_t count = 0;

	for (int i = 0; i < ctl->argc; i++) {
		const char *argument = ctl->argv[i];

		if (strcmp(argument, "--all") == 0)
			query->all = true;
		else if (argument[0] != '-' && count < QUERY_FILTERS &&
			 query->keys[count] != NULL)
			query->filters[count++] = argument;
		else
			return ctl_usage("expected: %s", usage) == CTL_GOOD;
	}
	return true;
}

static int
add(char **path, const char *key, const char *value)
{
	return value == NULL ? 0 : request_add_filter(path, key, value);
}

/* Returns NULL when out of memory. */
static char *
path_of(const struct query *query)
{
	char limit[16] = "", *path = strdup(query->path);
	int r = path == NULL ? -ENOMEM : 0;

	if (query->limit > 0)
		snprintf(limit, sizeof(limit), "%u", query->limit);
	if (r == 0)
		r = add(&path, "limit", limit[0] == '\0' ? NULL : limit);
	if (r == 0)
		r = add(&path, "all", query->all ? "1" : NULL);
	for (size_t i = 0; r == 0 && i < QUERY_FILTERS; i++)
		r = add(&path, query->keys[i], query->filters[i]);
	if (r == 0)
		return path;
	free(path);
	return NULL;
}

int
query_rows(const struct query *query, const struct column *columns, const json_t *rows)
{
	return query->json ? CTL_GOOD : show_rows(columns, rows);
}

int
query_show(const struct query *query, const struct ctl *ctl, const char *base,
    int (*show)(const json_t *answer, const struct query *query))
{
	struct query asked = *query;
	char *path = path_of(query);
	json_t *answer = NULL;
	int r;

	r = path == NULL ? -ENOMEM : request_get_list(base, path, query->list, &answer);
	free(path);
	if (r < 0)
		return CTL_NO_ANSWER;
	asked.json = ctl->json;
	if (ctl->json)
		show_json(answer);
	r = show(answer, &asked);
	json_decref(answer);
	return r;
}
