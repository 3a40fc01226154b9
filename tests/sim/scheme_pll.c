#include <errno.h>
#include <stdlib.h>

#include "tests/sim/passage_index.h"

enum { WINDOW, HIT, PATH_LOSS, LOST, DEVICE };

struct pll {
	const struct passage *passages;
	struct passage_index index;
	bool *lossy; /* for each passage: its losses are not explained yet */
	bool *whole; /* for each link: everything that crossed it was lost */
};

static void
find_lossy(struct pll *pll, const struct windowed *w, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct passage *p = &pll->passages[i];

		pll->lossy[i] =
		    p->count > 0 && p->lost >= w->values[LOST] &&
		    (double)p->lost >= w->values[PATH_LOSS] * (double)p->sent;
	}
}

/* Finds the links that have lost all of their probes. */
static void
find_whole(struct pll *pll, const struct clos *clos)
{
	for (uint32_t l = clos_first(clos, CLOS_LINK); l < clos_parts(clos); l++) {
		const size_t begin = pll->index.first[l], end = pll->index.first[l + 1];

		pll->whole[l] = end > begin;
		for (size_t i = begin; i < end; i++) {
			const struct passage *p = &pll->passages[pll->index.list[i]];

			if (p->lost < p->sent)
				pll->whole[l] = false;
		}
	}
}

/* Returns the number of losses that the link explains; 0: too few of its paths are
 * lossy. */
static uint64_t
explains(const struct pll *pll, uint32_t link, double hit)
{
	const size_t begin = pll->index.first[link], end = pll->index.first[link + 1];
	uint64_t lost = 0;
	size_t lossy = 0;

	for (size_t i = begin; i < end; i++) {
		const uint32_t passage = pll->index.list[i];

		if (!pll->lossy[passage])
			continue;
		lossy++;
		lost += pll->passages[passage].lost;
	}
	return (double)lossy > hit * (double)(end - begin) ? lost : 0;
}

/* Names the link that explains most losses, one link after the other. whole: only links
 * that lost everything, which are named first. */
static int
explain(struct pll *pll, struct windowed *w, bool whole)
{
	const double hit = whole ? 0 : w->values[HIT];

	for (;;) {
		uint32_t best = CLOS_NONE;
		uint64_t most = 0;

		for (uint32_t l = clos_first(w->clos, CLOS_LINK);
		     l < clos_parts(w->clos); l++) {
			const uint64_t lost =
			    whole && !pll->whole[l] ? 0 : explains(pll, l, hit);

			if (lost > most) {
				most = lost;
				best = l;
			}
		}
		if (best == CLOS_NONE)
			return 0;
		for (size_t i = pll->index.first[best]; i < pll->index.first[best + 1];
		     i++)
			pll->lossy[pll->index.list[i]] = false;
		if (windowed_name(w, best, 1) < 0)
			return -ENOMEM;
	}
}

static int
judge(struct windowed *w, const struct passage *passages, size_t count)
{
	struct pll pll = { .passages = passages };
	int r;

	r = passage_index_init(&pll.index, w->clos, passages, count);
	pll.lossy = calloc(count + 1, sizeof *pll.lossy);
	pll.whole = calloc(clos_parts(w->clos), sizeof *pll.whole);
	if (r < 0 || pll.lossy == NULL || pll.whole == NULL) {
		r = -ENOMEM;
		goto out;
	}
	find_lossy(&pll, w, count);
	find_whole(&pll, w->clos);
	r = explain(&pll, w, true);
	if (r == 0)
		r = explain(&pll, w, false);
	if (r == 0)
		r = windowed_gather_devices(w, w->values[DEVICE], 2);
out:
	passage_index_clear(&pll.index);
	free(pll.lossy);
	free(pll.whole);
	return r;
}

static int new (const struct clos *clos, const double *values, struct scheme **ret)
{
	return windowed_new(&scheme_pll, clos, values, judge, ret);
}

/* clang-format off */
const struct scheme_type scheme_pll = {
	.name = "pll",
	.source = "deTector (ATC 2017): Tomo on what lost all, hit ratio on the rest; the "
		  "filter of background loss and the share of a device's links are ours",
	/* The values were found by sim_flock rnics on windows of 120 s. Published:
	 * 30 s, 0.6. */
	.parameters = {
		[WINDOW] = { "window_s", 120, { 5, 30, 120 }, 3 },
		[HIT] = { "hit", 0.3, { 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8 }, 7 },
		[PATH_LOSS] = { "path_loss", 0, { 0, 0.0005, 0.001, 0.002, 0.004 }, 5 },
		[LOST] = { "lost", 1, { 1, 2, 3 }, 3 },
		[DEVICE] = { "device_share", 0.25, { 0.1, 0.25, 0.5, 1 }, 4 },
	},
	.parameter_count = 5,
	.new = new,
	.free = windowed_free,
	.report = windowed_report,
	.judge = windowed_judge,
};
/* clang-format on */
