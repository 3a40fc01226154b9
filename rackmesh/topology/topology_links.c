/* Reads the sections links and racks. The switches that they name were read before. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/topology/topology_read.h"

#define KEY(key)            \
	{                   \
		.name = key \
	}

static const struct rm_option link_keys[] = { KEY("a"), KEY("b"), KEY("count"),
	KEY("speed_gbps"), { 0 } };
static const struct rm_option rack_keys[] = { KEY("tor"), KEY("aggregators"),
	KEY("members"), KEY("hosts"), KEY("rnics"), { 0 } };

/* Mixes all bits of both indexes into the low ones. */
static size_t
slot_of(const struct topology_read *read, uint64_t key)
{
	key *= UINT64_C(0x9e3779b97f4a7c15);
	return (key >> 32) & (read->joined_slots - 1);
}

static size_t
joined_find(const struct topology_read *read, uint64_t key)
{
	size_t slot = slot_of(read, key);

	while (read->joined[slot] != 0 && read->joined[slot] != key)
		slot = (slot + 1) & (read->joined_slots - 1);
	return slot;
}

/* Grows the set when it is half full. */
static int
joined_grow(struct topology_read *read)
{
	struct topology_read bigger = *read;

	if (2 * (read->topology->link_count + 1) <= read->joined_slots)
		return 0;
	bigger.joined_slots = read->joined_slots > 0 ? 4 * read->joined_slots : 256;
	bigger.joined = calloc(bigger.joined_slots, sizeof(*bigger.joined));
	bigger.joined_line = calloc(bigger.joined_slots, sizeof(*bigger.joined_line));
	if (bigger.joined == NULL || bigger.joined_line == NULL) {
		free(bigger.joined);
		free(bigger.joined_line);
		return -ENOMEM;
	}
	for (size_t i = 0; i < read->joined_slots; i++) {
		size_t slot;

		if (read->joined[i] == 0)
			continue;
		slot = joined_find(&bigger, read->joined[i]);
		bigger.joined[slot] = read->joined[i];
		bigger.joined_line[slot] = read->joined_line[i];
	}
	free(read->joined);
	free(read->joined_line);
	*read = bigger;
	return 0;
}

static int
add_link(struct topology_read *read, const struct rm_yaml_node *node,
    const struct rm_topology_link *link)
{
	const struct rm_switch *a = &read->topology->switches[link->a];
	const struct rm_switch *b = &read->topology->switches[link->b];
	size_t low = link->a < link->b ? link->a : link->b;
	size_t high = link->a < link->b ? link->b : link->a;
	/* Never 0, because the higher of two different indexes is not 0. */
	uint64_t key = (uint64_t)low << 32 | high;
	size_t slot;
	int r;

	if (link->a == link->b)
		return rm_yaml_error(node, read->error, -EINVAL,
		    "a link from \"%s\" to itself; name two switches", a->name);
	if (a->plane != b->plane)
		return rm_yaml_error(node, read->error, -EINVAL,
		    "a link from \"%s\" (plane \"%s\") to \"%s\" (plane \"%s\"); "
		    "planes "
		    "have no route between them: correct a plane, or join the two",
		    a->name, read->topology->planes[a->plane], b->name,
		    read->topology->planes[b->plane]);
	r = joined_grow(read);
	if (r < 0)
		return r;
	slot = joined_find(read, key);
	if (read->joined[slot] != 0)
		return rm_yaml_error(node, read->error, -EEXIST,
		    "the link from \"%s\" to \"%s\" occurs twice, first in line %d; "
		    "write one, with count for parallel cables",
		    a->name, b->name, read->joined_line[slot]);
	if (read->topology->link_count >= RM_TOPOLOGY_MAX_LINKS)
		return rm_yaml_error(node, read->error, -E2BIG,
		    "more than %d links; split the region", RM_TOPOLOGY_MAX_LINKS);
	read->joined[slot] = key;
	read->joined_line[slot] = link->line;
	return topology_add_link(read->topology, link);
}

/* Returns the number of switches at one end of a link in the file: one, or the length
 * of a list. */
static size_t
end_count(const struct rm_yaml_node *end)
{
	return rm_yaml_kind(end) == RM_YAML_LIST ? rm_yaml_count(end) : 1;
}

static const struct rm_yaml_node *
end_item(const struct rm_yaml_node *end, size_t i)
{
	return rm_yaml_kind(end) == RM_YAML_LIST ? rm_yaml_item(end, i) : end;
}

static int
add_links(struct topology_read *read, const struct rm_yaml_node *a,
    const struct rm_yaml_node *b, struct rm_topology_link link)
{
	int r = 0;

	if (end_count(a) == 0 || end_count(b) == 0)
		return rm_yaml_error(end_count(a) == 0 ? a : b, read->error, -ENOENT,
		    "an empty list of switches; name at least one");
	for (size_t i = 0; i < end_count(a) && r == 0; i++) {
		r = topology_switch_named(read, end_item(a, i), &link.a);
		for (size_t k = 0; k < end_count(b) && r == 0; k++) {
			const struct rm_yaml_node *node = end_item(b, k);

			r = topology_switch_named(read, node, &link.b);
			if (r == 0)
				r = add_link(read, node, &link);
		}
	}
	return r;
}

static int
read_link(struct topology_read *read, const struct rm_yaml_node *node)
{
	struct rm_topology_link link = { .count = 1, .line = rm_yaml_line(node) };
	const struct rm_yaml_node *a = NULL, *b = NULL;
	int r;

	if (rm_yaml_kind(node) == RM_YAML_LIST) {
		if (rm_yaml_count(node) != 2)
			return rm_yaml_error(node, read->error, -EINVAL,
			    "a link has two ends; write [tor1, spine1]");
		return add_links(
		    read, rm_yaml_item(node, 0), rm_yaml_item(node, 1), link);
	}
	r = topology_map(read, node, "a link", link_keys);
	if (r == 0)
		r = topology_required(read, node, "a link", "a", "a switch", &a);
	if (r == 0)
		r = topology_required(
		    read, node, "a link", "b", "the switch at its other end", &b);
	if (r == 0)
		r = topology_uint(
		    read, node, "count", RM_TOPOLOGY_MAX_COUNT, &link.count);
	if (r == 0)
		r = topology_uint(read, node, "speed_gbps", 100000, &link.speed_gbps);
	return r < 0 ? r : add_links(read, a, b, link);
}

int
topology_read_links(struct topology_read *read, const struct rm_yaml_node *root)
{
	const struct rm_yaml_node *list;
	int r;

	r = topology_list(read, root, "links", RM_TOPOLOGY_MAX_LINKS, &list);
	for (size_t i = 0; r == 0 && list != NULL && i < rm_yaml_count(list); i++)
		r = read_link(read, rm_yaml_item(list, i));
	return r;
}

static int
rack_aggregators(const struct topology_read *read, const struct rm_yaml_node *map,
    struct rm_switch *tor)
{
	const struct rm_yaml_node *list;
	int r;

	r = topology_list(read, map, "aggregators", RM_TOPOLOGY_MAX_AGGREGATORS, &list);
	if (r < 0 || list == NULL)
		return r;
	tor->aggregators = calloc(rm_yaml_count(list) + 1, sizeof(*tor->aggregators));
	if (tor->aggregators == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < rm_yaml_count(list) && r == 0; i++) {
		const struct rm_yaml_node *node = rm_yaml_item(list, i);
		struct rm_endpoint *endpoint = &tor->aggregators[i];

		r = topology_endpoint(read, node, endpoint);
		for (size_t k = 0; k < i && r == 0; k++) {
			if (rm_endpoint_equal(&tor->aggregators[k], endpoint))
				r = rm_yaml_error(node, read->error, -EEXIST,
				    "aggregator %s occurs twice; remove one",
				    rm_yaml_text(node));
		}
		tor->aggregator_count += r == 0;
	}
	return r;
}

/* The text is "HOST" or "HOST/DEVICE"; both names may be patterns. */
static int
rack_member(const struct topology_read *read, const struct rm_yaml_node *node,
    struct rm_topology_member *member)
{
	const char *text =
	    rm_yaml_kind(node) == RM_YAML_SCALAR ? rm_yaml_text(node) : "";
	const char *slash = strchr(text, '/');
	size_t len = slash == NULL ? strlen(text) : (size_t)(slash - text);

	if (len < sizeof(member->host) &&
	    (slash == NULL || strlen(slash + 1) < sizeof(member->device))) {
		memcpy(member->host, text, len);
		member->host[len] = '\0';
		strcpy(member->device, slash == NULL ? "" : slash + 1);
		if (rm_name_pattern_valid(member->host) &&
		    (slash == NULL || rm_name_pattern_valid(member->device)))
			return 0;
	}
	return rm_yaml_error(node, read->error, -EINVAL,
	    "a member is a host or host/device, by name or by a pattern with * ? "
	    "[a-c]");
}

static int
rack_members(const struct topology_read *read, const struct rm_yaml_node *map,
    struct rm_switch *tor)
{
	const struct rm_yaml_node *list;
	int r;

	r = topology_list(read, map, "members", RM_TOPOLOGY_MAX_RACK_RNICS, &list);
	if (r < 0 || list == NULL)
		return r;
	read->topology->member_count += rm_yaml_count(list);
	if (read->topology->member_count > RM_TOPOLOGY_MAX_MEMBERS)
		return rm_yaml_error(list, read->error, -E2BIG,
		    "more than %d members in all racks; use patterns, or split the "
		    "region",
		    RM_TOPOLOGY_MAX_MEMBERS);
	tor->members = calloc(rm_yaml_count(list) + 1, sizeof(*tor->members));
	if (tor->members == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < rm_yaml_count(list) && r == 0; i++) {
		r = rack_member(read, rm_yaml_item(list, i), &tor->members[i]);
		tor->member_count += r == 0;
	}
	return r;
}

static int
read_rack(struct topology_read *read, const struct rm_yaml_node *map)
{
	const struct rm_yaml_node *name = NULL;
	struct rm_switch *tor;
	size_t index = 0;
	int r;

	r = topology_map(read, map, "a rack", rack_keys);
	if (r == 0)
		r = topology_required(
		    read, map, "a rack", "tor", "the switch its RNICs end in", &name);
	if (r == 0)
		r = topology_switch_named(read, name, &index);
	if (r < 0)
		return r;
	tor = &read->topology->switches[index];
	if (tor->role != RM_SWITCH_TOR)
		return rm_yaml_error(name, read->error, -EINVAL,
		    "\"%s\" is a %s, and racks are below ToRs; name a tor, or correct "
		    "its role (line %d)",
		    tor->name, rm_switch_role_str(tor->role), tor->line);
	if (read->rack_line[index] != 0)
		return rm_yaml_error(name, read->error, -EEXIST,
		    "the rack of \"%s\" occurs twice, first in line %d; remove one",
		    tor->name, read->rack_line[index]);
	read->rack_line[index] = rm_yaml_line(map);
	r = topology_uint(
	    read, map, "hosts", RM_TOPOLOGY_MAX_RACK_RNICS, &tor->expected_hosts);
	if (r == 0)
		r = topology_uint(read, map, "rnics", RM_TOPOLOGY_MAX_RACK_RNICS,
		    &tor->expected_rnics);
	if (r == 0)
		r = rack_members(read, map, tor);
	return r < 0 ? r : rack_aggregators(read, map, tor);
}

int
topology_read_racks(struct topology_read *read, const struct rm_yaml_node *root)
{
	const struct rm_yaml_node *list;
	int r;

	read->rack_line =
	    calloc(read->topology->switch_count, sizeof(*read->rack_line));
	if (read->rack_line == NULL)
		return -ENOMEM;
	r = topology_list(read, root, "racks", RM_TOPOLOGY_MAX_SWITCHES, &list);
	for (size_t i = 0; r == 0 && list != NULL && i < rm_yaml_count(list); i++)
		r = read_rack(read, rm_yaml_item(list, i));
	return r;
}
