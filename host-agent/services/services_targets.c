/* What the turns come down to: targets of the prober and of the tracer. */
#include <stdlib.h>
#include <string.h>

#include "host-agent/services/services_state.h"

#include "rackmesh/core/fnv.h"

#define PROBE_BYTES 64
#define SOON_US 300000 /* a probe's T4 comes with the next reply: in time */
#define LARGE_EVERY 4  /* of so many probes one is large, where both ends can */

static void
drop_pairs(struct services *services)
{
	struct pair *pair, *next;

	HASH_ITER (hh, services->pairs, pair, next) {
		HASH_DEL(services->pairs, pair);
		free(pair);
	}
}

static void
pair_sizes(struct pair *pair, const struct owner *owner, const struct peer *peer)
{
	uint32_t large = owner->large_bytes;

	if (large > peer->mtu_bytes)
		large = peer->mtu_bytes;
	if (owner->verbs && peer->large_qpn == 0)
		large = 0;
	pair->sizes[pair->size_count++] = PROBE_BYTES;
	if (large <= PROBE_BYTES)
		return;
	while (pair->size_count < LARGE_EVERY - 1)
		pair->sizes[pair->size_count++] = PROBE_BYTES;
	pair->sizes[pair->size_count++] = (uint16_t)large;
}

static struct pair *
pair_get(struct services *services, const struct flow *flow)
{
	const struct pair_key *key = &flow->slot->key.pair;
	const struct owner *owner = &services->owners[key->owner];
	const struct peer *peer = flow->key.peer;
	struct pair *pair;

	HASH_FIND(hh, services->pairs, key, sizeof(*key), pair);
	if (pair != NULL)
		return pair;
	pair = calloc(1, sizeof(*pair));
	if (pair == NULL)
		return NULL;
	pair->key = *key;
	pair->near = services_is_near(owner, peer);
	pair->qpn = peer->qpn;
	pair->large_qpn = peer->large_qpn;
	pair->lid = peer->lid;
	services_peer_address(owner, peer, &pair->address);
	pair_sizes(pair, owner, peer);
	HASH_ADD(hh, services->pairs, key, sizeof(pair->key), pair);
	if (pair->hh.tbl == NULL) {
		free(pair);
		return NULL;
	}
	return pair;
}

/* Sorted, each once. */
static void
add_port(uint16_t *ports, size_t *count, size_t max, uint16_t port)
{
	size_t i = *count;

	while (i > 0 && ports[i - 1] > port)
		i--;
	if (port == 0 || *count == max || (i > 0 && ports[i - 1] == port))
		return;
	memmove(ports + i + 1, ports + i, (*count - i) * sizeof(*ports));
	ports[i] = port;
	(*count)++;
}

/* Sums of these do not depend on the order of pairs. */
static uint64_t
digest_of(const struct pair *pair, const struct owner *owner)
{
	const uint32_t facts[] = { pair->qpn, pair->large_qpn, pair->lid,
		pair->address.port, owner->id.port };
	uint64_t hash = rm_fnv1a(RM_FNV1A, &pair->key, sizeof(pair->key));

	hash = rm_fnv1a(hash, facts, sizeof(facts));
	hash = rm_fnv1a(hash, &owner->id.guid, sizeof(owner->id.guid));
	hash = rm_fnv1a(hash, pair->sizes, pair->size_count * sizeof(pair->sizes[0]));
	hash = rm_fnv1a(hash, &pair->probed_count, sizeof(pair->probed_count));
	hash =
	    rm_fnv1a(hash, pair->probed, pair->probed_count * sizeof(pair->probed[0]));
	return rm_fnv1a(
	    hash, pair->traced, pair->traced_count * sizeof(pair->traced[0]));
}

static void
pair_ports(struct pair *pair, const struct flow *flow, const struct owner *owner)
{
	if (flow->slot->on)
		add_port(pair->probed, &pair->probed_count, SERVICES_MAX_PROBED,
		    flow->slot->key.probe_port);
	if (pair->near)
		return;
	add_port(pair->traced, &pair->traced_count, WIRE_MAX_FLOWS, flow->key.src_port);
	for (size_t i = 0; i < owner->port_count; i++)
		add_port(
		    pair->traced, &pair->traced_count, WIRE_MAX_FLOWS, owner->ports[i]);
}

uint64_t
services_pair_up(struct services *services)
{
	uint64_t digests[SERVICES_MAX_RNICS] = { 0 }, changed = 0;
	struct flow *flow, *next_flow;
	struct pair *pair, *next_pair;

	drop_pairs(services);
	HASH_ITER (hh, services->flows, flow, next_flow) {
		pair = flow->slot == NULL ? NULL : pair_get(services, flow);
		if (pair != NULL)
			pair_ports(pair, flow, &services->owners[flow->key.owner]);
	}
	HASH_ITER (hh, services->pairs, pair, next_pair)
		digests[pair->key.owner] +=
		    digest_of(pair, &services->owners[pair->key.owner]);
	for (size_t i = 0; i < SERVICES_MAX_RNICS; i++) {
		if (digests[i] != services->owners[i].digest)
			changed |= (uint64_t)1 << i;
		services->owners[i].digest = digests[i];
	}
	return changed;
}

static struct wire_target
target_of(const struct services *services, const struct pair *pair,
    const uint16_t *flows, size_t flow_count)
{
	uint32_t interval_us = (uint32_t)(services->options.interval_us / flow_count);

	return (struct wire_target){
		.src = services->owners[pair->key.owner].id,
		.dst = { pair->key.guid, pair->key.port_num },
		.kind = WIRE_SERVICE,
		.address = pair->address,
		.dst_qpn = pair->qpn,
		.dst_large_qpn = pair->large_qpn,
		.dst_lid = pair->lid,
		.sl = pair->key.sl,
		.interval_us = interval_us,
		.paired = interval_us > SOON_US,
		.flows = flows,
		.flow_count = flow_count,
		.dscps = &pair->key.dscp,
		.dscp_count = 1,
		.sizes = pair->sizes,
		.size_count = pair->size_count,
	};
}

/* Of each pair the probed ports, or the traced ones. */
static size_t
targets_of(const struct services *services, size_t owner, bool traced,
    struct wire_target *out, size_t max)
{
	struct pair *pair, *next;
	size_t n = 0;

	HASH_ITER (hh, services->pairs, pair, next) {
		const uint16_t *flows = traced ? pair->traced : pair->probed;
		size_t count = traced ? pair->traced_count : pair->probed_count;

		if (pair->key.owner == owner && count > 0 && n < max)
			out[n++] = target_of(services, pair, flows, count);
	}
	return n;
}

size_t
services_probes(
    const struct services *services, size_t owner, struct wire_target *out, size_t max)
{
	return targets_of(services, owner, false, out, max);
}

size_t
services_traces(
    const struct services *services, size_t owner, struct wire_target *out, size_t max)
{
	return targets_of(services, owner, true, out, max);
}
