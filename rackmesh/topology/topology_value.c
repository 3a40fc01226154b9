#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "rackmesh/config/config_near.h"
#include "rackmesh/core/log.h"
#include "rackmesh/topology/topology_read.h"

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
		return rm_yaml_why(node, read->why, -EINVAL,
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
			return rm_yaml_why(key, read->why, -EINVAL,
			    "%s has no key %s; did you mean \"%s\"?", what, quoted,
			    near);
		return rm_yaml_why(key, read->why, -EINVAL,
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
		return rm_yaml_why(node != NULL ? node : map, read->why, -ENOENT,
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
		return rm_yaml_why(node, read->why, -EINVAL,
		    "%s is a list; write \"- \" before each item, or [a, b]", key);
	if (rm_yaml_count(node) > max)
		return rm_yaml_why(node, read->why, -E2BIG,
		    "%s has %zu items, the limit is %zu; split the region", key,
		    rm_yaml_count(node), max);
	*ret = node;
	return 0;
}

int
topology_name(const struct topology_read *read, const struct rm_yaml_node *node,
    char ret[RM_NAME_BYTES])
{
	char quoted[QUOTED];

	if (rm_yaml_kind(node) != RM_YAML_SCALAR)
		return rm_yaml_why(node, read->why, -EINVAL,
		    "a name is expected here, not a list or a map");
	if (!rm_name_valid(rm_yaml_text(node)))
		return rm_yaml_why(node, read->why, -EINVAL,
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
	r = rm_yaml_uint(node, 1, max, &number, read->why);
	if (r == 0)
		*ret = (uint32_t)number;
	return r;
}

/* One that a single interface may have. */
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
		return rm_yaml_why(node, read->why, -EINVAL,
		    "%s is not an address; write %s", quote(quoted, text),
		    default_port == 0  ? "10.0.0.1 or fd00::1, without a port"
		    : default_port < 0 ? "10.0.0.1:7471 or \"[fd00::1]:7471\""
				       : "10.0.0.1, 10.0.0.1:862, fd00::1 or "
					 "\"[fd00::1]:862\"");
	if (!is_unicast(&address))
		return rm_yaml_why(node, read->why, -EINVAL,
		    "%s is not the address of one interface; write a unicast address",
		    quote(quoted, text));
	*ret = address;
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
		return rm_yaml_why(node, read->why, -ENOENT,
		    "there is no switch \"%s\"; add it under switches, or correct the "
		    "name",
		    name);
	return 0;
}
