#include "host-agent/key_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1 /* no exit(): what was not added has no hh.tbl */
#include <uthash.h>

#include "rackmesh/fabric/part.h"

#define MAX_TORS (WIRE_MAX_HOST_RNICS * WIRE_MAX_ATTACHMENTS)

struct tor_keys {
	char tor[RM_NAME_BYTES];
	uint8_t *bytes; /* NULL: nothing yet */
	size_t len;
	struct wire_keys view;       /* on bytes */
	struct wire_pair_key *pairs; /* view's, sorted by both ends */
	struct wire_rnic_id *plain;  /* view's, sorted */
};

struct heard_key { /* of a pair, or (dst alone) of a peer */
	uint64_t src_guid, dst_guid;
	uint8_t src_port, dst_port;
	uint8_t zero[6];
};

struct heard {
	struct heard_key id;
	bool authenticates;
	struct wire_pair_key key; /* of a pair */
	UT_hash_handle hh;
};

struct key_ring {
	struct tor_keys tors[MAX_TORS];
	size_t count;
	struct heard *heard; /* uthash, the oldest first */
	struct key_ring_counts counts;
};

static void
bytes_free(uint8_t *bytes, size_t len)
{
	if (bytes != NULL)
		explicit_bzero(bytes, len);
	free(bytes);
}

static void
tor_keys_clear(struct tor_keys *keys)
{
	bytes_free(
	    (uint8_t *)keys->pairs, keys->view.pair_count * sizeof(*keys->pairs));
	bytes_free(keys->bytes, keys->len);
	free(keys->plain);
	keys->bytes = NULL;
	keys->pairs = NULL;
	keys->plain = NULL;
}

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
heard_drop(struct key_ring *ring, struct heard *heard)
{
	HASH_DEL(ring->heard, heard);
	explicit_bzero(&heard->key, sizeof(heard->key));
	free(heard);
}

void
key_ring_free(struct key_ring *ring)
{
	if (ring == NULL)
		return;
	while (ring->heard != NULL)
		heard_drop(ring, ring->heard);
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
id_compare(const void *a, const void *b)
{
	const struct wire_rnic_id *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return (int)x->port - (int)y->port;
}

static int
pair_compare(const void *a, const void *b)
{
	const struct wire_pair_key *x = a, *y = b;
	const struct wire_rnic_id x_src = { x->src_guid, x->src_port },
				  y_src = { y->src_guid, y->src_port },
				  x_dst = { x->dst_guid, x->dst_port },
				  y_dst = { y->dst_guid, y->dst_port };
	int order = id_compare(&x_src, &y_src);

	return order != 0 ? order : id_compare(&x_dst, &y_dst);
}

/* -EBADMSG, -EMSGSIZE, -ENOMEM. */
static int
tor_keys_open(struct tor_keys *keys, const uint8_t *data, size_t len)
{
	struct wire_keys *view = &keys->view;
	int r = -ENOMEM;

	keys->bytes = malloc(len > 0 ? len : 1);
	if (keys->bytes == NULL)
		return -ENOMEM;
	keys->len = len;
	memcpy(keys->bytes, data, len);
	view->pair_count = 0;
	r = wire_open_keys(view, keys->bytes, len);
	if (r < 0)
		goto fail;
	r = -ENOMEM;
	keys->pairs = calloc(view->pair_count + 1, sizeof(*keys->pairs));
	keys->plain = calloc(view->plain_count + 1, sizeof(*keys->plain));
	if (keys->pairs == NULL || keys->plain == NULL)
		goto fail;
	if (view->pair_count > 0)
		memcpy(
		    keys->pairs, view->pairs, view->pair_count * sizeof(*keys->pairs));
	qsort(keys->pairs, view->pair_count, sizeof(*keys->pairs), pair_compare);
	for (size_t i = 0; i < view->plain_count; i++)
		keys->plain[i] = wire_keys_plain(view, i);
	qsort(keys->plain, view->plain_count, sizeof(*keys->plain), id_compare);
	return 0;
fail:
	tor_keys_clear(keys);
	return r;
}

static int
ring_refuse(struct key_ring *ring, int r)
{
	if (r == -ENOENT)
		ring->counts.foreign++;
	else if (r == -ENOMEM)
		ring->counts.no_memory++;
	else
		ring->counts.malformed++;
	return r;
}

/* Two aggregators of a ToR say the same in other words, each with what it knows of
 * this host's RNICs: of one version the last one counts. */
static bool
is_news(
    struct key_ring *ring, const struct tor_keys *held, const struct tor_keys *fresh)
{
	if (held->bytes == NULL)
		return true;
	if (fresh->view.version < held->view.version) {
		ring->counts.old++;
		return false;
	}
	if (fresh->len == held->len &&
	    memcmp(fresh->bytes, held->bytes, held->len) == 0) {
		ring->counts.same++;
		return false;
	}
	return true;
}

bool
key_ring_take(
    struct key_ring *ring, const uint8_t *data, size_t len, const char **tor, int *r)
{
	struct tor_keys fresh = { .bytes = NULL }, *held = NULL;
	int result;

	result = tor_keys_open(&fresh, data, len);
	if (result == 0) {
		held = find_tor(ring, fresh.view.tor);
		if (held == NULL)
			result = -ENOENT;
	}
	if (result < 0) {
		*r = ring_refuse(ring, result);
		tor_keys_clear(&fresh);
		return false;
	}
	*r = 0;
	if (!is_news(ring, held, &fresh)) {
		tor_keys_clear(&fresh);
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
	return (struct wire_bytes){ keys->bytes, keys->len };
}

/* ---- what was heard of services' peers ---------------------------------------- */

static struct heard *
heard_find(
    const struct key_ring *ring, struct wire_rnic_id src, struct wire_rnic_id dst)
{
	const struct heard_key key = { .src_guid = src.guid,
		.src_port = src.port,
		.dst_guid = dst.guid,
		.dst_port = dst.port };
	struct heard *heard;

	HASH_FIND(hh, ring->heard, &key, sizeof(key), heard);
	return heard;
}

/* The newest last. NULL: no memory. */
static struct heard *
heard_renew(struct key_ring *ring, struct wire_rnic_id src, struct wire_rnic_id dst)
{
	struct heard *heard = heard_find(ring, src, dst);

	if (heard != NULL)
		return heard;
	if (HASH_COUNT(ring->heard) >= KEY_RING_MAX_HEARD)
		heard_drop(ring, ring->heard);
	heard = calloc(1, sizeof(*heard));
	if (heard == NULL)
		return NULL;
	heard->id = (struct heard_key){ .src_guid = src.guid,
		.src_port = src.port,
		.dst_guid = dst.guid,
		.dst_port = dst.port };
	HASH_ADD(hh, ring->heard, id, sizeof(heard->id), heard);
	if (heard->hh.tbl == NULL) {
		free(heard);
		heard = NULL;
	}
	return heard;
}

static const struct wire_rnic_id nobody = { 0 };

bool
key_ring_hear(struct key_ring *ring, const struct wire_rnic *rnic,
    const struct wire_pair_key *key)
{
	const struct wire_rnic_id src = { key->src_guid, key->src_port },
				  dst = { key->dst_guid, key->dst_port };
	struct heard *peer = heard_renew(ring, nobody, rnic->id), *pair;
	bool changed = false;

	if (peer == NULL) {
		ring->counts.no_memory++;
		return false;
	}
	changed = peer->authenticates != rnic->authenticates;
	peer->authenticates = rnic->authenticates;
	if (key->epoch == 0 || id_compare(&dst, &rnic->id) != 0)
		return changed;
	pair = heard_renew(ring, src, dst);
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

const uint8_t *
key_ring_responder(const struct key_ring *ring, struct wire_rnic_id own, uint32_t epoch)
{
	for (size_t t = 0; t < ring->count; t++) {
		const struct wire_keys *view = &ring->tors[t].view;

		if (ring->tors[t].bytes == NULL)
			continue;
		for (size_t i = 0; i < view->responder_count; i++) {
			const struct wire_responder_key *key = &view->responders[i];

			if (key->guid == own.guid && key->port == own.port &&
			    key->epoch == epoch)
				return key->key;
		}
	}
	return NULL;
}

const struct wire_pair_key *
key_ring_pair(
    const struct key_ring *ring, struct wire_rnic_id src, struct wire_rnic_id dst)
{
	const struct wire_pair_key wanted = { .src_guid = src.guid,
		.src_port = src.port,
		.dst_guid = dst.guid,
		.dst_port = dst.port };
	const struct heard *heard = heard_find(ring, src, dst);
	const struct wire_pair_key *newest = heard != NULL ? &heard->key : NULL;

	for (size_t t = 0; t < ring->count; t++) {
		const struct tor_keys *keys = &ring->tors[t];
		const struct wire_pair_key *key;

		if (keys->bytes == NULL || keys->view.pair_count == 0)
			continue;
		key = bsearch(&wanted, keys->pairs, keys->view.pair_count,
		    sizeof(*keys->pairs), pair_compare);
		if (key != NULL && (newest == NULL || key->epoch > newest->epoch))
			newest = key;
	}
	return newest;
}

enum key_demand
key_ring_demand(const struct key_ring *ring, struct wire_rnic_id id)
{
	const struct heard *heard = heard_find(ring, nobody, id);

	/* Nobody's key can be found without knowing whose it is. */
	if (id.guid == 0 || (heard != NULL && !heard->authenticates))
		return KEY_NOT_DEMANDED;
	for (size_t t = 0; t < ring->count; t++) {
		const struct tor_keys *keys = &ring->tors[t];

		if (keys->bytes != NULL && keys->view.plain_count > 0 &&
		    bsearch(&id, keys->plain, keys->view.plain_count,
			sizeof(*keys->plain), id_compare) != NULL)
			return KEY_NOT_DEMANDED;
	}
	return heard != NULL ? KEY_NOT_BEFORE : KEY_DEMANDED;
}

const struct key_ring_counts *
key_ring_counts(const struct key_ring *ring)
{
	return &ring->counts;
}
