#include "tests/bench/figure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void
figure_print(const struct figure *figure)
{
	printf("{\"name\": \"%s%s%s\", \"unit\": \"%s\", \"value\": %.9g",
	    figure->of == NULL ? "" : figure->of, figure->of == NULL ? "" : ": ",
	    figure->name, figure->unit, figure->value);
	if (figure->yardstick_is != NULL)
		printf(", \"yardstick_is\": \"%s\", \"yardstick\": %.9g",
		    figure->yardstick_is, figure->yardstick);
	if (figure->gate != NULL)
		printf(", \"gate\": \"%s\"", figure->gate);
	printf("}\n");
	fflush(stdout);
}

uint64_t
figure_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

bool
figure_argument(int argc, char **argv, const char *option)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], option) == 0)
			return true;
	}
	return false;
}

static int
compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

double
figure_p99_us(int64_t *ns, size_t count)
{
	if (count == 0)
		return 0;
	qsort(ns, count, sizeof(*ns), compare);
	return (double)ns[count * 99 / 100] / 1000;
}

void
figure_keep_best(double *best, double value)
{
	if (*best == 0 || value < *best)
		*best = value;
}
