/*
 * What comes down from a controller besides plans, through the whole daemon on real
 * links: the brake, answers to an agent's questions, drill-downs.
 */
#include "tor-aggregator/orders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "plan_fixture.h"
#include "rackmesh/base/file.h"
#include "rackmesh/base/link.h"
#include "rackmesh/base/listener.h"
#include "rackmesh/base/log.h"
#include "tests/support/loopback.h"
#include "tor-aggregator/agent.h"
#include "tor-aggregator/agent_links.h"
#include "tor-aggregator/aggregator_config.h"
#include "tor-aggregator/brake_store.h"
#include "tor-aggregator/path_table.h"
#include "tor-aggregator/plan_store.h"
#include "tor-aggregator/relay.h"
#include "tor-aggregator/resolver.h"
#include "tor-aggregator/tor_aggregator.h"
#include "tor-aggregator/tor_aggregator_state.h"
#include "tor-aggregator/tor_rack.h"

struct world {
	struct rm_loop *loop;
	struct aggregator_config config;
	struct tor_aggregator *aggregator;
	struct plan_fixture *plan;
	struct wire_writer *writer;
	char folder[64];
	/* the controller */
	struct rm_listener *listener;
	struct rm_link *controller;
	unsigned resolves, drilled;
	uint64_t up_token, drill_token;
	int drill_status;
	char drill[4096];
	/* an agent */
	struct rm_link *agent;
	unsigned welcomes, brakes, answers;
	struct wire_brake brake;
	uint64_t token;
	bool found, controller_closed;
	char host[64];
};

static void
log_errors(enum rm_log_level level, const char *line, void *arg)
{
	if (level == RM_LOG_ERROR)
		fprintf(stderr, "%s\n", line);
}

static int
controller_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	const struct wire_welcome welcome = { .version = 1, .id = "c1", .refused = "" };
	struct wire_drill_answer drilled;
	struct wire_resolve resolve;
	struct world *w = arg;
	struct wire_bytes bytes;

	switch (wire_kind_of(data, len)) {
	case WIRE_HELLO:
		wire_write_welcome(w->writer, &welcome, &bytes);
		rm_link_send(link, bytes.data, bytes.len);
		break;
	case WIRE_RESOLVE:
		assert_int_equal(wire_open_resolve(&resolve, data, len), 0);
		w->up_token = resolve.token;
		w->resolves++;
		break;
	case WIRE_DRILL_ANSWER:
		assert_int_equal(wire_open_drilled(&drilled, data, len), 0);
		w->drill_token = drilled.token;
		w->drill_status = drilled.status;
		assert_true(drilled.json.len < sizeof(w->drill));
		memcpy(w->drill, drilled.json.data, drilled.json.len);
		w->drill[drilled.json.len] = 0;
		w->drilled++;
		break;
	default:
		break;
	}
	return 0;
}

static void
controller_closed(struct rm_link *link, int reason, void *arg)
{
	struct world *w = arg;

	rm_link_free(link);
	w->controller = NULL;
	w->controller_closed = true;
}

static int
controller_accept(int fd, const struct rm_address *peer, void *arg)
{
	static const struct rm_link_callbacks callbacks = { controller_frame,
		controller_closed, NULL };
	static const struct rm_link_limits limits = { 1 << 20, 1 << 20 };
	struct world *w = arg;

	return rm_link_new(w->loop, fd, &limits, &callbacks, w, &w->controller);
}

static int
agent_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct wire_resolve_answer answer;
	struct world *w = arg;

	switch (wire_kind_of(data, len)) {
	case WIRE_WELCOME:
		w->welcomes++;
		break;
	case WIRE_BRAKE:
		assert_int_equal(wire_open_brake(&w->brake, data, len), 0);
		w->brakes++;
		break;
	case WIRE_RESOLVE_ANSWER:
		assert_int_equal(wire_open_resolved(&answer, data, len), 0);
		w->token = answer.token;
		w->found = answer.found;
		snprintf(w->host, sizeof(w->host), "%s", answer.rnic.host);
		w->answers++;
		break;
	default:
		break;
	}
	return 0;
}

static void
agent_closed(struct rm_link *link, int reason, void *arg)
{
}

static void
send_frame(struct rm_link *link, int r, const struct wire_bytes *bytes)
{
	assert_int_equal(r, 0);
	assert_int_equal(rm_link_send(link, bytes->data, bytes->len), 0);
}

static void
agent_join(struct world *w)
{
	static const struct rm_link_callbacks callbacks = { agent_frame, agent_closed,
		NULL };
	static const struct rm_link_limits limits = { 1 << 20, 1 << 20 };
	const struct wire_hello hello = { .role = WIRE_ROLE_AGENT,
		.version_min = 1,
		.version_max = 1,
		.region = "lab",
		.id = "h0",
		.incarnation = 7,
		.now_ns = (uint64_t)rm_mono_now().ns };
	const struct wire_register reg = { .host = "h0",
		.incarnation = 7,
		.rnics = &w->plan->members[0],
		.rnic_count = 1 };
	int fd = loopback_connect(agent_links_port(w->aggregator->links));
	const struct agent *agent;
	struct wire_bytes bytes = { 0 };

	rm_link_free(w->agent);
	w->welcomes = 0;
	assert_int_equal(
	    rm_link_new(w->loop, fd, &limits, &callbacks, w, &w->agent), 0);
	send_frame(w->agent, wire_write_hello(w->writer, &hello, &bytes), &bytes);
	send_frame(w->agent, wire_write_register(w->writer, &reg, &bytes), &bytes);
	LOOPBACK_WAIT(
	    w->loop, w->welcomes == 1 &&
			 (agent = agents_find(w->aggregator->agents, "h0")) != NULL &&
			 agent->rnic_count == 1);
}

static void
aggregator_start(struct world *w)
{
	assert_int_equal(tor_aggregator_new(w->loop, &w->config, &w->aggregator), 0);
	LOOPBACK_WAIT(w->loop, relay_connected(w->aggregator->relay));
}

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct rm_address address = loopback_address(0);
	struct rm_why why = { 0 };
	char text[512], path[128];
	int len;

	*state = w;
	rm_log_set_sink(log_errors, NULL);
	w->writer = wire_writer_new();
	w->plan = calloc(1, sizeof(*w->plan));
	fixture_plan(w->plan, 3, 2, 1);
	snprintf(w->folder, sizeof(w->folder), "/tmp/rm-orders-XXXXXX");
	if (mkdtemp(w->folder) == NULL || rm_loop_new(&w->loop) < 0 ||
	    rm_listener_new(w->loop, &address, controller_accept, w, &w->listener) < 0)
		return -1;
	len = snprintf(text, sizeof(text),
	    "name: agg\nregion: lab\nlisten: 127.0.0.1:0\ntors: [{name: t1}]\n"
	    "state_folder: %s/state\nhttp: {listen: \"127.0.0.1:0\", socket: \"\"}\n"
	    "controllers: [\"127.0.0.1:%d\"]\n",
	    w->folder, rm_listener_port(w->listener));
	snprintf(path, sizeof(path), "%s/config.yaml", w->folder);
	rm_file_replace(path, (const uint8_t *)text, (size_t)len);
	if (aggregator_config_read(&w->config, path, &why) < 0)
		fail_msg("%s", why.text);
	w->config.path = NULL;
	aggregator_start(w);
	rm_link_send(w->controller, w->plan->bytes.data, w->plan->bytes.len);
	LOOPBACK_WAIT(w->loop, plan_store_view(w->aggregator->plans, 0) != NULL);
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;
	char command[128];

	tor_aggregator_free(w->aggregator);
	rm_link_free(w->agent);
	rm_link_free(w->controller);
	rm_listener_free(w->listener);
	rm_loop_free(w->loop);
	aggregator_config_clear(&w->config);
	fixture_free(w->plan);
	wire_writer_free(w->writer);
	snprintf(command, sizeof(command), "rm -rf %s", w->folder);
	if (system(command) != 0)
		return -1;
	free(w);
	return 0;
}

static void
send_brake(struct world *w, uint64_t version, uint32_t rate)
{
	const struct wire_brake brake = { version, rate };
	struct wire_bytes bytes = { 0 };

	send_frame(w->controller, wire_write_brake(w->writer, &brake, &bytes), &bytes);
}

static void
resolve(struct world *w, uint64_t token, const struct wire_address *address)
{
	const struct wire_resolve out = { token, *address };
	struct wire_bytes bytes = { 0 };

	send_frame(w->agent, wire_write_resolve(w->writer, &out, &bytes), &bytes);
}

static void
drill(struct world *w, uint64_t token, const char *rnic, uint32_t seconds)
{
	const struct wire_drill out = { token, rnic, seconds, 0 };
	struct wire_bytes bytes = { 0 };
	unsigned before = w->drilled;

	send_frame(w->controller, wire_write_drill(w->writer, &out, &bytes), &bytes);
	LOOPBACK_WAIT(w->loop, w->drilled == before + 1);
	assert_int_equal(w->drill_token, token);
}

static void
the_brake_reaches_who_is_there_and_who_comes_later(void **state)
{
	struct world *w = *state;

	agent_join(w);
	assert_int_equal(w->brakes, 0);
	send_brake(w, 5, 0);
	LOOPBACK_WAIT(w->loop, w->brakes == 1);
	assert_int_equal(w->brake.version, 5);
	assert_int_equal(w->brake.rate_permille, 0);
	send_brake(w, 4, 1000); /* out of date */
	agent_join(w);
	LOOPBACK_WAIT(w->loop, w->brakes == 2);
	assert_int_equal(w->brake.rate_permille, 0);
	LOOPBACK_WAIT(w->loop,
	    brake_store_counts(orders_brake(w->aggregator->orders))->stale == 1);
}

static void
the_brake_outlives_the_controller_and_ourselves(void **state)
{
	struct world *w = *state;

	send_brake(w, 5, 100);
	LOOPBACK_WAIT(w->loop,
	    brake_store_counts(orders_brake(w->aggregator->orders))->written == 1);
	tor_aggregator_free(w->aggregator);
	w->aggregator = NULL;
	LOOPBACK_WAIT(w->loop, w->controller == NULL);
	aggregator_start(w);
	agent_join(w);
	LOOPBACK_WAIT(w->loop, w->brakes == 1);
	assert_int_equal(w->brake.rate_permille, 100);
}

static void
a_brake_that_makes_no_sense_closes_the_link(void **state)
{
	struct world *w = *state;

	send_brake(w, 5, 1001);
	LOOPBACK_WAIT(w->loop, w->controller_closed);
	assert_int_equal(
	    brake_store_get(orders_brake(w->aggregator->orders))->version, 0);
	assert_int_equal(relay_counts(w->aggregator->relay)->bad_frames, 1);
}

static void
what_our_racks_know_is_answered_here(void **state)
{
	struct world *w = *state;

	agent_join(w);
	resolve(w, 11, &w->plan->members[1].addresses[0]);
	LOOPBACK_WAIT(w->loop, w->answers == 1);
	assert_int_equal(w->token, 11);
	assert_true(w->found);
	assert_string_equal(w->host, "h1");
	resolve(w, 12, &w->plan->foreigners[0].addresses[0]);
	LOOPBACK_WAIT(w->loop, w->answers == 2);
	assert_string_equal(w->host, "x0");
	assert_int_equal(w->resolves, 0);
}

static void
the_rest_is_asked_of_the_controller(void **state)
{
	const struct wire_address stranger = { .family = 4, .bytes = { 192, 0, 2, 1 } };
	struct wire_resolve_answer answer = { .found = true };
	struct world *w = *state;
	struct wire_bytes bytes = { 0 };

	agent_join(w);
	resolve(w, 11, &stranger);
	LOOPBACK_WAIT(w->loop, w->resolves == 1);
	answer.rnic = fixture_rnic(0x7777, "far", "t9");
	answer.token = w->up_token;
	send_frame(
	    w->controller, wire_write_resolved(w->writer, &answer, &bytes), &bytes);
	LOOPBACK_WAIT(w->loop, w->answers == 1);
	assert_int_equal(w->token, 11);
	assert_true(w->found);
	assert_string_equal(w->host, "far");
	/* Told again, it is for nobody. */
	send_frame(
	    w->controller, wire_write_resolved(w->writer, &answer, &bytes), &bytes);
	LOOPBACK_WAIT(w->loop,
	    resolver_counts(orders_resolver(w->aggregator->orders))->unknown == 1);
	assert_int_equal(w->answers, 1);
}

static void
a_silent_controller_means_not_found(void **state)
{
	const struct wire_address stranger = { .family = 4, .bytes = { 192, 0, 2, 1 } };
	struct world *w = *state;

	agent_join(w);
	resolve(w, 11, &stranger);
	LOOPBACK_WAIT(w->loop, w->resolves == 1);
	orders_tick(w->aggregator->orders, rm_mono_add(rm_mono_now(), 4 * RM_NS_PER_S));
	LOOPBACK_WAIT(w->loop, w->answers == 1);
	assert_int_equal(w->token, 11);
	assert_false(w->found);
	/* Without any, at once. */
	rm_listener_free(w->listener);
	w->listener = NULL;
	rm_link_close(w->controller, -ECONNRESET);
	LOOPBACK_WAIT(w->loop, !relay_connected(w->aggregator->relay));
	resolve(w, 12, &stranger);
	LOOPBACK_WAIT(w->loop, w->answers == 2);
	assert_int_equal(w->token, 12);
	assert_false(w->found);
}

static void
a_drill_down_over_a_link_is_the_one_over_http(void **state)
{
	struct world *w = *state;
	json_t *object;

	agent_join(w);
	drill(w, 21, "h0/r0", 0);
	assert_int_equal(w->drill_status, 200);
	object = json_loads(w->drill, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(object, "host")), "h0");
	assert_true(json_is_array(json_object_get(object, "results")));
	json_decref(object);
	drill(w, 22, "nobody/r0", 0);
	assert_int_equal(w->drill_status, 404);
	drill(w, 23, "h0/r0", 1000000);
	assert_int_equal(w->drill_status, 400);
	assert_non_null(strstr(w->drill, "\"error\""));
}

static void
an_agents_traces_are_learned(void **state)
{
	const struct wire_path path = { .src_guid = 0x100,
		.dst_guid = FIXTURE_FOREIGN,
		.src_port = 50000,
		.src_port_num = 1,
		.dst_port_num = 1,
		.family = 4,
		.flags = WIRE_PATH_COMPLETE,
		.hop_count = 1,
		.hops = { { 10, 0, 0, 1 } } };
	const struct wire_paths paths = { .host = "h0",
		.incarnation = 7,
		.now_ns = (uint64_t)rm_mono_now().ns,
		.paths = &path,
		.path_count = 1 };
	struct world *w = *state;
	struct wire_bytes bytes = { 0 };

	agent_join(w);
	send_frame(w->agent, wire_write_paths(w->writer, &paths, &bytes), &bytes);
	LOOPBACK_WAIT(
	    w->loop, path_table_paths(tor_rack_paths(w->aggregator->racks[0])) == 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_brake_reaches_who_is_there_and_who_comes_later),
		TEST(the_brake_outlives_the_controller_and_ourselves),
		TEST(a_brake_that_makes_no_sense_closes_the_link),
		TEST(what_our_racks_know_is_answered_here),
		TEST(the_rest_is_asked_of_the_controller),
		TEST(a_silent_controller_means_not_found),
		TEST(a_drill_down_over_a_link_is_the_one_over_http),
		TEST(an_agents_traces_are_learned),
	};

	return cmocka_run_group_tests_name("orders", tests, NULL, NULL);
}
