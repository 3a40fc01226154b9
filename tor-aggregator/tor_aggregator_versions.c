#include "tor-aggregator/tor_aggregator_versions.h"

#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/fnv.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/controller/controller_link.h"
#include "tor-aggregator/tor_aggregator_state.h"

#define NS_PER_S INT64_C(1000000000)

static struct wire_version
of_agent(const struct agent *agent)
{
	return (struct wire_version){ .component = WIRE_COMPONENT_AGENT,
		.name = agent->host,
		.software = agent->software,
		.since_s = (uint64_t)(agent->software_since.ns / NS_PER_S),
		.connected = agent->link != NULL };
}

static struct wire_version
of_peer(const struct peer_version *peer)
{
	return (struct wire_version){ .component = peer->component,
		.name = peer->name,
		.software = peer->software,
		.since_s = (uint64_t)(peer->since.ns / NS_PER_S),
		.connected = peer->connected };
}

/* peers: has room for all agents and PEER_VERSIONS_MAX more. Returns the number of
 * peers. */
static size_t
list_peers(const struct tor_aggregator *aggregator, struct wire_version *peers)
{
	const struct peer_versions *versions = &aggregator->versions;
	size_t count = 0;

	for (size_t i = 0; i < versions->count; i++)
		peers[count++] = of_peer(&versions->peers[i]);
	for (const struct agent *agent = agents_first(aggregator->agents);
	     agent != NULL && count < WIRE_MAX_VERSIONS; agent = agent->next)
		if (agent->software_since.ns != 0 && !agent_is_forgotten(agent))
			peers[count++] = of_agent(agent);
	return count;
}

static uint64_t
hash_peers(const struct wire_version *peers, size_t count)
{
	uint64_t hash = RM_FNV1A;

	for (size_t i = 0; i < count; i++) {
		const struct wire_version *peer = &peers[i];

		hash = rm_fnv1a(hash, &peer->component, sizeof(peer->component));
		hash = rm_fnv1a(hash, peer->name, strlen(peer->name) + 1);
		hash = rm_fnv1a(hash, peer->software, strlen(peer->software) + 1);
		hash = rm_fnv1a(hash, &peer->since_s, sizeof(peer->since_s));
		hash = rm_fnv1a(hash, &peer->connected, sizeof(peer->connected));
	}
	return hash;
}

void
tor_aggregator_report_versions(struct tor_aggregator *aggregator)
{
	const size_t room = agents_count(aggregator->agents) + PEER_VERSIONS_MAX;
	struct versions_sent fresh = {
		.connection =
		    controller_link_counts(aggregator->controller_link)->connected,
	};
	struct wire_versions versions = { 0 };
	struct wire_version *peers;
	struct wire_bytes bytes;

	if (!controller_link_connected(aggregator->controller_link))
		return;
	peers = calloc(room, sizeof(*peers));
	if (peers == NULL)
		return; /* the next call tries again */
	versions.peers = peers;
	versions.peer_count = list_peers(aggregator, peers);
	fresh.hash = hash_peers(peers, versions.peer_count);
	if ((fresh.connection != aggregator->versions_sent.connection ||
		fresh.hash != aggregator->versions_sent.hash) &&
	    wire_write_versions(aggregator->paths_writer, &versions, &bytes) == 0 &&
	    controller_link_send(aggregator->controller_link, &bytes) == 0)
		aggregator->versions_sent = fresh;
	free(peers);
}
