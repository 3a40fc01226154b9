#include "rackmesh/etcd/etcd_keys.h"

#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/fnv.h"
#include "rackmesh/core/random.h"

#define KEYS_FIRST_SIZE 1024 /* a power of two */

struct rm_etcd_keys {
	struct rm_etcd_key **slots;
	size_t size, count;
	uint64_t seed;
};

struct rm_etcd_keys *
rm_etcd_keys_new(void)
{
	struct rm_etcd_keys *keys = calloc(1, sizeof(*keys));

	if (keys == NULL)
		return NULL;
	keys->slots = calloc(KEYS_FIRST_SIZE, sizeof(struct rm_etcd_key *));
	if (keys->slots == NULL) {
		free(keys);
		return NULL;
	}
	keys->size = KEYS_FIRST_SIZE;
	keys->seed = rm_random_u64();
	return keys;
}

void
rm_etcd_keys_free(struct rm_etcd_keys *keys)
{
	if (keys == NULL)
		return;
	for (size_t i = 0; i < keys->size; i++) {
		while (keys->slots[i] != NULL) {
			struct rm_etcd_key *key = keys->slots[i];

			keys->slots[i] = key->next;
			free(key);
		}
	}
	free(keys->slots);
	free(keys);
}

size_t
rm_etcd_keys_count(const struct rm_etcd_keys *keys)
{
	return keys->count;
}

/* From a start that nobody knows. */
static size_t
keys_slot(const struct rm_etcd_keys *keys, const char *name)
{
	uint64_t hash = rm_fnv1a(RM_FNV1A ^ keys->seed, name, strlen(name));

	return (hash ^ hash >> 32) & (keys->size - 1);
}

struct rm_etcd_key *
rm_etcd_keys_find(struct rm_etcd_keys *keys, const char *name)
{
	struct rm_etcd_key *key = keys->slots[keys_slot(keys, name)];

	while (key != NULL && strcmp(key->name, name) != 0)
		key = key->next;
	return key;
}

/* Without memory for a larger table the old one serves, more slowly. */
static void
keys_grow(struct rm_etcd_keys *keys)
{
	struct rm_etcd_key **old = keys->slots;
	size_t old_size = keys->size;
	struct rm_etcd_key **slots = calloc(old_size * 2, sizeof(*slots));

	if (slots == NULL)
		return;
	keys->slots = slots;
	keys->size = old_size * 2;
	for (size_t i = 0; i < old_size; i++) {
		while (old[i] != NULL) {
			struct rm_etcd_key *key = old[i];
			size_t slot = keys_slot(keys, key->name);

			old[i] = key->next;
			key->next = slots[slot];
			slots[slot] = key;
		}
	}
	free(old);
}

struct rm_etcd_key *
rm_etcd_keys_add(struct rm_etcd_keys *keys, const char *name)
{
	size_t len = strlen(name), slot;
	struct rm_etcd_key *key = calloc(1, sizeof(*key) + len + 1);

	if (key == NULL)
		return NULL;
	if (keys->count >= keys->size)
		keys_grow(keys);
	memcpy(key->name, name, len + 1);
	slot = keys_slot(keys, name);
	key->next = keys->slots[slot];
	keys->slots[slot] = key;
	keys->count++;
	return key;
}

void
rm_etcd_keys_remove(struct rm_etcd_keys *keys, struct rm_etcd_key *key)
{
	struct rm_etcd_key **at = &keys->slots[keys_slot(keys, key->name)];

	while (*at != key)
		at = &(*at)->next;
	*at = key->next;
	keys->count--;
	free(key);
}

void
rm_etcd_keys_keep(struct rm_etcd_keys *keys,
    bool (*visit)(struct rm_etcd_key *key, void *arg), void *arg)
{
	for (size_t i = 0; i < keys->size; i++) {
		struct rm_etcd_key **at = &keys->slots[i];

		while (*at != NULL) {
			struct rm_etcd_key *key = *at;

			if (visit(key, arg)) {
				at = &key->next;
				continue;
			}
			*at = key->next;
			keys->count--;
			free(key);
		}
	}
}
