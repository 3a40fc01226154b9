#include "tor-aggregator/paths/path_ends.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rackmesh/core/clock.h"
#include "tor-aggregator/paths/flow_counts.h"
#include "tor-aggregator/paths/path_set.h"
#include "tor-aggregator/window/window.h"

#define T2 1 /* numbers of the ToRs */
#define T3 2
#define LOST_AT RM_NS_PER_S
#define ANSWERED_AT (2 * RM_NS_PER_S)

struct world {
	struct path_ends *ends;
	struct flow_second second;
	uint32_t path_end;
	bool one_switch; /* all paths cross the same switch */
};

static int
setup(void **state)
{
	static struct world world;

	world = (struct world){ .path_end = PATH_FIRST };
	flow_counts_init(&world.second.flows, 1024);
	*state = &world;
	return path_ends_new(&world.ends);
}

static int
teardown(void **state)
{
	struct world *w = *state;

	path_ends_free(w->ends);
	flow_second_release(&w->second);
	return 0;
}

/* Adds four probes of a flow, which has a path of its own. */
static void
add(struct world *w, uint32_t src, uint32_t dst, uint16_t port, uint16_t tor,
    uint8_t dscp, bool lost)
{
	struct flow_count *flow = flow_counts_get(
	    &w->second.flows, src, WINDOW_REMOTE_BASE + dst, port, dscp);
	const size_t index = (size_t)(flow - w->second.flows.flows);

	flow->dst_tor = tor;
	flow->path = w->path_end++;
	flow->sent = 4;
	flow->answered = lost ? 0 : ANSWERED_AT;
	flow->lost = lost ? 4 : 0;
	for (uint32_t i = 0; i < flow->lost; i++)
		assert_int_equal(flow_second_lost(&w->second, index, LOST_AT + i), 0);
}

/* Each member sends probes in `ports` flows to an RNIC of t2 and to one of t3. The
 * first `dead` RNICs of t2 do not answer. Returns the number of probes left out. */
static uint64_t
probes_left_out(struct world *w, uint32_t dead, uint16_t ports, uint8_t classes)
{
	for (uint32_t src = 0; src < 8; src++)
		for (uint8_t dscp = 0; dscp < classes; dscp++) {
			for (uint16_t port = 0; port < ports; port++)
				add(w, src, src, 50000 + port, T2, dscp, src < dead);
			add(w, src, 8 + src, 50000, T3, dscp, false);
		}
	assert_int_equal(path_ends_judge(w->ends, &w->second, w->path_end), 0);
	assert_int_equal(path_ends_counts(w->ends)->own_dead, 0);
	return path_ends_counts(w->ends)->remote_dead;
}

static void
several_rnics_with_one_lost_flow_each_are_lost_flows(void **state)
{
	assert_int_equal(probes_left_out(*state, 3, 1, 1), 0);
}

static void
a_flow_of_two_classes_is_one(void **state)
{
	assert_int_equal(probes_left_out(*state, 4, 1, 2), 0);
}

static void
one_or_two_rnics_at_a_time_are_dead_themselves(void **state)
{
	assert_int_equal(probes_left_out(*state, 2, 1, 1), 2 * 4);
}

static void
several_rnics_that_lose_all_flows_are_dead_themselves(void **state)
{
	assert_int_equal(probes_left_out(*state, 3, 2, 1), 3 * 2 * 4);
}

#define MS RM_NS_PER_MS
#define STEP 50 /* ms between two probes to one RNIC */

/* One probe; two flows with a path each are used in turn. */
static void
probe(struct world *w, uint32_t dst, int64_t sent_ns, bool lost)
{
	const uint32_t src = (uint32_t)(sent_ns / (STEP * MS) % 2);
	struct flow_count *flow =
	    flow_counts_get(&w->second.flows, src, WINDOW_REMOTE_BASE + dst, 50000, 0);

	flow->dst_tor = T2;
	flow->path = PATH_FIRST + src;
	flow->switches = w->one_switch ? 1 : UINT64_C(1) << src;
	flow->sent++;
	w->path_end = PATH_FIRST + 2;
	if (lost) {
		flow->lost++;
		assert_int_equal(flow_second_lost(&w->second,
				     (size_t)(flow - w->second.flows.flows), sent_ns),
		    0);
		return;
	}
	flow->answered = sent_ns;
	flow->answered_slots |= UINT64_C(1) << flow_slot(sent_ns);
}

/* All probes of a second; those sent to dst from from_ms until to_ms are lost. */
static void
probe_second(struct world *w, uint32_t dst, int64_t second, int from_ms, int to_ms)
{
	for (int ms = 0; ms < 1000; ms += STEP)
		probe(w, dst, second * RM_NS_PER_S + ms * MS,
		    ms >= from_ms && ms < to_ms);
}

/* Returns the number of probes left out. */
static uint64_t
judge_second(struct world *w)
{
	const uint64_t before = path_ends_counts(w->ends)->remote_dead;

	assert_int_equal(path_ends_judge(w->ends, &w->second, w->path_end), 0);
	flow_second_clear(&w->second);
	return path_ends_counts(w->ends)->remote_dead - before;
}

static void
an_rnic_that_pauses_within_a_second_is_left_out(void **state)
{
	struct world *w = *state;

	probe_second(w, 0, 5, 200, 600);
	probe_second(w, 1, 5, 0, 0);
	assert_int_equal(judge_second(w), 1000 / STEP);
}

static void
losses_of_a_switch_within_a_second_are_not_left_out(void **state)
{
	struct world *w = *state;

	w->one_switch = true;
	probe_second(w, 0, 5, 200, 600);
	probe_second(w, 1, 5, 0, 0);
	assert_int_equal(judge_second(w), 0);
}

static void
an_rnic_with_answers_in_between_is_not_left_out(void **state)
{
	struct world *w = *state;

	for (int ms = 0; ms < 1000; ms += STEP)
		probe(w, 0, 5 * RM_NS_PER_S + ms * MS, ms / STEP % 4 == 0);
	probe_second(w, 1, 5, 0, 0);
	assert_int_equal(judge_second(w), 0);
}

static void
losses_of_all_rnics_of_a_tor_at_once_are_not_left_out(void **state)
{
	struct world *w = *state;

	probe_second(w, 0, 5, 200, 600);
	probe_second(w, 1, 5, 200, 600);
	assert_int_equal(judge_second(w), 0);
}

static void
an_rnic_dead_at_the_end_of_a_second_stays_dead_until_it_answers(void **state)
{
	struct world *w = *state;

	probe_second(w, 0, 5, 700, 1000);
	probe_second(w, 1, 5, 0, 0);
	assert_int_equal(judge_second(w), 1000 / STEP);
	probe_second(w, 0, 6, 0, STEP);
	probe_second(w, 1, 6, 0, 0);
	assert_int_equal(judge_second(w), 1000 / STEP);
	probe_second(w, 0, 7, 0, STEP); /* a single loss is not enough evidence */
	probe_second(w, 1, 7, 0, 0);
	assert_int_equal(judge_second(w), 0);
}

static void
renumbered_rnics_have_no_past(void **state)
{
	struct world *w = *state;

	probe_second(w, 0, 5, 700, 1000);
	probe_second(w, 1, 5, 0, 0);
	assert_int_equal(judge_second(w), 1000 / STEP);
	path_ends_forget(w->ends);
	probe_second(w, 0, 6, 0, STEP);
	probe_second(w, 1, 6, 0, 0);
	assert_int_equal(judge_second(w), 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(several_rnics_with_one_lost_flow_each_are_lost_flows),
		TEST(a_flow_of_two_classes_is_one),
		TEST(one_or_two_rnics_at_a_time_are_dead_themselves),
		TEST(several_rnics_that_lose_all_flows_are_dead_themselves),
		TEST(an_rnic_that_pauses_within_a_second_is_left_out),
		TEST(losses_of_a_switch_within_a_second_are_not_left_out),
		TEST(an_rnic_with_answers_in_between_is_not_left_out),
		TEST(losses_of_all_rnics_of_a_tor_at_once_are_not_left_out),
		TEST(an_rnic_dead_at_the_end_of_a_second_stays_dead_until_it_answers),
		TEST(renumbered_rnics_have_no_past),
	};

	return cmocka_run_group_tests_name("path_ends", tests, NULL, NULL);
}
