#include "host-agent/probe/prober_state.h"

#include <errno.h>

#include "host-agent/packet/probe_format.h"
#include "host-agent/packet/stamp.h"
#include "host-agent/probe/pending.h"
#include "host-agent/probe/port.h"
#include "host-agent/probe/prober_target.h"

/*
 * What is due this soon goes out at once, in one system call. Beyond FAST_RATE_PER_S
 * a wake-up for every packet would cost more than the packets do.
 */
#define WINDOW_NS (50 * RM_NS_PER_US)
#define FAST_WINDOW_NS (500 * RM_NS_PER_US)
#define FAST_RATE_PER_S 2000

struct burst {
	struct port_packet packets[PORT_BURST];
	uint8_t heads[PORT_BURST][PROBE_HEAD_BYTES];
	struct pending_probe *probes[PORT_BURST];
	rm_mono_t deadlines[PORT_BURST];
	size_t count;
};

/* A switch may know no TLVs: what is too small for them leaves without. */
static size_t
probe_size(
    const struct probe_format *format, const struct wire_target *wire, uint16_t asked)
{
	if (wire->kind == WIRE_TOR_REFLECTOR && asked < format->size(0))
		return format->base_bytes;
	return format->size(asked);
}

static const struct probe_format *
target_format(const struct prober *prober, const struct prober_target *target)
{
	const struct probe_format *format = port_format(prober->port);

	return target->keyed ? format->keyed : format;
}

static void
burst_add(struct prober *prober, struct burst *burst, struct prober_target *target,
    const struct pacer_tick *tick, uint64_t timestamp)
{
	const struct probe_format *format = target_format(prober, target);
	const struct wire_target *wire = &target->wire;
	struct prober_combination combination;
	struct pending_probe *probe = pending_add(prober->pending);
	size_t n = burst->count, size, head;

	if (probe == NULL) { /* as many in flight as we can follow */
		prober->counts.skipped++;
		return;
	}
	combination = prober_target_turn(target, tick->second);
	size = probe_size(format, wire, combination.size);
	probe->label = port_label(prober->port, combination.src_port);
	probe->dst_qpn =
	    size <= WIRE_ROCE_SMALL_BYTES ? wire->dst_qpn : wire->dst_large_qpn;
	head = format->write_probe(&(struct probe_ask){ .seq = probe->seq,
				       .timestamp = timestamp,
				       .error_estimate = STAMP_ERROR_ESTIMATE,
				       .ssid = prober->ssid,
				       .dscp = combination.dscp,
				       .tx_count = ++*combination.tx_count,
				       .label = probe->label },
	    size, burst->heads[n]);
	ceiling_take(&prober->ceiling, size);
	if (prober->host_ceiling != NULL)
		ceiling_take(prober->host_ceiling, size);
	if (target->keyed)
		format->sign(burst->heads[n], &target->macs.probe);
	prober_target_ref(target);
	probe->target = target;
	probe->timestamp = timestamp;
	probe->overruns = port_overruns(prober->port, PORT_PROBER, false);
	probe->src_port = combination.src_port;
	probe->size_bytes = (uint16_t)size;
	probe->dscp = combination.dscp;
	probe->own_clock = target->has_qp;

	burst->packets[n] = (struct port_packet){ .to = &wire->address,
		.qpn = probe->dst_qpn,
		.lid = wire->dst_lid,
		.sl = wire->sl,
		.data = burst->heads[n],
		.len = (uint16_t)head,
		.zeros = (uint16_t)(size - head),
		.src_port = combination.src_port,
		.dscp = combination.dscp,
		.token = probe->seq };
	burst->probes[n] = probe;
	burst->deadlines[n] = tick->deadline;
	burst->count++;
}

/* Our own want of sockets, memory or (of QPs: not yet) an address handle is no evidence
 * against an RNIC. */
static bool
is_want_of_ours(const struct prober_target *target, int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM ||
	       error == -EADDRINUSE || (error == -EAGAIN && target->has_qp);
}

static void
burst_settle(struct prober *prober, const struct burst *burst)
{
	for (size_t i = 0; i < burst->count; i++) {
		struct pending_probe *probe = burst->probes[i];
		struct prober_target *target = probe->target;
		rm_mono_t posted = burst->packets[i].posted;
		int error = burst->packets[i].error;

		if (is_want_of_ours(target, error)) {
			prober->counts.skipped++;
			pending_remove(prober->pending, probe);
			prober_target_unref(target);
			continue;
		}
		probe->posted = posted;
		if (pacer_is_late(
			target->pace.interval_ns, burst->deadlines[i], posted)) {
			probe->result_flags |= WIRE_LATE_SEND;
			prober->counts.late_sends++;
		}
		if (error == 0) {
			prober->counts.sent++;
			continue;
		}
		prober->counts.send_failed++;
		prober_finish(prober, probe, false, WIRE_SEND_FAILED);
	}
}

int64_t
prober_ceiling_wait(const struct prober *prober, rm_mono_t now)
{
	int64_t own = ceiling_wait(&prober->ceiling, now), host = 0;

	if (prober->host_ceiling != NULL)
		host = ceiling_wait(prober->host_ceiling, now);
	return own > host ? own : host;
}

static void
burst_leave(struct prober *prober, struct burst *burst)
{
	rm_mono_t left;

	port_send(prober->port, PORT_PROBER, burst->packets, burst->count);
	left = rm_mono_now();
	ceiling_left(&prober->ceiling, left);
	if (prober->host_ceiling != NULL)
		ceiling_left(prober->host_ceiling, left);
}

bool
prober_send_burst(struct prober *prober, rm_mono_t now)
{
	int64_t window =
	    prober->plan.rate_per_s > FAST_RATE_PER_S ? FAST_WINDOW_NS : WINDOW_NS;
	uint64_t timestamp = stamp_time_write(rm_wall_now().ns);
	rm_mono_t begun = rm_mono_now(), due;
	struct burst burst;
	struct pacer_tick tick;
	bool held = false;

	burst.count = 0;
	while (burst.count < PORT_BURST) {
		struct pacer_entry *entry;

		if (prober_ceiling_wait(prober, begun) > 0) {
			held = pacer_next(&prober->plan.pacer, &due) &&
			       rm_mono_since(due, now) <= window;
			break;
		}
		entry = pacer_take(&prober->plan.pacer, now, window, &tick);
		if (entry == NULL)
			break;
		prober->counts.asked += tick.skipped + 1;
		prober->counts.skipped += tick.skipped;
		burst_add(
		    prober, &burst, (struct prober_target *)entry, &tick, timestamp);
	}
	prober->counts.held += held;
	if (burst.count > 0)
		burst_leave(prober, &burst);
	burst_settle(prober, &burst);
	return burst.count == PORT_BURST;
}
