/*
 * scenario_read - functions that read the pieces of a scenario file; private to
 * scenario.c and scenario_value.c. All functions return 0, or a negative errno with
 * error filled.
 */
#ifndef TESTS_SIM_SCENARIO_READ_H
#define TESTS_SIM_SCENARIO_READ_H

#include "rackmesh/config/yaml.h"
#include "tests/sim/scenario.h"

struct scenario_read {
	struct scenario *scenario;
	struct rm_error *error;
};

/* Checks that there are no other keys than these; keys ends with NULL. */
int scenario_read_keys(const struct scenario_read *read, const struct rm_yaml_node *map,
    const char *what, const char *const *keys);
int scenario_read_number(const struct scenario_read *read,
    const struct rm_yaml_node *node, const struct scenario_option *option,
    struct scenario_choice *ret);
/* names ends with NULL or "". */
int scenario_read_find(const struct scenario_read *read,
    const struct rm_yaml_node *node, const char *what, const char *const *names,
    size_t *ret);
/* A name, or {of: [names]}. skip: the first so many names are not allowed. */
int scenario_read_name(const struct scenario_read *read,
    const struct rm_yaml_node *node, const char *what, const char *const *names,
    size_t skip, struct scenario_choice *ret);

#endif
