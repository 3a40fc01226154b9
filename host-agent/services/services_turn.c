/*
 * Decides which flows share probes, and which are probed now.
 *
 * A path is given by source, destination, class and source port of the probes. Probes
 * from the flow's own source port take the flow's own path. Another source port is used
 * if the RNIC cannot send from the flow's port, or if the probes of another flow take
 * the same traced path already. Flows without a traced path yet are probed, too.
 */
#include <stdlib.h>
#include <string.h>

#include "host-agent/probe/flow_label.h"
#include "host-agent/services/services_state.h"
#include "rackmesh/core/fnv.h"

#define NEAR_PATH 1

/* created anew in each turn; the objects it points to may be freed before the next
 * turn */
struct pair {
	struct pair_key key;
	bool near; /* both RNICs are below one ToR */
	struct wire_address address;
	uint32_t qpn, large_qpn;
	uint16_t lid;
	uint16_t probed[SERVICES_MAX_PROBED];
	size_t probed_count;
	uint16_t traced[WIRE_MAX_FLOWS];
	size_t traced_count;
	uint16_t sizes[4];
	size_t size_count;
	UT_hash_handle hh;
};

/* All flows of a pair with the same, known path. */
struct service_path_key {
	struct pair_key pair;
	uint64_t path;
};

struct service_path {
	struct service_path_key key;
	uint16_t port; /* 0: no source port of the RNIC takes this path */
	UT_hash_handle hh;
};

struct chooser {
	struct services *services;
	services_path *path;
	void *arg;
	struct service_path *paths;
	/* memory ran out, so flows do not share probes: there may be more probes than
	 * necessary, but not fewer */
	bool no_memory;
};

static uint64_t services_pair_up(struct services *services);

/* True: both RNICs are below one ToR, so there is only one path. */
static bool
services_is_near(const struct owner *owner, const struct peer *peer)
{
	for (size_t i = 0; i < WIRE_MAX_ATTACHMENTS; i++)
		for (size_t k = 0; k < WIRE_MAX_ATTACHMENTS; k++)
			if (owner->tors[i] != 0 && owner->tors[i] == peer->tors[k])
				return true;
	return false;
}

static void
pair_key_of(
    const struct flow *flow, const struct wire_address *address, struct pair_key *ret)
{
	const struct peer *peer = flow->key.peer;

	memset(ret, 0, sizeof(*ret));
	ret->guid = peer->id.guid;
	ret->port_num = peer->id.port;
	ret->family = address->family;
	memcpy(ret->bytes, address->bytes, sizeof(ret->bytes));
	ret->owner = flow->key.owner;
	ret->dscp = flow->key.dscp;
	ret->sl = flow->key.sl;
}

static uint64_t
path_of(const struct chooser *chooser, const struct flow *flow, uint16_t port)
{
	const struct owner *owner = &chooser->services->owners[flow->key.owner];

	if (services_is_near(owner, flow->key.peer))
		return NEAR_PATH;
	return port == 0 ? 0
			 : chooser->path(
			       flow->key.owner, flow->key.peer->id, port, chooser->arg);
}

/* Chooses the source port for all flows on this path: the first one of the RNIC's ports
 * that takes the path; if the RNIC can use any port, the smallest of the flows' own
 * ports. */
static void
path_join(struct chooser *chooser, const struct flow *flow, const struct pair_key *pair)
{
	const struct owner *owner = &chooser->services->owners[flow->key.owner];
	struct service_path_key key = { *pair, flow->path };
	struct service_path *path;

	HASH_FIND(hh, chooser->paths, &key, sizeof(key), path);
	if (path != NULL) {
		if (owner->port_count == 0 && flow->key.src_port < path->port &&
		    flow->key.src_port != 0)
			path->port = flow->key.src_port;
		return;
	}
	path = calloc(1, sizeof(*path));
	if (path != NULL) {
		path->key = key;
		path->port = owner->port_count == 0 ? flow->key.src_port : 0;
		for (size_t i = 0; i < owner->port_count && path->port == 0; i++)
			if (path_of(chooser, flow, owner->ports[i]) == flow->path)
				path->port = owner->ports[i];
		HASH_ADD(hh, chooser->paths, key, sizeof(path->key), path);
		if (path->hh.tbl == NULL) {
			free(path);
			path = NULL;
		}
	}
	if (path == NULL)
		chooser->no_memory = true;
}

/* Chooses a source port for a flow whose path is not known: the same port in every
 * turn. */
static uint16_t
some_port(const struct owner *owner, const struct flow *flow)
{
	uint16_t port = flow->key.src_port;

	if (port == 0) /* not known */
		port = flow_label_sport(
		    0, (uint32_t)flow->key.peer->id.guid, (uint32_t)owner->id.guid);
	return owner->port_count == 0 ? port : owner->ports[port % owner->port_count];
}

static uint16_t
port_for(const struct chooser *chooser, struct flow *flow, const struct pair_key *pair)
{
	const struct owner *owner = &chooser->services->owners[flow->key.owner];
	struct service_path_key key = { *pair, flow->path };
	struct service_path *path = NULL;

	if (flow->path != 0)
		HASH_FIND(hh, chooser->paths, &key, sizeof(key), path);
	flow->exact = path != NULL && path->port != 0;
	if (flow->exact)
		return path->port;
	flow->exact = owner->port_count == 0 && flow->key.src_port != 0;
	return some_port(owner, flow);
}

static struct slot *
slot_get(struct services *services, const struct slot_key *key, rm_mono_t now)
{
	struct slot *slot;

	HASH_FIND(hh, services->slots, key, sizeof(*key), slot);
	if (slot != NULL)
		return slot;
	slot = calloc(1, sizeof(*slot));
	if (slot == NULL)
		return NULL;
	slot->key = *key;
	slot->since = now;
	HASH_ADD(hh, services->slots, key, sizeof(slot->key), slot);
	if (slot->hh.tbl == NULL) {
		free(slot);
		return NULL;
	}
	return slot;
}

static void
place_flows(struct chooser *chooser, rm_mono_t now)
{
	struct services *services = chooser->services;
	struct wire_address address;
	struct flow *flow, *next;
	struct slot_key key;

	HASH_ITER (hh, services->flows, flow, next) {
		flow->slot = NULL;
		if (!services_peer_address(
			&services->owners[flow->key.owner], flow->key.peer, &address))
			continue;
		flow->path = path_of(chooser, flow, flow->key.src_port);
		pair_key_of(flow, &address, &key.pair);
		if (flow->path != 0)
			path_join(chooser, flow, &key.pair);
	}
	HASH_ITER (hh, services->flows, flow, next) {
		if (!services_peer_address(
			&services->owners[flow->key.owner], flow->key.peer, &address))
			continue;
		memset(&key, 0, sizeof(key));
		pair_key_of(flow, &address, &key.pair);
		key.probe_port = port_for(chooser, flow, &key.pair);
		flow->slot = slot_get(services, &key, now);
		if (flow->slot != NULL)
			flow->slot->turn = services->turn;
	}
}

static void
drop_unused_slots(struct services *services)
{
	struct slot *slot, *next;

	HASH_ITER (hh, services->slots, slot, next) {
		if (slot->turn == services->turn)
			continue;
		HASH_DEL(services->slots, slot);
		free(slot);
	}
}

/* Sorts slots: first those that never had a turn, then the others that are off, then
 * those that are on. Slots of one kind are sorted by time: the one that has been off,
 * or on, for longest comes first. */
static int
by_claim(const void *left, const void *right)
{
	const struct slot *a = *(struct slot *const *)left;
	const struct slot *b = *(struct slot *const *)right;

	if (a->on != b->on)
		return a->on ? 1 : -1;
	if ((a->turns == 0) != (b->turns == 0))
		return a->turns == 0 ? -1 : 1;
	if (a->since.ns != b->since.ns)
		return a->since.ns < b->since.ns ? -1 : 1;
	if (a->turns != b->turns)
		return a->turns < b->turns ? -1 : 1;
	return memcmp(&a->key, &b->key, sizeof(a->key));
}

static void
slot_set(struct slot *slot, bool on, rm_mono_t now)
{
	slot->on = on;
	slot->turns += on;
	slot->since = now;
}

/* slots: all slots of one RNIC, sorted by by_claim. */
static void
take_turns(
    const struct services *services, struct slot **slots, size_t count, rm_mono_t now)
{
	size_t max = services->options.max_probed, on = 0, waiting, i;

	for (i = 0; i < count; i++)
		on += slots[i]->on;
	waiting = count - on;
	/* those that have been on longest come first */
	for (i = count - on; i < count; i++) {
		bool over = on > max;
		bool had_its_turn =
		    rm_mono_since(now, slots[i]->since) >= services->options.turn_ns;

		if (!over && !(had_its_turn && waiting > max - on))
			break;
		slot_set(slots[i], false, now);
		on--;
	}
	for (i = 0; i < waiting && on < max; i++, on++)
		slot_set(slots[i], true, now);
}

static void
all_take_turns(struct services *services, rm_mono_t now)
{
	size_t all = HASH_COUNT(services->slots);
	struct slot **slots = calloc(all + 1, sizeof(struct slot *));
	struct slot *slot, *next;

	if (slots == NULL)
		return; /* the choice of the last turn stays */
	for (size_t owner = 0; owner < SERVICES_MAX_RNICS; owner++) {
		size_t count = 0;

		if (!services->owners[owner].present)
			continue;
		HASH_ITER (hh, services->slots, slot, next) {
			if (slot->key.pair.owner == owner)
				slots[count++] = slot;
		}
		qsort(slots, count, sizeof(struct slot *), by_claim);
		take_turns(services, slots, count, now);
	}
	free(slots);
}

bool
services_news(const struct services *services)
{
	return services->news;
}

uint64_t
services_turn(struct services *services, services_path *path, void *arg, rm_mono_t now)
{
	struct chooser chooser = { services, path, arg, NULL, false };
	struct service_path *route, *next;

	services->news = false;
	services->turn++;
	place_flows(&chooser, now);
	HASH_ITER (hh, chooser.paths, route, next) {
		HASH_DEL(chooser.paths, route);
		free(route);
	}
	services->news = chooser.no_memory;
	drop_unused_slots(services);
	all_take_turns(services, now);
	return services_pair_up(services) | services_peers_turn(services, now);
}

/* ---- The targets of the prober and of the tracer that follow from the turns ---- */

#define PROBE_BYTES 64
/* At shorter intervals no pair of probes is needed to get T4: the next reply carries it
 * soon enough. */
#define SOON_US 300000
/* one of this many probes is large, if both RNICs can send and receive large probes */
#define LARGE_EVERY 4

static void
drop_pairs(struct services *services)
{
	struct pair *pair, *next;

	HASH_ITER (hh, services->pairs, pair, next) {
		HASH_DEL(services->pairs, pair);
		free(pair);
	}
}

void
services_turn_clear(struct services *services)
{
	struct slot *slot, *next;

	drop_pairs(services);
	HASH_ITER (hh, services->slots, slot, next) {
		HASH_DEL(services->slots, slot);
		free(slot);
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

/* Inserts the port into the sorted array, unless it is there, it is 0, or the array is
 * full. */
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

/* A hash of a pair. The hashes of all pairs are added up, so that their order does not
 * matter. */
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

/* Makes the pairs of this turn from the flows and their slots. Returns a bit for each
 * RNIC whose pairs have changed. */
static uint64_t
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

/* Fills in the probed ports of each pair, or the traced ports. */
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
