/*
 * port_pair - a prober and a reflector for each device over its verbs port, without any
 * daemon; each device probes all others. Shows how the port works on these devices. Run
 * by the lab's tests, or by hand:
 *
 *	port_pair [-s seconds] [-i interval_us] [-b bytes] [-q flow_qps] [-w]
 *	          [-o] DEVICE...
 *
 * -w: large probes are sent to the QP for small probes; that QP must continue to work.
 * -o: prints when probes begin and cease to be answered.
 *
 * Prints the events of the ports as they happen, and the sums at the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host-agent/probe/port.h"
#include "host-agent/probe/prober.h"
#include "host-agent/reflector/reflector.h"
#include "host-agent/rnic/rnic_facts.h"
#include "host-agent/verbs/port_verbs.h"
#include "host-agent/verbs/priority_pool.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"

#define MAX_DEVICES 16
#define TIMEOUT_NS (500 * RM_NS_PER_MS)
#define DSCP 26

struct rtts {
	uint32_t *ns;
	size_t count, room;
};

struct end {
	const char *device;
	struct rnic_facts facts;
	struct port_verbs_facts verbs;
	struct port *port;
	struct prober *prober;
	struct reflector *reflector;
	struct rtts network, prober_delay, responder;
	uint64_t flows_seen[64]; /* answered probes of flows[i] */
	uint16_t flows[64];
	size_t flow_count;
	int last_outcome; /* -1: no result yet */
};

static struct end ends[MAX_DEVICES];
static size_t end_count;
static struct rm_loop *loop;
static struct rm_timer *stop_timer;
static long interval_us = 10000, bytes = 64;
static bool wrong_qp, report_outcomes;
static rm_mono_t began;

static void
report(const struct end *end, const char *what)
{
	printf("%8.3f %s: %s\n", (double)rm_mono_since(rm_mono_now(), began) / 1e9,
	    end->device, what);
	fflush(stdout);
}

static void
rtts_add(struct rtts *rtts, uint32_t ns)
{
	if (rtts->count == rtts->room) {
		size_t room = rtts->room == 0 ? 1024 : 2 * rtts->room;
		uint32_t *more = realloc(rtts->ns, room * sizeof(*more));

		if (more == NULL)
			return;
		rtts->ns = more;
		rtts->room = room;
	}
	rtts->ns[rtts->count++] = ns;
}

static int
compare_ns(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void
rtts_print(const char *name, struct rtts *rtts)
{
	if (rtts->count == 0)
		return;
	qsort(rtts->ns, rtts->count, sizeof(*rtts->ns), compare_ns);
	printf("  %s us: min %.0f p50 %.0f p90 %.0f p99 %.0f max %.0f\n", name,
	    rtts->ns[0] / 1e3, rtts->ns[rtts->count / 2] / 1e3,
	    rtts->ns[rtts->count * 9 / 10] / 1e3,
	    rtts->ns[rtts->count * 99 / 100] / 1e3, rtts->ns[rtts->count - 1] / 1e3);
}

static void
on_result(const struct wire_result *result, rm_mono_t sent, void *arg)
{
	struct end *end = arg;
	size_t i = 0;

	if (report_outcomes && result->outcome != end->last_outcome) {
		static const char *const names[] = { "OK", "no reply", "late reply",
			"send failed", "sent late", "stale QPN", "self loss",
			"invalid" };

		report(end,
		    result->outcome < WIRE_OUTCOMES ? names[result->outcome] : "?");
	}
	end->last_outcome = result->outcome;
	if (result->outcome != WIRE_OK || !(result->flags & WIRE_SPLIT))
		return;
	rtts_add(&end->network, result->rtt_ns);
	rtts_add(&end->prober_delay, result->prober_delay_ns);
	rtts_add(&end->responder, result->responder_delay_ns);
	while (i < end->flow_count && end->flows[i] != result->src_port)
		i++;
	if (i == end->flow_count && i < 64)
		end->flows[end->flow_count++] = result->src_port;
	if (i < 64)
		end->flows_seen[i]++;
}

/* Gives each RNIC the numbers of all others, as the controller would. */
static void
plan(void)
{
	static const uint8_t dscps[] = { DSCP };
	uint16_t sizes[1] = { (uint16_t)bytes };
	uint16_t flows[16];
	struct wire_peer peers[MAX_DEVICES];

	for (uint16_t i = 0; i < 16; i++)
		flows[i] = (uint16_t)(50000 + i);
	for (size_t i = 0; i < end_count; i++) {
		port_verbs_facts(ends[i].port, &ends[i].verbs);
		peers[i] = (struct wire_peer){ .id = ends[i].facts.id,
			.address = ends[i].facts.addresses[0] };
	}
	for (size_t i = 0; i < end_count; i++) {
		struct wire_target targets[MAX_DEVICES];
		size_t count = 0;

		for (size_t j = 0; j < end_count; j++) {
			if (j == i)
				continue;
			targets[count++] = (struct wire_target){
				.src = ends[i].facts.id,
				.dst = ends[j].facts.id,
				.kind = WIRE_TOR_MESH,
				.address = ends[j].facts.addresses[0],
				.dst_qpn = ends[j].verbs.qpn,
				.dst_large_qpn = wrong_qp ? ends[j].verbs.qpn
							  : ends[j].verbs.large_qpn,
				.interval_us = (uint32_t)interval_us,
				.flows = flows,
				.flow_count = 16,
				.dscps = dscps,
				.dscp_count = 1,
				.sizes = sizes,
				.size_count = 1,
			};
			targets[count - 1].address.port = WIRE_ROCE_PORT;
		}
		if (reflector_set_roster(ends[i].reflector, peers, end_count) < 0 ||
		    prober_set_targets(ends[i].prober, targets, count) < 0)
			report(&ends[i], "cannot plan");
	}
}

static void
on_link(bool up, void *arg)
{
	report(arg, up ? "link up" : "link down");
}

static void
on_renumbered(void *arg)
{
	report(arg, "renumbered");
	plan();
}

static void
on_gone(int reason, void *arg)
{
	report(arg, strerror(-reason));
}

static int
end_open(struct end *end, size_t qps, struct priority_pool *pool)
{
	struct rnic_place place = { .transport = RNIC_ROCE,
		.device = end->device,
		.rdma_port = 1,
		.gid_index = -1 };
	struct port_verbs_events events = { on_link, on_renumbered, on_gone, end };
	struct port_verbs_options options = {
		.port_num = 1, .flow_qps = qps, .pool = pool
	};
	struct prober_options prober = { .timeout_ns = TIMEOUT_NS };
	int r = rnic_facts_read_roce(&place, &end->facts);

	if (r < 0)
		return r;
	options.device = end->facts.rdma_device;
	options.driver = end->facts.driver;
	for (size_t i = 0; i < end->facts.address_count; i++) {
		options.gids[i].address = end->facts.addresses[i];
		options.gids[i].index = end->facts.gid_index[i];
		memcpy(options.gids[i].gid, end->facts.gids[i], 16);
	}
	r = port_verbs_new(loop, &options, &events, &end->port);
	if (r == 0)
		r = reflector_new(end->port, end->facts.id, 0, &end->reflector);
	if (r == 0)
		r = prober_new(loop, end->port, &prober, on_result, end, &end->prober);
	return r;
}

static void
end_print(struct end *end)
{
	const struct prober_counts *prober = prober_counts(end->prober);
	const struct reflector_counts *reflector = reflector_counts(end->reflector);
	const struct port_counts *port = port_counts(end->port);
	uint64_t invalid = prober->outcomes[WIRE_INVALID];

	port_verbs_facts(end->port, &end->verbs);
	printf("%s: qpn %u large %u mtu %u stamps %d flows %zu link %d\n", end->device,
	    end->verbs.qpn, end->verbs.large_qpn, end->verbs.mtu_bytes,
	    end->verbs.stamps, end->verbs.flow_count, end->verbs.link_up);
	printf("  asked %lu skipped %lu sent %lu failed %lu ok %lu lost %lu late %lu "
	       "invalid %lu split %lu unknown %lu self %lu\n",
	    prober->due, prober->skipped, prober->sent, prober->send_failed,
	    prober->outcomes[WIRE_OK], prober->outcomes[WIRE_NO_REPLY],
	    prober->outcomes[WIRE_LATE_REPLY], invalid, prober->split_replies,
	    prober->unknown_replies, prober->outcomes[WIRE_SELF_LOSS]);
	for (int i = 0; i < WIRE_INVALID_REASONS; i++)
		if (prober->invalid[i] > 0)
			printf("  invalid, reason %d: %lu\n", i, prober->invalid[i]);
	printf("  received %lu replied %lu failed %lu stranger %lu malformed %lu\n",
	    reflector->received, reflector->replied, reflector->send_failed,
	    reflector->refused_unknown, reflector->refused_malformed);
	printf("  errors %lu no_header %lu low %lu overruns %lu truncated %lu rebuilt "
	       "%lu reset %lu waited %lu refused %lu lowest %u handles %zu\n",
	    port->errors, port->no_header, port->receives_low, port->overruns,
	    port->truncated, port->rebuilt, port->reset, port->handles_waited,
	    port->handles_refused, end->verbs.receives_lowest, end->verbs.handles);
	rtts_print("network RTT", &end->network);
	rtts_print("prober delay", &end->prober_delay);
	rtts_print("responder delay", &end->responder);
	printf("  flows");
	for (size_t i = 0; i < end->flow_count; i++)
		printf(" %u:%lu", end->flows[i], end->flows_seen[i]);
	printf("\n");
}

static void
end_close(struct end *end)
{
	prober_free(end->prober);
	reflector_free(end->reflector);
	port_free(end->port);
	free(end->network.ns);
	free(end->prober_delay.ns);
	free(end->responder.ns);
}

static void
on_stop(void *arg)
{
	rm_loop_stop(loop);
}

static int
run(long seconds, size_t qps)
{
	struct priority_pool *pool = NULL;
	int r = rm_loop_new(&loop);

	if (r == 0)
		r = priority_pool_new(loop, PRIORITY_POOL_MIN, &pool);
	if (r == 0)
		r = rm_timer_new(loop, on_stop, NULL, &stop_timer);
	for (size_t i = 0; r == 0 && i < end_count; i++) {
		r = end_open(&ends[i], qps, pool);
		if (r < 0)
			report(&ends[i], strerror(-r));
	}
	if (r == 0) {
		plan();
		rm_timer_after(stop_timer, seconds * RM_NS_PER_S);
		r = rm_loop_run(loop);
		for (size_t i = 0; i < end_count; i++)
			end_print(&ends[i]);
	}
	for (size_t i = 0; i < end_count; i++)
		end_close(&ends[i]);
	priority_pool_free(pool);
	rm_timer_free(stop_timer);
	rm_loop_free(loop);
	return r;
}

int
main(int argc, char **argv)
{
	long seconds = 10, qps = 0;
	int option;

	rm_log_open("port_pair");
	while ((option = getopt(argc, argv, "s:i:b:q:wo")) != -1) {
		long value = optarg != NULL ? atol(optarg) : 0;

		if (option == 's')
			seconds = value;
		else if (option == 'i')
			interval_us = value;
		else if (option == 'b')
			bytes = value;
		else if (option == 'q')
			qps = value;
		else if (option == 'w')
			wrong_qp = true;
		else if (option == 'o')
			report_outcomes = true;
		else
			return EXIT_FAILURE;
	}
	for (; optind < argc && end_count < MAX_DEVICES; optind++)
		ends[end_count++] =
		    (struct end){ .device = argv[optind], .last_outcome = -1 };
	began = rm_mono_now();
	return run(seconds, (size_t)qps) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
