#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/sim/flock_set.h"

/* A scheme that only records what it receives. */
static struct {
	struct scheme scheme;
	const struct clos *clos;
	struct seen_flow *flows;
	size_t count;
} witness;

static int
witness_new(const struct clos *clos, const double *values, struct scheme **ret)
{
	witness.clos = clos;
	*ret = &witness.scheme;
	return 0;
}

static void
witness_free(struct scheme *scheme)
{
}

static int
witness_report(struct scheme *scheme, const struct seen *seen)
{
	free(witness.flows);
	witness.count = seen->count;
	witness.flows = calloc(seen->count, sizeof *witness.flows);
	assert_non_null(witness.flows);
	memcpy(witness.flows, seen->flows, seen->count * sizeof *witness.flows);
	return 0;
}

static int
witness_judge(struct scheme *scheme, const struct scheme_named **ret)
{
	*ret = NULL;
	return 0;
}

static const struct scheme_type witness_type = {
	.name = "witness",
	.new = witness_new,
	.free = witness_free,
	.report = witness_report,
	.judge = witness_judge,
};

static struct score_row
watch(const struct flock_options *options, enum score_class class,
    struct flock_case **ret)
{
	struct score *score = NULL;
	struct score_row row;

	assert_int_equal(flock_case_new(options, ret), 0);
	assert_int_equal(score_new(&score), 0);
	assert_int_equal(flock_case_judge(*ret, &witness_type, NULL, score), 0);
	row = score_row(score, class);
	score_free(score);
	return row;
}

static void
check_chain(const struct clos *clos, uint32_t from, const uint32_t *links,
    uint8_t count, uint32_t to)
{
	for (uint8_t i = 0; i < count; i++) {
		assert_int_equal(clos_part(clos, links[i])->from, from);
		from = clos_part(clos, links[i])->to;
	}
	assert_int_equal(from, to);
}

static void
every_host_bounces_packets_off_every_core(void **state)
{
	const struct flock_options o = {
		.k = 4, .packets = 40, .faults = 1, .loss = .01
	};
	struct flock_case *c = NULL;
	uint32_t cores[4] = { 0 };

	watch(&o, SCORE_LINKS, &c);
	assert_int_equal(witness.count, 16 * 4);
	for (size_t i = 0; i < witness.count; i++) {
		const struct seen_flow *f = &witness.flows[i];
		const uint32_t core = clos_part(witness.clos, f->out[2])->to;

		assert_int_equal(clos_part(witness.clos, core)->type, CLOS_CORE);
		cores[core - clos_first(witness.clos, CLOS_CORE)]++;
		check_chain(witness.clos, f->src, f->out, 3, core);
		check_chain(witness.clos, core, f->back, 3, f->src);
		assert_int_equal(f->sent, 40);
	}
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(cores[i], 16);
	/* 64 flows over the 16 cables of each tier: 4 flows of 40 packets for each
	 * cable. */
	assert_true(flock_case_packets(c) == 4 * 40);
	flock_case_free(c);
}

static void
rnics_probe_each_other_between_racks(void **state)
{
	const struct flock_options o = { .k = 4,
		.probes = FLOCK_ALIKE,
		.flows = 10,
		.packets = 50,
		.faults = 1,
		.loss = .01 };
	struct flock_case *c = NULL;

	watch(&o, SCORE_LINKS, &c);
	assert_int_equal(witness.count, 16 * 10);
	for (size_t i = 0; i < witness.count; i++) {
		const struct seen_flow *f = &witness.flows[i];

		assert_in_range(f->out_count, 4, 6);
		check_chain(witness.clos, f->src, f->out, f->out_count, f->dst);
		check_chain(witness.clos, f->dst, f->back, f->back_count, f->src);
	}
	flock_case_free(c);
}

static void
skewed_ends_are_half_in_a_twentieth_of_the_racks(void **state)
{
	const struct flock_options o = { .k = 10,
		.probes = FLOCK_SKEWED,
		.flows = 20,
		.packets = 1,
		.faults = 1,
		.loss = .01 };
	uint32_t racks[50] = { 0 }, busy = 0;
	struct flock_case *c = NULL;

	watch(&o, SCORE_LINKS, &c);
	for (size_t i = 0; i < witness.count; i++)
		racks[clos_part(witness.clos, witness.flows[i].src)->to -
		      clos_first(witness.clos, CLOS_TOR)]++;
	for (size_t i = 0; i < 50; i++)
		if (racks[i] > witness.count / 20)
			busy += racks[i];
	/* A little less than half: a flow with both ends in one rack is drawn again. */
	assert_in_range(busy, witness.count * 40 / 100, witness.count * 52 / 100);
	flock_case_free(c);
}

static void
a_fault_loses_its_share_and_good_links_almost_nothing(void **state)
{
	const struct flock_options o = {
		.k = 4, .packets = 100000, .faults = 1, .loss = .01, .seed = 7
	};
	struct flock_case *c = NULL;
	size_t lossy = 0;

	assert_int_equal(watch(&o, SCORE_LINKS, &c).truths, 1);
	for (size_t i = 0; i < witness.count; i++) {
		const struct seen_flow *f = &witness.flows[i];

		for (int path = 0; path < 2; path++) {
			const uint32_t n = path == 0 ? f->forward : f->reverse;

			if (n < 200) {
				assert_in_range(
				    n, 0, 60); /* background loss of at most 3e-4 */
				continue;
			}
			assert_in_range(n, 850, 1150);
			lossy++;
		}
	}
	assert_int_equal(lossy, 4); /* the flows of one link, out of 64 */
	flock_case_free(c);
}

static void
equal_seeds_draw_equal_cases(void **state)
{
	struct flock_options o = { .k = 4, .packets = 10000, .faults = 2, .loss = .01 };
	struct flock_case *c = NULL;
	uint64_t sums[3] = { 0 };

	for (int run = 0; run < 3; run++) {
		o.seed = run == 2;
		watch(&o, SCORE_LINKS, &c);
		for (size_t i = 0; i < witness.count; i++)
			sums[run] = sums[run] * 31 + witness.flows[i].forward;
		flock_case_free(c);
	}
	assert_true(sums[0] == sums[1]);
	assert_true(sums[0] != sums[2]);
}

static void
without_links_a_switch_fails(void **state)
{
	const struct flock_options o = { .k = 4, .packets = 10 };
	struct flock_case *c = NULL;

	assert_int_equal(watch(&o, SCORE_DEVICES, &c).truths, 1);
	flock_case_free(c);
}

static void
obvious_faults_of_the_experiment_are_found(void **state)
{
	const struct flock_options o = {
		.k = 4, .packets = 10000, .faults = 1, .loss = .018, .seed = 3
	};
	static const struct scheme_type *const types[] = { &scheme_flock,
		&scheme_ours_flows };
	struct flock_case *c = NULL;

	assert_int_equal(flock_case_new(&o, &c), 0);
	for (size_t i = 0; i < 2; i++) {
		double values[SCHEME_PARAMETERS];
		struct score *score = NULL;
		struct score_row row;

		for (size_t k = 0; k < types[i]->parameter_count; k++)
			values[k] = types[i]->parameters[k].value;
		values[0] = 120;
		assert_int_equal(score_new(&score), 0);
		assert_int_equal(flock_case_judge(c, types[i], values, score), 0);
		row = score_row(score, SCORE_LINKS_DIRECTED);
		score_free(score);
		assert_int_equal(row.truths, 1);
		assert_int_equal(row.found, 1);
		assert_int_equal(row.wrong, 0);
	}
	flock_case_free(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_host_bounces_packets_off_every_core),
		cmocka_unit_test(rnics_probe_each_other_between_racks),
		cmocka_unit_test(skewed_ends_are_half_in_a_twentieth_of_the_racks),
		cmocka_unit_test(a_fault_loses_its_share_and_good_links_almost_nothing),
		cmocka_unit_test(equal_seeds_draw_equal_cases),
		cmocka_unit_test(without_links_a_switch_fails),
		cmocka_unit_test(obvious_faults_of_the_experiment_are_found),
	};
	const int r = cmocka_run_group_tests(tests, NULL, NULL);

	free(witness.flows);
	return r;
}
