#include "ctl/client/duration.h"

#include <stddef.h>
#include <stdlib.h>

#include "rackmesh/core/clock.h"

long long
duration_ns(const char *text)
{
	static const struct {
		char unit;
		long long seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 },
		{ 'w', 604800 } };
	const long long most = 3660LL * 86400;
	long long total = 0;

	do {
		char *end;
		long long count = strtoll(text, &end, 10);
		size_t i = 0;

		if (end == text || count < 0 || count > most)
			return -1;
		while (i < sizeof(units) / sizeof(units[0]) && units[i].unit != *end)
			i++;
		if (i == sizeof(units) / sizeof(units[0]))
			return -1;
		total += count * units[i].seconds;
		if (total > most)
			return -1;
		text = end + 1;
	} while (*text != '\0');
	return total * RM_NS_PER_S;
}
