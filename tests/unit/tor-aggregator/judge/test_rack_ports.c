#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/rack_run.h"
#include "tor-aggregator/window/window.h"

#define SEEDS 20
#define FAST_NS (30 * RM_NS_PER_MS)
#define FOR_NS (5 * RM_NS_PER_S)
#define RECOVERED_NS (4500 * RM_NS_PER_MS)
/* Two windows, and the time for which they wait for reports. */
#define REPORT_DEADLINE_NS (600 * RM_NS_PER_MS)

static struct run
new_run(const char *what, size_t members, unsigned seed)
{
	struct run run = run_new(what, members, seed);

	run.options.interval_ns = FAST_NS;
	run.options.large_every = 3;
	run.afterglow_ns = 2 * RM_NS_PER_S;
	return run;
}

static void
a_port_reported_down_by_its_host_is_named_at_once(void **state)
{
	static const size_t sizes[] = { 2, 3, 4, 8 };

	(void)state;
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
		for (unsigned seed = 0; seed < run_seeds(SEEDS); seed++) {
			struct run run = new_run("port down", sizes[s], seed);
			int64_t from_ns;

			run_begin(&run);
			from_ns = run_random_time(&run, 3 * RM_NS_PER_S);
			run_break(
			    &run, SIM_RNIC_PORT_DOWN, seed % sizes[s], from_ns, FOR_NS)
			    ->deadline_ns = REPORT_DEADLINE_NS;
			run_until(&run, from_ns + FOR_NS + 6 * RM_NS_PER_S,
			    from_ns + FOR_NS + RECOVERED_NS);
			run_end(&run);
		}
	run_print_latencies("port down", 4 * run_seeds(SEEDS));
}

static void
lose_and_go_down(int64_t at_ns, uint64_t seed)
{
	const struct sim_options options = { .members = 4,
		.rnics_per_host = 1,
		.witnesses = 3,
		.interval_ns = FAST_NS,
		.seed = seed };
	const struct sim_fault lossy = { SIM_RNIC_LOSES_SENT, 1, 2 * RM_NS_PER_S, at_ns,
		0.1 };
	const struct sim_fault down = { SIM_RNIC_PORT_DOWN, 1, at_ns,
		at_ns + 3 * RM_NS_PER_S, 0 };
	struct rack_judgement judgement;
	bool was_lossy = false, was_down = false;
	int64_t end_ns = 0;
	struct sim *sim;

	assert_int_equal(sim_new(&options, &sim), 0);
	sim_add_fault(sim, lossy);
	sim_add_fault(sim, down);
	while (end_ns < at_ns + 3 * RM_NS_PER_S) {
		if (sim_step(sim, &end_ns, &judgement) == -EAGAIN)
			continue;
		assert_in_range(judgement.verdict_count, 0, 1);
		for (size_t i = 0; i < judgement.verdict_count; i++) {
			was_lossy |= judgement.verdicts[i].kind == RM_KIND_RNIC_LOSSY;
			was_down |= judgement.verdicts[i].kind == RM_KIND_RNIC_DOWN;
		}
	}
	assert_true(was_lossy);
	assert_true(was_down);
	sim_free(sim);
}

/* After the port is down, the earlier loss of five seconds is not reported as well. */
static void
a_port_that_loses_and_then_goes_down_is_named_once(void **state)
{
	(void)state;
	for (int phase = 0; phase < 8; phase++)
		lose_and_go_down(
		    9 * RM_NS_PER_S + phase * SIM_BIN_NS / 2, (uint64_t)phase);
}

/* Two of four hosts report a port that is down: the other two must not be named for
 * losses with them. */
static void
two_ports_that_are_down_blame_no_other(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < run_seeds(SEEDS); seed++) {
		struct run run = new_run("two ports down", 4, seed);
		int64_t from_ns;

		run_begin(&run);
		from_ns = run_random_time(&run, 3 * RM_NS_PER_S);
		for (size_t i = 0; i < 2; i++)
			run_break(&run, SIM_RNIC_PORT_DOWN, i, from_ns, FOR_NS)
			    ->deadline_ns = REPORT_DEADLINE_NS;
		run_until(&run, from_ns + FOR_NS + 6 * RM_NS_PER_S,
		    from_ns + FOR_NS + RECOVERED_NS);
		run_end(&run);
	}
}

static void
if_all_ports_are_down_their_tor_is_named(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < run_seeds(SEEDS); seed++) {
		struct run run = new_run("all ports down", 4, seed);
		struct run_expected *e;
		int64_t from_ns;

		run_begin(&run);
		from_ns = run_random_time(&run, 3 * RM_NS_PER_S);
		e = run_break(&run, SIM_TOR, 0, from_ns, FOR_NS);
		e->from_ns -= SIM_REPORT_AHEAD_NS;
		e->deadline_ns = REPORT_DEADLINE_NS;
		for (size_t i = 0; i < 4; i++)
			sim_add_fault(run.sim,
			    (struct sim_fault){ SIM_RNIC_PORT_DOWN, i,
				from_ns + (int64_t)i * 10 * RM_NS_PER_MS,
				from_ns + FOR_NS + (int64_t)i * 90 * RM_NS_PER_MS });
		run_until(&run, from_ns + FOR_NS + 6 * RM_NS_PER_S, 0);
		run_end(&run);
	}
}

/* ---- written by hand: which reports count --------------------------------------- */

#define MEMBERS 3

struct table {
	struct rack_judge *judge;
	struct rack_member members[MEMBERS], remotes[1];
	struct rack_host hosts[MEMBERS];
	struct rack rack;
	struct window_closed closed;
	struct rack_judgement judgement;
};

static int
setup(void **state)
{
	static struct table table;
	static const char *const names[] = { "h0", "h1", "h2" };

	memset(&table, 0, sizeof table);
	for (size_t i = 0; i < MEMBERS; i++) {
		table.members[i] = (struct rack_member){ { 0x020000000000 + i, 0 },
			names[i], "r0", i, false };
		table.hosts[i] = (struct rack_host){ names[i], HOST_OK };
	}
	table.rack = (struct rack){ "tor1", table.members, MEMBERS, table.remotes, 0,
		table.hosts, MEMBERS };
	table.closed = (struct window_closed){ .start = { RM_NS_PER_S },
		.end = { 2 * RM_NS_PER_S } };
	*state = &table;
	return rack_judge_new(&table.judge);
}

static int
teardown(void **state)
{
	struct table *table = *state;

	rack_judge_free(table->judge);
	return 0;
}

static void
judge(struct table *table, int windows)
{
	for (int i = 0; i < windows; i++) {
		table->closed.start.ns += 250 * RM_NS_PER_MS;
		table->closed.end.ns += 250 * RM_NS_PER_MS;
		assert_int_equal(
		    rack_judge_window(table->judge, &table->rack, &table->closed,
			(rm_wall_t){ table->closed.start.ns }, &table->judgement),
		    0);
	}
}

static void
the_sentence_names_the_source_of_the_report(void **state)
{
	struct table *table = *state;
	const struct rm_verdict *verdict;
	char sentence[RM_SENTENCE_BYTES];

	table->members[1].port_down = true;
	judge(table, 1);
	assert_int_equal(table->judgement.verdict_count, 0);
	judge(table, 1);
	assert_int_equal(table->judgement.verdict_count, 1);
	verdict = &table->judgement.verdicts[0];
	rm_verdict_sentence(verdict, sentence, sizeof sentence);
	assert_string_equal(sentence, "RNIC h1/r0 at tor1 neither sends nor receives: "
				      "its port is down, as its host reports.");
	assert_true(rm_rnic_id_equal(verdict->rnic, table->members[1].id));
	assert_int_equal(
	    verdict->evidence.window_start.ns, table->closed.start.ns - SIM_BIN_NS);
	assert_int_equal(table->judgement.members[1], RM_HEALTH_BAD);
	judge(table, 10);
	assert_int_equal(table->judgement.verdict_count, 1);
	table->members[1].port_down = false;
	judge(table, 1);
	assert_int_equal(table->judgement.verdict_count, 0);
	assert_int_equal(table->judgement.members[1], RM_HEALTH_UNKNOWN);
}

static void
a_report_stays_valid_after_a_stall_of_the_aggregator(void **state)
{
	struct table *table = *state;

	table->closed.partial = true;
	table->members[1].port_down = true;
	judge(table, 2);
	assert_int_equal(table->judgement.verdict_count, 1);
}

static void
the_report_of_a_disconnected_agent_is_outdated(void **state)
{
	static const enum host_state gone[] = { HOST_AGENT_DOWN, HOST_AGENT_FROZEN,
		HOST_UNREACHABLE, HOST_UNKNOWN };
	struct table *table = *state;

	table->members[1].port_down = true;
	for (size_t s = 0; s < sizeof gone / sizeof *gone; s++) {
		table->hosts[1].state = gone[s];
		judge(table, 6);
		for (size_t i = 0; i < table->judgement.verdict_count; i++)
			assert_int_not_equal(
			    table->judgement.verdicts[i].part.type, RM_PART_RNIC);
	}
	table->hosts[1].state = HOST_PAUSED; /* the agent runs, and reports the port */
	judge(table, 2);
	assert_int_equal(table->judgement.verdict_count, 1);
	/* The agent has disconnected, and counts as paused. */
	table->members[1].port_unregistered = true;
	judge(table, 1);
	assert_int_equal(table->judgement.verdict_count, 0);
	assert_int_equal(table->judgement.members[1], RM_HEALTH_UNKNOWN);
}

/* As an agent reports it: one link-down a second, each followed at once by a link-up.
 */
static void
fall(struct table *table, unsigned times)
{
	while (times-- > 0) {
		table->members[1].port_falls++;
		judge(table, 4);
	}
}

static void
a_port_that_flaps_is_named_though_each_fall_is_short(void **state)
{
	struct table *table = *state;
	const struct rm_verdict *verdict = NULL;
	char sentence[RM_SENTENCE_BYTES];

	table->members[1].port_falls =
	    7; /* from before the aggregator knew this port */
	judge(table, 4);
	fall(table, 2);
	assert_int_equal(table->judgement.verdict_count, 0);
	fall(table, 1);
	for (int i = 0; i < 10; i++) {
		fall(table, 1);
		verdict = &table->judgement.verdicts[0];
		assert_int_equal(table->judgement.verdict_count, 1);
		assert_int_equal(verdict->kind, RM_KIND_RNIC_FLAPPING);
		assert_int_equal(table->judgement.members[1], RM_HEALTH_BAD);
	}
	rm_verdict_sentence(verdict, sentence, sizeof sentence);
	assert_string_equal(sentence,
	    "RNIC h1/r0 at tor1 goes down and comes up again: its port went down 13 "
	    "times within 12 s, as its host reports, the last time 0 s ago, and is "
	    "up.");
	assert_true(rm_rnic_id_equal(verdict->rnic, table->members[1].id));
	/* The port stays down. */
	table->members[1].port_falls++;
	table->members[1].port_down = true;
	judge(table, 39);
	assert_int_equal(table->judgement.verdicts[0].kind, RM_KIND_RNIC_FLAPPING);
	judge(table, 1);
	assert_int_equal(table->judgement.verdict_count, 1);
	assert_int_equal(table->judgement.verdicts[0].kind, RM_KIND_RNIC_DOWN);
	/* The port comes up. */
	table->members[1].port_down = false;
	judge(table, 60);
	assert_int_equal(table->judgement.verdict_count, 0);
	assert_int_equal(table->judgement.members[1], RM_HEALTH_UNKNOWN);
}

#define MINUTE 240 /* in windows */

/* The port is down for half a second every ten minutes: from the third link-down on it
 * is reported as flapping without a break, but as bad only around each of them. */
static void
a_port_that_goes_down_every_ten_minutes_flaps_all_the_time(void **state)
{
	struct table *table = *state;

	judge(table, 4);
	for (int i = 0; i < 6; i++) {
		table->rack.remote_count =
		    (size_t)i %
		    2; /* another number of remote RNICs, as after a new plan */
		table->members[1].port_falls++;
		table->members[1].port_down = true;
		judge(table, 2);
		assert_int_equal(table->judgement.verdict_count, 1);
		assert_int_equal(table->judgement.members[1], RM_HEALTH_BAD);
		assert_int_equal(table->judgement.verdicts[0].kind,
		    i < 2 ? RM_KIND_RNIC_DOWN : RM_KIND_RNIC_FLAPPING);
		table->members[1].port_down = false;
		judge(table, 20);
		for (int w = 0; w < 10 * MINUTE - 22; w++) {
			judge(table, 1);
			assert_int_equal(table->judgement.verdict_count, i >= 2);
			assert_int_equal(
			    table->judgement.members[1], RM_HEALTH_UNKNOWN);
		}
	}
	assert_non_null(strstr(
	    table->judgement.verdicts[0].evidence.observed, "6 times within 3000 s"));
	/* Half an hour after the last link-down. */
	judge(table, 20 * MINUTE + 1);
	assert_int_equal(table->judgement.verdict_count, 0);
}

static void
link_downs_are_remembered_when_the_rack_changes(void **state)
{
	struct table *table = *state;

	judge(table, 4);
	fall(table, 2);
	table->rack.members = &table->members[1]; /* h0 has left the rack */
	table->rack.member_count = MEMBERS - 1;
	judge(table, 4);
	assert_int_equal(table->judgement.verdict_count, 0);
	fall(table, 1);
	assert_int_equal(table->judgement.verdict_count, 1);
	assert_int_equal(table->judgement.verdicts[0].kind, RM_KIND_RNIC_FLAPPING);
	assert_true(
	    rm_rnic_id_equal(table->judgement.verdicts[0].rnic, table->members[1].id));
}

static void
ports_that_go_down_with_their_tor_do_not_flap(void **state)
{
	struct table *table = *state;

	for (int i = 0; i < 6; i++) {
		for (size_t m = 0; m < MEMBERS; m++) {
			table->members[m].port_down = true;
			table->members[m].port_falls++;
		}
		judge(table, 3);
		for (size_t v = 0; v < table->judgement.verdict_count; v++)
			assert_int_equal(
			    table->judgement.verdicts[v].part.type, RM_PART_TOR);
		for (size_t m = 0; m < MEMBERS; m++)
			table->members[m].port_down = false;
		judge(table, 1);
		assert_int_equal(table->judgement.verdict_count, 0);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_reported_down_by_its_host_is_named_at_once),
		cmocka_unit_test(a_port_that_loses_and_then_goes_down_is_named_once),
		cmocka_unit_test(two_ports_that_are_down_blame_no_other),
		cmocka_unit_test(if_all_ports_are_down_their_tor_is_named),
		TEST(the_sentence_names_the_source_of_the_report),
		TEST(a_report_stays_valid_after_a_stall_of_the_aggregator),
		TEST(the_report_of_a_disconnected_agent_is_outdated),
		TEST(a_port_that_flaps_is_named_though_each_fall_is_short),
		TEST(a_port_that_goes_down_every_ten_minutes_flaps_all_the_time),
		TEST(link_downs_are_remembered_when_the_rack_changes),
		TEST(ports_that_go_down_with_their_tor_do_not_flap),
	};

	return cmocka_run_group_tests_name("rack_ports", tests, NULL, NULL);
}
