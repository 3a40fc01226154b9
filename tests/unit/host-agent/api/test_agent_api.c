#include "host-agent/api/agent_api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "host-agent/pinglist/pinglist_store.h"
#include "host-agent/trace/tracer.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/metrics/metrics.h"
#include "tests/support/arrivals.h"
#include "tests/support/loopback.h"
#include "tests/support/pinglist_fixture.h"

#define ANSWER_BYTES (4u << 20)

struct fixture {
	struct rm_loop *loop;
	struct rm_metrics *metrics;
	struct rm_http_server *server;
	struct pinglist_store *pinglists;
	struct tracer *tracer;
	struct agent_api api;
	bool paused;
	struct wire_brake brake;
	char *answer; /* the bytes received, NUL-terminated */
	size_t answer_len;
};

static struct fixture fixture;

static int
setup(void **state)
{
	struct rm_address address = loopback_address(0);
	struct tracer_options options = { RM_NS_PER_S, 100, 1 };
	struct fixture *f = &fixture;

	*f = (struct fixture){ .answer = malloc(ANSWER_BYTES) };
	*state = f;
	if (f->answer == NULL || rm_loop_new(&f->loop) < 0 ||
	    rm_metrics_new(&f->metrics) < 0 ||
	    pinglist_store_new("", NULL, &f->pinglists) < 0 ||
	    pinglist_store_add_tor(f->pinglists, "tor-a") < 0 ||
	    pinglist_store_add_tor(f->pinglists, "tor-b") < 0 ||
	    tracer_new(&options, &f->tracer) < 0 ||
	    rm_http_server_new(f->loop, &f->server) < 0)
		return -1;
	f->api = (struct agent_api){ .host = "h1",
		.pinglists = f->pinglists,
		.paused = &f->paused,
		.brake = &f->brake,
		.tracer = f->tracer };
	if (agent_api_serve(f->server, f->metrics, &f->api) < 0)
		return -1;
	return rm_http_server_listen(f->server, &address);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_http_server_free(f->server);
	pinglist_store_free(f->pinglists);
	tracer_free(f->tracer);
	rm_metrics_free(f->metrics);
	rm_loop_free(f->loop);
	free(f->answer);
	return 0;
}

/* Sends a pinglist of count targets. Target i has the probing interval first + i us. */
static void
take(struct fixture *f, const char *tor, size_t count, uint32_t first)
{
	static const uint16_t flows[] = { 50000 }, sizes[] = { 88 };
	static const uint8_t dscps[] = { 26 };
	struct wire_target *targets = calloc(count, sizeof(*targets));
	struct wire_pinglist pinglist = {
		.tor = tor, .version = 1, .targets = targets, .target_count = count
	};
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes bytes;
	const char *changed;
	int r;

	assert_non_null(targets);
	for (size_t i = 0; i < count; i++)
		targets[i] = (struct wire_target){ .src = rnic_number(1),
			.dst = { .guid = 1000 + i },
			.kind = WIRE_TOR_MESH,
			.address = address_number(2, 862),
			.interval_us = first + (uint32_t)i,
			.flows = flows,
			.flow_count = 1,
			.dscps = dscps,
			.dscp_count = 1,
			.sizes = sizes,
			.size_count = 1 };
	assert_int_equal(wire_write_pinglist(writer, &pinglist, &bytes), 0);
	assert_true(pinglist_store_arrival(f->pinglists, bytes.data, bytes.len,
	    rm_wall_now(), rm_mono_now(), &changed, &r));
	wire_writer_free(writer);
	free(targets);
}

/* Returns false when the other side has closed, so the whole answer is there. */
static bool
receive(struct fixture *f, int fd)
{
	for (;;) {
		ssize_t n = recv(
		    fd, f->answer + f->answer_len, ANSWER_BYTES - 1 - f->answer_len, 0);

		if (n <= 0)
			return n < 0;
		f->answer_len += (size_t)n;
	}
}

static json_t *
ask_by(struct fixture *f, const char *method, const char *path, const char *query,
    int expected)
{
	int fd = loopback_connect(rm_http_server_port(f->server));
	char request[128];
	json_t *json;

	snprintf(request, sizeof(request), "%s /v1/%s%s HTTP/1.0\r\n\r\n", method, path,
	    query);
	assert_int_equal(write(fd, request, strlen(request)), strlen(request));
	fcntl(fd, F_SETFL, O_NONBLOCK);
	f->answer_len = 0;
	LOOPBACK_WAIT(f->loop, !receive(f, fd));
	close(fd);
	f->answer[f->answer_len] = 0;
	assert_int_equal(atoi(f->answer + strlen("HTTP/1.1 ")), expected);
	json = json_loads(strstr(f->answer, "\r\n\r\n"), 0, NULL);
	assert_non_null(json);
	return json;
}

static json_t *
ask_at(struct fixture *f, const char *path, const char *query, int expected)
{
	return ask_by(f, "GET", path, query, expected);
}

static json_t *
ask(struct fixture *f, const char *query, int expected)
{
	return ask_at(f, "pinglist", query, expected);
}

static json_int_t
number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* Checks pinglist i: how many of its targets are shown, the first one, and its
 * total. */
static void
check_list(
    const json_t *all, size_t i, size_t shown, json_int_t first, json_int_t count)
{
	json_t *list = json_array_get(json_object_get(all, "pinglists"), i);
	json_t *targets = json_object_get(list, "targets");

	assert_int_equal(json_array_size(targets), shown);
	assert_int_equal(number(list, "target_count"), count);
	if (shown > 0)
		assert_int_equal(
		    number(json_array_get(targets, 0), "interval_us"), first);
}

static void
a_pinglist_is_shown_page_by_page(void **state)
{
	struct fixture *f = *state;
	json_t *all;

	take(f, "tor-a", 1500, 10000);
	take(f, "tor-b", 700, 20000);
	all = ask(f, "", 200);
	assert_int_equal(number(all, "target_count"), 2200);
	check_list(all, 0, 1000, 10000, 1500);
	check_list(all, 1, 0, 0, 700);
	json_decref(all);

	all = ask(f, "?offset=1400&limit=200", 200);
	assert_int_equal(number(all, "target_count"), 2200);
	check_list(all, 0, 100, 11400, 1500);
	check_list(all, 1, 100, 20000, 700);
	json_decref(all);

	all = ask(f, "?offset=2199", 200);
	check_list(all, 0, 0, 0, 1500);
	check_list(all, 1, 1, 20699, 700);
	json_decref(all);
	all = ask(f, "?offset=2200", 200);
	check_list(all, 1, 0, 0, 700);
	json_decref(all);
}

/* Each destination has one flow; only the path of the first one is known. */
static void
trace(struct fixture *f, size_t count)
{
	static const uint16_t flows[] = { 50000 }, sizes[] = { 88 };
	static const uint8_t dscps[] = { 26 };
	const struct wire_address own[2] = { address_number(1, 0) };
	struct wire_target *targets = calloc(count, sizeof(*targets));
	rm_mono_t now = { 1000 * RM_NS_PER_S };
	struct tracer_job job;

	assert_non_null(targets);
	for (size_t i = 0; i < count; i++)
		targets[i] = (struct wire_target){ .src = rnic_number(1),
			.dst = { .guid = 1000 + i, .port = 1 },
			.kind = WIRE_INTER_TOR,
			.address = address_number(2, 862),
			.interval_us = 100000,
			.flows = flows,
			.flow_count = 1,
			.dscps = dscps,
			.dscp_count = 1,
			.sizes = sizes,
			.size_count = 1 };
	assert_int_equal(
	    tracer_set(f->tracer, 0, targets, count, own, NULL, 1, now), 0);
	tracer_length(f->tracer, 0, targets[0].dst, 50000, 2, now);
	now = rm_mono_add(now, RM_NS_PER_S);
	assert_true(tracer_next(f->tracer, now, &job));
	assert_int_equal(job.ttl_count, 2);
	tracer_answer(f->tracer,
	    &(struct trace_answer){ .flow = job.flow,
		.token = job.tokens[1],
		.from = { 4, { 10, 9, 8, 7 }, 0 },
		.expired = true },
	    now);
	assert_false(tracer_next(f->tracer, rm_mono_add(now, RM_NS_PER_S), &job));
	free(targets);
}

static void
paths_are_shown_page_by_page(void **state)
{
	struct fixture *f = *state;
	json_t *all, *paths, *hops;

	trace(f, 1203);
	all = ask_at(f, "paths", "?limit=1", 200);
	assert_int_equal(number(all, "flow_count"), 1203);
	paths = json_object_get(all, "paths");
	assert_int_equal(json_array_size(paths), 1);
	assert_true(json_is_true(json_object_get(json_array_get(paths, 0), "traced")));
	assert_true(
	    json_is_true(json_object_get(json_array_get(paths, 0), "complete")));
	hops = json_object_get(json_array_get(paths, 0), "hops");
	assert_int_equal(json_array_size(hops), 2);
	assert_true(json_is_null(json_array_get(hops, 0)));
	assert_string_equal(json_string_value(json_array_get(hops, 1)), "10.9.8.7");
	json_decref(all);

	all = ask_at(f, "paths", "", 200);
	assert_int_equal(json_array_size(json_object_get(all, "paths")), 1000);
	json_decref(all);
	all = ask_at(f, "paths", "?offset=1000", 200);
	paths = json_object_get(all, "paths");
	assert_int_equal(json_array_size(paths), 203);
	assert_false(json_is_true(json_object_get(json_array_get(paths, 9), "traced")));
	json_decref(all);
	json_decref(ask_at(f, "paths", "?limit=1001", 400));
}

static void
an_invalid_or_too_large_page_is_refused(void **state)
{
	static const char *const queries[] = { "?limit=0", "?limit=1001", "?limit=x",
		"?offset=-1", "?offset=99999999999999999999" };

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		json_t *all = ask(*state, queries[i], 400);

		assert_non_null(json_object_get(all, "error"));
		json_decref(all);
	}
}

static void
probing_cannot_be_paused_over_tcp(void **state)
{
	struct fixture *f = *state;

	json_decref(ask_by(f, "POST", "pause", "", 403));
	assert_false(f->paused);
	json_decref(ask_by(f, "POST", "resume", "", 403));
	json_decref(ask_by(f, "GET", "pause", "", 405));
	assert_false(f->paused);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_pinglist_is_shown_page_by_page),
		TEST(paths_are_shown_page_by_page),
		TEST(an_invalid_or_too_large_page_is_refused),
		TEST(probing_cannot_be_paused_over_tcp),
	};

	return cmocka_run_group_tests_name("agent_api", tests, NULL, NULL);
}
