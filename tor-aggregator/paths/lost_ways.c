#include "tor-aggregator/paths/lost_ways.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tor-aggregator/paths/flow_counts.h"

/*
 * Of a source, a destination and a class: all their flows share one count. The index
 * of struct pair is that of its key in `keys`.
 */
struct pair {
	bool known; /* of an earlier answer */
	uint32_t base;
	uint64_t sent, lost; /* after that answer, in earlier seconds */
	struct pair_second {
		uint64_t fold; /* of this second; another: nothing was sent in it */
		uint64_t sent, lost, after; /* after: lost behind the newest answer */
		bool others;
		int64_t answered;
		uint32_t count; /* as that answer told it */
		enum lost_way way;
	} now;
};

struct lost_ways {
	struct flow_counts keys; /* of pairs: source port 0 */
	struct pair *pairs;
	size_t room;
	uint64_t fold; /* numbers seconds, from 1 */
};

int
lost_ways_new(size_t max_pairs, struct lost_ways **ret)
{
	struct lost_ways *ways = calloc(1, sizeof(*ways));

	if (ways == NULL)
		return -ENOMEM;
	flow_counts_init(&ways->keys, max_pairs);
	*ret = ways;
	return 0;
}

void
lost_ways_free(struct lost_ways *ways)
{
	if (ways == NULL)
		return;
	flow_counts_release(&ways->keys);
	free(ways->pairs);
	free(ways);
}

void
lost_ways_forget(struct lost_ways *ways)
{
	flow_counts_clear(&ways->keys);
}

/* NULL: too many, or out of memory. Valid until the next call. */
static struct pair *
pair_of(struct lost_ways *ways, const struct flow_count *flow)
{
	const size_t before = ways->keys.count;
	struct flow_count *key;
	struct pair *pairs;
	size_t at;

	if (before == ways->room) {
		const size_t room = before == 0 ? 64 : 2 * before;

		pairs = realloc(ways->pairs, room * sizeof(*pairs));
		if (pairs == NULL)
			return NULL;
		ways->pairs = pairs;
		ways->room = room;
	}
	key = flow_counts_get(&ways->keys, flow->src, flow->dst, 0, flow->dscp);
	if (key == NULL)
		return NULL;
	at = (size_t)(key - ways->keys.flows);
	if (at == before)
		ways->pairs[at] = (struct pair){ 0 };
	return &ways->pairs[at];
}

/* What its losses were after the newest answer: the next answer tells of those. */
static void
add_losses(struct lost_ways *ways, const struct flow_second *second)
{
	for (size_t i = 0; i < second->loss_count; i++) {
		const struct flow_loss *loss = &second->losses[i];
		struct pair *pair = pair_of(ways, &second->flows.flows[loss->flow]);

		if (pair != NULL &&
		    (pair->now.answered == 0 || loss->sent > pair->now.answered))
			pair->now.after++;
	}
}

static void
add_flows(struct lost_ways *ways, const struct flow_second *second)
{
	for (size_t i = 0; i < second->flows.count; i++) {
		const struct flow_count *flow = &second->flows.flows[i];
		struct pair *pair = pair_of(ways, flow);

		if (pair == NULL)
			continue;
		if (pair->now.fold != ways->fold)
			pair->now = (struct pair_second){ .fold = ways->fold };
		pair->now.sent += flow->sent;
		pair->now.lost += flow->lost;
		pair->now.others = pair->now.others || flow->others > 0;
		if (flow->counted && flow->answered > pair->now.answered) {
			pair->now.answered = flow->answered;
			pair->now.count = flow->responder_count;
		}
	}
}

static enum lost_way
way_of(const struct pair *pair)
{
	const uint64_t sent = pair->sent + pair->now.sent - pair->now.after;
	const uint64_t lost = pair->lost + pair->now.lost - pair->now.after;
	const uint32_t arrived = pair->now.count - pair->base;

	/* More than was sent: its responder has restarted, or we missed a batch. */
	if (!pair->known || pair->now.others || lost == 0 || arrived > sent)
		return LOST_UNKNOWN;
	if (arrived == sent)
		return LOST_REVERSE;
	return sent - arrived >= lost ? LOST_FORWARD : LOST_UNKNOWN;
}

static void
settle(struct pair *pair)
{
	if (pair->now.answered == 0) {
		pair->sent += pair->now.sent;
		pair->lost += pair->now.lost;
		pair->known = pair->known && !pair->now.others;
		return;
	}
	pair->now.way = way_of(pair);
	pair->known = true;
	pair->base = pair->now.count;
	pair->sent = pair->lost = pair->now.after;
}

void
lost_ways_fold(struct lost_ways *ways, struct flow_second *second)
{
	ways->fold++;
	add_flows(ways, second);
	add_losses(ways, second);
	for (size_t i = 0; i < ways->keys.count; i++)
		if (ways->pairs[i].now.fold == ways->fold)
			settle(&ways->pairs[i]);
	for (size_t i = 0; i < second->flows.count; i++) {
		struct flow_count *flow = &second->flows.flows[i];
		const struct pair *pair = flow->lost > 0 ? pair_of(ways, flow) : NULL;

		flow->way = (uint8_t)(pair == NULL ? LOST_UNKNOWN : pair->now.way);
	}
}
