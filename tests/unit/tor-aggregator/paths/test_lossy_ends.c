#include "tor-aggregator/paths/lossy_ends.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tor-aggregator/paths/flow_counts.h"
#include "tor-aggregator/window/window.h"

#define TORS 3 /* racks that member 0 probes, one RNIC in each */
#define SPINES 2
#define SENT 20 /* probes of each flow in a second */

struct world {
	struct lossy_ends *ends;
	struct flow_second second;
	bool stray; /* one more packet over spine 1 is lost */
};

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	flow_counts_init(&w->second.flows, 64);
	return lossy_ends_new(&w->ends);
}

static int
teardown(void **state)
{
	struct world *w = *state;

	flow_second_release(&w->second);
	lossy_ends_free(w->ends);
	free(w);
	return 0;
}

/* A second in which member 0, and no other, probes an RNIC of each rack over each
 * spine. lost[spine]: packets that each flow over it loses. Returns how many flows are
 * left out. */
static unsigned
judge_second(struct world *w, const uint32_t lost[SPINES])
{
	unsigned left_out = 0;

	flow_second_clear(&w->second);
	for (uint32_t tor = 0; tor < TORS; tor++)
		for (uint16_t spine = 0; spine < SPINES; spine++) {
			struct flow_count *flow = flow_counts_get(&w->second.flows, 0,
			    WINDOW_REMOTE_BASE + tor, 50000 + spine, 0);

			flow->dst_tor = (uint16_t)tor;
			flow->path = tor * SPINES + spine + 1;
			flow->switches = UINT64_C(1) << spine;
			flow->sent = SENT;
			flow->lost = lost[spine];
			if (w->stray && tor == 0 && spine == 1)
				flow->lost++;
			for (uint32_t i = 0; i < flow->lost; i++)
				assert_int_equal(flow_second_lost(&w->second,
						     w->second.flows.count - 1, 0),
				    0);
		}
	lossy_ends_judge(w->ends, &w->second);
	for (size_t i = 0; i < w->second.flows.count; i++)
		left_out += w->second.flows.flows[i].left_out;
	return left_out;
}

static void
a_single_member_that_loses_packets_over_both_spines_is_left_out(void **state)
{
	struct world *w = *state;
	unsigned left_out = 0;

	for (unsigned i = 0; i < 8; i++)
		left_out = judge_second(w, (uint32_t[]){ 2, 1 });
	assert_int_equal(left_out, TORS * SPINES);
}

/* The link to spine 0 loses packets on all paths over it; the member, which is the
 * only one that probes, would lose packets over spine 1, too. */
static void
losses_of_a_single_member_over_one_spine_alone_are_those_of_paths(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(judge_second(w, (uint32_t[]){ 2, 0 }), 0);
	assert_int_equal(lossy_ends_counts(w->ends)->own, 0);
	assert_int_equal(lossy_ends_counts(w->ends)->remote, 0);
}

static void
old_losses_over_the_other_spine_do_not_count(void **state)
{
	struct world *w = *state;

	judge_second(w, (uint32_t[]){ 2, 1 });
	for (unsigned i = 0; i < 60; i++)
		judge_second(w, (uint32_t[]){ 0, 0 });
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(judge_second(w, (uint32_t[]){ 2, 0 }), 0);
}

/* Noise takes a packet over the other spine now and then. */
static void
a_stray_loss_over_the_other_spine_does_not_decide(void **state)
{
	struct world *w = *state;
	unsigned left_out = 0;

	for (unsigned i = 0; i < 8; i++)
		judge_second(w, (uint32_t[]){ 2, 0 });
	for (unsigned i = 0; i < 600; i++) {
		w->stray = i % 5 == 0;
		left_out += judge_second(w, (uint32_t[]){ 2, 0 });
	}
	assert_int_equal(left_out, 0);
}

/* A link to spine 0 loses packets in both directions, and half of the replies to probes
 * over spine 1 cross it, too. */
static void
a_third_of_the_losses_over_the_other_spine_may_be_replies(void **state)
{
	struct world *w = *state;
	unsigned left_out = 0;

	for (unsigned i = 0; i < 8; i++)
		judge_second(w, (uint32_t[]){ 6, 2 });
	for (unsigned i = 0; i < 60; i++)
		left_out += judge_second(w, (uint32_t[]){ 6, 2 });
	assert_int_equal(left_out, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_single_member_that_loses_packets_over_both_spines_is_left_out),
		TEST(losses_of_a_single_member_over_one_spine_alone_are_those_of_paths),
		TEST(a_stray_loss_over_the_other_spine_does_not_decide),
		TEST(a_third_of_the_losses_over_the_other_spine_may_be_replies),
		TEST(old_losses_over_the_other_spine_do_not_count),
	};

	return cmocka_run_group_tests_name("lossy_ends", tests, NULL, NULL);
}
