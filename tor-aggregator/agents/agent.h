/*
 * agent - what we know of each host's agent, across its connections. Pure.
 *
 * An agent speaks only for RNICs that it registered and that no other live agent
 * speaks for. What it proved about its batches, its clock and its receive counts
 * stays when a connection ends, so that coming back costs nothing.
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
struct agent_watch;
struct agents;
struct receive_counts;
struct session;
struct tor_rack;

struct agent_rnic {
	struct wire_rnic_id id;
	struct tor_rack *rack; /* NULL: in none of our racks */
	uint32_t index;        /* its roster index there */
};

struct agent {
	char host[RM_NAME_BYTES];
	uint64_t incarnation;
	char software[RM_VERSION_BYTES]; /* its release; "": it does not say */
	rm_wall_t software_since;        /* when it first said so */
	uint64_t superseded; /* incarnation whose session the present one has ended */
	struct agent_link *link;       /* NULL: not connected; owned by agent_links */
	char address[RM_ADDRESS_TEXT]; /* where it was connected last, without port */
	char former[RM_NAME_BYTES];    /* how its host was called before; or "" */
	struct session *session;
	struct agent_watch *watch;
	struct receive_counts *received;
	struct clock_map clock;
	struct agent_rnic rnics[WIRE_MAX_HOST_RNICS];
	size_t rnic_count;
	uint8_t
	    *registration; /* its last one, less what was refused, for controllers */
	size_t registration_len;
	uint64_t dropped_results, dropped_batches; /* as it last said */
	int64_t results_left;                      /* of its rate, see agent_spend */
	rm_mono_t refilled;
	bool paused;
	uint16_t slowed_permille; /* what it lets itself probe; 0: all */
	uint8_t slowed_reason;    /* enum wire_slow, or what a newer agent knows */
	/* Whom it hears, by the hash of their names, as of its last heartbeat. */
	uint64_t live[WIRE_MAX_LIVE];
	size_t live_count;  /* 0: it does not say; we are always among them */
	uint64_t live_mute; /* bit i: that one says that it cannot deliver */
	rm_mono_t beaten;
	struct agent_pinglist_state { /* what it was last sent, per ToR */
		const struct tor_rack *rack;
		uint64_t version, rotation, registration;
	} sent[WIRE_MAX_TORS];
	struct agent_pinglist_state sent_keys[WIRE_MAX_TORS]; /* rotation is 0 */
	uint64_t registrations;                               /* so many so far */
	struct agent *next; /* all agents, see agents_first */
};

int agents_new(size_t max_agents, struct agents **ret);
void agents_free(struct agents *agents);

/* NULL: not known. */
struct agent *agents_find(const struct agents *agents, const char *host);
/* Finds or makes it; when there are too many, in place of a forgotten one. -ENOSPC:
 * there is none; -ENOMEM. */
int agents_get(struct agents *agents, const char *host, struct agent **ret);
struct agent *agents_first(const struct agents *agents);
size_t agents_count(const struct agents *agents);

/* A hello: true when this incarnation is new to us. Its RNICs are to be registered
 * again. */
bool agent_hello(struct agent *agent, uint64_t incarnation);
/* The release that its hello tells. */
void agent_note_software(struct agent *agent, const char *software, rm_wall_t now);

struct agent_refused { /* RNICs of a registration that were left out */
	size_t count;
	struct wire_rnic rnic; /* the last one; borrowed from the registration */
	const char *reason;    /* why; NULL: none was */
};

/*
 * Takes over a registration. A host may have got another name: an agent that is gone,
 * and was connected from the same address, had RNICs that this one registers, and none
 * else. Then agent->former is its name, and for controllers each RNIC is of that host.
 * RNICs that are malformed, that have the id of another in
 * it, or that a connected agent of another host speaks for are left out: *refused.
 * -ENOMEM: it speaks for none of them now.
 */
int agent_register(struct agents *agents, struct agent *agent,
    const struct wire_register_view *view, struct wire_writer *writer,
    struct agent_refused *refused);

/* Not connected, and none of its RNICs is in a rack of ours: nobody misses it. */
bool agent_is_forgotten(const struct agent *agent);

/* Finds each of its RNICs in the racks; the first that has it wins. For those that are
 * another host's it does not speak any more. */
void agent_place(struct agent *agent, struct tor_rack *const *racks, size_t count);

/* NULL: it does not speak for this RNIC. Hot path: *hint is where to look first. */
const struct agent_rnic *agent_owns(
    const struct agent *agent, struct wire_rnic_id id, size_t *hint);

/* It said so in a heartbeat that arrived now. */
void agent_note_live(
    struct agent *agent, const struct wire_heartbeat *beat, rm_mono_t now);
/* Does it hear that aggregator? Only asked of one that says whom it hears. mute: and
 * that it cannot deliver; set where it does. */
bool agent_sees(const struct agent *agent, const char *aggregator, bool *mute);

/* May it hand in so many results now, at max_per_s with a burst of 2 s? */
bool agent_spend(
    struct agent *agent, rm_mono_t now, uint64_t results, uint64_t max_per_s);

#endif
