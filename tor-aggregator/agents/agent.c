#include "tor-aggregator/agents/agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "rackmesh/core/fnv.h"
#include "tor-aggregator/agents/agent_health.h"
#include "tor-aggregator/agents/batch_sequence.h"
#include "tor-aggregator/agents/receive_counts.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/window/roster.h"

#define BURST_S 2

struct entry {
	struct agent agent;
	UT_hash_handle hh;
};

struct agents {
	struct entry *by_host;
	struct agent *first;
	size_t count, max;
};

int
agents_new(size_t max_agents, struct agents **ret)
{
	struct agents *agents = calloc(1, sizeof(*agents));

	if (agents == NULL)
		return -ENOMEM;
	agents->max = max_agents;
	*ret = agents;
	return 0;
}

static void
entry_free(struct entry *entry)
{
	if (entry == NULL)
		return;
	batch_sequence_free(entry->agent.sequence);
	agent_health_free(entry->agent.watch);
	receive_counts_free(entry->agent.received);
	free(entry->agent.registration);
	free(entry);
}

void
agents_free(struct agents *agents)
{
	struct entry *entry, *next;

	if (agents == NULL)
		return;
	HASH_ITER (hh, agents->by_host, entry, next) {
		HASH_DEL(agents->by_host, entry);
		entry_free(entry);
	}
	free(agents);
}

struct agent *
agents_find(const struct agents *agents, const char *host)
{
	struct entry *entry;

	HASH_FIND_STR(agents->by_host, host, entry);
	return entry == NULL ? NULL : &entry->agent;
}

static struct entry *
entry_new(const char *host)
{
	struct entry *entry = calloc(1, sizeof(*entry));
	struct agent *agent;

	if (entry == NULL)
		return NULL;
	agent = &entry->agent;
	snprintf(agent->host, sizeof(agent->host), "%s", host);
	agent->sequence = batch_sequence_new();
	if (agent->sequence == NULL || agent_health_new(&agent->watch) < 0 ||
	    receive_counts_new(AGENT_MAX_COUNT_ROWS, &agent->received) < 0) {
		entry_free(entry);
		return NULL;
	}
	return entry;
}

bool
agent_is_forgotten(const struct agent *agent)
{
	for (size_t i = 0; i < agent->rnic_count; i++)
		if (agent->rnics[i].rack != NULL)
			return false;
	return agent->link == NULL;
}

/* Deletes one agent that may be deleted. Without that, a host that often changes its
 * name would use up all places. */
static void
make_room(struct agents *agents)
{
	struct agent **at = &agents->first;
	struct entry *entry;

	while (*at != NULL && !agent_is_forgotten(*at))
		at = &(*at)->next;
	if (*at == NULL)
		return;
	entry = (struct entry *)*at; /* agent is the first member of entry */
	*at = entry->agent.next;
	HASH_DEL(agents->by_host, entry);
	entry_free(entry);
	agents->count--;
}

int
agents_get(struct agents *agents, const char *host, struct agent **ret)
{
	struct agent *agent = agents_find(agents, host);
	struct entry *entry;

	if (agent != NULL) {
		*ret = agent;
		return 0;
	}
	if (agents->count >= agents->max)
		make_room(agents);
	if (agents->count >= agents->max)
		return -ENOSPC;
	entry = entry_new(host);
	if (entry == NULL)
		return -ENOMEM;
	HASH_ADD_STR(agents->by_host, agent.host, entry);
	if (entry->hh.tbl == NULL) { /* uthash could not grow */
		entry_free(entry);
		return -ENOMEM;
	}
	entry->agent.next = agents->first;
	agents->first = &entry->agent;
	agents->count++;
	*ret = &entry->agent;
	return 0;
}

struct agent *
agents_first(const struct agents *agents)
{
	return agents->first;
}

size_t
agents_count(const struct agents *agents)
{
	return agents->count;
}

bool
agent_hello(struct agent *agent, uint64_t incarnation)
{
	bool fresh = agent->incarnation != incarnation;

	agent->incarnation = incarnation;
	agent->rnic_count = 0;
	memset(agent->sent, 0, sizeof(agent->sent));
	memset(agent->sent_keys, 0, sizeof(agent->sent_keys));
	/* The host may have been rebooted, which restarts its clock at 0; or a network
	 * path has changed. */
	clock_map_reset(&agent->clock);
	if (fresh) {
		receive_counts_reset(agent->received);
		agent->dropped_results = agent->dropped_batches = 0;
	}
	return fresh;
}

void
agent_note_software(struct agent *agent, const char *software, rm_wall_t now)
{
	char taken[RM_VERSION_BYTES];

	rm_version_take(taken, software);
	if (agent->software_since.ns != 0 && strcmp(agent->software, taken) == 0)
		return;
	strcpy(agent->software, taken);
	agent->software_since = now;
}

static bool
is_registered_by_another(
    const struct agents *agents, const struct agent *but, struct wire_rnic_id id)
{
	size_t hint = 0;

	for (const struct agent *a = agents->first; a != NULL; a = a->next)
		if (a != but && a->link != NULL && agent_owns(a, id, &hint) != NULL)
			return true;
	return false;
}

/* Returns why an RNIC of a registration is refused; NULL: it is accepted. */
static const char *
refusal_text(const struct agents *agents, const struct agent *agent,
    const struct wire_rnic *rnic)
{
	size_t hint = 0;

	if (rnic->id.guid == 0 || rnic->id.port == RM_PORT_SWITCH)
		return "its id is neither a GUID with a port nor a MAC";
	if (!rm_name_valid(rnic->device))
		return "the name of its device is malformed";
	if (strcmp(rnic->host, agent->host) != 0)
		return "it is of another host";
	if (agent->rnic_count >= WIRE_MAX_HOST_RNICS)
		return "the host has too many RNICs";
	if (agent_owns(agent, rnic->id, &hint) != NULL)
		return "another device of the host has the same GUID or MAC: give one "
		       "of them another";
	if (is_registered_by_another(agents, agent, rnic->id))
		return "the agent of another host has registered the same GUID or MAC";
	return NULL;
}

static bool
has_all_of(const struct agent *agent, const struct agent *other)
{
	size_t hint = 0;

	for (size_t i = 0; i < other->rnic_count; i++)
		if (agent_owns(agent, other->rnics[i].id, &hint) == NULL)
			return false;
	return other->rnic_count > 0;
}

/* Sets agent->former if the host is that of a disconnected agent under another name.
 * The former name is deleted when a host of that name registers RNICs. */
static void
find_former(const struct agents *agents, struct agent *agent)
{
	for (const struct agent *a = agents->first; a != NULL; a = a->next)
		if (strcmp(a->host, agent->former) == 0 && a->rnic_count > 0)
			agent->former[0] = '\0';
	for (struct agent *a = agents->first; a != NULL; a = a->next) {
		if (a == agent || a->link != NULL || a->address[0] == 0 ||
		    strcmp(a->address, agent->address) != 0 || !has_all_of(agent, a))
			continue;
		snprintf(agent->former, sizeof(agent->former), "%s", a->host);
		a->rnic_count = 0;
		return;
	}
}

static void
take_rnic(struct agent_rnic *ret, const struct wire_register_view *view, size_t i,
    struct wire_rnic_id id)
{
	struct wire_settings settings;

	*ret = (struct agent_rnic){ .id = id };
	if (wire_register_settings(view, i, &settings))
		memcpy(ret->bond_ports, settings.bond_ports, sizeof(ret->bond_ports));
}

int
agent_register(struct agents *agents, struct agent *agent,
    const struct wire_register_view *view, struct wire_writer *writer,
    struct agent_refused *refused)
{
	struct wire_rnic rnics[WIRE_MAX_HOST_RNICS];
	struct wire_register out = view->reg;
	struct wire_bytes bytes;
	uint8_t *copy;

	*refused = (struct agent_refused){ .count = 0 };
	agent->registrations++;
	agent->rnic_count = 0;
	for (size_t i = 0; i < view->reg.rnic_count; i++) {
		struct wire_rnic rnic;
		const char *reason;

		wire_register_rnic(view, i, &rnic);
		reason = refusal_text(agents, agent, &rnic);
		if (reason != NULL) {
			refused->count++;
			refused->rnic = rnic;
			refused->reason = reason;
			continue;
		}
		rnics[agent->rnic_count] = rnic;
		take_rnic(&agent->rnics[agent->rnic_count++], view, i, rnic.id);
	}
	find_former(agents, agent);
	for (size_t i = 0; i < agent->rnic_count && agent->former[0] != 0; i++)
		rnics[i].host = agent->former;
	out.rnics = rnics;
	out.rnic_count = agent->rnic_count;
	copy = wire_write_register(writer, &out, &bytes) < 0 ? NULL : malloc(bytes.len);
	if (copy == NULL) {
		agent->rnic_count = 0;
		return -ENOMEM;
	}
	memcpy(copy, bytes.data, bytes.len);
	free(agent->registration);
	agent->registration = copy;
	agent->registration_len = bytes.len;
	return 0;
}

static bool
is_anothers(const struct agent *agent, struct wire_rnic_id id,
    struct tor_rack *const *racks, size_t count)
{
	for (size_t t = 0; t < count; t++)
		if (roster_belongs_to_other(tor_rack_roster(racks[t]), id, agent->host))
			return true;
	return false;
}

/* Removes RNICs of other hosts from the agent. Otherwise it could get their keys while
 * their own agent is disconnected. */
static void
give_back_others(struct agent *agent, struct tor_rack *const *racks, size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < agent->rnic_count; i++)
		if (!is_anothers(agent, agent->rnics[i].id, racks, count))
			agent->rnics[left++] = agent->rnics[i];
	agent->rnic_count = left;
}

void
agent_place(struct agent *agent, struct tor_rack *const *racks, size_t count)
{
	give_back_others(agent, racks, count);
	for (size_t i = 0; i < agent->rnic_count; i++) {
		struct agent_rnic *own = &agent->rnics[i];

		own->rack = NULL;
		for (size_t t = 0; t < count && own->rack == NULL; t++) {
			const struct roster_rnic *rnic =
			    roster_find(tor_rack_roster(racks[t]), own->id);

			if (rnic == NULL || rnic->index >= WINDOW_REMOTE_BASE)
				continue;
			own->rack = racks[t];
			own->index = rnic->index;
		}
	}
}

const struct agent_rnic *
agent_owns(const struct agent *agent, struct wire_rnic_id id, size_t *hint)
{
	size_t at = *hint;

	for (size_t i = 0; i < agent->rnic_count; i++, at++) {
		const struct agent_rnic *own;

		if (at >= agent->rnic_count)
			at = 0;
		own = &agent->rnics[at];
		if (own->id.guid == id.guid && own->id.port == id.port) {
			*hint = at;
			return own;
		}
	}
	return NULL;
}

static uint64_t
name_hash(const char *name)
{
	return rm_fnv1a(RM_FNV1A, name, strlen(name));
}

void
agent_note_live(struct agent *agent, const struct wire_heartbeat *beat, rm_mono_t now)
{
	agent->beaten = now;
	agent->live_count = beat->live_count;
	agent->live_mute = beat->live_mute;
	for (size_t i = 0; i < beat->live_count; i++)
		agent->live[i] = name_hash(wire_heartbeat_live(beat, i));
}

bool
agent_sees(const struct agent *agent, const char *aggregator, bool *mute)
{
	const uint64_t wanted = name_hash(aggregator);

	for (size_t i = 0; i < agent->live_count; i++) {
		if (agent->live[i] != wanted)
			continue;
		*mute = (agent->live_mute >> i & 1) != 0;
		return true;
	}
	return false;
}

bool
agent_spend(struct agent *agent, rm_mono_t now, uint64_t results, uint64_t max_per_s)
{
	int64_t passed_ns = rm_mono_since(now, agent->refilled);
	int64_t full = (int64_t)max_per_s * BURST_S;

	if (agent->refilled.ns == 0 || passed_ns >= BURST_S * RM_NS_PER_S) {
		agent->results_left = full;
		agent->refilled = now;
	} else if (passed_ns >= RM_NS_PER_MS) {
		int64_t passed_ms = passed_ns / RM_NS_PER_MS;

		agent->results_left += passed_ms * (int64_t)max_per_s / 1000;
		if (agent->results_left > full)
			agent->results_left = full;
		agent->refilled =
		    rm_mono_add(agent->refilled, passed_ms * RM_NS_PER_MS);
	}
	if (agent->results_left < (int64_t)results)
		return false;
	agent->results_left -= (int64_t)results;
	return true;
}
