/*
 * base_unit - converts values to Prometheus's base units: seconds, and bytes per
 * second. Pure.
 */
#ifndef RACKMESH_METRICS_BASE_UNIT_H
#define RACKMESH_METRICS_BASE_UNIT_H

#include <stdint.h>

/* unit: as in a counter's table, for example "microseconds per priority", "nanowatts"
 * or "megabits per second"; a value in any other unit is returned unchanged. */
double base_unit_value(const char *unit, uint64_t value);

#endif
