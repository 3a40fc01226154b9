#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/rack_trial.h"

/*
 * Less than a third of a rack's agents say what is not so, of what they see, of what
 * they count and of their own ports, alone or all the same, with a fault beside them or
 * without. Nobody else may be accused, and the fault must be found.
 */
#define TRIALS 2000
#define SOAK_TRIALS 10000
#define FOUND_SHARE 0.99
#define FULL_MESH 11 /* hosts: more, and not everybody probes everybody */

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
			    trial->coordinated ? lie_words[trial->lie[0]] : "mixed",
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
liars_accuse_no_innocent_and_hide_no_fault(void **state)
{
	const unsigned trials = getenv("RACKMESH_SOAK") != NULL ? SOAK_TRIALS : TRIALS;
	struct sums all = { 0 }, by_lie[LIES + 1] = { 0 };
	struct trial trial;

	for (unsigned i = 0; i < trials; i++) {
		trial_begin(&trial, i + 1);
		trial_run(&trial);
		add(&all, &trial);
		add(&by_lie[trial.coordinated ? trial.lie[0] : LIES], &trial);
	}
	for (size_t i = 0; i < LIES; i++)
		print_sums(lie_words[i], &by_lie[i]);
	print_sums("each another lie", &by_lie[LIES]);
	print_sums("all", &all);
	assert_int_equal(all.innocents, 0);
	assert_true((double)all.found >= FOUND_SHARE * (double)all.faults);
}

static void
an_agent_that_accuses_several_is_named_and_nobody_else(void **state)
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

/* Whether it lies, or its flows to this one die on the way and no others. */
static void
one_contradiction_is_said_of_the_two_and_their_path(void **state)
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

/* Its own RNIC is dead, and it says that all answer it: the others outnumber it. */
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

/* Deeds, not words: to its victim each of them is really dead. Of one alone nothing
 * more than "one of the two" is said; of several, that are no liars to anybody else,
 * their victim's agent may be taken for one. */
static void
agents_that_answer_one_of_all_no_more_accuse_no_rnic(void **state)
{
	unsigned trials = 0, framed = 0;

	for (size_t hosts = 4; hosts <= FULL_MESH; hosts++)
		for (unsigned seed = 1; seed <= 10; seed++) {
			struct trial trial;

			trial_begin_refusal(&trial, seed, hosts);
			trial_run(&trial);
			if (trial.innocents > 0)
				print_error("%zu hosts, seed %u\n", hosts, seed);
			assert_int_equal(trial.innocents, 0);
			if (hosts < 7)
				assert_int_equal(trial.framed, 0);
			trials++;
			framed += trial.framed > 0;
		}
	print_message("refused answers: %u trials, in %u of them the victim's agent is "
		      "taken for a liar\n",
	    trials, framed);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(liars_accuse_no_innocent_and_hide_no_fault),
		cmocka_unit_test(
		    an_agent_that_accuses_several_is_named_and_nobody_else),
		cmocka_unit_test(one_contradiction_is_said_of_the_two_and_their_path),
		cmocka_unit_test(
		    an_agent_that_hides_a_dead_rnic_is_named_and_so_is_the_rnic),
		cmocka_unit_test(
		    an_agent_that_hides_its_own_dead_rnic_is_named_and_so_is_the_rnic),
		cmocka_unit_test(agents_that_answer_one_of_all_no_more_accuse_no_rnic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
