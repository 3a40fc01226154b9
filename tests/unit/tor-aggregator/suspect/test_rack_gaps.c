#include "tor-aggregator/suspect/rack_gaps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/rack_run.h"

#define GAP_NS (500 * RM_NS_PER_MS)
#define EVERY_NS (2500 * RM_NS_PER_MS)
#define FIRST_NS (4 * RM_NS_PER_S)
#define EDGES 8 /* different beginnings within a bin */

static void
pass(struct rack_gaps *gaps, bool works, unsigned windows)
{
	for (unsigned i = 0; i < windows; i++)
		rack_gaps_pass(gaps, works);
}

static void
a_gap_is_the_first_until_the_rnic_has_worked_again(void **state)
{
	struct rack_gaps gaps = { 0 };

	(void)state;
	pass(&gaps, true, 100);
	for (int i = 0; i < 20; i++) { /* a gap without an end */
		pass(&gaps, false, 1);
		assert_int_equal(rack_gaps_note(&gaps), 0);
	}
	pass(&gaps, true, 8);
	assert_int_equal(rack_gaps_note(&gaps), 8);
	pass(&gaps, false, 3);
	assert_int_equal(rack_gaps_note(&gaps), 8);
}

static void
a_gap_of_more_than_a_minute_ago_is_forgotten(void **state)
{
	struct rack_gaps gaps = { 0 };

	(void)state;
	assert_int_equal(rack_gaps_note(&gaps), 0);
	pass(&gaps, true, RACK_GAPS_WITHIN);
	assert_int_equal(rack_gaps_note(&gaps), RACK_GAPS_WITHIN);
	pass(&gaps, true, RACK_GAPS_WITHIN + 1);
	assert_int_equal(rack_gaps_note(&gaps), 0);
}

static void
losses_of_a_repeated_gap_are_no_share_for_some_seconds(void **state)
{
	struct rack_gaps gaps = { 0 };

	(void)state;
	rack_gaps_note(&gaps);
	pass(&gaps, true, 8);
	assert_false(rack_gaps_are_fresh(&gaps));
	rack_gaps_note(&gaps);
	assert_true(rack_gaps_are_fresh(&gaps));
	pass(&gaps, true, RACK_GAPS_FRESH);
	assert_true(rack_gaps_are_fresh(&gaps));
	pass(&gaps, true, 1);
	assert_false(rack_gaps_are_fresh(&gaps));
}

/* A rack whose member 1 is dead `gaps` times, for half a second each. */
static struct run
run_gaps(size_t members, int64_t edge_ns, unsigned gaps)
{
	struct run run = run_new("gaps", members, (uint64_t)edge_ns);

	run.options.focuses = true;
	run_begin(&run);
	for (unsigned i = 0; i < gaps; i++)
		sim_add_fault(
		    run.sim, (struct sim_fault){ SIM_RNIC_BOTH, 1,
				 FIRST_NS + edge_ns + i * EVERY_NS,
				 FIRST_NS + edge_ns + i * EVERY_NS + GAP_NS });
	return run;
}

static void
a_second_half_second_gap_is_named_wherever_it_begins(void **state)
{
	static const size_t sizes[] = { 3, 4, 8 };

	(void)state;
	for (size_t i = 0; i < EDGES * sizeof sizes / sizeof *sizes; i++) {
		const int64_t edge_ns = (int64_t)(i % EDGES) * SIM_BIN_NS / EDGES;
		struct run run = run_gaps(sizes[i / EDGES], edge_ns, 4);

		/* The first gap may go unreported; the other three must be reported. */
		run_break(&run, SIM_RNIC_BOTH, 1, FIRST_NS + edge_ns, GAP_NS)
		    ->deadline_ns = EVERY_NS + RUN_DEADLINE_NS;
		run.expected[0].to_ns += 3 * EVERY_NS;
		run_until(&run, FIRST_NS + 5 * EVERY_NS, FIRST_NS + 6 * EVERY_NS);
		run_end(&run);
	}
}

/* Neither it nor its peers may be named: a single half second is no evidence against
 * any of them. */
static void
a_single_half_second_gap_is_not_named(void **state)
{
	struct run run = run_gaps(4, SIM_BIN_NS / 2, 1);

	(void)state;
	run_until(&run, FIRST_NS + 3 * EVERY_NS, FIRST_NS + 2 * EVERY_NS);
	run_end(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gap_is_the_first_until_the_rnic_has_worked_again),
		cmocka_unit_test(a_gap_of_more_than_a_minute_ago_is_forgotten),
		cmocka_unit_test(
		    losses_of_a_repeated_gap_are_no_share_for_some_seconds),
		cmocka_unit_test(a_second_half_second_gap_is_named_wherever_it_begins),
		cmocka_unit_test(a_single_half_second_gap_is_not_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
