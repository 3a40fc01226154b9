#include "tor-aggregator/paths/hop_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

struct hop_name {
	uint8_t family;
	/* in network order; the bytes behind an IPv4 address are zero */
	uint8_t address[16];
	char name[RM_NAME_BYTES];
};

static struct hop_name
key_of(uint8_t family, const uint8_t address[16])
{
	struct hop_name key = { .family = family };

	memcpy(key.address, address, family == 4 ? 4 : 16);
	return key;
}

static int
compare(const void *a, const void *b)
{
	const struct hop_name *x = a, *y = b;

	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	return memcmp(x->address, y->address, sizeof(x->address));
}

int
hop_names_plan(struct hop_names *names, const struct wire_plan_view *view)
{
	const size_t room = view->plan.alias_count;
	struct hop_name *items = calloc(room + 1, sizeof(*items));
	size_t count = 0;

	if (items == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < room; i++) {
		struct wire_alias alias;

		wire_plan_alias(view, i, &alias);
		if (!rm_name_valid(alias.switch_name) ||
		    (alias.address.family != 4 && alias.address.family != 6)) {
			names->refused++;
			continue;
		}
		items[count] = key_of(alias.address.family, alias.address.bytes);
		snprintf(items[count].name, sizeof(items[count].name), "%s",
		    alias.switch_name);
		count++;
	}
	qsort(items, count, sizeof(*items), compare);
	free(names->items);
	names->items = items;
	names->count = count;
	return 0;
}

void
hop_names_release(struct hop_names *names)
{
	free(names->items);
	*names = (struct hop_names){ 0 };
}

const char *
hop_names_find(const struct hop_names *names, uint8_t family, const uint8_t address[16])
{
	const struct hop_name key = key_of(family, address);
	const struct hop_name *found;

	if (names->count == 0)
		return NULL;
	found =
	    bsearch(&key, names->items, names->count, sizeof(*names->items), compare);
	return found == NULL ? NULL : found->name;
}
