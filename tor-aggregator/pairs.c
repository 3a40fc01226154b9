#include "tor-aggregator/pairs.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/log.h"
#include "rackmesh/incident/alert.h"
#include "rackmesh/incident/incident.h"
#include "rackmesh/incident/incident_adopt.h"
#include "rackmesh/metrics/metrics.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_server.h"
#include "tor-aggregator/aggregator_config.h"
#include "tor-aggregator/pairs_state.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/standby/peer_incident.h"
#include "tor-aggregator/standby/peer_link.h"
#include "tor-aggregator/tor_aggregator_incidents.h"
#include "tor-aggregator/tor_aggregator_state.h"

#define JUDGE_NS (100 * RM_NS_PER_MS)
#define STANDING_NS (250 * RM_NS_PER_MS)
/* An agent whose last heartbeat is older than this does not count as connected. */
#define BEATEN_NS (1500 * RM_NS_PER_MS)

/* ---- sending ---- */

static void pairs_on_standing(
    size_t other, const struct wire_standing *standing, void *arg);
static void pairs_on_incident(
    size_t other, const struct wire_incident *wire, void *arg);

static void
report(struct pairs *pairs, size_t tor, const struct rm_incident *incident)
{
	const size_t other = pairs->pairs[tor].other;
	struct wire_bytes bytes;

	if (other != PAIRS_NO_PEER && peer_links_connected(pairs->links, other) &&
	    peer_incident_write(pairs->writer, pairs->aggregator->tors[tor], incident,
		rm_mono_now(), &bytes) == 0)
		(void)peer_links_send(pairs->links, other, &bytes);
}

void
pairs_report(struct pairs *pairs, size_t tor, const struct rm_incident *incident)
{
	if (pairs != NULL && incident != NULL &&
	    tor_rack_is_active(pairs->aggregator->racks[tor]))
		report(pairs, tor, incident);
}

/* For a standby: sends the incidents for which it has notified the receivers, until the
 * other aggregator reports them itself. */
static void
pairs_report_pending(struct pairs *pairs, size_t tor)
{
	const struct rm_incidents *incidents =
	    tor_rack_incidents(pairs->aggregator->racks[tor]);

	for (size_t n = rm_incidents_open(incidents); n-- > 0;)
		if (rm_incidents_owes(incidents, n))
			report(pairs, tor, rm_incidents_get(incidents, n));
}

/* If this aggregator is active: sends the open incidents, and the ends that not all
 * receivers have accepted. */
static void
pairs_report_all(struct pairs *pairs, size_t tor)
{
	const struct rm_incidents *incidents =
	    tor_rack_incidents(pairs->aggregator->racks[tor]);
	const struct rm_incident *incident;

	for (size_t n = rm_incidents_open(incidents);
	     (incident = rm_incidents_get(incidents, n)) != NULL; n++)
		if (!incident->notified_resolved)
			pairs_report(pairs, tor, incident);
	for (size_t n = rm_incidents_open(incidents); n-- > 0;)
		pairs_report(pairs, tor, rm_incidents_get(incidents, n));
}

static void
pairs_report_standing(struct pairs *pairs, size_t other, rm_mono_t now)
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
		    (struct wire_tor_role){ aggregator->tors[i], configs[i].primary };
		/* An aggregator that is not ready yet cannot take over. */
		if (pairs->pairs[i].state_received || !pairs->pairs[i].peer.primary)
			tors[standing.tor_count++] = (struct wire_tor_standing){
				.tor = aggregator->tors[i],
				.active = pairs->pairs[i].peer.active,
				.delivers = own->ready && own->delivers,
				.agents = own->ready ? own->agents : 0,
			};
	}
	pairs->stood[other] = now;
	if (wire_write_standing(pairs->writer, &standing, &bytes) == 0)
		(void)peer_links_send(pairs->links, other, &bytes);
}

/* ---- decides which aggregator is active ---- */

static size_t
rack_number(const struct tor_aggregator *aggregator, const struct tor_rack *rack)
{
	size_t i = 0;

	while (i < aggregator->rack_count && aggregator->racks[i] != rack)
		i++;
	return i;
}

/* A connected agent counts once for each ToR at which it has an RNIC. */
static void
count_agent(struct pairs *pairs, const struct agent *agent)
{
	bool counted[WIRE_MAX_TORS] = { false };

	for (size_t i = 0; i < agent->rnic_count; i++) {
		bool other_cannot = false, we_cannot = false, lost;
		size_t tor;
		struct pair *pair;

		if (agent->rnics[i].rack == NULL)
			continue;
		tor = rack_number(pairs->aggregator, agent->rnics[i].rack);
		if (tor == pairs->aggregator->rack_count || counted[tor])
			continue;
		pair = &pairs->pairs[tor];
		if (pair->other == PAIRS_NO_PEER)
			continue;
		counted[tor] = true;
		pair->own.agents++;
		if (agent->live_count == 0)
			continue;
		lost = !agent_sees(agent, pairs->names[pair->other], &other_cannot);
		pair->own.asked++;
		pair->own.lost += lost;
		pair->own.other_cannot_deliver += other_cannot;
		agent_sees(agent, pairs->aggregator->config->name, &we_cannot);
		pair->own.we_cannot_deliver += we_cannot;
	}
}

/* An aggregator without any connection may be cut off from the network. From then on it
 * counts a receiver as reachable only if the receiver has answered since. */
static void
doubt_delivery(struct pairs *pairs, struct pair *pair, rm_mono_t now)
{
	if (pair->own.agents > 0 || peer_is_seen(&pair->peer, now))
		pair->isolated_since.ns = 0;
	else if (pair->isolated_since.ns == 0)
		pair->isolated_since = now;
	if (pair->isolated_since.ns != 0 &&
	    !rm_alerts_answered(pairs->aggregator->alerts, pair->isolated_since))
		pair->own.delivers = false;
}

static void
update_own_states(struct pairs *pairs, rm_mono_t now)
{
	const struct tor_aggregator *aggregator = pairs->aggregator;
	bool delivers = rm_alerts_deliver(aggregator->alerts);

	for (size_t i = 0; i < aggregator->rack_count; i++)
		pairs->pairs[i].own = (struct peer_own){
			.ready = rm_mono_since(now, pairs->pairs[i].peer.since) >=
				 TOR_RACK_START_NS,
			.delivers = delivers,
		};
	for (const struct agent *agent = agents_first(aggregator->agents);
	     agent != NULL; agent = agent->next)
		if (agent->link != NULL &&
		    rm_mono_since(now, agent->beaten) < BEATEN_NS)
			count_agent(pairs, agent);
	for (size_t i = 0; i < aggregator->rack_count; i++)
		if (pairs->pairs[i].other != PAIRS_NO_PEER)
			doubt_delivery(pairs, &pairs->pairs[i], now);
	agent_server_mute(aggregator->links, !delivers);
}

/* The state of the ToR's other aggregator, for the log. */
static const char *
other_state(const struct peer *peer, rm_mono_t now)
{
	if (!peer_is_seen(peer, now))
		return "no message";
	if (!peer->other_is_active)
		return "not active";
	return peer->other_delivers ? "active" : "active, and cannot deliver";
}

/* Makes this aggregator active or standby for the ToR. Returns true if that is a
 * change. */
static bool
turn(struct pairs *pairs, size_t tor, bool active)
{
	struct tor_aggregator *aggregator = pairs->aggregator;
	const struct pair *pair = &pairs->pairs[tor];
	const char *other = pairs->names[pair->other];
	const char *state = other_state(&pair->peer, rm_mono_now());

	if (active == tor_rack_is_active(aggregator->racks[tor]))
		return false;
	if (active) {
		rm_log_warn(0, "%s: became active; aggregator %s: %s",
		    aggregator->tors[tor], other, state);
		tor_aggregator_set_active(aggregator, tor);
		pairs_report_all(pairs, tor);
	} else {
		rm_log_warn(0, "%s: went standby; aggregator %s: %s",
		    aggregator->tors[tor], other, state);
		tor_aggregator_go_standby(aggregator, tor);
		pairs_report_pending(pairs, tor);
		/* An aggregator that is active already has sent all its open
		 * incidents. */
		if (!pairs->pairs[tor].peer.other_is_active) {
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
	update_own_states(pairs, now);
	for (size_t i = 0; i < count; i++) {
		struct pair *pair = &pairs->pairs[i];

		if (pair->other != PAIRS_NO_PEER &&
		    turn(pairs, i, peer_judge(&pair->peer, &pair->own, now)))
			news[pair->other] = true;
	}
	peer_links_tick(pairs->links, now);
	for (size_t i = 0; i < pairs->other_count; i++)
		if (peer_links_connected(pairs->links, i) &&
		    (news[i] || rm_mono_since(now, pairs->stood[i]) >= STANDING_NS))
			pairs_report_standing(pairs, i, now);
}

void
pairs_stalled(struct pairs *pairs, int64_t for_ns, rm_mono_t now)
{
	if (pairs->other_count == 0)
		return;
	peer_links_stalled(pairs->links, now);
	for (size_t i = 0; i < pairs->aggregator->rack_count; i++) {
		struct pair *pair = &pairs->pairs[i];

		if (pair->other == PAIRS_NO_PEER)
			continue;
		peer_stalled(&pair->peer, for_ns, now);
		turn(pairs, i, pair->peer.active);
	}
}

/* ---- creation ---- */

/* Returns the index of this aggregator's link; aggregators of one name share one link.
 */
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
		/* The address was checked with the config. */
		(void)rm_endpoint_parse(tor->peer_address, &others[i].endpoint);
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
	struct agent_server_peers peer_aggregators = {
		.on_hello = peer_links_on_hello,
		.on_up = peer_links_on_up,
		.on_frame = peer_links_on_frame,
		.on_gone = peer_links_on_gone,
	};
	int r = peer_links_new(aggregator->loop, &options, &callbacks, &pairs->links);

	if (r < 0)
		return r;
	peer_aggregators.arg = pairs->links;
	agent_server_admit(aggregator->links, &peer_aggregators);
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

		peer_init(&pairs->pairs[i].peer, tors[i].primary, now);
		pairs->pairs[i].other =
		    alone ? PAIRS_NO_PEER : number_of(pairs, others, &tors[i]);
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

/* ---- Receiving ---- */

static size_t
tor_of(const struct pairs *pairs, size_t other, const char *name)
{
	for (size_t i = 0; i < pairs->aggregator->rack_count; i++)
		if (pairs->pairs[i].other == other &&
		    strcmp(pairs->aggregator->tors[i], name) == 0)
			return i;
	return PAIRS_NO_PEER;
}

void
pairs_on_session(size_t other, void *arg)
{
	struct pairs *pairs = arg;

	for (size_t i = 0; i < pairs->aggregator->rack_count; i++) {
		if (!pairs_share(pairs, i, other))
			continue;
		pairs->pairs[i].synced = pairs->pairs[i].state_received = false;
		tor_rack_doubt(pairs->aggregator->racks[i]);
		if (!pairs->pairs[i].peer.primary)
			pairs_report_all(pairs, i);
		/* A standby may have notified receivers while it was active. */
		pairs_report_pending(pairs, i);
	}
	pairs_report_standing(pairs, other, rm_mono_now());
}

/* Handles the first state on a link. If the other aggregator is active, it has sent its
 * incidents before that state. A primary that stays active answers with its own open
 * incidents; a primary that goes standby uses those that it has received. */
static void
meet(struct pairs *pairs, size_t tor)
{
	struct tor_aggregator *aggregator = pairs->aggregator;
	struct pair *pair = &pairs->pairs[tor];

	pair->state_received = true;
	if (!pair->peer.primary)
		return;
	if (pair->peer.active) {
		pairs_report_all(pairs, tor);
	} else if (tor_rack_is_active(aggregator->racks[tor])) {
		rm_log_warn(0, "%s: went standby; aggregator %s: active meanwhile",
		    aggregator->tors[tor], pairs->names[pair->other]);
		tor_aggregator_go_standby(aggregator, tor);
		pairs_report_pending(pairs, tor);
	}
}

/* Until the other aggregator is active, the incidents that it has sent may be
 * incomplete. */
static void
synchronise(struct pairs *pairs, size_t tor, bool other_is_active, rm_mono_t now)
{
	struct tor_rack *rack = pairs->aggregator->racks[tor];
	struct pair *pair = &pairs->pairs[tor];
	size_t ended;

	if (!other_is_active) {
		if (pair->synced)
			tor_rack_doubt(rack);
		pair->synced = false;
		return;
	}
	if (pair->synced || tor_rack_is_active(rack))
		return;
	pair->synced = true;
	ended = tor_rack_end_rest(rack, rm_wall_now(), now);
	if (ended > 0)
		pairs->aggregator->incidents_changed[tor] = true;
}

/* Both configs say primary, or neither does: the aggregator whose name comes first
 * acts as the primary, until an operator corrects it. */
static void
take_role(struct pairs *pairs, size_t tor, bool their_primary)
{
	const struct aggregator_config *config = pairs->aggregator->config;
	const struct aggregator_tor_config *tors = config->tors.items;
	struct pair *pair = &pairs->pairs[tor];
	const char *other = pairs->names[pair->other];
	const bool ours = tors[tor].primary, quarrel = their_primary == ours;
	const bool first = strcmp(config->name, other) < 0;

	peer_become(&pair->peer, quarrel ? first : ours);
	if (quarrel && !pair->quarrel)
		rm_log_error(0,
		    "%s: primary conflict: primary is %s at %s and at %s; %s acts as "
		    "the primary: set it to true at one of them and to false at the "
		    "other",
		    tors[tor].name, ours ? "true" : "false", config->name, other,
		    first ? config->name : other);
	else if (!quarrel && pair->quarrel)
		rm_log_info("%s: primary conflict ended: %s and %s agree",
		    tors[tor].name, config->name, other);
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
		if (tor != PAIRS_NO_PEER)
			take_role(pairs, tor, role.primary);
	}
}

static void
pairs_on_standing(size_t other, const struct wire_standing *standing, void *arg)
{
	struct pairs *pairs = arg;
	rm_mono_t now = rm_mono_now();

	take_roles(pairs, other, standing);
	for (size_t i = 0; i < standing->tor_count; i++) {
		struct wire_tor_standing state;
		size_t tor;

		wire_standing_tor(standing, i, &state);
		tor = tor_of(pairs, other, state.tor);
		if (tor == PAIRS_NO_PEER)
			continue;
		peer_receive_state(&pairs->pairs[tor].peer, &state, now);
		if (!pairs->pairs[tor].state_received)
			meet(pairs, tor);
		synchronise(pairs, tor, state.active, now);
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

static void
pairs_on_incident(size_t other, const struct wire_incident *wire, void *arg)
{
	struct pairs *pairs = arg;
	struct tor_aggregator *aggregator = pairs->aggregator;
	const size_t tor = tor_of(pairs, other, wire->tor);
	const struct rm_incident *known;
	struct rm_incident theirs;
	struct tor_rack *rack;
	bool active;

	if (tor == PAIRS_NO_PEER ||
	    peer_incident_read(wire, rm_mono_now(), &theirs) < 0)
		return;
	rack = aggregator->racks[tor];
	active = tor_rack_is_active(rack);
	if (theirs.resolved.ns != 0) {
		/* The active aggregator alone decides when an incident ends. */
		if (!active && tor_rack_end(rack, theirs.id, theirs.resolved,
				   theirs.notified_resolved, rm_mono_now()))
			aggregator->incidents_changed[tor] = true;
		return;
	}
	/* The other aggregator may send as open an incident that has ended here
	 * meanwhile. */
	known = find_id(rack, theirs.id);
	if (active && known != NULL && known->resolved.ns != 0) {
		pairs_report(pairs, tor, known);
		return;
	}
	if (tor_rack_adopt(rack, &theirs) > 0 && active)
		tor_aggregator_fire(aggregator, tor, find_id(rack, theirs.id));
	aggregator->incidents_changed[tor] = true;
}

/* ---- State of the pairs, for the API and the metrics ---- */

#define N(name) "rackmesh_aggregator_" name
#define L(field) offsetof(struct peer_link_counts, field)
#define P(field) offsetof(struct peer, field)

/* clang-format off */
static const struct metrics_counter link_counters[] = {
	{ N("peer_sessions_total"), "", L(sessions), "Sessions with other aggregators of the same ToRs." },
	{ N("peer_refused_total"), "", L(refused), "Sessions that another aggregator refused." },
	{ N("peer_silent_total"), "", L(silent), "Connections to other aggregators closed because they sent nothing for too long." },
	{ N("peer_messages_total"), "kind=\"standing\"", L(standings), "Messages received from other aggregators." },
	{ N("peer_messages_total"), "kind=\"incident\"", L(incidents), "Messages received from other aggregators." },
	{ N("peer_sent_total"), "", L(sent), "Messages sent to other aggregators." },
	{ N("peer_unsent_total"), "", L(unsent), "Messages to other aggregators not sent because the queue was full; the connection was closed." },
	{ N("peer_bad_frames_total"), "", L(bad_frames), "Malformed frames from other aggregators." },
	{ 0 }
};

static const struct metrics_counter peer_counters[] = {
	{ N("takeovers_total"), "", P(taken), "Times that this aggregator became active for the ToR." },
	{ N("handovers_total"), "", P(given), "Times that this aggregator went standby for the ToR, also because it was isolated." },
	{ 0 }
};
/* clang-format on */

json_t *
pairs_show(const struct pairs *pairs, size_t tor, rm_mono_t now)
{
	const struct pair *pair = &pairs->pairs[tor];

	if (pair->other == PAIRS_NO_PEER)
		return json_null();
	return json_pack("{s:s, s:b, s:b, s:b, s:b, s:i, s:b, s:b, s:i, s:i, s:b, s:b}",
	    "name", pairs->names[pair->other], "connected",
	    peer_links_connected(pairs->links, pair->other), "alive",
	    peer_is_seen(&pair->peer, now), "active", pair->peer.other_is_active,
	    "can_deliver", pair->peer.other_delivers, "agents",
	    (int)pair->peer.other_agents, "we_can_deliver", pair->own.delivers,
	    "we_are_ready", pair->own.ready, "agents_without_it", (int)pair->own.lost,
	    "agents_seeing_it_mute", (int)pair->own.other_cannot_deliver,
	    "we_are_primary", pair->peer.primary, "primary_conflict", pair->quarrel);
}

const char *
pairs_quarrel(const struct pairs *pairs)
{
	for (size_t i = 0; i < pairs->aggregator->rack_count; i++)
		if (pairs->pairs[i].quarrel)
			return pairs->aggregator->tors[i];
	return NULL;
}

static double
read_active(const void *arg)
{
	return tor_rack_is_active(arg);
}

static double
read_quarrel(const void *arg)
{
	return ((const struct pair *)arg)->quarrel;
}

int
pairs_metrics(struct pairs *pairs, struct rm_metrics *metrics)
{
	const struct tor_aggregator *aggregator = pairs->aggregator;
	int r = 0;

	if (pairs->links != NULL)
		r = metrics_table_add(
		    metrics, link_counters, peer_links_counts(pairs->links), "");
	for (size_t i = 0; r == 0 && i < aggregator->rack_count; i++) {
		const struct tor_rack *rack = aggregator->racks[i];
		char label[METRICS_LABEL_BYTES];

		snprintf(label, sizeof(label), "tor=\"%s\"", aggregator->tors[i]);
		r = metrics_table_add(
		    metrics, peer_counters, &pairs->pairs[i].peer, label);
		if (r == 0)
			r = rm_metrics_gauge(metrics, pairs, N("active"), label,
			    "1 while this aggregator sends the alerts and summaries of "
			    "the ToR; 0: it is standby.",
			    read_active, rack);
		if (r == 0)
			r = rm_metrics_gauge(metrics, pairs, N("pair_primary_conflict"),
			    label,
			    "1 while primary is the same at both aggregators of the "
			    "ToR.",
			    read_quarrel, &pairs->pairs[i]);
	}
	return r;
}
