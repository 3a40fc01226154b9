/*
 * base_unit - values in the units that Prometheus asks for: seconds, and bytes per
 * second. Pure.
 */
#ifndef RACKMESH_METRICS_BASE_UNIT_H
#define RACKMESH_METRICS_BASE_UNIT_H

#include <stdint.h>

/* unit: that of a counter's table, as "microseconds per priority", "nanowatts" or
 * "megabits per second"; a value in any other is what it was. */
double base_unit_value(const char *unit, uint64_t value);

#endif
