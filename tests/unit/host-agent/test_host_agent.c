/*
 * Two complete agents and the aggregator that both connect to. Each agent has one RNIC,
 * at its end of a cable between two network namespaces. Needs root; skipped (exit 77)
 * without it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <event2/buffer.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/un.h>

#include "host-agent/agent_config.h"
#include "host-agent/host_agent.h"
#include "host-agent/host_agent_state.h"
#include "host-agent/packet/key_ring.h"
#include "host-agent/pinglist/brake_file.h"
#include "host-agent/pinglist/pinglist_cache.h"
#include "host-agent/pinglist/pinglist_store.h"
#include "host-agent/trace/tracer_io.h"
#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"
#include "rackmesh/identity/key_file.h"
#include "rackmesh/metrics/metrics.h"
#include "rackmesh/net/link.h"
#include "rackmesh/net/listener.h"
#include "tests/support/loopback.h"
#include "tests/support/pinglist_fixture.h"

#define PORT 8620

struct fixture;

struct host { /* one agent, as the aggregator sees it */
	struct fixture *fixture;
	char config_path[96], state[64], socket[96];
	size_t rnic_count;         /* number of RNICs at the last registration */
	char rnics[128], lldp[96]; /* these entries of its config; "": r0 and tor-a */
	struct host_agent *agent;
	struct rm_link *link;
	struct wire_rnic_id rnic;
	struct wire_address address;
	bool registered, paused;
	unsigned memory_mib; /* limit in the config; 0: none */
	uint16_t slowed_permille;
	uint8_t slowed_reason;
	uint64_t outcomes[WIRE_OUTCOMES];
	uint64_t results, beats, counted;
};

struct fixture {
	char folder[40], netns[40];
	struct rm_loop *loop;
	struct rm_listener *listener;
	int port;
	struct wire_writer *writer;
	struct host hosts[2];
	struct rm_link *pending_conns[8]; /* before the hello of the aggregator */
	uint32_t probe_timeout_ms;        /* sent in the next pinglists; 0: not sent */
};

static struct fixture fixture;

/* How often whole messages were verified. The linker's --wrap counts the calls. */
static unsigned pinglists_opened, keys_opened;

int __real_wire_open_pinglist(
    struct wire_pinglist_view *view, const uint8_t *data, size_t len);
int __wrap_wire_open_pinglist(
    struct wire_pinglist_view *view, const uint8_t *data, size_t len);
int __real_wire_open_keys(struct wire_keys *view, const uint8_t *data, size_t len);
int __wrap_wire_open_keys(struct wire_keys *view, const uint8_t *data, size_t len);

int
__wrap_wire_open_pinglist(
    struct wire_pinglist_view *view, const uint8_t *data, size_t len)
{
	pinglists_opened++;
	return __real_wire_open_pinglist(view, data, len);
}

int
__wrap_wire_open_keys(struct wire_keys *view, const uint8_t *data, size_t len)
{
	keys_opened++;
	return __real_wire_open_keys(view, data, len);
}

static void
run(const char *format, const char *a, const char *b)
{
	char command[512];

	snprintf(command, sizeof(command), format, a, b);
	assert_int_equal(system(command), 0);
}

/* ---- the aggregator --------------------------------------------------------- */

static void
report(struct host *host, const struct wire_bytes *bytes)
{
	assert_int_equal(rm_link_send(host->link, bytes->data, bytes->len), 0);
}

static int
take_hello(struct fixture *f, struct rm_link *link, const uint8_t *data, size_t len)
{
	struct wire_welcome welcome = {
		.version = WIRE_VERSION, .id = "agg", .incarnation = 1, .refused = ""
	};
	struct wire_hello_view view;
	struct wire_bytes bytes;

	assert_int_equal(wire_open_hello(&view, data, len), 0);
	assert_string_equal(view.hello.region, "test");
	for (size_t i = 0; i < 2; i++) {
		char name[] = { 'h', (char)('1' + i), 0 };

		if (strcmp(view.hello.id, name) != 0)
			continue;
		f->hosts[i].link = link;
		assert_int_equal(wire_write_welcome(f->writer, &welcome, &bytes), 0);
		report(&f->hosts[i], &bytes);
	}
	return 0;
}

static void
take_register(struct host *host, const uint8_t *data, size_t len)
{
	struct wire_register_view view;
	struct wire_settings settings;
	struct wire_rnic rnic;

	assert_int_equal(wire_open_register(&view, data, len), 0);
	if (view.reg.rnic_count == 0)
		return; /* the agent is still looking for it */
	host->rnic_count = view.reg.rnic_count;
	wire_register_rnic(&view, 0, &rnic);
	assert_true(wire_register_settings(&view, 0, &settings));
	assert_true(settings.known & 1 << WIRE_SETTING_MTU);
	assert_int_equal(settings.numbers[WIRE_SETTING_MTU], rnic.mtu_bytes);
	assert_string_equal(rnic.device, "r0");
	assert_string_equal(rnic.driver, "veth");
	assert_string_equal(rnic.tors[0], "tor-a");
	assert_int_equal(rnic.address_count, 1);
	assert_int_equal(rnic.addresses[0].port, PORT);
	host->rnic = rnic.id;
	host->address = rnic.addresses[0];
	host->registered = true;
}

static void
take_batch(struct host *host, const uint8_t *data, size_t len)
{
	struct wire_batch_view view;
	struct wire_bytes bytes;
	struct wire_ack ack = { .lane = WIRE_LANE_BATCH };

	assert_int_equal(wire_open_batch(&view, data, len), 0);
	for (size_t i = 0; i < view.count; i++) {
		assert_int_equal(view.results[i].src_guid, host->rnic.guid);
		if (view.results[i].outcome == WIRE_OVERDUE)
			continue; /* on a slow machine: the late reply to a probe that
				     was already reported */
		host->outcomes[view.results[i].outcome]++;
		host->results++;
	}
	ack.incarnation = view.head.incarnation;
	ack.seq = view.head.seq;
	assert_int_equal(wire_write_ack(host->fixture->writer, &ack, &bytes), 0);
	report(host, &bytes);
}

static void
take_counts(struct host *host, const uint8_t *data, size_t len)
{
	struct wire_counts counts;

	assert_int_equal(wire_open_counts(&counts, data, len), 0);
	for (size_t i = 0; i < counts.row_count; i++) {
		assert_int_equal(counts.rows[i].own_guid, host->rnic.guid);
		host->counted = counts.rows[i].received;
	}
}

static int
on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct fixture *f = arg;
	struct host *host = &f->hosts[f->hosts[1].link == link];
	struct wire_heartbeat beat;

	switch (wire_kind_of(data, len)) {
	case WIRE_HELLO:
		return take_hello(f, link, data, len);
	case WIRE_REGISTER:
		take_register(host, data, len);
		return 0;
	case WIRE_BATCH:
		take_batch(host, data, len);
		return 0;
	case WIRE_COUNTS:
		take_counts(host, data, len);
		return 0;
	case WIRE_HEARTBEAT:
		assert_int_equal(wire_open_heartbeat(&beat, data, len), 0);
		host->paused = beat.paused;
		host->slowed_permille = beat.slowed_permille;
		host->slowed_reason = beat.slowed_reason;
		host->beats++;
		return 0;
	default:
		fail_msg("a frame that no agent sends");
		return -EBADMSG;
	}
}

static void
on_close(struct rm_link *link, int reason, void *arg)
{
	struct fixture *f = arg;

	for (size_t i = 0; i < 2; i++) {
		if (f->hosts[i].link == link)
			f->hosts[i].link = NULL;
	}
	for (size_t i = 0; i < 8; i++) {
		if (f->pending_conns[i] == link)
			f->pending_conns[i] = NULL;
	}
	rm_link_free(link);
}

static int
on_accept(int fd, const struct rm_address *peer, void *arg)
{
	static const struct rm_link_callbacks callbacks = { on_frame, on_close, NULL };
	static const struct rm_link_limits limits = { 1 << 20, 1 << 20 };
	struct fixture *f = arg;
	size_t i = 0;

	while (i < 7 && f->pending_conns[i] != NULL)
		i++;
	assert_null(f->pending_conns[i]);
	return rm_link_new(f->loop, fd, &limits, &callbacks, f, &f->pending_conns[i]);
}

static void
aggregator_start(struct fixture *f, int port)
{
	struct rm_address address = loopback_address(port);

	assert_int_equal(
	    rm_listener_new(f->loop, &address, on_accept, f, &f->listener), 0);
	f->port = rm_listener_port(f->listener);
}

static void
aggregator_stop(struct fixture *f)
{
	for (size_t i = 0; i < 8; i++) {
		rm_link_free(f->pending_conns[i]);
		f->pending_conns[i] = NULL;
	}
	for (size_t i = 0; i < 2; i++)
		f->hosts[i].link = NULL;
	rm_listener_free(f->listener);
	f->listener = NULL;
}

/* Each host probes the other. */
static void
send_pinglists(struct fixture *f, uint64_t version)
{
	static const uint16_t flows[] = { 50000, 50001 };
	static const uint8_t dscps[] = { 26 };
	static const uint16_t sizes[] = { 64 };

	for (size_t i = 0; i < 2; i++) {
		struct host *own = &f->hosts[i], *other = &f->hosts[!i];
		struct wire_target target = { .src = own->rnic,
			.dst = other->rnic,
			.address = other->address,
			.interval_us = 10000,
			.flows = flows,
			.flow_count = 2,
			.dscps = dscps,
			.dscp_count = 1,
			.sizes = sizes,
			.size_count = 1 };
		struct wire_peer peer = { other->rnic, other->address };
		struct wire_pinglist pinglist = { .tor = "tor-a",
			.version = version,
			.targets = &target,
			.target_count = 1,
			.roster = &peer,
			.roster_count = 1,
			.probe_timeout_ms = f->probe_timeout_ms };
		struct wire_bytes bytes;

		peer.address.port = 0;
		assert_int_equal(wire_write_pinglist(f->writer, &pinglist, &bytes), 0);
		report(own, &bytes);
	}
}

/* ---- the agents --------------------------------------------------------------- */

static void
agent_start(struct fixture *f, size_t i)
{
	struct host *host = &f->hosts[i];
	struct agent_config config;
	struct rm_error error = { 0 };
	FILE *file = fopen(host->config_path, "w");

	assert_non_null(file);
	fprintf(file,
	    "host: h%zu\nregion: test\nplaintext: true\n%s%s\nstate_folder: %s\n"
	    "rnics: [{udp_port: %d, %s}]\nlldp: {file: '%s'}\n"
	    "aggregators: [{address: '127.0.0.1:%d'}]\n"
	    "limits: {cpu_percent: 0, memory_mib: %u}\n"
	    "http: {listen: '', socket: %s}\n",
	    i + 1, i == 1 ? "netns: " : "", i == 1 ? f->netns : "", host->state, PORT,
	    host->rnics[0] != 0 ? host->rnics : "device: r0, tor: tor-a", host->lldp,
	    f->port, host->memory_mib, host->socket);
	assert_int_equal(fclose(file), 0);
	if (agent_config_read(&config, host->config_path, &error) < 0)
		fail_msg("%s", error.text);
	assert_int_equal(host_agent_new(f->loop, &config, &host->agent), 0);
}

/* Returns only the code of the status line. */
static int
ask(struct fixture *f, struct host *host, const char *request)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char answer[4096] = "";
	size_t len = 0;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", host->socket);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(write(fd, request, strlen(request)), strlen(request));
	fcntl(fd, F_SETFL, O_NONBLOCK);
	LOOPBACK_WAIT(f->loop,
	    (len += (size_t)(recv(fd, answer + len, sizeof(answer) - 1 - len, 0) + 1)) >
		12);
	close(fd);
	return atoi(answer + strlen("HTTP/1.1 "));
}

static int
setup(void **state)
{
	struct fixture *f = &fixture;

	*f = (struct fixture){ 0 };
	pinglists_opened = keys_opened = 0;
	snprintf(f->folder, sizeof(f->folder), "/tmp/test_host_agent.XXXXXX");
	if (mkdtemp(f->folder) == NULL || rm_loop_new(&f->loop) < 0)
		return -1;
	snprintf(f->netns, sizeof(f->netns), "agent-test-%d", (int)getpid());
	run("ip netns add %s%s", f->netns, "");
	for (size_t i = 0; i < 2; i++) {
		struct host *host = &f->hosts[i];

		host->fixture = f;
		snprintf(host->config_path, sizeof(host->config_path),
		    "%.39s/h%zu.yaml", f->folder, i + 1);
		snprintf(
		    host->state, sizeof(host->state), "%.39s/h%zu", f->folder, i + 1);
		snprintf(host->socket, sizeof(host->socket), "%.39s/h%zu.sock",
		    f->folder, i + 1);
	}
	f->writer = wire_writer_new();
	aggregator_start(f, 0);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	host_agent_free(f->hosts[0].agent);
	host_agent_free(f->hosts[1].agent);
	aggregator_stop(f);
	wire_writer_free(f->writer);
	rm_loop_free(f->loop);
	run("ip netns del %s; ip link del r0 2>/dev/null; rm -r %s", f->netns,
	    f->folder);
	return 0;
}

/* Creates the cable and its first end. */
static void
plug_in(struct fixture *f)
{
	run("ip link add r0 type veth peer name r0 netns %s%s && "
	    "ip addr add 10.9.0.1/24 dev r0 && ip link set r0 up",
	    f->netns, "");
	run("ip -n %s addr add 10.9.0.2/24 dev r0 && ip -n %s link set r0 up", f->netns,
	    f->netns);
}

static struct fixture *
both_probing(void **state)
{
	struct fixture *f = *state;

	plug_in(f);
	agent_start(f, 0);
	agent_start(f, 1);
	LOOPBACK_WAIT(f->loop, f->hosts[0].registered && f->hosts[1].registered);
	send_pinglists(f, 1);
	LOOPBACK_WAIT(f->loop,
	    f->hosts[0].outcomes[WIRE_OK] > 20 && f->hosts[1].outcomes[WIRE_OK] > 20);
	return f;
}

static void
two_agents_probe_each_other_across_namespaces(void **state)
{
	struct fixture *f = both_probing(state);

	for (size_t i = 0; i < 2; i++) {
		LOOPBACK_WAIT(f->loop, f->hosts[i].counted > 20);
		assert_true(f->hosts[i].beats > 0);
		assert_int_equal(f->hosts[i].outcomes[WIRE_INVALID], 0);
		assert_false(tracer_io_denied(f->hosts[i].agent->io));
	}
	assert_int_equal(ask(f, &f->hosts[0], "GET /readyz HTTP/1.0\r\n\r\n"), 200);
	assert_int_equal(ask(f, &f->hosts[0], "GET /v1/rnics HTTP/1.0\r\n\r\n"), 200);
	assert_int_equal(
	    ask(f, &f->hosts[0], "GET /v1/pinglist HTTP/1.0\r\n\r\n"), 200);
	assert_int_equal(
	    ask(f, &f->hosts[0], "GET /v1/aggregators HTTP/1.0\r\n\r\n"), 200);
	assert_int_equal(ask(f, &f->hosts[0], "GET /v1/paths HTTP/1.0\r\n\r\n"), 200);
	assert_int_equal(ask(f, &f->hosts[0], "GET /metrics HTTP/1.0\r\n\r\n"), 200);
}

static void
a_full_http_server_shows_in_the_metrics(void **state)
{
	struct fixture *f = *state;
	struct evbuffer *text = evbuffer_new();

	agent_start(f, 0);
	assert_int_equal(rm_metrics_render(f->hosts[0].agent->metrics, text), 0);
	evbuffer_add(text, "", 1);
	assert_non_null(strstr((const char *)evbuffer_pullup(text, -1),
	    "\nrackmesh_agent_http_full_total 0\n"));
	evbuffer_free(text);
}

static bool
metrics_have(const struct host *host, const char *line)
{
	struct evbuffer *text = evbuffer_new();
	bool found;

	assert_int_equal(rm_metrics_render(host->agent->metrics, text), 0);
	evbuffer_add(text, "", 1);
	found = strstr((const char *)evbuffer_pullup(text, -1), line) != NULL;
	evbuffer_free(text);
	return found;
}

/* Writes the switch's name as lldpd does. */
static void
report_lldp(struct host *host, const char *name)
{
	char fresh[128];
	FILE *file;

	snprintf(host->lldp, sizeof(host->lldp), "%.39s/lldp", fixture.folder);
	snprintf(fresh, sizeof(fresh), "%s.new", host->lldp);
	file = fopen(fresh, "w");
	assert_non_null(file);
	fprintf(file,
	    "{\"lldp\": [{\"interface\": [{\"name\": \"r0\", \"chassis\": "
	    "[{\"name\": [{\"value\": \"%s\"}]}]}]}]}",
	    name);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(rename(fresh, host->lldp), 0);
}

/* The config contains neither the RNIC nor its ToR. */
static void
an_rnic_is_found_when_it_comes_and_its_tor_by_lldp(void **state)
{
	struct fixture *f = *state;
	struct host *host = &f->hosts[0];

	snprintf(host->rnics, sizeof(host->rnics),
	    "device: 'r*', except: [r1], transport: udp");
	snprintf(host->lldp, sizeof(host->lldp), "%.39s/lldp", f->folder);
	agent_start(f, 0);
	agent_start(f, 1);
	assert_int_equal(host->agent->rnic_count, 0);
	plug_in(f);
	LOOPBACK_WAIT(
	    f->loop, host->agent->api.waiting_count == 1 &&
			 strcmp(host->agent->api.waiting[0].device, "r0") == 0);
	assert_non_null(
	    strstr(host->agent->api.waiting[0].reason, "its ToR is not known"));
	assert_true(metrics_have(host, "\nrackmesh_agent_rnics_waiting 1\n"));
	report_lldp(host, "tor-a.example.net");
	LOOPBACK_WAIT(f->loop, f->hosts[0].registered && f->hosts[1].registered);
	assert_int_equal(host->agent->rnic_count, 1);
	assert_string_equal(rnic_tor(host->agent->rnics[0], 0), "tor-a");
	assert_int_equal(rnic_tors(host->agent->rnics[0])->source, TOR_LLDP);
	send_pinglists(f, 1);
	LOOPBACK_WAIT(f->loop, host->outcomes[WIRE_OK] > 20);
	assert_true(metrics_have(host, "\nrackmesh_agent_rnics_waiting 0\n"));
	/* A removed RNIC stays in the agent's list. */
	run("ip link del r0%s%s", "", "");
	LOOPBACK_WAIT(f->loop, host->agent->api.waiting_count == 0);
	assert_int_equal(host->agent->rnic_count, 1);
}

/* A VLAN or a clone of the interface has the same MAC. */
static void
three_devices_with_one_mac_are_all_probed(void **state)
{
	static const char *const more[] = { "1", "2" };
	struct fixture *f = *state;
	struct host *host = &f->hosts[0];
	struct wire_rnic found[3];

	plug_in(f);
	for (size_t i = 0; i < 2; i++) {
		run("ip link add r%2$s type veth peer name r%2$s netns %1$s && ip link "
		    "set r%2$s address "
		    "$(ip -o link show r0 | sed 's/.*ether \\([^ ]*\\).*/\\1/') && ip "
		    "addr add 10.9.%2$s.1/24 dev r%2$s && ip link set r%2$s up",
		    f->netns, more[i]);
		run("ip -n %1$s addr add 10.9.%2$s.2/24 dev r%2$s && ip -n %1$s link "
		    "set "
		    "r%2$s up",
		    f->netns, more[i]);
	}
	snprintf(host->rnics, sizeof(host->rnics),
	    "device: 'r[012]', tor: tor-a, transport: udp");
	agent_start(f, 0);
	LOOPBACK_WAIT(f->loop, host->rnic_count == 3);
	for (size_t i = 0; i < 3; i++) {
		assert_true(rnic_describe(host->agent->rnics[i], &found[i]));
		/* The id contains a MAC address of 48 bits. */
		assert_true(found[i].id.guid >> 48 == 0);
		for (size_t j = 0; j < i; j++)
			assert_true(found[i].id.guid != found[j].id.guid);
	}
	run("ip link del r1 && ip link del r2%s%s", "", "");
}

static void
the_config_has_priority_over_lldp(void **state)
{
	struct fixture *f = *state;
	struct host *host = &f->hosts[0];
	const char *line = "\nrackmesh_agent_rnic_lldp_mismatch{device=\"r0\"} ";
	char text[96];

	report_lldp(host, "tor-b");
	(void)both_probing(state);
	snprintf(text, sizeof(text), "%s1\n", line);
	LOOPBACK_WAIT(f->loop, metrics_have(host, text));
	assert_string_equal(rnic_tor(host->agent->rnics[0], 0), "tor-a");
	assert_int_equal(ask(f, host, "GET /v1/rnics HTTP/1.0\r\n\r\n"), 200);
	report_lldp(host, "tor-a");
	snprintf(text, sizeof(text), "%s0\n", line);
	LOOPBACK_WAIT(f->loop, metrics_have(host, text));
}

static void
an_rnic_that_is_not_there_yet_is_waited_for(void **state)
{
	struct fixture *f = *state;

	agent_start(f, 0);
	LOOPBACK_WAIT(f->loop, f->hosts[0].beats > 0);
	assert_false(f->hosts[0].registered);
	assert_int_equal(ask(f, &f->hosts[0], "GET /readyz HTTP/1.0\r\n\r\n"), 503);
	plug_in(f);
	LOOPBACK_WAIT(f->loop, f->hosts[0].registered);
}

static void
a_pause_stops_probing_and_is_reported(void **state)
{
	struct fixture *f = both_probing(state);
	struct host *host = &f->hosts[0];
	uint64_t beats, results, other;

	assert_int_equal(
	    ask(f, host, "POST /v1/pause HTTP/1.0\r\nContent-Length: 0\r\n\r\n"), 200);
	LOOPBACK_WAIT(f->loop, host->paused);
	/* After three more heartbeats all probes in flight have ended. */
	beats = host->beats;
	LOOPBACK_WAIT(f->loop, host->beats >= beats + 3);
	results = host->results;
	other = f->hosts[1].outcomes[WIRE_OK];
	LOOPBACK_WAIT(f->loop, host->beats >= beats + 5);
	assert_int_equal(host->results, results);
	/* The paused agent still answers probes. */
	assert_true(f->hosts[1].outcomes[WIRE_OK] > other);
	assert_int_equal(
	    ask(f, host, "POST /v1/resume HTTP/1.0\r\nContent-Length: 0\r\n\r\n"), 200);
	LOOPBACK_WAIT(f->loop, !host->paused && host->results > results);
}

static void
a_restart_without_aggregators_probes_from_the_copies(void **state)
{
	struct fixture *f = both_probing(state);
	int port = f->port;

	aggregator_stop(f);
	for (size_t i = 0; i < 2; i++) {
		host_agent_free(f->hosts[i].agent);
		f->hosts[i].results = f->hosts[i].outcomes[WIRE_OK] = 0;
		agent_start(f, i);
	}
	/* The agents probe, and no aggregator receives the results. */
	loopback_run(f->loop, RM_NS_PER_S);
	aggregator_start(f, port);
	/* The results of the interruption arrive first, although no pinglist was
	 * sent. */
	LOOPBACK_WAIT(f->loop,
	    f->hosts[0].outcomes[WIRE_OK] > 50 && f->hosts[1].outcomes[WIRE_OK] > 50);
}

static void
messages_are_verified_once(void **state)
{
	struct fixture *f = both_probing(state);
	struct host *host = &f->hosts[0];
	const struct wire_keys keys = { .tor = "tor-a", .epoch = 5, .version = 1 };
	struct wire_bytes bytes;

	/* One verification in each of the two agents. */
	assert_int_equal(pinglists_opened, 2);
	assert_int_equal(wire_write_keys(f->writer, &keys, &bytes), 0);
	report(host, &bytes);
	LOOPBACK_WAIT(f->loop, key_ring_epoch(host->agent->keys) == 5);
	assert_int_equal(keys_opened, 1);
	/* The copy on disk was verified too when it was read. */
	LOOPBACK_WAIT(f->loop, rm_key_files_counts(host->agent->key_files)->saved == 1);
	assert_true(
	    metrics_have(host, "\nrackmesh_agent_keys_total{result=\"new\"} 1\n"));
	assert_true(metrics_have(
	    host, "\nrackmesh_agent_key_saves_total{result=\"good\"} 1\n"));
	assert_true(
	    metrics_have(host, "\nrackmesh_agent_keys_received_total{aggregator="
			       "\"127.0.0.1:"));
	assert_true(metrics_have(host, "\nrackmesh_agent_service_reports_sent_total{"));
	assert_true(metrics_have(host, "\nrackmesh_agent_questions_sent_total{"));
	assert_true(metrics_have(host, "\nrackmesh_agent_questions_resolved_total{"));
	assert_true(metrics_have(host, "\nrackmesh_agent_slowdowns_eased_total 0\n"));
	assert_true(metrics_have(host, "\nrackmesh_agent_watchdog_withheld_total 0\n"));
	assert_true(metrics_have(host, "\nrackmesh_agent_notify_failed_total 0\n"));
	host_agent_free(host->agent);
	pinglists_opened = keys_opened = 0;
	agent_start(f, 0);
	assert_int_equal(key_ring_epoch(host->agent->keys), 5);
	assert_true(metrics_have(
	    host, "\nrackmesh_agent_key_loads_total{result=\"good\"} 1\n"));
	assert_int_equal(pinglists_opened, 1);
	assert_int_equal(keys_opened, 1);
}

static void
send_brake(struct host *host, uint64_t version, uint32_t permille)
{
	struct wire_brake brake = { version, permille };
	struct wire_bytes bytes;

	assert_int_equal(wire_write_brake(host->fixture->writer, &brake, &bytes), 0);
	report(host, &bytes);
}

static void
the_brake_stops_probing_also_over_a_restart(void **state)
{
	struct fixture *f = both_probing(state);
	struct host *host = &f->hosts[0];
	const struct brake_file_counts *file;
	uint64_t beats, results;

	send_brake(host, 7, 0);
	LOOPBACK_WAIT(f->loop, host->paused);
	file = brake_file_counts(host->agent->brake_file);
	LOOPBACK_WAIT(f->loop, file->saved == 1);
	assert_false(host->agent->paused); /* "paused" is only set by an operator */
	host_agent_free(host->agent);
	host->paused = false;
	agent_start(f, 0);
	beats = host->beats;
	LOOPBACK_WAIT(f->loop, host->paused && host->beats >= beats + 3);
	results = host->results;
	LOOPBACK_WAIT(f->loop, host->beats >= beats + 5);
	assert_int_equal(host->results, results);
	send_brake(host, 8, 500);
	LOOPBACK_WAIT(f->loop, !host->paused && host->results > results);
}

static void
a_limit_of_its_own_slows_the_agent_and_is_reported(void **state)
{
	struct fixture *f = both_probing(state);
	struct host *host = &f->hosts[0];
	uint64_t results;

	assert_int_equal(host->slowed_permille, 0);
	host_agent_free(host->agent);
	host->memory_mib = 1;
	rm_log_set_level(RM_LOG_ERROR - 1);
	agent_start(f, 0);
	LOOPBACK_WAIT(f->loop, host->slowed_permille == 500);
	assert_int_equal(host->slowed_reason, WIRE_SLOW_MEMORY);
	LOOPBACK_WAIT(f->loop, host->slowed_permille == 250);
	LOOPBACK_WAIT(f->loop, host->slowed_permille == 100);
	/* The rate is a tenth and not zero. */
	results = host->outcomes[WIRE_OK];
	LOOPBACK_WAIT(f->loop, host->outcomes[WIRE_OK] >= results + 10);
	rm_log_set_level(RM_LOG_ERROR);
}

/* Makes the pinglist as old as if no aggregator had renewed it for eight days. */
static void
age_copy(struct host *host)
{
	struct wire_pinglist_view pinglist;
	rm_wall_t now = rm_wall_now();
	uint8_t *data, *aged;
	int64_t age_ns;
	char path[128];
	size_t len;

	snprintf(path, sizeof(path), "%s/pinglist-tor-a", host->state);
	assert_int_equal(rm_file_read(path, 1 << 20, &data, &len), 0);
	assert_int_equal(
	    pinglist_cache_open("tor-a", data, len, now, &age_ns, &pinglist), 0);
	now.ns -= 8 * 24 * 3600 * RM_NS_PER_S;
	assert_int_equal(pinglist_cache_seal(&pinglist.bytes, now, &aged, &len), 0);
	assert_int_equal(rm_file_replace(path, aged, len), 0);
	free(data);
	free(aged);
}

static void
expired_copies_are_probed_slowly_until_an_aggregator_connects(void **state)
{
	struct fixture *f = both_probing(state);
	struct host *host = &f->hosts[0];
	int port = f->port;
	uint64_t results;

	aggregator_stop(f);
	host_agent_free(host->agent);
	age_copy(host);
	host->slowed_permille = 0;
	agent_start(f, 0);
	loopback_run(f->loop, RM_NS_PER_S);
	assert_int_equal(pinglist_store_slow(host->agent->pinglists), 1);
	/* The next examination would renew the pinglists, perhaps before a heartbeat
	 * reports that they have expired. */
	rm_timer_after(host->agent->look, 3600 * RM_NS_PER_S);
	aggregator_start(f, port);
	LOOPBACK_WAIT(f->loop, host->slowed_permille == 100);
	assert_int_equal(host->slowed_reason, WIRE_SLOW_PLAN);
	rm_timer_after(host->agent->look, 0);
	LOOPBACK_WAIT(f->loop, host->beats > 0 && host->slowed_permille == 0);
	assert_int_equal(pinglist_store_slow(host->agent->pinglists), 0);
	results = host->outcomes[WIRE_OK];
	LOOPBACK_WAIT(f->loop, host->outcomes[WIRE_OK] > results + 50);
}

static void
a_reload_keeps_probing_and_a_bad_one_changes_nothing(void **state)
{
	struct fixture *f = both_probing(state);
	struct host *host = &f->hosts[0];
	FILE *file = fopen(host->config_path, "a");
	uint64_t results;

	fputs("probe: {timeout_ms: 300}\n", file);
	fclose(file);
	host_agent_reload(host->agent);
	results = host->outcomes[WIRE_OK];
	LOOPBACK_WAIT(f->loop, host->outcomes[WIRE_OK] > results + 20);
	/* Without changes no prober restarts, and no RNIC is registered again. */
	host->registered = false;
	host_agent_reload(host->agent);
	results = host->outcomes[WIRE_OK];
	LOOPBACK_WAIT(f->loop, host->outcomes[WIRE_OK] > results + 20);
	assert_false(host->registered);
	file = fopen(host->config_path, "a");
	fputs("nonsense: 1\n", file);
	fclose(file);
	rm_log_set_level(RM_LOG_ERROR - 1);
	host_agent_reload(host->agent);
	rm_log_set_level(RM_LOG_ERROR);
	assert_int_equal(host->agent->reload.refused, 1);
	assert_int_equal(host->agent->reload.successful, 0);
	results = host->outcomes[WIRE_OK];
	LOOPBACK_WAIT(f->loop, host->outcomes[WIRE_OK] > results + 20);
}

static void
the_pinglist_sets_the_probe_timeout(void **state)
{
	struct fixture *f = both_probing(state);
	struct host *host = &f->hosts[0];
	uint64_t results;
	FILE *file;

	assert_int_equal(host->agent->tuned.timeout_ns, 500 * RM_NS_PER_MS);
	f->probe_timeout_ms = 350;
	send_pinglists(f, 2);
	LOOPBACK_WAIT(f->loop, host->agent->tuned.timeout_ns == 350 * RM_NS_PER_MS);
	results = host->outcomes[WIRE_OK];
	LOOPBACK_WAIT(f->loop, host->outcomes[WIRE_OK] > results + 20);

	/* The option in the config applies only if no pinglist sets the time-out. */
	file = fopen(host->config_path, "a");
	fputs("probe: {timeout_ms: 300}\n", file);
	fclose(file);
	host_agent_reload(host->agent);
	assert_int_equal(host->agent->tuned.timeout_ns, 350 * RM_NS_PER_MS);
	f->probe_timeout_ms = 0; /* from an aggregator too old to set it */
	send_pinglists(f, 3);
	LOOPBACK_WAIT(f->loop, host->agent->tuned.timeout_ns == 300 * RM_NS_PER_MS);
}

static void
a_reload_applies_reloadable_options_only(void **state)
{
	struct fixture *f = both_probing(state);
	struct host *host = &f->hosts[0];
	FILE *file = fopen(host->config_path, "a");
	uint64_t results;

	fputs("probe: {max_rate_per_s: 500}\nroce: {flow_qps: 3}\n"
	      "queue: {max_age_ms: 1000}\n",
	    file);
	fclose(file);
	host_agent_reload(host->agent);
	assert_int_equal(host->agent->reload.taken, 1);
	assert_int_equal(host->agent->reload.need_restart, 2);
	assert_int_equal(host->agent->config.probe_max_rate_per_s, 500);
	assert_int_equal(host->agent->config.roce_flow_qps, 8);
	results = host->outcomes[WIRE_OK];
	LOOPBACK_WAIT(f->loop, host->outcomes[WIRE_OK] > results + 20);
}

static void
a_recreated_device_is_probed_from_again(void **state)
{
	struct fixture *f = both_probing(state);
	uint64_t results;

	run("ip link del r0%s%s", "", "");
	f->hosts[0].registered = f->hosts[1].registered = false;
	plug_in(f); /* the new RNICs have other MACs */
	LOOPBACK_WAIT(f->loop, f->hosts[0].registered && f->hosts[1].registered);
	send_pinglists(f, 2);
	results = f->hosts[0].outcomes[WIRE_OK];
	LOOPBACK_WAIT(f->loop, f->hosts[0].outcomes[WIRE_OK] > results + 20);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(two_agents_probe_each_other_across_namespaces),
		TEST(a_full_http_server_shows_in_the_metrics),
		TEST(an_rnic_that_is_not_there_yet_is_waited_for),
		TEST(an_rnic_is_found_when_it_comes_and_its_tor_by_lldp),
		TEST(three_devices_with_one_mac_are_all_probed),
		TEST(the_config_has_priority_over_lldp),
		TEST(a_pause_stops_probing_and_is_reported),
		TEST(the_brake_stops_probing_also_over_a_restart),
		TEST(a_restart_without_aggregators_probes_from_the_copies),
		TEST(messages_are_verified_once),
		TEST(a_limit_of_its_own_slows_the_agent_and_is_reported),
		TEST(expired_copies_are_probed_slowly_until_an_aggregator_connects),
		TEST(a_reload_keeps_probing_and_a_bad_one_changes_nothing),
		TEST(the_pinglist_sets_the_probe_timeout),
		TEST(a_reload_applies_reloadable_options_only),
		TEST(a_recreated_device_is_probed_from_again),
	};

	rm_log_set_level(RM_LOG_ERROR);
	if (geteuid() != 0 || unshare(CLONE_NEWNET) < 0 ||
	    system("ip link set lo up") != 0)
		return 77;
	return cmocka_run_group_tests_name("host_agent", tests, NULL, NULL);
}
