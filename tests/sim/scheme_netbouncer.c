#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tests/sim/passage_index.h"

#define MAX_ROUNDS 100
#define STILL 1e-8 /* the descent ends when the error changes by less than this */

enum { WINDOW, LAMBDA, FAIL, DEVICE };

struct descent {
	const struct windowed *w;
	const struct passage *passages;
	size_t count;
	struct passage_index index;
	double *x;       /* for each part: share of packets that a link lets through */
	double *through; /* for each passage: the product of x over its links */
	bool *out; /* for each part: true for the links of a device that was named */
	bool *left_out; /* for each passage: it crosses such a link, or its path is not
			   known */
};

static double
rate(const struct passage *p)
{
	return 1 - (double)p->lost / p->sent;
}

/* Returns the product of x over all links but one. */
static double
let_through(const struct descent *d, const struct passage *p, uint32_t but)
{
	double product = 1;

	for (uint8_t i = 0; i < p->count; i++)
		if (p->links[i] != but)
			product *= d->x[p->links[i]];
	return product;
}

/* This is the first step: it names a switch if too many paths through it are bad. */
static int
name_devices(struct descent *d, struct windowed *w)
{
	const uint32_t first = clos_first(w->clos, CLOS_TOR);

	for (uint32_t sw = first; sw < first + clos_switches(w->clos); sw++) {
		const size_t begin = d->index.first[sw], end = d->index.first[sw + 1];
		const uint32_t *links;
		const uint32_t ports = clos_leaving(w->clos, sw, &links);
		size_t bad = 0;

		for (size_t i = begin; i < end; i++)
			bad += d->passages[d->index.list[i]].lost > 0;
		if (bad == 0 || (double)bad < w->values[DEVICE] * (double)(end - begin))
			continue;
		for (uint32_t i = 0; i < ports; i++) {
			d->out[links[i]] = true;
			d->out[clos_part(w->clos, links[i])->twin] = true;
		}
		if (windowed_name(w, sw, 1) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void
leave_out(struct descent *d)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct passage *p = &d->passages[i];

		d->left_out[i] = p->count == 0;
		for (uint8_t k = 0; k < p->count; k++)
			d->left_out[i] |= d->out[p->links[k]];
	}
}

static void
begin(struct descent *d, uint32_t link)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = d->index.first[link]; i < d->index.first[link + 1]; i++) {
		const uint32_t passage = d->index.list[i];

		if (d->left_out[passage])
			continue;
		sum += rate(&d->passages[passage]);
		n++;
	}
	d->x[link] = n > 0 ? sum / (double)n : 1;
}

/* Returns the best x of one link, while the x of all others stay. */
static double
best_of(const struct descent *d, uint32_t link)
{
	const double lambda = d->w->values[LAMBDA], x = d->x[link];
	double s1 = 0, s2 = 0, best;

	for (size_t i = d->index.first[link]; i < d->index.first[link + 1]; i++) {
		const uint32_t passage = d->index.list[i];
		const struct passage *p = &d->passages[passage];
		double t;

		if (d->left_out[passage])
			continue;
		t = x > 0 ? d->through[passage] / x : let_through(d, p, link);
		s1 += t * rate(p);
		s2 += t * t;
	}
	if (s2 == 0)
		return 1;
	if (s2 <= lambda) /* the function is concave: use the end of the range that is
			     nearer to the observation */
		return s1 > s2 / 2 ? 1 : 0;
	best = (2 * s1 - lambda) / (2 * (s2 - lambda));
	return best < 0 ? 0 : best > 1 ? 1 : best;
}

static void
step(struct descent *d, uint32_t link)
{
	const double before = d->x[link];

	d->x[link] = best_of(d, link);
	if (d->x[link] == before)
		return;
	for (size_t i = d->index.first[link]; i < d->index.first[link + 1]; i++) {
		const uint32_t passage = d->index.list[i];

		d->through[passage] = let_through(d, &d->passages[passage], CLOS_NONE);
	}
}

static double
error(const struct descent *d)
{
	double sum = 0;

	for (size_t i = 0; i < d->count; i++) {
		const double e = rate(&d->passages[i]) - d->through[i];

		sum += d->left_out[i] ? 0 : e * e;
	}
	for (uint32_t i = clos_first(d->w->clos, CLOS_LINK); i < clos_parts(d->w->clos);
	     i++)
		sum += d->w->values[LAMBDA] * d->x[i] * (1 - d->x[i]);
	return sum;
}

static void
descend(struct descent *d)
{
	const uint32_t first = clos_first(d->w->clos, CLOS_LINK);
	const uint32_t end = clos_parts(d->w->clos);
	double before, now;

	leave_out(d);
	for (uint32_t i = first; i < end; i++)
		begin(d, i);
	for (size_t i = 0; i < d->count; i++)
		d->through[i] = let_through(d, &d->passages[i], CLOS_NONE);
	now = error(d);
	for (int round = 0; round < MAX_ROUNDS; round++) {
		before = now;
		for (uint32_t i = first; i < end; i++)
			if (d->index.first[i] < d->index.first[i + 1])
				step(d, i);
		now = error(d);
		if (fabs(now - before) < STILL)
			break;
	}
}

static int
judge(struct windowed *w, const struct passage *passages, size_t count)
{
	struct descent d = { .w = w, .passages = passages, .count = count };
	int r;

	r = passage_index_init(&d.index, w->clos, passages, count);
	d.x = calloc(clos_parts(w->clos), sizeof *d.x);
	d.out = calloc(clos_parts(w->clos), sizeof *d.out);
	d.through = calloc(count + 1, sizeof *d.through);
	d.left_out = calloc(count + 1, sizeof *d.left_out);
	if (r < 0 || d.x == NULL || d.out == NULL || d.through == NULL ||
	    d.left_out == NULL) {
		r = -ENOMEM;
		goto out;
	}
	r = name_devices(&d, w);
	if (r < 0)
		goto out;
	descend(&d);
	for (uint32_t i = clos_first(w->clos, CLOS_LINK);
	     i < clos_parts(w->clos) && r == 0; i++)
		if (!d.out[i] && 1 - d.x[i] >= w->values[FAIL])
			r = windowed_name(w, i, 1);
out:
	passage_index_clear(&d.index);
	free(d.x);
	free(d.through);
	free(d.out);
	free(d.left_out);
	return r;
}

static int new (const struct clos *clos, const double *values, struct scheme **ret)
{
	return windowed_new(&scheme_netbouncer, clos, values, judge, ret);
}

/* clang-format off */
const struct scheme_type scheme_netbouncer = {
	.name = "netbouncer",
	.source = "NetBouncer (NSDI 2019): regularised least squares by coordinate descent",
	/* The values were found by sim_flock rnics on windows of 120 s. Published by
	 * Flock's authors for A1: 0.001, 0.007, 0.125. */
	.parameters = {
		[WINDOW] = { "window_s", 120, { 5, 20, 120 }, 3 },
		[LAMBDA] = { "lambda", 0.03, { 0.0001, 0.001, 0.003, 0.01, 0.03 }, 5 },
		[FAIL] = { "fail", 0.003, { 0.0005, 0.001, 0.0015, 0.002, 0.003, 0.005, 0.007, 0.01 }, 8 },
		[DEVICE] = { "device", 0.5, { 0.03, 0.0625, 0.125, 0.25, 0.5, 1 }, 6 },
	},
	.parameter_count = 4,
	.new = new,
	.free = windowed_free,
	.report = windowed_report,
	.judge = windowed_judge,
};
/* clang-format on */
