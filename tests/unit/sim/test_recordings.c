/* Faults of the labs that an earlier release named wrongly, replayed from what the
 * analyzer received. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay_fixture.h"

/* Replays the recording: so many incidents must open, in this order, whose sentences
 * begin with `expected`. */
static void
names_in_turn(const char *recording, const char *const *expected, size_t count)
{
	char path[512], *reported = NULL, *rest = NULL;
	struct rm_error error = { 0 };
	size_t opened = 0;

	snprintf(path, sizeof path, "%s/%s", RECORDINGS, recording);
	if (replay_reported(fopen(path, "re"), recording, &reported, &error) < 0)
		fail_msg("%s", error.text);
	for (char *line = strtok_r(reported, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		const char *what = strstr(line, " opened: ");

		if (what == NULL)
			continue;
		if (opened == count ||
		    strncmp(what + 9, expected[opened], strlen(expected[opened])) != 0)
			fail_msg("%s: %s", recording, line);
		opened++;
	}
	assert_int_equal(opened, count);
	free(reported);
}

static void
names(const char *recording, const char *expected)
{
	names_in_turn(recording, &expected, 1);
}

/* Two spines, three racks. A reply takes the spine that its probe took. Replies over
 * the other spine once counted as evidence for the link, and the switch behind it was
 * named. */
static void
a_link_dead_in_both_directions_is_named_if_they_are_hashed_equally(void **state)
{
	names(
	    "link-both-ways.recording", "Link spine2--tor2 carries nothing: both ways");
}

/* The rows of one rack were late: until they came, two links of the switch, each in one
 * direction, explained the losses as well. */
static void
a_dead_switch_is_not_reported_as_one_of_its_links(void **state)
{
	names("switch-after-rnic.recording", "Switch spine1 forwards nothing");
}

/* Most of the lost flows belonged to one RNIC, so its rack had to report first. The
 * newest rows then fitted two links, while earlier rows fitted one of them only. */
static void
a_part_known_from_earlier_rows_is_not_one_of_two(void **state)
{
	names("port-that-swallows.recording",
	    "Link spine1--tor1 loses all packets of some flows");
}

/* Rows of the first two seconds blamed one link alone. Those of the next seven seconds
 * had other flows, which fitted two links. */
static void
a_part_that_earlier_flows_blamed_alone_is_not_one_of_two(void **state)
{
	names("port-that-swallows-some.recording",
	    "Link spine1--tor1 loses all packets of some flows");
}

/* The first link was repaired, and its rack's aggregator was replaced by another one.
 * Then the second link lost packets, on one path with the first one. Together with the
 * old losses they named the first link again. */
static void
a_repaired_link_is_not_named_again_for_the_losses_of_another(void **state)
{
	static const char *const expected[] = { "Link spine2--tor1 loses packets",
		"Link spine2--tor3 loses packets" };

	names_in_turn("two-links-in-turn.recording", expected, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_link_dead_in_both_directions_is_named_if_they_are_hashed_equally),
		cmocka_unit_test(a_dead_switch_is_not_reported_as_one_of_its_links),
		cmocka_unit_test(a_part_known_from_earlier_rows_is_not_one_of_two),
		cmocka_unit_test(
		    a_part_that_earlier_flows_blamed_alone_is_not_one_of_two),
		cmocka_unit_test(
		    a_repaired_link_is_not_named_again_for_the_losses_of_another),
	};

	return cmocka_run_group_tests_name("recordings", tests, NULL, NULL);
}
