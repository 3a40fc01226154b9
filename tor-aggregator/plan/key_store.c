#include "tor-aggregator/plan/key_store.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/log.h"
#include "rackmesh/identity/key_file.h"
#include "rackmesh/identity/probe_key.h"
#include "rackmesh/net/frame.h"

struct held {
	uint8_t *data; /* the last message; NULL: none */
	size_t len;
	struct wire_keys view;
};

struct key_store {
	struct rm_key_files *files;
	const char *const *tors;
	size_t count;
	struct held held[WIRE_MAX_TORS];
	/* Scratch memory for key_store_expand. */
	struct wire_responder_key *responders;
	struct wire_pair_key *pairs;
	struct wire_rnic_id *plain;
	struct key_store_counts counts;
};

int
key_store_new(struct rm_worker *worker, const char *folder, const char *const *tors,
    size_t count, struct key_store **ret)
{
	struct key_store *store;
	int r;

	if (count > WIRE_MAX_TORS)
		return -E2BIG;
	store = calloc(1, sizeof(*store));
	if (store == NULL)
		return -ENOMEM;
	store->tors = tors;
	store->count = count;
	r = rm_key_files_new(folder, worker, &store->files);
	store->responders =
	    calloc(WIRE_KEY_EPOCHS * WIRE_MAX_HOST_RNICS, sizeof(*store->responders));
	store->pairs = calloc(WIRE_MAX_ENTRIES, sizeof(*store->pairs));
	store->plain = calloc(WIRE_MAX_ROSTER, sizeof(*store->plain));
	if (r == 0 &&
	    (store->responders == NULL || store->pairs == NULL || store->plain == NULL))
		r = -ENOMEM;
	if (r < 0)
		key_store_free(store);
	else
		*ret = store;
	return r;
}

static void
data_free(uint8_t *data, size_t len)
{
	if (data != NULL)
		explicit_bzero(data, len);
	free(data);
}

void
key_store_free(struct key_store *store)
{
	if (store == NULL)
		return;
	for (size_t i = 0; i < store->count; i++)
		data_free(store->held[i].data, store->held[i].len);
	rm_key_files_free(store->files);
	free(store->responders);
	free(store->pairs);
	free(store->plain);
	free(store);
}

static int
find_tor(const struct key_store *store, const char *tor, size_t *ret)
{
	for (size_t i = 0; i < store->count; i++) {
		if (strcmp(store->tors[i], tor) == 0) {
			*ret = i;
			return 0;
		}
	}
	return -ENOENT;
}

/* Does the same as key_store_take, without writing to disk. */
static int
store_keep(struct key_store *store, const uint8_t *data, size_t len, size_t *tor)
{
	struct held fresh = { .len = len }, *held;
	int r = -ENOMEM;

	if (len == 0 || len > RM_FRAME_MAX_BYTES)
		return -EMSGSIZE;
	fresh.data = malloc(len);
	if (fresh.data == NULL)
		goto fail;
	memcpy(fresh.data, data, len);
	r = wire_open_keys(&fresh.view, fresh.data, len);
	if (r == 0 && (fresh.view.epoch == 0 || fresh.view.version == 0))
		r = -EBADMSG;
	if (r == 0)
		r = find_tor(store, fresh.view.tor, tor);
	if (r < 0)
		goto fail;
	held = &store->held[*tor];
	if (held->data != NULL && fresh.view.version <= held->view.version) {
		store->counts.stale++;
		data_free(fresh.data, len);
		return 0;
	}
	data_free(held->data, held->len);
	*held = fresh;
	store->counts.taken++;
	return 1;
fail:
	store->counts.refused++;
	data_free(fresh.data, len);
	return r;
}

void
key_store_load(struct key_store *store)
{
	for (size_t i = 0; i < store->count; i++) {
		const uint8_t *data;
		uint8_t *file;
		size_t len, tor;
		int r =
		    rm_key_files_load(store->files, store->tors[i], &file, &data, &len);

		if (r == 0) {
			r = store_keep(store, data, len, &tor);
			data_free(file, len);
		}
		if (r < 0 && r != -ENOENT)
			rm_log_warn(
			    r, "cannot read the probe keys of %s", store->tors[i]);
	}
}

int
key_store_take(struct key_store *store, const uint8_t *data, size_t len)
{
	size_t tor = 0;
	int r = store_keep(store, data, len, &tor);

	if (r > 0)
		rm_key_files_save(store->files, store->tors[tor], data, len);
	return r == -EBADMSG || r == -EMSGSIZE ? r : 0;
}

const struct wire_keys *
key_store_view(const struct key_store *store, size_t tor)
{
	return store->held[tor].data != NULL ? &store->held[tor].view : NULL;
}

static bool
is_one_of(uint64_t guid, uint8_t port, const struct wire_rnic_id *own, size_t own_count)
{
	for (size_t i = 0; i < own_count; i++)
		if (own[i].guid == guid && own[i].port == port)
			return true;
	return false;
}

static void
make_pair(const struct wire_responder_key *responder, struct wire_rnic_id prober,
    struct wire_pair_key *ret)
{
	*ret = (struct wire_pair_key){ .src_guid = prober.guid,
		.dst_guid = responder->guid,
		.src_port = prober.port,
		.dst_port = responder->port,
		.epoch = responder->epoch };
	probe_key_pair(
	    responder->key, (struct rm_rnic_id){ prober.guid, prober.port }, ret->key);
}

/* Adds the keys for probes from each RNIC of the agent to each member. */
static void
expand_mesh(struct key_store *store, const struct wire_responder_key *responder,
    const struct wire_rnic_id *own, size_t own_count, struct wire_keys *ret)
{
	for (size_t i = 0; i < own_count; i++) {
		if (ret->pair_count == WIRE_MAX_ENTRIES) {
			store->counts.left_out++;
			return;
		}
		make_pair(responder, own[i], &store->pairs[ret->pair_count++]);
	}
}

int
key_store_expand(struct key_store *store, size_t tor, const struct wire_rnic_id *own,
    size_t own_count, struct wire_keys *ret)
{
	const struct wire_keys *view = key_store_view(store, tor);

	if (view == NULL)
		return -ENOENT;
	*ret = (struct wire_keys){ .tor = view->tor,
		.epoch = view->epoch,
		.version = view->version,
		.responders = store->responders,
		.pairs = store->pairs,
		.plain = store->plain,
		.plain_count = view->plain_count };
	for (size_t i = 0; i < view->responder_count; i++) {
		const struct wire_responder_key *key = &view->responders[i];

		if (is_one_of(key->guid, key->port, own, own_count)) {
			if (ret->responder_count <
			    WIRE_KEY_EPOCHS * WIRE_MAX_HOST_RNICS)
				store->responders[ret->responder_count++] = *key;
		} else if (key->epoch == view->epoch) {
			expand_mesh(store, key, own, own_count, ret);
		}
	}
	for (size_t i = 0; i < view->pair_count; i++) {
		const struct wire_pair_key *key = &view->pairs[i];

		if (!is_one_of(key->src_guid, key->src_port, own, own_count))
			continue;
		if (ret->pair_count == WIRE_MAX_ENTRIES) {
			store->counts.left_out++;
			continue;
		}
		store->pairs[ret->pair_count++] = *key;
	}
	for (size_t i = 0; i < view->plain_count; i++)
		store->plain[i] = wire_keys_plain(view, i);
	return 0;
}

bool
key_store_pair(const struct key_store *store, struct wire_rnic_id prober,
    struct wire_rnic_id responder, struct wire_pair_key *ret)
{
	for (size_t t = 0; t < store->count; t++) {
		const struct wire_keys *view = key_store_view(store, t);

		for (size_t i = 0; view != NULL && i < view->responder_count; i++) {
			const struct wire_responder_key *key = &view->responders[i];

			if (key->epoch == view->epoch &&
			    is_one_of(key->guid, key->port, &responder, 1)) {
				make_pair(key, prober, ret);
				return true;
			}
		}
	}
	return false;
}

const struct key_store_counts *
key_store_counts(const struct key_store *store)
{
	return &store->counts;
}

const struct rm_key_file_counts *
key_store_file_counts(const struct key_store *store)
{
	return rm_key_files_counts(store->files);
}
