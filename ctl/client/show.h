/*
 * show - requests one list from a daemon and prints it, as a table or as the daemon
 * sent it.
 */
#ifndef CTL_CLIENT_SHOW_H
#define CTL_CLIENT_SHOW_H

#include <stdbool.h>

#include <jansson.h>

struct column;
struct ctl;

void show_json(const json_t *json);
/* Prints an array of objects as a table. Returns an exit code. */
int show_rows(const struct column *columns, const json_t *rows);

/* Returns a counter of an answer as a row of a table (new reference); total of a gauge
 * is its value. */
json_t *show_counter(const json_t *counter);

/* Prints how a switch or an ESXi host is read, if there is a problem; what: "switch of
 * tor1". False: the values in the answer are old, or there are none. */
bool show_reading(const char *what, const json_t *reading);

/*
 * Requests path from base, and prints the list under key. Returns an exit code. answer:
 * NULL, or set to the whole answer (new reference).
 */
int show_list(const struct ctl *ctl, const char *base, const char *path,
    const char *key, const struct column *columns, json_t **answer);

/*
 * Handles "noun [--tor TOR]": requests /v1/noun of the aggregator, of all ToRs or of
 * one, and prints the list. The exit code is CTL_PROBLEM if the list is empty, or if
 * is_well returns false for an item.
 */
int show_list_of_tor(const struct ctl *ctl, const char *noun,
    const struct column *columns, bool (*is_well)(const json_t *item));

#endif
