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
#include "tor-aggregator/suspect/rack_suspect.h"
#include "tor-aggregator/window/rack_view.h"

#define MEMBERS 8
#define TIMED 20 /* timed round trips of each pair */
#define PER_HOST 2

struct rack_of_8 {
	struct rack_pair pairs[MEMBERS * MEMBERS];
	struct rack_legs legs;
	struct rack_late lates[MEMBERS];
	struct rack_member members[MEMBERS];
	struct rack rack;
	struct rack_suspect_memory memories[MEMBERS];
	bool bad[MEMBERS], witnesses[MEMBERS];
};

static const char *const hosts[] = { "h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7" };

/* Every member probes every other one; members with a bit in `late` delay all their
 * packets. */
static void
fill(struct rack_of_8 *rack, unsigned late)
{
	memset(rack, 0, sizeof(*rack));
	rack->legs.members = MEMBERS;
	rack->legs.pairs = rack->pairs;
	rack->rack = (struct rack){
		.tor = "t1", .members = rack->members, .member_count = MEMBERS
	};
	for (size_t i = 0; i < MEMBERS; i++)
		rack->members[i] = (struct rack_member){ .id = { i + 1, 1 },
			.host = hosts[i / PER_HOST],
			.device = i % PER_HOST == 0 ? "r0" : "r1",
			.host_index = i / PER_HOST };
	for (uint32_t src = 0; src < MEMBERS; src++)
		for (uint32_t dst = 0; dst < MEMBERS; dst++)
			if (src != dst)
				rack->pairs[rack->legs.pair_count++] =
				    (struct rack_pair){ .src = src,
					    .dst = dst,
					    .sent = TIMED,
					    .answered = TIMED,
					    .newest_sent = TIMED / 2,
					    .timed = TIMED,
					    .slow = (late >> src | late >> dst) & 1
							? TIMED
							: 0 };
	rack_late_count(&rack->legs, rack->lates);
}

static void
only_an_rnic_that_is_slow_with_all_is_late(void **state)
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
	rack_late_evidence(
	    &rack.rack, &rack.legs, rack.lates, 1, rack.witnesses, &evidence);
	assert_int_equal(evidence.peers, 7);
	assert_int_equal(evidence.ruled_out_count, 3);
	assert_string_equal(evidence.ruled_out[0],
	    "h0/r0: 0 of 160 of its round trips with the others took so long");
	assert_string_equal(evidence.observed, "280 of 280 round trips with it took "
					       "100 ms or longer, and 0 of 400 between "
					       "the others");
}

static void
half_of_a_rack_is_never_named_late(void **state)
{
	struct rack_of_8 rack;

	(void)state;
	fill(&rack, 0x0f);
	for (size_t i = 0; i < MEMBERS; i++)
		assert_false(rack_late_is(&rack.legs, rack.lates, i));
}

/* Only members 0 and 1 probe each other, and member 0 is late, or its peer is, or the
 * path to the second of three RNICs in other racks. `slow` has a bit for each of the
 * pairs 0-1, 1-0, and then three pairs of each of the two out of the rack. */
static void
fill_two(struct rack_of_8 *rack, unsigned slow)
{
	static const uint32_t ends[][2] = { { 0, 1 }, { 1, 0 }, { 0, 0 }, { 0, 1 },
		{ 0, 2 }, { 1, 0 }, { 1, 1 }, { 1, 2 } };

	fill(rack, 0);
	rack->legs.pair_count = 0;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		rack->pairs[rack->legs.pair_count++] =
		    (struct rack_pair){ .src = ends[i][0],
			    .dst = ends[i][1],
			    .remote = i >= 2,
			    .sent = TIMED,
			    .answered = TIMED,
			    .newest_sent = TIMED / 2,
			    .timed = TIMED,
			    .slow = slow >> i & 1 ? TIMED : 0 };
	rack_late_count(&rack->legs, rack->lates);
}

static void
of_two_rnics_the_one_that_is_slow_with_other_racks_is_late(void **state)
{
	struct rm_evidence evidence = { 0 };
	struct rack_of_8 rack;

	(void)state;
	fill_two(&rack, 0x1f);
	assert_true(rack_late_is(&rack.legs, rack.lates, 0));
	assert_false(rack_late_is(&rack.legs, rack.lates, 1));
	rack_late_evidence(
	    &rack.rack, &rack.legs, rack.lates, 0, rack.witnesses, &evidence);
	assert_string_equal(evidence.observed, "40 of 40 round trips with it took "
					       "100 ms or longer, and 0 of 60 between "
					       "its peer and other racks");
	assert_int_equal(evidence.ruled_out_count, 1);
	assert_string_equal(evidence.ruled_out[0],
	    "h0/r1: 0 of 60 of its round trips with other racks took so long");
}

static void
of_two_rnics_none_is_late_if_other_racks_do_not_show_which(void **state)
{
	static const unsigned undecided[] = {
		0x03, /* only slow with each other */
		0xff, /* both are slow with all */
		0x1c, /* only slow with other racks */
		0x0b, /* slow with one RNIC of another rack only */
		0x7f, /* the peer is slow with most other RNICs, too */
	};
	struct rack_of_8 rack;

	(void)state;
	for (size_t i = 0; i < sizeof(undecided) / sizeof(*undecided); i++) {
		fill_two(&rack, undecided[i]);
		assert_false(rack_late_is(&rack.legs, rack.lates, 0));
		assert_false(rack_late_is(&rack.legs, rack.lates, 1));
	}
}

/* An RNIC of another rack is late, too: the peer is slow with it, and replies between
 * the two late ones miss their time-out. A late RNIC is quick with none, so the peer is
 * not late. */
static void
of_two_rnics_one_is_late_while_an_rnic_of_another_rack_is_late_too(void **state)
{
	struct rm_evidence evidence = { 0 };
	struct rack_of_8 rack;

	(void)state;
	fill_two(&rack, 0x3b);
	rack.pairs[2].timed = 0;
	rack.pairs[2].overdue = rack.pairs[2].sent;
	rack_late_count(&rack.legs, rack.lates);
	assert_true(rack_late_is(&rack.legs, rack.lates, 0));
	assert_false(rack_late_is(&rack.legs, rack.lates, 1));
	rack_late_evidence(
	    &rack.rack, &rack.legs, rack.lates, 0, rack.witnesses, &evidence);
	assert_string_equal(evidence.observed,
	    "40 of 40 round trips with it took 100 ms or longer, and 20 of 60 between "
	    "its peer and other racks, where another RNIC or path is slow, too");
}

/* The member's own NIC and kernel give no time stamps. */
static void
an_rnic_timed_only_by_others_is_not_late(void **state)
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

/* A window in which probing of an RNIC has just begun, or has just ended. */
static void
a_half_empty_window_names_no_late_rnic(void **state)
{
	struct rack_of_8 rack;

	(void)state;
	for (uint32_t newest = 0; newest <= TIMED; newest += TIMED / 2) {
		fill(&rack, 1 << 3);
		for (size_t i = 0; i < rack.legs.pair_count; i++)
			rack.pairs[i].newest_sent = newest;
		rack_late_count(&rack.legs, rack.lates);
		assert_int_equal(
		    rack_late_is(&rack.legs, rack.lates, 3), newest == TIMED / 2);
	}
}

/* Judges so many more windows with these late members. */
static void
judge(struct rack_of_8 *rack, unsigned late, int windows)
{
	struct rack_suspect_memory memories[MEMBERS];

	memcpy(memories, rack->memories, sizeof(memories));
	fill(rack, late);
	memcpy(rack->memories, memories, sizeof(memories));
	for (int i = 0; i < windows; i++)
		rack_late_judge(&rack->rack, &rack->legs, (rm_wall_t){ 1 + i },
		    rack->bad, rack->memories, rack->lates);
}

static void
expect_text(const struct rack_of_8 *rack, unsigned rnics, unsigned of_hosts)
{
	for (unsigned i = 0; i < MEMBERS; i++)
		assert_int_equal(rack->lates[i].status, rnics >> i & 1 ? RACK_LATE_RNIC
							: of_hosts >> i & 1
							    ? RACK_LATE_HOST
							    : RACK_LATE_NOTHING);
}

static void
an_rnic_is_reported_to_be_late_after_a_second(void **state)
{
	struct rack_of_8 rack = { 0 };

	(void)state;
	judge(&rack, 1 << 3, 3);
	expect_text(&rack, 0, 0);
	judge(&rack, 1 << 3, 1);
	expect_text(&rack, 1 << 3, 0);
	judge(&rack, 0, 1);
	expect_text(&rack, 0, 0);
	judge(&rack, 1 << 3, 1); /* one window without lateness does not end it */
	expect_text(&rack, 1 << 3, 0);
	judge(&rack, 0, 8);
	judge(&rack, 1 << 3, 1);
	expect_text(&rack, 0, 0);
}

static void
if_all_rnics_of_a_host_are_late_the_host_is_named(void **state)
{
	const unsigned first = 1 << 2, both = 1 << 2 | 1 << 3;
	struct rm_evidence evidence = { 0 };
	struct rack_of_8 rack = { 0 };

	(void)state;
	judge(&rack, first, 3);
	judge(&rack, both, 1); /* the verdict waits for the second one */
	expect_text(&rack, 0, 0);
	judge(&rack, both, 3);
	expect_text(&rack, 0, both);
	rack_late_evidence(
	    &rack.rack, &rack.legs, rack.lates, 2, rack.witnesses, &evidence);
	assert_string_equal(evidence.observed,
	    "560 of 560 round trips with all 2 of its RNICs here took 100 ms or "
	    "longer, and 0 of 600 between the others");
	assert_int_equal(evidence.peers, 6);
}

static void
a_late_rnic_named_alone_stays_named_alone(void **state)
{
	const unsigned first = 1 << 2, both = 1 << 2 | 1 << 3;
	struct rack_of_8 rack = { 0 };

	(void)state;
	judge(&rack, first, 4);
	expect_text(&rack, first, 0);
	judge(&rack, both, 4);
	expect_text(&rack, both, 0);
}

/* No reply comes in time: so many probes of each pair arrive, and so many replies come
 * later. */
static enum rack_late_tor
tor_of(uint32_t arrived, uint32_t overdue)
{
	struct rack_of_8 rack;

	fill(&rack, 0);
	for (size_t i = 0; i < rack.legs.pair_count; i++) {
		rack.pairs[i].answered = 0;
		rack.pairs[i].counted = true;
		rack.pairs[i].arrived = arrived;
		rack.pairs[i].overdue = overdue;
	}
	return rack_late_tor(&rack.legs);
}

static void
a_tor_is_late_only_if_replies_come(void **state)
{
	(void)state;
	assert_int_equal(tor_of(0, 0), RACK_TOR_DEAD);
	assert_int_equal(tor_of(2, 2), RACK_TOR_DEAD);
	assert_int_equal(tor_of(TIMED, 0), RACK_TOR_ARRIVES);
	assert_int_equal(tor_of(0, TIMED), RACK_TOR_LATE);
	assert_int_equal(tor_of(TIMED, TIMED / 2), RACK_TOR_LATE);
}

/* One probe of each pair waits: all replies come at one moment, when the ToR works
 * again, or each a second after its probe. */
static enum rack_late_tor
tor_with_one_reply_a_pair(bool at_one_moment)
{
	struct rack_of_8 rack;

	fill(&rack, 0);
	for (size_t i = 0; i < rack.legs.pair_count; i++) {
		const rm_mono_t sent = { RM_NS_PER_S + (int64_t)i * 10 * RM_NS_PER_MS };
		const int64_t took_ns =
		    at_one_moment ? 3 * RM_NS_PER_S - sent.ns : RM_NS_PER_S;

		rack.pairs[i].answered = TIMED - 1;
		rack.pairs[i].overdue = 1;
		window_release_add(&rack.pairs[i].release, sent, (uint64_t)took_ns);
	}
	return rack_late_tor(&rack.legs);
}

static void
a_tor_that_lets_go_what_waited_before_it_is_not_late(void **state)
{
	(void)state;
	assert_int_equal(tor_with_one_reply_a_pair(true), RACK_TOR_DEAD);
	assert_int_equal(tor_with_one_reply_a_pair(false), RACK_TOR_LATE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_an_rnic_that_is_slow_with_all_is_late),
		cmocka_unit_test(the_others_of_the_evidence_are_not_late_themselves),
		cmocka_unit_test(half_of_a_rack_is_never_named_late),
		cmocka_unit_test(
		    of_two_rnics_the_one_that_is_slow_with_other_racks_is_late),
		cmocka_unit_test(
		    of_two_rnics_none_is_late_if_other_racks_do_not_show_which),
		cmocka_unit_test(
		    of_two_rnics_one_is_late_while_an_rnic_of_another_rack_is_late_too),
		cmocka_unit_test(an_rnic_timed_only_by_others_is_not_late),
		cmocka_unit_test(a_half_empty_window_names_no_late_rnic),
		cmocka_unit_test(an_rnic_is_reported_to_be_late_after_a_second),
		cmocka_unit_test(if_all_rnics_of_a_host_are_late_the_host_is_named),
		cmocka_unit_test(a_late_rnic_named_alone_stays_named_alone),
		cmocka_unit_test(a_tor_is_late_only_if_replies_come),
		cmocka_unit_test(a_tor_that_lets_go_what_waited_before_it_is_not_late),
	};

	return cmocka_run_group_tests_name("rack_late", tests, NULL, NULL);
}
