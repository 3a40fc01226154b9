#include <errno.h>
#include <stdlib.h>

#include "tests/sim/scheme_ten_percent.h"

enum { WINDOW, RNIC_SHARE, VOTES, OF_MOST, DEVICE };

/* Every lost packet that no bad RNIC explains votes for each link of its path. The
 * paper does not distinguish the directions of a probe, so both vote for the cable. */
static void
vote(const struct clos *clos, const struct passage *passages, size_t count,
    const bool *bad, double *votes)
{
	for (size_t i = 0; i < count; i++) {
		const struct passage *p = &passages[i];

		if (bad[p->src] || bad[p->dst])
			continue;
		for (uint8_t k = 0; k < p->count; k++) {
			const uint32_t twin = clos_part(clos, p->links[k])->twin;

			votes[p->links[k] < twin ? p->links[k] : twin] += p->lost;
		}
	}
}

static int
name_most(struct windowed *w, const double *votes)
{
	double most = 0;

	for (uint32_t i = 0; i < clos_parts(w->clos); i++)
		most = votes[i] > most ? votes[i] : most;
	for (uint32_t i = 0; i < clos_parts(w->clos); i++) {
		if (votes[i] < w->values[VOTES] || votes[i] < w->values[OF_MOST] * most)
			continue;
		if (windowed_name(w, i, 1) < 0)
			return -ENOMEM;
		w->named[w->named_count - 1].both_directions =
		    clos_part(w->clos, w->named[w->named_count - 1].part)->type ==
		    CLOS_LINK;
	}
	return windowed_gather_devices(w, w->values[DEVICE], 2);
}

static int
judge(struct windowed *w, const struct passage *passages, size_t count)
{
	bool *bad = calloc(clos_rnics(w->clos), sizeof *bad);
	double *votes = calloc(clos_parts(w->clos), sizeof *votes);
	int r = -ENOMEM;

	if (bad == NULL || votes == NULL)
		goto out;
	r = ten_percent_find(w->clos, passages, count, w->values[RNIC_SHARE], bad);
	if (r < 0)
		goto out;
	vote(w->clos, passages, count, bad, votes);
	r = name_most(w, votes);
	for (uint32_t i = 0; i < clos_rnics(w->clos) && r == 0; i++)
		if (bad[i])
			r = windowed_name(w, i, 1);
out:
	free(bad);
	free(votes);
	return r;
}

static int new (const struct clos *clos, const double *values, struct scheme **ret)
{
	return windowed_new(&scheme_vote, clos, values, judge, ret);
}

/* clang-format off */
const struct scheme_type scheme_vote = {
	.name = "vote",
	.source = "R-Pingmesh (SIGCOMM 2024), Algorithm 1; least votes, share of the most "
		  "and the share of a device's links are ours",
	/* The values were found by sim_flock rnics on windows of 120 s. Published:
	 * 20 s, 0.1. */
	.parameters = {
		[WINDOW] = { "window_s", 120, { 5, 20, 120 }, 3 },
		[RNIC_SHARE] = { "rnic_share", 0.01, { 0.01, 0.03, 0.1, 0.3 }, 4 },
		[VOTES] = { "votes", 12, { 1, 2, 4, 6, 8, 12, 20, 40 }, 8 },
		[OF_MOST] = { "of_most", 0.5, { 0.5, 0.8, 1 }, 3 },
		[DEVICE] = { "device_share", 0.25, { 0.1, 0.25, 0.5, 1 }, 4 },
	},
	.parameter_count = 5,
	.new = new,
	.free = windowed_free,
	.report = windowed_report,
	.judge = windowed_judge,
};
/* clang-format on */
