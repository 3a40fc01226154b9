#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tor-aggregator/report_check/report_check.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

/* Hosts with an RNIC each, that send each other ten probes in each window. */
#define HOSTS 5
#define PROBES 10
#define SETTLED_WINDOWS 20
#define SUBJECT 0

struct table {
	struct rack_member members[HOSTS];
	struct rack_host hosts[HOSTS];
	struct rack rack;
	struct window_pair pairs[HOSTS * HOSTS];
	struct window_closed closed;
	struct report_check *check;
	bool named;
	bool counted; /* the others count what the subject sends them */
};

static int
setup(void **state)
{
	static struct table table;
	static const char *const names[] = { "h0", "h1", "h2", "h3", "h4" };

	table = (struct table){ .rack = { .tor = "tor1",
				    .members = table.members,
				    .member_count = HOSTS,
				    .hosts = table.hosts,
				    .host_count = HOSTS } };
	for (size_t i = 0; i < HOSTS; i++) {
		table.members[i] = (struct rack_member){ { 0x020000000000 + i, 0 },
			names[i], "r0", i };
		table.hosts[i] = (struct rack_host){ names[i], HOST_OK };
	}
	*state = &table;
	return report_check_new(&table.check) < 0 ||
	       report_check_forget(table.check, &table.rack) < 0;
}

static int
teardown(void **state)
{
	struct table *table = *state;

	report_check_free(table->check);
	return 0;
}

/* Windows in which the subject is in such a state, says that all is well if it says
 * anything, and is reached by the others or not. */
static void
pass(struct table *table, unsigned windows, enum host_state state, bool active,
    bool reached)
{
	table->hosts[SUBJECT].state = state;
	table->closed.pairs = table->pairs;
	table->closed.pair_count = 0;
	for (uint32_t src = 0; src < HOSTS; src++)
		for (uint32_t dst = 0; dst < HOSTS; dst++) {
			struct window_pair *pair =
			    &table->pairs[table->closed.pair_count];
			const bool ok = dst != SUBJECT || reached;

			if (src == dst || (src == SUBJECT && !active))
				continue;
			*pair = (struct window_pair){ .src = src, .dst = dst };
			pair->outcomes[ok ? WIRE_OK : WIRE_NO_REPLY] = PROBES;
			pair->counted = table->counted;
			pair->arrived = dst == SUBJECT && !ok ? 0 : PROBES;
			table->closed.pair_count++;
		}
	while (windows-- > 0) {
		assert_int_equal(report_check_receive(table->check, &table->rack,
				     &table->closed, (rm_wall_t){ 1 }),
		    0);
		table->named =
		    table->named || report_check_is_contradicted(table->check, SUBJECT);
	}
}

static void
who_reports_it_is_answered_and_answers_nobody_is_contradicted(void **state)
{
	struct table *table = *state;

	pass(table, SETTLED_WINDOWS, HOST_OK, true, true);
	assert_false(table->named);
	pass(table, 2 * SETTLED_WINDOWS, HOST_OK, true, false);
	assert_true(table->named);
}

static void
who_takes_no_probe_and_is_counted_by_others_is_not_contradicted(void **state)
{
	struct table *table = *state;

	table->counted = true;
	pass(table, SETTLED_WINDOWS, HOST_OK, true, true);
	pass(table, 2 * SETTLED_WINDOWS, HOST_OK, true, false);
	assert_false(table->named);
}

/* What others lost while it was away is still in their windows when it is back. */
static void
who_was_away_has_not_reported_what_was_not_so(void **state)
{
	struct table *table = *state;

	for (unsigned away = 1; away < 2 * SETTLED_WINDOWS; away++) {
		pass(table, SETTLED_WINDOWS, HOST_OK, true, true);
		pass(table, 2, HOST_OK, false, false);
		pass(table, away, HOST_UNREACHABLE, false, false);
		pass(table, away % 5, HOST_STALLED, true, false);
		pass(table, 10, HOST_OK, true, false);
		pass(table, SETTLED_WINDOWS, HOST_OK, true, true);
		assert_false(table->named);
	}
}

static void
who_confesses_stalls_is_contradicted_all_the_same(void **state)
{
	struct table *table = *state;

	for (int i = 0; i < 20; i++) {
		pass(table, 12, HOST_OK, true, false);
		pass(table, 6, HOST_STALLED, true, false);
		assert_true(report_check_is_contradicted(table->check, SUBJECT));
	}
}

static void
who_is_contradicted_stays_so_while_it_is_away(void **state)
{
	struct table *table = *state;

	pass(table, 3 * SETTLED_WINDOWS, HOST_OK, true, false);
	for (int i = 0; i < 3; i++) {
		pass(table, SETTLED_WINDOWS, HOST_RESTARTING, true, false);
		assert_true(report_check_is_contradicted(table->check, SUBJECT));
		pass(table, SETTLED_WINDOWS, HOST_OK, true, false);
		assert_true(report_check_is_contradicted(table->check, SUBJECT));
	}
	pass(table, 3 * SETTLED_WINDOWS, HOST_OK, true, true);
	assert_false(report_check_is_contradicted(table->check, SUBJECT));
}

static void
who_was_away_once_is_contradicted_again_later(void **state)
{
	struct table *table = *state;

	pass(table, SETTLED_WINDOWS, HOST_UNREACHABLE, false, false);
	pass(table, SETTLED_WINDOWS, HOST_OK, true, true);
	assert_false(table->named);
	pass(table, 2 * SETTLED_WINDOWS, HOST_OK, true, false);
	assert_true(table->named);
}

#define WORDS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		WORDS_TEST(
		    who_reports_it_is_answered_and_answers_nobody_is_contradicted),
		WORDS_TEST(
		    who_takes_no_probe_and_is_counted_by_others_is_not_contradicted),
		WORDS_TEST(who_was_away_has_not_reported_what_was_not_so),
		WORDS_TEST(who_was_away_once_is_contradicted_again_later),
		WORDS_TEST(who_confesses_stalls_is_contradicted_all_the_same),
		WORDS_TEST(who_is_contradicted_stays_so_while_it_is_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
