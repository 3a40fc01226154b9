#include "tor-aggregator/pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/log.h"
#include "rackmesh/incident/alert.h"
#include "rackmesh/incident/incident.h"
#include "rackmesh/incident/incident_adopt.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_links.h"
#include "tor-aggregator/aggregator_config.h"
#include "tor-aggregator/pairs_state.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/standby/peer_incident.h"
#include "tor-aggregator/standby/peer_link.h"
#include "tor-aggregator/tor_aggregator_incidents.h"
#include "tor-aggregator/tor_aggregator_state.h"

#define JUDGE_NS (100 * RM_NS_PER_MS)
#define STANDING_NS (250 * RM_NS_PER_MS)
#define BEATEN_NS (1500 * RM_NS_PER_MS) /* an agent that is heard */

/* ---- what we tell ---------------------------------------------------------------- */

static void
tell(struct pairs *pairs, size_t tor, const struct rm_incident *incident)
{
	const size_t other = pairs->pairs[tor].other;
	struct wire_bytes bytes;

	if (other != PAIRS_NOBODY && peer_links_connected(pairs->links, other) &&
	    peer_incident_write(
		pairs->writer, pairs->aggregator->tors[tor], incident, &bytes) == 0)
		(void)peer_links_send(pairs->links, other, &bytes);
}

void
pairs_tell(struct pairs *pairs, size_t tor, const struct rm_incident *incident)
{
	if (pairs != NULL && incident != NULL &&
	    tor_rack_speaks(pairs->aggregator->racks[tor]))
		tell(pairs, tor, incident);
}

void
pairs_tell_owed(struct pairs *pairs, size_t tor)
{
	const struct rm_incidents *incidents =
	    tor_rack_incidents(pairs->aggregator->racks[tor]);

	for (size_t n = rm_incidents_open(incidents); n-- > 0;)
		if (rm_incidents_owes(incidents, n))
			tell(pairs, tor, rm_incidents_get(incidents, n));
}

void
pairs_tell_all(struct pairs *pairs, size_t tor)
{
	const struct rm_incidents *incidents =
	    tor_rack_incidents(pairs->aggregator->racks[tor]);
	const struct rm_incident *incident;

	for (size_t n = rm_incidents_open(incidents);
	     (incident = rm_incidents_get(incidents, n)) != NULL; n++)
		if (!incident->told_resolved)
			pairs_tell(pairs, tor, incident);
	for (size_t n = rm_incidents_open(incidents); n-- > 0;)
		pairs_tell(pairs, tor, rm_incidents_get(incidents, n));
}

void
pairs_tell_standing(struct pairs *pairs, size_t other, rm_mono_t now)
{
	const struct tor_aggregator *aggregator = pairs->aggregator;
	const struct aggregator_tor_config *configs = aggregator->config->tors.items;
	struct wire_tor_standing tors[WIRE_MAX_TORS];
	struct wire_tor_role roles[WIRE_MAX_TORS];
	struct wire_standing standing = {
		.now_ns = (uint64_t)now.ns,
		.tors = tors,
		.roles = roles,
	};
	struct wire_bytes bytes;

	for (size_t i = 0; i < aggregator->rack_count; i++) {
		const struct peer_own *own = &pairs->pairs[i].own;

		if (!pairs_share(pairs, i, other))
			continue;
		roles[standing.role_count++] =
		    (struct wire_tor_role){ aggregator->tors[i], configs[i].speaks };
		/* Who is not warm cannot be expected to do anything. */
		if (pairs->pairs[i].met || !pairs->pairs[i].peer.primary)
			tors[standing.tor_count++] = (struct wire_tor_standing){
				.tor = aggregator->tors[i],
				.speaks = pairs->pairs[i].peer.speaks,
				.delivers = own->warm && own->delivers,
				.agents = own->warm ? own->agents : 0,
			};
	}
	pairs->stood[other] = now;
	if (wire_write_standing(pairs->writer, &standing, &bytes) == 0)
		(void)peer_links_send(pairs->links, other, &bytes);
}

/* ---- who speaks ------------------------------------------------------------------ */

static size_t
rack_number(const struct tor_aggregator *aggregator, const struct tor_rack *rack)
{
	size_t i = 0;

	while (i < aggregator->rack_count && aggregator->racks[i] != rack)
		i++;
	return i;
}

/* An agent that is heard counts once for every ToR of ours that it has an RNIC at. */
static void
count_agent(struct pairs *pairs, const struct agent *agent)
{
	bool counted[WIRE_MAX_TORS] = { false };

	for (size_t i = 0; i < agent->rnic_count; i++) {
		bool mute = false, relay = false, lost;
		size_t tor;
		struct pair *pair;

		if (agent->rnics[i].rack == NULL)
			continue;
		tor = rack_number(pairs->aggregator, agent->rnics[i].rack);
		if (tor == pairs->aggregator->rack_count || counted[tor])
			continue;
		pair = &pairs->pairs[tor];
		if (pair->other == PAIRS_NOBODY)
			continue;
		counted[tor] = true;
		pair->own.agents++;
		if (agent->live_count == 0)
			continue;
		lost = !agent_hears(agent, pairs->names[pair->other], &mute);
		pair->own.asked++;
		pair->own.lost += lost;
		pair->own.mute += mute;
		agent_hears(agent, pairs->aggregator->config->name, &relay);
		pair->own.relay += relay;
	}
}

/* Whom nobody speaks to may be cut off: he believes that receivers are there when they
 * have answered since. */
static void
doubt_delivery(struct pairs *pairs, struct pair *pair, rm_mono_t now)
{
	if (pair->own.agents > 0 || peer_is_heard(&pair->peer, now))
		pair->lonely.ns = 0;
	else if (pair->lonely.ns == 0)
		pair->lonely = now;
	if (pair->lonely.ns != 0 &&
	    !rm_alerts_answered(pairs->aggregator->alerts, pair->lonely))
		pair->own.delivers = false;
}

static void
look_around(struct pairs *pairs, rm_mono_t now)
{
	const struct tor_aggregator *aggregator = pairs->aggregator;
	bool delivers = rm_alerts_deliver(aggregator->alerts);

	for (size_t i = 0; i < aggregator->rack_count; i++)
		pairs->pairs[i].own = (struct peer_own){
			.warm = rm_mono_since(now, pairs->pairs[i].peer.since) >=
				TOR_RACK_START_NS,
			.delivers = delivers,
		};
	for (const struct agent *agent = agents_first(aggregator->agents);
	     agent != NULL; agent = agent->next)
		if (agent->link != NULL &&
		    rm_mono_since(now, agent->beaten) < BEATEN_NS)
			count_agent(pairs, agent);
	for (size_t i = 0; i < aggregator->rack_count; i++)
		if (pairs->pairs[i].other != PAIRS_NOBODY)
			doubt_delivery(pairs, &pairs->pairs[i], now);
	agent_links_mute(aggregator->links, !delivers);
}

/* Returns whether it has changed. */
static bool
turn(struct pairs *pairs, size_t tor, bool speaks)
{
	struct tor_aggregator *aggregator = pairs->aggregator;
	const char *other = pairs->names[pairs->pairs[tor].other];

	if (speaks == tor_rack_speaks(aggregator->racks[tor]))
		return false;
	if (speaks) {
		rm_log_warn(
		    0, "%s: we speak for it now, not %s", aggregator->tors[tor], other);
		tor_aggregator_speak(aggregator, tor);
		pairs_tell_all(pairs, tor);
	} else {
		rm_log_warn(0, "%s: we speak for it no more, %s does",
		    aggregator->tors[tor], other);
		tor_aggregator_hush(aggregator, tor);
		pairs_tell_owed(pairs, tor);
		/* One that speaks already has told of all that it has open. */
		if (!pairs->pairs[tor].peer.other_speaks) {
			pairs->pairs[tor].synced = false;
			tor_rack_doubt(aggregator->racks[tor]);
		}
	}
	return true;
}

void
pairs_tick(struct pairs *pairs, rm_mono_t now)
{
	const size_t count = pairs->aggregator->rack_count;
	bool news[WIRE_MAX_TORS] = { false };

	if (pairs->other_count == 0 || rm_mono_since(now, pairs->judged) < JUDGE_NS)
		return;
	pairs->judged = now;
	look_around(pairs, now);
	for (size_t i = 0; i < count; i++) {
		struct pair *pair = &pairs->pairs[i];

		if (pair->other != PAIRS_NOBODY &&
		    turn(pairs, i, peer_judge(&pair->peer, &pair->own, now)))
			news[pair->other] = true;
	}
	peer_links_tick(pairs->links, now);
	for (size_t i = 0; i < pairs->other_count; i++)
		if (peer_links_connected(pairs->links, i) &&
		    (news[i] || rm_mono_since(now, pairs->stood[i]) >= STANDING_NS))
			pairs_tell_standing(pairs, i, now);
}

void
pairs_stalled(struct pairs *pairs, int64_t for_ns, rm_mono_t now)
{
	if (pairs->other_count == 0)
		return;
	peer_links_stalled(pairs->links, now);
	for (size_t i = 0; i < pairs->aggregator->rack_count; i++) {
		struct pair *pair = &pairs->pairs[i];

		if (pair->other == PAIRS_NOBODY)
			continue;
		peer_stalled(&pair->peer, for_ns, now);
		turn(pairs, i, pair->peer.speaks);
	}
}

/* ---- life --------------------------------------------------------------------------
 */

/* Its number; each name is one link. */
static size_t
number_of(struct pairs *pairs, struct peer_link_other *others,
    const struct aggregator_tor_config *tor)
{
	size_t i = 0;

	while (i < pairs->other_count && strcmp(pairs->names[i], tor->peer_name) != 0)
		i++;
	if (i == pairs->other_count) {
		others[i] = (struct peer_link_other){ .name = tor->peer_name };
		pairs->names[i] = tor->peer_name;
		/* That it is an address was checked with the config. */
		(void)rm_address_parse(tor->peer_address, -1, &others[i].address);
		pairs->other_count++;
	}
	others[i].tors[others[i].tor_count++] = tor->name;
	return i;
}

static int
start_links(struct pairs *pairs, const struct peer_link_other *others)
{
	struct tor_aggregator *aggregator = pairs->aggregator;
	const struct peer_link_options options = {
		.name = aggregator->config->name,
		.region = aggregator->config->region,
		.incarnation = aggregator->incarnation,
		.tls = rm_credentials_tls(aggregator->credentials),
		.tors = aggregator->tors,
		.tor_count = aggregator->rack_count,
		.others = others,
		.other_count = pairs->other_count,
	};
	const struct peer_link_callbacks callbacks = {
		.on_session = pairs_on_session,
		.on_standing = pairs_on_standing,
		.on_incident = pairs_on_incident,
		.arg = pairs,
	};
	struct agent_links_guests guests = {
		.on_hello = peer_links_on_hello,
		.on_up = peer_links_on_up,
		.on_frame = peer_links_on_frame,
		.on_gone = peer_links_on_gone,
	};
	int r = peer_links_new(aggregator->loop, &options, &callbacks, &pairs->links);

	if (r < 0)
		return r;
	guests.arg = pairs->links;
	agent_links_admit(aggregator->links, &guests);
	return 0;
}

int
pairs_new(struct tor_aggregator *aggregator, struct pairs **ret)
{
	const struct aggregator_tor_config *tors = aggregator->config->tors.items;
	struct peer_link_other others[WIRE_MAX_TORS];
	struct pairs *pairs = calloc(1, sizeof(*pairs));
	rm_mono_t now = rm_mono_now();
	int r = 0;

	if (pairs == NULL)
		return -ENOMEM;
	pairs->aggregator = aggregator;
	for (size_t i = 0; i < aggregator->rack_count; i++) {
		bool alone = tors[i].peer_name[0] == 0;

		peer_init(&pairs->pairs[i].peer, tors[i].speaks, now);
		pairs->pairs[i].other =
		    alone ? PAIRS_NOBODY : number_of(pairs, others, &tors[i]);
	}
	pairs->writer = wire_writer_new();
	if (pairs->writer == NULL)
		r = -ENOMEM;
	if (r == 0 && pairs->other_count > 0)
		r = start_links(pairs, others);
	if (r < 0) {
		pairs_free(pairs);
		return r;
	}
	*ret = pairs;
	return 0;
}

void
pairs_free(struct pairs *pairs)
{
	if (pairs == NULL)
		return;
	peer_links_free(pairs->links);
	wire_writer_free(pairs->writer);
	free(pairs);
}
