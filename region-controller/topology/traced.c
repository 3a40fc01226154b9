#define HASH_NONFATAL_OOM 1
#include "region-controller/topology/traced.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "rackmesh/topology/topology.h"
#include "region-controller/topology/rnic_address.h"

#define REPORT_AGAIN_NS (3600 * RM_NS_PER_S)
#define AGE_EVERY_NS (60 * RM_NS_PER_S)

/* There is no padding, and the bytes after the names are zero, because the struct is
 * hashed as bytes. */
struct key {
	char from[TRACED_NODE_BYTES], to[TRACED_NODE_BYTES];
};

struct entry {
	UT_hash_handle hh;
	struct key key;
	struct traced_link link;
	rm_wall_t reported_at;
};

struct traced {
	size_t max_links;
	struct entry *entries;
	rm_wall_t aged; /* time of the last check of the age of all entries */
	struct traced_counts counts;
};

int
traced_new(size_t max_links, struct traced **ret)
{
	struct traced *traced = calloc(1, sizeof(*traced));

	if (traced == NULL)
		return -ENOMEM;
	traced->max_links = max_links;
	*ret = traced;
	return 0;
}

static void
entry_drop(struct traced *traced, struct entry *entry)
{
	HASH_DEL(traced->entries, entry);
	free(entry);
}

void
traced_free(struct traced *traced)
{
	struct entry *entry, *next;

	if (traced == NULL)
		return;
	HASH_ITER (hh, traced->entries, entry, next)
		entry_drop(traced, entry);
	free(traced);
}

static struct entry *
find(const struct traced *traced, const struct key *key)
{
	struct entry *entry = NULL;

	HASH_FIND(hh, traced->entries, key, sizeof(*key), entry);
	return entry;
}

static struct key
key_of(const char *from, const char *to)
{
	struct key key = { "", "" };

	snprintf(key.from, sizeof(key.from), "%s", from);
	snprintf(key.to, sizeof(key.to), "%s", to);
	return key;
}

static int
add(struct traced *traced, const struct key *key, struct entry **ret)
{
	struct entry *entry;

	if (HASH_COUNT(traced->entries) >= traced->max_links) {
		traced->counts.refused++;
		return -ENOSPC;
	}
	entry = calloc(1, sizeof(*entry));
	if (entry != NULL) {
		entry->key = *key;
		HASH_ADD(hh, traced->entries, key, sizeof(entry->key), entry);
	}
	if (entry == NULL || entry->hh.tbl == NULL) {
		free(entry);
		traced->counts.refused++;
		return -ENOMEM;
	}
	*ret = entry;
	return 0;
}

/* ---- learning ------------------------------------------------------------------ */

struct hop {
	char node[TRACED_NODE_BYTES];
	char address[WIRE_ADDRESS_TEXT];
};

static void
socket_address(const struct wire_address *address, struct rm_address *ret)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&ret->storage;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&ret->storage;

	memset(ret, 0, sizeof(*ret));
	if (address->family == 4) {
		in->sin_family = AF_INET;
		memcpy(&in->sin_addr, address->bytes, 4);
		ret->len = sizeof(*in);
	} else {
		in6->sin6_family = AF_INET6;
		memcpy(&in6->sin6_addr, address->bytes, 16);
		ret->len = sizeof(*in6);
	}
}

/* Reads a hop. False: the hop did not answer. tor: the ToR to which the hop is known to
 * belong, or NULL. */
static bool
read_hop(const struct rm_topology *topology, const struct wire_path *path, size_t i,
    const char *tor, struct hop *ret)
{
	static const uint8_t silent[16];
	struct wire_address address = { .family = path->family };
	struct rm_address asked;
	size_t at;

	if (memcmp(path->hops[i], silent, sizeof(silent)) == 0)
		return false;
	memcpy(address.bytes, path->hops[i], sizeof(address.bytes));
	wire_address_format(&address, ret->address);
	socket_address(&address, &asked);
	if (tor != NULL)
		snprintf(ret->node, sizeof(ret->node), "%s", tor);
	else if (topology != NULL && rm_topology_find_alias(topology, &asked, &at))
		snprintf(ret->node, sizeof(ret->node), "%s",
		    rm_topology_switch(topology, at)->name);
	else
		snprintf(ret->node, sizeof(ret->node), "?%s", ret->address);
	return true;
}

static void
learn_link(struct traced *traced, const char *tor, const struct hop *from,
    const struct hop *to, rm_wall_t now, traced_on_link *on_link, void *arg)
{
	const struct key key = key_of(from->node, to->node);
	struct entry *entry = find(traced, &key);

	if (entry == NULL) {
		if (add(traced, &key, &entry) < 0)
			return;
		traced->counts.found++;
		memcpy(entry->link.from, key.from, sizeof(key.from));
		memcpy(entry->link.to, key.to, sizeof(key.to));
		snprintf(entry->link.by, sizeof(entry->link.by), "%s", tor);
		entry->link.first_seen = now;
	}
	if (entry->link.last_seen.ns < now.ns)
		entry->link.last_seen = now;
	memcpy(entry->link.address, to->address, sizeof(to->address));
	if (entry->reported_at.ns != 0 &&
	    now.ns - entry->reported_at.ns < REPORT_AGAIN_NS)
		return;
	entry->reported_at = now;
	on_link(&entry->link, arg);
}

void
traced_learn(struct traced *traced, const struct rm_topology *topology, const char *tor,
    const struct wire_path *path, rm_wall_t now, traced_on_link *on_link, void *arg)
{
	struct hop before, hop;
	bool has_before = false;

	traced->counts.learned++;
	for (size_t i = 0; i < path->hop_count; i++) {
		const bool answered =
		    read_hop(topology, path, i, i == 0 ? tor : NULL, &hop);

		traced->counts.silent += !answered;
		/* Two hops in a row that are interfaces of one switch are not a link.
		 */
		if (answered && has_before && strcmp(before.node, hop.node) != 0)
			learn_link(traced, tor, &before, &hop, now, on_link, arg);
		before = hop;
		has_before = answered;
	}
}

/* ---- memory --------------------------------------------------------------------- */

static bool
node_valid(const char *node)
{
	struct wire_address address;

	return node[0] == '?' ? rnic_address_parse(node + 1, &address) == 0
			      : rm_name_valid(node);
}

bool
traced_link_valid(const struct traced_link *link)
{
	struct wire_address address;

	return node_valid(link->from) && node_valid(link->to) &&
	       rm_name_valid(link->by) &&
	       rnic_address_parse(link->address, &address) == 0;
}

static int
merge(struct traced *traced, const struct traced_link *link, struct entry **ret)
{
	const struct key key = key_of(link->from, link->to);
	struct entry *entry = find(traced, &key);
	int r;

	*ret = entry;
	if (entry == NULL) {
		r = add(traced, &key, ret);
		if (r < 0)
			return r;
		entry = *ret;
		entry->link = *link;
		entry->reported_at = link->last_seen;
		return 0;
	}
	if (link->first_seen.ns < entry->link.first_seen.ns) {
		entry->link.first_seen = link->first_seen;
		memcpy(entry->link.by, link->by, sizeof(link->by));
	}
	if (link->last_seen.ns > entry->link.last_seen.ns)
		entry->link.last_seen = link->last_seen;
	return 0;
}

int
traced_restore(struct traced *traced, const struct traced_link *link)
{
	struct entry *entry;

	return traced_link_valid(link) ? merge(traced, link, &entry) : -EINVAL;
}

/* ---- later aliases -------------------------------------------------------------- */

/* True: the address has another name now, by an alias. */
static bool
rename_node(
    const struct rm_topology *topology, const char *text, char node[TRACED_NODE_BYTES])
{
	struct wire_address address;
	struct rm_address asked;
	const char *name;
	size_t at;

	if (rnic_address_parse(text, &address) < 0)
		return false;
	socket_address(&address, &asked);
	if (!rm_topology_find_alias(topology, &asked, &at))
		return false;
	name = rm_topology_switch(topology, at)->name;
	if (strcmp(name, node) == 0)
		return false;
	memset(node, 0, TRACED_NODE_BYTES);
	snprintf(node, TRACED_NODE_BYTES, "%s", name);
	return true;
}

static bool
rename_ends(const struct rm_topology *topology, struct traced_link *link)
{
	bool renamed = rename_node(topology, link->address, link->to);

	if (link->from[0] == '?')
		renamed |= rename_node(topology, link->from + 1, link->from);
	return renamed;
}

void
traced_fold(struct traced *traced, const struct rm_topology *topology,
    traced_on_link *on_gone, traced_on_link *on_link, void *arg)
{
	struct entry *entry, *next, *other;

	HASH_ITER (hh, traced->entries, entry, next) {
		struct traced_link link = entry->link;

		if (!rename_ends(topology, &link))
			continue;
		traced->counts.folded++;
		on_gone(&entry->link, arg);
		/* The old entry is dropped before the new one is added, to make room.
		 */
		entry_drop(traced, entry);
		if (strcmp(link.from, link.to) != 0 &&
		    merge(traced, &link, &other) == 0)
			on_link(&other->link, arg);
	}
}

void
traced_age(struct traced *traced, rm_wall_t now, traced_on_link *on_link, void *arg)
{
	struct entry *entry, *next;

	if (now.ns >= traced->aged.ns && now.ns - traced->aged.ns < AGE_EVERY_NS)
		return;
	traced->aged = now;
	HASH_ITER (hh, traced->entries, entry, next) {
		/* A time in the future comes from a wrong clock; with it the entry
		 * would never expire. */
		if (entry->link.last_seen.ns > now.ns)
			entry->link.last_seen = entry->reported_at = now;
		if (now.ns - entry->link.last_seen.ns < TRACED_KEEP_NS)
			continue;
		traced->counts.forgotten++;
		on_link(&entry->link, arg);
		entry_drop(traced, entry);
	}
}

void
traced_drop(struct traced *traced, const char *from, const char *to)
{
	const struct key key = key_of(from, to);
	struct entry *entry = find(traced, &key);

	if (entry != NULL)
		entry_drop(traced, entry);
}

/* ---- reading --------------------------------------------------------------------- */

static int
compare(const void *a, const void *b)
{
	const struct traced_link *left = *(const struct traced_link *const *)a;
	const struct traced_link *right = *(const struct traced_link *const *)b;
	const int by_from = strcmp(left->from, right->from);

	return by_from != 0 ? by_from : strcmp(left->to, right->to);
}

int
traced_sorted(
    const struct traced *traced, const struct traced_link ***ret, size_t *count)
{
	const size_t total = HASH_COUNT(traced->entries);
	const struct traced_link **links =
	    calloc(total + 1, sizeof(struct traced_link *));
	struct entry *entry, *next;
	size_t n = 0;

	if (links == NULL)
		return -ENOMEM;
	HASH_ITER (hh, traced->entries, entry, next)
		links[n++] = &entry->link;
	qsort(links, n, sizeof(struct traced_link *), compare);
	*ret = links;
	*count = n;
	return 0;
}

size_t
traced_links(const struct traced *traced)
{
	return HASH_COUNT(traced->entries);
}

const struct traced_counts *
traced_counts(const struct traced *traced)
{
	return &traced->counts;
}
