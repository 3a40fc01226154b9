/*
 * agent - the state of each host's agent, kept across its connections. Pure.
 *
 * An agent may report only on RNICs that it has registered and that no other connected
 * agent has registered. When a connection ends, the state of the agent's batches, clock
 * and receive counts stays, so no results are lost by reconnecting.
 */
#ifndef TOR_AGGREGATOR_AGENTS_AGENT_H
#define TOR_AGGREGATOR_AGENTS_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/version.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"
#include "tor-aggregator/agents/clock_map.h"

#define AGENT_MAX_COUNT_ROWS 65536

struct agent_link;
struct agent_health;
struct agents;
struct receive_counts;
struct batch_sequence;
struct tor_rack;

struct agent_rnic {
	struct wire_rnic_id id;
	struct tor_rack *rack; /* NULL: the RNIC is in no rack of this aggregator */
	uint32_t index;        /* index of the RNIC in that rack's roster */
	/* see wire_settings */
	char bond_ports[WIRE_BOND_PORTS_BYTES];
};

struct agent {
	char host[RM_NAME_BYTES];
	uint64_t incarnation;
	char software[RM_VERSION_BYTES]; /* release of the agent; "": not reported */
	rm_wall_t software_since;        /* when it was first reported */
	/* the incarnation whose session the present session has replaced */
	uint64_t superseded;
	/* the agent's connection; NULL: not connected; owned by agent_links */
	struct agent_link *link;
	/* address of the agent's last connection, without the port */
	char address[RM_ADDRESS_TEXT];
	char former[RM_NAME_BYTES]; /* former name of the host; "": none */
	struct batch_sequence *sequence;
	struct agent_health *watch;
	struct receive_counts *received;
	struct clock_map clock;
	struct agent_rnic rnics[WIRE_MAX_HOST_RNICS];
	size_t rnic_count;
	/* the last registration without refused RNICs, as a message for controllers;
	 * owned */
	uint8_t *registration;
	size_t registration_len;
	/* totals since the agent's start, as it last reported them */
	uint64_t dropped_results, dropped_batches;
	/* number of results that the agent may send now, see agent_spend */
	int64_t results_left;
	rm_mono_t refilled;
	bool paused;
	/* share of its probes that the agent sends, in 1/1000; 0: all */
	uint16_t slowed_permille;
	uint8_t slowed_reason; /* enum wire_slow, or a value of a newer agent */
	/* The aggregators that the agent is connected to, by its last heartbeat: hashes
	 * of their names. */
	uint64_t live[WIRE_MAX_LIVE];
	/* 0: the agent does not report its aggregators; otherwise this aggregator is
	 * one of them */
	size_t live_count;
	uint64_t live_mute; /* bit i: the aggregator live[i] cannot deliver alerts */
	rm_mono_t beaten;
	/* for each ToR: the pinglist that was sent last */
	struct agent_pinglist_state {
		const struct tor_rack *rack;
		uint64_t version, rotation, registration;
	} sent[WIRE_MAX_TORS];
	struct agent_pinglist_state sent_keys[WIRE_MAX_TORS]; /* rotation is 0 */
	uint64_t registrations; /* number of registrations of the agent so far */
	struct agent *next;     /* next in the list of all agents, see agents_first */
};

int agents_new(size_t max_agents, struct agents **ret);
void agents_free(struct agents *agents);

/* Finds the agent of a host; NULL: it is not known. */
struct agent *agents_find(const struct agents *agents, const char *host);
/* Finds or creates the agent of a host. If there are max_agents already, it replaces an
 * agent that has neither a connection nor RNICs. -ENOSPC: no agent can be replaced;
 * -ENOMEM. */
int agents_get(struct agents *agents, const char *host, struct agent **ret);
struct agent *agents_first(const struct agents *agents);
size_t agents_count(const struct agents *agents);

/* Handles a hello. True: the incarnation is new, so the agent must register its RNICs
 * again. */
bool agent_hello(struct agent *agent, uint64_t incarnation);
/* Stores the release that the hello reports. */
void agent_note_software(struct agent *agent, const char *software, rm_wall_t now);

struct agent_refused { /* RNICs of a registration that were refused */
	size_t count;
	/* The last refused RNIC; borrowed from the registration. */
	struct wire_rnic rnic;
	const char *reason; /* why the RNIC was refused; NULL: no RNIC was refused */
};

/*
 * Handles a registration. An RNIC is refused, and counted in *refused, if it is
 * malformed, if its id occurs twice in the registration, or if a connected agent of
 * another host has registered it. A host counts as renamed if a disconnected agent had
 * the same address and exactly the RNICs that this agent registers. Then agent->former
 * is the former name of the host, and in the message for controllers each RNIC belongs
 * to that former name. -ENOMEM: the agent has no registered RNICs any more.
 */
int agent_register(struct agents *agents, struct agent *agent,
    const struct wire_register_view *view, struct wire_writer *writer,
    struct agent_refused *refused);

/* True: the agent is not connected and none of its RNICs is in a rack of this
 * aggregator, so its state may be deleted. */
bool agent_is_forgotten(const struct agent *agent);

/* Finds the rack of each RNIC of the agent: the first rack that has the RNIC. RNICs
 * that by now belong to another host are removed from the agent. */
void agent_place(struct agent *agent, struct tor_rack *const *racks, size_t count);

/* Finds an RNIC of the agent; NULL: the agent has not registered it. Hot path: *hint is
 * the index to try first, and is set to the index found. */
const struct agent_rnic *agent_owns(
    const struct agent *agent, struct wire_rnic_id id, size_t *hint);

/* Stores the list of aggregators from a heartbeat, which has just arrived. */
void agent_note_live(
    struct agent *agent, const struct wire_heartbeat *beat, rm_mono_t now);
/* True: the agent is connected to the aggregator. Call it only for an agent that
 * reports its aggregators. *mute: set to true if the agent also reports that the
 * aggregator cannot deliver alerts. */
bool agent_sees(const struct agent *agent, const char *aggregator, bool *mute);

/* True: the agent may send this number of results now. The limit is max_per_s, with
 * bursts of up to 2 s. */
bool agent_spend(
    struct agent *agent, rm_mono_t now, uint64_t results, uint64_t max_per_s);

#endif
