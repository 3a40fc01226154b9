/* The RNICs of peers: requested, kept, and requested again. */
#include <stdlib.h>
#include <string.h>

#include "host-agent/services/services_state.h"
#include "rackmesh/core/fnv.h"

#define ANSWER_NS (3 * RM_NS_PER_S) /* time-out of an answer */
#define UNANSWERED_CAP_NS (60 * RM_NS_PER_S)
#define NOT_FOUND_BASE_NS (10 * RM_NS_PER_S)
#define NOT_FOUND_CAP_NS (300 * RM_NS_PER_S)
/* The controller pairs the requests of both ends, and keeps each for a minute: so a
 * request must be repeated more often than that. */
#define JOIN_AGAIN_NS (30 * RM_NS_PER_S)
/* A known peer is requested again after this time: its agent may have restarted with
 * other QPs, or the address may have moved. */
#define FOUND_AGAIN_NS (60 * RM_NS_PER_S)
/* While probes to a peer are lost, the peer is requested again after DOUBT_ASK_NS; but
 * all peers together cause one such request per DOUBTS_APART_NS at most. */
#define DOUBT_ASK_NS (10 * RM_NS_PER_S)
#define DOUBTS_APART_NS (20 * RM_NS_PER_MS)
/* A known peer is removed only after several answers that do not contain it: a
 * controller that has just started knows no RNICs yet. */
#define MISSES_OF_FOUND 3

struct service_peer_key {
	uint8_t bytes[16]; /* the address */
	uint8_t family;
	uint8_t owner;
	uint8_t zero[2];
};

struct service_peer {
	struct service_peer_key key;
	struct wire_rnic_id id; /* guid 0: not known yet */
	rm_mono_t seen; /* time of the last turn in which a flow used the peer */
	UT_hash_handle hh;
};

static void
unanswered(struct peer *peer)
{
	peer->backoff = (struct rm_backoff){ ANSWER_NS, UNANSWERED_CAP_NS, 0 };
}

struct peer *
services_peer(struct services *services, const struct peer_key *key, size_t owner,
    uint8_t qp_type, rm_mono_t now)
{
	struct peer *peer;

	HASH_FIND(hh, services->peers, key, sizeof(*key), peer);
	if (peer != NULL)
		return peer;
	/* The number of peers is bounded, because each has a flow. */
	peer = calloc(1, sizeof(*peer));
	if (peer == NULL)
		return NULL;
	peer->key = *key;
	peer->owner = (uint8_t)owner;
	peer->qp_type = qp_type;
	peer->ask_at = now;
	unanswered(peer);
	HASH_ADD(hh, services->peers, key, sizeof(peer->key), peer);
	if (peer->hh.tbl == NULL) {
		free(peer);
		return NULL;
	}
	return peer;
}

void
services_peer_release(struct services *services, struct peer *peer)
{
	if (peer->flows > 0)
		return;
	HASH_DEL(services->peers, peer);
	free(peer);
}

/* Notes a request. While there is no answer, the time to the next request grows from 3
 * s to a minute. */
static void
asked(struct services *services, struct peer *peer, rm_mono_t now)
{
	int64_t more = rm_backoff_next_ns(&peer->backoff, services_random(services));

	peer->token = ++services->token;
	peer->asked = now;
	peer->ask_at = rm_mono_add(now, ANSWER_NS + more);
	services->counts.asks++;
}

/* Requests a peer by its address as soon as one is known: then the other end need not
 * send its request at about the same time. */
static struct services_ask
ask_for(const struct peer *peer)
{
	struct services_ask ask = { .token = peer->token,
		.owner = peer->owner,
		.address = { .family = peer->key.family },
		.qpn = peer->key.qpn,
		.dst_qpn = peer->key.dst_qpn,
		.qp_type = peer->qp_type };

	memcpy(ask.address.bytes, peer->key.bytes, sizeof(peer->key.bytes));
	if (peer->key.family == 0 && peer->address_count > 0)
		ask.address = peer->addresses[0];
	ask.join = ask.address.family == 0;
	return ask;
}

size_t
services_asks(
    struct services *services, rm_mono_t now, struct services_ask *out, size_t max)
{
	struct peer *peer, *next;
	size_t n = 0;

	HASH_ITER (hh, services->peers, peer, next) {
		if (n == max)
			break;
		if (rm_mono_since(now, peer->ask_at) < 0)
			continue;
		asked(services, peer, now);
		out[n++] = ask_for(peer);
	}
	return n;
}

static void
found(struct peer *peer, const struct wire_rnic *rnic)
{
	peer->state = PEER_FOUND;
	peer->misses = 0;
	peer->id = rnic->id;
	peer->qpn = rnic->qpn;
	peer->large_qpn = rnic->large_qpn;
	peer->mtu_bytes = rnic->mtu_bytes;
	peer->lid = rnic->lid;
	peer->address_count = 0;
	for (size_t i = 0; i < rnic->address_count && i < WIRE_MAX_ADDRESSES; i++)
		peer->addresses[peer->address_count++] = rnic->addresses[i];
	memset(peer->tors, 0, sizeof(peer->tors));
	for (size_t i = 0; i < rnic->tor_count && i < WIRE_MAX_ATTACHMENTS; i++)
		peer->tors[i] = services_hash_text(rnic->tors[i]);
}

static void
not_found(struct peer *peer)
{
	if (peer->state != PEER_NOT_FOUND)
		peer->backoff =
		    (struct rm_backoff){ NOT_FOUND_BASE_NS, NOT_FOUND_CAP_NS, 0 };
	peer->state = PEER_NOT_FOUND;
	peer->id = (struct wire_rnic_id){ 0 };
	peer->address_count = 0;
}

void
services_answer(struct services *services, uint64_t token, const struct wire_rnic *rnic,
    rm_mono_t now)
{
	struct peer *peer, *next;
	int64_t wait;

	HASH_ITER (hh, services->peers, peer, next) {
		if (peer->token == token)
			break;
	}
	if (peer == NULL || token == 0) {
		services->counts.unmatched++;
		return;
	}
	peer->token = 0;
	services->news = true;
	if (rnic != NULL) {
		services->counts.found++;
		found(peer, rnic);
		unanswered(peer);
		wait = FOUND_AGAIN_NS / 2 +
		       (int64_t)(services_random(services) % FOUND_AGAIN_NS);
	} else if (peer->state == PEER_FOUND && ++peer->misses < MISSES_OF_FOUND) {
		services->counts.not_found++;
		wait = NOT_FOUND_BASE_NS / 2 +
		       (int64_t)(services_random(services) % NOT_FOUND_BASE_NS);
	} else {
		services->counts.not_found++;
		not_found(peer);
		wait = peer->key.family == 0
			   ? JOIN_AGAIN_NS
			   : NOT_FOUND_BASE_NS / 2 + rm_backoff_next_ns(&peer->backoff,
							 services_random(services));
	}
	peer->ask_at = rm_mono_add(now, wait);
}

void
services_lost(struct services *services, struct wire_rnic_id dst, rm_mono_t now)
{
	struct peer *peer, *next;

	if (services->doubted.ns != 0 &&
	    rm_mono_since(now, services->doubted) < DOUBTS_APART_NS)
		return;
	services->doubted = now;
	HASH_ITER (hh, services->peers, peer, next) {
		rm_mono_t soon = rm_mono_add(peer->asked, DOUBT_ASK_NS);

		if (peer->state != PEER_FOUND || peer->id.guid != dst.guid ||
		    peer->id.port != dst.port)
			continue;
		if (rm_mono_since(soon, now) < 0)
			soon = now;
		if (rm_mono_since(soon, peer->ask_at) < 0)
			peer->ask_at = soon;
	}
}

bool
services_same_address(const struct wire_address *a, const struct wire_address *b)
{
	return a->family == b->family &&
	       memcmp(a->bytes, b->bytes, a->family == 4 ? 4 : 16) == 0;
}

static bool
reachable_by(const struct owner *owner, const struct wire_address *address)
{
	for (size_t i = 0; i < owner->address_count; i++)
		if (owner->addresses[i].family == address->family)
			return true;
	return false;
}

bool
services_peer_address(
    const struct owner *owner, const struct peer *peer, struct wire_address *ret)
{
	const struct wire_address *best = NULL;
	struct wire_address used = { .family = peer->key.family };

	memcpy(used.bytes, peer->key.bytes, sizeof(used.bytes));
	/* The peer needs a QP for RoCE probes, and a port for UDP probes. */
	if (peer->state != PEER_FOUND || owner->verbs != (peer->qpn != 0) ||
	    (peer->id.guid == owner->id.guid && peer->id.port == owner->id.port))
		return false;
	for (size_t i = 0; i < peer->address_count; i++) {
		const struct wire_address *a = &peer->addresses[i];

		if (!reachable_by(owner, a))
			continue;
		if (services_same_address(a, &used)) {
			best = a; /* exactly the address that the QP uses */
			break;
		}
		if (best == NULL)
			best = a;
	}
	if (best == NULL)
		return false;
	*ret = *best;
	if (owner->verbs)
		ret->port = WIRE_ROCE_PORT;
	return true;
}

/*
 * The peers that the reflectors must answer because of a connection: their agents probe
 * this host as this host probes them, and the plans of this host's racks need not name
 * them.
 *
 * A peer may send probes before this host knows of the connection's RNIC, and for a
 * while after the connection has ended. So the address alone is enough, and it is kept
 * for KEPT_NS.
 */

#define KEPT_NS (60 * RM_NS_PER_S)

static void
service_peer_drop(struct services *services, struct service_peer *peer)
{
	HASH_DEL(services->service_peers, peer);
	free(peer);
}

void
services_peers_clear(struct services *services)
{
	struct service_peer *peer, *next;

	HASH_ITER (hh, services->service_peers, peer, next)
		service_peer_drop(services, peer);
}

size_t
services_peers_count(const struct services *services)
{
	return HASH_COUNT(services->service_peers);
}

/* Removes peers that have had no connection for kept_ns. */
static void
peers_leave(struct services *services, int64_t kept_ns, rm_mono_t now)
{
	struct service_peer *peer, *next;

	HASH_ITER (hh, services->service_peers, peer, next) {
		if (!services->owners[peer->key.owner].present ||
		    (peer->seen.ns != now.ns &&
			rm_mono_since(now, peer->seen) >= kept_ns))
			service_peer_drop(services, peer);
	}
}

/* NULL: no room. */
static struct service_peer *
service_peer_add(struct services *services, const struct service_peer_key *key)
{
	struct service_peer *peer = NULL;

	if (HASH_COUNT(services->service_peers) < SERVICES_MAX_PEERS)
		peer = calloc(1, sizeof(*peer));
	if (peer != NULL) {
		peer->key = *key;
		HASH_ADD(hh, services->service_peers, key, sizeof(peer->key), peer);
		if (peer->hh.tbl == NULL) {
			free(peer);
			peer = NULL;
		}
	}
	services->counts.service_peers_refused += peer == NULL;
	return peer;
}

static void
service_peer_see(struct services *services, size_t owner, const uint8_t *bytes,
    uint8_t family, struct wire_rnic_id id, rm_mono_t now)
{
	struct service_peer_key key;
	struct service_peer *peer;

	memset(&key, 0, sizeof(key));
	key.family = family;
	key.owner = (uint8_t)owner;
	memcpy(key.bytes, bytes, family == 4 ? 4 : sizeof(key.bytes));
	HASH_FIND(hh, services->service_peers, &key, sizeof(key), peer);
	if (peer == NULL)
		peer = service_peer_add(services, &key);
	if (peer == NULL)
		return;
	peer->seen = now;
	if (id.guid != 0) /* guid 0: keep the RNIC that was known before */
		peer->id = id;
}

static void
peer_see(
    struct services *services, size_t owner, const struct peer *peer, rm_mono_t now)
{
	if (peer->key.family != 0)
		service_peer_see(
		    services, owner, peer->key.bytes, peer->key.family, peer->id, now);
	/* The peer may probe from another address than that of its QP. */
	for (size_t i = 0; i < peer->address_count; i++)
		service_peer_see(services, owner, peer->addresses[i].bytes,
		    peer->addresses[i].family, peer->id, now);
}

static uint64_t
digest_of(const struct service_peer *peer)
{
	const uint64_t facts[] = { peer->id.guid, peer->id.port, peer->key.family };
	uint64_t hash = rm_fnv1a(RM_FNV1A, facts, sizeof(facts));

	return rm_fnv1a(hash, peer->key.bytes, sizeof(peer->key.bytes));
}

uint64_t
services_peers_turn(struct services *services, rm_mono_t now)
{
	uint64_t digests[SERVICES_MAX_RNICS] = { 0 }, changed = 0;
	bool full = HASH_COUNT(services->service_peers) + HASH_COUNT(services->flows) >
		    SERVICES_MAX_PEERS;
	struct service_peer *peer, *next_peer;
	struct flow *flow, *next_flow;

	peers_leave(services, full ? 0 : KEPT_NS, now);
	HASH_ITER (hh, services->flows, flow, next_flow)
		peer_see(services, flow->key.owner, flow->key.peer, now);
	HASH_ITER (hh, services->service_peers, peer, next_peer)
		digests[peer->key.owner] += digest_of(peer);
	for (size_t i = 0; i < SERVICES_MAX_RNICS; i++) {
		if (digests[i] != services->owners[i].service_peers_digest)
			changed |= (uint64_t)1 << i;
		services->owners[i].service_peers_digest = digests[i];
	}
	return changed;
}

size_t
services_peers(
    const struct services *services, size_t owner, struct wire_peer *out, size_t max)
{
	struct service_peer *peer, *next;
	size_t n = 0;

	HASH_ITER (hh, services->service_peers, peer, next) {
		if (peer->key.owner != owner || n == max)
			continue;
		out[n] = (struct wire_peer){ .id = peer->id,
			.address = { .family = peer->key.family } };
		memcpy(out[n].address.bytes, peer->key.bytes, sizeof(peer->key.bytes));
		n++;
	}
	return n;
}
