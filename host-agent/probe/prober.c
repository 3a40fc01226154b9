#include "host-agent/probe/prober.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "host-agent/packet/key_ring.h"
#include "host-agent/packet/probe_format.h"
#include "host-agent/packet/stamp.h"
#include "host-agent/probe/overdue.h"
#include "host-agent/probe/pending.h"
#include "host-agent/probe/port.h"
#include "host-agent/probe/prober_target.h"
#include "host-agent/probe/rate_limit.h"
#include "host-agent/probe/target_list.h"
#include "rackmesh/core/random.h"
#include "rackmesh/loop/loop.h"

struct pending;
struct pending_probe;
struct port_arrival;
struct port_departure;
struct rm_timer;

struct prober {
	struct rm_loop *loop;
	struct rm_timer *timer;
	struct port *port;
	struct target_list plan;
	struct pending *pending;
	struct overdue overdue;
	const struct key_ring *ring; /* NULL: there are no keys */
	size_t keyed_targets;
	struct prober_counts counts;
	struct rate_limit rate_limit;
	struct rate_limit *host_rate_limit; /* NULL: none */
	struct own_rnic own_rnic;
	prober_on_result *on_result;
	void *arg;
	int64_t timeout_ns;
	rm_mono_t armed;   /* time at which the timer should have fired */
	rm_mono_t stalled; /* end of the last stall of this process */
	rm_mono_t focus_ends;
	uint16_t ssid;
	bool paused;
	bool drain_cut; /* the last drain stopped before the queues were empty */
};

/*
 * Packets that are due within this time are sent at once, in one system call. Above
 * FAST_RATE_PER_S the time is longer, as a wake-up for every packet would cost more CPU
 * than the packets.
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

static void prober_finish(struct prober *prober, struct pending_probe *probe,
    bool self_loss, enum wire_outcome forced);

/* A switch may not understand TLVs: to a switch, a probe too small for TLVs is sent
 * without them. */
static size_t
probe_size(const struct probe_format *format, const struct wire_target *wire,
    uint16_t requested)
{
	if (wire->kind == WIRE_TOR_REFLECTOR && requested < format->size(0))
		return format->base_bytes;
	return format->size(requested);
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

	if (probe == NULL) { /* the limit of probes in flight is reached */
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
	rate_limit_take(&prober->rate_limit, size);
	if (prober->host_rate_limit != NULL)
		rate_limit_take(prober->host_rate_limit, size);
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

/* True: the packet was not sent because this host lacks sockets, memory, the flow's
 * source port, or (with QPs) an address handle. Such an error is no evidence against an
 * RNIC. */
static bool
lacks_resources(const struct prober_target *target, int error)
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

		if (lacks_resources(target, error)) {
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

/* Returns the time in ns until the rate limits allow one more packet. */
static int64_t
prober_rate_limit_wait(const struct prober *prober, rm_mono_t now)
{
	int64_t own = rate_limit_wait(&prober->rate_limit, now), host = 0;

	if (prober->host_rate_limit != NULL)
		host = rate_limit_wait(prober->host_rate_limit, now);
	return own > host ? own : host;
}

static void
burst_leave(struct prober *prober, struct burst *burst)
{
	rm_mono_t left;

	port_send(prober->port, PORT_PROBER, burst->packets, burst->count);
	left = rm_mono_now();
	rate_limit_left(&prober->rate_limit, left);
	if (prober->host_rate_limit != NULL)
		rate_limit_left(prober->host_rate_limit, left);
}

/* Sends the packets that are due. True: the burst was full, so more packets may be
 * due. */
static bool
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

		if (prober_rate_limit_wait(prober, begun) > 0) {
			held = pacer_next(&prober->plan.pacer, &due) &&
			       rm_mono_since(due, now) <= window;
			break;
		}
		entry = pacer_take(&prober->plan.pacer, now, window, &tick);
		if (entry == NULL)
			break;
		prober->counts.due += tick.skipped + 1;
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

static void
prober_on_departures(const struct port_departure *departures, size_t count, void *arg)
{
	struct prober *prober = arg;

	for (size_t i = 0; i < count; i++) {
		struct pending_probe *probe =
		    pending_find(prober->pending, (uint32_t)departures[i].token);

		if (probe == NULL)
			continue;
		probe->sent_ns = departures[i].stamp_ns;
		probe->has |= PENDING_SENT;
		if (pending_complete(probe))
			prober_finish(prober, probe, false, WIRE_OK);
	}
}

/* Stores T4 in the probe to which this follow-up belongs. A reply cannot contain its
 * own T4, so the next reply of the reflector contains it. */
static void
prober_take_follow_up(struct prober *prober, const struct probe_reply *reply,
    const struct wire_address *from, bool ptp)
{
	struct pending_probe *probe =
	    pending_find(prober->pending, reply->follow_up_seq);

	if (probe == NULL || (probe->has & PENDING_ANSWERED) ||
	    !prober_target_is(probe->target, from))
		return;
	if (stamp_time_read(reply->follow_up_timestamp, ptp, &probe->answered_ns) < 0) {
		prober->counts.malformed_replies++;
		return;
	}
	probe->has |= PENDING_ANSWERED;
	if (pending_complete(probe))
		prober_finish(prober, probe, false, WIRE_OK);
}

static void
probe_take_reply(struct pending_probe *probe, const struct probe_reply *reply,
    const struct port_arrival *arrival, rm_mono_t seen, bool ptp)
{
	probe->back_ns = arrival->stamp_ns;
	probe->unstamped = arrival->source == 0;
	probe->seen = seen;
	probe->stamp_source = (uint8_t)arrival->source;
	probe->has |= PENDING_REPLIED;
	/* Zero: the NIC of the reflector gave no stamp for the arrival of the probe. */
	if (reply->receive_timestamp != 0 &&
	    stamp_time_read(reply->receive_timestamp, ptp, &probe->arrived_ns) == 0)
		probe->has |= PENDING_ARRIVED;
	probe->arrived_ttl = reply->sender_ttl;
	if (reply->has_class) {
		probe->arrived_dscp = reply->dscp;
		probe->arrived_ecn = reply->ecn;
		probe->result_flags |= WIRE_ARRIVAL;
	}
	if (reply->has_counts) {
		probe->responder_count = reply->rx_count;
		probe->result_flags |= WIRE_COUNTED;
	}
}

/* True: the reply echoes this probe, comes from the address to which the probe was
 * sent, and arrived at the source port of the probe, if the transport reports the
 * port. */
static bool
probe_is_answered_by(const struct pending_probe *probe, const struct probe_reply *reply,
    const struct port_arrival *arrival)
{
	return reply->sender_timestamp == probe->timestamp &&
	       (arrival->local_port == 0 || arrival->local_port == probe->src_port) &&
	       prober_target_is(probe->target, &arrival->from);
}

/* Returns the probe with this number, in flight or timed out; NULL: there is none. */
static struct pending_probe *
find_probe(struct prober *prober, uint32_t seq)
{
	struct pending_probe *probe = pending_find(prober->pending, seq);
	struct overdue_probe *overdue;

	if (probe != NULL)
		return probe;
	overdue = overdue_find(&prober->overdue, seq);
	return overdue != NULL ? &overdue->probe : NULL;
}

/* Reads a reply with a MAC. -EBADMSG: it has no MAC; -EACCES: the MAC is wrong. */
static int
read_keyed(struct prober *prober, const struct port_arrival *arrival,
    struct probe_reply *reply, struct pending_probe **probe)
{
	const struct probe_format *format = port_format(prober->port)->keyed;
	const struct prober_target *target;
	int r = format->read_reply(arrival->data, arrival->len, reply);

	if (r < 0)
		return r;
	*probe = find_probe(prober, reply->sender_seq);
	if (*probe == NULL)
		return 0;
	target = (*probe)->target;
	if (!target->keyed ||
	    !format->verify(arrival->data, arrival->len, &target->macs.reply))
		return -EACCES;
	return 0;
}

/* The reply to a plain probe may have any padding after its base. */
static int
read_plain(struct prober *prober, const struct port_arrival *arrival,
    struct probe_reply *reply, struct pending_probe **probe)
{
	const struct probe_format *format = port_format(prober->port);
	const struct prober_target *target;
	int r = format->read_plain_reply(arrival->data, arrival->len, reply);

	if (r < 0)
		return r;
	*probe = find_probe(prober, reply->sender_seq);
	if (*probe == NULL)
		return 0;
	target = (*probe)->target;
	if (target->keyed)
		return -EACCES;
	return (*probe)->size_bytes == format->base_bytes
		   ? 0
		   : format->read_reply(arrival->data, arrival->len, reply);
}

/* Handles a late reply. If the stamps of the responder are by the right clock, the
 * reply shows how long the responder had the probe. */
static void
prober_take_overdue(struct prober *prober, const struct probe_reply *reply,
    const struct port_arrival *arrival, bool ptp)
{
	struct overdue_probe *probe = overdue_find(&prober->overdue, reply->sender_seq);
	int64_t arrived_ns, answered_ns;
	struct wire_result result;

	if (probe == NULL)
		return;
	if (arrival->source != 0 && reply->receive_timestamp != 0 &&
	    stamp_time_read(reply->receive_timestamp, ptp, &arrived_ns) == 0 &&
	    stamp_time_read(reply->timestamp, ptp, &answered_ns) == 0 &&
	    overdue_report(probe, arrival->stamp_ns,
		stamp_time_between(answered_ns, arrived_ns), prober->timeout_ns,
		&result)) {
		result.stamp_source = (uint8_t)arrival->source;
		prober->on_result(&result, probe->probe.posted, prober->arg);
	}
	overdue_forget(probe);
}

static void
prober_take_arrival(
    struct prober *prober, const struct port_arrival *arrival, rm_mono_t seen)
{
	struct pending_probe *probe;
	struct probe_reply reply;
	bool again, ptp;
	int r = read_keyed(prober, arrival, &reply, &probe);

	if (r == -EBADMSG)
		r = read_plain(prober, arrival, &reply, &probe);
	if (r < 0) {
		prober->counts.unverified_replies += r == -EACCES;
		prober->counts.malformed_replies += r != -EACCES;
		return;
	}
	/* A reflector that does not use session ids sets the field to zero. */
	if ((reply.ssid != 0 && reply.ssid != prober->ssid) || probe == NULL ||
	    !probe_is_answered_by(probe, &reply, arrival)) {
		prober->counts.unknown_replies++;
		return;
	}
	ptp = reply.error_estimate & STAMP_ERROR_PTP;
	if (!(probe->has & PENDING_IN_FLIGHT)) {
		prober->counts.unknown_replies++;
		prober_take_overdue(prober, &reply, arrival, ptp);
		return;
	}
	again = probe->has & PENDING_REPLIED;
	if (again)
		prober->counts.unknown_replies++;
	else
		probe_take_reply(probe, &reply, arrival, seen, ptp);
	if (pending_complete(probe))
		prober_finish(prober, probe, false, WIRE_OK);
	/* If the network duplicates a probe, the reflector answers twice, and the
	 * second reply has the follow-up of the first: its T4 belongs to the T3 of the
	 * first reply only. */
	if (reply.has_follow_up && (again || reply.follow_up_seq != reply.sender_seq))
		prober_take_follow_up(prober, &reply, &arrival->from, ptp);
}

/* The port's events; arg is the prober. */
static void
prober_on_arrivals(struct port_arrival *arrivals, size_t count, void *arg)
{
	rm_mono_t seen = rm_mono_now();

	for (size_t i = 0; i < count; i++)
		prober_take_arrival(arg, &arrivals[i], seen);
}

/*
 * A stall of this process is noted if the timer fires later than planned by more than
 * the time-out minus STALL_MARGIN_NS, and by more than STALL_LEAST_NS: a reply may have
 * missed its deadline because of the stall. A shorter stall loses no reply: replies
 * that arrived meanwhile are read, with the kernel's stamps, before any probe expires;
 * and if a queue overran, its drops are counted.
 */
#define STALL_MARGIN_NS (150 * RM_NS_PER_MS)
#define STALL_LEAST_NS (100 * RM_NS_PER_MS)
#define BURSTS_PER_TURN 4

/* Concludes a probe and removes it. forced: the outcome; WIRE_OK: the probe's data
 * decide the outcome. */
static void
prober_finish(struct prober *prober, struct pending_probe *probe, bool self_loss,
    enum wire_outcome forced)
{
	struct prober_target *target = probe->target;
	rm_mono_t posted = probe->posted;
	struct wire_result result = { .src_guid = target->wire.src.guid,
		.dst_guid = target->wire.dst.guid,
		.src_port_num = target->wire.src.port,
		.dst_port_num = target->wire.dst.port,
		.dst_qpn = probe->dst_qpn,
		.flow_label = probe->label,
		.kind = (uint8_t)target->wire.kind,
		.seq = probe->seq,
		.src_port = probe->src_port,
		.size_bytes = probe->size_bytes,
		.dscp = probe->dscp,
		.arrived_dscp = probe->arrived_dscp,
		.arrived_ecn = probe->arrived_ecn,
		.arrived_ttl = probe->arrived_ttl,
		.responder_count = probe->responder_count };

	pending_conclude(probe, prober->timeout_ns, self_loss, &result);
	if (forced != WIRE_OK)
		result.outcome = (uint8_t)forced;
	probe->has &= (uint8_t)~PENDING_IN_FLIGHT;
	if (result.outcome == WIRE_NO_REPLY)
		overdue_put(&prober->overdue, probe, &result);
	pending_remove(prober->pending, probe);
	prober_target_unref(target);

	prober->counts.outcomes[result.outcome]++;
	if (result.outcome == WIRE_INVALID)
		prober->counts.invalid[result.invalid_reason]++;
	if (result.outcome == WIRE_OK && (result.flags & WIRE_SPLIT))
		prober->counts.split_replies++;
	prober->on_result(&result, posted, prober->arg);
}

/* If the timer fires long after its time, this process did not run in between: notes
 * the stall. */
static void
prober_note_stall(struct prober *prober, rm_mono_t now)
{
	const int64_t costly_ns = prober->timeout_ns - STALL_MARGIN_NS;

	if (rm_mono_since(now, prober->armed) >
	    (costly_ns > STALL_LEAST_NS ? costly_ns : STALL_LEAST_NS))
		prober->stalled = now;
}

static void
prober_arm(struct prober *prober)
{
	const struct pending_probe *oldest = pending_oldest(prober->pending);
	rm_mono_t now = rm_mono_now(), at = { INT64_MAX };

	prober_note_stall(prober, now);
	if (!prober->paused && pacer_next(&prober->plan.pacer, &at)) {
		rm_mono_t free = rm_mono_add(now, prober_rate_limit_wait(prober, now));

		if (rm_mono_since(free, at) > 0)
			at = free;
	}
	if (oldest != NULL) {
		rm_mono_t ends = rm_mono_add(oldest->posted, prober->timeout_ns);

		if (rm_mono_since(at, ends) > 0)
			at = ends;
	}
	/* Work that a rate limit delays is not a stall. */
	prober->armed = rm_mono_since(at, now) > 0 ? at : now;
	if (at.ns == INT64_MAX) {
		rm_timer_stop(prober->timer);
		return;
	}
	rm_timer_at(prober->timer, at);
}

/*
 * Concludes the probes whose time-out has passed. The queues are read first, because
 * replies may wait there: whether a reply is in time depends on its stamps, not on the
 * time at which it is read.
 */
static void
prober_expire(struct prober *prober, rm_mono_t now)
{
	bool drained = false;
	uint64_t overruns = 0;

	for (;;) {
		struct pending_probe *probe = pending_oldest(prober->pending);

		if (probe == NULL ||
		    rm_mono_since(now, probe->posted) < prober->timeout_ns)
			return;
		/* A probe that already has its reply does not need the queues:
		 * without a later follow-up its delay is not split, and nothing
		 * else is lost. */
		if (!drained && !(probe->has & PENDING_REPLIED)) {
			bool whole = port_drain(prober->port, PORT_PROBER);

			/* Waits for the rest of the queue only once: otherwise, in a
			 * flood of packets, probes would never be concluded. */
			prober->drain_cut = !whole && !prober->drain_cut;
			if (prober->drain_cut)
				return;
			overruns = port_overruns(prober->port, PORT_PROBER, true);
			drained = true;
			continue;
		}
		prober_finish(prober, probe,
		    overruns != probe->overruns ||
			rm_mono_since(prober->stalled, probe->posted) > 0,
		    WIRE_OK);
	}
}

static void
prober_on_timer(void *arg)
{
	struct prober *prober = arg;
	rm_mono_t now = rm_mono_now();

	prober_note_stall(prober, now);
	if (rm_mono_since(now, prober->focus_ends) >= 0)
		prober->focus_ends = target_list_pace(&prober->plan, now);
	prober_expire(prober, now);
	for (int i = 0; i < BURSTS_PER_TURN && !prober->paused; i++)
		if (!prober_send_burst(prober, now))
			break;
	prober_arm(prober);
}

int
prober_new(struct rm_loop *loop, struct port *port,
    const struct prober_options *options, prober_on_result *on_result, void *arg,
    struct prober **ret)
{
	struct prober *prober = calloc(1, sizeof(*prober));
	uint64_t rate = options->max_rate_per_s, seed = options->random_seed;
	int r = -ENOMEM;

	if (prober == NULL)
		return -ENOMEM;
	if (rate == 0 || rate > PROBER_MAX_RATE_PER_S)
		rate = PROBER_MAX_RATE_PER_S;
	target_list_init(&prober->plan, rate, seed != 0 ? seed : rm_random_u64());
	prober->loop = loop;
	prober->port = port;
	prober->on_result = on_result;
	prober->arg = arg;
	prober->timeout_ns = options->timeout_ns;
	prober->own_rnic = options->own_rnic;
	prober->host_rate_limit = options->host_rate_limit;
	rate_limit_init(&prober->rate_limit, RATE_LIMIT_RNIC_PACKETS_PER_S,
	    RATE_LIMIT_RNIC_BYTES_PER_S);
	prober->stalled = (rm_mono_t){ INT64_MIN / 2 };
	prober->focus_ends = prober->armed = (rm_mono_t){ INT64_MAX };
	while (prober->ssid == 0)
		prober->ssid = (uint16_t)target_list_random(&prober->plan);
	prober->pending = pending_new(0, (uint32_t)target_list_random(&prober->plan));
	if (prober->pending == NULL)
		goto fail;
	r = rm_timer_new(loop, prober_on_timer, prober, &prober->timer);
	if (r < 0)
		goto fail;
	port_listen(port, PORT_PROBER,
	    &(struct port_events){ .on_arrivals = prober_on_arrivals,
		.on_departures = prober_on_departures,
		.arg = prober });
	*ret = prober;
	return 0;
fail:
	pending_free(prober->pending);
	free(prober);
	return r;
}

void
prober_free(struct prober *prober)
{
	struct pending_probe *probe;

	if (prober == NULL)
		return;
	port_listen(prober->port, PORT_PROBER, NULL);
	while ((probe = pending_oldest(prober->pending)) != NULL) {
		prober_target_unref(probe->target);
		pending_remove(prober->pending, probe);
	}
	overdue_clear(&prober->overdue);
	rm_timer_free(prober->timer);
	pending_free(prober->pending);
	target_list_clear(&prober->plan);
	free(prober);
}

/* Reserves room for all probes that can be in flight at this rate, including those that
 * are sent late after a stall. If memory runs out, probes beyond the room are skipped
 * and counted. */
static void
prober_repace(struct prober *prober)
{
	rm_mono_t now = rm_mono_now();
	double seconds = (double)(prober->timeout_ns + PACER_MAKE_UP_NS) / 1e9;

	prober->focus_ends = target_list_pace(&prober->plan, now);
	(void)pending_reserve(
	    prober->pending, (size_t)(prober->plan.rate_per_s * seconds) + PORT_BURST);
	prober_arm(prober);
}

/* Gives each target its key. A probe in flight holds a reference to its old target,
 * which has the key that the probe was sent with. */
static void
prober_take_keys(struct prober *prober)
{
	prober->keyed_targets = 0;
	for (size_t i = 0; prober->ring != NULL && i < prober->plan.count; i++) {
		struct prober_target *target = prober->plan.targets[i];
		const struct wire_pair_key *key =
		    key_ring_pair(prober->ring, target->wire.src, target->wire.dst);

		if (key == NULL)
			continue;
		probe_macs_init(&target->macs, key->key);
		target->keyed = true;
		prober->keyed_targets++;
	}
}

int
prober_set_targets(
    struct prober *prober, const struct wire_target *targets, size_t count)
{
	const struct target_list_place place = { prober->port, &prober->own_rnic };
	int r = target_list_set(&prober->plan, &place, targets, count, rm_mono_now(),
	    prober->counts.refused_targets);

	if (r < 0)
		return r;
	prober_take_keys(prober);
	prober_repace(prober);
	return 0;
}

void
prober_set_keys(struct prober *prober, const struct key_ring *ring)
{
	prober->ring = ring;
}

void
prober_choose_flows(struct prober *prober,
    uint64_t (*choose)(const struct wire_target *wire, void *arg), void *arg)
{
	for (size_t i = 0; i < prober->plan.count; i++) {
		struct prober_target *target = prober->plan.targets[i];

		prober_target_keep(target, choose(&target->wire, arg));
	}
}

void
prober_focus(struct prober *prober, struct wire_rnic_id dst, uint32_t interval_us,
    uint32_t duration_ms)
{
	rm_mono_t now = rm_mono_now();

	if (interval_us < PROBER_MIN_INTERVAL_US)
		interval_us = PROBER_MIN_INTERVAL_US;
	if (duration_ms > PROBER_MAX_FOCUS_MS)
		duration_ms = PROBER_MAX_FOCUS_MS;
	target_list_focus(&prober->plan, dst, interval_us * RM_NS_PER_US,
	    rm_mono_add(now, duration_ms * RM_NS_PER_MS));
	prober_repace(prober);
}

void
prober_pause(struct prober *prober, bool paused)
{
	/* probes that became due during the pause are not counted as skipped */
	if (prober->paused && !paused)
		target_list_jitter(&prober->plan, rm_mono_now());
	prober->paused = paused;
	prober_arm(prober);
}

void
prober_set_permille(struct prober *prober, uint32_t permille)
{
	if (permille < 1 || permille > 1000 || permille == prober->plan.permille)
		return;
	prober->plan.permille = permille;
	prober_repace(prober);
}

int64_t
prober_behind_ns(const struct prober *prober, rm_mono_t now)
{
	int64_t behind = rm_mono_since(now, prober->armed);

	return prober->armed.ns != INT64_MAX && behind > 0 ? behind : 0;
}

const struct prober_counts *
prober_counts(const struct prober *prober)
{
	return &prober->counts;
}

size_t
prober_targets(const struct prober *prober)
{
	return prober->plan.count;
}

size_t
prober_keyed_targets(const struct prober *prober)
{
	return prober->keyed_targets;
}

struct port *
prober_port(const struct prober *prober)
{
	return prober->port;
}
