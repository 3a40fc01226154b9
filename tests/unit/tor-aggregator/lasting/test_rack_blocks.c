#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tor-aggregator/lasting/rack_blocks.h"
#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

#define MEMBERS 5
#define RATE 10 /* probes of each pair in a second */

struct given {
	struct rack_blocks *blocks;
	struct rack_member members[MEMBERS];
	struct rack_host hosts[MEMBERS];
	struct rack rack;
	bool blamed[MEMBERS], known[MEMBERS];
	int64_t second;
};

static int
setup(void **state)
{
	static struct given given;
	const size_t none[1] = { 0 };

	given = (struct given){ .second = 7 };
	for (size_t i = 0; i < MEMBERS; i++) {
		given.hosts[i].name = "h";
		given.members[i] = (struct rack_member){ { 100 + i, 1 }, "h", "r0", i };
	}
	given.rack = (struct rack){ "tor1", given.members, MEMBERS, NULL, 0,
		given.hosts, MEMBERS };
	*state = &given;
	if (rack_blocks_new(&given.blocks) < 0)
		return -1;
	return rack_blocks_renumber(given.blocks, &given.rack, none);
}

static int
teardown(void **state)
{
	struct given *given = *state;

	rack_blocks_free(given->blocks);
	return 0;
}

/* Adds one second of probes of every pair; of the pair src, dst so many are lost. */
static void
add_second(struct given *given, uint32_t src, uint32_t dst, uint32_t lost)
{
	const struct rack_blame blame = { .members = given->blamed };
	struct window_pair pairs[MEMBERS * MEMBERS];
	struct window_closed second = { .pairs = pairs };
	const uint32_t count = (uint32_t)given->rack.member_count;

	second.start.ns = given->second * RM_NS_PER_S;
	second.end.ns = ++given->second * RM_NS_PER_S;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < count; k++) {
			struct window_pair *pair = &pairs[second.pair_count];
			const bool it = i == src && k == dst;

			if (i == k)
				continue;
			*pair = (struct window_pair){ .src = i, .dst = k };
			pair->outcomes[WIRE_NO_REPLY] = it ? lost : 0;
			pair->outcomes[WIRE_OK] = RATE - pair->outcomes[WIRE_NO_REPLY];
			pair->arrived = RATE;
			pair->counted = true;
			second.pair_count++;
		}
	assert_int_equal(
	    rack_blocks_add(given->blocks, &given->rack, &second, &blame, given->known),
	    0);
}

static struct window_pair
sum_of(struct given *given, unsigned blocks, uint32_t src, uint32_t dst)
{
	struct window_closed sum;

	assert_int_equal(rack_blocks_sum(given->blocks, blocks, &sum), 0);
	for (size_t i = 0; i < sum.pair_count; i++)
		if (sum.pairs[i].src == src && sum.pairs[i].dst == dst)
			return sum.pairs[i];
	return (struct window_pair){ 0 };
}

static void
each_second_counts_once_until_two_minutes_have_passed(void **state)
{
	struct given *given = *state;

	add_second(given, 1, 2, 3);
	for (int i = 0; i < 100; i++)
		add_second(given, 1, 2, 0);
	assert_int_equal(sum_of(given, RACK_BLOCKS, 1, 2).outcomes[WIRE_NO_REPLY], 3);
	assert_int_equal(
	    sum_of(given, RACK_BLOCKS, 1, 2).outcomes[WIRE_OK], 101 * RATE - 3);
	assert_int_equal(sum_of(given, 2, 1, 2).outcomes[WIRE_NO_REPLY], 0);
	assert_int_equal(rack_blocks_seconds(given->blocks, 2, RACK_BLOCKS).lossy, 1);
	for (int i = 0; i < 20; i++)
		add_second(given, 1, 2, 0);
	assert_int_equal(sum_of(given, RACK_BLOCKS, 1, 2).outcomes[WIRE_NO_REPLY], 0);
	assert_int_equal(rack_blocks_seconds(given->blocks, 2, RACK_BLOCKS).lossy, 0);
}

static void
losses_explained_by_a_shorter_window_are_left_out(void **state)
{
	struct given *given = *state;

	given->blamed[1] = true;
	add_second(given, 1, 2, RATE);
	given->blamed[1] = false;
	add_second(given, 1, 2, 1);
	assert_int_equal(sum_of(given, 2, 1, 2).outcomes[WIRE_NO_REPLY], 1);
	assert_int_equal(rack_blocks_seconds(given->blocks, 1, 2).seconds, 1);
	assert_int_equal(rack_blocks_seconds(given->blocks, 2, 2).seconds, 2);
	assert_int_equal(rack_blocks_seconds(given->blocks, 2, 2).lossy, 1);
}

static void
a_member_with_a_verdict_is_no_evidence_about_its_peers(void **state)
{
	struct given *given = *state;

	given->known[1] = true;
	add_second(given, 1, 2, 4);
	assert_int_equal(rack_blocks_newest(given->blocks, 1)->lost, 4);
	assert_int_equal(rack_blocks_newest(given->blocks, 2)->lost, 0);
}

static void
forgetting_a_member_forgets_its_pairs(void **state)
{
	struct given *given = *state;

	add_second(given, 1, 2, 4);
	add_second(given, 3, 4, 2);
	rack_blocks_forget(given->blocks, 1);
	assert_int_equal(sum_of(given, 2, 1, 2).outcomes[WIRE_NO_REPLY], 0);
	assert_int_equal(sum_of(given, 2, 3, 4).outcomes[WIRE_NO_REPLY], 2);
}

static void
remaining_members_keep_their_counts(void **state)
{
	struct given *given = *state;
	const size_t moved[MEMBERS] = { SIZE_MAX, 0, 1, 2, 3 };

	add_second(given, 1, 2, 4);
	add_second(given, 0, 1, 4);
	memmove(given->members, given->members + 1,
	    (MEMBERS - 1) * sizeof(*given->members));
	given->rack.member_count--;
	assert_int_equal(rack_blocks_renumber(given->blocks, &given->rack, moved), 0);
	add_second(given, 0, 1, 1);
	assert_int_equal(sum_of(given, 2, 0, 1).outcomes[WIRE_NO_REPLY], 5);
	assert_int_equal(rack_blocks_seconds(given->blocks, 1, 2).lossy, 2);
	assert_true(sum_of(given, 2, 0, 1).counted);
}

static void
seconds_that_are_missing_are_a_gap_between_counts(void **state)
{
	struct given *given = *state;

	add_second(given, 1, 2, 0);
	assert_int_equal(sum_of(given, 2, 1, 2).gaps, 0);
	given->second += 2;
	add_second(given, 1, 2, 0);
	assert_int_equal(sum_of(given, 2, 1, 2).gaps, 1);
	assert_int_equal(sum_of(given, 2, 1, 2).outcomes[WIRE_OK], 2 * RATE);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_second_counts_once_until_two_minutes_have_passed),
		TEST(losses_explained_by_a_shorter_window_are_left_out),
		TEST(a_member_with_a_verdict_is_no_evidence_about_its_peers),
		TEST(forgetting_a_member_forgets_its_pairs),
		TEST(remaining_members_keep_their_counts),
		TEST(seconds_that_are_missing_are_a_gap_between_counts),
	};

	return cmocka_run_group_tests_name("rack_blocks", tests, NULL, NULL);
}
