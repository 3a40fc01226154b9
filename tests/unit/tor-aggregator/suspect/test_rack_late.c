#include "tor-aggregator/suspect/rack_late.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/judge/verdict.h"
#include "tor-aggregator/suspect/rack_legs.h"
#include "tor-aggregator/suspect/rack_pair.h"

#define MEMBERS 8
#define TIMED 20 /* round trips of a pair */

struct rack_of_8 {
	struct rack_pair pairs[MEMBERS * MEMBERS];
	struct rack_legs legs;
	struct rack_late lates[MEMBERS];
};

/* Every member probes every other one; those with a bit in `late` delay all. */
static void
fill(struct rack_of_8 *rack, unsigned late)
{
	memset(rack, 0, sizeof(*rack));
	rack->legs.members = MEMBERS;
	rack->legs.pairs = rack->pairs;
	for (uint32_t src = 0; src < MEMBERS; src++)
		for (uint32_t dst = 0; dst < MEMBERS; dst++)
			if (src != dst)
				rack->pairs[rack->legs.pair_count++] =
				    (struct rack_pair){ .src = src,
					    .dst = dst,
					    .sent = TIMED,
					    .answered = TIMED,
					    .timed = TIMED,
					    .slow = (late >> src | late >> dst) & 1
							? TIMED
							: 0 };
	rack_late_count(&rack->legs, rack->lates);
}

static void
one_that_is_slow_with_all_is_late_and_no_other(void **state)
{
	struct rack_of_8 rack;

	(void)state;
	fill(&rack, 1 << 3);
	for (size_t i = 0; i < MEMBERS; i++)
		assert_int_equal(rack_late_is(&rack.legs, rack.lates, i), i == 3);
}

static void
the_others_of_the_evidence_are_not_late_themselves(void **state)
{
	struct rm_evidence evidence = { 0 };
	struct rack_of_8 rack;

	(void)state;
	fill(&rack, 1 << 1 | 1 << 2 | 1 << 5);
	assert_true(rack_late_is(&rack.legs, rack.lates, 1));
	rack_late_evidence(&rack.legs, rack.lates, 1, &evidence);
	assert_string_equal(evidence.observed, "280 of 280 round trips with it took "
					       "100 ms or longer, and 0 of 400 between "
					       "the others");
}

static void
half_of_a_rack_is_not_late(void **state)
{
	struct rack_of_8 rack;

	(void)state;
	fill(&rack, 0x0f);
	for (size_t i = 0; i < MEMBERS; i++)
		assert_false(rack_late_is(&rack.legs, rack.lates, i));
}

/* Its NIC and its kernel stamp nothing. */
static void
one_that_only_others_have_timed_is_not_late(void **state)
{
	struct rack_of_8 rack;

	(void)state;
	fill(&rack, 1 << 3);
	for (size_t i = 0; i < rack.legs.pair_count; i++)
		if (rack.pairs[i].src == 3)
			rack.pairs[i].timed = rack.pairs[i].slow = 0;
	rack_late_count(&rack.legs, rack.lates);
	for (size_t i = 0; i < MEMBERS; i++)
		assert_false(rack_late_is(&rack.legs, rack.lates, i));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_is_slow_with_all_is_late_and_no_other),
		cmocka_unit_test(the_others_of_the_evidence_are_not_late_themselves),
		cmocka_unit_test(half_of_a_rack_is_not_late),
		cmocka_unit_test(one_that_only_others_have_timed_is_not_late),
	};

	return cmocka_run_group_tests_name("rack_late", tests, NULL, NULL);
}
