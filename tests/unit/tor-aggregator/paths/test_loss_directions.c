#include "tor-aggregator/paths/loss_directions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tor-aggregator/paths/flow_counts.h"
#include "tor-aggregator/window/window.h"

struct world {
	struct loss_directions *directions;
	struct flow_second second;
	int64_t now;
	uint32_t received; /* so far, by the responder */
};

enum fate { ANSWERED, LOST_OUT, LOST_BACK };

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	flow_counts_init(&w->second.flows, 64);
	w->now = 1000;
	return loss_directions_new(16, &w->directions);
}

static int
teardown(void **state)
{
	struct world *w = *state;

	loss_directions_free(w->directions);
	flow_second_release(&w->second);
	free(w);
	return 0;
}

static struct flow_count *
flow(struct world *w, uint16_t src_port)
{
	return flow_counts_get(
	    &w->second.flows, 3, WINDOW_REMOTE_BASE + 5, src_port, 26);
}

static void
probe(struct world *w, uint16_t src_port, enum fate fate)
{
	struct flow_count *f = flow(w, src_port);

	w->now += 10;
	f->sent++;
	w->received += fate != LOST_OUT;
	if (fate == ANSWERED) {
		f->answered = w->now;
		f->counted = true;
		f->responder_count = w->received;
		flow_count_received(f, w->received);
		return;
	}
	f->lost++;
	flow_second_lost(&w->second, (size_t)(f - w->second.flows.flows), w->now);
}

static enum loss_direction
fold(struct world *w, uint16_t src_port)
{
	enum loss_direction direction;

	loss_directions_fold(w->directions, &w->second);
	direction = flow(w, src_port)->direction;
	flow_second_clear(&w->second);
	return direction;
}

static void
begin(struct world *w)
{
	probe(w, 1, ANSWERED);
	assert_int_equal(fold(w, 1), LOST_UNKNOWN);
}

static void
probes_that_never_arrived_were_lost_forward(void **state)
{
	struct world *w = *state;

	begin(w);
	probe(w, 1, LOST_OUT);
	probe(w, 1, LOST_OUT);
	probe(w, 2, ANSWERED);
	assert_int_equal(fold(w, 1), LOST_FORWARD);
}

static void
probes_that_arrived_were_lost_on_the_return_path(void **state)
{
	struct world *w = *state;

	begin(w);
	probe(w, 1, LOST_BACK);
	probe(w, 2, ANSWERED);
	probe(w, 1, LOST_BACK);
	assert_int_equal(fold(w, 1), LOST_REVERSE);
}

static void
mixed_losses_have_no_known_direction(void **state)
{
	struct world *w = *state;

	begin(w);
	probe(w, 1, LOST_BACK);
	probe(w, 1, LOST_OUT);
	probe(w, 2, ANSWERED);
	assert_int_equal(fold(w, 1), LOST_UNKNOWN);
}

/* Another flow of the same two RNICs takes another path. */
static void
a_flow_that_lost_after_the_newest_answer_alone_has_no_known_direction(void **state)
{
	struct world *w = *state;

	begin(w);
	probe(w, 1, LOST_OUT);
	probe(w, 2, ANSWERED);
	probe(w, 3, LOST_BACK);
	probe(w, 1, LOST_OUT);
	loss_directions_fold(w->directions, &w->second);
	assert_int_equal(flow(w, 1)->direction, LOST_FORWARD);
	assert_int_equal(flow(w, 3)->direction, LOST_UNKNOWN);
}

/* A later probe over a faster path may be answered before an earlier one over a slow
 * path. */
static void
probes_in_flight_are_not_taken_for_lost_ones(void **state)
{
	struct world *w = *state;

	begin(w);
	flow(w, 1)->slow++;
	w->received--; /* it arrives only after the next reply */
	probe(w, 1, ANSWERED);
	probe(w, 2, LOST_BACK);
	probe(w, 1, ANSWERED);
	w->received++;
	assert_int_equal(fold(w, 2), LOST_UNKNOWN);
	probe(w, 2, LOST_BACK);
	probe(w, 1, ANSWERED);
	assert_int_equal(fold(w, 2), LOST_UNKNOWN);
	probe(w, 2, LOST_BACK);
	probe(w, 1, ANSWERED);
	assert_int_equal(fold(w, 2), LOST_REVERSE);
}

static void
a_second_without_answers_is_decided_by_the_next_answer(void **state)
{
	struct world *w = *state;

	begin(w);
	probe(w, 1, LOST_OUT);
	probe(w, 1, LOST_OUT);
	assert_int_equal(fold(w, 1), LOST_UNKNOWN);
	probe(w, 1, LOST_OUT);
	probe(w, 1, ANSWERED);
	assert_int_equal(fold(w, 1), LOST_FORWARD);
	probe(w, 1, LOST_BACK);
	probe(w, 1, ANSWERED);
	assert_int_equal(fold(w, 1), LOST_REVERSE);
}

static void
the_first_answer_only_sets_the_base(void **state)
{
	struct world *w = *state;

	w->received = 1000;
	probe(w, 1, LOST_OUT);
	probe(w, 1, ANSWERED);
	assert_int_equal(fold(w, 1), LOST_UNKNOWN);
}

static void
a_restarted_responder_gives_no_direction_at_first(void **state)
{
	struct world *w = *state;

	begin(w);
	w->received = UINT32_MAX - 10;
	probe(w, 1, LOST_OUT);
	probe(w, 1, ANSWERED);
	assert_int_equal(fold(w, 1), LOST_UNKNOWN);
	w->received = 0;
	probe(w, 1, LOST_OUT);
	probe(w, 1, ANSWERED);
	assert_int_equal(fold(w, 1), LOST_UNKNOWN);
	probe(w, 1, LOST_OUT);
	probe(w, 1, ANSWERED);
	assert_int_equal(fold(w, 1), LOST_FORWARD);
}

/* They may have arrived, but do not count as sent. */
static void
other_outcomes_make_the_direction_unknown(void **state)
{
	struct world *w = *state;

	begin(w);
	probe(w, 1, LOST_OUT);
	flow(w, 1)->others++;
	w->received++;
	probe(w, 1, ANSWERED);
	assert_int_equal(fold(w, 1), LOST_UNKNOWN);
	probe(w, 1, LOST_BACK);
	probe(w, 1, ANSWERED);
	assert_int_equal(fold(w, 1), LOST_REVERSE);
}

/* A probe of the second before was reported in a batch that came late, so it seems to
 * be sent in this second: the responder counted it before the answer in `base`. */
static void
answers_that_come_late_leave_the_direction_unknown(void **state)
{
	struct world *w = *state;

	begin(w);
	probe(w, 1, ANSWERED);
	probe(w, 1, ANSWERED);
	w->second.flows.flows[0].sent--;
	w->second.flows.flows[0].least_count = w->received;
	assert_int_equal(fold(w, 1), LOST_UNKNOWN);
	probe(w, 1, LOST_BACK);
	probe(w, 1, ANSWERED);
	flow(w, 1)->sent++;
	flow_count_received(flow(w, 1), w->received - 2);
	assert_int_equal(fold(w, 1), LOST_UNKNOWN);
	/* the next second is in order again */
	probe(w, 1, LOST_BACK);
	probe(w, 1, ANSWERED);
	assert_int_equal(fold(w, 1), LOST_REVERSE);
}

/* A probe of the next second seems to be sent in this one. */
static void
answers_that_seem_early_leave_the_direction_unknown(void **state)
{
	struct world *w = *state;

	begin(w);
	probe(w, 1, LOST_BACK);
	probe(w, 1, ANSWERED);
	flow_count_received(flow(w, 1), w->received + 2);
	assert_int_equal(fold(w, 1), LOST_UNKNOWN);
}

static void
too_many_pairs_are_unknown(void **state)
{
	struct world *w = *state;

	for (int second = 0; second < 2; second++) {
		for (uint32_t i = 0; i < 40; i++) {
			struct flow_count *f = flow_counts_get(
			    &w->second.flows, i, WINDOW_REMOTE_BASE, 1, 0);

			f->sent = 2;
			f->lost = 1;
			f->answered = 10 + second;
			f->counted = true;
			f->responder_count = (uint32_t)(10 + second);
			flow_count_received(f, f->responder_count);
			flow_second_lost(&w->second, i, 5 + second);
		}
		loss_directions_fold(w->directions, &w->second);
		if (second == 0)
			flow_second_clear(&w->second);
	}
	assert_int_equal(w->second.flows.flows[0].direction, LOST_FORWARD);
	assert_int_equal(w->second.flows.flows[39].direction, LOST_UNKNOWN);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(probes_that_never_arrived_were_lost_forward),
		TEST(probes_that_arrived_were_lost_on_the_return_path),
		TEST(answers_that_come_late_leave_the_direction_unknown),
		TEST(answers_that_seem_early_leave_the_direction_unknown),
		TEST(mixed_losses_have_no_known_direction),
		TEST(
		    a_flow_that_lost_after_the_newest_answer_alone_has_no_known_direction),
		TEST(probes_in_flight_are_not_taken_for_lost_ones),
		TEST(a_second_without_answers_is_decided_by_the_next_answer),
		TEST(the_first_answer_only_sets_the_base),
		TEST(a_restarted_responder_gives_no_direction_at_first),
		TEST(other_outcomes_make_the_direction_unknown),
		TEST(too_many_pairs_are_unknown),
	};

	return cmocka_run_group_tests_name("loss_directions", tests, NULL, NULL);
}
