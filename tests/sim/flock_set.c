#include "tests/sim/flock_set.h"

#include <errno.h>
#include <stdlib.h>

#define K 10
#define FLOWS 20 /* of a host */
#define SEEDS_APART 1000

struct flock_set {
	struct flock_case *cases[FLOCK_RATES + 1][FLOCK_TEST_SEEDS]; /* last: devices */
	size_t seeds;
};

int
flock_set_new(
    enum flock_probes probes, uint32_t packets, bool test, struct flock_set **ret)
{
	struct flock_set *set = calloc(1, sizeof *set);

	if (set == NULL)
		return -ENOMEM;
	set->seeds = test ? FLOCK_TEST_SEEDS : FLOCK_DEVELOPMENT_SEEDS;
	for (size_t i = 0; i <= FLOCK_RATES; i++)
		for (size_t k = 0; k < set->seeds; k++) {
			const bool links = i < FLOCK_RATES;
			const struct flock_options o = {
				.k = K,
				.probes = probes,
				.flows = FLOWS,
				.packets = packets,
				.faults = links ? FLOCK_FAULTS : 0,
				.loss = links ? flock_rates[i] : 0,
				.seed = SEEDS_APART * i + 2 * k + !test,
			};
			const int r = flock_case_new(&o, &set->cases[i][k]);

			if (r < 0) {
				flock_set_free(set);
				return r;
			}
		}
	*ret = set;
	return 0;
}

void
flock_set_free(struct flock_set *set)
{
	if (set == NULL)
		return;
	for (size_t i = 0; i <= FLOCK_RATES; i++)
		for (size_t k = 0; k < set->seeds; k++)
			flock_case_free(set->cases[i][k]);
	free(set);
}

double
flock_set_packets(const struct flock_set *set)
{
	return flock_case_packets(set->cases[0][0]);
}

static int
judge_row(const struct flock_set *set, size_t row, const struct scheme_type *type,
    const double *values, struct score **ret)
{
	int r;

	r = score_new(ret);
	for (size_t k = 0; k < set->seeds && r == 0; k++)
		r = flock_case_judge(set->cases[row][k], type, values, *ret);
	return r;
}

/* Naming a switch or an RNIC when a link is at fault is as wrong as naming another
 * link. */
static struct score_row
links_of(const struct score *score)
{
	const struct score_row devices = score_row(score, SCORE_DEVICES);
	const struct score_row rnics = score_row(score, SCORE_RNICS);
	struct score_row row = score_row(score, SCORE_LINKS);

	row.wrong += devices.wrong + rnics.wrong;
	row.named += devices.named + rnics.named;
	row.precision = row.named > 0 ? 1 - (double)row.wrong / (double)row.named : 1;
	return row;
}

static void
add_links(struct flock_result *result, size_t rate, const struct score *score)
{
	result->links[rate] = links_of(score);
	result->directed[rate] = score_row(score, SCORE_LINKS_DIRECTED);
	result->precision += result->links[rate].precision / FLOCK_RATES;
	result->recall += result->links[rate].recall / FLOCK_RATES;
}

int
flock_set_judge(const struct flock_set *set, const struct scheme_type *type,
    const double *values, struct flock_result *ret)
{
	*ret = (struct flock_result){ 0 };
	for (size_t i = 0; i <= FLOCK_RATES; i++) {
		struct score *score = NULL;
		const int r = judge_row(set, i, type, values, &score);

		if (r == 0 && i < FLOCK_RATES)
			add_links(ret, i, score);
		else if (r == 0)
			ret->devices = score_row(score, SCORE_DEVICES);
		score_free(score);
		if (r < 0)
			return r;
	}
	ret->f1 = ret->precision + ret->recall > 0 ? 2 * ret->precision * ret->recall /
							 (ret->precision + ret->recall)
						   : 0;
	return 0;
}

/* Links and devices have the same weight. */
int
flock_sets_try(
    void *arg, const struct scheme_type *type, const double *values, double *ret_mark)
{
	const struct flock_sets *sets = arg;
	double sum = 0;

	for (size_t i = 0; i < sets->count; i++) {
		struct flock_result result;
		const int r = flock_set_judge(sets->sets[i], type, values, &result);

		if (r < 0)
			return r;
		sum += tune_mark(result.precision, result.recall) +
		       tune_mark(result.devices.precision, result.devices.recall);
	}
	*ret_mark = sum / 2 / (double)sets->count;
	return 0;
}
