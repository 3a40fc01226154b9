#include "host-agent/reflector_roster.h"

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
	const struct wire_peer *left = a, *right = b;

	return address_compare(&left->address, &right->address);
}

/* Of an address that is there twice the one whose RNIC is known comes first. */
static int
peer_sort(const void *a, const void *b)
{
	const struct wire_peer *left = a, *right = b;
	int order = peer_compare(a, b);

	return order != 0 ? order : (left->id.guid == 0) - (right->id.guid == 0);
}

int
reflector_roster_set(
    struct reflector_roster *roster, const struct wire_peer *peers, size_t count)
{
	struct wire_peer *copy;
	size_t each = 0;

	if (count > WIRE_MAX_ROSTER)
		return -EMSGSIZE;
	copy = calloc(count + 1, sizeof(*copy));
	if (copy == NULL)
		return -ENOMEM;
	if (count > 0)
		memcpy(copy, peers, count * sizeof(*copy));
	qsort(copy, count, sizeof(*copy), peer_sort);
	for (size_t i = 0; i < count; i++)
		if (each == 0 || peer_compare(&copy[each - 1], &copy[i]) != 0)
			copy[each++] = copy[i];
	free(roster->peers);
	roster->peers = copy;
	roster->count = each;
	return 0;
}

const struct wire_peer *
reflector_roster_find(
    const struct reflector_roster *roster, const struct wire_address *address)
{
	struct wire_peer key = { .address = *address };

	if (roster->count == 0)
		return NULL;
	return bsearch(
	    &key, roster->peers, roster->count, sizeof(*roster->peers), peer_compare);
}
