/* Losses that cannot be seen in single seconds: one packet of a hundred, for
 * minutes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/paths/localise_bins.h"
#include "fabric_sim.h"
#include "rackmesh/judge/verdict.h"
#include "tests/support/trials.h"

#define SEEDS 10
#define FOREVER INT64_MAX
#define FROM_NS (30 * RM_NS_PER_S)
#define CABLE "s2--tor2"

static struct fabric *
new_clos(size_t tors, size_t flows, double flow_rate, uint64_t seed, double loss)
{
	const struct fabric_options options = { .tors = tors,
		.spines = 2,
		.flows = flows,
		.flow_rate = flow_rate,
		.loss = loss,
		.same_back = seed % 2 == 0,
		.seed = seed };
	struct fabric *fabric;

	assert_int_equal(fabric_new(&options, &fabric), 0);
	return fabric;
}

static struct fabric *
new_fabric(uint64_t seed, double loss)
{
	return new_clos(4, 16, 2, seed, loss);
}

/* Simulates until until_ns. No part but `expected` (NULL: none at all) is
 * named, and only for losses of minutes, unless `sudden`. Returns when it was
 * first named, or -1. */
static int64_t
simulate(struct fabric *fabric, int64_t until_ns, const char *expected, bool sudden,
    uint64_t seed)
{
	int64_t named_ns = -1;

	while (fabric_now(fabric) < until_ns) {
		const struct rm_verdict *verdicts;
		const int n = fabric_step(fabric, &verdicts);

		assert_true(n >= 0);
		for (int i = 0; i < n; i++) {
			char text[RM_SENTENCE_BYTES];

			rm_verdict_sentence(&verdicts[i], text, sizeof text);
			if (expected == NULL ||
			    strcmp(verdicts[i].part.name, expected) != 0)
				fail_msg("seed %u, %.2f s: %s", (unsigned)seed,
				    (double)fabric_now(fabric) / 1e9, text);
			assert_int_equal(verdicts[i].kind, RM_KIND_LINK_LOSSY);
			if (!sudden)
				assert_int_equal(
				    verdicts[i].evidence.window_ns, LOCALISE_WINDOW_NS);
			if (named_ns < 0)
				named_ns = fabric_now(fabric);
		}
	}
	return named_ns;
}

static int64_t
live(struct fabric *fabric, int64_t until_ns, const char *expected, uint64_t seed)
{
	return simulate(fabric, until_ns, expected, false, seed);
}

static void
a_cable_that_loses_one_of_a_hundred_is_named_within_ninety_seconds(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= trials_of(SEEDS); seed++) {
		struct fabric *fabric = new_fabric(seed, 1e-6);
		int64_t named_ns;

		fabric_add_fault(fabric, (struct fabric_fault){ FABRIC_LOSSY, 1, 1,
					     0.01, FROM_NS, FOREVER });
		named_ns = live(fabric, FROM_NS + 120 * RM_NS_PER_S, CABLE, seed);
		assert_true(named_ns > FROM_NS);
		assert_true(named_ns < FROM_NS + 90 * RM_NS_PER_S);
		fabric_free(fabric);
	}
}

static void
slow_loss_is_resolved_soon_after_its_end(void **state)
{
	struct fabric *fabric = new_fabric(3, 1e-6);
	const struct rm_verdict *verdicts;
	int64_t end_ns = FROM_NS + 120 * RM_NS_PER_S;

	(void)state;
	fabric_add_fault(
	    fabric, (struct fabric_fault){ FABRIC_LOSSY, 1, 1, 0.02, FROM_NS, end_ns });
	assert_true(live(fabric, end_ns, CABLE, 3) > 0);
	assert_int_equal(fabric_step(fabric, &verdicts), 1);
	(void)live(fabric, end_ns + 40 * RM_NS_PER_S, CABLE, 3);
	assert_int_equal(fabric_step(fabric, &verdicts), 0);
	assert_int_equal(live(fabric, end_ns + 300 * RM_NS_PER_S, NULL, 3), -1);
	fabric_free(fabric);
}

static void
loss_of_one_in_ten_thousand_everywhere_names_no_part(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct fabric *fabric = new_fabric(seed, 1e-4);

		assert_int_equal(live(fabric, 600 * RM_NS_PER_S, NULL, seed), -1);
		assert_true(fabric_lost(fabric) > 20);
		fabric_free(fabric);
	}
}

/* Each RNIC is dead until its rack names it. */
static void
losses_of_dead_rnics_within_seconds_are_no_slow_loss(void **state)
{
	struct fabric *fabric = new_fabric(5, 1e-6);
	const int64_t each_ns = 20 * RM_NS_PER_S, dead_ns = 1500 * RM_NS_PER_MS;

	(void)state;
	for (int i = 0; i < 5; i++)
		fabric_add_fault(fabric,
		    (struct fabric_fault){ FABRIC_RNIC, 1, 0, 1, FROM_NS + i * each_ns,
			FROM_NS + i * each_ns + dead_ns });
	for (int i = 0; i < 5; i++) {
		(void)live(
		    fabric, FROM_NS + i * each_ns + dead_ns + RM_NS_PER_S / 2, NULL, 5);
		localise_rack_found(fabric_localise(fabric), "tor2", "rnic-down",
		    (rm_mono_t){ fabric_now(fabric) });
	}
	assert_true(fabric_lost(fabric) > 50);
	assert_int_equal(live(fabric, FROM_NS + 300 * RM_NS_PER_S, NULL, 5), -1);
	fabric_free(fabric);
}

/* The spine's loss was reported, has ended and is forgotten before the cable begins to
 * lose packets. */
static void
a_spine_that_lost_before_is_not_named_for_its_cable(void **state)
{
	const int64_t mended_ns = FROM_NS + 10 * RM_NS_PER_S,
		      cable_ns = FROM_NS + 45 * RM_NS_PER_S;

	(void)state;
	for (uint64_t seed = 1; seed <= trials_of(SEEDS); seed++) {
		struct fabric *fabric = new_fabric(seed, 1e-6);
		bool spine_named = false;

		for (size_t tor = 0; tor < 4; tor++)
			fabric_add_fault(fabric, (struct fabric_fault){ FABRIC_LOSSY,
						     tor, 1, 0.2, FROM_NS, mended_ns });
		fabric_add_fault(fabric, (struct fabric_fault){ FABRIC_LOSSY, 1, 1,
					     0.03, cable_ns, FOREVER });
		while (fabric_now(fabric) < cable_ns) {
			const struct rm_verdict *verdicts;
			const int n = fabric_step(fabric, &verdicts);

			for (int i = 0; i < n; i++)
				spine_named |= strcmp(verdicts[i].part.name, "s2") == 0;
		}
		assert_true(spine_named);
		assert_true(simulate(fabric, cable_ns + 90 * RM_NS_PER_S, CABLE, true,
				seed) > cable_ns);
		fabric_free(fabric);
	}
}

/* By chance one of its cables has most of the losses at one time, and another one
 * later. */
static void
a_spine_with_slow_loss_is_not_reported_as_one_of_its_cables(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= trials_of(SEEDS); seed++) {
		struct fabric *fabric = new_clos(3, 6, 4, seed, 1e-6);
		bool spine_named = false;

		for (size_t tor = 0; tor < 3; tor++)
			fabric_add_fault(fabric, (struct fabric_fault){ FABRIC_LOSSY,
						     tor, 1, 0.08, FROM_NS, FOREVER });
		while (fabric_now(fabric) < FROM_NS + 90 * RM_NS_PER_S) {
			const struct rm_verdict *verdicts;
			const int n = fabric_step(fabric, &verdicts);

			for (int i = 0; i < n; i++) {
				assert_int_not_equal(
				    verdicts[i].part.type, RM_PART_LINK);
				spine_named |= strcmp(verdicts[i].part.name, "s2") == 0;
			}
		}
		assert_true(spine_named);
		fabric_free(fabric);
	}
}

/* The spine is never named: while each cable has lost only a few packets, there is no
 * verdict. */
static void
three_cables_with_slow_loss_are_not_reported_as_their_spine(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= trials_of(SEEDS); seed++) {
		struct fabric *fabric = new_clos(5, 8, 2, seed, 1e-6);
		bool cables_named[3] = { false };
		unsigned of;

		for (size_t tor = 0; tor < 3; tor++)
			fabric_add_fault(fabric, (struct fabric_fault){ FABRIC_LOSSY,
						     tor, 1, 0.01, FROM_NS, FOREVER });
		while (fabric_now(fabric) < FROM_NS + 120 * RM_NS_PER_S) {
			const struct rm_verdict *verdicts;
			const int n = fabric_step(fabric, &verdicts);

			for (int i = 0; i < n; i++) {
				const char *name = verdicts[i].part.name;

				if (sscanf(name, "s2--tor%u", &of) != 1 || of > 3)
					fail_msg("seed %u, %.2f s: %s", (unsigned)seed,
					    (double)fabric_now(fabric) / 1e9, name);
				cables_named[of - 1] = true;
			}
		}
		for (size_t tor = 0; tor < 3; tor++)
			assert_true(cables_named[tor]);
		fabric_free(fabric);
	}
}

/* A burst is not a new fault each time: earlier losses are remembered between
 * bursts. */
static void
a_cable_that_loses_in_bursts_stays_named(void **state)
{
	const int64_t end_ns = FROM_NS + 120 * RM_NS_PER_S;

	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct fabric *fabric = new_fabric(seed, 1e-6);
		int64_t named_ns = 0;

		for (int i = 0; i < 6; i++)
			fabric_add_fault(
			    fabric, (struct fabric_fault){ FABRIC_LOSSY, 1, 1, 0.08,
					FROM_NS + i * 20 * RM_NS_PER_S,
					FROM_NS + (i * 20 + 4) * RM_NS_PER_S });
		while (fabric_now(fabric) < end_ns) {
			const struct rm_verdict *verdicts;
			const int64_t before_ns = fabric_now(fabric);
			const int n = fabric_step(fabric, &verdicts);

			for (int i = 0; i < n; i++)
				assert_string_equal(verdicts[i].part.name, CABLE);
			if (n > 0)
				named_ns += fabric_now(fabric) - before_ns;
		}
		assert_true(named_ns > 60 * RM_NS_PER_S);
		fabric_free(fabric);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_cable_that_loses_one_of_a_hundred_is_named_within_ninety_seconds),
		cmocka_unit_test(slow_loss_is_resolved_soon_after_its_end),
		cmocka_unit_test(loss_of_one_in_ten_thousand_everywhere_names_no_part),
		cmocka_unit_test(losses_of_dead_rnics_within_seconds_are_no_slow_loss),
		cmocka_unit_test(a_spine_that_lost_before_is_not_named_for_its_cable),
		cmocka_unit_test(
		    a_spine_with_slow_loss_is_not_reported_as_one_of_its_cables),
		cmocka_unit_test(
		    three_cables_with_slow_loss_are_not_reported_as_their_spine),
		cmocka_unit_test(a_cable_that_loses_in_bursts_stays_named),
	};

	return cmocka_run_group_tests_name("localise_slow", tests, NULL, NULL);
}
