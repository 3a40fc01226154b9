#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/judge/judge.h"

/*
 * Four hosts on one switch. Element i is host i's cable; SWITCH is the switch, which
 * all paths cross. The candidates are the four cables, then the switch.
 */
#define HOSTS 4
#define SWITCH HOSTS
#define ELEMENTS (HOSTS + 1)
#define PRIOR (-10.0)
#define SWITCH_PRIOR (-14.0)

struct fabric {
	struct rm_judge *judge;
	struct rm_candidate candidates[ELEMENTS];
	struct rm_observation observations[HOSTS * HOSTS];
	size_t count;
	struct rm_explanation explanation;
};

static int
setup(void **state)
{
	static struct fabric fabric;
	const struct rm_judge_options options = {
		.base_loss = 0.002,
		.alternatives_within = 14,
		.max_parts = 3,
	};

	memset(&fabric, 0, sizeof fabric);
	for (uint32_t i = 0; i < ELEMENTS; i++)
		fabric.candidates[i] = (struct rm_candidate){ { i }, 1,
			i == SWITCH ? SWITCH_PRIOR : PRIOR };
	*state = &fabric;
	return rm_judge_new(&options, &fabric.judge);
}

static int
teardown(void **state)
{
	struct fabric *fabric = *state;

	rm_judge_free(fabric->judge);
	return 0;
}

static void
observe(struct fabric *fabric, uint32_t a, uint32_t b, uint32_t sent, uint32_t lost)
{
	fabric->observations[fabric->count++] =
	    (struct rm_observation){ sent, lost, { a, SWITCH, b }, 3 };
}

static void
explain(struct fabric *fabric)
{
	assert_int_equal(
	    rm_judge_explain(fabric->judge, ELEMENTS, fabric->observations,
		fabric->count, fabric->candidates, ELEMENTS, &fabric->explanation),
	    0);
}

/* All pairs of hosts with 20 packets each; all packets of a dead host are lost. */
static void
observe_dead(struct fabric *fabric, unsigned dead)
{
	for (uint32_t a = 0; a < HOSTS; a++)
		for (uint32_t b = 0; b < HOSTS; b++)
			if (a != b)
				observe(fabric, a, b, 20,
				    (dead >> a & 1) || (dead >> b & 1) ? 20 : 0);
	explain(fabric);
}

static bool
blames(const struct fabric *fabric, size_t candidate)
{
	for (size_t i = 0; i < fabric->explanation.part_count; i++)
		if (fabric->explanation.parts[i].candidate == candidate)
			return true;
	return false;
}

static void
without_losses_no_part_is_blamed(void **state)
{
	struct fabric *fabric = *state;

	observe_dead(fabric, 0);
	assert_int_equal(fabric->explanation.part_count, 0);
	assert_int_equal(fabric->explanation.unexplained_lost, 0);
}

static void
without_candidates_no_part_is_blamed(void **state)
{
	struct fabric *fabric = *state;

	assert_int_equal(
	    rm_judge_explain(fabric->judge, 0, NULL, 0, NULL, 0, &fabric->explanation),
	    0);
	assert_int_equal(fabric->explanation.part_count, 0);
}

static void
without_observations_no_part_is_blamed(void **state)
{
	struct fabric *fabric = *state;

	explain(fabric);
	assert_int_equal(fabric->explanation.part_count, 0);
}

static void
scattered_losses_stay_unexplained(void **state)
{
	struct fabric *fabric = *state;

	observe(fabric, 0, 1, 500, 1);
	observe(fabric, 2, 3, 500, 2);
	observe(fabric, 1, 2, 500, 1);
	explain(fabric);
	assert_int_equal(fabric->explanation.part_count, 0);
	assert_int_equal(fabric->explanation.unexplained_lost, 4);
}

static void
one_dead_host_is_the_only_one_blamed(void **state)
{
	struct fabric *fabric = *state;

	observe_dead(fabric, 1u << 2);
	assert_int_equal(fabric->explanation.part_count, 1);
	assert_int_equal(fabric->explanation.parts[0].candidate, 2);
	assert_true(fabric->explanation.parts[0].loss > 0.99);
	assert_true(fabric->explanation.parts[0].gain > 100);
	assert_int_equal(fabric->explanation.parts[0].alternative_count, 0);
	assert_int_equal(fabric->explanation.unexplained_lost, 0);
}

static void
several_cables_are_an_alternative_to_their_switch(void **state)
{
	struct fabric *fabric = *state;
	const struct rm_blamed *parts;

	observe_dead(fabric, 1u << 0 | 1u << 1 | 1u << 2);
	parts = fabric->explanation.parts;
	assert_int_equal(fabric->explanation.part_count, 1);
	assert_int_equal(parts[0].candidate, SWITCH);
	/* Three times their prior, compared with the prior of the switch. */
	assert_true(parts[0].rival_behind > 10 && parts[0].rival_behind < 20);
}

static void
a_part_that_alone_explains_the_losses_has_no_close_alternative(void **state)
{
	struct fabric *fabric = *state;

	observe_dead(fabric, 1u << 2);
	assert_true(fabric->explanation.parts[0].rival_behind > 100);
}

static void
no_more_parts_are_blamed_than_are_allowed(void **state)
{
	struct fabric *fabric = *state;

	rm_judge_most_parts(fabric->judge, 1);
	observe_dead(fabric, 1u << 0 | 1u << 3);
	assert_int_equal(fabric->explanation.part_count, 1);
	rm_judge_most_parts(fabric->judge, 1000000);
	explain(fabric);
	assert_int_equal(fabric->explanation.part_count, 2);
}

static void
two_dead_hosts_are_not_one_lossy_switch(void **state)
{
	struct fabric *fabric = *state;

	observe_dead(fabric, 1u << 0 | 1u << 3);
	assert_int_equal(fabric->explanation.part_count, 2);
	assert_true(blames(fabric, 0));
	assert_true(blames(fabric, 3));
}

/* Only two packets a pair: the switch is picked first, and only a search without it
 * finds the seven hosts, which are likelier. */
static void
many_dead_hosts_are_found_also_if_another_part_is_picked_first(void **state)
{
	enum { MANY = 12, DEAD = 7 };
	const struct rm_judge_options options = { 0.002, 14, MANY };
	struct rm_observation observations[MANY * MANY];
	struct rm_candidate candidates[MANY + 1];
	struct rm_explanation explanation;
	struct rm_judge *judge;
	size_t count = 0;

	(void)state;
	assert_int_equal(rm_judge_new(&options, &judge), 0);
	for (uint32_t i = 0; i <= MANY; i++)
		candidates[i] =
		    (struct rm_candidate){ { i }, 1, i == MANY ? SWITCH_PRIOR : PRIOR };
	for (uint32_t a = 0; a < MANY; a++)
		for (uint32_t b = 0; b < MANY; b++)
			if (a != b)
				observations[count++] = (struct rm_observation){ 2,
					a < DEAD || b < DEAD ? 2 : 0, { a, MANY, b },
					3 };
	assert_int_equal(rm_judge_explain(judge, MANY + 1, observations, count,
			     candidates, MANY + 1, &explanation),
	    0);
	assert_int_equal(explanation.part_count, DEAD);
	for (size_t i = 0; i < DEAD; i++)
		assert_true(explanation.parts[i].candidate < DEAD);
	rm_judge_free(judge);
}

/* Most cables of a switch lose the same share, and the others lose nothing. The switch
 * is picked first: it explains more than any cable. */
static void
dozens_of_lossy_cables_are_likelier_than_their_switch(void **state)
{
	enum { ALL = 40, LOSSY = 30 };
	const struct rm_judge_options options = { 0.002, 14, 64 };
	struct rm_observation observations[ALL];
	struct rm_candidate candidates[ALL + 1];
	struct rm_explanation explanation;
	struct rm_judge *judge;

	(void)state;
	assert_int_equal(rm_judge_new(&options, &judge), 0);
	for (uint32_t i = 0; i <= ALL; i++)
		candidates[i] =
		    (struct rm_candidate){ { i }, 1, i == ALL ? SWITCH_PRIOR : PRIOR };
	for (uint32_t i = 0; i < ALL; i++)
		observations[i] = (struct rm_observation){ 200,
			i < LOSSY ? 200 * 3 / 10 : 0, { i, ALL }, 2 };
	assert_int_equal(rm_judge_explain(judge, ALL + 1, observations, ALL, candidates,
			     ALL + 1, &explanation),
	    0);
	assert_int_equal(explanation.part_count, LOSSY);
	for (size_t i = 0; i < LOSSY; i++)
		assert_true(explanation.parts[i].candidate < LOSSY);
	rm_judge_free(judge);
}

static void
when_everything_fails_one_switch_is_likelier_than_many_hosts(void **state)
{
	struct fabric *fabric = *state;

	observe_dead(fabric, (1u << HOSTS) - 1);
	assert_int_equal(fabric->explanation.part_count, 1);
	assert_int_equal(fabric->explanation.parts[0].candidate, SWITCH);
}

static void
what_cannot_be_distinguished_is_listed_as_alternatives(void **state)
{
	struct fabric *fabric = *state;
	const struct rm_blamed *part;

	observe(fabric, 0, 1, 20, 20);
	observe(fabric, 1, 0, 20, 20);
	explain(fabric);
	assert_int_equal(fabric->explanation.part_count, 1);
	part = &fabric->explanation.parts[0];
	assert_int_equal(part->candidate, 0);
	assert_int_equal(part->alternative_count, 2);
	assert_int_equal(part->alternatives[0].candidate, 1);
	assert_true(part->alternatives[0].behind == 0);
	assert_int_equal(part->alternatives[1].candidate, SWITCH);
	assert_true(part->alternatives[1].behind == PRIOR - SWITCH_PRIOR);
}

static void
one_witness_is_enough_to_distinguish_two_parts(void **state)
{
	struct fabric *fabric = *state;

	observe(fabric, 0, 1, 20, 20);
	observe(fabric, 0, 2, 20, 0);
	explain(fabric);
	assert_int_equal(fabric->explanation.part_count, 1);
	assert_int_equal(fabric->explanation.parts[0].candidate, 1);
	assert_int_equal(fabric->explanation.parts[0].alternative_count, 0);
}

static void
the_share_of_loss_is_fitted(void **state)
{
	struct fabric *fabric = *state;

	for (uint32_t b = 1; b < HOSTS; b++) {
		observe(fabric, 0, b, 100, 40);
		for (uint32_t c = b + 1; c < HOSTS; c++)
			observe(fabric, b, c, 100, 0);
	}
	explain(fabric);
	assert_int_equal(fabric->explanation.part_count, 1);
	assert_int_equal(fabric->explanation.parts[0].candidate, 0);
	assert_float_equal(fabric->explanation.parts[0].loss, 0.4, 1e-6);
}

/* The switch loses one packet of seven. At the level below or above it would explain
 * so many packets so badly that hosts would be blamed for the difference. */
static void
a_share_between_two_levels_needs_no_second_part(void **state)
{
	struct fabric *fabric = *state;

	for (uint32_t a = 0; a < HOSTS; a++)
		for (uint32_t b = a + 1; b < HOSTS; b++)
			observe(fabric, a, b, 70000, 10000);
	explain(fabric);
	assert_int_equal(fabric->explanation.part_count, 1);
	assert_int_equal(fabric->explanation.parts[0].candidate, SWITCH);
	assert_float_equal(fabric->explanation.parts[0].loss, 1.0 / 7, 0.01);
}

/* Each path through the switch loses a tenth. The path of each lost packet is
 * unknown. */
static void
a_part_that_is_crossed_twice_loses_twice(void **state)
{
	struct fabric *fabric = *state;

	for (uint32_t a = 0; a < HOSTS; a++)
		for (uint32_t b = a + 1; b < HOSTS; b++) {
			observe(fabric, a, b, 1000, 100);
			fabric->observations[fabric->count++] =
			    (struct rm_observation){ 10000, 1900,
				    { SWITCH, SWITCH, a, b }, 4, .round_trip = true };
		}
	explain(fabric);
	assert_int_equal(fabric->explanation.part_count, 1);
	assert_int_equal(fabric->explanation.parts[0].candidate, SWITCH);
	assert_float_equal(fabric->explanation.parts[0].loss, 0.1, 0.005);
}

static void
of_many_dead_hosts_no_more_than_the_limit_are_blamed(void **state)
{
	struct fabric *fabric = *state;

	fabric->candidates[SWITCH].log_prior = -1e6;
	observe_dead(fabric, (1u << HOSTS) - 1);
	assert_true(fabric->explanation.part_count <= 3);
	assert_true(fabric->explanation.part_count >= 2);
}

static void
calls_do_not_affect_each_other(void **state)
{
	struct fabric *fabric = *state;

	for (unsigned i = 0; i < 200; i++) {
		fabric->count = 0;
		observe_dead(fabric, 1u << i % HOSTS);
		assert_int_equal(fabric->explanation.part_count, 1);
		assert_int_equal(fabric->explanation.parts[0].candidate, i % HOSTS);
	}
}

static void
impossible_input_is_refused(void **state)
{
	struct fabric *fabric = *state;
	struct rm_judge_options options = { .base_loss = 0, .max_parts = 1 };
	struct rm_judge *judge = NULL;

	assert_int_equal(rm_judge_new(&options, &judge), -EINVAL);
	options = (struct rm_judge_options){ .base_loss = 0.1, .max_parts = 0 };
	assert_int_equal(rm_judge_new(&options, &judge), -EINVAL);
	assert_null(judge);
	fabric->explanation.part_count = 77;
	observe(fabric, 0, 1, 1, 2); /* more lost than sent */
	assert_int_equal(rm_judge_explain(fabric->judge, ELEMENTS, fabric->observations,
			     1, fabric->candidates, ELEMENTS, &fabric->explanation),
	    -EINVAL);
	fabric->observations[0] = (struct rm_observation){ 1, 1, { ELEMENTS }, 1 };
	assert_int_equal(rm_judge_explain(fabric->judge, ELEMENTS, fabric->observations,
			     1, fabric->candidates, ELEMENTS, &fabric->explanation),
	    -EINVAL);
	fabric->observations[0] = (struct rm_observation){ 1, 1, { 0 }, 1,
		.round_trip = true, .spread = 1, .shares = { 0.5F } };
	assert_int_equal(rm_judge_explain(fabric->judge, ELEMENTS, fabric->observations,
			     1, fabric->candidates, ELEMENTS, &fabric->explanation),
	    -EINVAL);
	fabric->candidates[0].elements[0] = ELEMENTS;
	assert_int_equal(rm_judge_explain(fabric->judge, ELEMENTS, fabric->observations,
			     0, fabric->candidates, ELEMENTS, &fabric->explanation),
	    -EINVAL);
	assert_int_equal(fabric->explanation.part_count, 77);
}

/* Forty losses that are either element 0's, which all packets crossed, or element
 * 1's, which half of them crossed. Element 0 is blamed unless packets that arrived
 * acquit it. */
static void
a_part_that_only_some_packets_may_have_crossed_is_blamed_last(void **state)
{
	const struct rm_judge_options options = {
		.base_loss = 0.001, .alternatives_within = 10, .max_parts = 4
	};
	const struct rm_candidate candidates[] = { { { 0 }, 1, -10 },
		{ { 1 }, 1, -10 } };
	struct rm_observation observations[] = {
		{ 40, 40, { 0, 1 }, 2, .spread = 1, .shares = { 0.5F } },
		{ 400, 0, { 0 }, 1 },
	};
	struct rm_explanation explanation;
	struct rm_judge *judge;

	assert_int_equal(rm_judge_new(&options, &judge), 0);
	assert_int_equal(
	    rm_judge_explain(judge, 2, observations, 1, candidates, 2, &explanation),
	    0);
	assert_int_equal(explanation.part_count, 1);
	assert_int_equal(explanation.parts[0].candidate, 0);
	assert_int_equal(
	    rm_judge_explain(judge, 2, observations, 2, candidates, 2, &explanation),
	    0);
	assert_int_equal(explanation.part_count, 1);
	assert_int_equal(explanation.parts[0].candidate, 1);
	observations[0].shares[0] = 0;
	assert_int_equal(
	    rm_judge_explain(judge, 2, observations, 2, candidates, 2, &explanation),
	    -EINVAL);
	rm_judge_free(judge);
}

/* The candidates are both directions of a cable, or one of them. All replies are lost,
 * although each reply crosses the cable with a probability of only 1/4. */
static void
a_blamed_part_is_not_blamed_again_for_one_of_its_paths(void **state)
{
	const struct rm_judge_options options = {
		.base_loss = 0.001, .alternatives_within = 10, .max_parts = 4
	};
	const struct rm_candidate candidates[] = { { { 0, 1 }, 2, -11 },
		{ { 0 }, 1, -11.5 }, { { 1 }, 1, -11.5 } };
	const struct rm_observation observations[] = {
		{ 40, 40, { 0 }, 1 },
		{ 40, 40, { 1 }, 1 },
		{ 60, 60, { 0 }, 1, .spread = 1, .shares = { 0.25F } },
		{ 60, 60, { 1 }, 1, .spread = 1, .shares = { 0.25F } },
	};
	struct rm_explanation explanation;
	struct rm_judge *judge;

	assert_int_equal(rm_judge_new(&options, &judge), 0);
	assert_int_equal(
	    rm_judge_explain(judge, 2, observations, 4, candidates, 3, &explanation),
	    0);
	assert_int_equal(explanation.part_count, 1);
	assert_int_equal(explanation.parts[0].candidate, 0);
	rm_judge_free(judge);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

/* Six of 2000 packets are lost behind the first cable, one of 4000 elsewhere. */
static int
explain_slow_loss(
    double least_loss, struct rm_explanation *ret, struct rm_judge **judge)
{
	const struct rm_judge_options options = { .base_loss = 0.00025,
		.alternatives_within = 14,
		.max_parts = 3,
		.least_loss = least_loss };
	const struct rm_observation observations[] = {
		{ .sent = 1000, .lost = 3, .elements = { 0, 1 }, .element_count = 2 },
		{ .sent = 1000, .lost = 3, .elements = { 0, 2 }, .element_count = 2 },
		{ .sent = 4000, .lost = 1, .elements = { 1, 2 }, .element_count = 2 },
	};
	const struct rm_candidate candidates[] = {
		{ { 0 }, 1, -4 },
		{ { 1 }, 1, -4 },
		{ { 2 }, 1, -4 },
	};

	assert_int_equal(rm_judge_new(&options, judge), 0);
	return rm_judge_explain(*judge, 3, observations, 3, candidates, 3, ret);
}

static void
slow_loss_is_found_if_the_lowest_share_is_low_enough(void **state)
{
	struct rm_explanation explanation = { 0 };
	struct rm_judge *judge = NULL;

	assert_int_equal(explain_slow_loss(0, &explanation, &judge), 0);
	assert_int_equal(explanation.part_count, 0);
	rm_judge_free(judge);
	assert_int_equal(explain_slow_loss(0.001, &explanation, &judge), 0);
	assert_int_equal(explanation.part_count, 1);
	assert_int_equal(explanation.parts[0].candidate, 0);
	assert_true(explanation.parts[0].loss > 0.002);
	assert_true(explanation.parts[0].loss < 0.004);
	rm_judge_free(judge);
}

/* Three paths through one switch, each over a cable of its own. */
static size_t
parts_blamed_for(const uint32_t lost[3], double doubt)
{
	const struct rm_judge_options options = { .base_loss = 0.0001,
		.alternatives_within = 14,
		.max_parts = 4,
		.least_loss = 0.001,
		.doubt = doubt };
	struct rm_observation observations[3];
	struct rm_candidate candidates[4] = { { { 0 }, 1, SWITCH_PRIOR } };
	struct rm_explanation explanation;
	struct rm_judge *judge;
	size_t count;

	for (uint32_t i = 0; i < 3; i++) {
		observations[i] =
		    (struct rm_observation){ 20000, lost[i], { 0, i + 1 }, 2 };
		candidates[i + 1] = (struct rm_candidate){ { i + 1 }, 1, PRIOR };
	}
	assert_int_equal(rm_judge_new(&options, &judge), 0);
	assert_int_equal(
	    rm_judge_explain(judge, 4, observations, 3, candidates, 4, &explanation),
	    0);
	count = explanation.part_count;
	if (count == 1)
		assert_int_equal(explanation.parts[0].candidate, 0);
	rm_judge_free(judge);
	return count;
}

/* Each path has about a thousand losses, and one some percent more than another. */
static void
many_parts_that_explain_little_more_than_one_are_not_certain(void **state)
{
	const uint32_t alike[] = { 950, 1100, 1250 }, apart[] = { 1100, 1100, 0 };

	assert_int_equal(parts_blamed_for(alike, 0), 3);
	assert_int_equal(parts_blamed_for(alike, 0.03), 1);
	assert_int_equal(parts_blamed_for(apart, 0.03), 2);
}

#define CABLES 6 /* cables of one switch, each with a path of its own */

/* Each cable loses this many packets of a thousand. Returns how many parts are
 * blamed: only cables, or only the switch; in the latter case *behind is how much
 * less likely the cables are. */
static size_t
cables_blamed_for(const uint32_t *lost, double relief, double *behind)
{
	const struct rm_judge_options options = { .base_loss = 1e-4,
		.least_loss = 1.5e-3,
		.alternatives_within = 14,
		.max_parts = 8,
		.siblings_relief = relief,
		.clear = 3 };
	struct rm_observation observations[CABLES];
	struct rm_candidate candidates[CABLES + 1];
	struct rm_explanation explanation;
	struct rm_judge *judge;
	size_t count, switches = 0;

	for (uint32_t i = 0; i < CABLES; i++) {
		observations[i] =
		    (struct rm_observation){ 1000, lost[i], { i, CABLES }, 2 };
		candidates[i] = (struct rm_candidate){ .elements = { i },
			.element_count = 1,
			.log_prior = -11.5,
			.within = { CABLES },
			.within_count = 1 };
	}
	candidates[CABLES] = (struct rm_candidate){ .elements = { CABLES },
		.element_count = 1,
		.log_prior = -14,
		.wide = true };
	assert_int_equal(rm_judge_new(&options, &judge), 0);
	assert_int_equal(rm_judge_explain(judge, CABLES + 1, observations, CABLES,
			     candidates, CABLES + 1, &explanation),
	    0);
	count = explanation.part_count;
	for (size_t i = 0; i < count; i++)
		if (explanation.parts[i].candidate == CABLES) {
			switches++;
			*behind = explanation.parts[i].rival_behind;
		}
	assert_true(switches == 0 || count == 1);
	rm_judge_free(judge);
	return switches > 0 ? 0 : count;
}

/* Once the first cable is faulty, the second and third need not be unlikely. */
static void
few_cables_of_a_switch_with_equal_loss_replace_it(void **state)
{
	const uint32_t three[] = { 8, 8, 8, 0, 0, 0 };
	double behind;

	(void)state;
	assert_int_equal(cables_blamed_for(three, 0, &behind), 0);
	assert_int_equal(cables_blamed_for(three, 6, &behind), 3);
}

static void
a_switch_whose_cables_all_lose_equally_is_clearly_more_likely(void **state)
{
	const uint32_t all[] = { 3, 5, 4, 4, 3, 5 };
	double behind = 0;

	(void)state;
	assert_int_equal(cables_blamed_for(all, 6, &behind), 0);
	assert_true(behind > 10);
}

static void
few_losses_do_not_decide_between_a_switch_and_its_cables(void **state)
{
	const uint32_t few[] = { 3, 3, 3, 0, 0, 0 };
	double behind = INFINITY;

	(void)state;
	assert_int_equal(cables_blamed_for(few, 6, &behind), 0);
	assert_true(fabs(behind) < 3);
}

static void
a_share_no_greater_than_the_usual_loss_is_refused(void **state)
{
	const struct rm_judge_options options = {
		.base_loss = 0.01, .max_parts = 3, .least_loss = 0.01
	};
	struct rm_judge *judge = NULL;

	assert_int_equal(rm_judge_new(&options, &judge), -EINVAL);
}

static void
observe_lost(struct fabric *fabric, uint32_t a, uint32_t b, uint32_t lost)
{
	fabric->observations[fabric->count++] =
	    (struct rm_observation){ lost, lost, { a, b }, a == b ? 1 : 2 };
}

/* Host 0 alone explains most losses, but few of them if the other two are blamed
 * too. */
static void
parts_that_explain_more_come_first(void **state)
{
	const size_t most_first[] = { 2, 1, 0 };
	struct fabric *fabric = *state;

	observe_lost(fabric, 0, 0, 10);
	observe_lost(fabric, 0, 1, 40);
	observe_lost(fabric, 0, 2, 40);
	observe_lost(fabric, 1, 1, 20);
	observe_lost(fabric, 2, 2, 30);
	explain(fabric);
	assert_int_equal(fabric->explanation.part_count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(fabric->explanation.parts[i].candidate, most_first[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_losses_no_part_is_blamed),
		TEST(without_observations_no_part_is_blamed),
		TEST(without_candidates_no_part_is_blamed),
		TEST(scattered_losses_stay_unexplained),
		TEST(one_dead_host_is_the_only_one_blamed),
		TEST(several_cables_are_an_alternative_to_their_switch),
		TEST(a_part_that_alone_explains_the_losses_has_no_close_alternative),
		TEST(no_more_parts_are_blamed_than_are_allowed),
		TEST(two_dead_hosts_are_not_one_lossy_switch),
		TEST(many_dead_hosts_are_found_also_if_another_part_is_picked_first),
		TEST(dozens_of_lossy_cables_are_likelier_than_their_switch),
		TEST(when_everything_fails_one_switch_is_likelier_than_many_hosts),
		TEST(what_cannot_be_distinguished_is_listed_as_alternatives),
		TEST(one_witness_is_enough_to_distinguish_two_parts),
		TEST(the_share_of_loss_is_fitted),
		TEST(a_share_between_two_levels_needs_no_second_part),
		TEST(a_part_that_is_crossed_twice_loses_twice),
		TEST(of_many_dead_hosts_no_more_than_the_limit_are_blamed),
		TEST(calls_do_not_affect_each_other),
		TEST(a_part_that_only_some_packets_may_have_crossed_is_blamed_last),
		TEST(impossible_input_is_refused),
		TEST(parts_that_explain_more_come_first),
		cmocka_unit_test(slow_loss_is_found_if_the_lowest_share_is_low_enough),
		cmocka_unit_test(
		    a_blamed_part_is_not_blamed_again_for_one_of_its_paths),
		cmocka_unit_test(
		    many_parts_that_explain_little_more_than_one_are_not_certain),
		cmocka_unit_test(a_share_no_greater_than_the_usual_loss_is_refused),
		cmocka_unit_test(few_cables_of_a_switch_with_equal_loss_replace_it),
		cmocka_unit_test(
		    a_switch_whose_cables_all_lose_equally_is_clearly_more_likely),
		cmocka_unit_test(
		    few_losses_do_not_decide_between_a_switch_and_its_cables),
	};

	return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
