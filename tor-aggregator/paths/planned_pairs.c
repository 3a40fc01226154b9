#define HASH_NONFATAL_OOM 1
#include "tor-aggregator/paths/planned_pairs.h"

#include <errno.h>
#include <stdlib.h>

#include <uthash.h>

struct key { /* There is no padding, because the struct is hashed as bytes. */
	uint64_t src_guid, dst_guid;
	uint64_t ports;
};

struct pair {
	UT_hash_handle hh;
	struct key key;
};

struct planned_pairs {
	struct pair *all;
};

int
planned_pairs_new(struct planned_pairs **ret)
{
	struct planned_pairs *pairs = calloc(1, sizeof(*pairs));

	if (pairs == NULL)
		return -ENOMEM;
	*ret = pairs;
	return 0;
}

void
planned_pairs_clear(struct planned_pairs *pairs)
{
	struct pair *pair, *next;

	HASH_ITER (hh, pairs->all, pair, next) {
		HASH_DEL(pairs->all, pair);
		free(pair);
	}
}

void
planned_pairs_free(struct planned_pairs *pairs)
{
	if (pairs == NULL)
		return;
	planned_pairs_clear(pairs);
	free(pairs);
}

static struct pair *
find(const struct planned_pairs *pairs, const struct key *key)
{
	struct pair *pair;

	HASH_FIND(hh, pairs->all, key, sizeof(*key), pair);
	return pair;
}

static struct key
key_of(struct wire_rnic_id src, struct wire_rnic_id dst)
{
	return (struct key){ src.guid, dst.guid, (uint64_t)src.port << 8 | dst.port };
}

int
planned_pairs_add(
    struct planned_pairs *pairs, struct wire_rnic_id src, struct wire_rnic_id dst)
{
	const struct key key = key_of(src, dst);
	struct pair *pair = find(pairs, &key);

	if (pair != NULL)
		return 0;
	pair = calloc(1, sizeof(*pair));
	if (pair == NULL)
		return -ENOMEM;
	pair->key = key;
	HASH_ADD(hh, pairs->all, key, sizeof(pair->key), pair);
	if (pair->hh.tbl == NULL) {
		free(pair);
		return -ENOMEM;
	}
	return 0;
}

bool
planned_pairs_has(
    const struct planned_pairs *pairs, struct wire_rnic_id src, struct wire_rnic_id dst)
{
	const struct key key = key_of(src, dst);

	return find(pairs, &key) != NULL;
}
