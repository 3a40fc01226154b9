#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "schemas/wire.h"
#include "tor-aggregator/standby/peer.h"

#define STEP_NS (50 * RM_NS_PER_MS)
#define S RM_NS_PER_S

/* One of the two aggregators, and its environment. */
struct side {
	struct peer peer;
	struct peer_own own;
	rm_mono_t now;
	/* The message of the other aggregator, received every 250 ms while `reports` is
	 * set. */
	bool reports;
	struct wire_tor_standing other;
};

static struct side
side_of(bool primary)
{
	struct side side = { .now = { 100 * S },
		.own = { .ready = true, .delivers = true, .agents = 4, .asked = 4 },
		.reports = true,
		.other = { .tor = "t", .delivers = true, .agents = 4 } };

	peer_init(&side.peer, primary, side.now);
	return side;
}

/* Runs for so long, and judges at every step. */
static void
run(struct side *side, int64_t for_ns)
{
	for (int64_t ns = 0; ns < for_ns; ns += STEP_NS) {
		side->now = rm_mono_add(side->now, STEP_NS);
		if (side->reports && side->now.ns % (250 * RM_NS_PER_MS) == 0)
			peer_receive_state(&side->peer, &side->other, side->now);
		peer_judge(&side->peer, &side->own, side->now);
	}
}

/* Runs for so long; the aggregator must be active at every step, or at none. */
static void
expect(struct side *side, int64_t for_ns, bool active)
{
	for (int64_t ns = 0; ns < for_ns; ns += STEP_NS) {
		run(side, STEP_NS);
		assert_int_equal(side->peer.active, active);
	}
}

/* Runs until it changes to `active`. Returns the time; fails after for_ns. */
static int64_t
turns_within(struct side *side, int64_t for_ns, bool active)
{
	assert_int_equal(side->peer.active, !active);
	for (int64_t ns = 0; ns < for_ns; ns += STEP_NS) {
		run(side, STEP_NS);
		if (side->peer.active == active)
			return ns + STEP_NS;
	}
	fail_msg("it did not turn");
	return for_ns;
}

static struct side
active_primary(void)
{
	struct side side = side_of(true);

	turns_within(&side, S, true);
	return side;
}

static struct side
standby_that_is_quiet(void)
{
	struct side side = side_of(false);

	side.other.active = true;
	expect(&side, 10 * S, false);
	return side;
}

/* ---- the primary ------------------------------------------------------------- */

static void
a_primary_becomes_active_when_ready_and_the_standby_does_not(void **state)
{
	struct side side = side_of(true);

	side.own.ready = false;
	expect(&side, 5 * S, false);
	side.own.ready = true;
	turns_within(&side, S, true);
	expect(&side, 60 * S, true);
}

static void
a_primary_alone_waits_for_the_other_aggregator_then_becomes_active(void **state)
{
	struct side side = side_of(true);

	side.reports = false;
	assert_true(turns_within(&side, 4 * S, true) >= PEER_SILENT_NS);
	expect(&side, 60 * S, true);
}

static void
a_returning_primary_takes_over_from_the_active_one(void **state)
{
	struct side side = side_of(true);

	side.other.active = true;
	assert_true(turns_within(&side, 5 * S, true) >= PEER_BACK_NS);
}

static void
a_primary_without_agents_leaves_the_other_aggregator_active(void **state)
{
	struct side side = side_of(true);

	side.other.active = true;
	side.own.agents = 1;
	expect(&side, 30 * S, false);
	side.own.agents = 2;
	turns_within(&side, 4 * S, true);
}

static void
a_primary_that_cannot_deliver_yields_and_returns_when_it_can(void **state)
{
	struct side side = active_primary();

	side.own.delivers = false;
	assert_true(turns_within(&side, 2 * S, false) >= PEER_CANNOT_DELIVER_NS);
	side.other.active = true;
	expect(&side, 60 * S, false);
	side.own.delivers = true;
	assert_true(turns_within(&side, 5 * S, true) >= PEER_BACK_NS);
	assert_int_equal(side.peer.taken, 2);
	assert_int_equal(side.peer.given, 1);
}

static void
a_primary_does_not_yield_to_one_that_cannot_deliver_either(void **state)
{
	struct side side = active_primary();

	side.own.delivers = false;
	side.other.delivers = false;
	expect(&side, 60 * S, true);
}

static void
a_primary_does_not_yield_to_a_missing_standby(void **state)
{
	struct side side = active_primary();

	side.reports = false;
	side.own.delivers = false;
	side.own.lost = 4;
	run(&side, PEER_SILENT_NS);
	expect(&side, 60 * S, true);
	side.own.delivers = true;
	side.own.agents = 0;
	expect(&side, 60 * S, true);
}

static void
a_primary_that_has_lost_its_agents_yields_to_one_that_has_them(void **state)
{
	struct side side = active_primary();

	side.own.agents = 1;
	assert_true(turns_within(&side, 4 * S, false) >= PEER_FEW_AGENTS_NS);
	side.other.active = true;
	expect(&side, 20 * S, false);
	side.own.agents = 4;
	turns_within(&side, 5 * S, true);
}

static void
a_primary_becomes_active_when_the_standby_falls_silent(void **state)
{
	struct side side = active_primary();

	side.own.delivers = false;
	turns_within(&side, 2 * S, false);
	side.reports = false;
	side.own.lost = 4;
	turns_within(&side, 4 * S, true);
}

/* The two aggregators are not connected; the agents are connected to both. */
static void
a_primary_that_cannot_deliver_yields_by_agents_reports(void **state)
{
	struct side side = active_primary();

	side.reports = false;
	expect(&side, 10 * S, true);
	side.own.delivers = false;
	/* The other agents may agree, but are too old to report it. */
	side.own.we_cannot_deliver = 1;
	expect(&side, 60 * S, true);
	side.own.we_cannot_deliver = 2;
	assert_true(turns_within(&side, 2 * S, false) >= PEER_CANNOT_DELIVER_NS);
	expect(&side, 60 * S, false);
	side.own.delivers = true;
	turns_within(&side, S, true);
	expect(&side, 60 * S, true);
	side.own.delivers = false;
	side.own.lost = 1;
	side.own.other_cannot_deliver =
	    2; /* most agents report that the other one cannot deliver either */
	expect(&side, 60 * S, true);
	side.own = (struct peer_own){ .ready = true,
		.agents = 4 }; /* all agents are too old to report */
	expect(&side, 60 * S, true);
}

static void
a_primary_that_was_cut_off_gives_the_other_aggregator_time(void **state)
{
	struct side side = active_primary();

	side.reports = false;
	side.own = (struct peer_own){ .ready = true };
	run(&side, 20 * S);
	side.own.delivers = true; /* it can deliver again, but has no agents */
	assert_true(turns_within(&side, 11 * S, true) >= PEER_ALONE_NS);
}

static void
the_primary_role_may_change(void **state)
{
	struct side first = active_primary(), second = active_primary();

	peer_become(&first.peer, true);
	peer_become(&second.peer, false);
	first.other.active = second.other.active = true;
	expect(&first, 2 * S, true);
	run(&second, S);
	expect(&second, 60 * S, false);
}

static void
a_stalled_primary_waits_for_the_others_state(void **state)
{
	struct side side = active_primary();

	side.now = rm_mono_add(side.now, 20 * S);
	peer_stalled(&side.peer, 20 * S, side.now);
	assert_false(side.peer.active);
	side.other.active = true;
	assert_true(turns_within(&side, 5 * S, true) >= PEER_BACK_NS);
}

static void
a_stalled_primary_without_the_other_aggregator_becomes_active(void **state)
{
	struct side side = active_primary();

	side.reports = false;
	side.now = rm_mono_add(side.now, 20 * S);
	peer_stalled(&side.peer, 20 * S, side.now);
	turns_within(&side, 4 * S, true);
}

/* The other aggregator was active meanwhile, and knows which incidents have ended. */
static void
a_primary_that_finds_the_other_aggregator_active_goes_standby_first(void **state)
{
	struct side side = active_primary();

	side.reports = false;
	expect(&side, 10 * S, true);
	side.reports = true;
	side.other.active = true;
	turns_within(&side, S, false);
	assert_true(turns_within(&side, 5 * S, true) >= PEER_BACK_NS - S / 2);
	/* The other aggregator was connected all the time: it may stay active a little
	 * longer. */
	expect(&side, S, true);
	side.other.active = false;
	expect(&side, 10 * S, true);
}

static void
an_isolated_aggregator_goes_standby_and_waits_for_the_other_aggregator(void **state)
{
	for (int primary = 0; primary < 2; primary++) {
		struct side side = primary ? active_primary() : standby_that_is_quiet();

		side.reports = false;
		side.own = (struct peer_own){ .ready = true };
		if (primary)
			turns_within(&side, 9 * S, false);
		expect(&side, 60 * S, false);
		side.own.delivers = true; /* this one recovers first */
		expect(&side, 2 * S, false);
		side.reports = true;
		side.other.active = true;
		expect(&side, 2 * S, false);
		if (!primary)
			continue;
		side.own.agents = side.own.asked = 4;
		turns_within(&side, 5 * S, true);
	}
}

static void
a_short_stall_changes_nothing(void **state)
{
	struct side side = active_primary(), other = standby_that_is_quiet();

	side.now = rm_mono_add(side.now, 3 * S / 2);
	peer_stalled(&side.peer, 3 * S / 2, side.now);
	expect(&side, 10 * S, true);
	other.own.lost = 4;
	run(&other, 2 * S);
	other.reports = false;
	other.now = rm_mono_add(other.now, 3 * S / 2);
	peer_stalled(&other.peer, 3 * S / 2, other.now);
	expect(&other, PEER_SILENT_NS - 2 * STEP_NS, false);
}

static void
repeated_short_stalls_do_not_hide_a_missing_primary(void **state)
{
	struct side side = standby_that_is_quiet();
	rm_mono_t gone = side.now;

	side.own.lost = 4;
	side.reports = false;
	while (!side.peer.active && rm_mono_since(side.now, gone) < 20 * S) {
		side.now = rm_mono_add(side.now, S / 2);
		peer_stalled(&side.peer, S / 2, side.now);
		run(&side, S);
	}
	assert_true(side.peer.active);
	assert_true(rm_mono_since(side.now, gone) <= 6 * S);
}

/* ---- the standby --------------------------------------------------------------- */

static void
a_standby_stays_standby_while_the_primary_is_active(void **state)
{
	struct side side = standby_that_is_quiet();

	side.own.lost = 4; /* the agents' reports are wrong */
	expect(&side, 60 * S, false);
}

static void
a_standby_takes_over_if_half_of_the_agents_lost_the_primary(void **state)
{
	static const struct {
		uint32_t asked, lost;
		bool takes;
	} cases[] = {
		{ 4, 0, false },
		{ 4, 1, false },
		{ 4, 2, true },
		{ 4, 4, true },
		{ 3, 1, false },
		{ 3, 2, true },
		{ 1, 0, false },
		{ 1, 1, true },
		/* Agents that are too old to report: only the link counts. */
		{ 0, 0, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct side side = standby_that_is_quiet();

		side.own.asked = cases[i].asked;
		side.own.lost = cases[i].lost;
		side.reports = false;
		if (cases[i].takes)
			assert_true(turns_within(&side, 4 * S, true) >
				    PEER_SILENT_NS - 250 * RM_NS_PER_MS);
		else
			expect(&side, 60 * S, false);
	}
}

static void
a_standby_yields_at_once_when_the_primary_is_active_again(void **state)
{
	struct side side = standby_that_is_quiet();

	side.own.lost = 4;
	side.reports = false;
	turns_within(&side, 4 * S, true);
	side.reports = true;
	side.other.active = false; /* it is back, but has no complete windows yet */
	expect(&side, 20 * S, true);
	side.other.active = true;
	assert_true(turns_within(&side, S, false) <= 250 * RM_NS_PER_MS);
}

static void
a_standby_is_active_while_the_primary_is_not(void **state)
{
	struct side side = standby_that_is_quiet();

	side.other.active = false;
	assert_true(turns_within(&side, S, true) <= 250 * RM_NS_PER_MS);
	expect(&side, 60 * S, true);
}

static void
a_standby_gives_the_primary_time_to_start(void **state)
{
	struct side side = side_of(false);

	expect(&side, PEER_START_NS - STEP_NS, false);
	turns_within(&side, S, true);
}

static void
a_standby_takes_over_from_a_stuck_primary(void **state)
{
	struct side side = standby_that_is_quiet();

	side.other.delivers = false;
	assert_true(turns_within(&side, 6 * S, true) >= PEER_STUCK_NS);
	expect(&side, 10 * S, true);
	side.other.delivers = true;
	turns_within(&side, S, false);
	side.other.delivers = false;
	side.own.delivers = false; /* this one cannot deliver either */
	expect(&side, 60 * S, false);
}

static void
a_short_delivery_failure_does_not_move_the_standby(void **state)
{
	struct side side = standby_that_is_quiet();

	for (int i = 0; i < 20; i++) {
		side.other.delivers = false;
		expect(&side, 2 * S, false);
		side.other.delivers = true;
		expect(&side, S / 2, false);
	}
}

static void
a_standby_yields_when_agents_see_the_primary(void **state)
{
	struct side side = standby_that_is_quiet();

	side.own.lost = 4;
	side.reports = false;
	turns_within(&side, 4 * S, true);
	side.own.lost = 1;
	assert_true(turns_within(&side, 2 * S, false) >= PEER_DOUBT_NS);
	expect(&side, 60 * S, false);
}

static void
a_standby_takes_over_by_agents_reports_of_failed_delivery(void **state)
{
	struct side side = standby_that_is_quiet();

	side.reports = false;
	side.own.other_cannot_deliver = 1;
	expect(&side, 60 * S, false);
	side.own.other_cannot_deliver = 2;
	turns_within(&side, S, true);
	expect(&side, 60 * S, true);
	side.own.other_cannot_deliver = 0;
	assert_true(turns_within(&side, 2 * S, false) >= PEER_DOUBT_NS);
	side.own.other_cannot_deliver = 4;
	side.own.delivers = false; /* this one cannot deliver either */
	expect(&side, 60 * S, false);
}

static void
a_short_doubt_of_the_agents_changes_nothing(void **state)
{
	struct side side = standby_that_is_quiet();

	side.own.lost = 4;
	side.reports = false;
	turns_within(&side, 4 * S, true);
	for (int i = 0; i < 10; i++) {
		side.own.lost = 1;
		expect(&side, PEER_DOUBT_NS / 2, true);
		side.own.lost = 4;
		expect(&side, S, true);
	}
}

static void
without_agents_a_standby_becomes_active_later(void **state)
{
	struct side side = standby_that_is_quiet();

	side.own = (struct peer_own){ .ready = true, .delivers = true };
	side.reports = false;
	assert_true(
	    turns_within(&side, 11 * S, true) > PEER_ALONE_NS - 250 * RM_NS_PER_MS);
}

static void
a_standby_that_is_not_ready_stays_standby(void **state)
{
	struct side side = standby_that_is_quiet();

	side.own.ready = false;
	side.own.lost = 4;
	side.reports = false;
	expect(&side, 20 * S, false);
	side.own.ready = true;
	turns_within(&side, S, true);
	side.own.ready = false; /* it stays active nevertheless */
	expect(&side, 20 * S, true);
}

static void
a_stalled_standby_waits_before_it_takes_over(void **state)
{
	struct side side = standby_that_is_quiet();

	side.own.lost = 4; /* reports from before the stall */
	side.now = rm_mono_add(side.now, 20 * S);
	peer_stalled(&side.peer, 20 * S, side.now);
	expect(&side, 60 * S, false);
	side.reports = false;
	turns_within(&side, 4 * S, true);
	side.now = rm_mono_add(side.now, 20 * S);
	peer_stalled(&side.peer, 20 * S, side.now);
	assert_false(side.peer.active);
	side.reports = true;
	expect(&side, 60 * S, false);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_primary_becomes_active_when_ready_and_the_standby_does_not),
		cmocka_unit_test(
		    a_primary_alone_waits_for_the_other_aggregator_then_becomes_active),
		cmocka_unit_test(a_returning_primary_takes_over_from_the_active_one),
		cmocka_unit_test(
		    a_primary_without_agents_leaves_the_other_aggregator_active),
		cmocka_unit_test(
		    a_primary_that_cannot_deliver_yields_and_returns_when_it_can),
		cmocka_unit_test(
		    a_primary_does_not_yield_to_one_that_cannot_deliver_either),
		cmocka_unit_test(a_primary_does_not_yield_to_a_missing_standby),
		cmocka_unit_test(
		    a_primary_that_has_lost_its_agents_yields_to_one_that_has_them),
		cmocka_unit_test(
		    a_primary_becomes_active_when_the_standby_falls_silent),
		cmocka_unit_test(
		    a_primary_that_cannot_deliver_yields_by_agents_reports),
		cmocka_unit_test(
		    a_primary_that_was_cut_off_gives_the_other_aggregator_time),
		cmocka_unit_test(the_primary_role_may_change),
		cmocka_unit_test(
		    a_standby_takes_over_by_agents_reports_of_failed_delivery),
		cmocka_unit_test(a_stalled_primary_waits_for_the_others_state),
		cmocka_unit_test(
		    a_stalled_primary_without_the_other_aggregator_becomes_active),
		cmocka_unit_test(
		    a_primary_that_finds_the_other_aggregator_active_goes_standby_first),
		cmocka_unit_test(
		    an_isolated_aggregator_goes_standby_and_waits_for_the_other_aggregator),
		cmocka_unit_test(a_short_stall_changes_nothing),
		cmocka_unit_test(repeated_short_stalls_do_not_hide_a_missing_primary),
		cmocka_unit_test(a_standby_stays_standby_while_the_primary_is_active),
		cmocka_unit_test(
		    a_standby_takes_over_if_half_of_the_agents_lost_the_primary),
		cmocka_unit_test(
		    a_standby_yields_at_once_when_the_primary_is_active_again),
		cmocka_unit_test(a_standby_is_active_while_the_primary_is_not),
		cmocka_unit_test(a_standby_gives_the_primary_time_to_start),
		cmocka_unit_test(a_standby_takes_over_from_a_stuck_primary),
		cmocka_unit_test(a_short_delivery_failure_does_not_move_the_standby),
		cmocka_unit_test(a_standby_yields_when_agents_see_the_primary),
		cmocka_unit_test(a_short_doubt_of_the_agents_changes_nothing),
		cmocka_unit_test(without_agents_a_standby_becomes_active_later),
		cmocka_unit_test(a_standby_that_is_not_ready_stays_standby),
		cmocka_unit_test(a_stalled_standby_waits_before_it_takes_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
