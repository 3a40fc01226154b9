#include "rackmesh/metrics/base_unit.h"

#include <string.h>

static const char microseconds[] = "microseconds", megabits[] = "megabits per second",
		  nanowatts[] = "nanowatts", microamperes[] = "microamperes",
		  millivolts[] = "millivolts";

double
base_unit_value(const char *unit, uint64_t value)
{
	if (strcmp(unit, nanowatts) == 0)
		return (double)value / 1e9;
	if (strcmp(unit, microamperes) == 0)
		return (double)value / 1e6;
	if (strcmp(unit, millivolts) == 0)
		return (double)value / 1e3;
	if (strncmp(unit, microseconds, sizeof(microseconds) - 1) == 0)
		return (double)value / 1e6;
	if (strcmp(unit, megabits) == 0)
		return (double)value * 125000; /* bytes */
	return (double)value;
}
