#include "tor-aggregator/tor_aggregator_neighbors.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "schemas/wire.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/switch/switch_collector.h"
#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/switch/switch_neighbor.h"
#include "tor-aggregator/tor_aggregator_state.h"
#include "tor-aggregator/window/roster.h"

const char *
neighbor_kind_str(enum neighbor_kind kind)
{
	static const char *const names[] = { "not-known", "rnic", "host", "switch",
		"left-out" };

	return names[kind];
}

enum match { MATCH_NONE, MATCH_HOST, MATCH_DEVICE, MATCH_MAC };

/* The network devices of the bond, if the RNIC is one; else "". */
static const char *
bond_ports_of(const struct agents *agents, const struct roster_rnic *rnic)
{
	const struct agent *agent =
	    agents == NULL ? NULL : agents_find(agents, rnic->host);

	for (size_t i = 0; agent != NULL && i < agent->rnic_count; i++)
		if (agent->rnics[i].id.guid == rnic->id.guid &&
		    agent->rnics[i].id.port == rnic->id.port)
			return agent->rnics[i].bond_ports;
	return "";
}

static unsigned
cables_of(const struct agents *agents, const struct roster_rnic *rnic)
{
	unsigned count = 1;

	for (const char *c = bond_ports_of(agents, rnic); *c != '\0'; c++)
		count += *c == ' ';
	return count;
}

/* The number of the bond's port that the neighbour is, from 1; 0: none of them. */
static unsigned
bond_port_at(const struct agents *agents, const struct switch_neighbor *neighbor,
    const struct roster_rnic *rnic)
{
	char ports[WIRE_BOND_PORTS_BYTES], *rest = ports, *name;
	unsigned number = 0;

	if (!switch_name_is_same(neighbor->name, rnic->host))
		return 0;
	snprintf(ports, sizeof(ports), "%s", bond_ports_of(agents, rnic));
	while ((name = strsep(&rest, " ")) != NULL) {
		number++;
		if (name[0] != '\0' && switch_neighbor_is_at(neighbor, name))
			return number;
	}
	return 0;
}

static enum match
match_of(const struct agents *agents, const struct switch_neighbor *neighbor,
    const struct roster_rnic *rnic)
{
	uint64_t mac;

	if (switch_neighbor_mac(neighbor, &mac) &&
	    switch_mac_is_of_guid(mac, rnic->id.guid))
		return MATCH_MAC;
	if (!switch_name_is_same(neighbor->name, rnic->host))
		return MATCH_NONE;
	return switch_neighbor_is_at(neighbor, rnic->device) ||
		       bond_port_at(agents, neighbor, rnic) != 0
		   ? MATCH_DEVICE
		   : MATCH_HOST;
}

/* True: the neighbour's port id is a MAC or the name of an interface, not only a
 * number. */
static bool
reports_port(const struct switch_neighbor *neighbor)
{
	uint64_t mac;

	return switch_neighbor_mac(neighbor, &mac) ||
	       neighbor->port[strspn(neighbor->port, "0123456789")] != '\0';
}

struct search {
	const struct agents *agents;
	const struct switch_neighbor *neighbor;
	enum match match;               /* the best so far */
	const struct roster_rnic *rnic; /* the RNIC with that match */
	/* the complete host names are equal, with the domain if there is one */
	bool whole_name;
	bool many_hosts, many_rnics; /* further hosts, or RNICs, match equally well */
};

/* True: both are the same RNIC; two plans may name it. */
static bool
is_same(const struct roster_rnic *a, const struct roster_rnic *b)
{
	return a->id.guid == b->id.guid && a->id.port == b->id.port;
}

/* Compares one RNIC with the neighbour. True: the MAC is equal, so no more are
 * searched. */
static bool
look_at(struct search *search, const struct roster_rnic *rnic)
{
	const enum match match = match_of(search->agents, search->neighbor, rnic);
	const bool whole = strcasecmp(search->neighbor->name, rnic->host) == 0;

	if (match == MATCH_NONE)
		return false;
	if (match == MATCH_MAC || search->rnic == NULL ||
	    (whole && !search->whole_name)) {
		*search = (struct search){ .agents = search->agents,
			.neighbor = search->neighbor,
			.match = match,
			.rnic = rnic,
			.whole_name = whole };
		return match == MATCH_MAC;
	}
	if ((search->whole_name && !whole) || is_same(search->rnic, rnic))
		return false;
	if (strcasecmp(search->rnic->host, rnic->host) != 0)
		search->many_hosts = true;
	search->many_rnics = true;
	if (match > search->match) {
		search->match = match;
		search->rnic = rnic;
	}
	return false;
}

/* True: both neighbours are ports of the same bond, which has several cables. */
static bool
is_other_cable(const struct search *search, const struct switch_neighbor *other)
{
	const unsigned own =
			   bond_port_at(search->agents, search->neighbor, search->rnic),
		       others = bond_port_at(search->agents, other, search->rnic);

	return own != 0 && others != 0 && own != others;
}

/* True: the neighbour of another port of the switch names the same RNIC. */
static bool
is_claimed(const struct read_switch *one, const struct search *search)
{
	const struct switch_list *list = switch_collector_shown(one->collector).list;

	for (size_t i = 0; i < switch_list_count(list); i++) {
		const struct switch_neighbor *other = switch_list_neighbor(list, i);
		const enum match match =
		    other == NULL || other == search->neighbor ||
			    is_other_cable(search, other)
			? MATCH_NONE
			: match_of(search->agents, other, search->rnic);

		if (match > MATCH_HOST ||
		    (match == MATCH_HOST && match == search->match &&
			!reports_port(other)))
			return true;
	}
	return false;
}

static struct neighbor
result_of(const struct read_switch *one, const struct search *search)
{
	const bool may_be_rnic =
	    search->match > MATCH_HOST ||
	    (!search->many_rnics && !reports_port(search->neighbor));

	if (search->rnic == NULL || search->many_hosts)
		return (struct neighbor){ NEIGHBOR_NOT_KNOWN, NULL, 0, 0 };
	return (struct neighbor){
		may_be_rnic && !is_claimed(one, search) ? NEIGHBOR_RNIC : NEIGHBOR_HOST,
		search->rnic, 0, cables_of(search->agents, search->rnic)
	};
}

static struct neighbor
find_member(const struct read_switch *one, const struct roster *roster,
    const struct agents *agents, const struct switch_neighbor *lldp)
{
	struct search search = { .agents = agents, .neighbor = lldp };

	for (size_t i = 0; i < roster_members(roster); i++)
		if (look_at(&search, roster_member(roster, i)))
			break;
	return result_of(one, &search);
}

static void
gather(const struct tor_aggregator *aggregator, size_t at,
    struct neighbors_elsewhere *elsewhere)
{
	const char *tor = aggregator->read_switches[at].name;

	elsewhere->at = at;
	elsewhere->gathered = true;
	elsewhere->cut = false;
	elsewhere->count = 0;
	for (size_t r = 0; r < aggregator->rack_count; r++) {
		const struct roster *roster = tor_rack_roster(aggregator->racks[r]);

		for (size_t i = 0; i < roster_remotes(roster); i++) {
			const struct roster_rnic *rnic = roster_remote(roster, i);

			if (elsewhere->budget == 0 ||
			    elsewhere->count == NEIGHBORS_BEHIND) {
				elsewhere->cut = true;
				return;
			}
			elsewhere->budget--;
			if (strcmp(rnic->tor, tor) == 0)
				elsewhere->rnics[elsewhere->count++] = rnic;
		}
	}
}

static struct neighbor
find_elsewhere(const struct tor_aggregator *aggregator, size_t at,
    const struct switch_neighbor *lldp, struct neighbors_elsewhere *elsewhere)
{
	struct search search = { .agents = aggregator->agents, .neighbor = lldp };
	bool all;
	size_t i;

	if (!elsewhere->gathered || elsewhere->at != at)
		gather(aggregator, at, elsewhere);
	for (i = 0; i < elsewhere->count && elsewhere->budget > 0; i++) {
		elsewhere->budget--;
		if (look_at(&search, elsewhere->rnics[i]))
			break;
	}
	all = i == elsewhere->count && !elsewhere->cut;
	if (search.rnic == NULL && !all)
		return (struct neighbor){ NEIGHBOR_LEFT_OUT, NULL, 0, 0 };
	return result_of(&aggregator->read_switches[at], &search);
}

/* True: the name is that of a switch. If several switches have this name without their
 * domains, it is false. */
static bool
find_switch(const struct tor_aggregator *aggregator, size_t at, const char *name,
    struct neighbor *ret)
{
	bool any = false, whole = false;

	*ret = (struct neighbor){ NEIGHBOR_NOT_KNOWN, NULL, 0, 0 };
	for (size_t i = 0; i < aggregator->read_switch_count && !whole; i++) {
		const struct read_switch *one = &aggregator->read_switches[i];
		const char *own =
		    one->system_name[0] != '\0' ? one->system_name : one->name;

		if (i == at || !switch_name_is_same(name, own))
			continue;
		whole = strcasecmp(name, own) == 0;
		*ret = any && !whole
			   ? (struct neighbor){ NEIGHBOR_NOT_KNOWN, NULL, 0, 0 }
			   : (struct neighbor){ NEIGHBOR_SWITCH, NULL, i, 0 };
		any = true;
	}
	return any;
}

struct neighbor
tor_aggregator_neighbor(const struct tor_aggregator *aggregator, size_t at,
    const struct switch_neighbor *lldp, struct neighbors_elsewhere *elsewhere)
{
	const struct read_switch *one = &aggregator->read_switches[at];
	struct neighbor found;

	if (find_switch(aggregator, at, lldp->name, &found))
		return found;
	if (one->rack != SIZE_MAX)
		return find_member(one, tor_rack_roster(aggregator->racks[one->rack]),
		    aggregator->agents, lldp);
	if (one->role == SWITCH_ROLE_TOR && elsewhere != NULL)
		return find_elsewhere(aggregator, at, lldp, elsewhere);
	return (struct neighbor){ NEIGHBOR_NOT_KNOWN, NULL, 0, 0 };
}
