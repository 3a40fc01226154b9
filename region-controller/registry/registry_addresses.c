#define HASH_NONFATAL_OOM 1
#include "region-controller/registry/registry_addresses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "region-controller/topology/rnic_address.h"

struct claim {
	const struct registry_rnic *rnic;
	const struct wire_address *address; /* RNICs with this address */
	struct claim *next;                 /* next RNIC with the same address */
};

struct place {
	UT_hash_handle hh;
	struct rnic_address_key key;
	struct claim *claims;
};

struct registry_addresses {
	struct place *places;
};

int
registry_addresses_new(struct registry_addresses **ret)
{
	struct registry_addresses *addresses = calloc(1, sizeof(*addresses));

	if (addresses == NULL)
		return -ENOMEM;
	*ret = addresses;
	return 0;
}

static struct place *
find(const struct registry_addresses *addresses, const struct wire_address *address)
{
	struct rnic_address_key key = rnic_address_key(address);
	struct place *place = NULL;

	HASH_FIND(hh, addresses->places, &key, sizeof(key), place);
	return place;
}

static void
drop_place(struct registry_addresses *addresses, struct place *place)
{
	HASH_DEL(addresses->places, place);
	free(place);
}

void
registry_addresses_free(struct registry_addresses *addresses)
{
	struct place *place, *next;

	if (addresses == NULL)
		return;
	HASH_ITER (hh, addresses->places, place, next) {
		while (place->claims != NULL) {
			struct claim *claim = place->claims;

			place->claims = claim->next;
			free(claim);
		}
		drop_place(addresses, place);
	}
	free(addresses);
}

/* Finds or adds the entry of an address. NULL: out of memory. */
static struct place *
place_of(struct registry_addresses *addresses, const struct wire_address *address)
{
	struct place *place = find(addresses, address);

	if (place != NULL)
		return place;
	place = calloc(1, sizeof(*place));
	if (place == NULL)
		return NULL;
	place->key = rnic_address_key(address);
	HASH_ADD(hh, addresses->places, key, sizeof(place->key), place);
	if (place->hh.tbl == NULL) { /* uthash could not grow */
		free(place);
		return NULL;
	}
	return place;
}

static bool
is_claimed_by_other(const struct place *place, const struct registry_rnic *rnic)
{
	for (const struct claim *claim = place->claims; claim != NULL;
	     claim = claim->next) {
		if (claim->rnic != rnic)
			return true;
	}
	return false;
}

int
registry_addresses_add(
    struct registry_addresses *addresses, const struct registry_rnic *rnic)
{
	int shared = 0;

	for (size_t i = 0; i < rnic->address_count; i++) {
		struct place *place = place_of(addresses, &rnic->addresses[i]);
		struct claim *claim = place == NULL ? NULL : malloc(sizeof(*claim));

		if (claim == NULL) {
			if (place != NULL && place->claims == NULL)
				drop_place(addresses, place);
			return -ENOMEM;
		}
		shared |= is_claimed_by_other(place, rnic);
		*claim = (struct claim){ rnic, &rnic->addresses[i], place->claims };
		place->claims = claim;
	}
	return shared;
}

void
registry_addresses_drop(
    struct registry_addresses *addresses, const struct registry_rnic *rnic)
{
	for (size_t i = 0; i < rnic->address_count; i++) {
		struct place *place = find(addresses, &rnic->addresses[i]);
		struct claim **at = place == NULL ? NULL : &place->claims;

		while (at != NULL && *at != NULL) {
			struct claim *claim = *at;

			if (claim->rnic != rnic) {
				at = &claim->next;
				continue;
			}
			*at = claim->next;
			free(claim);
		}
		if (place != NULL && place->claims == NULL)
			drop_place(addresses, place);
	}
}

static bool
is_newer(const struct registry_rnic *a, const struct registry_rnic *b)
{
	if (a->claimed.ns != b->claimed.ns)
		return a->claimed.ns > b->claimed.ns;
	if (a->key.guid != b->key.guid)
		return a->key.guid > b->key.guid;
	return a->key.port > b->key.port;
}

static const struct claim *
newest(const struct place *place)
{
	const struct claim *best = place->claims;

	for (const struct claim *claim = best->next; claim != NULL;
	     claim = claim->next) {
		if (is_newer(claim->rnic, best->rnic))
			best = claim;
	}
	return best;
}

const struct registry_rnic *
registry_addresses_find(
    const struct registry_addresses *addresses, const struct wire_address *address)
{
	const struct place *place = find(addresses, address);

	return place == NULL ? NULL : newest(place)->rnic;
}

static void
show_shared(const struct place *place, struct registry_shared *ret)
{
	const struct claim *best = newest(place);

	*ret = (struct registry_shared){
		.address = *best->address, .rnics = { best->rnic }, .count = 1
	};
	for (const struct claim *claim = place->claims; claim != NULL;
	     claim = claim->next) {
		if (claim->rnic != best->rnic && ret->count < REGISTRY_MAX_CLAIMANTS)
			ret->rnics[ret->count++] = claim->rnic;
	}
}

bool
registry_addresses_shared(
    const struct registry_addresses *addresses, size_t i, struct registry_shared *ret)
{
	const struct place *place = addresses->places;

	for (; place != NULL; place = place->hh.next) {
		if (!is_claimed_by_other(place, place->claims->rnic) || i-- > 0)
			continue;
		show_shared(place, ret);
		return true;
	}
	return false;
}
