#include "analyzer/suspicion/localise_standing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/paths/localise_bins.h"
#include "analyzer/paths/localise_map.h"

#define BEGAN_NS (100 * RM_NS_PER_S)
#define LOSSES 8 /* one in each slot, on the same path */

struct seen { /* tor1 probes tor2 over s1 */
	struct localise_map map;
	struct localise_case c;
	struct localise_standings standings;
	struct localise_element *spine, *link;
};

static void
report_lost(struct seen *seen, const char *src, const char *dst, const char *path,
    uint64_t lost, uint64_t lost_replies, rm_mono_t now)
{
	const struct wire_path_row row = { .dst_tor = dst,
		.path = path,
		.flows = 40,
		.sent = 1000,
		.lost_forward = lost,
		.lost_reverse = lost_replies };
	struct localise_rack *rack;
	struct localise_path *route;

	assert_int_equal(localise_map_rack(&seen->map, src, &rack), 0);
	localise_map_frame(rack, (rm_wall_t){ now.ns + 5000 * RM_NS_PER_S }, 0, now);
	assert_int_equal(localise_map_path(&seen->map, rack, &row, &route), 0);
	assert_int_equal(
	    localise_map_row(&seen->map, route, &row, RM_NS_PER_S, RM_NS_PER_S, now),
	    0);
	seen->link = route->elements[1];
	seen->spine = route->elements[2];
}

static void
report_on(
    struct seen *seen, const char *dst, const char *path, uint64_t lost, rm_mono_t now)
{
	report_lost(seen, "tor1", dst, path, lost, 0, now);
}

static void
report(struct seen *seen, uint64_t lost, rm_mono_t now)
{
	report_on(seen, "tor2", "tor1@10.0.0.1 s1@10.1.0.1 tor2@10.2.0.1", lost, now);
}

static int
setup(void **state)
{
	static struct seen seen;

	seen = (struct seen){ .map = { .row_interval_ns = RM_NS_PER_S } };
	assert_int_equal(localise_case_init(&seen.c, true), 0);
	assert_int_equal(localise_standings_init(&seen.standings, 8), 0);
	for (int i = 0; i < LOSSES; i++)
		report(&seen, 1, (rm_mono_t){ BEGAN_NS + i * LOCALISE_SLOT_NS });
	*state = &seen;
	return 0;
}

static int
teardown(void **state)
{
	struct seen *seen = *state;

	localise_standings_release(&seen->standings);
	localise_case_release(&seen->c);
	localise_map_release(&seen->map);
	return 0;
}

/* True: the part is still suspected this many slots after its last loss, although the
 * judge of minutes still blames it. */
static bool
is_suspected(struct seen *seen, enum rm_part_type type, int clean_slots)
{
	const struct localise_suspect suspect = { .type = type,
		.elements = { type == RM_PART_LINK ? seen->link : seen->spine },
		.element_count = 1 };
	struct localise_finding finding = { .suspect = &suspect,
		.tie_count = 1,
		.is_clear = true,
		.loses_share = true,
		.gain = 20,
		.behind = 14,
		.loss = 0.001 };
	const struct localise_now now = { &seen->map, &seen->c,
		{ BEGAN_NS + (LOSSES - 1 + clean_slots) * LOCALISE_SLOT_NS }, { 0 } };

	for (int i = 1; i <= clean_slots; i++)
		report(seen, 0,
		    (rm_mono_t){ BEGAN_NS + (LOSSES - 1 + i) * LOCALISE_SLOT_NS });
	localise_suspect_part(&suspect, &finding.part);
	finding.ties[0] = finding.part;
	localise_standings_weigh(&seen->standings, &now, &finding, true);
	return localise_standings_find(&seen->standings, &finding.part) != NULL;
}

static void
a_part_with_slow_loss_until_now_is_suspected(void **state)
{
	assert_true(is_suspected(*state, RM_PART_LINK, 0));
	assert_true(is_suspected(*state, RM_PART_SWITCH, 3));
}

/* It lost one packet every two seconds, and then none for twenty seconds. */
static void
a_switch_that_has_lost_nothing_for_many_gaps_is_no_suspect(void **state)
{
	assert_false(is_suspected(*state, RM_PART_SWITCH, 10));
}

/* The gaps of a link are averaged over all minutes, because it may lose packets in
 * bursts. */
static void
a_link_that_may_lose_in_bursts_stays_suspected_longer(void **state)
{
	assert_true(is_suspected(*state, RM_PART_LINK, 10));
}

/* Over minutes several of its links explain the losses nearly as well. */
static void
a_switch_is_not_reported_while_several_of_its_links_explain_minutes_as_well(
    void **state)
{
	struct seen *seen = *state;
	const struct localise_suspect spine = {
		.type = RM_PART_SWITCH, .elements = { seen->spine }, .element_count = 1
	};
	struct localise_finding finding = { .suspect = &spine, .has_rival = true };
	const struct localise_standing first = { .since = { BEGAN_NS } };
	const struct localise_now now = { &seen->map, &seen->c,
		{ BEGAN_NS + 60 * RM_NS_PER_S }, { 0 } };

	assert_false(localise_may_report(
	    &seen->standings, &now, &finding, &first, true, (rm_wall_t){ 0 }));
	finding.has_rival = false;
	assert_true(localise_may_report(
	    &seen->standings, &now, &finding, &first, true, (rm_wall_t){ 0 }));
}

/* True: a finding that either of the spine's two links loses whole flows is reported
 * after this time. apart: probes to a third rack cross only one of the two. */
static bool
is_reported_undecided(struct seen *seen, bool apart, int64_t after_ns)
{
	const rm_mono_t now_ns = { BEGAN_NS + LOSSES * LOCALISE_SLOT_NS + after_ns };
	const struct localise_now now = { &seen->map, &seen->c, now_ns, { 0 } };
	const struct localise_standing first = { .since = { now_ns.ns - after_ns } };
	struct localise_suspect links[2] = { { .type = RM_PART_LINK,
						 .element_count = 1 },
		{ .type = RM_PART_LINK, .element_count = 1 } };
	struct localise_finding finding = { .suspect = &links[0],
		.others = { &links[1] },
		.tie_count = 2,
		.loss = 0.5 };

	report(seen, 100, now_ns);
	links[0].elements[0] = seen->link;
	links[1].elements[0] = seen->spine->paths[0]->elements[3];
	if (apart)
		report_on(
		    seen, "tor3", "tor1@10.0.0.1 s1@10.1.0.1 tor3@10.3.0.1", 0, now_ns);
	seen->c.by_flow = true;
	return localise_may_report(
	    &seen->standings, &now, &finding, &first, false, (rm_wall_t){ now_ns.ns });
}

static void
two_links_are_reported_later_if_probes_over_one_of_them_may_decide(void **state)
{
	struct seen *seen = *state;

	assert_false(is_reported_undecided(seen, false, 4 * RM_NS_PER_S));
	assert_true(is_reported_undecided(seen, false, 5 * RM_NS_PER_S));
	assert_false(is_reported_undecided(seen, true, 6 * RM_NS_PER_S));
	assert_true(is_reported_undecided(seen, true, 8 * RM_NS_PER_S));
}

static void
lost_replies_of_many_racks_leave_places_for_other_parts(void **state)
{
	struct seen *seen = *state;
	const rm_mono_t at = { BEGAN_NS + LOSSES * LOCALISE_SLOT_NS };
	const struct localise_sum recent = { .lossy_end = { at.ns } };
	const struct rm_part link = { .type = RM_PART_LINK, .name = "s1--tor1" };
	struct localise_case c;
	const struct localise_now now = { &seen->map, &c, at, { at.ns } };

	assert_int_equal(localise_case_init(&c, false), 0);
	for (int i = 3; i < 19; i++) {
		char src[16], path[64];

		snprintf(src, sizeof src, "tor%d", i);
		snprintf(path, sizeof path, "%s@10.0.0.%d s1@10.1.0.%d tor1@10.2.0.1",
		    src, i, i);
		report_lost(seen, src, "tor1", path, 0, 500, at);
	}
	assert_int_equal(
	    localise_case_build(&c, &seen->map, at, localise_path_newest, NULL, NULL),
	    0);
	localise_standings_reverse(&seen->standings, &now);
	assert_int_equal(seen->standings.count, 4);
	assert_int_equal(seen->standings.refused, 12);
	/* those that are suspected stay suspected */
	localise_standings_reverse(&seen->standings, &now);
	assert_int_equal(seen->standings.count, 4);
	assert_int_equal(seen->standings.refused, 24);
	assert_non_null(
	    localise_standings_touch(&seen->standings, &link, false, &recent, &now));
	localise_case_release(&c);
}

/* A named part stays named while another, equally likely part is the likeliest one. */
static void
a_named_switch_has_no_direction_of_a_link_that_is_as_likely(void **state)
{
	struct seen *seen = *state;
	const struct localise_suspect spine = { .type = RM_PART_SWITCH,
		.elements = { seen->spine },
		.element_count = 1 },
				      link = { .type = RM_PART_LINK,
					      .elements = { seen->link },
					      .element_count = 1 };
	struct localise_finding finding = { .suspect = &link,
		.tied = { &link, &spine },
		.tie_count = 2,
		.gain = 20,
		.loss = 0.001 };
	const struct localise_now now = { &seen->map, &seen->c,
		{ BEGAN_NS + (LOSSES - 1) * LOCALISE_SLOT_NS }, { 0 } };
	const struct localise_sum sum = { 0 };
	struct localise_standing *s;

	localise_suspect_part(&link, &finding.ties[0]);
	localise_suspect_part(&spine, &finding.ties[1]);
	finding.part = finding.ties[0];
	s = localise_standings_touch(
	    &seen->standings, &finding.ties[1], true, &sum, &now);
	s->named = s->slow = true;
	s->verdict =
	    (struct rm_verdict){ .part = s->part, .kind = RM_KIND_SWITCH_LOSSY };
	localise_standings_weigh(&seen->standings, &now, &finding, true);
	assert_int_equal(seen->standings.count, 1);
	assert_string_equal(s->verdict.part.name, "s1");
	assert_true(s->verdict.evidence.to_part.sent > 0);
	assert_string_equal(s->verdict.evidence.observed, "");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_part_with_slow_loss_until_now_is_suspected),
		TEST(a_switch_that_has_lost_nothing_for_many_gaps_is_no_suspect),
		TEST(a_link_that_may_lose_in_bursts_stays_suspected_longer),
		TEST(
		    two_links_are_reported_later_if_probes_over_one_of_them_may_decide),
		TEST(lost_replies_of_many_racks_leave_places_for_other_parts),
		TEST(a_named_switch_has_no_direction_of_a_link_that_is_as_likely),
		TEST(
		    a_switch_is_not_reported_while_several_of_its_links_explain_minutes_as_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
