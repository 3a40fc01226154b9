#include "tor-aggregator/tor_aggregator_neighbors.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

struct search {
	const struct switch_neighbor *told;
	bool has_mac, by_device;
	uint64_t mac;
	struct neighbor found;
};

static struct search
search_for(const struct switch_neighbor *told)
{
	struct search search = { .told = told };

	search.has_mac = switch_neighbor_mac(told, &search.mac);
	return search;
}

/* True: that is the one. */
static bool
look_at(struct search *search, const struct roster_rnic *rnic)
{
	struct neighbor *found = &search->found;

	if (search->has_mac && switch_mac_is_of_guid(search->mac, rnic->id.guid)) {
		*found = (struct neighbor){ NEIGHBOR_RNIC, rnic, 0 };
		return true;
	}
	if (search->by_device || !switch_name_is_same(search->told->name, rnic->host) ||
	    rnic == found->rnic)
		return false;
	search->by_device = switch_neighbor_is_at(search->told, rnic->device);
	*found =
	    (struct neighbor){ search->by_device || found->rnic == NULL ? NEIGHBOR_RNIC
									: NEIGHBOR_HOST,
		    rnic, 0 };
	return search->by_device && !search->has_mac;
}

static struct neighbor
find_member(const struct roster *roster, const struct switch_neighbor *told)
{
	struct search search = search_for(told);

	for (size_t i = 0; i < roster_members(roster); i++)
		if (look_at(&search, roster_member(roster, i)))
			break;
	return search.found;
}

/* Each roster has its own of them: the first one that knows it says it. */
static struct neighbor
find_elsewhere(const struct tor_aggregator *aggregator, const char *tor,
    const struct switch_neighbor *told, size_t *budget)
{
	struct search search = search_for(told);

	for (size_t r = 0; r < aggregator->rack_count && search.found.rnic == NULL;
	     r++) {
		const struct roster *roster = tor_rack_roster(aggregator->racks[r]);

		for (size_t i = 0; i < roster_foreigners(roster) && *budget > 0; i++) {
			const struct roster_rnic *rnic = roster_foreigner(roster, i);

			--*budget;
			if (strcmp(rnic->tor, tor) == 0 && look_at(&search, rnic))
				break;
		}
	}
	return search.found;
}

struct neighbor
tor_aggregator_neighbor(const struct tor_aggregator *aggregator, size_t at,
    const struct switch_neighbor *told, size_t *budget)
{
	const struct read_switch *all = aggregator->read_switches, *one = &all[at];

	for (size_t i = 0; i < aggregator->read_switch_count; i++)
		if (i != at && switch_name_is_same(told->name,
				   all[i].system_name[0] != '\0' ? all[i].system_name
								 : all[i].name))
			return (struct neighbor){ NEIGHBOR_SWITCH, NULL, i };
	if (one->rack != SIZE_MAX)
		return find_member(tor_rack_roster(aggregator->racks[one->rack]), told);
	if (one->role == SWITCH_ROLE_TOR)
		return find_elsewhere(aggregator, one->name, told, budget);
	return (struct neighbor){ NEIGHBOR_NOT_KNOWN, NULL, 0 };
}
