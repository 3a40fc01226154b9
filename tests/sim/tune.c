#include "tests/sim/tune.h"

#include <string.h>

#define MAX_ROUNDS 2

struct tuning {
	const struct scheme_type *type;
	tune_try_fn *try;
	void *arg;
	double values[SCHEME_PARAMETERS];
	double best;
};

double
tune_mark(double precision, double recall)
{
	const double weighed = precision / 4 + recall;

	return weighed > 0 ? 1.25 * precision * recall / weighed : 0;
}

/* Returns 1 if the values are better. */
static int
try_pair(struct tuning *t, size_t a, double x, size_t b, double y)
{
	double values[SCHEME_PARAMETERS];
	double mark;
	int r;

	if (t->values[a] == x && t->values[b] == y)
		return 0;
	memcpy(values, t->values, sizeof values);
	values[a] = x;
	values[b] = y;
	r = t->try(t->arg, t->type, values, &mark);
	if (r < 0 || mark <= t->best)
		return r < 0 ? r : 0;
	memcpy(t->values, values, sizeof values);
	t->best = mark;
	return 1;
}

static int
search_pair(struct tuning *t, size_t a, size_t b)
{
	const struct scheme_parameter *p = t->type->parameters;
	int better = 0, r;

	for (size_t i = 0; i < p[a].grid_count; i++)
		for (size_t k = 0; k < p[b].grid_count; k++) {
			if (a == b && k != i)
				continue;
			r = try_pair(t, a, p[a].grid[i], b, p[b].grid[k]);
			if (r < 0)
				return r;
			better |= r;
		}
	return better;
}

static int
search_round(struct tuning *t, size_t first)
{
	const size_t count = t->type->parameter_count;
	int better = 0;

	for (size_t a = first; a < count; a++)
		for (size_t b = a + 1 < count ? a + 1 : a; b < count; b++) {
			const int r = search_pair(t, a, b);

			if (r < 0)
				return r;
			better |= r;
		}
	return better;
}

int
tune(const struct scheme_type *type, size_t first, tune_try_fn *try, void *arg,
    double values[SCHEME_PARAMETERS], double *ret_mark)
{
	struct tuning t = { .type = type, .try = try, .arg = arg };
	int r;

	memcpy(t.values, values, sizeof t.values);
	r = try(arg, type, t.values, &t.best);
	if (r < 0)
		return r;
	for (int round = 0; round < MAX_ROUNDS; round++) {
		r = search_round(&t, first);
		if (r <= 0)
			break;
	}
	if (r < 0)
		return r;
	memcpy(values, t.values, sizeof t.values);
	*ret_mark = t.best;
	return 0;
}
