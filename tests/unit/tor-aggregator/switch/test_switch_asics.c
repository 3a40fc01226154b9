/* The readings of a switch with several ASICs. */
#include "tor-aggregator/switch/switch_asics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/switch/switch_table.h"

#define ASICS 2
#define S RM_NS_PER_S

struct world {
	struct switch_asic asics[ASICS];
	struct switch_counts counts;
	struct switch_list *merged;
	struct switch_times times;
};

static const struct counter_state *
state_of(const struct switch_list *list, const char *port, const char *value)
{
	const struct counter_state *state;
	size_t at;

	if (list == NULL || switch_list_find_port(list, port, &at) < 0)
		return NULL;
	state = switch_list_get(list, at)->states;
	for (const struct switch_row *row = switch_rows; row->name != NULL; row++) {
		if (row->part != SWITCH_PORT)
			continue;
		if (strcmp(row->name, value) == 0)
			return state;
		state += switch_row_values(row);
	}
	fail_msg("a port has no %s", value);
	return NULL;
}

static void
take(struct switch_list *list, const char *port, const char *name, uint64_t value)
{
	const struct counter_sample sample = { .there = true, .value = value };
	struct counter_state *state =
	    (struct counter_state *)state_of(list, port, name);

	counter_take(state, &sample, strcmp(name, "oper_up") == 0 ? 0 : 64, true);
}

/* The list of a reading of an ASIC with one port. */
static struct switch_list *
list_with(const struct switch_asic *asic, const char *port, uint64_t bytes)
{
	struct switch_object object = { .part = SWITCH_PORT, .id = "oid:1" };
	struct switch_list *list = switch_list_new();
	uint64_t forgotten = 0;

	assert_non_null(list);
	snprintf(object.port, sizeof(object.port), "%s", port);
	assert_int_equal(switch_list_add(list, &object), 0);
	assert_int_equal(switch_list_close(list, asic->list, &forgotten), 0);
	take(list, port, "rx_bytes", bytes);
	take(list, port, "oper_up", 1);
	return list;
}

/* Returns true if there is a new list. */
static bool
merge(struct world *w)
{
	struct switch_list *list = NULL;
	const int r = switch_asics_merge(w->asics, ASICS, &w->counts, &list, &w->times);

	assert_true(r >= 0);
	if (r == 0)
		return false;
	switch_list_free(w->merged);
	w->merged = list;
	return true;
}

/* The ASIC's reading from at_s on, for a second, is complete. */
static bool
succeed_with(
    struct world *w, size_t asic, const char *port, int64_t at_s, uint64_t bytes)
{
	struct switch_asic *one = &w->asics[asic];
	const struct switch_times times = { .at.ns = at_s * S,
		.ended.ns = (at_s + 1) * S,
		.took_ns = S,
		.interval_ns = one->list == NULL ? 0 : at_s * S - one->times.at.ns };

	switch_asic_succeed(one, list_with(one, port, bytes), &times);
	return merge(w);
}

static bool
succeed(struct world *w, size_t asic, int64_t at_s, uint64_t bytes)
{
	return succeed_with(
	    w, asic, asic == 0 ? "Ethernet0" : "Ethernet4", at_s, bytes);
}

static bool
fails(struct world *w, size_t asic)
{
	switch_asic_fail(&w->asics[asic]);
	return merge(w);
}

static const struct counter_state *
bytes_of(const struct world *w, const char *port)
{
	return state_of(w->merged, port, "rx_bytes");
}

static int
setup(void **state)
{
	static struct world w;

	w = (struct world){ 0 };
	*state = &w;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	for (size_t i = 0; i < ASICS; i++)
		switch_asic_clear(&w->asics[i]);
	switch_list_free(w->merged);
	return 0;
}

static void
the_list_changes_when_each_asic_was_read(void **state)
{
	struct world *w = *state;

	assert_false(succeed(w, 0, 10, 100));
	assert_true(succeed(w, 1, 11, 200));
	assert_int_equal(switch_list_count(w->merged), 2);
	assert_int_equal(w->times.interval_ns, 0);
	assert_false(succeed(w, 1, 21, 203));
	assert_true(succeed(w, 0, 22, 105));
	assert_int_equal(bytes_of(w, "Ethernet0")->delta, 5);
	assert_int_equal(bytes_of(w, "Ethernet4")->delta, 3);
	assert_int_equal(w->times.at.ns, 21 * S);
	assert_int_equal(w->times.ended.ns, 23 * S);
	/* the longest reading, not the time from the first to the last */
	assert_int_equal(w->times.took_ns, S);
	/* the longer one, so that no rate is overestimated */
	assert_int_equal(w->times.interval_ns, 12 * S);
}

/* An ASIC that hangs must not delay the others. */
static void
an_asic_that_failed_is_not_waited_for(void **state)
{
	struct world *w = *state;

	succeed(w, 0, 10, 100);
	succeed(w, 1, 10, 200);
	succeed(w, 0, 20, 101);
	assert_true(fails(w, 1));
	assert_int_equal(switch_list_count(w->merged), 1);
	assert_true(succeed(w, 0, 30, 102));
	assert_true(succeed(w, 0, 40, 103));
	assert_int_equal(bytes_of(w, "Ethernet0")->delta, 1);
	/* its first delta covers more than an interval */
	assert_false(succeed(w, 1, 42, 240));
	assert_true(succeed(w, 0, 50, 104));
	assert_true(bytes_of(w, "Ethernet4")->back);
	assert_false(bytes_of(w, "Ethernet0")->back);
	assert_int_equal(w->times.interval_ns, 10 * S);
}

/* Readings do not start at exact times, so an ASIC may end two of them before a slow
 * one ends one. */
static void
no_delta_is_lost_if_an_asic_ends_two_readings(void **state)
{
	struct world *w = *state;

	succeed(w, 0, 10, 100);
	succeed(w, 1, 10, 200);
	assert_false(succeed(w, 0, 20, 105));
	assert_false(succeed(w, 0, 28, 107));
	assert_true(succeed(w, 1, 29, 203));
	assert_int_equal(bytes_of(w, "Ethernet0")->delta, 7);
	assert_int_equal(bytes_of(w, "Ethernet0")->total, 107);
	assert_int_equal(bytes_of(w, "Ethernet4")->delta, 3);
	/* a gauge is no increase */
	assert_int_equal(state_of(w->merged, "Ethernet0", "oper_up")->total, 1);
	assert_int_equal(state_of(w->merged, "Ethernet0", "oper_up")->delta, 1);
	assert_int_equal(w->times.interval_ns, 19 * S);
	/* they are used once */
	assert_false(succeed(w, 0, 38, 108));
	assert_true(succeed(w, 1, 39, 204));
	assert_int_equal(bytes_of(w, "Ethernet0")->delta, 1);
	assert_int_equal(w->times.interval_ns, 10 * S);
}

static void
no_delta_is_lost_if_the_next_reading_fails(void **state)
{
	struct world *w = *state;

	succeed(w, 0, 10, 100);
	succeed(w, 1, 10, 200);
	assert_false(succeed(w, 0, 20, 105));
	assert_false(fails(w, 0));
	assert_true(succeed(w, 1, 29, 203));
	assert_int_equal(bytes_of(w, "Ethernet0")->delta, 5);
	assert_false(bytes_of(w, "Ethernet0")->back);
	assert_true(succeed(w, 1, 39, 204));
	assert_null(bytes_of(w, "Ethernet0"));
}

static void
no_delta_is_lost_if_a_reading_fails_between_two(void **state)
{
	struct world *w = *state;

	succeed(w, 0, 10, 100);
	succeed(w, 1, 10, 200);
	assert_false(succeed(w, 0, 20, 105));
	assert_false(fails(w, 0));
	assert_false(succeed(w, 0, 26, 150)); /* covers more than an interval */
	assert_false(succeed(w, 0, 36, 157));
	assert_true(succeed(w, 1, 37, 203));
	assert_int_equal(bytes_of(w, "Ethernet0")->delta, 5 + 7);
	assert_int_equal(bytes_of(w, "Ethernet0")->total, 157);
	assert_false(bytes_of(w, "Ethernet0")->back);
	assert_int_equal(w->times.interval_ns, 27 * S); /* of the other one */

	assert_false(succeed(w, 0, 46, 160));
	assert_false(fails(w, 0));
	assert_false(succeed(w, 0, 52, 190));
	assert_true(succeed(w, 1, 53, 204));
	assert_int_equal(bytes_of(w, "Ethernet0")->delta, 3);
	assert_false(bytes_of(w, "Ethernet0")->back);
	assert_int_equal(state_of(w->merged, "Ethernet0", "oper_up")->total, 1);
	/* they are used once */
	assert_false(succeed(w, 0, 62, 191));
	assert_true(succeed(w, 1, 63, 205));
	assert_int_equal(bytes_of(w, "Ethernet0")->delta, 1);
}

/* It would be a rate that is too low: one interval's increase in the time of two. */
static void
a_delta_of_only_one_of_two_readings_is_not_used(void **state)
{
	struct world *w = *state;

	succeed(w, 0, 10, 100);
	succeed(w, 1, 10, 200);
	assert_false(succeed(w, 0, 20, 5)); /* the switch has restarted */
	assert_false(succeed(w, 0, 28, 6));
	assert_true(succeed(w, 1, 29, 203));
	assert_true(bytes_of(w, "Ethernet0")->back);
	assert_int_equal(bytes_of(w, "Ethernet0")->total, 100 + 5 + 1);
	assert_false(bytes_of(w, "Ethernet4")->back);
	assert_false(succeed(w, 0, 38, 9));
	assert_true(succeed(w, 1, 39, 204));
	assert_false(bytes_of(w, "Ethernet0")->back);
	assert_int_equal(bytes_of(w, "Ethernet0")->delta, 3);
}

/* Only increases within one interval are added. */
static void
a_delta_over_several_intervals_is_not_added(void **state)
{
	struct world *w = *state;

	succeed(w, 0, 10, 100);
	succeed(w, 1, 10, 200);
	fails(w, 0);
	succeed(w, 1, 20, 201);
	assert_false(succeed(w, 0, 30, 150)); /* covers two intervals */
	assert_false(succeed(w, 0, 38, 152));
	assert_true(succeed(w, 1, 39, 203));
	assert_int_equal(bytes_of(w, "Ethernet0")->delta, 2);
	assert_false(bytes_of(w, "Ethernet0")->back);
	assert_false(succeed(w, 0, 48, 5)); /* the switch has restarted */
	assert_false(succeed(w, 0, 56, 6));
	assert_true(succeed(w, 1, 58, 204));
	assert_int_equal(bytes_of(w, "Ethernet0")->delta, 1);
}

/* The first ASIC has the port while it is not read for a short time: else the totals
 * of the port would jump to those of another one, and back. If it does not return, its
 * port must not hide the other one for ever. */
static void
a_port_of_a_dead_asic_is_that_of_the_next_one(void **state)
{
	struct world *w = *state;

	succeed(w, 0, 10, 100);
	succeed_with(w, 1, "Ethernet0", 10, 200);
	assert_int_equal(bytes_of(w, "Ethernet0")->total, 100);
	fails(w, 0);
	for (int i = 0; i < SWITCH_AWAY_READINGS; i++) {
		assert_true(succeed_with(w, 1, "Ethernet0", 20 + 10 * i, 201));
		assert_null(bytes_of(w, "Ethernet0"));
		fails(w, 0);
	}
	assert_true(succeed_with(w, 1, "Ethernet0", 1000, 202));
	assert_int_equal(bytes_of(w, "Ethernet0")->total, 202);
	assert_true(succeed_with(w, 1, "Ethernet0", 1010, 203));
	assert_int_equal(bytes_of(w, "Ethernet0")->delta, 1);
	/* the first one is back, with its totals */
	assert_false(succeed(w, 0, 1011, 150));
	assert_true(succeed_with(w, 1, "Ethernet0", 1020, 204));
	assert_int_equal(bytes_of(w, "Ethernet0")->total, 150);
	fails(w, 0);
	assert_true(succeed_with(w, 1, "Ethernet0", 1030, 205));
	assert_null(bytes_of(w, "Ethernet0"));
}

/* Old counters must not look as if they were read now. */
static void
nothing_is_shown_while_all_asics_fail(void **state)
{
	struct world *w = *state;

	assert_false(fails(w, 0));
	assert_true(fails(w, 1));
	assert_null(w->merged);
	assert_true(succeed(w, 0, 1, 100));
	assert_false(succeed(w, 1, 10, 200));
	assert_true(succeed(w, 0, 11, 101));
	assert_int_equal(switch_list_count(w->merged), 2);
	assert_false(fails(w, 0));
	assert_true(fails(w, 1));
	assert_null(w->merged);
	/* the age of the last values stays known */
	assert_int_equal(w->times.at.ns, 10 * S);
	assert_true(succeed(w, 1, 31, 204));
	assert_int_equal(switch_list_count(w->merged), 1);
	assert_int_equal(bytes_of(w, "Ethernet4")->total, 204);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_list_changes_when_each_asic_was_read),
		TEST(an_asic_that_failed_is_not_waited_for),
		TEST(no_delta_is_lost_if_an_asic_ends_two_readings),
		TEST(no_delta_is_lost_if_the_next_reading_fails),
		TEST(no_delta_is_lost_if_a_reading_fails_between_two),
		TEST(a_delta_of_only_one_of_two_readings_is_not_used),
		TEST(a_delta_over_several_intervals_is_not_added),
		TEST(a_port_of_a_dead_asic_is_that_of_the_next_one),
		TEST(nothing_is_shown_while_all_asics_fail),
	};

	return cmocka_run_group_tests_name("switch_asics", tests, NULL, NULL);
}
