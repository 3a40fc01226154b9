#include "tor-aggregator/tor_aggregator_neighbors.h"

#include <stdbool.h>
#include <stdint.h>

#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/switch/switch_neighbor.h"
#include "tor-aggregator/tor_aggregator_state.h"
#include "tor-aggregator/window/roster.h"

const char *
neighbor_kind_str(enum neighbor_kind kind)
{
	static const char *const names[] = { "not-known", "rnic", "host", "switch" };

	return names[kind];
}

static struct neighbor
find_rnic(const struct roster *roster, const struct switch_neighbor *told)
{
	struct neighbor found = { NEIGHBOR_NOT_KNOWN, NULL, 0 };
	bool by_device = false;
	uint64_t mac;
	const bool has_mac = switch_neighbor_mac(told, &mac);

	for (size_t i = 0; i < roster_members(roster); i++) {
		const struct roster_rnic *rnic = roster_member(roster, i);

		if (has_mac && switch_mac_is_of_guid(mac, rnic->id.guid))
			return (struct neighbor){ NEIGHBOR_RNIC, rnic, 0 };
		if (by_device || !switch_name_is_same(told->name, rnic->host))
			continue;
		by_device = switch_neighbor_is_at(told, rnic->device);
		found =
		    (struct neighbor){ by_device || found.rnic == NULL ? NEIGHBOR_RNIC
								       : NEIGHBOR_HOST,
			    rnic, 0 };
	}
	return found;
}

struct neighbor
tor_aggregator_neighbor(const struct tor_aggregator *aggregator, size_t rack,
    const struct switch_neighbor *told)
{
	for (size_t i = 0; i < aggregator->rack_count; i++)
		if (i != rack && switch_name_is_same(told->name, aggregator->tors[i]))
			return (struct neighbor){ NEIGHBOR_SWITCH, NULL, i };
	return find_rnic(tor_rack_roster(aggregator->racks[rack]), told);
}
