/*
 * agent - the state of each host's agent, kept across its connections. Pure.
 *
 * An agent may report only for RNICs that it registered and that no other connected
 * agent has registered. The state of its batches, clock and receive counts stays when a
 * connection ends, so reconnecting costs nothing.
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
	struct tor_rack *rack; /* NULL: in no rack of this aggregator */
	uint32_t index;        /* its roster index there */
};

struct agent {
	char host[RM_NAME_BYTES];
	uint64_t incarnation;
	char software[RM_VERSION_BYTES]; /* its release; "": not reported */
	rm_wall_t software_since;        /* when it was first reported */
	uint64_t superseded; /* incarnation whose session was replaced by the present
				session */
	struct agent_link *link; /* NULL: not connected; owned by agent_links */
	char
	    address[RM_ADDRESS_TEXT]; /* address of its last connection, without port */
	char former[RM_NAME_BYTES];   /* former name of its host; or "" */
	struct batch_sequence *sequence;
	struct agent_health *watch;
	struct receive_counts *received;
	struct clock_map clock;
	struct agent_rnic rnics[WIRE_MAX_HOST_RNICS];
	size_t rnic_count;
	uint8_t *registration; /* its last registration without refused RNICs, for
				  controllers */
	size_t registration_len;
	uint64_t dropped_results, dropped_batches; /* as last reported */
	int64_t results_left; /* left of its rate, see agent_spend */
	rm_mono_t refilled;
	bool paused;
	uint16_t slowed_permille; /* share of probes that it sends; 0: all */
	uint8_t slowed_reason;    /* enum wire_slow, or a value of a newer agent */
	/* The aggregators that it is connected to, by the hash of their names, as of
	 * its last heartbeat. */
	uint64_t live[WIRE_MAX_LIVE];
	size_t live_count;  /* 0: not reported; this aggregator is always among them */
	uint64_t live_mute; /* bit i: that aggregator cannot deliver alerts */
	rm_mono_t beaten;
	struct agent_pinglist_state { /* what was last sent to it, per ToR */
		const struct tor_rack *rack;
		uint64_t version, rotation, registration;
	} sent[WIRE_MAX_TORS];
	struct agent_pinglist_state sent_keys[WIRE_MAX_TORS]; /* rotation is 0 */
	uint64_t registrations; /* number of registrations so far */
	struct agent *next;     /* all agents, see agents_first */
};

int agents_new(size_t max_agents, struct agents **ret);
void agents_free(struct agents *agents);

/* NULL: not known. */
struct agent *agents_find(const struct agents *agents, const char *host);
/* Finds or creates it; if there are too many, it replaces an agent without a
 * connection and RNICs. -ENOSPC: there is no such agent; -ENOMEM. */
int agents_get(struct agents *agents, const char *host, struct agent **ret);
struct agent *agents_first(const struct agents *agents);
size_t agents_count(const struct agents *agents);

/* Takes a hello: true when this incarnation is new. Its RNICs must be registered
 * again. */
bool agent_hello(struct agent *agent, uint64_t incarnation);
/* Sets the release in its hello. */
void agent_note_software(struct agent *agent, const char *software, rm_wall_t now);

struct agent_refused { /* RNICs of a registration that were refused */
	size_t count;
	/* The last one that was refused; borrowed from the registration. */
	struct wire_rnic rnic;
	const char *reason; /* reason of that refusal; NULL: none was refused */
};

/*
 * Takes a registration. It detects a renamed host: a disconnected agent had the same
 * address and exactly the RNICs that this one registers. Then agent->former is the
 * former name, and for controllers each RNIC is of that host. Left out and counted in
 * *refused are RNICs that are malformed, that have the id of another one in the
 * registration, or that a connected agent of another host has registered. -ENOMEM: the
 * agent has no registered RNICs any more.
 */
int agent_register(struct agents *agents, struct agent *agent,
    const struct wire_register_view *view, struct wire_writer *writer,
    struct agent_refused *refused);

/* True: not connected, and none of its RNICs is in a rack of this aggregator, so it may
 * be dropped. */
bool agent_is_forgotten(const struct agent *agent);

/* Finds each of its RNICs in the racks; the first rack that has it counts. It loses
 * RNICs that now belong to another host. */
void agent_place(struct agent *agent, struct tor_rack *const *racks, size_t count);

/* NULL: it has not registered this RNIC. Hot path: *hint is the index to try first. */
const struct agent_rnic *agent_owns(
    const struct agent *agent, struct wire_rnic_id id, size_t *hint);

/* Takes the list of aggregators from a heartbeat that arrived now. */
void agent_note_live(
    struct agent *agent, const struct wire_heartbeat *beat, rm_mono_t now);
/* True: the agent is connected to that aggregator. Call it only for an agent that
 * reports its aggregators. mute: set if it also reports that the aggregator cannot
 * deliver. */
bool agent_sees(const struct agent *agent, const char *aggregator, bool *mute);

/* True: it may send this number of results now, at max_per_s with a burst of 2 s. */
bool agent_spend(
    struct agent *agent, rm_mono_t now, uint64_t results, uint64_t max_per_s);

#endif
