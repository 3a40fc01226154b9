#include "tests/sim/scheme_ten_percent.h"

#include <errno.h>
#include <stdlib.h>

enum { WINDOW, SHARE };

struct traffic {
	uint64_t sent, lost;
};

int
ten_percent_find(const struct clos *clos, const struct passage *passages, size_t count,
    double share, bool *bad)
{
	struct traffic *of = calloc(clos_rnics(clos), sizeof *of);

	if (of == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct passage *p = &passages[i];

		if (clos_part(clos, p->src)->to != clos_part(clos, p->dst)->to)
			continue;
		of[p->src].sent += p->back ? 0 : p->sent;
		of[p->src].lost += p->lost;
		of[p->dst].sent += p->back ? 0 : p->sent;
		of[p->dst].lost += p->lost;
	}
	for (uint32_t i = 0; i < clos_rnics(clos); i++)
		bad[i] = (double)of[i].lost > share * (double)of[i].sent;
	free(of);
	return 0;
}

static int
judge(struct windowed *w, const struct passage *passages, size_t count)
{
	bool *bad = calloc(clos_rnics(w->clos), sizeof *bad);
	int r;

	if (bad == NULL)
		return -ENOMEM;
	r = ten_percent_find(w->clos, passages, count, w->values[SHARE], bad);
	for (uint32_t i = 0; i < clos_rnics(w->clos) && r == 0; i++)
		if (bad[i])
			r = windowed_name(w, i, 1);
	free(bad);
	return r;
}

static int new (const struct clos *clos, const double *values, struct scheme **ret)
{
	return windowed_new(&scheme_ten_percent, clos, values, judge, ret);
}

/* clang-format off */
const struct scheme_type scheme_ten_percent = {
	.name = "ten-percent",
	.source = "R-Pingmesh (SIGCOMM 2024): the rule on RNICs alone",
	.parameters = {
		[WINDOW] = { "window_s", 20, { 1, 5, 20, 120 }, 4 },
		[SHARE] = { "share", 0.1, { 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5 }, 8 },
	},
	.parameter_count = 2,
	.new = new,
	.free = windowed_free,
	.report = windowed_report,
	.judge = windowed_judge,
};
/* clang-format on */
