#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay_fixture.h"
#include "tests/sim/run.h"
#include "tests/sim/scenario.h"

/* One run: what it reported, and its recording. */
static void
record(const char *scenario_text, char **reported, char **recording)
{
	struct run_options options = { .seed = 3 };
	struct scenario *scenario = NULL;
	struct run_result result;
	struct rm_error error = { 0 };
	size_t reported_len, recording_len;

	options.verdicts = open_memstream(reported, &reported_len);
	options.record = open_memstream(recording, &recording_len);
	assert_non_null(options.verdicts);
	assert_non_null(options.record);
	if (scenario_parse("s.yaml", scenario_text, strlen(scenario_text), &scenario,
		&error) < 0 ||
	    run_whole(scenario, &options, &result, &error) < 0)
		fail_msg("%s", error.text);
	fclose(options.verdicts);
	fclose(options.record);
	run_result_clear(&result);
	scenario_free(scenario);
}

static int
replay(const char *recording, char **reported, struct rm_error *error)
{
	return replay_reported(
	    fmemopen((void *)(uintptr_t)recording, strlen(recording), "r"), "r.txt",
	    reported, error);
}

/* What racks report depends only on their results. The delay of messages to the centre
 * is drawn anew in a replay, and with it the quarter second in which the centre
 * reports. */
static char *
lines_of(const char *reported, bool racks)
{
	char *copy = strdup(reported), *kept = calloc(1, strlen(reported) + 1),
	     *rest = NULL;

	assert_non_null(copy);
	assert_non_null(kept);
	for (char *line = strtok_r(copy, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		const char *centre = strstr(line, " centre opened: ");

		if (racks && strstr(line, " s centre ") == NULL)
			strcat(strcat(kept, line), "\n");
		if (!racks && centre != NULL)
			strcat(strncat(kept, centre, strcspn(centre, ":,")), "\n");
	}
	free(copy);
	return kept;
}

static void
same_again(const char *scenario)
{
	char *reported, *recording, *again = NULL;
	struct rm_error error = { 0 };

	record(scenario, &reported, &recording);
	if (replay(recording, &again, &error) < 0)
		fail_msg("%s", error.text);
	for (int racks = 0; racks < 2; racks++) {
		char *a = lines_of(reported, racks), *b = lines_of(again, racks);

		assert_string_not_equal(a, "");
		assert_string_equal(a, b);
		free(a);
		free(b);
	}
	free(reported);
	free(recording);
	free(again);
}

static void
a_recording_is_judged_as_the_run_was(void **state)
{
	same_again("name: a\nseconds: 20\nfabric: { racks: 4, rnics_per_rack: 4 }\n"
		   "noise: { loss: 1e-5, clock_drift_ppm: 50, wall_offset_ms: 30 }\n"
		   "faults:\n"
		   "  - { kind: rnic-down, part: h2/r0, from_s: 5 }\n"
		   "  - { kind: link-down, part: tor4--spine2, from_s: 7 }\n");
}

static void
ends_of_sessions_silent_kernels_and_restarts_are_in_it(void **state)
{
	same_again("name: a\nseconds: 30\nfabric: { racks: 3, rnics_per_rack: 4 }\n"
		   "noise: { loss: 1e-5, aggregator_restarts_per_hour: 120 }\n"
		   "faults:\n"
		   "  - { kind: agent-down, part: h1, from_s: 4, lasts_s: 8 }\n"
		   "  - { kind: host-down, part: h6, from_s: 6, lasts_s: 12 }\n"
		   "  - { kind: agent-frozen, part: h9, from_s: 8, lasts_s: 8 }\n"
		   "  - { kind: link-down, part: tor1--spine1, from_s: 15 }\n");
}

static void
refused(const char *recording, const char *expected)
{
	char *reported = NULL;
	struct rm_error error = { 0 };

	assert_true(replay(recording, &reported, &error) < 0);
	if (strstr(error.text, expected) == NULL)
		fail_msg("expected \"%s\" in \"%s\"", expected, error.text);
	free(reported);
}

#define HEAD "rackmesh-recording 1\n0 rack tor1 0 0\n"

static void
a_malformed_line_is_named(void **state)
{
	refused("something else\n", "r.txt:1: expected rackmesh-recording 1");
	refused(HEAD "0 rack tor1 0 0\n", "r.txt:3: this rack is there already");
	refused(HEAD "0 rack tor2 0\n", "r.txt:3: expected rack TOR");
	refused(HEAD "0 plan tor1 00ff\n", "r.txt:3: this is no plan");
	refused(HEAD "0 plan tor1 0\n", "two hexadecimal digits");
	refused(HEAD "0 plan tor1 0g\n", "two hexadecimal digits each");
	refused(HEAD "0 begins tor1\n", "no plan yet");
	refused(HEAD "0 ends tor1\n", "no plan yet");
	refused(HEAD "0 begins tor2\n", "there is no such rack");
	refused(HEAD "5000000 frame tor1 h1 00\n4 frame tor1 h1 00\n",
	    "not before the last");
	refused(HEAD "x frame tor1 h1 00\n", "r.txt:3: expected a time");
	refused(HEAD "9 kernel tor1 h1\n", "expected frame, ended, or kernel");
	refused(HEAD "9 frame tor1 ../h1 00\n", "expected the name of a host");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_is_judged_as_the_run_was),
		cmocka_unit_test(
		    ends_of_sessions_silent_kernels_and_restarts_are_in_it),
		cmocka_unit_test(a_malformed_line_is_named),
	};

	return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
