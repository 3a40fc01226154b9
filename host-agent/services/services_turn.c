/*
 * Which flow shares whose probes, and whose turn it is.
 *
 * A way is a pair of ends, a class and a source port of probes. A flow's own port gives
 * its own way; where its RNIC cannot send from that port, or another flow's probes
 * already take the same traced path, it is another port. What is not traced yet is
 * probed all the same.
 */
#include <stdlib.h>
#include <string.h>

#include "host-agent/probe/flow_label.h"
#include "host-agent/services/services_state.h"

#define NEAR_PATH 1

/* All flows of a pair whose path is known and the same. */
struct way_key {
	struct pair_key pair;
	uint64_t path;
};

struct way {
	struct way_key key;
	uint16_t port; /* 0: none of the RNIC's ports goes there */
	UT_hash_handle hh;
};

struct chooser {
	struct services *services;
	services_path *path;
	void *arg;
	struct way *ways;
	bool no_memory; /* then no two share probes: more, not less */
};

bool
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

/* The port that all flows of this path use: of those that the RNIC has, the first; else
 * the smallest of their own. */
static void
way_join(struct chooser *chooser, const struct flow *flow, const struct pair_key *pair)
{
	const struct owner *owner = &chooser->services->owners[flow->key.owner];
	struct way_key key = { *pair, flow->path };
	struct way *way;

	HASH_FIND(hh, chooser->ways, &key, sizeof(key), way);
	if (way != NULL) {
		if (owner->port_count == 0 && flow->key.src_port < way->port &&
		    flow->key.src_port != 0)
			way->port = flow->key.src_port;
		return;
	}
	way = calloc(1, sizeof(*way));
	if (way != NULL) {
		way->key = key;
		way->port = owner->port_count == 0 ? flow->key.src_port : 0;
		for (size_t i = 0; i < owner->port_count && way->port == 0; i++)
			if (path_of(chooser, flow, owner->ports[i]) == flow->path)
				way->port = owner->ports[i];
		HASH_ADD(hh, chooser->ways, key, sizeof(way->key), way);
		if (way->hh.tbl == NULL) {
			free(way);
			way = NULL;
		}
	}
	if (way == NULL)
		chooser->no_memory = true;
}

/* Any that leads there: the same each time. */
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
	struct way_key key = { *pair, flow->path };
	struct way *way = NULL;

	if (flow->path != 0)
		HASH_FIND(hh, chooser->ways, &key, sizeof(key), way);
	flow->exact = way != NULL && way->port != 0;
	if (flow->exact)
		return way->port;
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
			way_join(chooser, flow, &key.pair);
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

/* Those that have had no turn yet, then who has waited longest; behind them those that
 * are on, the longest first. */
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

/* slots: of one RNIC, by claim. */
static void
take_turns(
    const struct services *services, struct slot **slots, size_t count, rm_mono_t now)
{
	size_t max = services->options.max_probed, on = 0, waiting, i;

	for (i = 0; i < count; i++)
		on += slots[i]->on;
	waiting = count - on;
	for (i = count - on; i < count; i++) { /* the longest first */
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
		return; /* as it is, until the next time */
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
	struct way *way, *next;

	services->news = false;
	services->turn++;
	place_flows(&chooser, now);
	HASH_ITER (hh, chooser.ways, way, next) {
		HASH_DEL(chooser.ways, way);
		free(way);
	}
	services->news = chooser.no_memory;
	drop_unused_slots(services);
	all_take_turns(services, now);
	return services_pair_up(services) | services_guests_turn(services, now);
}
