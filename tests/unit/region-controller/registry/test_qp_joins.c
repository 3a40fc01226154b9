#include "region-controller/registry/qp_joins.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define S RM_NS_PER_S
#define MAX 64

static int
setup(void **state)
{
	struct qp_joins *joins;
	int r = qp_joins_new(MAX, &joins);

	*state = joins;
	return r;
}

static int
teardown(void **state)
{
	qp_joins_free(*state);
	return 0;
}

/* Returns the GUID of the other end; 0: not found. */
static uint64_t
ask_as(struct qp_joins *joins, int64_t at_s, uint64_t guid, uint8_t type, uint32_t qpn,
    uint32_t dst_qpn)
{
	const struct wire_join join = { 1, { guid, 1 }, qpn, dst_qpn, type };
	struct wire_rnic_id found = { 0 };
	bool r = qp_joins_ask(joins, &join, (rm_mono_t){ at_s * S }, &found);

	assert_int_equal(r, found.guid != 0);
	return found.guid;
}

static uint64_t
ask(struct qp_joins *joins, int64_t at_s, uint64_t guid, uint32_t qpn, uint32_t dst_qpn)
{
	return ask_as(joins, at_s, guid, WIRE_QP_RC, qpn, dst_qpn);
}

static void
the_second_asker_gets_the_join_and_the_first_when_it_asks_again(void **state)
{
	assert_int_equal(ask(*state, 1, 0xa, 17, 18), 0);
	assert_int_equal(ask(*state, 2, 0xb, 18, 17), 0xa);
	assert_int_equal(ask(*state, 31, 0xa, 17, 18), 0xb);
	assert_int_equal(qp_joins_count(*state), 2);
	assert_int_equal(qp_joins_counts(*state)->asked, 3);
	assert_int_equal(qp_joins_counts(*state)->joined, 2);
}

static void
other_numbers_and_other_types_do_not_fit(void **state)
{
	assert_int_equal(ask(*state, 1, 0xa, 17, 18), 0);
	assert_int_equal(
	    ask(*state, 1, 0xb, 17, 18), 0); /* same numbers, but not swapped */
	assert_int_equal(ask(*state, 1, 0xc, 18, 19), 0);
	assert_int_equal(ask_as(*state, 1, 0xd, WIRE_QP_UC, 18, 17), 0);
	assert_int_equal(qp_joins_counts(*state)->several, 0);
}

static void
an_ambiguous_join_finds_no_rnic(void **state)
{
	assert_int_equal(ask(*state, 1, 0xa, 17, 18), 0);
	assert_int_equal(ask(*state, 1, 0xb, 18, 17), 0xa);
	assert_int_equal(ask(*state, 1, 0xc, 18, 17), 0);
	assert_int_equal(
	    ask(*state, 2, 0xb, 18, 17), 0); /* two candidates: 0xa and 0xc */
	assert_int_equal(ask(*state, 2, 0xa, 17, 18), 0);
	assert_int_equal(qp_joins_counts(*state)->several, 3);
}

static void
an_rnic_is_never_joined_to_itself(void **state)
{
	assert_int_equal(ask(*state, 1, 0xa, 17, 18), 0);
	assert_int_equal(ask(*state, 1, 0xa, 18, 17), 0);
	assert_int_equal(ask(*state, 1, 0xa, 19, 19), 0);
	assert_int_equal(ask(*state, 2, 0xa, 19, 19), 0);
	/* QP 17 of 0xa may belong to its own QP 18, so it is not joined to 0xb. */
	assert_int_equal(ask(*state, 2, 0xb, 18, 17), 0);
}

static void
equal_numbers_at_both_ends_are_joined_like_others(void **state)
{
	assert_int_equal(ask(*state, 1, 0xa, 17, 17), 0);
	assert_int_equal(ask(*state, 1, 0xb, 17, 17), 0xa);
	assert_int_equal(ask(*state, 2, 0xa, 17, 17), 0xb);
	assert_int_equal(ask(*state, 2, 0xc, 17, 17), 0);
	assert_int_equal(ask(*state, 2, 0xb, 17, 17), 0);
}

static void
an_asker_is_forgotten_after_a_minute(void **state)
{
	assert_int_equal(ask(*state, 1, 0xa, 17, 18), 0);
	assert_int_equal(ask(*state, 1, 0xc, 17, 18), 0);
	assert_int_equal(ask(*state, 40, 0xa, 17, 18),
	    0); /* renews its request; that of 0xc expires */
	assert_int_equal(ask(*state, 61, 0xb, 18, 17), 0);
	assert_int_equal(ask(*state, 62, 0xb, 18, 17), 0xa);
	assert_int_equal(qp_joins_count(*state), 2);
	assert_int_equal(ask(*state, 200, 0xb, 18, 17), 0);
	assert_int_equal(qp_joins_count(*state), 1);
}

static void
the_number_of_remembered_askers_is_limited(void **state)
{
	for (uint32_t i = 0; i < MAX; i++)
		assert_int_equal(ask(*state, 1, 0xa, i, 1000), 0);
	assert_int_equal(ask(*state, 2, 0xb, 5000, 6000), 0);
	assert_int_equal(qp_joins_count(*state), MAX);
	assert_int_equal(qp_joins_counts(*state)->refused, 1);
	/* Requests that are already stored are still matched. */
	assert_int_equal(ask(*state, 2, 0xb, 1000, 5), 0xa);
	assert_int_equal(
	    ask(*state, 62, 0xb, 5000, 6000), 0); /* old requests have expired */
	assert_int_equal(qp_joins_count(*state), 1);
}

static void
askers_with_the_same_numbers_are_limited(void **state)
{
	for (uint64_t guid = 1; guid <= QP_JOINS_ALIKE + 5; guid++)
		assert_int_equal(ask(*state, 1, guid, 17, 18), 0);
	assert_int_equal(qp_joins_count(*state), QP_JOINS_ALIKE);
	assert_int_equal(qp_joins_counts(*state)->refused, 5);
	assert_int_equal(ask(*state, 1, 0xb00, 18, 17), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_second_asker_gets_the_join_and_the_first_when_it_asks_again),
		TEST(other_numbers_and_other_types_do_not_fit),
		TEST(an_ambiguous_join_finds_no_rnic),
		TEST(an_rnic_is_never_joined_to_itself),
		TEST(equal_numbers_at_both_ends_are_joined_like_others),
		TEST(an_asker_is_forgotten_after_a_minute),
		TEST(the_number_of_remembered_askers_is_limited),
		TEST(askers_with_the_same_numbers_are_limited),
	};

	return cmocka_run_group_tests_name("qp_joins", tests, NULL, NULL);
}
