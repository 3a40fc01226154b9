/* How many packets of traces one switch gets. */
#include "host-agent/trace/switch_rates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/trace/trace_path.h"

#define S RM_NS_PER_S
#define STEP_NS (20 * RM_NS_PER_MS)
#define HOSTS 50

/* A path over a ToR, this spine and another ToR. */
static struct trace_hops
over(uint8_t spine)
{
	return (struct trace_hops){ .at = { { 1 }, { 2, spine }, { 3 } }, .count = 3 };
}

/* Tries to trace the path every 20 ms. Returns the number of traces. */
static unsigned
trace(struct switch_rates *rates, uint8_t spine, uint32_t answered, rm_mono_t *now,
    int64_t ns)
{
	const struct trace_hops path = over(spine);
	const int64_t end = now->ns + ns;
	unsigned count = 0;

	for (; now->ns < end; now->ns += STEP_NS) {
		int64_t wait_ns;

		if (!switch_rates_take(rates, &path, *now, &wait_ns)) {
			assert_true(wait_ns > 0);
			continue;
		}
		assert_int_equal(wait_ns, 0);
		switch_rates_note(rates, &path, answered, *now);
		count++;
	}
	return count;
}

static void
a_switch_that_is_silent_beside_others_gets_fewer_packets(void **state)
{
	struct switch_rates *rates = switch_rates_new();
	rm_mono_t now = { 1000 * S };

	(void)state;
	assert_non_null(rates);
	assert_int_equal(trace(rates, 1, 7, &now, S), 50);
	trace(rates, 1, 5, &now, 60 * S);
	assert_in_range(trace(rates, 1, 5, &now, 60 * S), 25, 40);
	switch_rates_free(rates);
}

static void
each_answer_raises_the_rate_again(void **state)
{
	struct switch_rates *rates = switch_rates_new();
	rm_mono_t now = { 1000 * S };

	(void)state;
	assert_non_null(rates);
	trace(rates, 1, 5, &now, 120 * S);
	trace(rates, 1, 7, &now, 30 * S);
	assert_int_equal(trace(rates, 1, 7, &now, S), 50);
	switch_rates_free(rates);
}

static void
a_dead_path_lowers_no_rate(void **state)
{
	struct switch_rates *rates = switch_rates_new();
	rm_mono_t now = { 1000 * S };

	(void)state;
	assert_non_null(rates);
	trace(rates, 1, 1, &now, 10 * S); /* the spine is dead */
	trace(rates, 1, 0, &now, 10 * S); /* nobody answers */
	assert_int_equal(trace(rates, 1, 7, &now, S), 50);
	switch_rates_free(rates);
}

static void
single_misses_lower_no_rate(void **state)
{
	struct switch_rates *rates = switch_rates_new();
	rm_mono_t now = { 1000 * S };

	(void)state;
	assert_non_null(rates);
	for (int i = 0; i < 300; i++)
		trace(rates, 1, i % 3 == 0 ? 7 : 5, &now, STEP_NS);
	assert_int_equal(trace(rates, 1, 7, &now, S), 50);
	switch_rates_free(rates);
}

static void
other_switches_keep_their_rate(void **state)
{
	struct switch_rates *rates = switch_rates_new();
	rm_mono_t now = { 1000 * S };

	(void)state;
	assert_non_null(rates);
	trace(rates, 1, 5, &now, 120 * S);
	assert_int_equal(trace(rates, 2, 7, &now, S), 50);
	switch_rates_free(rates);
}

/* Fifty hosts would send 2,500 packets per second to a spine that answers 100. */
static void
many_hosts_together_send_little_more_than_a_switch_answers(void **state)
{
	struct switch_rates *rates[HOSTS];
	const struct trace_hops path = over(1);
	rm_mono_t now = { 1000 * S };
	unsigned sent = 0, answers = 0;
	double room = 0;

	(void)state;
	for (int i = 0; i < HOSTS; i++) {
		rates[i] = switch_rates_new();
		assert_non_null(rates[i]);
	}
	for (int step = 0; step < 60 * 50; step++, now.ns += STEP_NS) {
		room = room + 2 < 10 ? room + 2 : 10;
		for (int i = 0; i < HOSTS; i++) {
			const int host = (i + 17 * step) % HOSTS;
			int64_t wait_ns;
			bool answered;

			if (!switch_rates_take(rates[host], &path, now, &wait_ns))
				continue;
			answered = room >= 1;
			room -= answered;
			switch_rates_note(rates[host], &path, answered ? 7 : 5, now);
			sent += step >= 30 * 50;
			answers += step >= 30 * 50 && answered;
		}
	}
	assert_in_range(answers, 30 * 60, 30 * 105);
	assert_in_range(sent, answers, 30 * 500);
	for (int i = 0; i < HOSTS; i++)
		switch_rates_free(rates[i]);
}

static void
the_number_of_switches_is_limited(void **state)
{
	struct switch_rates *rates = switch_rates_new();
	struct trace_hops path = over(0);
	rm_mono_t now = { 1000 * S };
	int64_t wait_ns;

	(void)state;
	assert_non_null(rates);
	for (unsigned i = 0; i < 2 * SWITCH_RATES_MAX; i++) {
		path.at[0][2] = path.at[1][2] = path.at[2][2] = (uint8_t)(i >> 8);
		path.at[0][3] = path.at[1][3] = path.at[2][3] = (uint8_t)i;
		assert_true(switch_rates_take(rates, &path, now, &wait_ns));
	}
	/* The last ones are not limited. */
	for (int i = 0; i < 100; i++)
		assert_true(switch_rates_take(rates, &path, now, &wait_ns));
	/* Old ones make room. */
	now.ns += 3600 * S;
	for (int i = 0; i < 10; i++)
		assert_true(switch_rates_take(rates, &path, now, &wait_ns));
	assert_false(switch_rates_take(rates, &path, now, &wait_ns));
	switch_rates_free(rates);
}

static void
the_first_switch_may_stay_in_use_while_idle_ones_make_room(void **state)
{
	struct switch_rates *rates = switch_rates_new();
	const struct trace_hops first = { .at = { { 1 } }, .count = 1 };
	struct trace_hops path = { .at = { { 2 } }, .count = 1 };
	rm_mono_t now = { 1000 * S };
	int64_t wait_ns;

	(void)state;
	assert_non_null(rates);
	assert_true(switch_rates_take(rates, &first, now, &wait_ns));
	for (unsigned i = 1; i < SWITCH_RATES_MAX; i++) {
		path.at[0][2] = (uint8_t)(i >> 8);
		path.at[0][3] = (uint8_t)i;
		assert_true(switch_rates_take(rates, &path, now, &wait_ns));
	}
	now.ns += 3600 * S;
	assert_true(switch_rates_take(rates, &first, now, &wait_ns));
	path.at[0][0] = 3; /* a new switch */
	for (int i = 0; i < 10; i++)
		assert_true(switch_rates_take(rates, &path, now, &wait_ns));
	assert_false(switch_rates_take(rates, &path, now, &wait_ns));
	switch_rates_free(rates);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_switch_that_is_silent_beside_others_gets_fewer_packets),
		cmocka_unit_test(each_answer_raises_the_rate_again),
		cmocka_unit_test(a_dead_path_lowers_no_rate),
		cmocka_unit_test(single_misses_lower_no_rate),
		cmocka_unit_test(other_switches_keep_their_rate),
		cmocka_unit_test(
		    many_hosts_together_send_little_more_than_a_switch_answers),
		cmocka_unit_test(the_number_of_switches_is_limited),
		cmocka_unit_test(
		    the_first_switch_may_stay_in_use_while_idle_ones_make_room),
	};

	return cmocka_run_group_tests_name("switch_rates", tests, NULL, NULL);
}
