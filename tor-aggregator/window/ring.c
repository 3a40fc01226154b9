#include "tor-aggregator/window/ring.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

static_assert(sizeof(struct ring_result) == 64, "a raw result's place in memory");

struct ring {
	size_t capacity, count, next;
	struct ring_result results[];
};

int
ring_new(size_t bytes, struct ring **ret)
{
	size_t capacity = bytes / sizeof(struct ring_result);
	struct ring *ring;

	if (capacity == 0)
		capacity = 1;
	/* calloc's untouched pages take no memory until results come. */
	ring = calloc(1, sizeof(*ring) + capacity * sizeof(ring->results[0]));
	if (ring == NULL)
		return -ENOMEM;
	ring->capacity = capacity;
	*ret = ring;
	return 0;
}

void
ring_free(struct ring *ring)
{
	free(ring);
}

void
ring_put(struct ring *ring, rm_mono_t sent, bool late, const struct wire_result *result)
{
	ring->results[ring->next] = (struct ring_result){
		.sent = sent,
		.src_guid = result->src_guid,
		.dst_guid = result->dst_guid,
		.rtt_ns = result->rtt_ns,
		.prober_delay_ns = result->prober_delay_ns,
		.responder_delay_ns = result->responder_delay_ns,
		.round_trip_ns = result->round_trip_ns,
		.seq = result->seq,
		.dst_qpn = result->dst_qpn,
		.src_port = result->src_port,
		.size_bytes = result->size_bytes,
		.src_port_num = result->src_port_num,
		.dst_port_num = result->dst_port_num,
		.outcome = result->outcome,
		.invalid_reason = result->invalid_reason,
		.kind = result->kind,
		.dscp = result->dscp,
		.flags = result->flags,
		.arrived_dscp = result->arrived_dscp & 0x3f,
		.arrived_ecn = result->arrived_ecn & 0x3,
		.arrived_ttl = result->arrived_ttl,
		.stamp_source = result->stamp_source,
		.late = late,
	};
	if (++ring->next == ring->capacity)
		ring->next = 0;
	if (ring->count < ring->capacity)
		ring->count++;
}

size_t
ring_count(const struct ring *ring)
{
	return ring->count;
}

const struct ring_result *
ring_get(const struct ring *ring, size_t i)
{
	if (i >= ring->count)
		return NULL;
	return &ring->results[(ring->next + ring->capacity - 1 - i) % ring->capacity];
}

bool
ring_touches(const struct ring_result *result, struct wire_rnic_id id)
{
	return (result->src_guid == id.guid && result->src_port_num == id.port) ||
	       (result->dst_guid == id.guid && result->dst_port_num == id.port);
}
