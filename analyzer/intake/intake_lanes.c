#include "analyzer/intake/intake_lanes.h"

#include <errno.h>
#include <stdlib.h>

struct item {
	struct intake_peer *peer;
	struct intake_lane *lane;
	uint64_t seq, ticket;
};

struct intake_pending {
	struct item *items; /* a ring */
	size_t capacity, head, count;
};

struct intake_lane *
intake_lane_get(
    struct intake_lane lanes[INTAKE_INCARNATIONS], uint64_t incarnation, uint64_t now)
{
	struct intake_lane *oldest = NULL;

	for (size_t i = 0; i < INTAKE_INCARNATIONS; i++) {
		struct intake_lane *lane = &lanes[i];

		if (lane->used != 0 && lane->incarnation == incarnation) {
			lane->used = now;
			return lane;
		}
		if (lane->pending == 0 && (oldest == NULL || lane->used < oldest->used))
			oldest = lane;
	}
	if (oldest != NULL)
		*oldest =
		    (struct intake_lane){ .incarnation = incarnation, .used = now };
	return oldest;
}

void
intake_lanes_forget(struct intake_lane lanes[INTAKE_INCARNATIONS])
{
	/* Items that wait point to the lanes, so the entries are changed and not
	 * moved. */
	for (size_t i = 0; i < INTAKE_INCARNATIONS; i++) {
		lanes[i].used = 0;
		lanes[i].ack_due = false;
	}
}

enum intake_status
intake_lane_status(const struct intake_lane *lane, uint64_t seq, size_t max_unacked)
{
	if (seq <= lane->durable)
		return INTAKE_SAFE;
	if (seq <= lane->applied)
		return lane->pending > 0 ? INTAKE_PENDING : INTAKE_SAFE;
	return lane->pending < max_unacked ? INTAKE_NEW : INTAKE_BUSY;
}

int
intake_pending_new(size_t capacity, struct intake_pending **ret)
{
	struct intake_pending *pending = calloc(1, sizeof(*pending));

	if (pending == NULL)
		return -ENOMEM;
	pending->capacity = capacity;
	pending->items = calloc(capacity, sizeof(*pending->items));
	if (pending->items == NULL) {
		free(pending);
		return -ENOMEM;
	}
	*ret = pending;
	return 0;
}

void
intake_pending_free(struct intake_pending *pending)
{
	if (pending == NULL)
		return;
	free(pending->items);
	free(pending);
}

bool
intake_pending_full(const struct intake_pending *pending)
{
	return pending->count == pending->capacity;
}

uint64_t
intake_pending_add(struct intake_pending *pending, struct intake_peer *peer,
    struct intake_lane *lane, uint64_t seq, uint64_t ticket)
{
	size_t at = (pending->head + pending->count) & (pending->capacity - 1);
	uint64_t missing = lane->applied != 0 ? seq - lane->applied - 1 : 0;

	pending->items[at] = (struct item){ peer, lane, seq, ticket };
	pending->count++;
	lane->pending++;
	lane->applied = seq;
	return missing;
}

struct intake_peer *
intake_pending_pop(struct intake_pending *pending, uint64_t durable_ticket)
{
	const struct item *item = &pending->items[pending->head];

	if (pending->count == 0 || item->ticket > durable_ticket)
		return NULL;
	item->lane->durable = item->seq;
	item->lane->pending--;
	item->lane->ack_due = item->lane->used != 0;
	pending->head = (pending->head + 1) & (pending->capacity - 1);
	pending->count--;
	return item->peer;
}
