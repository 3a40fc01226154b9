/*
 * Whom our reflectors answer because they have a connection with us: the plans of our
 * racks need not name them, and their agents probe it as ours do.
 *
 * They may do so a little before our end is told of, never mind resolved, and go on for
 * a while after it is gone: so an address will do, and is kept for a time.
 */
#include <stdlib.h>
#include <string.h>

#include "host-agent/services/services_state.h"

#include "rackmesh/core/fnv.h"

#define KEPT_NS (60 * RM_NS_PER_S)

static void
guest_drop(struct services *services, struct guest *guest)
{
	HASH_DEL(services->guests, guest);
	free(guest);
}

void
services_guests_clear(struct services *services)
{
	struct guest *guest, *next;

	HASH_ITER (hh, services->guests, guest, next)
		guest_drop(services, guest);
}

/* Those that have no connection any more leave in time, or for others. */
static void
guests_leave(struct services *services, int64_t kept_ns, rm_mono_t now)
{
	struct guest *guest, *next;

	HASH_ITER (hh, services->guests, guest, next) {
		if (!services->owners[guest->key.owner].present ||
		    (guest->seen.ns != now.ns &&
			rm_mono_since(now, guest->seen) >= kept_ns))
			guest_drop(services, guest);
	}
}

/* NULL: no room. */
static struct guest *
guest_add(struct services *services, const struct guest_key *key)
{
	struct guest *guest = NULL;

	if (HASH_COUNT(services->guests) < SERVICES_MAX_GUESTS)
		guest = calloc(1, sizeof(*guest));
	if (guest != NULL) {
		guest->key = *key;
		HASH_ADD(hh, services->guests, key, sizeof(guest->key), guest);
		if (guest->hh.tbl == NULL) {
			free(guest);
			guest = NULL;
		}
	}
	services->counts.guests_refused += guest == NULL;
	return guest;
}

static void
guest_see(struct services *services, size_t owner, const uint8_t *bytes, uint8_t family,
    struct wire_rnic_id id, rm_mono_t now)
{
	struct guest_key key;
	struct guest *guest;

	memset(&key, 0, sizeof(key));
	key.family = family;
	key.owner = (uint8_t)owner;
	memcpy(key.bytes, bytes, family == 4 ? 4 : sizeof(key.bytes));
	HASH_FIND(hh, services->guests, &key, sizeof(key), guest);
	if (guest == NULL)
		guest = guest_add(services, &key);
	if (guest == NULL)
		return;
	guest->seen = now;
	if (id.guid != 0) /* else who it was is the best that is known */
		guest->id = id;
}

static void
peer_see(
    struct services *services, size_t owner, const struct peer *peer, rm_mono_t now)
{
	if (peer->key.family != 0)
		guest_see(
		    services, owner, peer->key.bytes, peer->key.family, peer->id, now);
	/* It may probe from another one than the QP uses. */
	for (size_t i = 0; i < peer->address_count; i++)
		guest_see(services, owner, peer->addresses[i].bytes,
		    peer->addresses[i].family, peer->id, now);
}

static uint64_t
digest_of(const struct guest *guest)
{
	const uint64_t facts[] = { guest->id.guid, guest->id.port, guest->key.family };
	uint64_t hash = rm_fnv1a(RM_FNV1A, facts, sizeof(facts));

	return rm_fnv1a(hash, guest->key.bytes, sizeof(guest->key.bytes));
}

uint64_t
services_guests_turn(struct services *services, rm_mono_t now)
{
	uint64_t digests[SERVICES_MAX_RNICS] = { 0 }, changed = 0;
	bool full = HASH_COUNT(services->guests) + HASH_COUNT(services->flows) >
		    SERVICES_MAX_GUESTS;
	struct guest *guest, *next_guest;
	struct flow *flow, *next_flow;

	guests_leave(services, full ? 0 : KEPT_NS, now);
	HASH_ITER (hh, services->flows, flow, next_flow)
		peer_see(services, flow->key.owner, flow->key.peer, now);
	HASH_ITER (hh, services->guests, guest, next_guest)
		digests[guest->key.owner] += digest_of(guest);
	for (size_t i = 0; i < SERVICES_MAX_RNICS; i++) {
		if (digests[i] != services->owners[i].guests_digest)
			changed |= (uint64_t)1 << i;
		services->owners[i].guests_digest = digests[i];
	}
	return changed;
}

size_t
services_guests(
    const struct services *services, size_t owner, struct wire_peer *out, size_t max)
{
	struct guest *guest, *next;
	size_t n = 0;

	HASH_ITER (hh, services->guests, guest, next) {
		if (guest->key.owner != owner || n == max)
			continue;
		out[n] = (struct wire_peer){ .id = guest->id,
			.address = { .family = guest->key.family } };
		memcpy(
		    out[n].address.bytes, guest->key.bytes, sizeof(guest->key.bytes));
		n++;
	}
	return n;
}
