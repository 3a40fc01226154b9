#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "rackmesh/http/http_client.h"
#include "tests/unit/region-controller/controller_fixture.h"

struct answer {
	bool done;
	long status;
	json_t *json; /* NULL: the body is no JSON */
	char *text;
};

static void
on_answer(const struct rm_http_answer *from, void *arg)
{
	struct answer *answer = arg;

	assert_int_equal(from->r, 0);
	answer->done = true;
	answer->status = from->status;
	answer->text = strndup(from->body, from->body_len);
	answer->json = json_loads(answer->text, 0, NULL);
}

static void
answer_clear(struct answer *answer)
{
	json_decref(answer->json);
	free(answer->text);
}

/* body NULL: a GET, else a POST. */
static void
ask_url(struct fixture *f, const char *url, const char *body, struct answer *answer)
{
	struct rm_http_client *client = NULL;

	*answer = (struct answer){ 0 };
	assert_int_equal(rm_http_client_new(f->loop, &client), 0);
	assert_int_equal(rm_http_client_send(client, url, "application/json", body, 0,
			     LOOPBACK_PATIENCE_NS, on_answer, answer),
	    0);
	LOOPBACK_WAIT(f->loop, answer->done);
	rm_http_client_free(client);
}

static void
get(struct fixture *f, const char *path, struct answer *answer)
{
	char url[256];

	snprintf(url, sizeof(url), "http://127.0.0.1:%d%s",
	    region_controller_http_port(f->controller), path);
	ask_url(f, url, NULL, answer);
}

/* Through the Unix socket. */
static void
post(struct fixture *f, const char *path, struct answer *answer)
{
	char url[256];

	snprintf(url, sizeof(url), "unix:%s:%s", f->socket, path);
	ask_url(f, url, "", answer);
}

static void
the_api_shows_racks_plans_and_refused_rnics(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic = region_rnic(900, "stray", "tor1", REGION_V4);
	struct answer answer;
	json_t *rack;

	start_four_racks(f);
	report_four_racks(f);
	rnic.tors[1] = "tor77";
	rnic.tor_count = 2;
	agg_register(&f->agg, &rnic);
	LOOPBACK_WAIT(f->loop, f->agg.plans == 4);

	get(f, "/v1/racks", &answer);
	assert_int_equal(answer.status, 200);
	assert_int_equal(json_array_size(json_object_get(answer.json, "racks")), 4);
	rack = json_array_get(json_object_get(answer.json, "racks"), 0);
	assert_string_equal(json_string_value(json_object_get(rack, "tor")), "tor1");
	assert_int_equal(json_integer_value(json_object_get(rack, "members")), 4);
	assert_int_equal(json_integer_value(json_object_get(rack, "plan_version")),
	    f->agg.held[0].plan_version);
	answer_clear(&answer);

	get(f, "/v1/plan/tor2", &answer);
	assert_int_equal(answer.status, 200);
	assert_int_equal(json_array_size(json_object_get(answer.json, "members")), 4);
	assert_true(json_array_size(json_object_get(answer.json, "entries")) > 0);
	answer_clear(&answer);

	get(f, "/v1/plan/tor9", &answer);
	assert_int_equal(answer.status, 404);
	answer_clear(&answer);

	get(f, "/v1/rnics", &answer);
	assert_int_equal(json_array_size(json_object_get(answer.json, "rnics")), 17);
	answer_clear(&answer);

	get(f, "/v1/refused", &answer);
	rack = json_array_get(json_object_get(answer.json, "unplaced"), 0);
	assert_string_equal(
	    json_string_value(json_object_get(rack, "reason")), "unknown_tor");
	answer_clear(&answer);

	get(f, "/v1/topology", &answer);
	assert_int_equal(json_array_size(json_object_get(answer.json, "switches")), 6);
	assert_int_equal(json_array_size(json_object_get(answer.json, "links")), 8);
	answer_clear(&answer);

	get(f, "/readyz", &answer);
	assert_int_equal(answer.status, 200);
	answer_clear(&answer);
	get(f, "/metrics", &answer);
	assert_non_null(
	    strstr(answer.text, "rackmesh_controller_plans_sent_total 4\n"));
	assert_non_null(
	    strstr(answer.text, "rackmesh_controller_rnics_refused_total{reason=\""
				"unknown_tor\"} 1\n"));
	assert_non_null(strstr(answer.text, "rackmesh_controller_http_full_total 0\n"));
	assert_non_null(strstr(answer.text, "rackmesh_controller_keys_sent_total 0\n"));
	assert_null(strstr(answer.text, "rackmesh_controller_plan_updates_total 0\n"));
	assert_non_null(strstr(answer.text, "rackmesh_controller_plan_updates_total "));
	assert_non_null(
	    strstr(answer.text, "rackmesh_controller_traced_paths_learned_total 0\n"));
	assert_non_null(strstr(
	    answer.text, "rackmesh_controller_traced_links_forgotten_total 0\n"));
	assert_non_null(strstr(answer.text, "rackmesh_controller_traced_links 0\n"));
	assert_non_null(strstr(answer.text, "rackmesh_controller_joins_waiting 0\n"));
	assert_non_null(
	    strstr(answer.text, "rackmesh_controller_watchdog_fed_total 0\n"));
	assert_non_null(
	    strstr(answer.text, "rackmesh_controller_notify_failed_total 0\n"));
	answer_clear(&answer);
}

static void
damaged_frames_are_counted(void **state)
{
	static const uint8_t frame[] = { 0, 0, 0, 4, 1, 2, 3, 4, 'j', 'u', 'n', 'k' };
	struct fixture *f = *state;
	struct answer answer;
	char byte;
	int fd;

	start_four_racks(f);
	fd = loopback_connect(region_controller_port(f->controller));
	assert_int_equal(write(fd, frame, sizeof(frame)), sizeof(frame));
	LOOPBACK_WAIT(
	    f->loop, recv(fd, &byte, 1, MSG_DONTWAIT) == 0 || errno != EAGAIN);
	close(fd);
	get(f, "/metrics", &answer);
	assert_non_null(
	    strstr(answer.text, "\nrackmesh_controller_messages_refused_total 1\n"));
	answer_clear(&answer);
}

static void
changes_need_the_unix_socket(void **state)
{
	static const char *const changing[] = { "topology/reload", "topology/import",
		"brake", "forget/00:00:00:00:00:64" };
	struct fixture *f = *state;
	struct answer answer;
	char url[128];

	start_four_racks(f);
	report_four_racks(f);
	LOOPBACK_WAIT(f->loop, f->agg.plans == 4);
	for (size_t i = 0; i < sizeof(changing) / sizeof(changing[0]); i++) {
		snprintf(url, sizeof(url), "http://127.0.0.1:%d/v1/%s",
		    region_controller_http_port(f->controller), changing[i]);
		ask_url(f, url, "", &answer);
		assert_int_equal(answer.status, 403);
		answer_clear(&answer);
	}
	post(f, "/v1/topology/reload", &answer);
	assert_int_equal(answer.status, 200);
	answer_clear(&answer);
	write_file(f->topology, "region: lab\nswitchs: []\n");
	post(f, "/v1/topology/reload", &answer);
	assert_int_equal(answer.status, 422);
	assert_non_null(strstr(answer.text, "topology.yaml:2:1: "));
	answer_clear(&answer);
	post(f, "/v1/forget/00:00:00:00:00:64", &answer);
	assert_int_equal(answer.status, 200);
	answer_clear(&answer);
	LOOPBACK_WAIT(f->loop, f->agg.members[0] == 3);
	post(f, "/v1/forget/00:00:00:00:00:64", &answer);
	assert_int_equal(answer.status, 404);
	answer_clear(&answer);
	post(f, "/v1/forget/me", &answer);
	assert_int_equal(answer.status, 400);
	answer_clear(&answer);
}

/* ---- reloads --------------------------------------------------------------------- */

static void
append(const char *path, const char *lines)
{
	FILE *file = fopen(path, "a");

	assert_non_null(file);
	fputs(lines, file);
	assert_int_equal(fclose(file), 0);
}

static void
expect_metrics(struct fixture *f, const char *const *lines)
{
	struct answer answer;

	get(f, "/metrics", &answer);
	for (; *lines != NULL; lines++)
		if (strstr(answer.text, *lines) == NULL)
			fail_msg("no %s", *lines);
	answer_clear(&answer);
}

static void
metrics_report_how_the_last_reload_went(void **state)
{
	static const char *const before[] = {
		"\nrackmesh_config_reloads_total{result=\"good\"} 0\n",
		"\nrackmesh_config_last_reload_successful 1\n",
		"\nrackmesh_config_options_need_restart 0\n", NULL
	};
	static const char *const good[] = {
		"\nrackmesh_config_reloads_total{result=\"good\"} 1\n",
		"\nrackmesh_config_last_reload_success_timestamp_seconds 1",
		"\nrackmesh_config_options_need_restart 1\n", NULL
	};
	static const char *const bad[] = {
		"\nrackmesh_config_reloads_total{result=\"good\"} 1\n",
		"\nrackmesh_config_reloads_total{result=\"refused\"} 1\n",
		"\nrackmesh_config_last_reload_successful 0\n",
		"\nrackmesh_config_options_need_restart 1\n", NULL
	};
	struct fixture *f = *state;
	struct answer answer;

	start_four_racks(f);
	report_four_racks(f);
	LOOPBACK_WAIT(f->loop, f->agg.plans == 4);
	expect_metrics(f, before);
	/* epoch_s of probe_keys takes effect only after a restart. */
	append(f->config, "debounce_ms: 100\nprobe_keys: {epoch_s: 3600}\n");
	region_controller_reload(f->controller);
	expect_metrics(f, good);
	append(f->config, "nonsense: 1\n");
	region_controller_reload(f->controller);
	expect_metrics(f, bad);
	get(f, "/readyz", &answer);
	assert_int_equal(answer.status, 200);
	answer_clear(&answer);
}

/* ---- releases -------------------------------------------------------------------- */

static const char *
text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "null";
}

static void
expect_row(const json_t *answer, size_t i, const char *component, const char *name,
    const char *version)
{
	const json_t *row = json_array_get(json_object_get(answer, "versions"), i);

	assert_string_equal(text_of(row, "component"), component);
	assert_string_equal(text_of(row, "name"), name);
	assert_string_equal(text_of(row, "version"), version);
}

static void
report_versions(struct fixture *f, const struct wire_version *peers, size_t count)
{
	const struct wire_versions versions = { .peers = peers, .peer_count = count };
	struct wire_bytes bytes;

	agg_send(
	    &f->agg, wire_write_versions(f->agg.writer, &versions, &bytes), &bytes);
}

static void
one_answer_shows_the_release_of_every_daemon(void **state)
{
	const struct wire_version peers[] = {
		{ WIRE_COMPONENT_ANALYZER, "z1", "1.0", 5, true },
		{ WIRE_COMPONENT_CONTROLLER, "c2", "1.0", 5, false },
		{ WIRE_COMPONENT_CONTROLLER, "c1", "0.9", 5,
		    true }, /* ignored: the controller knows its own release */
		{ WIRE_COMPONENT_AGENT, "h2", "", 5, true },
		{ WIRE_COMPONENT_AGENT, "h1", "1.0", 5, true },
		{ WIRE_COMPONENT_AGENT, "a bad name", "1.0", 5, true },
		{ WIRE_COMPONENT_AGENT, "h3", "no version", 5, true },
	};
	struct fixture *f = *state;
	struct answer answer;

	start_four_racks(f);
	f->agg.software = "1.1";
	agg_hello(f, &f->agg);
	report_versions(f, peers, 2);
	report_versions(
	    f, peers, sizeof(peers) / sizeof(peers[0])); /* replaces the first list */
	do { /* until the second list has arrived */
		get(f, "/v1/versions", &answer);
		assert_int_equal(answer.status, 200);
		if (json_array_size(json_object_get(answer.json, "versions")) == 7)
			break;
		answer_clear(&answer);
	} while (true);
	expect_row(answer.json, 0, "host-agent", "h1", "1.0");
	expect_row(answer.json, 1, "host-agent", "h2", "null");
	expect_row(answer.json, 2, "host-agent", "h3", "null");
	expect_row(answer.json, 3, "tor-aggregator", "agg1", "1.1");
	expect_row(answer.json, 4, "region-controller", "c1", RACKMESH_VERSION);
	expect_row(answer.json, 5, "region-controller", "c2", "1.0");
	expect_row(answer.json, 6, "analyzer", "z1", "1.0");
	assert_true(json_is_true(json_object_get(answer.json, "mixed")));
	assert_int_equal(json_integer_value(json_object_get(
			     json_object_get(answer.json, "counts"), "unknown")),
	    2);
	assert_int_equal(json_integer_value(json_object_get(
			     json_object_get(answer.json, "counts"), "1.0")),
	    3);
	answer_clear(&answer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_api_shows_racks_plans_and_refused_rnics),
		TEST(damaged_frames_are_counted),
		TEST(metrics_report_how_the_last_reload_went),
		TEST(one_answer_shows_the_release_of_every_daemon),
		TEST(changes_need_the_unix_socket),
	};

	return cmocka_run_group_tests_name("controller_api", tests, NULL, NULL);
}
