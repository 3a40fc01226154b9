#include "host-agent/packet/key_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1 /* no exit(): an entry that was not added has no hh.tbl */
#include <uthash.h>

#include "host-agent/packet/tor_keys.h"

#define MAX_TORS (WIRE_MAX_HOST_RNICS * WIRE_MAX_ATTACHMENTS)

struct received_key_id { /* a pair of RNICs; or, if only dst is set, a peer */
	uint64_t src_guid, dst_guid;
	uint8_t src_port, dst_port;
	uint8_t zero[6];
};

struct received_key {
	struct received_key_id id;
	bool authenticates;
	struct wire_pair_key key; /* the key of a pair */
	UT_hash_handle hh;
};

struct key_ring {
	struct tor_keys tors[MAX_TORS];
	size_t count;
	/* received keys in a uthash table, in the order of age, the oldest first */
	struct received_key *received;
	struct key_ring_counts counts;
};

int
key_ring_new(struct key_ring **ret)
{
	struct key_ring *ring = calloc(1, sizeof(*ring));

	if (ring == NULL)
		return -ENOMEM;
	*ret = ring;
	return 0;
}

static void
received_drop(struct key_ring *ring, struct received_key *received)
{
	HASH_DEL(ring->received, received);
	explicit_bzero(&received->key, sizeof(received->key));
	free(received);
}

void
key_ring_free(struct key_ring *ring)
{
	if (ring == NULL)
		return;
	while (ring->received != NULL)
		received_drop(ring, ring->received);
	for (size_t i = 0; i < ring->count; i++)
		tor_keys_clear(&ring->tors[i]);
	free(ring);
}

static struct tor_keys *
find_tor(const struct key_ring *ring, const char *tor)
{
	for (size_t i = 0; i < ring->count; i++)
		if (strcmp(ring->tors[i].tor, tor) == 0)
			return (struct tor_keys *)&ring->tors[i];
	return NULL;
}

int
key_ring_add_tor(struct key_ring *ring, const char *tor)
{
	if (find_tor(ring, tor) != NULL)
		return 0;
	if (strlen(tor) >= RM_NAME_BYTES)
		return -EINVAL;
	if (ring->count == MAX_TORS)
		return -ENOSPC;
	strcpy(ring->tors[ring->count++].tor, tor);
	return 0;
}

/* ---- a ToR's message ---------------------------------------------------------- */

static int
ring_refuse(struct key_ring *ring, int r)
{
	if (r == -ENOENT)
		ring->counts.other_tor++;
	else if (r == -ENOMEM)
		ring->counts.no_memory++;
	else
		ring->counts.malformed++;
	return r;
}

/* The two aggregators of a ToR send the same keys in different messages, each for those
 * RNICs of this host that it knows. Of two messages with the same version the later one
 * is used. */
static bool
is_news(
    struct key_ring *ring, const struct tor_keys *held, const struct wire_keys *offered)
{
	if (held->bytes == NULL)
		return true;
	if (offered->version < held->view.version) {
		ring->counts.old++;
		return false;
	}
	if (offered->bytes.len == held->view.bytes.len &&
	    memcmp(offered->bytes.data, held->bytes, offered->bytes.len) == 0) {
		ring->counts.same++;
		return false;
	}
	return true;
}

int
key_ring_open(
    struct key_ring *ring, const uint8_t *data, size_t len, struct wire_keys *ret)
{
	int r = wire_open_keys(ret, data, len);

	return r < 0 ? ring_refuse(ring, r) : 0;
}

bool
key_ring_take(
    struct key_ring *ring, const struct wire_keys *view, const char **tor, int *r)
{
	struct tor_keys fresh = { .bytes = NULL }, *held = find_tor(ring, view->tor);

	if (held == NULL) {
		*r = ring_refuse(ring, -ENOENT);
		return false;
	}
	*r = 0;
	if (!is_news(ring, held, view))
		return false;
	if (tor_keys_copy(&fresh, view) < 0) {
		*r = ring_refuse(ring, -ENOMEM);
		return false;
	}
	tor_keys_clear(held);
	memcpy(fresh.tor, held->tor, sizeof(fresh.tor));
	*held = fresh;
	*tor = held->tor;
	ring->counts.taken++;
	return true;
}

struct wire_bytes
key_ring_bytes(const struct key_ring *ring, const char *tor)
{
	const struct tor_keys *keys = find_tor(ring, tor);

	if (keys == NULL || keys->bytes == NULL)
		return (struct wire_bytes){ 0 };
	return keys->view.bytes;
}

/* ---- keys of services' peers --------------------------------------------------- */

static struct received_key *
received_find(
    const struct key_ring *ring, struct wire_rnic_id src, struct wire_rnic_id dst)
{
	const struct received_key_id key = { .src_guid = src.guid,
		.src_port = src.port,
		.dst_guid = dst.guid,
		.dst_port = dst.port };
	struct received_key *received;

	HASH_FIND(hh, ring->received, &key, sizeof(key), received);
	return received;
}

/* Moves the entry to the newest end of the list; creates it if there is none. NULL: no
 * memory. */
static struct received_key *
received_renew(struct key_ring *ring, struct wire_rnic_id src, struct wire_rnic_id dst)
{
	struct received_key *received = received_find(ring, src, dst);

	if (received != NULL)
		return received;
	if (HASH_COUNT(ring->received) >= KEY_RING_MAX_RECEIVED)
		received_drop(ring, ring->received);
	received = calloc(1, sizeof(*received));
	if (received == NULL)
		return NULL;
	received->id = (struct received_key_id){ .src_guid = src.guid,
		.src_port = src.port,
		.dst_guid = dst.guid,
		.dst_port = dst.port };
	HASH_ADD(hh, ring->received, id, sizeof(received->id), received);
	if (received->hh.tbl == NULL) {
		free(received);
		received = NULL;
	}
	return received;
}

static const struct wire_rnic_id nobody = { 0 };

bool
key_ring_receive(struct key_ring *ring, const struct wire_rnic *rnic,
    const struct wire_pair_key *key)
{
	const struct wire_rnic_id src = { key->src_guid, key->src_port },
				  dst = { key->dst_guid, key->dst_port };
	struct received_key *peer = received_renew(ring, nobody, rnic->id), *pair;
	bool changed = false;

	if (peer == NULL) {
		ring->counts.no_memory++;
		return false;
	}
	changed = peer->authenticates != rnic->authenticates;
	peer->authenticates = rnic->authenticates;
	if (key->epoch == 0 || dst.guid != rnic->id.guid || dst.port != rnic->id.port)
		return changed;
	pair = received_renew(ring, src, dst);
	if (pair == NULL) {
		ring->counts.no_memory++;
		return changed;
	}
	changed = changed || memcmp(&pair->key, key, sizeof(*key)) != 0;
	pair->key = *key;
	return changed;
}

/* ---- look-up -------------------------------------------------------------------- */

uint32_t
key_ring_epoch(const struct key_ring *ring)
{
	uint32_t newest = 0;

	for (size_t i = 0; i < ring->count; i++)
		if (ring->tors[i].bytes != NULL && ring->tors[i].view.epoch > newest)
			newest = ring->tors[i].view.epoch;
	return newest;
}

uint32_t
key_ring_own_epoch(const struct key_ring *ring, struct wire_rnic_id own)
{
	uint32_t newest = 0;

	for (size_t t = 0; t < ring->count; t++) {
		uint32_t epoch = ring->tors[t].view.epoch;

		if (epoch > newest &&
		    tor_keys_responder(&ring->tors[t], own, epoch) != NULL)
			newest = epoch;
	}
	return newest;
}

const uint8_t *
key_ring_responder(const struct key_ring *ring, struct wire_rnic_id own, uint32_t epoch)
{
	for (size_t t = 0; t < ring->count; t++) {
		const struct wire_responder_key *key =
		    tor_keys_responder(&ring->tors[t], own, epoch);

		if (key != NULL)
			return key->key;
	}
	return NULL;
}

const struct wire_pair_key *
key_ring_pair(
    const struct key_ring *ring, struct wire_rnic_id src, struct wire_rnic_id dst)
{
	const struct wire_pair_key *newest = NULL;
	const struct received_key *received;

	for (size_t t = 0; t < ring->count; t++) {
		const struct wire_pair_key *key =
		    tor_keys_pair(&ring->tors[t], src, dst);

		if (key != NULL && (newest == NULL || key->epoch > newest->epoch))
			newest = key;
	}
	if (newest != NULL)
		return newest;
	received = received_find(ring, src, dst);
	return received != NULL && received->key.epoch != 0 ? &received->key : NULL;
}

enum key_demand
key_ring_demand(const struct key_ring *ring, struct wire_rnic_id id)
{
	const struct received_key *received = received_find(ring, nobody, id);

	/* Without the id of the RNIC its key cannot be found. */
	if (id.guid == 0 || (received != NULL && !received->authenticates))
		return KEY_NOT_DEMANDED;
	for (size_t t = 0; t < ring->count; t++)
		if (tor_keys_is_plain(&ring->tors[t], id))
			return KEY_NOT_DEMANDED;
	return received != NULL ? KEY_NOT_BEFORE : KEY_DEMANDED;
}

const struct key_ring_counts *
key_ring_counts(const struct key_ring *ring)
{
	return &ring->counts;
}
