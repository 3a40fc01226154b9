#include "tor-aggregator/paths/flow_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MIN_SLOT_BITS 6
#define MIN_LOSSES 64

void
flow_counts_init(struct flow_counts *counts, size_t max)
{
	*counts = (struct flow_counts){ .max = max };
}

void
flow_counts_release(struct flow_counts *counts)
{
	free(counts->flows);
	free(counts->slots);
	flow_counts_init(counts, counts->max);
}

void
flow_counts_clear(struct flow_counts *counts)
{
	if (counts->count > 0)
		memset(counts->slots, 0, sizeof(uint32_t) << counts->slot_bits);
	counts->count = 0;
}

/* Fibonacci hashing: members and remote RNICs need 16 bits each, see window.h. */
static size_t
first_slot(const struct flow_counts *counts, uint32_t src, uint32_t dst,
    uint16_t src_port, uint8_t dscp)
{
	const uint64_t key = (uint64_t)(src & 0xffff) << 48 |
			     (uint64_t)(dst & 0xffff) << 32 | (uint64_t)src_port << 8 |
			     dscp;

	return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - counts->slot_bits));
}

/* Doubles the slots, and makes room for flows in half of them. */
static int
grow(struct flow_counts *counts)
{
	const unsigned bits =
	    counts->slots == NULL ? MIN_SLOT_BITS : counts->slot_bits + 1;
	const size_t slots = (size_t)1 << bits;
	struct flow_count *flows;
	uint32_t *index;

	flows = realloc(counts->flows, slots / 2 * sizeof(*flows));
	if (flows == NULL)
		return -ENOMEM;
	counts->flows = flows;
	index = calloc(slots, sizeof(*index));
	if (index == NULL)
		return -ENOMEM;
	free(counts->slots);
	counts->slots = index;
	counts->slot_bits = bits;
	for (size_t i = 0; i < counts->count; i++) {
		size_t at = first_slot(counts, flows[i].src, flows[i].dst,
		    flows[i].src_port, flows[i].dscp);

		while (index[at] != 0)
			at = (at + 1) & (slots - 1);
		index[at] = (uint32_t)i + 1;
	}
	return 0;
}

static bool
is_flow(const struct flow_count *flow, uint32_t src, uint32_t dst, uint16_t src_port,
    uint8_t dscp)
{
	return flow->src == src && flow->dst == dst && flow->src_port == src_port &&
	       flow->dscp == dscp;
}

struct flow_count *
flow_counts_get(struct flow_counts *counts, uint32_t src, uint32_t dst,
    uint16_t src_port, uint8_t dscp)
{
	if (counts->slots == NULL && grow(counts) < 0)
		return NULL;
	for (;;) {
		const size_t mask = ((size_t)1 << counts->slot_bits) - 1;
		size_t at = first_slot(counts, src, dst, src_port, dscp);

		for (; counts->slots[at] != 0; at = (at + 1) & mask) {
			struct flow_count *flow = &counts->flows[counts->slots[at] - 1];

			if (is_flow(flow, src, dst, src_port, dscp))
				return flow;
		}
		if (counts->count >= counts->max)
			return NULL;
		if (counts->count < (mask + 1) / 2) {
			struct flow_count *flow = &counts->flows[counts->count];

			*flow = (struct flow_count){ .src = src,
				.dst = dst,
				.src_port = src_port,
				.dscp = dscp };
			counts->slots[at] = (uint32_t)++counts->count;
			return flow;
		}
		if (grow(counts) < 0)
			return NULL;
	}
}

int
flow_second_lost(struct flow_second *second, size_t flow, int64_t sent)
{
	if (second->loss_count == second->loss_room) {
		size_t room =
		    second->loss_room == 0 ? MIN_LOSSES : 2 * second->loss_room;
		struct flow_loss *losses = NULL;

		if (room <= FLOW_SECOND_MAX_LOSSES)
			losses = realloc(second->losses, room * sizeof(*losses));
		if (losses == NULL) {
			second->cut = true;
			return -ENOMEM;
		}
		second->losses = losses;
		second->loss_room = room;
	}
	second->losses[second->loss_count++] = (struct flow_loss){ flow, sent };
	return 0;
}

void
flow_count_received(struct flow_count *flow, uint32_t count)
{
	if (!flow->has_counts || (int32_t)(count - flow->least_count) < 0)
		flow->least_count = count;
	if (!flow->has_counts || (int32_t)(count - flow->most_count) > 0)
		flow->most_count = count;
	flow->has_counts = true;
}

void
flow_second_clear(struct flow_second *second)
{
	flow_counts_clear(&second->flows);
	flow_counts_clear(&second->inside);
	second->loss_count = 0;
	second->cut = false;
}

void
flow_second_release(struct flow_second *second)
{
	flow_counts_release(&second->flows);
	flow_counts_release(&second->inside);
	free(second->losses);
	second->losses = NULL;
	second->loss_count = second->loss_room = 0;
}
