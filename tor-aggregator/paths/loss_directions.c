#include "tor-aggregator/paths/loss_directions.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tor-aggregator/paths/flow_counts.h"

/*
 * A source, a destination and a class; the responder has one count for all their flows.
 * A pair and its key in `keys` have the same index.
 */
struct pair {
	bool known; /* there was an earlier answer */
	/* probes that were sent since the second of that answer may still arrive */
	bool slow;
	uint32_t base;
	uint64_t sent, lost; /* probes sent after that answer, in earlier seconds */
	struct pair_second {
		/* number of the second that `now` counts; if it is not the present
		 * second, nothing was sent in the present one */
		uint64_t fold;
		/* after: probes that were sent after the newest answered probe, and
		 * lost. */
		uint64_t sent, lost, after;
		bool others, slow;
		int64_t answered;
		uint32_t count; /* receive count in that answer */
		bool has_counts;
		uint32_t least, most; /* receive counts of all answers */
		enum loss_direction direction;
	} now;
};

struct loss_directions {
	struct flow_counts keys; /* keys of the pairs, with source port 0 */
	struct pair *pairs;
	size_t room;
	uint64_t fold; /* number of the second, from 1 */
};

int
loss_directions_new(size_t max_pairs, struct loss_directions **ret)
{
	struct loss_directions *directions = calloc(1, sizeof(*directions));

	if (directions == NULL)
		return -ENOMEM;
	flow_counts_init(&directions->keys, max_pairs);
	*ret = directions;
	return 0;
}

void
loss_directions_free(struct loss_directions *directions)
{
	if (directions == NULL)
		return;
	flow_counts_release(&directions->keys);
	free(directions->pairs);
	free(directions);
}

void
loss_directions_forget(struct loss_directions *directions)
{
	flow_counts_clear(&directions->keys);
}

/* Returns NULL if there are too many pairs, or memory has run out. Valid until the next
 * call. */
static struct pair *
pair_of(struct loss_directions *directions, const struct flow_count *flow)
{
	const size_t before = directions->keys.count;
	struct flow_count *key;
	struct pair *pairs;
	size_t at;

	if (before == directions->room) {
		const size_t room = before == 0 ? 64 : 2 * before;

		pairs = realloc(directions->pairs, room * sizeof(*pairs));
		if (pairs == NULL)
			return NULL;
		directions->pairs = pairs;
		directions->room = room;
	}
	key = flow_counts_get(&directions->keys, flow->src, flow->dst, 0, flow->dscp);
	if (key == NULL)
		return NULL;
	at = (size_t)(key - directions->keys.flows);
	if (at == before)
		directions->pairs[at] = (struct pair){ 0 };
	return &directions->pairs[at];
}

/* Adds the losses after the newest answer. The next answer will show their direction.
 */
static void
add_losses(struct loss_directions *directions, struct flow_second *second)
{
	for (size_t i = 0; i < second->loss_count; i++) {
		const struct flow_loss *loss = &second->losses[i];
		struct flow_count *flow = &second->flows.flows[loss->flow];
		struct pair *pair = pair_of(directions, flow);

		if (pair == NULL ||
		    (pair->now.answered != 0 && loss->sent <= pair->now.answered))
			continue;
		pair->now.after++;
		flow->after++;
	}
}

static void
add_receive_counts(struct pair_second *now, const struct flow_count *flow)
{
	if (!now->has_counts || (int32_t)(flow->least_count - now->least) < 0)
		now->least = flow->least_count;
	if (!now->has_counts || (int32_t)(flow->most_count - now->most) > 0)
		now->most = flow->most_count;
	now->has_counts = true;
}

static void
add_flows(struct loss_directions *directions, const struct flow_second *second)
{
	for (size_t i = 0; i < second->flows.count; i++) {
		const struct flow_count *flow = &second->flows.flows[i];
		struct pair *pair = pair_of(directions, flow);

		if (pair == NULL)
			continue;
		if (pair->now.fold != directions->fold)
			pair->now = (struct pair_second){ .fold = directions->fold };
		pair->now.sent += flow->sent;
		pair->now.lost += flow->lost;
		pair->now.others = pair->now.others || flow->others > 0;
		pair->now.slow = pair->now.slow || flow->slow + flow->overdue > 0;
		if (flow->has_counts)
			add_receive_counts(&pair->now, flow);
		if (flow->counted && flow->answered > pair->now.answered) {
			pair->now.answered = flow->answered;
			pair->now.count = flow->responder_count;
		}
	}
}

/* True: an answer that by its count is later than another one has an earlier send time.
 * Send times come with batches of results, each of which may be delayed. */
static bool
is_out_of_order(const struct pair *pair)
{
	return pair->now.most != pair->now.count ||
	       (int32_t)(pair->now.least - pair->base) <= 0;
}

static enum loss_direction
direction_of(const struct pair *pair)
{
	const uint64_t sent = pair->sent + pair->now.sent - pair->now.after;
	const uint64_t lost = pair->lost + pair->now.lost - pair->now.after;
	const uint32_t arrived = pair->now.count - pair->base;

	/* The difference of counts cannot be used in three cases. If it is larger than
	 * the number of probes sent, the responder has restarted, or a batch of results
	 * is missing. If one path is slow, a later probe over another path is answered
	 * first, and that answer does not count the slow probes. If answers are out of
	 * order, the two counts are not those of the first and last of these probes. */
	if (!pair->known || pair->now.others || pair->now.slow || pair->slow ||
	    lost == 0 || arrived > sent || is_out_of_order(pair))
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
		pair->slow = pair->slow || pair->now.slow;
		return;
	}
	pair->now.direction = direction_of(pair);
	pair->known = true;
	pair->slow = pair->now.slow;
	pair->base = pair->now.most;
	pair->sent = pair->lost = pair->now.after;
}

void
loss_directions_fold(struct loss_directions *directions, struct flow_second *second)
{
	directions->fold++;
	add_flows(directions, second);
	add_losses(directions, second);
	for (size_t i = 0; i < directions->keys.count; i++)
		if (directions->pairs[i].now.fold == directions->fold)
			settle(&directions->pairs[i]);
	for (size_t i = 0; i < second->flows.count; i++) {
		struct flow_count *flow = &second->flows.flows[i];
		/* Losses of other flows before that answer are no evidence on this
		 * flow, because it may take another path. */
		const struct pair *pair =
		    flow->lost > flow->after ? pair_of(directions, flow) : NULL;

		flow->direction =
		    (uint8_t)(pair == NULL ? LOST_UNKNOWN : pair->now.direction);
	}
}
