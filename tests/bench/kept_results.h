#ifndef RACKMESH_TESTS_BENCH_KEPT_RESULTS_H
#define RACKMESH_TESTS_BENCH_KEPT_RESULTS_H

#include <stdint.h>

#include "schemas/wire.h"

/* For each result: when its probe was sent, to which target, and its outcome. */
struct kept_results;

struct kept_results *kept_results_new(void); /* NULL: no memory */
void kept_results_free(struct kept_results *kept);
void kept_results_add(struct kept_results *kept, const struct wire_batch_view *view);

/* Prints one line of JSON about the probes sent between these two times
 * (CLOCK_MONOTONIC, ns), and forgets all results. */
void kept_results_print(
    struct kept_results *kept, int64_t from, int64_t to, uint64_t overruns);

#endif
