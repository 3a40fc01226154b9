/*
 * history_paths - the losses and congestion marks of the paths from one rack to another
 * in a span of time, from the analyzer's rows of rm_path.
 */
#ifndef CTL_HISTORY_HISTORY_PATHS_H
#define CTL_HISTORY_HISTORY_PATHS_H

#include <stdint.h>

#include <jansson.h>

/* The columns that the request must have, and those that an older analyzer does not
 * have, in the form of ?columns=. */
#define HISTORY_PATH_COLUMNS "sent,lost_forward,lost_reverse,lost_unknown,path"
#define HISTORY_PATH_NEWER_COLUMNS "arrived,congested"

/* An array of {"path", "sent", "lost", "arrived", "congested"}: the path that lost most
 * probes first, then those with most congestion marks. arrived: 0 if the marks are not
 * known. The history has no rows of a path without losses and changed marks, so sent
 * and arrived are not all probes of the path: lost / sent is no loss rate. NULL: not
 * such an answer, or out of memory. */
json_t *history_paths(const json_t *answer);

/* Prints the paths to stdout, as a table, with their shares of pair_sent: all probes of
 * the pair of racks in that time; 0: not known. -ENOMEM. */
int history_paths_print(const json_t *paths, uint64_t pair_sent);

#endif
