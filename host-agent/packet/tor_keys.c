#include "host-agent/packet/tor_keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void
bytes_free(uint8_t *bytes, size_t len)
{
	if (bytes != NULL)
		explicit_bzero(bytes, len);
	free(bytes);
}

void
tor_keys_clear(struct tor_keys *keys)
{
	bytes_free(
	    (uint8_t *)keys->pairs, keys->view.pair_count * sizeof(*keys->pairs));
	bytes_free(keys->bytes, keys->view.bytes.len);
	free(keys->plain);
	keys->bytes = NULL;
	keys->pairs = NULL;
	keys->plain = NULL;
}

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

int
tor_keys_copy(struct tor_keys *keys, const struct wire_keys *message)
{
	struct wire_keys *view = &keys->view;

	keys->bytes = malloc(message->bytes.len);
	if (keys->bytes == NULL)
		return -ENOMEM;
	wire_copy_keys(message, keys->bytes, view);
	keys->pairs = calloc(view->pair_count + 1, sizeof(*keys->pairs));
	keys->plain = calloc(view->plain_count + 1, sizeof(*keys->plain));
	if (keys->pairs == NULL || keys->plain == NULL) {
		tor_keys_clear(keys);
		return -ENOMEM;
	}
	if (view->pair_count > 0)
		memcpy(
		    keys->pairs, view->pairs, view->pair_count * sizeof(*keys->pairs));
	qsort(keys->pairs, view->pair_count, sizeof(*keys->pairs), pair_compare);
	for (size_t i = 0; i < view->plain_count; i++)
		keys->plain[i] = wire_keys_plain(view, i);
	qsort(keys->plain, view->plain_count, sizeof(*keys->plain), id_compare);
	return 0;
}

const struct wire_responder_key *
tor_keys_responder(const struct tor_keys *keys, struct wire_rnic_id own, uint32_t epoch)
{
	for (size_t i = 0; keys->bytes != NULL && i < keys->view.responder_count; i++) {
		const struct wire_responder_key *key = &keys->view.responders[i];

		if (key->guid == own.guid && key->port == own.port &&
		    key->epoch == epoch)
			return key;
	}
	return NULL;
}

const struct wire_pair_key *
tor_keys_pair(
    const struct tor_keys *keys, struct wire_rnic_id src, struct wire_rnic_id dst)
{
	const struct wire_pair_key wanted = { .src_guid = src.guid,
		.src_port = src.port,
		.dst_guid = dst.guid,
		.dst_port = dst.port };

	if (keys->bytes == NULL || keys->view.pair_count == 0)
		return NULL;
	return bsearch(&wanted, keys->pairs, keys->view.pair_count,
	    sizeof(*keys->pairs), pair_compare);
}

bool
tor_keys_is_plain(const struct tor_keys *keys, struct wire_rnic_id id)
{
	return keys->bytes != NULL && keys->view.plain_count > 0 &&
	       bsearch(&id, keys->plain, keys->view.plain_count, sizeof(*keys->plain),
		   id_compare) != NULL;
}
