/* When the losses of a fault have ended, and no longer count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/suspicion/localise_healed.h"
#include "fabric_sim.h"
#include "rackmesh/judge/verdict.h"
#include "tests/support/trials.h"

#define SEEDS 10
#define FROM_NS (30 * RM_NS_PER_S)

static uint64_t
bits(int first, int count)
{
	return ((UINT64_C(1) << count) - 1) << first;
}

static void
a_time_without_losses_ends_a_fault_if_it_is_unlikely(void **state)
{
	(void)state;
	/* Ten slots with losses in a row: three without prove the end, two do not. */
	assert_int_equal(localise_healed_slot(bits(3, 10), UINT64_MAX, 20), 3);
	assert_int_equal(localise_healed_slot(bits(2, 10), UINT64_MAX, 20), -1);
	/* Losses in every fourth slot: seven slots prove nothing. */
	assert_int_equal(
	    localise_healed_slot(UINT64_C(0x1111111) << 7, UINT64_MAX, 7), -1);
	assert_int_equal(
	    localise_healed_slot(UINT64_C(0x1111111) << 24, UINT64_MAX, 7), 24);
	assert_int_equal(localise_healed_slot(0, UINT64_MAX, 0), -1);
	assert_int_equal(localise_healed_slot(UINT64_MAX, UINT64_MAX, 1000), -1);
}

static void
a_slot_without_rows_is_not_without_losses(void **state)
{
	(void)state;
	assert_int_equal(localise_healed_slot(bits(3, 10), 0, 20), -1);
	assert_int_equal(localise_healed_slot(bits(6, 10), bits(0, 2), 20), -1);
	assert_int_equal(localise_healed_slot(bits(6, 10), bits(3, 3), 20), 6);
	/* A gap in the middle. */
	assert_int_equal(
	    localise_healed_slot(bits(0, 1) | bits(5, 10), bits(4, 1), 20), -1);
}

static void
losses_of_another_fault_do_not_hide_that_the_first_one_has_ended(void **state)
{
	(void)state;
	assert_int_equal(
	    localise_healed_slot(bits(0, 2) | bits(6, 10), UINT64_MAX, 60), 6);
	assert_int_equal(
	    localise_healed_slot(bits(0, 2) | bits(4, 10), UINT64_MAX, 60), -1);
}

static void
after_few_losses_a_fault_counts_as_lasting_and_after_many_as_ended(void **state)
{
	(void)state;
	assert_int_equal(localise_healed_slot(bits(30, 2), UINT64_MAX, 3), -1);
	assert_int_equal(localise_healed_slot(bits(30, 2), UINT64_MAX, 90), 30);
	/* It may be a fault with bursts. */
	assert_int_equal(localise_healed_slot(bits(8, 2), UINT64_MAX, 90), -1);
}

/* The lossy cable of tor2 is well again; then a cable of the same spine loses packets.
 */
static void
a_repaired_cable_is_not_named_beside_another_fault(void **state)
{
	const int64_t mended_ns = FROM_NS + 20 * RM_NS_PER_S,
		      resolved_ns = mended_ns + 20 * RM_NS_PER_S,
		      end_ns = FROM_NS + 150 * RM_NS_PER_S;

	(void)state;
	for (uint64_t seed = 1; seed <= trials_of(SEEDS); seed++) {
		const struct fabric_options options = { .tors = 3,
			.spines = 2,
			.flows = 8,
			.flow_rate = 3,
			.loss = 1e-5,
			.same_back = seed % 2 == 0,
			.seed = seed };
		bool first_named = false, second_named = false;
		struct fabric *fabric;

		assert_int_equal(fabric_new(&options, &fabric), 0);
		fabric_add_fault(fabric, (struct fabric_fault){ FABRIC_LOSSY, 1, 1,
					     0.15, FROM_NS, mended_ns });
		fabric_add_fault(fabric,
		    (struct fabric_fault){ FABRIC_LOSSY, 2, 1, 0.05,
			FROM_NS + (int64_t)(40 + 4 * seed) * RM_NS_PER_S, INT64_MAX });
		while (fabric_now(fabric) < end_ns) {
			const struct rm_verdict *verdicts;
			const int n = fabric_step(fabric, &verdicts);

			for (int i = 0; i < n; i++) {
				const char *name = verdicts[i].part.name;

				if (strcmp(name, "s2--tor3") == 0)
					second_named = true;
				else if (strcmp(name, "s2--tor2") == 0 &&
					 fabric_now(fabric) < resolved_ns)
					first_named = true;
				else
					fail_msg("seed %u, %.2f s: %s", (unsigned)seed,
					    (double)fabric_now(fabric) / 1e9, name);
			}
		}
		assert_true(first_named);
		assert_true(second_named);
		fabric_free(fabric);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_without_losses_ends_a_fault_if_it_is_unlikely),
		cmocka_unit_test(a_slot_without_rows_is_not_without_losses),
		cmocka_unit_test(
		    losses_of_another_fault_do_not_hide_that_the_first_one_has_ended),
		cmocka_unit_test(
		    after_few_losses_a_fault_counts_as_lasting_and_after_many_as_ended),
		cmocka_unit_test(a_repaired_cable_is_not_named_beside_another_fault),
	};

	return cmocka_run_group_tests_name("localise_healed", tests, NULL, NULL);
}
