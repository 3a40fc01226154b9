#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tests/sim/passage_index.h"

#define DEVICE_PRIOR 5 /* cost of a switch, as a multiple of that of a link */

enum { WINDOW, BAD_LOSS, GOOD_LOSS, PRIOR };

struct flock {
	const struct passage *passages;
	struct passage_index index;
	/* for each passage: ln of the likelihood ratio if it crosses a bad part */
	double *evidence;
	bool *blamed; /* for each passage: it crosses a blamed part */
	double *gain; /* for each part: gain of blaming it, including the prior */
};

static void
weigh(struct flock *flock, const struct windowed *w, size_t count)
{
	const double lost = log(w->values[BAD_LOSS] / w->values[GOOD_LOSS]);
	const double kept = log((1 - w->values[BAD_LOSS]) / (1 - w->values[GOOD_LOSS]));
	const uint32_t links = clos_first(w->clos, CLOS_LINK);

	for (size_t i = 0; i < count; i++) {
		const struct passage *p = &flock->passages[i];

		flock->evidence[i] = p->lost * lost + (p->sent - p->lost) * kept;
	}
	for (uint32_t part = clos_first(w->clos, CLOS_TOR); part < clos_parts(w->clos);
	     part++) {
		flock->gain[part] =
		    (part < links ? DEVICE_PRIOR : 1) * w->values[PRIOR];
		for (size_t i = flock->index.first[part];
		     i < flock->index.first[part + 1]; i++)
			flock->gain[part] += flock->evidence[flock->index.list[i]];
	}
}

/* The passage is explained now, so other parts gain nothing by it. */
static void
blame(struct flock *flock, const struct clos *clos, uint32_t part)
{
	for (size_t i = flock->index.first[part]; i < flock->index.first[part + 1];
	     i++) {
		const uint32_t passage = flock->index.list[i];
		uint32_t parts[PASSAGE_PARTS];
		size_t n;

		if (flock->blamed[passage])
			continue;
		flock->blamed[passage] = true;
		n = passage_parts(clos, &flock->passages[passage], parts);
		for (size_t k = 0; k < n; k++)
			flock->gain[parts[k]] -= flock->evidence[passage];
	}
	flock->gain[part] = -INFINITY;
}

static int
search(struct flock *flock, struct windowed *w)
{
	for (;;) {
		uint32_t best = clos_first(w->clos, CLOS_TOR);

		for (uint32_t i = best; i < clos_parts(w->clos); i++)
			if (flock->gain[i] > flock->gain[best])
				best = i;
		if (flock->gain[best] <= 0)
			return 0;
		if (windowed_name(w, best, 1 / (1 + exp(-flock->gain[best]))) < 0)
			return -ENOMEM;
		blame(flock, w->clos, best);
	}
}

static int
judge(struct windowed *w, const struct passage *passages, size_t count)
{
	struct flock flock = { .passages = passages };
	int r;

	r = passage_index_init(&flock.index, w->clos, passages, count);
	flock.evidence = calloc(count + 1, sizeof *flock.evidence);
	flock.blamed = calloc(count + 1, sizeof *flock.blamed);
	flock.gain = calloc(clos_parts(w->clos), sizeof *flock.gain);
	if (r < 0 || flock.evidence == NULL || flock.blamed == NULL ||
	    flock.gain == NULL) {
		r = -ENOMEM;
		goto out;
	}
	weigh(&flock, w, count);
	r = search(&flock, w);
out:
	passage_index_clear(&flock.index);
	free(flock.evidence);
	free(flock.blamed);
	free(flock.gain);
	return r;
}

static int new (const struct clos *clos, const double *values, struct scheme **ret)
{
	return windowed_new(&scheme_flock, clos, values, judge, ret);
}

/* clang-format off */
const struct scheme_type scheme_flock = {
	.name = "flock",
	.source = "Flock (CoNEXT 2023): greedy likelihood, one bad and one good loss rate; "
		  "a device's prior is five times a link's",
	/* The values were found by sim_flock rnics on windows of 120 s. Published for
	 * A1: 0.0005, 0.000175, -4. */
	.parameters = {
		[WINDOW] = { "window_s", 120, { 5, 20, 120 }, 3 },
		[BAD_LOSS] = { "bad_loss", 0.003, { 0.0005, 0.001, 0.002, 0.003, 0.005, 0.007 }, 6 },
		[GOOD_LOSS] = { "good_loss", 0.0001, { 0.00005, 0.0001, 0.000175, 0.0002, 0.0003, 0.0005 }, 6 },
		[PRIOR] = { "prior", -15, { -2, -4, -6, -8, -10, -15, -25, -35 }, 8 },
	},
	.parameter_count = 4,
	.new = new,
	.free = windowed_free,
	.report = windowed_report,
	.judge = windowed_judge,
};
/* clang-format on */
