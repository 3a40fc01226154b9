#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tor-aggregator/report_check/report_check.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

/* Hosts with one RNIC each, which send ten probes to each other in each window. */
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
	bool counted; /* the others report receive counts for the subject */
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

/* Windows in which the subject has this state and, if active, reports no loss; the
 * others reach it or not. */
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
a_dead_host_that_reports_answers_is_contradicted(void **state)
{
	struct table *table = *state;

	pass(table, SETTLED_WINDOWS, HOST_OK, true, true);
	assert_false(table->named);
	pass(table, 2 * SETTLED_WINDOWS, HOST_OK, true, false);
	assert_true(table->named);
}

static void
a_host_that_refuses_probes_is_not_contradicted(void **state)
{
	struct table *table = *state;

	table->counted = true;
	pass(table, SETTLED_WINDOWS, HOST_OK, true, true);
	pass(table, 2 * SETTLED_WINDOWS, HOST_OK, true, false);
	assert_false(table->named);
}

/* Losses that others saw during its absence are still in their windows when it returns.
 */
static void
a_host_that_was_away_is_not_contradicted(void **state)
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
a_host_that_reports_stalls_can_be_contradicted(void **state)
{
	struct table *table = *state;

	for (int i = 0; i < 20; i++) {
		pass(table, 12, HOST_OK, true, false);
		pass(table, 6, HOST_STALLED, true, false);
		assert_true(report_check_is_contradicted(table->check, SUBJECT));
	}
}

static void
a_contradicted_host_stays_so_while_it_is_away(void **state)
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
a_host_that_was_away_can_be_contradicted_later(void **state)
{
	struct table *table = *state;

	pass(table, SETTLED_WINDOWS, HOST_UNREACHABLE, false, false);
	pass(table, SETTLED_WINDOWS, HOST_OK, true, true);
	assert_false(table->named);
	pass(table, 2 * SETTLED_WINDOWS, HOST_OK, true, false);
	assert_true(table->named);
}

#define REPORTS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		REPORTS_TEST(a_dead_host_that_reports_answers_is_contradicted),
		REPORTS_TEST(a_host_that_refuses_probes_is_not_contradicted),
		REPORTS_TEST(a_host_that_was_away_is_not_contradicted),
		REPORTS_TEST(a_host_that_was_away_can_be_contradicted_later),
		REPORTS_TEST(a_host_that_reports_stalls_can_be_contradicted),
		REPORTS_TEST(a_contradicted_host_stays_so_while_it_is_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
