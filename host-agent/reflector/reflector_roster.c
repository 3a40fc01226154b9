#include "host-agent/reflector/reflector_roster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void
reflector_roster_clear(struct reflector_roster *roster)
{
	free(roster->peers);
	*roster = (struct reflector_roster){ 0 };
}

static int
address_compare(const struct wire_address *a, const struct wire_address *b)
{
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	return memcmp(a->bytes, b->bytes, a->family == 4 ? 4 : 16);
}

static int
peer_compare(const void *a, const void *b)
{
	const struct reflector_peer *left = a, *right = b;

	return address_compare(&left->wire.address, &right->wire.address);
}

/* If two entries have one address, the entry whose RNIC is known sorts first. */
static int
peer_sort(const void *a, const void *b)
{
	const struct reflector_peer *left = a, *right = b;
	int order = peer_compare(a, b);

	return order != 0 ? order
			  : (left->wire.id.guid == 0) - (right->wire.id.guid == 0);
}

/* A peer that stays in the roster keeps its state of authentication. */
static void
peer_inherit(struct reflector_peer *peer, const struct reflector_roster *old)
{
	const struct reflector_peer *was =
	    reflector_roster_peer(old, &peer->wire.address);

	if (was == NULL || was->wire.id.guid != peer->wire.id.guid ||
	    was->wire.id.port != peer->wire.id.port)
		return;
	peer->demand = was->demand;
	peer->authenticated = was->authenticated;
	peer->since = was->since;
}

int
reflector_roster_set(
    struct reflector_roster *roster, const struct wire_peer *peers, size_t count)
{
	struct reflector_peer *copy;
	size_t each = 0;

	if (count > WIRE_MAX_ROSTER)
		return -EMSGSIZE;
	copy = calloc(count + 1, sizeof(*copy));
	if (copy == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		copy[i].wire = peers[i];
	qsort(copy, count, sizeof(*copy), peer_sort);
	for (size_t i = 0; i < count; i++)
		if (each == 0 || peer_compare(&copy[each - 1], &copy[i]) != 0)
			copy[each++] = copy[i];
	for (size_t i = 0; i < each; i++)
		peer_inherit(&copy[i], roster);
	free(roster->peers);
	roster->peers = copy;
	roster->count = each;
	return 0;
}

struct reflector_peer *
reflector_roster_peer(
    const struct reflector_roster *roster, const struct wire_address *address)
{
	struct reflector_peer key = { .wire = { .address = *address } };

	if (roster->count == 0)
		return NULL;
	return bsearch(
	    &key, roster->peers, roster->count, sizeof(*roster->peers), peer_compare);
}

const struct wire_peer *
reflector_roster_find(
    const struct reflector_roster *roster, const struct wire_address *address)
{
	const struct reflector_peer *peer = reflector_roster_peer(roster, address);

	return peer == NULL ? NULL : &peer->wire;
}

void
reflector_roster_demand(
    struct reflector_roster *roster, const struct key_ring *ring, rm_mono_t now)
{
	for (size_t i = 0; i < roster->count; i++) {
		struct reflector_peer *peer = &roster->peers[i];
		enum key_demand was = peer->demand;

		peer->demand = ring == NULL ? KEY_NOT_DEMANDED
					    : key_ring_demand(ring, peer->wire.id);
		if (peer->demand == KEY_NOT_DEMANDED)
			/* The agent of the peer was replaced by an older one, which
			 * cannot authenticate. */
			peer->authenticated = false;
		else if (was == KEY_NOT_DEMANDED)
			peer->since = now;
	}
}

bool
reflector_peer_may_be_plain(
    const struct reflector_peer *peer, int64_t grace_ns, rm_mono_t now)
{
	switch (peer->demand) {
	case KEY_NOT_DEMANDED:
		return true;
	case KEY_NOT_BEFORE:
		return !peer->authenticated;
	case KEY_DEMANDED:
	default:
		return !peer->authenticated &&
		       rm_mono_since(now, peer->since) < grace_ns;
	}
}
