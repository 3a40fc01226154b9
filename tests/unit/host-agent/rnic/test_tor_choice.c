#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "host-agent/rnic/tor_choice.h"

static struct tor_choice choice;

static int
setup(void **state)
{
	choice = (struct tor_choice){ 0 };
	return 0;
}

static bool
report(enum tor_source source, const char *tor, int64_t at_s)
{
	struct tor_set set = { 0 };

	if (tor != NULL)
		tor_set_add(&set, tor);
	return tor_choice_report(
	    &choice, source, &set, (rm_mono_t){ (1000 + at_s) * RM_NS_PER_S });
}

static void
chosen(const char *text, enum tor_source source)
{
	char out[TOR_SET_TEXT];

	assert_string_equal(tor_set_text(&choice.chosen, out), text);
	if (choice.chosen.count > 0)
		assert_int_equal(choice.source, source);
}

static void
the_first_answer_counts_at_once(void **state)
{
	assert_false(report(TOR_LLDP, NULL, 0));
	chosen("none", 0);
	assert_true(report(TOR_LLDP, "tor-1", 1));
	chosen("tor-1", TOR_LLDP);
	assert_false(report(TOR_LLDP, "tor-1", 2));
}

static void
config_counts_more_than_lldp_and_that_more_than_the_controller(void **state)
{
	assert_true(report(TOR_CONFIG, "tor-1", 0));
	assert_false(report(TOR_LLDP, "tor-2", 0));
	assert_true(tor_choice_mismatch(&choice));
	for (int i = 0; i < 1000; i++)
		assert_false(report(TOR_LLDP, "tor-2", i));
	chosen("tor-1", TOR_CONFIG);
	assert_false(report(TOR_LLDP, "tor-1", 1000));
	assert_false(tor_choice_mismatch(&choice));

	choice = (struct tor_choice){ 0 };
	assert_true(report(TOR_CONTROLLER, "tor-3", 0));
	chosen("tor-3", TOR_CONTROLLER);
	assert_false(report(TOR_LLDP, "tor-2", 1));
	assert_true(report(TOR_LLDP, "tor-2", 61));
	chosen("tor-2", TOR_LLDP);
	assert_false(report(TOR_CONTROLLER, "tor-3", 200));
	assert_false(report(TOR_LLDP, NULL, 201));
	assert_false(report(TOR_CONTROLLER, "tor-3", 300));
	chosen("tor-2", TOR_LLDP);
}

static void
a_flapping_neighbor_moves_no_rnic(void **state)
{
	assert_true(report(TOR_LLDP, "tor-1", 0));
	for (int i = 1; i < 1000; i++)
		assert_false(report(TOR_LLDP, i % 50 == 0 ? "tor-1" : "tor-2", i));
	chosen("tor-1", TOR_LLDP);
	for (int i = 0; i < 200; i++)
		assert_false(
		    report(TOR_LLDP, i % 20 < 10 ? "tor-2" : "tor-3", 1000 + i));
	for (int i = 0; i < 200; i++)
		assert_false(report(TOR_LLDP, i % 2 ? "tor-2" : NULL, 2000 + i));
	chosen("tor-1", TOR_LLDP);
}

static void
a_recabled_rnic_moves_after_a_minute(void **state)
{
	assert_true(report(TOR_LLDP, "tor-1", 0));
	for (int i = 0; i < 60; i++)
		assert_false(report(TOR_LLDP, "tor-2", 10 + i));
	assert_true(report(TOR_LLDP, "tor-2", 70));
	chosen("tor-2", TOR_LLDP);
}

static void
both_tors_of_a_bond_are_one_answer_in_any_order(void **state)
{
	struct tor_set a = { 0 }, b = { 0 };
	char out[TOR_SET_TEXT];

	tor_set_add(&a, "tor-1");
	tor_set_add(&a, "tor-2");
	tor_set_add(&a, "tor-2");
	tor_set_add(&a, "tor-3"); /* one ToR more than the limit */
	tor_set_add(&b, "tor-2");
	assert_false(tor_set_equal(&a, &b));
	tor_set_add(&b, "tor-1");
	assert_true(tor_set_equal(&a, &b));
	assert_string_equal(tor_set_text(&a, out), "tor-1 and tor-2");
}

#define TEST(fn) cmocka_unit_test_setup(fn, setup)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_first_answer_counts_at_once),
		TEST(config_counts_more_than_lldp_and_that_more_than_the_controller),
		TEST(a_flapping_neighbor_moves_no_rnic),
		TEST(a_recabled_rnic_moves_after_a_minute),
		TEST(both_tors_of_a_bond_are_one_answer_in_any_order),
	};

	return cmocka_run_group_tests_name("tor_choice", tests, NULL, NULL);
}
