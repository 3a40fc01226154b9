#include <errno.h>

#include "host-agent/packet/grh.h"
#include "host-agent/verbs/port_verbs_state.h"
#include "host-agent/verbs/verbs_calls.h"

#define POLL_BATCH 32

/* Returns NULL if no queue of this port has the number in wr_id. */
static struct port_verbs_queue *
queue_of(struct port_verbs *port, uint64_t wr_id)
{
	uint8_t number = verbs_wr_queue(wr_id);

	return number < port->queue_count ? &port->queues[number] : NULL;
}

/* False: the completion has no packet to deliver. */
static bool
completion_is_whole(struct port_verbs *port, const struct port_verbs_queue *queue,
    const struct verbs_completion *completion)
{
	if (completion->status != IBV_WC_SUCCESS) {
		port->counts.errors++;
		return false;
	}
	if (completion->byte_len < GRH_BYTES) {
		port->counts.no_header++;
		return false;
	}
	if (completion->byte_len - GRH_BYTES >
	    verbs_queue_receive_bytes(queue->queue)) {
		port->counts.truncated++;
		return false;
	}
	return true;
}

static void
take_one(struct port_verbs *port, struct port_verbs_receive *receive,
    const struct verbs_completion *completion, const struct nic_clock_reading *now)
{
	struct port_verbs_queue *queue = queue_of(port, completion->wr_id);
	struct port_verbs_taken *taken;
	uint8_t *buffer;

	if (queue == NULL || verbs_wr_is_send(completion->wr_id))
		return;
	buffer = verbs_queue_take(
	    queue->queue, completion->wr_id, completion->status == IBV_WC_SUCCESS);
	if (buffer == NULL)
		return; /* the buffer was reset and posted again in the meantime */
	if (!completion_is_whole(port, queue, completion)) {
		verbs_queue_give_back(queue->queue, completion->wr_id);
		if (completion->status != IBV_WC_SUCCESS) {
			queue->flushed = true;
			port_verbs_suspect(port, queue);
		}
		return;
	}
	taken = &receive->ring[(receive->first + receive->count++) % receive->size];
	*taken = (struct port_verbs_taken){ .wr_id = completion->wr_id,
		.buffer = buffer,
		.len = completion->byte_len,
		.src_qp = completion->src_qp,
		.slid = completion->slid,
		.sl = completion->sl,
		.has_grh = completion->flags & IBV_WC_GRH };
	taken->has_stamp = port_verbs_stamp(port, completion, now, &taken->stamp_ns);
}

/* Counts the times that a queue was empty as overruns: the number of packets that it
 * dropped meanwhile is not known. */
static void
port_note_levels(struct port_verbs *port)
{
	uint64_t low = 0, refused = 0, empty[PORT_ROLES] = { 0 };

	for (size_t i = 0; i < port->queue_count; i++) {
		struct verbs_queue_level level;

		verbs_queue_level(port->queues[i].queue, &level);
		low += level.low;
		refused += level.refused;
		empty[i < QUEUE_FLOWS ? PORT_REFLECTOR : PORT_PROBER] += level.empty;
	}
	port->counts.receives_low = low;
	port->counts.refills_refused = refused;
	port->counts.overruns = 0;
	for (int role = 0; role < PORT_ROLES; role++) {
		port->overruns[role] = empty[role];
		port->counts.overruns += empty[role];
	}
}

void
port_verbs_take(struct port_verbs *port, enum port_role role)
{
	struct port_verbs_receive *receive = &port->receives[role];
	int n, want;

	do {
		struct verbs_completion batch[POLL_BATCH];
		size_t room = receive->size - receive->count;
		struct nic_clock_reading now;

		want = room < POLL_BATCH ? (int)room : POLL_BATCH;
		if (port->gone != 0)
			return;
		n = verbs_cq_poll(&receive->cq, want, batch);
		if (n < 0)
			port_verbs_fail(port, n);
		if (n <= 0)
			return;
		now = port_verbs_now();
		for (int i = 0; i < n; i++)
			take_one(port, receive, &batch[i], &now);
		port_note_levels(port);
	} while (n == want);
}

/* False: the bytes do not show which address sent the packet. */
static bool
read_arrival(struct port_verbs *port, const struct port_verbs_queue *queue,
    const struct port_verbs_taken *taken, struct port_arrival *ret)
{
	struct port_arrival arrival = { .data = taken->buffer + GRH_BYTES,
		.len = taken->len - GRH_BYTES,
		.qpn = taken->src_qp,
		.lid = port->infiniband ? taken->slid : 0,
		.sl = taken->sl,
		.local_port = queue->port };
	struct grh grh;

	if (taken->has_stamp) {
		arrival.stamp_ns = taken->stamp_ns;
		arrival.source = port->stamps;
	} else {
		port->counts.stamps_missing++;
	}
	if (taken->has_grh && grh_parse(taken->buffer, taken->len, &grh) == 0) {
		arrival.from = grh.src;
		arrival.dscp = grh.dscp;
		arrival.ecn = grh.ecn;
		arrival.ttl = grh.ttl;
	} else if (taken->has_grh || !port->infiniband) {
		port->counts.no_header++;
		return false;
	}
	arrival.from.port = WIRE_ROCE_PORT;
	*ret = arrival;
	return true;
}

size_t
port_verbs_deliver(struct port_verbs *port, enum port_role role)
{
	struct port_verbs_receive *receive = &port->receives[role];
	const struct port_events *listener = &port->listeners[role];
	struct port_arrival arrivals[PORT_BURST];
	uint64_t wr_ids[PORT_BURST];
	size_t held = 0, count = 0, looked = 0;

	for (; looked < PORT_BURST && receive->count > 0; looked++) {
		struct port_verbs_taken *taken = &receive->ring[receive->first];
		struct port_verbs_queue *queue = queue_of(port, taken->wr_id);

		receive->first = (receive->first + 1) % receive->size;
		receive->count--;
		if (!verbs_queue_holds(queue->queue, taken->wr_id))
			continue;
		wr_ids[held++] = taken->wr_id;
		if (read_arrival(port, queue, taken, &arrivals[count]))
			count++;
	}
	if (count > 0 && port->listening[role])
		listener->on_arrivals(arrivals, count, listener->arg);
	for (size_t i = 0; i < held; i++)
		verbs_queue_give_back(queue_of(port, wr_ids[i])->queue, wr_ids[i]);
	if (held > 0)
		port_verbs_refill(port);
	return looked;
}

/* While a queue is lost, the device keeps its buffers. A queue in the error state gets
 * no buffers: it would return each at once and wake the loop again and again. */
void
port_verbs_refill(struct port_verbs *port)
{
	for (size_t i = 0; i < port->queue_count && port->gone == 0; i++)
		if (!port->queues[i].lost && !port->queues[i].flushed)
			verbs_queue_refill(port->queues[i].queue);
}
