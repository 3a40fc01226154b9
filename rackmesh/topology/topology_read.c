#include "rackmesh/topology/topology_read.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/config/config.h"
#include "rackmesh/core/log.h"

#define KEY(key)            \
	{                   \
		.name = key \
	}

static const struct rm_option root_keys[] = { KEY("region"), KEY("planes"),
	KEY("switches"), KEY("links"), KEY("racks"), { 0 } };
static const struct rm_option switch_keys[] = { KEY("name"), KEY("role"), KEY("plane"),
	KEY("reflector"), KEY("aliases"), { 0 } };

static const struct rm_enum_name roles[] = {
	{ "tor", RM_SWITCH_TOR },
	{ "spine", RM_SWITCH_SPINE },
	{ "core", RM_SWITCH_CORE },
	{ "other", RM_SWITCH_OTHER },
	{ NULL, 0 },
};

static int topology_name(const struct topology_read *read,
    const struct rm_yaml_node *node, char ret[RM_NAME_BYTES]);

static int
find_plane(const struct rm_topology *topology, const char *name, size_t *ret)
{
	for (size_t i = 0; i < topology->plane_count; i++) {
		if (strcmp(topology->planes[i], name) == 0) {
			*ret = i;
			return 0;
		}
	}
	return -ENOENT;
}

static int
read_planes(struct topology_read *read, const struct rm_yaml_node *root)
{
	struct rm_topology *topology = read->topology;
	const struct rm_yaml_node *list;
	size_t count, same;
	int r;

	r = topology_list(read, root, "planes", RM_TOPOLOGY_MAX_PLANES, &list);
	if (r < 0)
		return r;
	count = list == NULL ? 0 : rm_yaml_count(list);
	topology->planes = calloc(count > 0 ? count : 1, sizeof(*topology->planes));
	if (topology->planes == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		char name[RM_NAME_BYTES];

		r = topology_name(read, rm_yaml_item(list, i), name);
		if (r < 0)
			return r;
		if (find_plane(topology, name, &same) == 0)
			return rm_yaml_error(rm_yaml_item(list, i), read->error,
			    -EEXIST, "plane \"%s\" occurs twice; remove one", name);
		memcpy(topology->planes[topology->plane_count++], name, sizeof(name));
	}
	if (count == 0) {
		strcpy(topology->planes[0], RM_TOPOLOGY_DEFAULT_PLANE);
		topology->plane_count = 1;
	}
	return 0;
}

static int
switch_plane(const struct topology_read *read, const struct rm_yaml_node *map,
    struct rm_switch *sw)
{
	const struct rm_yaml_node *node = rm_yaml_get(map, "plane");
	char name[RM_NAME_BYTES];
	int r;

	if (node == NULL && read->topology->plane_count == 1)
		return 0;
	if (node == NULL)
		return rm_yaml_error(map, read->error, -ENOENT,
		    "switch \"%s\" needs \"plane\"; there are several planes, name "
		    "that of the switch",
		    sw->name);
	r = topology_name(read, node, name);
	if (r == 0 && find_plane(read->topology, name, &sw->plane) < 0)
		r = rm_yaml_error(node, read->error, -ENOENT,
		    "plane \"%s\" is not declared; add it to planes, or correct the "
		    "name",
		    name);
	return r;
}

static int
switch_role(const struct topology_read *read, const struct rm_yaml_node *map,
    struct rm_switch *sw)
{
	const struct rm_yaml_node *node = NULL;
	int r;

	r = topology_required(
	    read, map, "a switch", "role", "tor, spine, core or other", &node);
	if (r < 0)
		return r;
	for (const struct rm_enum_name *role = roles; role->name != NULL; role++) {
		if (strcmp(role->name, rm_yaml_text(node)) == 0) {
			sw->role = (enum rm_switch_role)role->value;
			return 0;
		}
	}
	return rm_yaml_error(node, read->error, -EINVAL,
	    "role of \"%s\": expected tor, spine, core or other; a leaf that RNICs are "
	    "cabled to is a tor",
	    sw->name);
}

static int
claim(struct topology_read *read, const struct rm_yaml_node *node,
    const struct rm_address *address, size_t owner)
{
	const struct topology_alias *holder = NULL;
	int r;

	r = topology_add_alias(
	    read->topology, address, owner, rm_yaml_line(node), &holder);
	if (r != -EEXIST)
		return r;
	if (holder->owner == owner)
		return rm_yaml_error(node, read->error, r,
		    "%s occurs twice, first in line %d; remove one", rm_yaml_text(node),
		    holder->line);
	return rm_yaml_error(node, read->error, r,
	    "%s is already an address of \"%s\" (line %d); an address belongs to one "
	    "switch",
	    rm_yaml_text(node), read->topology->switches[holder->owner].name,
	    holder->line);
}

/* The reflector's address may also be listed as an alias. */
static int
switch_addresses(
    struct topology_read *read, const struct rm_yaml_node *map, struct rm_switch *sw)
{
	const struct rm_yaml_node *reflector = rm_yaml_get(map, "reflector"), *list;
	size_t owner = read->topology->switch_count;
	struct topology_alias_key own = { 0 }, key;
	int r;

	r = topology_list(read, map, "aliases", RM_TOPOLOGY_MAX_ALIASES, &list);
	if (r < 0)
		return r;
	if (reflector != NULL) {
		r = topology_address(
		    read, reflector, RM_TOPOLOGY_REFLECTOR_PORT, &sw->reflector);
		if (r == 0)
			r = claim(read, reflector, &sw->reflector, owner);
		if (r < 0)
			return r;
		sw->has_reflector = true;
		topology_alias_key(&sw->reflector, &own);
	}
	if (list == NULL)
		return 0;
	sw->aliases = calloc(rm_yaml_count(list) + 1, sizeof(*sw->aliases));
	if (sw->aliases == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < rm_yaml_count(list) && r == 0; i++) {
		struct rm_address *address = &sw->aliases[sw->alias_count];

		r = topology_address(read, rm_yaml_item(list, i), 0, address);
		if (r < 0)
			break;
		sw->alias_count++;
		topology_alias_key(address, &key);
		if (!sw->has_reflector || memcmp(&key, &own, sizeof(key)) != 0)
			r = claim(read, rm_yaml_item(list, i), address, owner);
	}
	return r;
}

static int
read_switch(struct topology_read *read, const struct rm_yaml_node *map)
{
	struct rm_switch sw = { .line = rm_yaml_line(map) };
	const struct rm_yaml_node *name = NULL;
	size_t same;
	int r;

	r = topology_map(read, map, "a switch", switch_keys);
	if (r == 0)
		r = topology_required(
		    read, map, "a switch", "name", "as RNICs name their ToR", &name);
	if (r == 0)
		r = topology_name(read, name, sw.name);
	if (r < 0)
		return r;
	if (rm_topology_find(read->topology, sw.name, &same))
		return rm_yaml_error(name, read->error, -EEXIST,
		    "switch \"%s\" occurs twice, first in line %d; remove or rename "
		    "one",
		    sw.name, read->topology->switches[same].line);
	r = switch_role(read, map, &sw);
	if (r == 0)
		r = switch_plane(read, map, &sw);
	if (r == 0)
		r = switch_addresses(read, map, &sw);
	if (r < 0) {
		free(sw.aliases);
		return r;
	}
	return topology_add_switch(read->topology, &sw);
}

static int
read_switches(struct topology_read *read, const struct rm_yaml_node *root)
{
	const struct rm_yaml_node *list;
	bool tors = false;
	int r;

	r = topology_list(read, root, "switches", RM_TOPOLOGY_MAX_SWITCHES, &list);
	for (size_t i = 0; r == 0 && list != NULL && i < rm_yaml_count(list); i++) {
		r = read_switch(read, rm_yaml_item(list, i));
		if (r == 0)
			tors |= read->topology->switches[i].role == RM_SWITCH_TOR;
	}
	if (r == 0 && !tors)
		r = rm_yaml_error(list != NULL ? list : root, read->error, -ENOENT,
		    "there is no switch of role tor, so nothing to watch; add the ToRs "
		    "under switches");
	return r;
}

static int
read_root(struct topology_read *read, const struct rm_yaml_node *root)
{
	const struct rm_yaml_node *region = NULL;
	int r;

	if (root == NULL)
		return rm_error_set(read->error, -ENOENT,
		    "%s:1:1: the topology is empty; add region and switches",
		    read->topology->file);
	r = topology_map(read, root, "the topology", root_keys);
	if (r == 0)
		r = topology_required(read, root, "the topology", "region",
		    "the controller's region", &region);
	if (r == 0)
		r = topology_name(read, region, read->topology->region);
	if (r == 0)
		r = read_planes(read, root);
	if (r == 0)
		r = read_switches(read, root);
	if (r == 0)
		r = topology_read_links(read, root);
	if (r == 0)
		r = topology_read_racks(read, root);
	if (r == 0)
		r = topology_find_warnings(read->topology);
	return r;
}

static int
read_yaml(const char *name, const struct rm_yaml *yaml, struct rm_topology **ret,
    struct rm_error *error)
{
	struct rm_error own = { 0 };
	struct topology_read read = { .error = &own };
	int r = -ENOMEM;

	read.topology = calloc(1, sizeof(*read.topology));
	if (read.topology != NULL)
		read.topology->file = strdup(name);
	if (read.topology != NULL && read.topology->file != NULL)
		r = read_root(&read, rm_yaml_root(yaml));
	free(read.joined);
	free(read.joined_line);
	free(read.rack_line);
	if (r < 0) {
		rm_topology_free(read.topology);
		return rm_error_set(
		    error, r, "%s", own.text[0] != '\0' ? own.text : "out of memory");
	}
	*ret = read.topology;
	return 0;
}

int
rm_topology_parse(const char *name, const char *text, size_t len,
    struct rm_topology **ret, struct rm_error *error)
{
	struct rm_yaml *yaml = NULL;
	int r;

	r = rm_yaml_parse(name, text, len, &yaml, error);
	if (r == 0)
		r = read_yaml(name, yaml, ret, error);
	rm_yaml_free(yaml);
	return r;
}

int
rm_topology_load(const char *path, struct rm_topology **ret, struct rm_error *error)
{
	struct rm_yaml *yaml = NULL;
	int r;

	r = rm_yaml_load(path, &yaml, error);
	if (r == 0)
		r = read_yaml(path, yaml, ret, error);
	rm_yaml_free(yaml);
	return r;
}

#define QUOTED 96

static const char *
quote(char out[QUOTED], const char *text)
{
	return rm_log_quote(out, QUOTED, text, strlen(text));
}

static bool
is_nothing(const struct rm_yaml_node *node)
{
	return node == NULL ||
	       (rm_yaml_kind(node) == RM_YAML_SCALAR && !rm_yaml_quoted(node) &&
		   rm_yaml_text(node)[0] == '\0');
}

int
topology_map(const struct topology_read *read, const struct rm_yaml_node *node,
    const char *what, const struct rm_option *keys)
{
	char near[RM_CONFIG_NAME], quoted[QUOTED];

	if (rm_yaml_kind(node) != RM_YAML_MAP)
		return rm_yaml_error(node, read->error, -EINVAL,
		    "%s is written as \"key: value\" pairs; see docs/topology.md",
		    what);
	for (size_t i = 0; i < rm_yaml_count(node); i++) {
		const struct rm_yaml_node *key = rm_yaml_key(node, i);
		const struct rm_option *known = keys;

		while (
		    known->name != NULL && strcmp(known->name, rm_yaml_text(key)) != 0)
			known++;
		if (known->name != NULL)
			continue;
		quote(quoted, rm_yaml_text(key));
		if (rm_config_near(keys, rm_yaml_text(key), near))
			return rm_yaml_error(key, read->error, -EINVAL,
			    "%s has no key %s; did you mean \"%s\"?", what, quoted,
			    near);
		return rm_yaml_error(key, read->error, -EINVAL,
		    "%s has no key %s; remove it, docs/topology.md lists all", what,
		    quoted);
	}
	return 0;
}

int
topology_required(const struct topology_read *read, const struct rm_yaml_node *map,
    const char *what, const char *key, const char *help,
    const struct rm_yaml_node **ret)
{
	const struct rm_yaml_node *node = rm_yaml_get(map, key);

	if (is_nothing(node))
		return rm_yaml_error(node != NULL ? node : map, read->error, -ENOENT,
		    "%s needs \"%s\"; add it (%s)", what, key, help);
	*ret = node;
	return 0;
}

int
topology_list(const struct topology_read *read, const struct rm_yaml_node *map,
    const char *key, size_t max, const struct rm_yaml_node **ret)
{
	const struct rm_yaml_node *node = rm_yaml_get(map, key);

	*ret = NULL;
	if (is_nothing(node))
		return 0;
	if (rm_yaml_kind(node) != RM_YAML_LIST)
		return rm_yaml_error(node, read->error, -EINVAL,
		    "%s is a list; write \"- \" before each item, or [a, b]", key);
	if (rm_yaml_count(node) > max)
		return rm_yaml_error(node, read->error, -E2BIG,
		    "%s has %zu items, the limit is %zu; split the region", key,
		    rm_yaml_count(node), max);
	*ret = node;
	return 0;
}

static int
topology_name(const struct topology_read *read, const struct rm_yaml_node *node,
    char ret[RM_NAME_BYTES])
{
	char quoted[QUOTED];

	if (rm_yaml_kind(node) != RM_YAML_SCALAR)
		return rm_yaml_error(node, read->error, -EINVAL,
		    "a name is expected here, not a list or a map");
	if (!rm_name_valid(rm_yaml_text(node)))
		return rm_yaml_error(node, read->error, -EINVAL,
		    "%s is no valid name; use 1 to 63 of A-Z a-z 0-9 . _ : -, a letter "
		    "or digit first",
		    quote(quoted, rm_yaml_text(node)));
	memset(ret, 0, RM_NAME_BYTES);
	memcpy(ret, rm_yaml_text(node), strlen(rm_yaml_text(node)));
	return 0;
}

int
topology_uint(const struct topology_read *read, const struct rm_yaml_node *map,
    const char *key, uint64_t max, uint32_t *ret)
{
	const struct rm_yaml_node *node = rm_yaml_get(map, key);
	uint64_t number;
	int r;

	if (node == NULL)
		return 0;
	r = rm_yaml_uint(node, 1, max, &number, read->error);
	if (r == 0)
		*ret = (uint32_t)number;
	return r;
}

/* An address that a single interface may have. */
static bool
is_unicast(const struct rm_address *address)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)&address->storage;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address->storage;
	uint32_t v4;

	if (address->storage.ss_family == AF_INET6)
		return !IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr) &&
		       !IN6_IS_ADDR_MULTICAST(&in6->sin6_addr);
	v4 = ntohl(in->sin_addr.s_addr);
	return v4 != INADDR_ANY && v4 < UINT32_C(0xe0000000);
}

static bool
has_port(const char *text)
{
	const char *colon = strrchr(text, ':');

	if (text[0] == '[')
		return strstr(text, "]:") != NULL;
	return colon != NULL && strchr(text, ':') == colon;
}

static uint16_t
port_of(const struct rm_address *address)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)&address->storage;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address->storage;

	return ntohs(
	    address->storage.ss_family == AF_INET ? in->sin_port : in6->sin6_port);
}

int
topology_address(const struct topology_read *read, const struct rm_yaml_node *node,
    int default_port, struct rm_address *ret)
{
	const char *text = rm_yaml_text(node);
	struct rm_address address;
	char quoted[QUOTED];

	if (rm_yaml_kind(node) != RM_YAML_SCALAR ||
	    rm_address_parse(text, default_port, &address) < 0 ||
	    address.storage.ss_family == AF_UNIX ||
	    (default_port == 0 && has_port(text)) ||
	    (default_port != 0 && port_of(&address) == 0))
		return rm_yaml_error(node, read->error, -EINVAL,
		    "%s is not an address; write %s", quote(quoted, text),
		    default_port == 0  ? "10.0.0.1 or fd00::1, without a port"
		    : default_port < 0 ? "name:7471, 10.0.0.1:7471 or "
					 "\"[fd00::1]:7471\""
				       : "10.0.0.1, 10.0.0.1:862, fd00::1 or "
					 "\"[fd00::1]:862\"");
	if (!is_unicast(&address))
		return rm_yaml_error(node, read->error, -EINVAL,
		    "%s is not the address of one interface; write a unicast address",
		    quote(quoted, text));
	*ret = address;
	return 0;
}

int
topology_endpoint(const struct topology_read *read, const struct rm_yaml_node *node,
    struct rm_endpoint *ret)
{
	struct rm_endpoint endpoint;

	if (rm_yaml_kind(node) == RM_YAML_SCALAR &&
	    rm_endpoint_parse(rm_yaml_text(node), &endpoint) == 0 &&
	    endpoint.name[0] != '\0') {
		*ret = endpoint;
		return 0;
	}
	endpoint = (struct rm_endpoint){ .port = 0 };
	if (topology_address(read, node, -1, &endpoint.address) < 0)
		return -EINVAL;
	*ret = endpoint;
	return 0;
}

int
topology_switch_named(
    const struct topology_read *read, const struct rm_yaml_node *node, size_t *ret)
{
	char name[RM_NAME_BYTES];
	int r;

	r = topology_name(read, node, name);
	if (r < 0)
		return r;
	if (!rm_topology_find(read->topology, name, ret))
		return rm_yaml_error(node, read->error, -ENOENT,
		    "there is no switch \"%s\"; add it under switches, or correct the "
		    "name",
		    name);
	return 0;
}
