/*
 * tune_main - the command sim tune: prints the best parameters of the schemes on
 * families of scenarios, for each window, as lines for tuned.c.
 */
#ifndef TESTS_SIM_TUNE_MAIN_H
#define TESTS_SIM_TUNE_MAIN_H

#include <stddef.h>

struct scheme_type;

/* argv[0] is the command. Returns an exit status. */
int tune_main(
    int argc, char **argv, const struct scheme_type *const *schemes, size_t count);

#endif
