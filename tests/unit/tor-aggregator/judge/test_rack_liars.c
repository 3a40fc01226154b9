#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/trials.h"

#include "rack_trial.h"

/* Fewer than a third of a rack's agents report falsely about probes, counts and their
 * own ports, each differently or all in the same manner, with or without a fault. The
 * fault must be found, and no healthy part may be named. */
#define TRIALS 2000
#define SOAK_TRIALS 10000
#define FOUND_SHARE 0.99
#define FULL_MESH 11 /* hosts; in larger racks not all probe each other */

struct sums {
	unsigned trials, innocents, faults, found, otherwise, liars, named, hinted;
};

static void
add(struct sums *sums, const struct trial *trial)
{
	sums->trials++;
	sums->innocents += trial->innocents + trial->framed > 0;
	if (trial->faulty < trial->options.members) {
		sums->faults++;
		sums->found += trial->found;
		sums->otherwise += !trial->found && trial->found_otherwise;
		if (!trial->found)
			print_error("not found: seed %llu, fault %d, %s, %zu members "
				    "of %zu hosts%s\n",
			    (unsigned long long)trial->options.seed,
			    (int)trial->fault.kind,
			    trial->coordinated ? lie_names[trial->lie[0]] : "mixed",
			    trial->options.members, trial->hosts,
			    trial->found_otherwise ? ", as something else" : "");
	}
	for (size_t i = 0; i < trial->hosts; i++) {
		sums->liars += trial->liars[i];
		sums->named += trial->liars[i] && trial->named[i];
		sums->hinted += trial->liars[i] && trial->hinted[i];
	}
}

static void
print_sums(const char *what, const struct sums *sums)
{
	print_message(
	    "%s: %u trials, %u accuse an innocent; %u faults, %u found, %u as "
	    "something else; %u liars, %u named, %u in any verdict\n",
	    what, sums->trials, sums->innocents, sums->faults, sums->found,
	    sums->otherwise, sums->liars, sums->named, sums->hinted);
}

static void
false_reports_blame_no_healthy_rnic_and_hide_no_fault(void **state)
{
	const unsigned trials =
	    trials_are_asked_for("RACKMESH_SOAK") ? SOAK_TRIALS : trials_of(TRIALS);
	struct sums all = { 0 }, by_lie[LIES + 1] = { 0 };
	struct trial trial;

	for (unsigned i = 0; i < trials; i++) {
		trial_begin(&trial, i + 1);
		trial_run(&trial);
		add(&all, &trial);
		add(&by_lie[trial.coordinated ? trial.lie[0] : LIES], &trial);
	}
	for (size_t i = 0; i < LIES; i++)
		print_sums(lie_names[i], &by_lie[i]);
	print_sums("each another lie", &by_lie[LIES]);
	print_sums("all", &all);
	assert_int_equal(all.innocents, 0);
	assert_true((double)all.found >= FOUND_SHARE * (double)all.faults);
}

static void
only_an_agent_that_falsely_reports_several_losses_is_named(void **state)
{
	for (size_t hosts = 4; hosts <= 16; hosts += 3) {
		struct trial trial;

		trial_begin_one(&trial, hosts, hosts, LIE_ACCUSE_ALL, 1, SIZE_MAX);
		trial_run(&trial);
		assert_true(trial.named[0]);
		assert_int_equal(trial.innocents + trial.framed, 0);
		assert_string_equal(trial.pair, "");
	}
}

/* Either the agent reports falsely, or all its flows to this one host are lost on the
 * path. */
static void
one_contradiction_names_both_agents_and_their_path(void **state)
{
	for (size_t hosts = 4; hosts <= 10; hosts += 3) {
		struct trial trial;

		trial_begin_one(&trial, hosts, hosts, LIE_ACCUSE_ONE, 1, SIZE_MAX);
		trial_run(&trial);
		assert_false(trial.named[0]);
		assert_int_equal(trial.innocents + trial.framed, 0);
		assert_string_equal(trial.pair, "h0/r0 or h1/r0");
	}
}

static void
an_agent_that_hides_a_dead_rnic_is_named_and_so_is_the_rnic(void **state)
{
	for (size_t hosts = 4; hosts <= 10; hosts++) {
		struct trial trial;

		trial_begin_one(&trial, hosts, hosts, LIE_HIDE, 1, 2);
		trial_run(&trial);
		assert_true(trial.named[0]);
		assert_true(trial.found);
		assert_int_equal(trial.innocents + trial.framed, 0);
	}
}

/* Its own RNIC is dead, but it reports that all others answer: the others are in the
 * majority. */
static void
an_agent_that_hides_its_own_dead_rnic_is_named_and_so_is_the_rnic(void **state)
{
	for (size_t hosts = 4; hosts <= 10; hosts++) {
		struct trial trial;

		trial_begin_one(&trial, hosts, hosts, LIE_HIDE_OWN, 1, 0);
		trial_run(&trial);
		assert_true(trial.named[0]);
		assert_true(trial.found || trial.found_otherwise);
		assert_int_equal(trial.innocents + trial.framed, 0);
	}
}

/* Exactly two agents contradict it, whatever the size of the rack. */
static void
only_an_agent_that_falsely_reports_two_losses_is_named(void **state)
{
	for (size_t hosts = 4; hosts <= FULL_MESH; hosts++) {
		struct trial trial;

		trial_begin_one(&trial, hosts, hosts, LIE_ACCUSE_TWO, 1, SIZE_MAX);
		trial_run(&trial);
		assert_true(trial.named[0]);
		assert_int_equal(trial.innocents + trial.framed, 0);
		assert_string_equal(trial.pair, "");
	}
}

static void
only_an_agent_with_false_counts_is_named(void **state)
{
	for (size_t hosts = 4; hosts <= FULL_MESH; hosts++) {
		struct trial trial;

		trial_begin_one(&trial, hosts, hosts, LIE_COUNTS, 1, SIZE_MAX);
		trial_run(&trial);
		assert_true(trial.named[0]);
		assert_int_equal(trial.innocents + trial.framed, 0);
		assert_string_equal(trial.pair, "");
	}
}

/* The others probed faster meanwhile, and so remember the losses for longer than the
 * agent does. */
static void
an_agent_whose_link_comes_back_is_not_contradicted(void **state)
{
	for (size_t hosts = 4; hosts <= FULL_MESH; hosts++) {
		struct sim *sim;
		const struct sim_options options = { .members = hosts,
			.rnics_per_host = 1,
			.focuses = true,
			.count_noise = 1,
			.seed = hosts };

		assert_int_equal(sim_new(&options, &sim), 0);
		sim_add_fault(sim, (struct sim_fault){ .kind = SIM_RNIC_LINK_DOWN,
				       .from_ns = 1 * RM_NS_PER_S,
				       .to_ns = 5 * RM_NS_PER_S });
		for (int64_t now = 0; now < 15 * RM_NS_PER_S;) {
			struct rack_judgement judgement;

			if (sim_step(sim, &now, &judgement) < 0)
				continue;
			for (size_t i = 0; i < judgement.verdict_count; i++)
				assert_int_not_equal(judgement.verdicts[i].kind,
				    RM_KIND_AGENT_CONTRADICTED);
		}
		sim_free(sim);
	}
}

/* Real refusals: each refusing RNIC is dead for its victim, and the victim reports as
 * many dead ones as there may be false reports. The victim reports correctly, and its
 * RNIC is healthy. */
static void
run_refusals(bool of_two, bool lying, bool by_one)
{
	for (size_t hosts = 4; hosts <= FULL_MESH + 5; hosts++)
		for (unsigned seed = 1; seed <= 10; seed++) {
			struct trial trial;
			unsigned hinted = 0;

			trial_begin_refusal(&trial, seed, hosts,
			    by_one ? 1 : (hosts - 1) / 3, of_two, lying);
			trial_run(&trial);
			if (trial.innocents + trial.framed > 0)
				print_error("%zu hosts, seed %u\n", hosts, seed);
			assert_int_equal(trial.innocents + trial.framed, 0);
			for (size_t i = 0; i < hosts; i++)
				hinted += trial.hinted[i];
			if (hosts <= FULL_MESH && !lying)
				assert_true(hinted > 0);
		}
}

static void
agents_that_refuse_one_peer_cause_no_wrong_name(void **state)
{
	run_refusals(false, false, false);
	run_refusals(false, false, true);
}

static void
agents_that_refuse_two_peers_cause_no_wrong_name(void **state)
{
	run_refusals(true, false, false);
	run_refusals(true, false, true);
}

static void
agents_that_refuse_and_report_a_peer_cause_no_wrong_name(void **state)
{
	run_refusals(false, true, false);
	run_refusals(true, true, false);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(false_reports_blame_no_healthy_rnic_and_hide_no_fault),
		cmocka_unit_test(
		    only_an_agent_that_falsely_reports_several_losses_is_named),
		cmocka_unit_test(one_contradiction_names_both_agents_and_their_path),
		cmocka_unit_test(
		    an_agent_that_hides_a_dead_rnic_is_named_and_so_is_the_rnic),
		cmocka_unit_test(
		    an_agent_that_hides_its_own_dead_rnic_is_named_and_so_is_the_rnic),
		cmocka_unit_test(
		    only_an_agent_that_falsely_reports_two_losses_is_named),
		cmocka_unit_test(only_an_agent_with_false_counts_is_named),
		cmocka_unit_test(an_agent_whose_link_comes_back_is_not_contradicted),
		cmocka_unit_test(agents_that_refuse_one_peer_cause_no_wrong_name),
		cmocka_unit_test(agents_that_refuse_two_peers_cause_no_wrong_name),
		cmocka_unit_test(
		    agents_that_refuse_and_report_a_peer_cause_no_wrong_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
