/* Every point reaches the database, also if the database answers with errors, and if
 * the analyzer restarts. */
#include "analyzer/history/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "analyzer/sla/sla.h"
#include "history_world.h"
#include "rackmesh/core/file.h"
#include "rackmesh/metrics/metrics.h"
#include "tests/support/lane_messages.h"

static void
points_become_durable_and_arrive(void **state)
{
	struct world *world = *state;
	const struct history_counts *counts;
	struct rm_incident incident = sample_own_incident();
	const struct sla_rack_minute rack = { "t1", SLA_AVAILABLE, 100, 0 };
	struct sla_minute minute = { .region = "lab",
		.scope = "rack",
		.service = "",
		.start = { 60 },
		.racks = &rack,
		.rack_count = 1 };
	uint64_t ticket, incident_ticket;

	begin(world);
	counts = history_counts(world->history);
	ticket = put(world, 1, 100);
	incident_ticket = put_incident(world, 1);
	assert_int_equal(
	    history_incident(world->history, "lab", WIRE_OPENED, &incident), 0);
	assert_int_equal(history_sla(world->history, &minute), 0);
	LOOPBACK_WAIT(
	    world->loop, world->durable[WIRE_LANE_SUMMARY] >= ticket &&
			     world->durable[WIRE_LANE_INCIDENT] >= incident_ticket);
	LOOPBACK_WAIT(world->loop, drained(world));
	assert_int_equal(world->database.line_count, 100 * SAMPLE_SUMMARY_POINTS + 4);
	assert_int_equal(counts->points, 100 * SAMPLE_SUMMARY_POINTS + 4);
	assert_int_equal(counts->delivered_points, counts->points);
	assert_int_equal(counts->refused_points, 0);
	assert_int_equal(counts->failed_attempts, 0);
	assert_true(counts->batches < 100);
	assert_string_equal(history_trouble(world->history), "");
	end(world);
}

static void
names_policies_and_credentials_are_sent(void **state)
{
	struct world *world = *state;
	struct influx_config *influx = &world->config.influx;
	char path[128];

	snprintf(path, sizeof(path), "%s/secret", world->folder);
	assert_int_equal(rm_file_replace(path, (const uint8_t *)"s3cret\n", 7), 0);
	assert_int_equal(chmod(path, 0600), 0);
	free(influx->database);
	influx->database = strdup("rack mesh");
	free(influx->incident_retention_policy);
	influx->incident_retention_policy = strdup("kept");
	free(influx->user);
	influx->user = strdup("ana");
	free(influx->password_file);
	influx->password_file = strdup(path);
	begin(world);
	put_incident(world, 1);
	LOOPBACK_WAIT(world->loop, drained(world));
	assert_string_equal(
	    world->database.uri, "/write?precision=ns&db=rack%20mesh&rp=kept");
	assert_string_equal(world->database.authorization, "Basic YW5hOnMzY3JldA==");
	end(world);

	influx->user[0] = influx->password_file[0] = '\0';
	free(influx->token_file);
	influx->token_file = strdup(path);
	influx->version = 2;
	begin(world);
	put(world, 1, 1);
	LOOPBACK_WAIT(world->loop, drained(world));
	assert_string_equal(world->database.uri,
	    "/api/v2/write?precision=ns&org=rackmesh&bucket=rackmesh");
	assert_string_equal(world->database.authorization, "Token s3cret");
	end(world);
}

static void
the_next_attempt_uses_a_replaced_token(void **state)
{
	struct world *world = *state;
	struct influx_config *influx = &world->config.influx;
	char path[128];

	snprintf(path, sizeof(path), "%s/token", world->folder);
	assert_int_equal(rm_file_replace_secret(path, (const uint8_t *)"old\n", 4), 0);
	free(influx->token_file);
	influx->token_file = strdup(path);
	influx->version = 2;
	world->config_wait_ns = 50 * RM_NS_PER_MS;
	world->database.status = 401;
	world->database.failing = 1;
	begin(world);
	put(world, 1, 1);
	LOOPBACK_WAIT(world->loop, history_counts(world->history)->config_faults == 1);
	assert_string_equal(world->database.authorization, "Token old");
	assert_int_equal(rm_file_replace_secret(path, (const uint8_t *)"new\n", 4), 0);
	LOOPBACK_WAIT(world->loop, drained(world));
	assert_string_equal(world->database.authorization, "Token new");
	assert_int_equal(world->database.requests, 2);
	end(world);
}

static void
no_point_is_lost_while_the_database_is_down(void **state)
{
	static const int statuses[] = { 500, 502, 503, 429, 408 };
	struct world *world = *state;

	begin(world);
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		uint64_t before = history_counts(world->history)->failed_attempts;

		world->database.status = statuses[i];
		world->database.failing = 3;
		put(world, 1 + 10 * i, 10 + 10 * i);
		LOOPBACK_WAIT(world->loop,
		    history_counts(world->history)->failed_attempts > before);
		assert_string_not_equal(history_trouble(world->history), "");
		LOOPBACK_WAIT(world->loop, drained(world));
		assert_string_equal(history_trouble(world->history), "");
	}
	assert_int_equal(world->database.line_count, 50 * SAMPLE_SUMMARY_POINTS);
	assert_int_equal(history_counts(world->history)->refused_points, 0);
	end(world);
}

static void
a_batch_without_an_answer_is_sent_again_unchanged(void **state)
{
	struct world *world = *state;

	begin(world);
	world->database.drop = true;
	put(world, 1, 10);
	LOOPBACK_WAIT(world->loop, drained(world));
	assert_true(world->database.requests >= 2);
	assert_int_equal(world->database.line_count, 10 * SAMPLE_SUMMARY_POINTS);
	end(world);
}

static void
no_attempt_is_made_before_the_time_that_the_database_asked_for(void **state)
{
	struct world *world = *state;
	rm_mono_t begun;

	begin(world);
	world->database.status = 429;
	world->database.failing = 1;
	world->database.retry_after_s = 1;
	begun = rm_mono_now();
	put(world, 1, 1);
	LOOPBACK_WAIT(world->loop, drained(world));
	assert_true(rm_mono_since(rm_mono_now(), begun) >= RM_NS_PER_S);
	assert_int_equal(world->database.requests, 2);
	end(world);
}

static void
one_refused_point_loses_no_other(void **state)
{
	struct world *world = *state;

	begin(world);
	world->database.poison = "taken=70i";
	put(world, 1, 20);
	LOOPBACK_WAIT(world->loop, drained(world));
	assert_int_equal(world->database.line_count, 20 * SAMPLE_SUMMARY_POINTS - 1);
	assert_int_equal(history_counts(world->history)->refused_points, 1);
	assert_true(history_counts(world->history)->splits > 0);
	assert_int_equal(history_counts(world->history)->delivered_points,
	    20 * SAMPLE_SUMMARY_POINTS - 1);
	end(world);
}

static void
a_message_that_is_too_large_is_split(void **state)
{
	struct world *world = *state;

	begin(world);
	world->database.status = 413;
	world->database.failing = 3;
	put(world, 1, 20);
	LOOPBACK_WAIT(world->loop, drained(world));
	assert_int_equal(world->database.line_count, 20 * SAMPLE_SUMMARY_POINTS);
	assert_int_equal(history_counts(world->history)->splits, 3);
	assert_int_equal(history_counts(world->history)->refused_points, 0);
	end(world);
}

static void
a_partial_write_is_not_repeated(void **state)
{
	struct world *world = *state;

	begin(world);
	world->database.status = 400;
	world->database.failing = 1;
	world->database.body =
	    "{\"error\":\"partial write: points beyond retention policy dropped=2\"}";
	put(world, 1, 1);
	LOOPBACK_WAIT(world->loop, drained(world));
	assert_int_equal(world->database.requests, 1);
	assert_int_equal(history_counts(world->history)->refused_points, 2);
	assert_int_equal(history_counts(world->history)->delivered_points,
	    SAMPLE_SUMMARY_POINTS - 2);
	end(world);
}

static void
a_configuration_fault_is_reported_and_keeps_the_points(void **state)
{
	static const struct {
		int status;
		const char *body;
	} faults[] = { { 401, "{\"error\":\"authorization failed\"}" }, { 403, "{}" },
		{ 404, "{\"error\":\"database not found: \\\"rackmesh\\\"\"}" },
		{ 500, "{\"error\":\"retention policy not found: raw\"}" } };
	struct world *world = *state;

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		begin(world);
		world->database.status = faults[i].status;
		world->database.body = faults[i].body;
		world->database.failing = 1;
		put(world, 1 + i, 1 + i);
		LOOPBACK_WAIT(
		    world->loop, history_counts(world->history)->config_faults == 1);
		assert_non_null(
		    strstr(history_trouble(world->history), "configuration fault"));
		assert_true(history_waiting(world->history, WIRE_LANE_SUMMARY) > 0);
		end(world);
	}
	begin(world); /* with a database that stores everything */
	LOOPBACK_WAIT(world->loop, drained(world));
	assert_int_equal(world->database.line_count, 4 * SAMPLE_SUMMARY_POINTS);
	end(world);
}

static void
new_incidents_are_sent_before_a_backlog(void **state)
{
	struct world *world = *state;

	begin(world);
	world->database.summaries_away = true;
	put(world, 1, 500);
	LOOPBACK_WAIT(world->loop, world->database.to_summaries > 0);
	put_incident(world, 1);
	LOOPBACK_WAIT(world->loop, world->database.line_count == 1);
	assert_true(world->database.first_was_incident);
	assert_true(history_waiting(world->history, WIRE_LANE_SUMMARY) > 0);
	world->database.summaries_away = false;
	LOOPBACK_WAIT(world->loop, drained(world));
	assert_int_equal(world->database.line_count, 500 * SAMPLE_SUMMARY_POINTS + 1);
	end(world);
}

static void
a_restart_sends_points_that_were_not_acknowledged(void **state)
{
	struct world *world = *state;
	uint64_t ticket;

	world->database.failing = 1000000;
	begin(world);
	ticket = put(world, 1, 50);
	put_incident(world, 1);
	LOOPBACK_WAIT(world->loop, world->durable[WIRE_LANE_SUMMARY] >= ticket);
	assert_int_equal(world->database.line_count, 0);
	end(world);

	world->database.failing = 0;
	world->database.drop = true; /* the batch is stored, but the answer is lost */
	begin(world);
	LOOPBACK_WAIT(world->loop, world->database.line_count > 0);
	end(world);
	begin(world);
	LOOPBACK_WAIT(world->loop, drained(world));
	assert_int_equal(world->database.line_count, 50 * SAMPLE_SUMMARY_POINTS + 1);
	/* After the restart the numbers of tickets continue. */
	assert_true(put(world, 51, 51) > ticket);
	LOOPBACK_WAIT(world->loop, drained(world));
	end(world);
}

static void
without_history_messages_are_acknowledged_and_dropped(void **state)
{
	struct world *world = *state;
	uint64_t ticket;

	world->config.influx.url[0] = '\0';
	world->config.history_folder[0] = '\0';
	begin(world);
	ticket = put(world, 1, 300);
	LOOPBACK_WAIT(world->loop, drained(world));
	LOOPBACK_WAIT(world->loop, world->durable[WIRE_LANE_SUMMARY] >= ticket);
	end(world);
}

/* The disk is slow, and all aggregators reconnect at once and send their backlogs. */
static void
points_that_are_not_on_disk_are_limited_and_the_rest_waits(void **state)
{
	struct world *world = *state;
	struct wire_bytes bytes;
	uint64_t ticket = 0, messages = 0;
	int r = 0;

	free(world->config.influx.url);
	world->config.influx.url = strdup("");
	begin(world);
	while (r == 0 && messages < 1000000) {
		bytes = sample_summary(world->writer, ++messages);
		r = lane_message_take(
		    world->history, WIRE_LANE_SUMMARY, bytes.data, bytes.len, &ticket);
	}
	assert_int_equal(r, -ENOBUFS);
	assert_int_equal(history_counts(world->history)->refused_messages, 0);
	put_incident(world, 1); /* incidents have their own lane */
	LOOPBACK_WAIT(world->loop, world->durable[WIRE_LANE_SUMMARY] >= ticket);
	put(world, messages, messages);
	end(world);
}

static void
a_message_without_points_is_refused_and_counted(void **state)
{
	struct world *world = *state;
	struct rm_metrics *metrics;
	struct evbuffer *out = evbuffer_new();
	const struct wire_summary unfit = { .tor = "t\n1", .end_wall_ns = 5 };
	struct wire_bytes bytes;
	uint64_t ticket = 5;

	begin(world);
	assert_int_equal(wire_write_summary(world->writer, &unfit, &bytes), 0);
	assert_int_equal(lane_message_take(world->history, WIRE_LANE_SUMMARY,
			     bytes.data, bytes.len, &ticket),
	    -EBADMSG);
	assert_int_equal(ticket, 5);
	assert_int_equal(history_counts(world->history)->refused_messages, 1);
	assert_int_equal(rm_metrics_new(&metrics), 0);
	assert_int_equal(history_metrics(world->history, metrics), 0);
	assert_int_equal(rm_metrics_render(metrics, out), 0);
	evbuffer_add(out, "", 1);
	assert_non_null(strstr((char *)evbuffer_pullup(out, -1),
	    "rackmesh_analyzer_history_messages_refused_total 1\n"));
	evbuffer_free(out);
	rm_metrics_free(metrics);
	end(world);
}

static void
a_secret_that_cannot_be_read_is_reported_at_the_start(void **state)
{
	struct world *world = *state;
	const struct history_callbacks callbacks = { on_durable, world };
	struct history_options options;
	struct rm_error error;

	free(world->config.influx.token_file);
	world->config.influx.token_file = strdup("/nonexistent/token");
	assert_int_equal(rm_worker_new(world->loop, 64, &world->worker), 0);
	assert_int_equal(rm_http_client_new(world->loop, &world->http), 0);
	options = history_options_of(world);
	assert_int_equal(
	    history_new(&options, &callbacks, &world->history, &error), -ENOENT);
	assert_string_equal(
	    error.text, "/nonexistent/token: No such file or directory");
	rm_worker_free(world->worker);
	rm_http_client_free(world->http);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(points_become_durable_and_arrive),
		TEST(names_policies_and_credentials_are_sent),
		TEST(no_point_is_lost_while_the_database_is_down),
		TEST(a_batch_without_an_answer_is_sent_again_unchanged),
		TEST(no_attempt_is_made_before_the_time_that_the_database_asked_for),
		TEST(one_refused_point_loses_no_other),
		TEST(a_message_that_is_too_large_is_split),
		TEST(a_partial_write_is_not_repeated),
		TEST(the_next_attempt_uses_a_replaced_token),
		TEST(a_configuration_fault_is_reported_and_keeps_the_points),
		TEST(new_incidents_are_sent_before_a_backlog),
		TEST(a_restart_sends_points_that_were_not_acknowledged),
		TEST(without_history_messages_are_acknowledged_and_dropped),
		TEST(points_that_are_not_on_disk_are_limited_and_the_rest_waits),
		TEST(a_message_without_points_is_refused_and_counted),
		TEST(a_secret_that_cannot_be_read_is_reported_at_the_start),
	};

	return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}
