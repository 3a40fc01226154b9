/* marks_read - the marks of a scenario file; private to scenario.c. */
#ifndef TESTS_SIM_MARKS_READ_H
#define TESTS_SIM_MARKS_READ_H

#include "tests/sim/scenario_read.h"

extern const char *const marks_class_names[MARKS_SECONDS + 2]; /* ended by NULL */
extern const struct scenario_option marks_figures[MARK_FIGURES];
extern const struct scenario_option marks_times[MARK_TIMES];

/* root: the root of the file's YAML. Returns 0, or a negative errno with error filled.
 */
int marks_read(const struct scenario_read *read, const struct rm_yaml_node *root);

#endif
