#include "rackmesh/topology/topology.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/topology/topology_internal.h"

static void
switch_clear(struct rm_switch *sw)
{
	free(sw->aliases);
	free(sw->aggregators);
	free(sw->members);
}

void
rm_topology_free(struct rm_topology *topology)
{
	struct topology_name *name, *next_name;
	struct topology_alias *alias, *next_alias;

	if (topology == NULL)
		return;
	HASH_ITER (hh, topology->names, name, next_name) {
		HASH_DEL(topology->names, name);
		free(name);
	}
	HASH_ITER (hh, topology->aliases, alias, next_alias) {
		HASH_DEL(topology->aliases, alias);
		free(alias);
	}
	for (size_t i = 0; i < topology->switch_count; i++)
		switch_clear(&topology->switches[i]);
	for (size_t i = 0; i < topology->warning_count; i++)
		free(topology->warnings[i]);
	free(topology->switches);
	free(topology->links);
	free(topology->planes);
	free(topology->file);
	free(topology);
}

void
topology_alias_key(const struct rm_address *address, struct topology_alias_key *ret)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)&address->storage;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address->storage;

	memset(ret, 0, sizeof(*ret));
	if (address->storage.ss_family == AF_INET) {
		ret->family = 4;
		memcpy(ret->bytes, &in->sin_addr, 4);
	} else if (address->storage.ss_family == AF_INET6) {
		ret->family = 6;
		memcpy(ret->bytes, &in6->sin6_addr, 16);
	}
}

int
topology_add_alias(struct rm_topology *topology, const struct rm_address *address,
    size_t owner, int line, const struct topology_alias **holder)
{
	struct topology_alias *alias, *found = NULL;

	alias = calloc(1, sizeof(*alias));
	if (alias == NULL)
		return -ENOMEM;
	alias->owner = owner;
	alias->line = line;
	topology_alias_key(address, &alias->key);
	HASH_FIND(hh, topology->aliases, &alias->key, sizeof(alias->key), found);
	if (found != NULL) {
		free(alias);
		*holder = found;
		return -EEXIST;
	}
	HASH_ADD(hh, topology->aliases, key, sizeof(alias->key), alias);
	if (alias->hh.tbl == NULL) { /* uthash could not grow */
		free(alias);
		return -ENOMEM;
	}
	return 0;
}

/* Makes room for one more item. */
static int
grow(void **items, size_t *allocated, size_t count, size_t item_bytes)
{
	size_t wanted = *allocated > 0 ? 2 * *allocated : 16;
	void *bigger;

	if (count < *allocated)
		return 0;
	bigger = reallocarray(*items, wanted, item_bytes);
	if (bigger == NULL)
		return -ENOMEM;
	*items = bigger;
	*allocated = wanted;
	return 0;
}

int
topology_add_switch(struct rm_topology *topology, struct rm_switch *takes)
{
	struct topology_name *name = calloc(1, sizeof(*name));

	if (name == NULL ||
	    grow((void **)&topology->switches, &topology->switches_allocated,
		topology->switch_count, sizeof(*topology->switches)) < 0) {
		free(name);
		switch_clear(takes);
		return -ENOMEM;
	}
	name->index = topology->switch_count;
	memcpy(name->name, takes->name, sizeof(name->name));
	HASH_ADD_STR(topology->names, name, name);
	if (name->hh.tbl == NULL) { /* uthash could not grow */
		free(name);
		switch_clear(takes);
		return -ENOMEM;
	}
	topology->switches[topology->switch_count++] = *takes;
	return 0;
}

int
topology_add_link(struct rm_topology *topology, const struct rm_topology_link *link)
{
	int r;

	r = grow((void **)&topology->links, &topology->links_allocated,
	    topology->link_count, sizeof(*topology->links));
	if (r == 0)
		topology->links[topology->link_count++] = *link;
	return r;
}

const char *
rm_topology_region(const struct rm_topology *topology)
{
	return topology->region;
}

size_t
rm_topology_planes(const struct rm_topology *topology)
{
	return topology->plane_count;
}

const char *
rm_topology_plane(const struct rm_topology *topology, size_t i)
{
	return topology->planes[i];
}

size_t
rm_topology_switches(const struct rm_topology *topology)
{
	return topology->switch_count;
}

const struct rm_switch *
rm_topology_switch(const struct rm_topology *topology, size_t i)
{
	return &topology->switches[i];
}

size_t
rm_topology_links(const struct rm_topology *topology)
{
	return topology->link_count;
}

const struct rm_topology_link *
rm_topology_link(const struct rm_topology *topology, size_t i)
{
	return &topology->links[i];
}

size_t
rm_topology_warnings(const struct rm_topology *topology)
{
	return topology->warning_count;
}

const char *
rm_topology_warning(const struct rm_topology *topology, size_t i)
{
	return topology->warnings[i];
}

bool
rm_topology_find(const struct rm_topology *topology, const char *name, size_t *ret)
{
	struct topology_name *found = NULL;

	HASH_FIND_STR(topology->names, name, found);
	if (found != NULL)
		*ret = found->index;
	return found != NULL;
}

bool
rm_topology_find_alias(
    const struct rm_topology *topology, const struct rm_address *address, size_t *ret)
{
	struct topology_alias *found = NULL;
	struct topology_alias_key key;

	topology_alias_key(address, &key);
	HASH_FIND(hh, topology->aliases, &key, sizeof(key), found);
	if (found != NULL)
		*ret = found->owner;
	return found != NULL;
}

const char *
rm_switch_role_str(enum rm_switch_role role)
{
	switch (role) {
	case RM_SWITCH_TOR:
		return "tor";
	case RM_SWITCH_SPINE:
		return "spine";
	case RM_SWITCH_CORE:
		return "core";
	case RM_SWITCH_OTHER:
		return "other";
	}
	return "unknown";
}

bool
rm_topology_has_links(const struct rm_topology *topology, size_t plane)
{
	for (size_t i = 0; i < topology->link_count; i++) {
		if (topology->switches[topology->links[i].a].plane == plane)
			return true;
	}
	return false;
}

size_t
rm_topology_cables(const struct rm_topology *topology, const char *host,
    struct rm_topology_cable *cables, size_t max)
{
	size_t count = 0;

	for (size_t i = 0; i < topology->switch_count; i++) {
		const struct rm_switch *sw = &topology->switches[i];

		for (size_t m = 0; m < sw->member_count; m++) {
			if (!rm_name_matches(host, sw->members[m].host))
				continue;
			if (count < max)
				cables[count] =
				    (struct rm_topology_cable){ sw->members[m].device,
					    i };
			count++;
		}
	}
	return count;
}
