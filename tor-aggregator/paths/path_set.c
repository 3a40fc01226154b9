#include "tor-aggregator/paths/path_set.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "rackmesh/core/fnv.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire/text.h"
#include "tor-aggregator/paths/hop_names.h"

#define HOP_TEXT (RM_NAME_BYTES + WIRE_ADDRESS_TEXT + 1) /* "switch@address " */
#define SWITCH_BITS 61                                   /* a prime */
#define MIN_ROOM 64u

struct entry {
	struct path_hops route;
	uint32_t path;
	size_t holders;
	char *text;
	uint64_t switches;
	UT_hash_handle hh;
};

struct path_set {
	size_t max_paths;
	struct entry *by_hops;
	/* the index is the number minus PATH_FIRST; NULL: the number is free */
	struct entry **entries;
	uint32_t end, room;
	uint32_t free_hint; /* all numbers below it are in use */
	size_t count;
};

int
path_set_new(size_t max_paths, struct path_set **ret)
{
	struct path_set *set = calloc(1, sizeof(*set));

	if (set == NULL)
		return -ENOMEM;
	set->max_paths = max_paths;
	*ret = set;
	return 0;
}

static void
entry_free(struct entry *entry)
{
	if (entry == NULL)
		return;
	free(entry->text);
	free(entry);
}

void
path_set_free(struct path_set *set)
{
	if (set == NULL)
		return;
	HASH_CLEAR(hh, set->by_hops);
	for (uint32_t i = 0; i < set->end; i++)
		entry_free(set->entries[i]);
	free(set->entries);
	free(set);
}

/* Returns the number of bytes written for one hop. */
static size_t
hop_write(const struct path_hops *route, size_t hop, const struct hop_names *names,
    char out[HOP_TEXT])
{
	static const uint8_t silent[16];
	struct wire_address address = { .family = route->family };
	char text[WIRE_ADDRESS_TEXT];
	const char *name;

	if (memcmp(route->hops[hop], silent, sizeof(silent)) == 0)
		return (size_t)snprintf(out, HOP_TEXT, "?");
	memcpy(address.bytes, route->hops[hop], sizeof(address.bytes));
	wire_address_format(&address, text);
	name = hop_names_find(names, route->family, route->hops[hop]);
	return (size_t)snprintf(
	    out, HOP_TEXT, "%s@%s", name == NULL ? "?" : name, text);
}

/* NULL: no memory. */
static char *
text_of(const struct path_hops *route, const struct hop_names *names)
{
	char text[WIRE_MAX_HOPS * HOP_TEXT];
	size_t at = 0;

	text[0] = 0;
	for (size_t i = 0; i < route->hop_count; i++) {
		if (i > 0)
			text[at++] = ' ';
		at += hop_write(route, i, names, text + at);
	}
	return strdup(text);
}

static uint64_t
switches_of(const struct path_hops *route, const struct hop_names *names)
{
	uint64_t switches = 0;

	for (size_t i = 1; i + 1 < route->hop_count; i++) {
		const char *name = hop_names_find(names, route->family, route->hops[i]);

		if (name == NULL)
			return UINT64_MAX;
		switches |= UINT64_C(1)
			    << (rm_fnv1a(RM_FNV1A, name, strlen(name)) % SWITCH_BITS);
	}
	return switches != 0 ? switches : UINT64_MAX;
}

/* Finds the lowest free index, and makes room for it in entries. */
static int
free_number(struct path_set *set, uint32_t *ret)
{
	uint32_t at = set->free_hint, room;
	struct entry **entries;

	if (set->count >= set->max_paths)
		return -ENOSPC;
	while (at < set->end && set->entries[at] != NULL)
		at++;
	if (at == set->room) {
		room = set->room == 0 ? MIN_ROOM : 2 * set->room;
		entries = realloc(set->entries, room * sizeof(struct entry *));
		if (entries == NULL)
			return -ENOMEM;
		set->entries = entries;
		set->room = room;
	}
	*ret = at;
	return 0;
}

static int
add(struct path_set *set, const struct path_hops *route, const struct hop_names *names,
    struct entry **ret)
{
	struct entry *entry;
	uint32_t at = 0;
	int r;

	r = free_number(set, &at);
	if (r < 0)
		return r;
	entry = calloc(1, sizeof(*entry));
	if (entry == NULL)
		return -ENOMEM;
	entry->route = *route;
	entry->path = at + PATH_FIRST;
	entry->text = text_of(route, names);
	entry->switches = switches_of(route, names);
	if (entry->text != NULL)
		HASH_ADD(hh, set->by_hops, route, sizeof(entry->route), entry);
	if (entry->text == NULL || entry->hh.tbl == NULL) {
		entry_free(entry);
		return -ENOMEM;
	}
	set->entries[at] = entry;
	set->free_hint = at + 1;
	if (set->end < at + 1)
		set->end = at + 1;
	set->count++;
	*ret = entry;
	return 0;
}

int
path_set_hold(struct path_set *set, const struct path_hops *route,
    const struct hop_names *names, uint32_t *ret)
{
	struct entry *entry;
	int r = 0;

	HASH_FIND(hh, set->by_hops, route, sizeof(*route), entry);
	if (entry == NULL)
		r = add(set, route, names, &entry);
	if (r < 0)
		return r;
	entry->holders++;
	*ret = entry->path;
	return 0;
}

static struct entry *
entry_of(const struct path_set *set, uint32_t path)
{
	if (path < PATH_FIRST || path - PATH_FIRST >= set->end)
		return NULL;
	return set->entries[path - PATH_FIRST];
}

void
path_set_drop(struct path_set *set, uint32_t path)
{
	struct entry *entry = entry_of(set, path);

	if (entry != NULL && entry->holders > 0)
		entry->holders--;
}

void
path_set_rename(struct path_set *set, const struct hop_names *names)
{
	for (uint32_t i = 0; i < set->end; i++) {
		struct entry *entry = set->entries[i];
		char *text = entry == NULL ? NULL : text_of(&entry->route, names);

		if (text == NULL)
			continue;
		free(entry->text);
		entry->text = text;
		entry->switches = switches_of(&entry->route, names);
	}
}

void
path_set_sweep(struct path_set *set)
{
	for (uint32_t i = 0; i < set->end; i++) {
		struct entry *entry = set->entries[i];

		if (entry == NULL || entry->holders > 0)
			continue;
		HASH_DELETE(hh, set->by_hops, entry);
		entry_free(entry);
		set->entries[i] = NULL;
		set->count--;
		if (i < set->free_hint)
			set->free_hint = i;
	}
	while (set->end > 0 && set->entries[set->end - 1] == NULL)
		set->end--;
}

const char *
path_set_text(const struct path_set *set, uint32_t path)
{
	const struct entry *entry = entry_of(set, path);

	if (path == PATH_MULTIPATH)
		return "*";
	return entry == NULL ? "" : entry->text;
}

uint64_t
path_set_switches(const struct path_set *set, uint32_t path)
{
	const struct entry *entry = entry_of(set, path);

	return entry == NULL ? UINT64_MAX : entry->switches;
}

bool
path_set_hops(const struct path_set *set, uint32_t path, struct path_hops *ret)
{
	const struct entry *entry = entry_of(set, path);

	if (entry == NULL || entry->holders == 0)
		return false;
	*ret = entry->route;
	return true;
}

size_t
path_set_count(const struct path_set *set)
{
	return set->count;
}

uint32_t
path_set_end(const struct path_set *set)
{
	return set->end + PATH_FIRST;
}
