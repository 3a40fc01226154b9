#include "tor-aggregator/paths/stopped_ends.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "schemas/wire.h"
#include "tor-aggregator/paths/flow_counts.h"
#include "tor-aggregator/window/window.h"

#define EXPLAINED_SHARE 0.8 /* share of the RNIC's losses that must be explained */

struct end { /* one RNIC of another rack */
	/* See flow_count. The bits of all its flows, in this second and in the next
	 * one. */
	uint64_t answered_slots, stood_slots;
	uint64_t next_answered_slots, next_stood_slots;
	uint32_t lost, explained;
};

struct stopped_ends {
	struct end *remote;
	uint64_t left_out;
};

int
stopped_ends_new(struct stopped_ends **ret)
{
	struct stopped_ends *ends = calloc(1, sizeof(*ends));

	if (ends == NULL)
		return -ENOMEM;
	ends->remote = calloc(WIRE_MAX_REMOTES, sizeof(*ends->remote));
	if (ends->remote == NULL) {
		stopped_ends_free(ends);
		return -ENOMEM;
	}
	*ret = ends;
	return 0;
}

void
stopped_ends_free(struct stopped_ends *ends)
{
	if (ends == NULL)
		return;
	free(ends->remote);
	free(ends);
}

static struct end *
end_of(const struct stopped_ends *ends, const struct flow_count *flow)
{
	return &ends->remote[(flow->dst - WINDOW_REMOTE_BASE) % WIRE_MAX_REMOTES];
}

/* Returns whether any probe had to wait at a host. */
static bool
add_flows(const struct stopped_ends *ends, const struct flow_second *second,
    const struct flow_second *next)
{
	bool stood = false;

	for (size_t i = 0; i < second->flows.count; i++)
		*end_of(ends, &second->flows.flows[i]) = (struct end){ 0 };
	for (size_t i = 0; i < second->flows.count; i++) {
		const struct flow_count *flow = &second->flows.flows[i];
		struct end *end = end_of(ends, flow);

		end->answered_slots |= flow->answered_slots;
		end->stood_slots |= flow->stood_slots;
		stood |= flow->stood_slots != 0;
	}
	for (size_t i = 0; next != NULL && i < next->flows.count; i++) {
		const struct flow_count *flow = &next->flows.flows[i];
		struct end *end = end_of(ends, flow);

		end->next_answered_slots |= flow->answered_slots;
		end->next_stood_slots |= flow->stood_slots;
		stood |= flow->stood_slots != 0;
	}
	return stood;
}

static uint64_t
lowest_bit(uint64_t bits)
{
	return bits & (~bits + 1);
}

/* True: the next probe that the RNIC answered after this one had to wait at its host.
 */
static bool
is_explained(const struct end *end, int64_t sent)
{
	const uint64_t slot = UINT64_C(1) << flow_slot(sent);
	const uint64_t later = end->answered_slots & ~(slot | (slot - 1));

	if (later != 0)
		return (end->stood_slots & lowest_bit(later)) != 0;
	return (end->next_stood_slots & lowest_bit(end->next_answered_slots)) != 0;
}

void
stopped_ends_judge(struct stopped_ends *ends, struct flow_second *second,
    const struct flow_second *next)
{
	if (second->loss_count == 0 || !add_flows(ends, second, next))
		return;
	for (size_t i = 0; i < second->loss_count; i++) {
		const struct flow_loss *loss = &second->losses[i];
		const struct flow_count *flow = &second->flows.flows[loss->flow];
		struct end *end = end_of(ends, flow);

		if (flow->left_out)
			continue;
		end->lost++;
		end->explained += is_explained(end, loss->sent);
	}
	for (size_t i = 0; i < second->flows.count; i++) {
		struct flow_count *flow = &second->flows.flows[i];
		const struct end *end = end_of(ends, flow);

		if (flow->left_out || end->explained == 0 ||
		    end->explained < EXPLAINED_SHARE * end->lost)
			continue;
		ends->left_out += flow->sent;
		flow->left_out = true;
	}
}

uint64_t
stopped_ends_left_out(const struct stopped_ends *ends)
{
	return ends->left_out;
}
