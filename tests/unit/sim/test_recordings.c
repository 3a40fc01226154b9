/* Faults of the labs that were once named wrongly, as the analyzer heard of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay_fixture.h"

/* Replays it: exactly these parts are named, as sentences begin. */
static void
names(const char *recording, const char *expected)
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
		opened++;
		if (strncmp(what + 9, expected, strlen(expected)) != 0)
			fail_msg("%s: %s", recording, line);
	}
	assert_int_equal(opened, 1);
	free(reported);
}

/* Replies that came back over the other spine, as all of them do whose probe went
 * there, spoke for the link, and the switch behind it was named. Two spines, three
 * racks. */
static void
a_link_dead_both_directions_is_named_where_both_directions_are_hashed_alike(
    void **state)
{
	names(
	    "link-both-ways.recording", "Link spine2--tor2 carries nothing: both ways");
}

/* The rows of one rack came late: until then two of its links, one way each, did as
 * well. */
static void
a_dead_switch_is_not_reported_as_one_of_its_links(void **state)
{
	names("switch-after-rnic.recording", "Switch spine1 forwards nothing");
}

/* Most of the flows that died were one RNIC's, whose rack had to have had its say; then
 * the newest rows left it open which of two links it was, as those before had not. */
static void
a_part_known_from_earlier_rows_is_not_one_of_two(void **state)
{
	names("port-that-swallows.recording",
	    "Link spine1--tor1 loses all packets of some flows");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_link_dead_both_directions_is_named_where_both_directions_are_hashed_alike),
		cmocka_unit_test(a_dead_switch_is_not_reported_as_one_of_its_links),
		cmocka_unit_test(a_part_known_from_earlier_rows_is_not_one_of_two),
	};

	return cmocka_run_group_tests_name("recordings", tests, NULL, NULL);
}
