/* Names for what a trace may find on the way. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "region-controller/plan/plan_set.h"

struct wire_address
plan_wire_address(const struct rm_address *address)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)&address->storage;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address->storage;
	struct wire_address ret = { 0 };

	if (address->storage.ss_family == AF_INET) {
		ret.family = 4;
		ret.port = ntohs(in->sin_port);
		memcpy(ret.bytes, &in->sin_addr, 4);
	} else {
		ret.family = 6;
		ret.port = ntohs(in6->sin6_port);
		memcpy(ret.bytes, &in6->sin6_addr, 16);
	}
	return ret;
}

/* By switch: may a path of this rack cross it? malloc'd; NULL: out of memory. */
static bool *
find_crossed(const struct plan_set *set, const struct plan_rack *rack)
{
	size_t switches = rm_topology_switches(set->topology);
	bool *crossed = calloc(switches, sizeof(*crossed));

	if (crossed == NULL)
		return NULL;
	for (size_t i = 0; i < switches; i++) {
		const struct rm_switch *sw = rm_topology_switch(set->topology, i);

		crossed[i] = sw->role != RM_SWITCH_TOR && sw->plane == rack->plane;
	}
	crossed[rack->tor] = true;
	for (size_t i = 0; i < rack->foreigner_count; i++) {
		const struct plan_node *node = &set->nodes[rack->foreigners[i]];

		for (size_t k = 0; k < node->rack_count; k++)
			crossed[set->racks[node->racks[k]].tor] = true;
	}
	return crossed;
}

static size_t
count_aliases(const struct plan_set *set, const bool *crossed)
{
	size_t count = 0;

	for (size_t i = 0; i < rm_topology_switches(set->topology); i++) {
		if (crossed[i])
			count += rm_topology_switch(set->topology, i)->alias_count;
	}
	return count < WIRE_MAX_ALIASES ? count : WIRE_MAX_ALIASES;
}

int
plan_aliases(const struct plan_set *set, const struct plan_rack *rack,
    struct wire_alias **ret, size_t *count)
{
	bool *crossed = find_crossed(set, rack);
	struct wire_alias *aliases = NULL;
	size_t room = 0, done = 0;

	if (crossed != NULL) {
		room = count_aliases(set, crossed);
		aliases = calloc(room + 1, sizeof(*aliases));
	}
	if (aliases == NULL) {
		free(crossed);
		return -ENOMEM;
	}
	for (size_t i = 0; i < rm_topology_switches(set->topology); i++) {
		const struct rm_switch *sw = rm_topology_switch(set->topology, i);

		for (size_t k = 0; crossed[i] && k < sw->alias_count; k++) {
			if (done == room)
				break;
			aliases[done].switch_name = sw->name;
			aliases[done++].address = plan_wire_address(&sw->aliases[k]);
		}
	}
	free(crossed);
	*ret = aliases;
	*count = done;
	return 0;
}
