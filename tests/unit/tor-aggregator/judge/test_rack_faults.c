#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/rack_run.h"

#define SEEDS 20 /* trials for each kind of rack and fault */
#define SETTLED_NS (9 * RM_NS_PER_S)

static const size_t sizes[] = { 2, 3, 4, 8, 16 };

#define SIZES (sizeof sizes / sizeof *sizes)

/* One fault of this kind for four seconds, in racks of every size but the first
 * `skipped` ones. A third of the probes are large, as in a region's plan. */
static void
one_fault_beyond(
    size_t skipped, const char *what, enum sim_fault_kind kind, bool recovers)
{
	unsigned runs = 0;

	for (size_t s = skipped; s < SIZES; s++)
		for (unsigned seed = 0; seed < run_seeds(SEEDS); seed++) {
			struct run run = run_new(what, sizes[s], seed);
			int64_t from_ns;
			size_t index;

			run.options.large_every = 3;
			run_begin(&run);
			from_ns = run_random_time(&run, 2 * RM_NS_PER_S);
			index = sim_random(run.sim) %
				(kind == SIM_TOR || kind == SIM_UPLINKS ? 1
				    : kind == SIM_REMOTE                ? 4
									: sizes[s]);
			run_break(&run, kind, index, from_ns, 4 * RM_NS_PER_S);
			run_until(&run, from_ns + SETTLED_NS,
			    recovers ? from_ns + 4 * RM_NS_PER_S + RUN_RECOVERED_NS
				     : 0);
			run_end(&run);
			runs++;
		}
	run_print_latencies(what, runs);
}

static void
one_fault(const char *what, enum sim_fault_kind kind, bool recovers)
{
	one_fault_beyond(0, what, kind, recovers);
}

static void
only_an_rnic_dead_in_both_directions_is_named(void **state)
{
	(void)state;
	one_fault("dead both ways", SIM_RNIC_BOTH, true);
}

static void
an_rnic_that_cannot_send_is_named_with_its_direction(void **state)
{
	(void)state;
	one_fault("send dead", SIM_RNIC_SEND, true);
}

static void
an_rnic_that_cannot_receive_is_named_with_its_direction(void **state)
{
	(void)state;
	one_fault("receive dead", SIM_RNIC_RECEIVE, true);
}

/* As a host's own firewall does. In a rack of two, the other host may as well be unable
 * to reach this one. */
static void
only_an_rnic_that_refuses_probes_is_named(void **state)
{
	(void)state;
	one_fault_beyond(1, "takes no probe", SIM_RNIC_REFUSES, true);
}

static void
only_an_rnic_that_delays_all_packets_is_named_late(void **state)
{
	(void)state;
	one_fault_beyond(1, "late", SIM_RNIC_LATE, true);
	one_fault("too late", SIM_RNIC_TOO_LATE, true);
}

/* One RNIC is late and loses a share of the packets that it sends. Every window has at
 * most one verdict, which is on this RNIC. Returns the number of windows in which it
 * was both late and lossy. */
static unsigned
late_and_lossy(unsigned seed, double share)
{
	struct run run = run_new("late and lossy", 8, seed);
	const int64_t from_ns = 3 * RM_NS_PER_S, end_ns = 25 * RM_NS_PER_S;
	unsigned reported = 0;

	run_begin(&run);
	sim_add_fault(
	    run.sim, (struct sim_fault){ SIM_RNIC_LATE, 3, from_ns, end_ns, 0 });
	sim_add_fault(run.sim,
	    (struct sim_fault){ SIM_RNIC_LOSES_SENT, 3, from_ns, end_ns, share });
	for (int64_t now_ns = 0; now_ns < end_ns;) {
		struct rack_judgement judgement;
		const struct rm_verdict *verdict;
		bool loses, late;

		if (sim_step(run.sim, &now_ns, &judgement) < 0 ||
		    judgement.verdict_count == 0)
			continue;
		assert_int_equal(judgement.verdict_count, 1);
		verdict = &judgement.verdicts[0];
		assert_string_equal(verdict->part.name, "h3/r0");
		late = strstr(verdict->evidence.observed, "round trips") != NULL;
		loses = verdict->evidence.direction == RM_DIRECTION_SEND &&
			verdict->evidence.from_part.arrived <
			    verdict->evidence.from_part.sent;
		assert_true(verdict->kind == RM_KIND_RNIC_LATE ||
			    verdict->kind == RM_KIND_RNIC_LOSSY);
		reported += late && loses;
	}
	run_end(&run);
	return reported;
}

static void
the_losses_of_a_late_rnic_are_reported_too(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < run_seeds(SEEDS); seed++) {
		/* So many of 88 windows: a loss of 10 % is found after five seconds. */
		assert_in_range(late_and_lossy(seed, 0.1), 40, 88);
		assert_in_range(late_and_lossy(seed, 0.2), 40, 88);
		assert_in_range(late_and_lossy(seed, 0.4), 60, 88);
	}
}

static void
a_host_all_of_whose_rnics_are_late_is_one_verdict(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < run_seeds(SEEDS); seed++) {
		struct run run = run_new("a late host", 8, seed);
		const int64_t end_ns = 8 * RM_NS_PER_S;
		unsigned reported = 0;
		int64_t from_ns;

		run.options.rnics_per_host = 2;
		run_begin(&run);
		from_ns = run_random_time(&run, 3 * RM_NS_PER_S);
		for (size_t i = 2; i < 4; i++)
			sim_add_fault(run.sim,
			    (struct sim_fault){ SIM_RNIC_LATE, i, from_ns, end_ns, 0 });
		for (int64_t now_ns = 0; now_ns < end_ns;) {
			struct rack_judgement judgement;

			if (sim_step(run.sim, &now_ns, &judgement) < 0)
				continue;
			assert_true(judgement.verdict_count <= 1);
			if (judgement.verdict_count == 0)
				continue;
			reported += judgement.verdicts[0].part.type == RM_PART_HOST;
			assert_int_equal(judgement.verdicts[0].kind, RM_KIND_RNIC_LATE);
		}
		assert_true(reported > 0);
		run_end(&run);
	}
}

/* All late RNICs have a common cause. No single one may be named, also while the
 * lateness begins and ends. */
static void
where_most_of_a_rack_is_late_no_rnic_is_named(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < run_seeds(SEEDS); seed++) {
		struct run run = run_new("a late rack", 8, seed);
		const int64_t end_ns = 12 * RM_NS_PER_S;
		int64_t from_ns;

		run_begin(&run);
		from_ns = run_random_time(&run, 3 * RM_NS_PER_S);
		for (size_t i = 0; i < 4 + seed % 5; i++)
			sim_add_fault(
			    run.sim, (struct sim_fault){ SIM_RNIC_LATE, i, from_ns,
					 from_ns + 5 * RM_NS_PER_S });
		for (int64_t now_ns = 0; now_ns < end_ns;) {
			struct rack_judgement judgement;

			if (sim_step(run.sim, &now_ns, &judgement) >= 0)
				assert_int_equal(judgement.verdict_count, 0);
		}
		run_end(&run);
	}
}

static void
an_rnic_whose_own_host_cannot_send_is_down(void **state)
{
	(void)state;
	one_fault("link down", SIM_RNIC_LINK_DOWN, true);
}

static void
a_dead_tor_is_one_verdict_and_no_rnic_is_blamed(void **state)
{
	(void)state;
	one_fault("dead ToR", SIM_TOR, true);
}

static void
dead_uplinks_blame_no_rnic_of_the_rack(void **state)
{
	(void)state;
	one_fault("dead uplinks", SIM_UPLINKS, false);
}

static void
a_dead_witness_blames_no_rnic_of_the_rack(void **state)
{
	(void)state;
	one_fault("dead remote RNIC", SIM_REMOTE, true);
}

static void
a_killed_agent_is_named_and_no_rnic(void **state)
{
	(void)state;
	one_fault("agent killed", SIM_AGENT_KILLED, true);
}

static void
a_frozen_agent_is_named_and_no_rnic(void **state)
{
	(void)state;
	one_fault("agent frozen", SIM_AGENT_FROZEN, true);
}

static void
a_host_that_is_down_is_named_and_no_rnic(void **state)
{
	(void)state;
	one_fault("host gone", SIM_HOST_GONE, true);
}

static void
a_host_whose_responder_answers_has_lost_its_management_path(void **state)
{
	(void)state;
	one_fault("management down", SIM_MANAGEMENT_DOWN, true);
}

static void
a_rack_of_two_without_witnesses_never_guesses(void **state)
{
	unsigned runs = 0;

	(void)state;
	for (unsigned seed = 0; seed < run_seeds(3 * SEEDS); seed++) {
		struct run run = run_new("A or B", 2, seed);
		struct run_expected *e;
		int64_t from_ns;

		run.options.witnesses = 0;
		run_begin(&run);
		from_ns = run_random_time(&run, 2 * RM_NS_PER_S);
		e = run_break(&run, (enum sim_fault_kind)(seed % 3), seed / 3 % 2,
		    from_ns, 4 * RM_NS_PER_S);
		e->kind = RM_KIND_RNIC_DOWN;
		e->direction = RM_DIRECTION_UNKNOWN;
		strcpy(e->name, "h0/r0 or h1/r0");
		run_until(&run, from_ns + SETTLED_NS,
		    from_ns + 4 * RM_NS_PER_S + RUN_RECOVERED_NS);
		run_end(&run);
		runs++;
	}
	run_print_latencies("rack of two without witnesses", runs);
}

static void
a_host_that_cannot_send_needs_no_witness(void **state)
{
	unsigned runs = 0;

	(void)state;
	for (unsigned seed = 0; seed < run_seeds(SEEDS); seed++) {
		struct run run = run_new("link down without witnesses", 2, seed);
		int64_t from_ns;

		run.options.witnesses = 0;
		run_begin(&run);
		from_ns = run_random_time(&run, 2 * RM_NS_PER_S);
		run_break(&run, SIM_RNIC_LINK_DOWN, seed % 2, from_ns, 4 * RM_NS_PER_S);
		run_until(&run, from_ns + SETTLED_NS,
		    from_ns + 4 * RM_NS_PER_S + RUN_RECOVERED_NS);
		run_end(&run);
		runs++;
	}
	run_print_latencies("link down without witnesses", runs);
}

static void
hosts_with_two_rnics_in_the_rack_are_distinguished_by_rnic(void **state)
{
	unsigned runs = 0;

	(void)state;
	for (unsigned seed = 0; seed < run_seeds(2 * SEEDS); seed++) {
		struct run run = run_new("two RNICs per host", 8, seed);
		int64_t from_ns;

		run.options.rnics_per_host = 2;
		run_begin(&run);
		from_ns = run_random_time(&run, 2 * RM_NS_PER_S);
		run_break(&run, (enum sim_fault_kind)(seed % 4),
		    sim_random(run.sim) % 8, from_ns, 4 * RM_NS_PER_S);
		run_until(&run, from_ns + SETTLED_NS,
		    from_ns + 4 * RM_NS_PER_S + RUN_RECOVERED_NS);
		run_end(&run);
		runs++;
	}
	run_print_latencies("two RNICs per host", runs);
}

/* With noisy receive counts a direction may be found later, but never the wrong one. */
static void
noisy_receive_counts_never_reverse_a_direction(void **state)
{
	unsigned runs = 0;

	(void)state;
	for (size_t s = 0; s < SIZES; s++)
		for (unsigned seed = 0; seed < run_seeds(2 * SEEDS); seed++) {
			struct run run = run_new("noisy counts", sizes[s], seed);
			struct run_expected *e;
			int64_t from_ns;

			run.options.count_noise = 2;
			run_begin(&run);
			from_ns = run_random_time(&run, 2 * RM_NS_PER_S);
			e = run_break(&run, (enum sim_fault_kind)(seed % 4),
			    sim_random(run.sim) % sizes[s], from_ns, 4 * RM_NS_PER_S);
			e->deadline_ns = RUN_HOST_DEADLINE_NS;
			run_until(&run, from_ns + SETTLED_NS, 0);
			run_end(&run);
			runs++;
		}
	run_print_latencies("noisy counts", runs);
}

static void
without_receive_counts_a_dead_rnic_is_still_named(void **state)
{
	unsigned runs = 0;

	(void)state;
	for (size_t s = 0; s < SIZES; s++)
		for (unsigned seed = 0; seed < run_seeds(SEEDS); seed++) {
			struct run run = run_new("no counts", sizes[s], seed);
			struct run_expected *e;
			int64_t from_ns;

			run.options.uncounted = true;
			run_begin(&run);
			from_ns = run_random_time(&run, 2 * RM_NS_PER_S);
			e = run_break(&run, (enum sim_fault_kind)(seed % 3),
			    sim_random(run.sim) % sizes[s], from_ns, 4 * RM_NS_PER_S);
			e->kind = RM_KIND_RNIC_DOWN; /* all that the evidence shows */
			e->direction = RM_DIRECTION_UNKNOWN;
			e->deadline_ns = RUN_HOST_DEADLINE_NS;
			run_until(&run, from_ns + SETTLED_NS, 0);
			run_end(&run);
			runs++;
		}
	run_print_latencies("no counts", runs);
}

static void
steady_heavy_loss_is_called_lossy(void **state)
{
	unsigned runs = 0;

	(void)state;
	for (size_t s = 0; s < SIZES; s++)
		for (unsigned seed = 0; seed < run_seeds(SEEDS) / 2; seed++) {
			struct run run = run_new("lossy", sizes[s], seed);
			struct run_expected *e;
			int64_t from_ns;

			run.afterglow_ns = 2500 * RM_NS_PER_MS;
			run_begin(&run);
			from_ns = run_random_time(&run, 2 * RM_NS_PER_S);
			e = run_break(&run, SIM_RNIC_LOSSY,
			    sim_random(run.sim) % sizes[s], from_ns, 20 * RM_NS_PER_S);
			e->deadline_ns = 20 * RM_NS_PER_S;
			run_until(&run, from_ns + 24 * RM_NS_PER_S, 0);
			run_end(&run);
			runs++;
		}
	run_print_latencies("lossy", runs);
}

/* Every two seconds a burst of losses for a tenth of a second, to one RNIC or in the
 * whole rack. */
static void
a_healthy_rack_with_bursts_of_loss_has_no_verdict(void **state)
{
	const int64_t hours_ns = (int64_t)run_seeds(1) * 600 * RM_NS_PER_S;
	double simulated_s = 0;
	uint64_t probes = 0;

	(void)state;
	for (size_t s = 0; s < SIZES; s++) {
		for (int64_t at_ns = 0; at_ns < hours_ns; at_ns += 20 * RM_NS_PER_S) {
			struct run run = run_new(
			    "healthy", sizes[s], (uint64_t)(at_ns / RM_NS_PER_S));

			run_begin(&run);
			for (int i = 0; i < 8; i++) {
				const enum sim_fault_kind kinds[] = { SIM_RNIC_BOTH,
					SIM_RNIC_SEND, SIM_RNIC_RECEIVE, SIM_TOR };
				const int64_t from_ns =
				    run_random_time(&run, (1 + 2 * i) * RM_NS_PER_S);
				const enum sim_fault_kind kind =
				    kinds[sim_random(run.sim) % 4];

				sim_add_fault(run.sim,
				    (struct sim_fault){ kind,
					kind == SIM_TOR
					    ? 0
					    : sim_random(run.sim) % sizes[s],
					from_ns, from_ns + 100 * RM_NS_PER_MS });
			}
			run_until(&run, 20 * RM_NS_PER_S, 0);
			probes += sim_probes(run.sim);
			simulated_s += 20;
			run_end(&run);
		}
	}
	print_message(
	    "healthy with bursts: %.1f simulated hours, %llu probes, no verdict\n",
	    simulated_s / 3600, (unsigned long long)probes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_an_rnic_dead_in_both_directions_is_named),
		cmocka_unit_test(an_rnic_that_cannot_send_is_named_with_its_direction),
		cmocka_unit_test(
		    an_rnic_that_cannot_receive_is_named_with_its_direction),
		cmocka_unit_test(only_an_rnic_that_refuses_probes_is_named),
		cmocka_unit_test(only_an_rnic_that_delays_all_packets_is_named_late),
		cmocka_unit_test(the_losses_of_a_late_rnic_are_reported_too),
		cmocka_unit_test(a_host_all_of_whose_rnics_are_late_is_one_verdict),
		cmocka_unit_test(where_most_of_a_rack_is_late_no_rnic_is_named),
		cmocka_unit_test(an_rnic_whose_own_host_cannot_send_is_down),
		cmocka_unit_test(a_dead_tor_is_one_verdict_and_no_rnic_is_blamed),
		cmocka_unit_test(dead_uplinks_blame_no_rnic_of_the_rack),
		cmocka_unit_test(a_dead_witness_blames_no_rnic_of_the_rack),
		cmocka_unit_test(a_killed_agent_is_named_and_no_rnic),
		cmocka_unit_test(a_frozen_agent_is_named_and_no_rnic),
		cmocka_unit_test(a_host_that_is_down_is_named_and_no_rnic),
		cmocka_unit_test(
		    a_host_whose_responder_answers_has_lost_its_management_path),
		cmocka_unit_test(a_rack_of_two_without_witnesses_never_guesses),
		cmocka_unit_test(a_host_that_cannot_send_needs_no_witness),
		cmocka_unit_test(
		    hosts_with_two_rnics_in_the_rack_are_distinguished_by_rnic),
		cmocka_unit_test(noisy_receive_counts_never_reverse_a_direction),
		cmocka_unit_test(without_receive_counts_a_dead_rnic_is_still_named),
		cmocka_unit_test(steady_heavy_loss_is_called_lossy),
		cmocka_unit_test(a_healthy_rack_with_bursts_of_loss_has_no_verdict),
	};

	return cmocka_run_group_tests_name("rack_faults", tests, NULL, NULL);
}
