#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/probe/flow_label.h"
#include "host-agent/verbs/port_verbs_state.h"
#include "host-agent/verbs/verbs_ah.h"
#include "host-agent/verbs/verbs_calls.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"

/* After this many seconds in a row in which the clock was not trusted, only software
 * stamps are used. */
#define UNTRUSTED_SECONDS 10
#define SETTLE_NS (5 * RM_NS_PER_S) /* a time longer than any packet is in flight */

static void port_verbs_departed(struct port_verbs *port, enum port_role role,
    const struct port_departure *departures, size_t count);
static int port_verbs_post(
    struct port_verbs *port, enum port_role role, struct port_packet *packet);

int
port_verbs_start_clock(struct port_verbs *port, const struct ibv_device_attr_ex *device)
{
	if (port->stamps == WIRE_STAMP_WALLCLOCK)
		return nic_clock_new_wall(&port->clock);
	return nic_clock_new(
	    device->hca_core_clock, device->completion_timestamp_mask, &port->clock);
}

struct nic_clock_reading
port_verbs_now(void)
{
	return (struct nic_clock_reading){ rm_mono_now(), rm_wall_now() };
}

static bool
port_verbs_settled(const struct port_verbs *port, rm_mono_t now)
{
	return rm_mono_since(now, port->settled) >= 0;
}

/* False: the packet has no stamp. While stamps of the NIC and of the host may both
 * occur, no packet has a stamp, because a difference between the two kinds means
 * nothing. */
bool
port_verbs_stamp(struct port_verbs *port, const struct verbs_completion *completion,
    const struct nic_clock_reading *now, int64_t *ret)
{
	if (port->stamps != WIRE_STAMP_USER)
		return nic_clock_stamp(port->clock, completion->stamp, now, ret) == 0;
	*ret = now->mono.ns;
	return port_verbs_settled(port, now->mono);
}

void
port_verbs_watch_clock(struct port_verbs *port)
{
	struct nic_clock_reading now;
	rm_mono_t before;
	uint64_t cycles;

	if (port->stamps == WIRE_STAMP_USER)
		return;
	before = rm_mono_now();
	if (port->stamps == WIRE_STAMP_NIC &&
	    port->calls->query_clock(port->domain->context, &cycles) == 0) {
		now = port_verbs_now();
		(void)nic_clock_pair(port->clock, cycles, before, &now);
	}
	now = port_verbs_now();
	if (nic_clock_is_trusted(port->clock, now.mono))
		port->clock_untrusted_s = 0;
	else if (++port->clock_untrusted_s > UNTRUSTED_SECONDS) {
		rm_log_warn(0,
		    "%s, port %u: NIC clock rejected: its readings do not fit; send "
		    "times are taken by software",
		    port->device, port->options.port_num);
		port->stamps = WIRE_STAMP_USER;
		port->settled = rm_mono_add(now.mono, SETTLE_NS);
	}
}

/* How long a reply waits for its address handle. Resolving a new neighbour takes tens
 * of ms, and longer if there are many new ones. The wait is between T3 and T4, so it
 * does not count as time in the network. */
#define PATIENCE_NS (200 * RM_NS_PER_MS)

/* Copies a reply, which will wait for its address handle. -EAGAIN: there is no room; or
 * the packet is a probe, and probes never wait. */
static int
port_verbs_wait(
    struct port_verbs *port, enum port_role role, const struct port_packet *packet)
{
	struct port_verbs_waiting *waiting;
	size_t len = (size_t)packet->len + packet->zeros;
	uint8_t *data;

	if (role != PORT_REFLECTOR)
		return -EAGAIN;
	data = port->waiting_count < PORT_VERBS_MAX_WAITING ? malloc(len) : NULL;
	if (data == NULL) {
		port->counts.handles_refused++;
		return -EAGAIN;
	}
	memcpy(data, packet->data, packet->len);
	memset(data + packet->len, 0, packet->zeros);
	waiting = &port->waiting[(port->waiting_first + port->waiting_count++) %
				 PORT_VERBS_MAX_WAITING];
	*waiting = (struct port_verbs_waiting){ .packet = *packet,
		.to = *packet->to,
		.data = data,
		.deadline = rm_mono_add(rm_mono_now(), PATIENCE_NS) };
	waiting->packet.data = data;
	waiting->packet.len = (uint16_t)len;
	waiting->packet.zeros = 0;
	if (port->waiting_count == 1)
		rm_timer_at(port->patience, waiting->deadline);
	port->counts.handles_waited++;
	return 0;
}

/* False: the handle is still missing, so the reply continues to wait. */
static bool
try_waiting(struct port_verbs *port, struct port_verbs_waiting *waiting, rm_mono_t now)
{
	struct port_packet *packet = &waiting->packet;
	uint64_t refused = port->counts.handles_refused;
	struct port_departure departure;
	int r;

	/* port->waiting may have moved the entry in the meantime */
	packet->to = &waiting->to;
	r = port_verbs_post(port, PORT_REFLECTOR, packet);
	if (r == -EINPROGRESS && rm_mono_since(waiting->deadline, now) > 0)
		return false;
	/* The reflector has counted the reply as sent. So its loss must be counted
	 * here, once. */
	if (r != 0 && port->counts.handles_refused == refused)
		port->counts.handles_refused++;
	if (r != 0 || port->stamps != WIRE_STAMP_USER ||
	    !port_verbs_settled(port, packet->posted))
		return true;
	departure = (struct port_departure){ packet->token, packet->posted.ns };
	port_verbs_departed(port, PORT_REFLECTOR, &departure, 1);
	return true;
}

/* All replies wait equally long, so the first one times out first. */
void
port_verbs_send_waiting(struct port_verbs *port)
{
	rm_mono_t now = rm_mono_now();

	/* A send may show that the device has gone: then port_verbs_fail drops all that
	 * wait. */
	for (size_t n = port->waiting_count; n > 0 && port->waiting_count > 0; n--) {
		struct port_verbs_waiting waiting = port->waiting[port->waiting_first];

		port->waiting_first =
		    (port->waiting_first + 1) % PORT_VERBS_MAX_WAITING;
		port->waiting_count--;
		if (try_waiting(port, &waiting, now))
			free(waiting.data);
		else
			port->waiting[(port->waiting_first + port->waiting_count++) %
				      PORT_VERBS_MAX_WAITING] = waiting;
	}
	if (port->waiting_count > 0)
		rm_timer_at(
		    port->patience, port->waiting[port->waiting_first].deadline);
}

void
port_verbs_drop_waiting(struct port_verbs *port)
{
	for (; port->waiting_count > 0; port->waiting_count--) {
		free(port->waiting[port->waiting_first].data);
		port->waiting_first =
		    (port->waiting_first + 1) % PORT_VERBS_MAX_WAITING;
		port->counts.handles_refused++;
	}
}

#define POLL_BATCH 32

struct departures {
	struct port_departure all[POLL_BATCH];
	size_t count;
};

static void
port_verbs_departed(struct port_verbs *port, enum port_role role,
    const struct port_departure *departures, size_t count)
{
	const struct port_events *listener = &port->listeners[role];

	if (count > 0 && port->listening[role])
		listener->on_departures(departures, count, listener->arg);
}

void
port_verbs_drop_sent(const struct verbs_send *send, void *arg)
{
	verbs_ah_put(send->handle);
}

static void
take_sent(struct port_verbs *port, const struct verbs_completion *completion,
    const struct nic_clock_reading *now, struct departures departures[PORT_ROLES])
{
	uint8_t number = verbs_wr_queue(completion->wr_id);
	struct departures *of_role;
	struct verbs_send send;
	int64_t stamp_ns;

	if (number >= port->queue_count ||
	    !verbs_queue_sent(port->queues[number].queue, completion->wr_id, &send))
		return; /* the send was of a slot that was reset meanwhile */
	verbs_ah_put(send.handle);
	if (completion->status != IBV_WC_SUCCESS) {
		port->counts.errors++;
		port_verbs_suspect(port, &port->queues[number]);
		return;
	}
	if (port->stamps == WIRE_STAMP_USER)
		return; /* the stamp was reported when the packet was posted */
	if (!port_verbs_stamp(port, completion, now, &stamp_ns)) {
		port->counts.stamps_missing++;
		return;
	}
	of_role = &departures[send.role];
	of_role->all[of_role->count++] =
	    (struct port_departure){ .token = send.token, .stamp_ns = stamp_ns };
}

void
port_verbs_take_sent(struct port_verbs *port)
{
	struct departures departures[PORT_ROLES];
	struct verbs_completion batch[POLL_BATCH];
	int n;

	do {
		struct nic_clock_reading now;

		if (port->gone != 0)
			return;
		n = verbs_cq_poll(&port->sends, POLL_BATCH, batch);
		if (n < 0)
			port_verbs_fail(port, n);
		if (n <= 0)
			return;
		now = port_verbs_now();
		for (int role = 0; role < PORT_ROLES; role++)
			departures[role].count = 0;
		for (int i = 0; i < n; i++)
			take_sent(port, &batch[i], &now, departures);
		for (int role = 0; role < PORT_ROLES; role++)
			port_verbs_departed(port, (enum port_role)role,
			    departures[role].all, departures[role].count);
	} while (n == POLL_BATCH);
}

/* ---- the flow of a packet ---- */

uint32_t
port_verbs_label(const struct port_verbs *port, uint16_t src_port)
{
	if (port->flows == PORT_FLOWS_LABEL)
		return flow_label_for_sport(src_port);
	if (port->flows == PORT_FLOWS_QP)
		for (size_t i = 0; i < port->flow_count; i++)
			if (port->queues[QUEUE_FLOWS + i].port == src_port)
				/* any label but 0 will do: only the QP decides the flow
				 */
				return (uint32_t)i + 1;
	return 0;
}

/* Chooses the flow QP. For a reply, the label of the probe chooses the QP, whichever
 * device chose the label. So all replies to one flow take one flow. */
static int
pick_flow(struct port_verbs *port, enum port_role role,
    const struct port_packet *packet, struct port_verbs_queue **ret)
{
	size_t flow = 0;

	if (port->flows == PORT_FLOWS_QP && role == PORT_REFLECTOR)
		flow = packet->label % port->flow_count;
	else if (port->flows == PORT_FLOWS_QP)
		while (port->queues[QUEUE_FLOWS + flow].port != packet->src_port)
			if (++flow == port->flow_count)
				return -EAGAIN; /* the number of the QP has just changed
						 */
	*ret = &port->queues[QUEUE_FLOWS + flow];
	return (*ret)->lost ? -EAGAIN : 0;
}

/* The flow label for the address handle. With label 0 a NIC may use a new source port
 * for each packet. So label 0 is avoided on NICs whose source port depends on the
 * label, or may depend on it. */
static uint32_t
handle_label(const struct port_verbs *port, enum port_role role,
    const struct port_packet *packet)
{
	uint32_t label = 0;

	if (port->flows == PORT_FLOWS_QP)
		return 0;
	if (port->flows == PORT_FLOWS_LABEL)
		label = role == PORT_PROBER ? flow_label_for_sport(packet->src_port)
					    : packet->label & FLOW_LABEL_MAX;
	return label != 0 ? label : flow_label_for_sport(FLOW_LABEL_SPORT_MIN);
}

/* ---- sending ---- */

static int
may_send(const struct port_verbs *port, const struct port_packet *packet)
{
	if (port->gone != 0)
		return -ENODEV;
	if (!port->link_up)
		return -ENETDOWN;
	if (packet->qpn == 0)
		return -EINVAL;
	if ((uint32_t)packet->len + packet->zeros > port->mtu_bytes)
		return -EMSGSIZE;
	return 0;
}

/* Takes the stamp before posting: with Soft-RoCE the packet may have reached its peer,
 * and the answer may have arrived, before the call returns. */
static int
port_verbs_post(
    struct port_verbs *port, enum port_role role, struct port_packet *packet)
{
	struct port_verbs_queue *queue;
	struct verbs_ah *handle;
	struct verbs_send send;
	int r = may_send(port, packet);

	if (r == 0)
		r = pick_flow(port, role, packet, &queue);
	if (r < 0)
		return r;
	if (verbs_queue_full(queue->queue))
		port_verbs_take_sent(port);
	r = port_verbs_handle(port, packet, handle_label(port, role, packet), &handle);
	if (r < 0)
		return r;
	send = (struct verbs_send){ .data = packet->data,
		.len = packet->len,
		.zeros = packet->zeros,
		.ah = verbs_ah_handle(handle),
		.qpn = packet->qpn,
		.token = packet->token,
		.handle = handle,
		.role = (uint8_t)role };
	packet->posted = rm_mono_now();
	r = verbs_queue_send(queue->queue, &send);
	if (r == 0)
		return 0;
	verbs_ah_put(handle);
	if (r == -EAGAIN || r == -ENOMEM)
		return -EAGAIN; /* the send queue of the QP is full */
	port_verbs_suspect(port, queue);
	return r;
}

void
port_verbs_send(
    struct port *base, enum port_role role, struct port_packet *packets, size_t count)
{
	struct port_verbs *port = (struct port_verbs *)base;
	struct port_departure departures[PORT_BURST];
	size_t departed = 0;

	for (size_t i = 0; i < count && i < PORT_BURST; i++) {
		struct port_packet *packet = &packets[i];

		packet->posted = rm_mono_now();
		packet->error = port_verbs_post(port, role, packet);
		if (packet->error == -EINPROGRESS) {
			packet->error = port_verbs_wait(port, role, packet);
			continue;
		}
		if (packet->error != 0 || port->stamps != WIRE_STAMP_USER)
			continue;
		if (port_verbs_settled(port, packet->posted))
			departures[departed++] =
			    (struct port_departure){ .token = packet->token,
				    .stamp_ns = packet->posted.ns };
		/* Gives packets that have arrived meanwhile their stamps now, not after
		 * all sends. */
		for (int other = 0; other < PORT_ROLES; other++)
			port_verbs_take(port, (enum port_role)other);
	}
	port_verbs_departed(port, role, departures, departed);
	port_verbs_take_sent(port);
}
