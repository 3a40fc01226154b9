/*
 * history_paths - what the paths from one rack to another lost in a time, from the
 * analyzer's answer of rm_path.
 */
#ifndef CTL_HISTORY_HISTORY_PATHS_H
#define CTL_HISTORY_HISTORY_PATHS_H

#include <stdbool.h>

#include <jansson.h>

/* What the question must ask for, as ?columns= has it. */
#define HISTORY_PATH_COLUMNS "sent,lost_forward,lost_reverse,lost_unknown,path"

/* A list of {"path", "sent", "lost"}, the largest share of losses first. NULL: it is no
 * such answer, or out of memory. */
json_t *history_paths(const json_t *answer);

/* To stdout, as a table. -ENOMEM. */
int history_paths_print(const json_t *paths);

#endif
