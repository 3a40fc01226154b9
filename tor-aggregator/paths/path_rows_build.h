/*
 * path_rows_build - flows' counts added up by path, as a message has them. Pure.
 */
#ifndef TOR_AGGREGATOR_PATHS_PATH_ROWS_BUILD_H
#define TOR_AGGREGATOR_PATHS_PATH_ROWS_BUILD_H

#include <stddef.h>
#include <stdint.h>

struct flow_counts;
struct path_build;
struct path_table;
struct roster;
struct wire_path_row;

int path_build_new(size_t max_rows, struct path_build **ret);
void path_build_free(struct path_build *build);

/* *rows is valid until the next call. Adds to *refused the flows beyond max_rows. */
size_t path_build_rows(struct path_build *build, const struct flow_counts *flows,
    const struct roster *roster, const struct path_table *paths,
    const struct wire_path_row **rows, uint64_t *refused);

#endif
