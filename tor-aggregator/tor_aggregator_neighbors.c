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
tor_aggregator_neighbor(const struct tor_aggregator *aggregator, size_t at,
    const struct switch_neighbor *told)
{
	const struct read_switch *all = aggregator->read_switches;

	for (size_t i = 0; i < aggregator->read_switch_count; i++)
		if (i != at && switch_name_is_same(told->name,
				   all[i].system_name[0] != '\0' ? all[i].system_name
								 : all[i].name))
			return (struct neighbor){ NEIGHBOR_SWITCH, NULL, i };
	return all[at].rack == SIZE_MAX
		   ? (struct neighbor){ NEIGHBOR_NOT_KNOWN, NULL, 0 }
		   : find_rnic(tor_rack_roster(aggregator->racks[all[at].rack]), told);
}
