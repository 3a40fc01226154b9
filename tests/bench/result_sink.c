/*
 * result_sink - the smallest aggregator with which the real host-agent can be measured.
 *
 * It welcomes the agents "prober" and "reflector", sends pinglists, acknowledges
 * batches, and keeps the send time of each result.
 *
 * Commands on stdin, answers on stdout:
 *     plan RATE RNICS   probes per second over this number of RNIC pairs; 0: none
 *     report FROM TO    the results of probes sent between these two times
 *     (CLOCK_MONOTONIC, ns); forgets all results
 *
 * Each 100/s are a target ("stream") of their own, as in a rack. RNICs with QPs are
 * probed over RoCE with many flows.
 */
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/net/link.h"
#include "rackmesh/net/listener.h"
#include "schemas/wire.h"
#include "tests/bench/kept_results.h"

#define MAX_FRAME_BYTES (1u << 20)
#define MAX_OUTPUT_BYTES (8u << 20)
#define MAX_RNICS 16
#define STREAM_RATE 100
#define FLOWS 8         /* flows of a RoCE target; UDP uses only the first one */
#define PROBE_BYTES 128 /* UDP payload; tests/bench/probe.py passes it to bare_pair */
#define ROCE_BYTES 64   /* tests/roce-lab/test_overhead.py passes it to ib_send_lat */
#define DSCP 26

enum { PROBER, REFLECTOR, AGENTS };

static const char *const agent_names[AGENTS] = { "prober", "reflector" };

struct agent {
	struct rm_link *link;
	uint64_t self_loss;
	struct wire_rnic_id ids[MAX_RNICS];
	struct wire_address addresses[MAX_RNICS];
	uint32_t qpns[MAX_RNICS]; /* 0: UDP */
	size_t rnics;
};

struct sink {
	struct rm_loop *loop;
	struct wire_writer *writer;
	struct agent agents[AGENTS];
	uint64_t version;
	struct kept_results *kept;
};

static int
send_bytes(struct rm_link *link, int r, const struct wire_bytes *bytes)
{
	return r < 0 ? r : rm_link_send(link, bytes->data, bytes->len);
}

/* ---- messages of the agents --------------------------------------------------- */

static void
take_register(
    struct agent *agent, const char *host, const struct wire_register_view *view)
{
	agent->rnics = 0;
	for (size_t i = 0; i < view->reg.rnic_count && i < MAX_RNICS; i++) {
		struct wire_rnic rnic;

		wire_register_rnic(view, i, &rnic);
		agent->ids[i] = rnic.id;
		agent->addresses[i] = rnic.addresses[0];
		agent->qpns[i] = rnic.qpn;
		if (rnic.qpn != 0)
			agent->addresses[i].port = WIRE_ROCE_PORT;
		agent->rnics++;
	}
	printf("{\"host\": \"%s\", \"rnics\": %zu}\n", host, agent->rnics);
	fflush(stdout);
}

static int
take_batch(struct sink *sink, struct rm_link *link, const uint8_t *data, size_t len)
{
	struct wire_batch_view view;
	struct wire_bytes bytes;
	int r = wire_open_batch(&view, data, len);

	if (r < 0)
		return r;
	kept_results_add(sink->kept, &view);
	r = wire_write_ack(sink->writer,
	    &(struct wire_ack){ .lane = WIRE_LANE_BATCH,
		.incarnation = view.head.incarnation,
		.seq = view.head.seq },
	    &bytes);
	return send_bytes(link, r, &bytes);
}

/* Only the hello contains the host's name. */
static struct agent *
agent_of(struct sink *sink, struct rm_link *link)
{
	for (size_t i = 0; i < AGENTS; i++) {
		if (sink->agents[i].link == link)
			return &sink->agents[i];
	}
	return NULL;
}

static int
take_hello(struct sink *sink, struct rm_link *link, const uint8_t *data, size_t len)
{
	struct wire_welcome welcome = {
		.version = WIRE_VERSION, .id = "sink", .incarnation = 1, .refused = ""
	};
	struct wire_hello_view view;
	struct wire_bytes bytes;
	int r = wire_open_hello(&view, data, len);

	if (r < 0)
		return r;
	for (size_t i = 0; i < AGENTS; i++) {
		if (strcmp(view.hello.id, agent_names[i]) != 0)
			continue;
		sink->agents[i].link = link;
		r = wire_write_welcome(sink->writer, &welcome, &bytes);
		return send_bytes(link, r, &bytes);
	}
	return -EACCES;
}

static int
sink_on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct sink *sink = arg;
	struct agent *agent = agent_of(sink, link);
	struct wire_register_view reg;
	struct wire_heartbeat beat;
	int r;

	switch (wire_kind_of(data, len)) {
	case WIRE_HELLO:
		return take_hello(sink, link, data, len);
	case WIRE_REGISTER:
		r = wire_open_register(&reg, data, len);
		if (r == 0 && agent != NULL)
			take_register(agent, agent_names[agent - sink->agents], &reg);
		return r;
	case WIRE_BATCH:
		return take_batch(sink, link, data, len);
	case WIRE_HEARTBEAT:
		r = wire_open_heartbeat(&beat, data, len);
		if (r == 0 && agent != NULL)
			agent->self_loss = beat.self_loss;
		return r;
	default:
		return 0;
	}
}

/* The agents run longer than the bench, so an earlier end is a failure that bench.py
 * sees. */
static void
sink_on_close(struct rm_link *link, int reason, void *arg)
{
	struct sink *sink = arg;

	rm_log_error(reason, "an agent has gone");
	rm_loop_stop(sink->loop);
}

static int
sink_on_accept(int fd, const struct rm_address *peer, void *arg)
{
	static const struct rm_link_limits limits = { MAX_FRAME_BYTES,
		MAX_OUTPUT_BYTES };
	static const struct rm_link_callbacks callbacks = {
		.on_frame = sink_on_frame,
		.on_close = sink_on_close,
	};
	struct sink *sink = arg;
	struct rm_link *link;

	/* Freed when the process ends. */
	return rm_link_new(sink->loop, fd, &limits, &callbacks, sink, &link);
}

/* ---- commands of bench.py ----------------------------------------------------- */

static int
send_targets(struct sink *sink, uint64_t rate, size_t rnics)
{
	static const uint16_t flows[FLOWS] = { 40000, 40001, 40002, 40003, 40004, 40005,
		40006, 40007 };
	static const uint16_t size = PROBE_BYTES, roce_size = ROCE_BYTES;
	static const uint8_t dscp = DSCP;
	struct agent *from = &sink->agents[PROBER], *to = &sink->agents[REFLECTOR];
	uint64_t pair_rate = rnics == 0 ? 0 : rate / rnics;
	size_t streams = pair_rate == 0 ? 0 : (pair_rate - 1) / STREAM_RATE + 1;
	struct wire_target *targets = calloc(streams * rnics + 1, sizeof(*targets));
	struct wire_pinglist list = { .tor = "bench",
		.version = sink->version,
		.targets = targets,
		.target_count = streams * rnics };
	struct wire_bytes bytes;
	int r;

	if (targets == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < list.target_count; i++) {
		size_t pair = i % rnics;
		uint32_t qpn = to->qpns[pair];

		targets[i] = (struct wire_target){ .src = from->ids[pair],
			.dst = { .guid = i + 1, .port = 1 },
			.kind = WIRE_TOR_MESH,
			.address = to->addresses[pair],
			.dst_qpn = qpn,
			.interval_us =
			    (uint32_t)(UINT64_C(1000000) * streams / pair_rate),
			.flows = flows,
			.flow_count = qpn != 0 ? FLOWS : 1,
			.dscps = &dscp,
			.dscp_count = 1,
			.sizes = qpn != 0 ? &roce_size : &size,
			.size_count = 1 };
	}
	r = wire_write_pinglist(sink->writer, &list, &bytes);
	r = send_bytes(from->link, r, &bytes);
	free(targets);
	return r;
}

static int
send_roster(struct sink *sink)
{
	struct agent *from = &sink->agents[PROBER], *to = &sink->agents[REFLECTOR];
	struct wire_peer peers[MAX_RNICS];
	struct wire_pinglist list = { .tor = "bench",
		.version = sink->version,
		.roster = peers,
		.roster_count = from->rnics };
	struct wire_bytes bytes;
	int r;

	for (size_t i = 0; i < from->rnics; i++) {
		peers[i] = (struct wire_peer){ from->ids[i], from->addresses[i] };
		peers[i].address.port = 0;
	}
	r = wire_write_pinglist(sink->writer, &list, &bytes);
	return send_bytes(to->link, r, &bytes);
}

static void
obey_plan(struct sink *sink, uint64_t rate, size_t rnics)
{
	int r = -ENOTCONN;

	sink->version++;
	if (sink->agents[PROBER].rnics >= rnics &&
	    sink->agents[REFLECTOR].rnics >= rnics)
		r = send_roster(sink);
	if (r == 0)
		r = send_targets(sink, rate, rnics);
	printf("{\"planned\": %d}\n", r);
}

static void
obey_report(struct sink *sink, int64_t from, int64_t to)
{
	kept_results_print(sink->kept, from, to,
	    sink->agents[PROBER].self_loss + sink->agents[REFLECTOR].self_loss);
}

/* bench.py writes whole lines and waits for each answer. */
static void
sink_on_command(evutil_socket_t fd, short what, void *arg)
{
	struct sink *sink = arg;
	long long a, b;
	char line[128];
	ssize_t n = read(fd, line, sizeof(line) - 1);

	if (n <= 0) {
		rm_loop_stop(sink->loop);
		return;
	}
	line[n] = 0;
	if (sscanf(line, "plan %lld %lld", &a, &b) == 2 && a >= 0 && b >= 0 &&
	    b <= MAX_RNICS)
		obey_plan(sink, (uint64_t)a, (size_t)b);
	else if (sscanf(line, "report %lld %lld", &a, &b) == 2)
		obey_report(sink, a, b);
	else
		printf("{\"error\": \"no such command\"}\n");
	fflush(stdout);
}

int
main(void)
{
	struct sink sink = { 0 };
	struct rm_listener *listener = NULL;
	struct event *command = NULL;
	struct rm_address address;
	int r = -ENOMEM;

	rm_log_open("result_sink");
	sink.writer = wire_writer_new();
	sink.kept = kept_results_new();
	if (sink.writer == NULL || sink.kept == NULL || rm_loop_new(&sink.loop) < 0)
		goto out;
	r = rm_address_parse("127.0.0.1:0", -1, &address);
	if (r == 0)
		r = rm_listener_new(
		    sink.loop, &address, sink_on_accept, &sink, &listener);
	if (r < 0)
		goto out;
	command = event_new(rm_loop_base(sink.loop), STDIN_FILENO, EV_READ | EV_PERSIST,
	    sink_on_command, &sink);
	r = command == NULL || event_add(command, NULL) < 0 ? -ENOMEM : 0;
	if (r < 0)
		goto out;
	printf("{\"port\": %d}\n", rm_listener_port(listener));
	fflush(stdout);
	r = rm_loop_run(sink.loop);
out:
	if (r < 0)
		rm_log_error(r, "cannot go on");
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
