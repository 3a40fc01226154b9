/*
 * tune_families - the mark of a scheme on runs of many families with the same weight.
 *
 * The RNICs, links and switches of all runs of a family count together: their precision
 * and recall make the family's mark (tune_mark).
 */
#ifndef TESTS_SIM_TUNE_FAMILIES_H
#define TESTS_SIM_TUNE_FAMILIES_H

#include <stddef.h>
#include <stdint.h>

#include "tests/sim/scheme.h"

struct tune_families;

/* Simulates `runs` runs of each file in `jobs` threads (1 to 64). Prints errors. */
int tune_families_new(char *const *files, size_t file_count, uint32_t runs,
    uint64_t seed, size_t jobs, struct tune_families **ret);
void tune_families_free(struct tune_families *families);

/* A tune_try_fn; arg: const struct tune_families. Threads may share it. */
int tune_families_try(
    void *arg, const struct scheme_type *type, const double *values, double *ret_mark);

#endif
