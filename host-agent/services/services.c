/* RNICs, processes and what is told of flows. */
#include "host-agent/services/services.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/services/services_state.h"
#include "rackmesh/core/fnv.h"

#define MIN_INTERVAL_US 10000

uint64_t
services_random(struct services *services)
{
	/* xorshift64*, Vigna 2014: for jitter only. */
	uint64_t x = services->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	services->random = x;
	return x * 0x2545f4914f6cdd1d;
}

uint64_t
services_hash_text(const char *text)
{
	uint64_t hash = rm_fnv1a(RM_FNV1A, text, strlen(text));

	return hash == 0 ? 1 : hash;
}

void
services_tune(struct services *services, const struct services_options *options)
{
	services->options = *options;
	if (options->max_probed > SERVICES_MAX_PROBED)
		services->options.max_probed = SERVICES_MAX_PROBED;
	if (options->interval_us < MIN_INTERVAL_US)
		services->options.interval_us = MIN_INTERVAL_US;
	services->news = true;
}

int
services_new(const struct services_options *options, struct services **ret)
{
	struct services *services = calloc(1, sizeof(*services));

	if (services == NULL)
		return -ENOMEM;
	services->random = options->random_seed | 1;
	services->token = services_random(services) >> 1;
	services_tune(services, options);
	*ret = services;
	return 0;
}

void
services_free(struct services *services)
{
	struct pair *pair, *next_pair;
	struct slot *slot, *next_slot;

	if (services == NULL)
		return;
	for (size_t i = 0; i < SERVICES_MAX_RNICS; i++)
		services_drop_owner(services, i);
	services_guests_clear(services);
	HASH_ITER (hh, services->pairs, pair, next_pair) {
		HASH_DEL(services->pairs, pair);
		free(pair);
	}
	HASH_ITER (hh, services->slots, slot, next_slot) {
		HASH_DEL(services->slots, slot);
		free(slot);
	}
	free(services);
}

size_t
services_owner_of(const struct services *services, const char *device, uint32_t port)
{
	for (size_t i = 0; i < SERVICES_MAX_RNICS; i++) {
		const struct owner *owner = &services->owners[i];

		if (owner->present && strcmp(owner->device, device) == 0 &&
		    (port == 0 || owner->port == port))
			return i + 1;
	}
	return 0;
}

static void
owner_fill(struct owner *owner, const struct services_rnic *rnic)
{
	*owner = (struct owner){ .present = true,
		.id = rnic->id,
		.port = rnic->port,
		.verbs = rnic->verbs,
		.large_bytes = rnic->large_bytes };
	snprintf(owner->device, sizeof(owner->device), "%s", rnic->device);
	for (size_t i = 0; i < rnic->tor_count && i < WIRE_MAX_ATTACHMENTS; i++)
		owner->tors[i] = services_hash_text(rnic->tors[i]);
	for (; owner->address_count < rnic->address_count &&
	       owner->address_count < WIRE_MAX_ADDRESSES;
	     owner->address_count++)
		owner->addresses[owner->address_count] =
		    rnic->addresses[owner->address_count];
	for (; owner->port_count < rnic->port_count &&
	       owner->port_count < SERVICES_MAX_PORTS;
	     owner->port_count++)
		owner->ports[owner->port_count] = rnic->ports[owner->port_count];
}

bool
services_set_rnic(
    struct services *services, size_t owner, const struct services_rnic *rnic)
{
	struct owner *old = &services->owners[owner];
	struct owner filled = { .present = false };
	bool same;

	if (rnic != NULL)
		owner_fill(&filled, rnic);
	same = rnic != NULL && old->present && old->port == filled.port &&
	       strcmp(old->device, filled.device) == 0;
	if (old->present && !same)
		services_drop_owner(services, owner);
	filled.unjoinable = same ? old->unjoinable : 0;
	filled.digest = old->digest;
	filled.guests_digest = old->guests_digest;
	*old = filled;
	services->news = true;
	return rnic != NULL && !same;
}

bool
services_next_process(struct services *services, struct services_process *ret)
{
	struct process *process, *next;

	if (services->unnamed == 0)
		return false;
	HASH_ITER (hh, services->processes, process, next) {
		if (process->asked)
			continue;
		process->asked = true;
		services->unnamed--;
		*ret = (struct services_process){ process->key.pid, process->cgroup_id,
			process->name.comm };
		return true;
	}
	return false;
}

void
services_named(struct services *services, uint32_t pid, const struct process_name *name)
{
	struct process_key key;
	struct process *process;

	memset(&key, 0, sizeof(key));
	key.pid = pid;
	HASH_FIND(hh, services->processes, &key, sizeof(key), process);
	if (process != NULL)
		process->name = *name;
}

static uint8_t
state_of(const struct flow *flow)
{
	const struct peer *peer = flow->key.peer;

	if (peer->state == PEER_UNKNOWN)
		return WIRE_SERVICE_RESOLVING;
	if (peer->state == PEER_NOT_FOUND)
		return WIRE_SERVICE_UNRESOLVED;
	if (flow->slot == NULL) /* no turn yet, or none of its probes can leave */
		return WIRE_SERVICE_RESOLVING;
	return flow->slot->on ? WIRE_SERVICE_PROBED : WIRE_SERVICE_WAITING;
}

size_t
services_flows(
    const struct services *services, struct wire_service_flow *out, size_t max)
{
	struct flow *flow, *next;
	size_t n = 0;

	HASH_ITER (hh, services->flows, flow, next) {
		const struct peer *peer = flow->key.peer;
		const struct process *process = flow->key.process;

		if (n == max)
			break;
		out[n] = (struct wire_service_flow){
			.src = services->owners[flow->key.owner].id,
			.dst = peer->id,
			.service = process->name.service,
			.comm = process->name.comm,
			.pid = process->key.pid,
			.qp_type = flow->key.qp_type,
			.state = state_of(flow),
			.dscp = flow->key.dscp,
			.older = flow->older,
			.src_port = flow->key.src_port,
			.src_qpn = flow->qpn,
			.dst_qpn = flow->dst_qpn,
			.qps = (uint32_t)flow->qps,
		};
		if (peer->key.family != 0) {
			out[n].peer.family = peer->key.family;
			memcpy(out[n].peer.bytes, peer->key.bytes,
			    sizeof(peer->key.bytes));
		} else if (peer->address_count > 0) {
			out[n].peer = peer->addresses[0];
		}
		if (flow->slot != NULL && flow->exact)
			out[n].probe_port = flow->slot->key.probe_port;
		n++;
	}
	return n;
}

bool
services_is_told(const struct wire_service_flow *flow)
{
	return flow->peer.family != 0;
}

struct services_counts
services_counts(const struct services *services)
{
	struct services_counts counts = services->counts;
	struct flow *flow, *next_flow;
	struct slot *slot, *next_slot;
	uint64_t placed = 0;

	counts.qps = HASH_COUNT(services->qps);
	counts.flows = HASH_COUNT(services->flows);
	counts.guests = HASH_COUNT(services->guests);
	for (size_t i = 0; i < SERVICES_MAX_RNICS; i++)
		counts.unresolved += services->owners[i].unjoinable;
	HASH_ITER (hh, services->flows, flow, next_flow) {
		uint8_t state = state_of(flow);

		placed += flow->slot != NULL;
		counts.waiting += state == WIRE_SERVICE_WAITING;
		if (state == WIRE_SERVICE_UNRESOLVED)
			counts.unresolved += flow->qps;
	}
	HASH_ITER (hh, services->slots, slot, next_slot)
		counts.probed += slot->on;
	counts.merged = placed - HASH_COUNT(services->slots);
	return counts;
}

uint64_t
services_unjoinable(const struct services *services, size_t owner)
{
	return services->owners[owner].unjoinable;
}
