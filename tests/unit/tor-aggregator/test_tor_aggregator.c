/* The whole daemon on a real loop with real links: agents that say hello, register and
 * report, and a controller that sends a plan. */
#include "tor-aggregator/tor_aggregator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <event2/buffer.h>

#include "plan_fixture.h"
#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"
#include "rackmesh/identity/key_file.h"
#include "rackmesh/incident/alert.h"
#include "rackmesh/metrics/metrics.h"
#include "rackmesh/net/link.h"
#include "rackmesh/net/listener.h"
#include "rackmesh/net/pending_conns.h"
#include "tests/support/loopback.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_health.h"
#include "tor-aggregator/agents/agent_server.h"
#include "tor-aggregator/aggregator_config.h"
#include "tor-aggregator/analyzer/report_spool.h"
#include "tor-aggregator/controller/controller_link.h"
#include "tor-aggregator/plan/key_store.h"
#include "tor-aggregator/plan/plan_store.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/switch/switch_collector.h"
#include "tor-aggregator/tor_aggregator_incidents.h"
#include "tor-aggregator/tor_aggregator_notified.h"
#include "tor-aggregator/tor_aggregator_state.h"

struct peer { /* a simulated agent */
	struct rm_link *link;
	struct wire_writer *writer;
	bool closed, mute;
	int reason;
	unsigned welcomes, acks, pinglists, pings;
	char refused[256];
	uint64_t counted_seq, acked, targets, version, timeout_ms;
};

struct world {
	struct rm_loop *loop;
	struct aggregator_config config;
	struct tor_aggregator *aggregator;
	struct plan_fixture *plan;
	char folder[64];
	/* the simulated controller */
	struct rm_listener *listener;
	struct rm_link *controller;
	unsigned hellos, registrations;
	bool mute; /* frozen: its kernel accepts connections, but it never answers */
	uint64_t hello_version, hello_keys;
	uint32_t hello_epoch;
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
	struct world *world = arg;
	struct wire_writer *writer;
	struct wire_hello_view hello;
	struct wire_tor_state tor;
	struct wire_bytes bytes;

	if (wire_kind_of(data, len) == WIRE_REGISTER) {
		world->registrations++;
		return 0;
	}
	if (wire_kind_of(data, len) == WIRE_VERSIONS)
		return 0;
	assert_int_equal(wire_open_hello(&hello, data, len), 0);
	assert_int_equal(hello.hello.tor_count, 1);
	wire_hello_tor(&hello, 0, &tor);
	world->hello_version = tor.plan_version;
	world->hello_keys = tor.keys_version;
	world->hello_epoch = tor.keys_epoch;
	world->hellos++;
	if (world->mute)
		return 0;
	writer = wire_writer_new();
	wire_write_welcome(writer, &welcome, &bytes);
	rm_link_send(link, bytes.data, bytes.len);
	wire_writer_free(writer);
	return 0;
}

static void
controller_closed(struct rm_link *link, int reason, void *arg)
{
	struct world *world = arg;

	rm_link_free(link);
	world->controller = NULL;
}

static int
controller_accept(int fd, const struct rm_address *peer, void *arg)
{
	static const struct rm_link_callbacks callbacks = { controller_frame,
		controller_closed, NULL };
	static const struct rm_link_limits limits = { 1 << 20, 1 << 20 };
	struct world *world = arg;

	return rm_link_new(
	    world->loop, fd, &limits, &callbacks, world, &world->controller);
}

static void
configure(struct world *world, const char *more)
{
	struct rm_error error = { 0 };
	char path[128], text[1024];
	int len;

	len = snprintf(text, sizeof(text),
	    "name: agg\nregion: lab\nplaintext: true\nlisten: 127.0.0.1:0\ntors: "
	    "[{name: t1}]\n"
	    "state_folder: %s/state\nhttp: {listen: \"127.0.0.1:0\", socket: \"\"}\n"
	    "summary: {interval_s: 1}\n%s",
	    world->folder, more);
	snprintf(path, sizeof(path), "%s/config.yaml", world->folder);
	rm_file_replace(path, (const uint8_t *)text, (size_t)len);
	if (aggregator_config_read(&world->config, path, &error) < 0)
		fail_msg("%s", error.text);
	world->config.path = NULL;
}

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	struct rm_address address = loopback_address(0);
	char more[128];

	*state = world;
	rm_log_set_sink(log_errors, NULL);
	world->plan = calloc(1, sizeof(*world->plan));
	fixture_plan(world->plan, 3, 2, 1);
	snprintf(world->folder, sizeof(world->folder), "/tmp/rm-aggregator-XXXXXX");
	if (mkdtemp(world->folder) == NULL || rm_loop_new(&world->loop) < 0)
		return -1;
	if (rm_listener_new(
		world->loop, &address, controller_accept, world, &world->listener) < 0)
		return -1;
	snprintf(more, sizeof(more), "controllers: [\"127.0.0.1:%d\"]\n",
	    rm_listener_port(world->listener));
	configure(world, more);
	return tor_aggregator_new(world->loop, &world->config, &world->aggregator);
}

static int
teardown(void **state)
{
	struct world *world = *state;
	char command[128];

	tor_aggregator_free(world->aggregator);
	rm_link_free(world->controller);
	rm_listener_free(world->listener);
	rm_loop_free(world->loop);
	aggregator_config_clear(&world->config);
	fixture_free(world->plan);
	snprintf(command, sizeof(command), "rm -rf %s", world->folder);
	if (system(command) != 0)
		return -1;
	free(world);
	return 0;
}

static int
peer_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct wire_pinglist_view pinglist;
	struct wire_welcome welcome;
	struct peer *peer = arg;
	struct wire_ping ping;
	struct wire_ack ack;

	switch (wire_kind_of(data, len)) {
	case WIRE_WELCOME:
		assert_int_equal(wire_open_welcome(&welcome, data, len), 0);
		snprintf(peer->refused, sizeof(peer->refused), "%s", welcome.refused);
		assert_true(welcome.knows_overdue);
		peer->counted_seq = welcome.counted_seq;
		peer->welcomes++;
		break;
	case WIRE_ACK:
		assert_int_equal(wire_open_ack(&ack, data, len), 0);
		peer->acked = ack.seq;
		peer->acks++;
		break;
	case WIRE_PINGLIST:
		assert_int_equal(wire_open_pinglist(&pinglist, data, len), 0);
		peer->targets = pinglist.pinglist.target_count;
		peer->version = pinglist.pinglist.version;
		peer->timeout_ms = pinglist.pinglist.probe_timeout_ms;
		peer->pinglists++;
		break;
	case WIRE_PING:
		assert_int_equal(wire_open_ping_ending(&ping, data, len), 0);
		peer->mute = ping.mute;
		peer->pings++;
		break;
	default:
		fail_msg("an agent gets no such frame");
	}
	return 0;
}

static void
peer_closed(struct rm_link *link, int reason, void *arg)
{
	struct peer *peer = arg;

	peer->closed = true;
	peer->reason = reason;
}

static void
peer_open_from(struct world *world, struct peer *peer, uint8_t from)
{
	static const struct rm_link_callbacks callbacks = { peer_frame, peer_closed,
		NULL };
	static const struct rm_link_limits limits = { 1 << 20, 1 << 20 };
	int fd =
	    loopback_connect_from(from, agent_server_port(world->aggregator->links));

	*peer = (struct peer){ .writer = wire_writer_new() };
	assert_int_equal(
	    rm_link_new(world->loop, fd, &limits, &callbacks, peer, &peer->link), 0);
}

static void
peer_open(struct world *world, struct peer *peer)
{
	peer_open_from(world, peer, 1);
}

static void
peer_free(struct peer *peer)
{
	rm_link_free(peer->link);
	wire_writer_free(peer->writer);
}

static void
peer_send(struct peer *peer, int r, const struct wire_bytes *bytes)
{
	assert_int_equal(r, 0);
	assert_int_equal(rm_link_send(peer->link, bytes->data, bytes->len), 0);
}

static void
send_hello_as(struct peer *peer, enum wire_role role, const char *host,
    const char *region, uint64_t incarnation)
{
	const struct wire_hello hello = { .role = role,
		.version_min = 1,
		.version_max = 1,
		.region = region,
		.id = host,
		.incarnation = incarnation,
		.now_ns = (uint64_t)rm_mono_now().ns };
	struct wire_bytes bytes = { 0 };

	peer_send(peer, wire_write_hello(peer->writer, &hello, &bytes), &bytes);
}

static void
send_hello(
    struct peer *peer, const char *host, const char *region, uint64_t incarnation)
{
	send_hello_as(peer, WIRE_ROLE_AGENT, host, region, incarnation);
}

static void
send_register(struct peer *peer, const struct wire_rnic *rnic, uint64_t incarnation)
{
	const struct wire_register reg = { .host = rnic->host,
		.incarnation = incarnation,
		.rnics = rnic,
		.rnic_count = 1 };
	struct wire_bytes bytes = { 0 };

	peer_send(peer, wire_write_register(peer->writer, &reg, &bytes), &bytes);
}

static void
send_heartbeat(struct peer *peer, uint64_t incarnation)
{
	const struct wire_heartbeat beat = { .incarnation = incarnation,
		.seq = 1,
		.now_ns = (uint64_t)rm_mono_now().ns };
	struct wire_bytes bytes = { 0 };

	peer_send(peer, wire_write_heartbeat(peer->writer, &beat, &bytes), &bytes);
}

static void
send_batch(struct peer *peer, const char *host, uint64_t incarnation, uint64_t seq)
{
	const struct wire_batch_head head = { .host = host,
		.incarnation = incarnation,
		.seq = seq,
		.now_ns = (uint64_t)rm_mono_now().ns };
	const struct wire_result result = { .src_guid = 0x100,
		.src_port_num = 1,
		.dst_guid = 0x101,
		.dst_port_num = 1,
		.outcome = WIRE_OK,
		.dscp = 26,
		.stamp_source = WIRE_STAMP_KERNEL };
	struct wire_bytes bytes = { 0 };

	peer_send(
	    peer, wire_write_batch(peer->writer, &head, &result, 1, &bytes), &bytes);
}

static void
join(struct world *world, struct peer *peer, size_t member, uint64_t incarnation)
{
	peer_open(world, peer);
	send_hello(peer, world->plan->names[member], "lab", incarnation);
	LOOPBACK_WAIT(world->loop, peer->welcomes == 1);
	assert_string_equal(peer->refused, "");
	send_register(peer, &world->plan->members[member], incarnation);
}

static void
send_plan(struct world *world)
{
	LOOPBACK_WAIT(
	    world->loop, controller_link_connected(world->aggregator->controller_link));
	rm_link_send(
	    world->controller, world->plan->bytes.data, world->plan->bytes.len);
	LOOPBACK_WAIT(
	    world->loop, plan_store_view(world->aggregator->plans, 0) != NULL);
}

static void
an_agent_registers_and_its_results_are_counted_and_acknowledged(void **state)
{
	struct world *world = *state;
	struct peer peer;

	send_plan(world);
	join(world, &peer, 0, 77);
	LOOPBACK_WAIT(world->loop, peer.pinglists == 1);
	assert_int_equal(peer.targets, 2); /* the other member and a witness */
	assert_int_equal(peer.version, 3);
	LOOPBACK_WAIT(world->loop, world->registrations == 1);
	send_batch(&peer, "h0", 77, 1);
	send_batch(&peer, "h0", 77, 2);
	send_batch(&peer, "h0", 77, 2);
	LOOPBACK_WAIT(world->loop, peer.acks == 3);
	assert_int_equal(peer.acked, 2);
	assert_int_equal(world->aggregator->ingest.counts.raw.windowed, 2);
	assert_int_equal(world->aggregator->ingest.counts.raw.duplicate, 1);
	peer_free(&peer);
	/* The agent reconnects, and gets the number of its last counted batch. */
	join(world, &peer, 0, 77);
	assert_int_equal(peer.counted_seq, 2);
	LOOPBACK_WAIT(world->loop, peer.pinglists == 1);
	peer_free(&peer);
}

static void
agents_learn_at_once_that_alerts_cannot_be_delivered(void **state)
{
	struct world *world = *state;
	struct loopback_watch since;
	struct peer peer;

	join(world, &peer, 0, 77);
	LOOPBACK_WAIT(world->loop, peer.pings > 0);
	assert_false(peer.mute);
	since = loopback_watch();
	agent_server_mute(world->aggregator->links, true);
	LOOPBACK_WAIT(world->loop, peer.mute);
	agent_server_mute(world->aggregator->links, false);
	LOOPBACK_WAIT(world->loop, !peer.mute);
	assert_true(loopback_took_ns(since) < RM_NS_PER_S);
	peer_free(&peer);
}

/* --check --connect of an agent's config, while the host's agent is connected. */
static void
a_check_is_answered_and_replaces_no_agent(void **state)
{
	struct world *world = *state;
	struct peer agent, asking;

	join(world, &agent, 0, 1);
	peer_open(world, &asking);
	send_hello_as(&asking, WIRE_ROLE_CHECK, world->plan->names[0], "lab", 0);
	LOOPBACK_WAIT(world->loop, asking.welcomes == 1);
	assert_string_equal(asking.refused, "");
	assert_false(agent.closed);
	assert_int_equal(agent_server_counts(world->aggregator->links)->sessions, 1);
	send_heartbeat(&asking, 0); /* such a connection has no session */
	LOOPBACK_WAIT(world->loop, asking.closed);
	peer_free(&asking);

	peer_open(world, &asking);
	send_hello_as(&asking, WIRE_ROLE_CHECK, world->plan->names[0], "elsewhere", 0);
	LOOPBACK_WAIT(world->loop, asking.closed);
	assert_string_equal(asking.refused, "this is another region");
	assert_false(agent.closed);
	peer_free(&asking);
	peer_free(&agent);
}

static void
unknown_peers_and_unexpected_messages_are_refused(void **state)
{
	struct world *world = *state;
	const struct agent_server_counts *counts;
	struct peer peer;

	peer_open(world, &peer);
	send_hello(&peer, "h0", "elsewhere", 1);
	LOOPBACK_WAIT(world->loop, peer.closed);
	assert_string_equal(peer.refused, "this is another region");
	peer_free(&peer);
	peer_open(world, &peer);
	send_heartbeat(&peer, 1);
	LOOPBACK_WAIT(world->loop, peer.closed);
	assert_int_equal(peer.welcomes, 0);
	peer_free(&peer);
	peer_open(world, &peer);
	send_hello(&peer, "h0", "lab", 1);
	send_batch(&peer, "h1", 1, 1); /* the RNIC of another host */
	LOOPBACK_WAIT(world->loop, peer.closed);
	peer_free(&peer);
	peer_open(world, &peer);
	send_hello(&peer, "h0", "lab", 1);
	assert_int_equal(
	    rm_link_send(peer.link, (const uint8_t *)"rubbishRMB1", 11), 0);
	LOOPBACK_WAIT(world->loop, peer.closed);
	peer_free(&peer);
	counts = agent_server_counts(world->aggregator->links);
	assert_int_equal(counts->refused[AGENT_SERVER_WRONG_IDENTITY], 1);
	assert_int_equal(counts->refused[AGENT_SERVER_NOT_ITSELF], 1);
	assert_int_equal(counts->refused[AGENT_SERVER_OUT_OF_TURN] +
			     counts->refused[AGENT_SERVER_MALFORMED],
	    2);
	assert_int_equal(world->aggregator->ingest.counts.raw.taken, 0);
}

/* Otherwise each would end the other's session again and again, and both would appear
 * to restart. */
static void
of_two_hosts_with_one_name_the_second_is_refused(void **state)
{
	struct world *world = *state;
	const struct agent_server_counts *counts;
	struct peer first, second, moved;

	join(world, &first, 0, 77);
	send_heartbeat(&first, 77);
	peer_open_from(world, &second, 2);
	send_hello(&second, "h0", "lab", 78);
	LOOPBACK_WAIT(world->loop, second.closed);
	assert_string_equal(second.refused,
	    "two hosts are called h0, at 127.0.0.1 and at 127.0.0.2: give one of them "
	    "another name");
	counts = agent_server_counts(world->aggregator->links);
	assert_int_equal(counts->refused[AGENT_SERVER_NAME_TAKEN], 1);
	assert_int_equal(counts->refused[AGENT_SERVER_SUPERSEDED], 0);
	assert_false(first.closed);
	peer_free(&second);
	/* The same agent from another address, before its former connection has ended.
	 */
	peer_open_from(world, &moved, 3);
	send_hello(&moved, "h0", "lab", 77);
	LOOPBACK_WAIT(world->loop, first.closed);
	assert_string_equal(moved.refused, "");
	peer_free(&moved);
	peer_free(&first);
}

/* Two hosts behind a NAT, or two containers of one host: the second one is taken for a
 * restarted agent. */
static void
of_two_hosts_behind_one_address_the_first_is_refused_when_it_comes_back(void **state)
{
	struct world *world = *state;
	struct peer first, second, again;

	join(world, &first, 0, 77);
	join(world, &second, 0, 78);
	LOOPBACK_WAIT(world->loop, first.closed);
	send_heartbeat(&second, 78);
	peer_open(world, &again);
	send_hello(&again, "h0", "lab", 77);
	LOOPBACK_WAIT(world->loop, again.closed);
	assert_non_null(strstr(again.refused, "two hosts are called h0"));
	assert_false(second.closed);
	peer_free(&again);
	peer_free(&second);
	peer_free(&first);
}

/* The host was rebooted, and has another address. */
static void
a_host_that_fell_silent_may_come_back_from_another_address(void **state)
{
	struct world *world = *state;
	struct peer first, second;

	join(world, &first, 0, 77);
	LOOPBACK_WAIT(world->loop,
	    agent_health_silent(
		agents_find(world->aggregator->agents, "h0")->watch, rm_mono_now()));
	peer_open_from(world, &second, 2);
	send_hello(&second, "h0", "lab", 78);
	LOOPBACK_WAIT(world->loop, second.welcomes == 1);
	assert_string_equal(second.refused, "");
	peer_free(&second);
	peer_free(&first);
}

static void
a_flood_of_connections_leaves_room_for_an_agent(void **state)
{
	const size_t flood = RM_PENDING_CONNS_MAX + 20;
	struct world *world = *state;
	struct agent_server *links = world->aggregator->links;
	int fds[RM_PENDING_CONNS_MAX + 20];
	struct peer peer, late;

	join(world, &peer, 0, 77);
	for (size_t i = 0; i < flood; i++)
		fds[i] = loopback_connect(agent_server_port(links));
	join(world, &late, 1, 78);
	LOOPBACK_WAIT(
	    world->loop, agent_server_open(links) ==
			     RM_PENDING_CONNS_MAX + 1 /* `late` has authenticated */);
	assert_int_equal(
	    agent_server_counts(links)->refused[AGENT_SERVER_TOO_MANY_PENDING], 21);
	assert_false(peer.closed);
	assert_false(late.closed);
	/* Connections that stay silent are closed. */
	LOOPBACK_WAIT(world->loop, agent_server_open(links) == 2);
	assert_int_equal(agent_server_counts(links)->refused[AGENT_SERVER_SILENT],
	    RM_PENDING_CONNS_MAX - 1);
	for (size_t i = 0; i < flood; i++)
		close(fds[i]);
	peer_free(&late);
	peer_free(&peer);
}

static void
no_agent_can_report_for_another_hosts_rnic(void **state)
{
	struct world *world = *state;
	struct wire_rnic stolen;
	struct peer honest, thief;

	join(world, &honest, 0, 1);
	LOOPBACK_WAIT(world->loop,
	    world->aggregator->agents != NULL &&
		agents_find(world->aggregator->agents, "h0") &&
		agents_find(world->aggregator->agents, "h0")->rnic_count == 1);
	peer_open(world, &thief);
	send_hello(&thief, "h9", "lab", 9);
	stolen = world->plan->members[0];
	stolen.host = "h9";
	send_register(&thief, &stolen, 9);
	LOOPBACK_WAIT(world->loop,
	    agent_server_counts(world->aggregator->links)->refused_rnics == 1);
	assert_int_equal(agents_find(world->aggregator->agents, "h9")->rnic_count, 0);
	peer_free(&honest);
	peer_free(&thief);
}

static void
a_newer_connection_replaces_the_older_one(void **state)
{
	struct world *world = *state;
	struct peer old, fresh;

	join(world, &old, 0, 1);
	join(world, &fresh, 0, 2);
	LOOPBACK_WAIT(world->loop, old.closed);
	assert_false(fresh.closed);
	assert_non_null(agents_find(world->aggregator->agents, "h0")->link);
	peer_free(&old);
	peer_free(&fresh);
}

static void
an_invalid_hello_replaces_no_agent(void **state)
{
	const struct wire_hello hello = { .role = WIRE_ROLE_AGENT,
		.version_min = 1,
		.version_max = 1,
		.region = "lab",
		.id = "h0",
		.incarnation = 2,
		.now_ns = UINT64_MAX };
	struct world *world = *state;
	struct wire_bytes bytes = { 0 };
	struct peer good, bad;

	join(world, &good, 0, 1);
	peer_open(world, &bad);
	peer_send(&bad, wire_write_hello(bad.writer, &hello, &bytes), &bytes);
	LOOPBACK_WAIT(world->loop, bad.closed);
	assert_false(good.closed);
	assert_non_null(agents_find(world->aggregator->agents, "h0")->link);
	peer_free(&good);
	peer_free(&bad);
}

static void
a_silent_agents_kernel_is_asked(void **state)
{
	struct world *world = *state;
	struct peer peer;

	join(world, &peer, 0, 1);
	send_heartbeat(&peer, 1);
	LOOPBACK_WAIT(world->loop, peer.pings >= 1);
	peer_free(&peer);
}

static void
agents_get_the_probe_timeout(void **state)
{
	struct world *world = *state;
	struct peer peer;

	/* The plan has no such value: the aggregator's own option counts. */
	send_plan(world);
	join(world, &peer, 0, 77);
	LOOPBACK_WAIT(world->loop, peer.pinglists == 1);
	assert_int_equal(peer.timeout_ms, 500);
	assert_int_equal(
	    tor_rack_timeout_ns(world->aggregator->racks[0]), 500 * RM_NS_PER_MS);

	world->plan->probe_timeout_ms = 300;
	fixture_plan(world->plan, 4, 2, 1);
	rm_link_send(
	    world->controller, world->plan->bytes.data, world->plan->bytes.len);
	LOOPBACK_WAIT(world->loop, peer.version == 4);
	assert_int_equal(peer.timeout_ms, 300);
	assert_int_equal(
	    tor_rack_timeout_ns(world->aggregator->racks[0]), 300 * RM_NS_PER_MS);
	peer_free(&peer);
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
ignore(enum rm_log_level level, const char *line, void *arg)
{
}

static void
a_reload_applies_reloadable_options_and_an_invalid_one_nothing(void **state)
{
	struct world *world = *state;
	const struct aggregator_config *config = &world->config;
	const struct rm_reload *reload = &world->aggregator->reload;
	char path[128];

	snprintf(path, sizeof(path), "%s/config.yaml", world->folder);
	world->config.path = path;
	append(path, "agents: {max_results_per_s: 777}\nring: {max_bytes: 65536}\n"
		     "alerts: {webhooks: [\"http://127.0.0.1:9/hook\"]}\n");
	tor_aggregator_reload(world->aggregator);
	assert_int_equal(reload->taken, 1);
	assert_int_equal(reload->need_restart, 1);
	assert_int_equal(world->aggregator->ingest.max_results_per_s, 777);
	assert_int_equal(config->alerts.webhooks.count, 1);
	assert_int_equal(config->ring_bytes, 67108864);

	append(path, "nonsense: 1\n");
	rm_log_set_sink(ignore, NULL);
	tor_aggregator_reload(world->aggregator);
	rm_log_set_sink(log_errors, NULL);
	assert_int_equal(reload->refused, 1);
	assert_int_equal(reload->successful, 0);
	assert_int_equal(config->alerts.webhooks.count, 1);
	world->config.path = NULL;
}

static void
the_plan_survives_loss_of_the_controller_and_a_restart(void **state)
{
	struct world *world = *state;
	struct peer peer;

	send_plan(world);
	LOOPBACK_WAIT(world->loop,
	    plan_store_counts(world->aggregator->plans)->cache_written == 1);
	tor_aggregator_free(world->aggregator);
	world->aggregator = NULL;
	rm_listener_free(world->listener);
	world->listener = NULL;
	assert_int_equal(
	    tor_aggregator_new(world->loop, &world->config, &world->aggregator), 0);
	join(world, &peer, 1, 5);
	LOOPBACK_WAIT(world->loop, peer.pinglists == 1);
	assert_int_equal(peer.version, 3);
	peer_free(&peer);
}

static const struct rm_worker *given; /* the worker that a switch's reading uses */

int __real_switch_collector_new(
    const struct switch_collector_options *options, struct switch_collector **ret);
int __wrap_switch_collector_new(
    const struct switch_collector_options *options, struct switch_collector **ret);

int
__wrap_switch_collector_new(
    const struct switch_collector_options *options, struct switch_collector **ret)
{
	given = options->worker;
	return __real_switch_collector_new(options, ret);
}

/* An answer of 8 MiB takes a second of a core. Reports and incidents, which are written
 * to disk by the other worker, must not wait for it. */
static void
no_disk_waits_for_the_answer_of_a_switch(void **state)
{
	struct world *world = *state;

	tor_aggregator_free(world->aggregator);
	world->aggregator = NULL;
	aggregator_config_clear(&world->config);
	configure(world,
	    "switches: [{name: s1, role: spine, kind: nexus, address: \"127.0.0.1:1\", "
	    "user: u, password_file: /nonexistent}]\n");
	given = NULL;
	assert_int_equal(
	    tor_aggregator_new(world->loop, &world->config, &world->aggregator), 0);
	assert_non_null(given);
	assert_ptr_not_equal(given, world->aggregator->worker);
}

static void
registrations_are_sent_again_after_a_reconnect(void **state)
{
	struct world *world = *state;
	struct peer peer;

	LOOPBACK_WAIT(
	    world->loop, controller_link_connected(world->aggregator->controller_link));
	join(world, &peer, 0, 1);
	LOOPBACK_WAIT(world->loop, world->registrations == 1);
	rm_link_close(world->controller, -ECONNRESET);
	LOOPBACK_WAIT(world->loop, world->hellos == 2 && world->registrations == 2);
	peer_free(&peer);
}

static void
restart(struct world *world)
{
	tor_aggregator_free(world->aggregator);
	world->aggregator = NULL;
	LOOPBACK_WAIT(world->loop, world->controller == NULL);
	assert_int_equal(
	    tor_aggregator_new(world->loop, &world->config, &world->aggregator), 0);
}

/* The next leader numbers above these versions, whatever its clock is. */
static void
a_hello_has_the_versions_of_held_keys(void **state)
{
	const struct wire_keys keys = { .tor = "t1", .epoch = 5, .version = 77 };
	struct world *world = *state;
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes bytes;

	LOOPBACK_WAIT(
	    world->loop, controller_link_connected(world->aggregator->controller_link));
	assert_int_equal(world->hello_keys, 0);
	assert_int_equal(wire_write_keys(writer, &keys, &bytes), 0);
	rm_link_send(world->controller, bytes.data, bytes.len);
	LOOPBACK_WAIT(world->loop, key_store_view(world->aggregator->keys, 0) != NULL);
	rm_link_close(world->controller, -ECONNRESET);
	LOOPBACK_WAIT(world->loop, world->hellos == 2);
	assert_int_equal(world->hello_keys, 77);
	assert_int_equal(world->hello_epoch, 5);
	LOOPBACK_WAIT(
	    world->loop, key_store_file_counts(world->aggregator->keys)->saved == 1);
	restart(world);
	LOOPBACK_WAIT(world->loop, world->hellos == 3);
	assert_int_equal(world->hello_keys, 77);
	wire_writer_free(writer);
}

/* If the controller restarts together with the aggregator, it must still get the
 * members of the plan. */
static void
members_of_the_plan_are_sent_though_their_agents_are_dead(void **state)
{
	struct world *world = *state;

	send_plan(world);
	LOOPBACK_WAIT(world->loop,
	    plan_store_counts(world->aggregator->plans)->cache_written == 1);
	restart(world);
	LOOPBACK_WAIT(world->loop, world->registrations == 2);
}

static void
a_full_http_server_shows_in_the_metrics(void **state)
{
	struct world *world = *state;
	struct evbuffer *text = evbuffer_new();

	assert_int_equal(rm_metrics_render(world->aggregator->metrics, text), 0);
	evbuffer_add(text, "", 1);
	assert_non_null(strstr((const char *)evbuffer_pullup(text, -1),
	    "\nrackmesh_aggregator_http_full_total 0\n"));
	evbuffer_free(text);
}

static void
all_refusals_show_in_the_metrics(void **state)
{
	static const char *const names[] = {
		"roster_refused_total{tor=\"t1\"} 0",
		"results_without_row_total{tor=\"t1\"} 0",
		"results_without_pair_total{tor=\"t1\"} 0",
		"path_aliases_refused_total{tor=\"t1\"} 0",
		"incident_saves_failed_total{tor=\"t1\"} 0",
		"receive_count_rows_refused_total 0",
		"keys_total{result=\"new\"} 0",
		"keys_total{result=\"old\"} 0",
		"keys_total{result=\"refused\"} 0",
		"key_pairs_left_out_total 0",
		"key_loads_total{result=\"damaged\"} 0",
		"key_saves_total{result=\"failed\"} 0",
		"keys_sent_total 0",
		"controller_plans_total 0",
		"agents_sends_refused_total 0",
		"agents_frames_slow_total 0",
		"watchdog_withheld_total 0",
		"notify_failed_total 0",
	};
	struct world *world = *state;
	struct evbuffer *text = evbuffer_new();
	char line[128];

	assert_int_equal(rm_metrics_render(world->aggregator->metrics, text), 0);
	evbuffer_add(text, "", 1);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(line, sizeof(line), "\nrackmesh_aggregator_%s\n", names[i]);
		if (strstr((const char *)evbuffer_pullup(text, -1), line) == NULL)
			fail_msg("no metric says %s", names[i]);
	}
	evbuffer_free(text);
}

static void
a_disconnected_unplanned_rnic_is_not_sent_again(void **state)
{
	struct world *world = *state;
	struct agent *agent;
	struct peer peer;

	send_plan(world);
	join(world, &peer, 1, 5);
	LOOPBACK_WAIT(world->loop, world->registrations == 1);
	agent = agents_find(world->aggregator->agents, "h1");
	peer_free(&peer);
	LOOPBACK_WAIT(world->loop, agent->link == NULL);
	fixture_plan(world->plan, 4, 1, 1);
	rm_link_send(
	    world->controller, world->plan->bytes.data, world->plan->bytes.len);
	LOOPBACK_WAIT(world->loop,
	    plan_store_view(world->aggregator->plans, 0)->plan.version == 4);
	rm_link_close(world->controller, -ECONNRESET);
	/* h0, which is only known from the plan. */
	LOOPBACK_WAIT(world->loop, world->hellos == 2 && world->registrations == 2);
	loopback_run(world->loop, 100 * RM_NS_PER_MS);
	assert_int_equal(world->registrations, 2);
}

static void
a_controller_that_never_answers_is_disconnected(void **state)
{
	struct world *world = *state;
	struct controller_link *controller_link;

	LOOPBACK_WAIT(world->loop, world->hellos == 1);
	world->mute = true;
	restart(world);
	controller_link = world->aggregator->controller_link;
	LOOPBACK_WAIT(world->loop, world->hellos == 2);
	controller_link_watch(controller_link, rm_mono_now());
	loopback_run(world->loop, 50 * RM_NS_PER_MS);
	assert_non_null(world->controller);
	world->mute = false;
	controller_link_watch(
	    controller_link, rm_mono_add(rm_mono_now(), 4 * RM_NS_PER_S));
	LOOPBACK_WAIT(world->loop,
	    world->hellos == 3 && controller_link_connected(controller_link));
}

static void
a_controller_that_stops_its_pings_is_disconnected(void **state)
{
	struct world *world = *state;
	struct controller_link *controller_link = world->aggregator->controller_link;
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes bytes = { 0 };
	rm_mono_t now;

	LOOPBACK_WAIT(world->loop, controller_link_connected(controller_link));
	/* A controller that never sends a ping may stay silent. */
	controller_link_watch(
	    controller_link, rm_mono_add(rm_mono_now(), 60 * RM_NS_PER_S));
	loopback_run(world->loop, 50 * RM_NS_PER_MS);
	assert_int_equal(world->hellos, 1);
	assert_int_equal(wire_write_ping(writer, 1, &bytes), 0);
	rm_link_send(world->controller, bytes.data, bytes.len);
	loopback_run(world->loop, 50 * RM_NS_PER_MS);
	now = rm_mono_now();
	controller_link_watch(controller_link, rm_mono_add(now, 2 * RM_NS_PER_S));
	loopback_run(world->loop, 50 * RM_NS_PER_MS);
	assert_int_equal(world->hellos, 1);
	controller_link_watch(controller_link, rm_mono_add(now, 3 * RM_NS_PER_S));
	LOOPBACK_WAIT(world->loop,
	    world->hellos == 2 && controller_link_connected(controller_link));
	wire_writer_free(writer);
}

/* The controller reports it. The report holds until the next one, or until the
 * controller disconnects. */
static void
a_controllers_certificate_that_ends_is_known(void **state)
{
	struct world *world = *state;
	struct controller_link *controller_link = world->aggregator->controller_link;
	struct wire_writer *writer = wire_writer_new();
	const struct wire_ping ping = { 1, "", 1795147800 };
	struct wire_bytes bytes;

	LOOPBACK_WAIT(world->loop, controller_link_connected(controller_link));
	assert_int_equal(controller_link_controller_ends_s(controller_link), 0);
	assert_int_equal(wire_write_ping_ending(writer, &ping, &bytes), 0);
	rm_link_send(world->controller, bytes.data, bytes.len);
	LOOPBACK_WAIT(world->loop,
	    controller_link_controller_ends_s(controller_link) == 1795147800);
	assert_string_equal(controller_link_controller(controller_link), "c1");
	assert_int_equal(wire_write_ping(writer, 2, &bytes), 0);
	rm_link_send(world->controller, bytes.data, bytes.len);
	LOOPBACK_WAIT(
	    world->loop, controller_link_controller_ends_s(controller_link) == 0);
	assert_int_equal(wire_write_ping_ending(writer, &ping, &bytes), 0);
	rm_link_send(world->controller, bytes.data, bytes.len);
	LOOPBACK_WAIT(
	    world->loop, controller_link_controller_ends_s(controller_link) != 0);
	rm_link_close(world->controller, -ECONNRESET);
	LOOPBACK_WAIT(world->loop, world->hellos == 2);
	assert_int_equal(controller_link_controller_ends_s(controller_link), 0);
	wire_writer_free(writer);
}

static void
without_an_analyzer_summaries_are_counted_as_dropped(void **state)
{
	struct world *world = *state;
	struct report_spool *reports = world->aggregator->reports;
	const struct report_spool_counts *lane =
	    report_spool_counts(reports, WIRE_LANE_SUMMARY);

	LOOPBACK_WAIT(world->loop, lane->dropped_off >= 1);
	assert_int_equal(lane->in, lane->dropped_off);
	assert_int_equal(report_spool_held(reports, WIRE_LANE_SUMMARY), 0);
	assert_true(lane->bytes > 0);
}

/* Restarts the aggregator with this state on disk. flags: of notifications, or "". */
static const struct rm_incidents *
live_again(struct world *world, int64_t resolved_ns, const char *flags)
{
	static const char saved[] =
	    "{\"version\":1,\"incidents\":[{\"id\":\"00000000000000a1\","
	    "\"part_type\":\"rnic\",\"part\":\"h1/r0\",\"place\":\"t1\",\"rnic\":\"\","
	    "\"kind\":\"rnic-lossy\",\"confidence\":0.9,\"opened_ns\":5,"
	    "\"changed_ns\":6,\"resolved_ns\":%lld,\"reopened\":0,%s\"evidence\":{"
	    "\"window_ns\":1,\"window_start_ns\":4,\"peers\":3,\"to_part\":[9,4],"
	    "\"from_part\":[9,9],\"outside\":[0,0],\"others\":[4,4],"
	    "\"observed\":\"\",\"ruled_out\":[]}}]}";
	char path[128], text[1024];

	snprintf(path, sizeof(path), "%s/state/incidents-t1.json", world->folder);
	tor_aggregator_free(world->aggregator);
	world->aggregator = NULL;
	snprintf(text, sizeof(text), saved, (long long)resolved_ns, flags);
	rm_file_replace(path, (const uint8_t *)text, strlen(text));
	assert_int_equal(
	    tor_aggregator_new(world->loop, &world->config, &world->aggregator), 0);
	return tor_rack_incidents(world->aggregator->racks[0]);
}

/* One incident was open before the restart, another had just been resolved. */
static void
incidents_continue_after_a_restart(void **state)
{
	struct world *world = *state;
	const struct rm_incidents *incidents;

	incidents = live_again(world, 0, "");
	assert_int_equal(rm_incidents_open(incidents), 1);
	assert_int_equal(rm_incidents_get(incidents, 0)->id, 0xa1);
	assert_int_equal(
	    report_spool_counts(world->aggregator->reports, WIRE_LANE_INCIDENT)->in, 0);
	loopback_run(world->loop, 200 * RM_NS_PER_MS);
	/* Without data an incident does not end. */
	assert_int_equal(rm_incidents_open(incidents), 1);

	incidents = live_again(world, rm_wall_now().ns - RM_NS_PER_S, "");
	assert_int_equal(rm_incidents_open(incidents), 0);
	/* Whether the end was received is unknown, so it is sent again. */
	assert_int_equal(
	    report_spool_counts(world->aggregator->reports, WIRE_LANE_INCIDENT)->in, 1);
	/* After days it is not sent again. */
	live_again(world, 7, "");
	assert_int_equal(
	    report_spool_counts(world->aggregator->reports, WIRE_LANE_INCIDENT)->in, 0);
}

static bool
file_reports(const struct world *world, const char *what)
{
	char path[128];
	uint8_t *data;
	size_t len;
	bool reports;

	snprintf(path, sizeof(path), "%s/state/incidents-t1.json", world->folder);
	if (rm_file_read(path, 65536, &data, &len) < 0)
		return false;
	reports = strstr((const char *)data, what) != NULL;
	free(data);
	return reports;
}

static void
notifications_missing_before_a_restart_are_sent_and_marked(void **state)
{
	static const char untold[] =
	    "\"notified_opened\":false,\"notified_resolved\":false,";
	static const char reported[] =
	    "\"notified_opened\":true,\"notified_resolved\":true,";
	int64_t ended_ns = rm_wall_now().ns - 400 * RM_NS_PER_S;
	struct world *world = *state;
	const struct rm_incidents *incidents;
	char nobody[] = "http://127.0.0.1:1/";

	/* Without a receiver of alerts everything counts as notified. */
	incidents = live_again(world, 0, untold);
	assert_true(rm_incidents_get(incidents, 0)->notified_opened);
	world->config.alerts.webhooks.items = (char *[]){ nobody };
	world->config.alerts.webhooks.count = 1;
	incidents = live_again(world, 0, untold);
	assert_false(rm_incidents_get(incidents, 0)->notified_opened);
	assert_int_equal(rm_alerts_counts(world->aggregator->alerts)->queued, 1);
	tor_aggregator_on_notified(0xa1, false, world->aggregator);
	assert_true(rm_incidents_get(incidents, 0)->notified_opened);
	LOOPBACK_WAIT(world->loop, file_reports(world, "\"notified_opened\": true"));
	live_again(world, 0, reported);
	assert_int_equal(rm_alerts_counts(world->aggregator->alerts)->queued, 0);
	live_again(world, ended_ns, untold);
	assert_int_equal(rm_alerts_counts(world->aggregator->alerts)->queued, 1);
	live_again(world, ended_ns, reported);
	assert_int_equal(rm_alerts_counts(world->aggregator->alerts)->queued, 0);
	world->config.alerts.webhooks.items = NULL;
	world->config.alerts.webhooks.count = 0;
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_agent_registers_and_its_results_are_counted_and_acknowledged),
		TEST(agents_learn_at_once_that_alerts_cannot_be_delivered),
		TEST(unknown_peers_and_unexpected_messages_are_refused),
		TEST(of_two_hosts_with_one_name_the_second_is_refused),
		TEST(
		    of_two_hosts_behind_one_address_the_first_is_refused_when_it_comes_back),
		TEST(a_host_that_fell_silent_may_come_back_from_another_address),
		TEST(a_flood_of_connections_leaves_room_for_an_agent),
		TEST(no_agent_can_report_for_another_hosts_rnic),
		TEST(a_newer_connection_replaces_the_older_one),
		TEST(an_invalid_hello_replaces_no_agent),
		TEST(a_check_is_answered_and_replaces_no_agent),
		TEST(a_silent_agents_kernel_is_asked),
		TEST(agents_get_the_probe_timeout),
		TEST(a_reload_applies_reloadable_options_and_an_invalid_one_nothing),
		TEST(the_plan_survives_loss_of_the_controller_and_a_restart),
		TEST(no_disk_waits_for_the_answer_of_a_switch),
		TEST(registrations_are_sent_again_after_a_reconnect),
		TEST(a_hello_has_the_versions_of_held_keys),
		TEST(members_of_the_plan_are_sent_though_their_agents_are_dead),
		TEST(a_full_http_server_shows_in_the_metrics),
		TEST(all_refusals_show_in_the_metrics),
		TEST(a_disconnected_unplanned_rnic_is_not_sent_again),
		TEST(a_controller_that_never_answers_is_disconnected),
		TEST(a_controller_that_stops_its_pings_is_disconnected),
		TEST(a_controllers_certificate_that_ends_is_known),
		TEST(without_an_analyzer_summaries_are_counted_as_dropped),
		TEST(incidents_continue_after_a_restart),
		TEST(notifications_missing_before_a_restart_are_sent_and_marked),
	};

	return cmocka_run_group_tests_name("tor_aggregator", tests, NULL, NULL);
}
