/*
 * controller_requests_fixture - the whole daemon on real links, between a simulated
 * controller and a simulated agent.
 *
 * Include it after cmocka.h. Every failure fails the test.
 */
#ifndef TESTS_UNIT_TOR_AGGREGATOR_CONTROLLER_REQUESTS_FIXTURE_H
#define TESTS_UNIT_TOR_AGGREGATOR_CONTROLLER_REQUESTS_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>

#include "plan_fixture.h"
#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"
#include "rackmesh/net/link.h"
#include "rackmesh/net/listener.h"
#include "tests/support/loopback.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_server.h"
#include "tor-aggregator/aggregator_config.h"
#include "tor-aggregator/controller/brake_store.h"
#include "tor-aggregator/controller/controller_link.h"
#include "tor-aggregator/controller/resolver.h"
#include "tor-aggregator/paths/path_table.h"
#include "tor-aggregator/plan/plan_store.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/tor_aggregator.h"
#include "tor-aggregator/tor_aggregator_state.h"

struct world {
	struct rm_loop *loop;
	struct aggregator_config config;
	struct tor_aggregator *aggregator;
	struct plan_fixture *plan;
	struct wire_writer *writer;
	char folder[64];
	/* the simulated controller */
	struct rm_listener *listener;
	struct rm_link *controller;
	unsigned resolves, drilled, joins;
	struct wire_join up_join;
	struct wire_address up_address;
	uint64_t up_token, drill_token;
	int drill_status;
	bool drill_mesh, drill_counted;
	char drill[8192];
	struct {
		unsigned messages;
		size_t count;
		char name[8][RM_NAME_BYTES], software[8][RM_VERSION_BYTES];
		bool connected[8];
	} versions;
	/* the simulated agent */
	struct rm_link *agent;
	const char *agent_software; /* its release; NULL: not reported */
	unsigned welcomes, brakes, answers;
	struct wire_brake brake;
	uint64_t token;
	bool found, controller_closed;
	char host[64];
};

static inline void
log_errors(enum rm_log_level level, const char *line, void *arg)
{
	if (level == RM_LOG_ERROR)
		fprintf(stderr, "%s\n", line);
}

static inline void
take_versions(struct world *w, const uint8_t *data, size_t len)
{
	struct wire_versions versions;

	assert_int_equal(wire_open_versions(&versions, data, len), 0);
	assert_in_range(versions.peer_count, 0, 8);
	for (size_t i = 0; i < versions.peer_count; i++) {
		struct wire_version peer;

		wire_versions_peer(&versions, i, &peer);
		strcpy(w->versions.name[i], peer.name);
		strcpy(w->versions.software[i], peer.software);
		w->versions.connected[i] = peer.connected;
	}
	w->versions.count = versions.peer_count;
	w->versions.messages++;
}

static inline int
controller_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	const struct wire_welcome welcome = {
		.version = 1, .id = "c1", .refused = "", .software = "1.2"
	};
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
		w->up_address = resolve.address;
		w->resolves++;
		break;
	case WIRE_VERSIONS:
		take_versions(w, data, len);
		break;
	case WIRE_JOIN:
		assert_int_equal(wire_open_join(&w->up_join, data, len), 0);
		w->joins++;
		break;
	case WIRE_DRILL_ANSWER:
		assert_int_equal(wire_open_drilled(&drilled, data, len), 0);
		w->drill_token = drilled.token;
		w->drill_status = drilled.status;
		w->drill_mesh = drilled.mesh;
		w->drill_counted = drilled.counted;
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

static inline void
controller_closed(struct rm_link *link, int reason, void *arg)
{
	struct world *w = arg;

	rm_link_free(link);
	w->controller = NULL;
	w->controller_closed = true;
}

static inline int
controller_accept(int fd, const struct rm_address *peer, void *arg)
{
	static const struct rm_link_callbacks callbacks = { controller_frame,
		controller_closed, NULL };
	static const struct rm_link_limits limits = { 1 << 20, 1 << 20 };
	struct world *w = arg;

	return rm_link_new(w->loop, fd, &limits, &callbacks, w, &w->controller);
}

static inline int
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

static inline void
agent_closed(struct rm_link *link, int reason, void *arg)
{
}

static inline void
send_frame(struct rm_link *link, int r, const struct wire_bytes *bytes)
{
	assert_int_equal(r, 0);
	assert_int_equal(rm_link_send(link, bytes->data, bytes->len), 0);
}

static inline void
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
		.now_ns = (uint64_t)rm_mono_now().ns,
		.software = w->agent_software };
	const struct wire_register reg = { .host = "h0",
		.incarnation = 7,
		.rnics = &w->plan->members[0],
		.rnic_count = 1 };
	int fd = loopback_connect(agent_server_port(w->aggregator->links));
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

static inline void
aggregator_start(struct world *w)
{
	assert_int_equal(tor_aggregator_new(w->loop, &w->config, &w->aggregator), 0);
	LOOPBACK_WAIT(
	    w->loop, controller_link_connected(w->aggregator->controller_link));
}

static inline int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct rm_address address = loopback_address(0);
	struct rm_error error = { 0 };
	char text[512], path[128];
	int len;

	*state = w;
	rm_log_set_sink(log_errors, NULL);
	w->writer = wire_writer_new();
	w->plan = calloc(1, sizeof(*w->plan));
	fixture_plan(w->plan, 3, 2, 1);
	snprintf(w->folder, sizeof(w->folder), "/tmp/rm-requests-XXXXXX");
	if (mkdtemp(w->folder) == NULL || rm_loop_new(&w->loop) < 0 ||
	    rm_listener_new(w->loop, &address, controller_accept, w, &w->listener) < 0)
		return -1;
	len = snprintf(text, sizeof(text),
	    "name: agg\nregion: lab\nplaintext: true\nlisten: 127.0.0.1:0\ntors: "
	    "[{name: t1}]\n"
	    "state_folder: %s/state\nhttp: {listen: \"127.0.0.1:0\", socket: \"\"}\n"
	    "controllers: [\"127.0.0.1:%d\"]\n",
	    w->folder, rm_listener_port(w->listener));
	snprintf(path, sizeof(path), "%s/config.yaml", w->folder);
	rm_file_replace(path, (const uint8_t *)text, (size_t)len);
	if (aggregator_config_read(&w->config, path, &error) < 0)
		fail_msg("%s", error.text);
	w->config.path = NULL;
	aggregator_start(w);
	rm_link_send(w->controller, w->plan->bytes.data, w->plan->bytes.len);
	LOOPBACK_WAIT(w->loop, plan_store_view(w->aggregator->plans, 0) != NULL);
	return 0;
}

static inline int
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

static inline void
resolve(struct world *w, uint64_t token, const struct wire_address *address)
{
	const struct wire_resolve out = { token, *address };
	struct wire_bytes bytes = { 0 };

	send_frame(w->agent, wire_write_resolve(w->writer, &out, &bytes), &bytes);
}

#endif
