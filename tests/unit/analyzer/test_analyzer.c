#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "analyzer_fixture.h"

/* Shorter waits than the defaults. */
#define HURRIED                   \
	"resolve_after_ms: 250\n" \
	"blind: {grace_ms: 500, start_ms: 500}\n"

/* Counts verifications of whole messages, by the linker's --wrap. */
static unsigned summaries_opened, incidents_opened;

int __real_wire_open_summary(
    struct wire_summary_view *view, const uint8_t *data, size_t len);
int __wrap_wire_open_summary(
    struct wire_summary_view *view, const uint8_t *data, size_t len);
int __real_wire_open_incident(
    struct wire_incident *view, const uint8_t *data, size_t len);
int __wrap_wire_open_incident(
    struct wire_incident *view, const uint8_t *data, size_t len);

int
__wrap_wire_open_summary(
    struct wire_summary_view *view, const uint8_t *data, size_t len)
{
	summaries_opened++;
	return __real_wire_open_summary(view, data, len);
}

int
__wrap_wire_open_incident(struct wire_incident *view, const uint8_t *data, size_t len)
{
	incidents_opened++;
	return __real_wire_open_incident(view, data, len);
}

static void
restart(struct fixture *f, const char *more)
{
	stop(f);
	snprintf(f->more, sizeof(f->more), "%s", more);
	f->agg.summary_interval_s = 1;
	start(f);
}

/* Returns how many incidents of the analyzer's own are open; writes id and part of the
 * first. */
static size_t
own_open(struct fixture *f, char id[32], char part[64])
{
	struct answer answer;
	json_t *incident;
	size_t i, count = 0;

	get(f, "/v1/incidents?open=1", &answer);
	json_array_foreach (json_object_get(answer.json, "incidents"), i, incident) {
		json_t *sources = json_object_get(incident, "sources");
		bool own = false;

		for (size_t k = 0; k < json_array_size(sources); k++)
			own |= strcmp(json_string_value(json_array_get(sources, k)),
				   "an1") == 0;
		if (!own || count++ > 0)
			continue;
		snprintf(
		    id, 32, "%s", json_string_value(json_object_get(incident, "id")));
		snprintf(part, 64, "%s %s",
		    json_string_value(json_object_get(incident, "part_type")),
		    json_string_value(json_object_get(incident, "part")));
	}
	answer_clear(&answer);
	return count;
}

static void
wait_for_own(struct fixture *f, size_t wanted, char id[32], char part[64])
{
	rm_mono_t deadline = rm_mono_add(rm_mono_now(), LOOPBACK_PATIENCE_NS);

	while (own_open(f, id, part) != wanted) {
		assert_true(rm_mono_since(deadline, rm_mono_now()) > 0);
		loopback_run(f->loop, 100 * RM_NS_PER_MS);
	}
}

/* True if the file contains this text. The analyzer replaces the file as a whole. */
static bool
reports(const struct fixture *f, const char *file, const char *expected)
{
	char path[128];
	uint8_t *bytes = NULL;
	size_t len;
	bool found;

	snprintf(path, sizeof(path), "%s/state/%s", f->folder, file);
	if (rm_file_read(path, 1 << 20, &bytes, &len) < 0)
		return false;
	found = memmem(bytes, len, expected, strlen(expected)) != NULL;
	free(bytes);
	return found;
}

static void
wait_acked(struct fixture *f)
{
	LOOPBACK_WAIT(
	    f->loop, f->agg.acked[WIRE_LANE_SUMMARY] == f->agg.seq[WIRE_LANE_SUMMARY]);
}

/* Sends one summary of each rack, and waits for the acknowledgements. */
static void
live(struct fixture *f)
{
	send_summary(f, "tor1", 1);
	send_summary(f, "tor2", 2);
	wait_acked(f);
}

static void
each_message_is_verified_once(void **state)
{
	struct fixture *f = *state;

	hello(f);
	summaries_opened = incidents_opened = 0;
	live(f);
	send_incident(f, "tor1", 1, WIRE_OPENED);
	LOOPBACK_WAIT(f->loop, f->agg.acked[WIRE_LANE_INCIDENT] == 1);
	assert_int_equal(summaries_opened, 2);
	assert_int_equal(incidents_opened, 1);
}

/* Sends summaries until no aggregator is missing any more. */
static void
live_until_over(struct fixture *f)
{
	char id[32], part[64];

	for (int i = 0; i < 600 && own_open(f, id, part) > 0; i++) {
		live(f);
		loopback_run(f->loop, 100 * RM_NS_PER_MS);
	}
	assert_int_equal(own_open(f, id, part), 0);
}

static void
a_missing_aggregator_is_one_finding_that_ends_when_it_returns(void **state)
{
	struct fixture *f = *state;
	char id[32], part[64];

	restart(f, HURRIED);
	hello(f);
	live(f);
	assert_int_equal(own_open(f, id, part), 0);
	leave(f);
	/* One incident for the aggregator, none for its racks. */
	wait_for_own(f, 1, id, part);
	assert_string_equal(part, "aggregator agg1");
	loopback_run(f->loop, 1500 * RM_NS_PER_MS);
	assert_int_equal(own_open(f, id, part), 1);
	hello(f);
	live_until_over(f);
}

static void
incidents_of_the_analyzer_keep_their_ids_over_a_restart(void **state)
{
	struct fixture *f = *state;
	char id[32], again[32], part[64];

	restart(f, HURRIED);
	hello(f);
	live(f);
	leave(f);
	wait_for_own(f, 1, id, part);
	LOOPBACK_WAIT(f->loop, reports(f, "incidents-lab.json", id));
	restart(f, HURRIED);
	assert_int_equal(own_open(f, again, part), 1);
	assert_string_equal(again, id);
	/* The incident stays open while no aggregator connects, and ends when one does.
	 */
	loopback_run(f->loop, 1500 * RM_NS_PER_MS);
	assert_int_equal(own_open(f, again, part), 1);
	assert_string_equal(again, id);
	hello(f);
	live_until_over(f);
}

static void
an_aggregator_that_is_gone_after_a_restart_is_reported_missing(void **state)
{
	struct fixture *f = *state;
	char id[32], part[64];

	restart(f, HURRIED);
	hello(f);
	live(f);
	for (int i = 0; i < 300 && !reports(f, "aggregators.json", "agg1"); i++) {
		live(f);
		loopback_run(f->loop, 200 * RM_NS_PER_MS);
	}
	live_until_over(f); /* a starved machine may have made it missing */
	leave(f);
	restart(f, HURRIED);
	assert_int_equal(own_open(f, id, part), 0);
	wait_for_own(f, 1, id, part);
	assert_string_equal(part, "aggregator agg1");
}

static void
a_racks_verdict_on_its_own_tor_is_accepted(void **state)
{
	struct fixture *f = *state;
	char id[32], part[64];

	/* A long wait keeps the aggregator's silence from becoming another incident. */
	restart(f, "resolve_after_ms: 250\n");
	hello(f);
	live(f);
	f->agg.part_type = "tor";
	f->agg.part = "tor1";
	f->agg.kind = "tor-down";
	send_incident(f, "tor1", 0x77, WIRE_OPENED);
	wait_for_own(f, 1, id, part);
	assert_string_equal(part, "tor tor1");
	/* One incident for one fault, reported by the rack and by the analyzer. */
	assert_string_equal(id, "0000000000000077");
}

static void
a_stall_of_the_loop_makes_no_aggregator_silent(void **state)
{
	struct fixture *f = *state;
	char id[32], part[64];

	restart(f, HURRIED);
	hello(f);
	live(f);
	loopback_run(f->loop, 600 * RM_NS_PER_MS);
	live(f);
	/* Blocks the loop, as SIGSTOP does. */
	usleep(900 * 1000);
	loopback_run(f->loop, 200 * RM_NS_PER_MS);
	assert_int_equal(own_open(f, id, part), 0);
}

static void
append(const char *path, const char *lines)
{
	FILE *file = fopen(path, "a");

	assert_non_null(file);
	fputs(lines, file);
	assert_int_equal(fclose(file), 0);
}

static void
a_reload_changes_reloadable_options_and_a_bad_one_changes_nothing(void **state)
{
	struct fixture *f = *state;

	append(f->file, "alerts: {webhooks: [\"http://127.0.0.1:9/hook\"]}\n"
			"sla: {unavailable_permille: 20}\n");
	analyzer_reload(f->analyzer);
	assert_int_equal(f->config.alerts.webhooks.count, 1);
	assert_int_equal(f->config.unavailable_permille,
	    10); /* a change takes effect after a restart */
	append(f->file, "nonsense: 1\n");
	analyzer_reload(f->analyzer);
	assert_int_equal(f->config.alerts.webhooks.count, 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_message_is_verified_once),
		TEST(a_reload_changes_reloadable_options_and_a_bad_one_changes_nothing),
		TEST(a_missing_aggregator_is_one_finding_that_ends_when_it_returns),
		TEST(incidents_of_the_analyzer_keep_their_ids_over_a_restart),
		TEST(an_aggregator_that_is_gone_after_a_restart_is_reported_missing),
		TEST(a_racks_verdict_on_its_own_tor_is_accepted),
		TEST(a_stall_of_the_loop_makes_no_aggregator_silent),
	};

	return cmocka_run_group_tests_name("analyzer", tests, NULL, NULL);
}
