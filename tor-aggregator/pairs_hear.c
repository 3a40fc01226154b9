/* What the other aggregators tell. */
#include <string.h>

#include "rackmesh/core/log.h"
#include "rackmesh/incident/incident.h"
#include "tor-aggregator/aggregator_config.h"
#include "tor-aggregator/pairs_state.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/standby/peer_incident.h"
#include "tor-aggregator/tor_aggregator_incidents.h"
#include "tor-aggregator/tor_aggregator_state.h"

static size_t
tor_of(const struct pairs *pairs, size_t other, const char *name)
{
	for (size_t i = 0; i < pairs->aggregator->rack_count; i++)
		if (pairs->pairs[i].other == other &&
		    strcmp(pairs->aggregator->tors[i], name) == 0)
			return i;
	return PAIRS_NOBODY;
}

void
pairs_on_session(size_t other, void *arg)
{
	struct pairs *pairs = arg;

	for (size_t i = 0; i < pairs->aggregator->rack_count; i++) {
		if (!pairs_share(pairs, i, other))
			continue;
		pairs->pairs[i].synced = pairs->pairs[i].met = false;
		tor_rack_doubt(pairs->aggregator->racks[i]);
		if (!pairs->pairs[i].peer.primary)
			pairs_tell_all(pairs, i);
		/* It may have turned to speak by a word that came over the link before.
		 */
		pairs_tell_owed(pairs, i);
	}
	pairs_tell_standing(pairs, other, rm_mono_now());
}

/* Its first word, after all that it has told of if it speaks. A primary that goes on
 * tells of what it has open; one that steps back has been told. */
static void
meet(struct pairs *pairs, size_t tor)
{
	struct tor_aggregator *aggregator = pairs->aggregator;
	struct pair *pair = &pairs->pairs[tor];

	pair->met = true;
	if (!pair->peer.primary)
		return;
	if (pair->peer.speaks) {
		pairs_tell_all(pairs, tor);
	} else if (tor_rack_speaks(aggregator->racks[tor])) {
		rm_log_warn(0, "%s: %s has spoken for it meanwhile",
		    aggregator->tors[tor], pairs->names[pair->other]);
		tor_aggregator_hush(aggregator, tor);
		pairs_tell_owed(pairs, tor);
	}
}

/* While it does not speak, what it has told of is perhaps not all. */
static void
synchronise(struct pairs *pairs, size_t tor, bool other_speaks, rm_mono_t now)
{
	struct tor_rack *rack = pairs->aggregator->racks[tor];
	struct pair *pair = &pairs->pairs[tor];
	size_t ended;

	if (!other_speaks) {
		if (pair->synced)
			tor_rack_doubt(rack);
		pair->synced = false;
		return;
	}
	if (pair->synced || tor_rack_speaks(rack))
		return;
	pair->synced = true;
	ended = tor_rack_end_rest(rack, rm_wall_now(), now);
	if (ended > 0)
		pairs->aggregator->incidents_changed[tor] = true;
}

/* Both are told to speak, or neither is: the one whose name comes first does, until a
 * person mends it. */
static void
take_role(struct pairs *pairs, size_t tor, bool their_primary)
{
	const struct aggregator_config *config = pairs->aggregator->config;
	const struct aggregator_tor_config *tors = config->tors.items;
	struct pair *pair = &pairs->pairs[tor];
	const char *other = pairs->names[pair->other];
	const bool ours = tors[tor].speaks, quarrel = their_primary == ours;
	const bool first = strcmp(config->name, other) < 0;

	peer_become(&pair->peer, quarrel ? first : ours);
	if (quarrel && !pair->quarrel)
		rm_log_error(0,
		    "%s: speaks is %s at %s and at %s; %s is the primary now: set it to"
		    " true at one of them and to false at the other",
		    tors[tor].name, ours ? "true" : "false", config->name, other,
		    first ? config->name : other);
	else if (!quarrel && pair->quarrel)
		rm_log_info("%s: %s and %s agree on who speaks", tors[tor].name,
		    config->name, other);
	pair->quarrel = quarrel;
}

static void
take_roles(struct pairs *pairs, size_t other, const struct wire_standing *standing)
{
	for (size_t i = 0; i < standing->role_count; i++) {
		struct wire_tor_role role;
		size_t tor;

		wire_standing_role(standing, i, &role);
		tor = tor_of(pairs, other, role.tor);
		if (tor != PAIRS_NOBODY)
			take_role(pairs, tor, role.primary);
	}
}

void
pairs_on_standing(size_t other, const struct wire_standing *standing, void *arg)
{
	struct pairs *pairs = arg;
	rm_mono_t now = rm_mono_now();

	take_roles(pairs, other, standing);
	for (size_t i = 0; i < standing->tor_count; i++) {
		struct wire_tor_standing word;
		size_t tor;

		wire_standing_tor(standing, i, &word);
		tor = tor_of(pairs, other, word.tor);
		if (tor == PAIRS_NOBODY)
			continue;
		peer_heard(&pairs->pairs[tor].peer, &word, now);
		if (!pairs->pairs[tor].met)
			meet(pairs, tor);
		synchronise(pairs, tor, word.speaks, now);
	}
}

static const struct rm_incident *
find_id(const struct tor_rack *rack, uint64_t id)
{
	const struct rm_incidents *incidents = tor_rack_incidents(rack);

	const struct rm_incident *incident;

	for (size_t n = 0; (incident = rm_incidents_get(incidents, n)) != NULL; n++)
		if (incident->id == id)
			break;
	return incident;
}

void
pairs_on_incident(size_t other, const struct wire_incident *wire, void *arg)
{
	struct pairs *pairs = arg;
	struct tor_aggregator *aggregator = pairs->aggregator;
	const size_t tor = tor_of(pairs, other, wire->tor);
	const struct rm_incident *known;
	struct rm_incident theirs;
	struct tor_rack *rack;
	bool speaks;

	if (tor == PAIRS_NOBODY || peer_incident_read(wire, &theirs) < 0)
		return;
	rack = aggregator->racks[tor];
	speaks = tor_rack_speaks(rack);
	if (theirs.resolved.ns != 0) {
		/* While we speak, the end is ours to see. */
		if (!speaks && tor_rack_end(rack, theirs.id, theirs.resolved,
				   theirs.told_resolved, rm_mono_now()))
			aggregator->incidents_changed[tor] = true;
		return;
	}
	/* What they owe us may have ended since they told us of it. */
	known = find_id(rack, theirs.id);
	if (speaks && known != NULL && known->resolved.ns != 0) {
		pairs_tell(pairs, tor, known);
		return;
	}
	if (tor_rack_adopt(rack, &theirs) > 0 && speaks)
		tor_aggregator_fire(aggregator, tor, find_id(rack, theirs.id));
	aggregator->incidents_changed[tor] = true;
}
