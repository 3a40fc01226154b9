/*
 * count_rows - rows of the receive counts that changed since the last report.
 *
 * A reflector returns each change once, so the rows are gathered once for all
 * aggregators and then selected for each by the RNICs that it serves.
 */
#ifndef HOST_AGENT_REFLECTOR_COUNT_ROWS_H
#define HOST_AGENT_REFLECTOR_COUNT_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "schemas/wire.h"

struct count_rows;
struct reflector;

int count_rows_new(struct count_rows **ret);
void count_rows_free(struct count_rows *rows);

void count_rows_start(struct count_rows *rows);
/* Takes the changed rows of one RNIC. -ENOMEM, -ENOBUFS (WIRE_MAX_COUNTS are held): the
 * rest is returned the next time. */
int count_rows_gather(
    struct count_rows *rows, size_t rnic, struct reflector *reflector);

/* The rows of the RNICs for which serves(rnic, arg). Borrowed until the next call. */
const struct wire_count *count_rows_pick(struct count_rows *rows,
    bool (*serves)(size_t rnic, const void *arg), const void *arg, size_t *count);

#endif
