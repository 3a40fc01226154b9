/*
 * show - asks a daemon for one list and prints it, as a table or as it came.
 */
#ifndef CTL_CLIENT_SHOW_H
#define CTL_CLIENT_SHOW_H

#include <stdbool.h>

#include <jansson.h>

struct column;
struct ctl;

void show_json(const json_t *json);
/* An array of objects as a table. Returns an exit code. */
int show_rows(const struct column *columns, const json_t *rows);

/* A counter of an answer as a row (new reference): a gauge has its value as total. */
json_t *show_counter(const json_t *counter);

/* Prints how a switch or an ESXi host is read, unless that is well; what: "switch of
 * tor1". False: the values in the answer are old, or there are none. */
bool show_reading(const char *what, const json_t *reading);

/*
 * GET path from base; the list lies under key. Returns an exit code. answer: NULL,
 * or takes the whole answer (new reference) for a closer look.
 */
int show_list(const struct ctl *ctl, const char *base, const char *path,
    const char *key, const struct column *columns, json_t **answer);

/*
 * "noun [--tor TOR]": the aggregator's /v1/noun, all or those of one ToR. Bad news:
 * none are there, or one is not well.
 */
int show_list_of_tor(const struct ctl *ctl, const char *noun,
    const struct column *columns, bool (*is_well)(const json_t *item));

#endif
