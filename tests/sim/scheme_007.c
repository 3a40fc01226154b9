#include <errno.h>
#include <stdlib.h>

#include "tests/sim/windowed.h"

enum { WINDOW, THETA, LOST, DEVICE };

/* Each bad flow has one vote, which it divides among its links. Returns the link with
 * the most votes. */
static uint32_t
add_votes(const struct clos *clos, const struct passage *passages, size_t count,
    const bool *bad, double *votes, double *sum)
{
	uint32_t most = clos_first(clos, CLOS_LINK);

	for (uint32_t i = most; i < clos_parts(clos); i++)
		votes[i] = 0;
	*sum = 0;
	for (size_t i = 0; i < count; i++) {
		const struct passage *p = &passages[i];

		if (!bad[i])
			continue;
		*sum += 1;
		for (uint8_t k = 0; k < p->count; k++)
			votes[p->links[k]] += 1.0 / p->count;
	}
	for (uint32_t i = most; i < clos_parts(clos); i++)
		if (votes[i] > votes[most])
			most = i;
	return most;
}

static void
explain(const struct passage *passages, size_t count, uint32_t link, bool *bad)
{
	for (size_t i = 0; i < count; i++)
		for (uint8_t k = 0; bad[i] && k < passages[i].count; k++)
			if (passages[i].links[k] == link)
				bad[i] = false;
}

static int
judge(struct windowed *w, const struct passage *passages, size_t count)
{
	bool *bad = calloc(count + 1, sizeof *bad);
	double *votes = calloc(clos_parts(w->clos), sizeof *votes);
	double all = 0, sum;
	int r = -ENOMEM;

	if (bad == NULL || votes == NULL)
		goto out;
	for (size_t i = 0; i < count; i++)
		bad[i] = passages[i].count > 0 && passages[i].lost >= w->values[LOST];
	for (;;) {
		const uint32_t link =
		    add_votes(w->clos, passages, count, bad, votes, &sum);

		if (all == 0)
			all = sum;
		if (votes[link] <= 0 || votes[link] < w->values[THETA] * all)
			break;
		r = windowed_name(w, link, 1);
		if (r < 0)
			goto out;
		explain(passages, count, link, bad);
	}
	r = windowed_gather_devices(w, w->values[DEVICE], 2);
out:
	free(bad);
	free(votes);
	return r;
}

static int new (const struct clos *clos, const double *values, struct scheme **ret)
{
	return windowed_new(&scheme_007, clos, values, judge, ret);
}

/* clang-format off */
const struct scheme_type scheme_007 = {
	.name = "007",
	.source = "007 (NSDI 2018): 1/h votes, blamed one by one; shares are of the first "
		  "count; least losses of a bad flow and the share of a device's links "
		  "are ours",
	/* The values were found by sim_flock rnics on windows of 120 s. Published:
	 * 30 s, 0.0023. */
	.parameters = {
		[WINDOW] = { "window_s", 120, { 5, 30, 120 }, 3 },
		[THETA] = { "theta", 0.02, { 0.0023, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.3 }, 8 },
		[LOST] = { "lost", 2, { 1, 2, 3 }, 3 },
		[DEVICE] = { "device_share", 0.1, { 0.1, 0.25, 0.5, 1 }, 4 },
	},
	.parameter_count = 4,
	.new = new,
	.free = windowed_free,
	.report = windowed_report,
	.judge = windowed_judge,
};
/* clang-format on */
