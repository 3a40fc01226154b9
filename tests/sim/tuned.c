#include "tests/sim/tuned.h"

#include <string.h>

/* The output of `sim tune --runs 3`; the first value is the window. ours-flows is
 * missing, because it is our own scheme and is not tuned on families. */
static const struct {
	const char *scheme;
	double values[SCHEME_PARAMETERS];
} tuned[] = {
	{ "ten-percent", { 1, 0.5 } },                 /* mark 0.230 */
	{ "ten-percent", { 5, 0.5 } },                 /* mark 0.221 */
	{ "ten-percent", { 20, 0.5 } },                /* mark 0.163 */
	{ "ten-percent", { 120, 0.03 } },              /* mark 0.131 */
	{ "vote", { 5, 0.3, 8, 0.8, 0.25 } },          /* mark 0.606 */
	{ "vote", { 20, 0.3, 8, 0.8, 0.5 } },          /* mark 0.601 */
	{ "vote", { 120, 0.3, 1, 0.5, 0.5 } },         /* mark 0.263 */
	{ "007", { 5, 0.0023, 2, 0.25 } },             /* mark 0.656 */
	{ "007", { 30, 0.01, 2, 0.5 } },               /* mark 0.390 */
	{ "007", { 120, 0.0023, 3, 0.5 } },            /* mark 0.296 */
	{ "netbouncer", { 5, 0.03, 0.01, 1 } },        /* mark 0.435 */
	{ "netbouncer", { 20, 0.03, 0.01, 0.5 } },     /* mark 0.477 */
	{ "netbouncer", { 120, 0.0001, 0.007, 0.5 } }, /* mark 0.260 */
	{ "pll", { 5, 0.05, 0, 1, 0.25 } },            /* mark 0.757 */
	{ "pll", { 30, 0.05, 0, 1, 0.5 } },            /* mark 0.396 */
	{ "pll", { 120, 0.2, 0, 1, 0.5 } },            /* mark 0.327 */
	{ "flock", { 5, 0.003, 0.0001, -15 } },        /* mark 0.572 */
	{ "flock", { 20, 0.005, 0.0005, -15 } },       /* mark 0.463 */
	{ "flock", { 120, 0.005, 0.0003, -15 } },      /* mark 0.217 */
};

bool
tuned_values(
    const struct scheme_type *type, double window_s, double values[SCHEME_PARAMETERS])
{
	for (size_t i = 0; i < type->parameter_count; i++)
		values[i] = type->parameters[i].value;
	if (window_s <= 0)
		return false;
	values[SCHEME_WINDOW] = window_s;
	for (size_t i = 0; i < sizeof tuned / sizeof *tuned; i++)
		if (strcmp(tuned[i].scheme, type->name) == 0 &&
		    tuned[i].values[SCHEME_WINDOW] == window_s) {
			memcpy(values, tuned[i].values,
			    type->parameter_count * sizeof *values);
			return true;
		}
	return false;
}
