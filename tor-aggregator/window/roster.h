/*
 * roster - the members of one ToR's rack, and the other RNICs that its plan names.
 * Pure.
 *
 * Plans and the registrations of agents fill it. An RNIC keeps its index for as long as
 * possible, so that a plan that only adds RNICs does not interrupt a window. Indexes of
 * members start at 0, those of remote RNICs at WINDOW_REMOTE_BASE. RNICs with malformed
 * names, and those beyond the limits, are refused and counted.
 */
#ifndef TOR_AGGREGATOR_WINDOW_ROSTER_H
#define TOR_AGGREGATOR_WINDOW_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

struct roster;

/* Number of ToR numbers. All further ToRs share the last number, which has no name. */
#define ROSTER_MAX_TORS 1024
#define ROSTER_OTHER_TORS (ROSTER_MAX_TORS - 1)

struct roster_rnic {
	struct wire_rnic_id id;
	uint32_t index;
	uint16_t tor_number; /* stable for the life of the roster; 0: its own ToR */
	size_t host_index;   /* members only */
	char host[RM_NAME_BYTES], device[RM_NAME_BYTES], tor[RM_NAME_BYTES];
	/* name of the RNIC's host before roster_rename, or "" */
	char former[RM_NAME_BYTES];
	struct wire_address addresses[WIRE_MAX_ADDRESSES];
	size_t address_count;
	uint32_t qpn, large_qpn, mtu_bytes;
	uint16_t lid;
	uint8_t link; /* enum wire_link */
	bool authenticates;
	uint32_t link_falls; /* changes to down, as its agent reported */
	bool reported_up;    /* not down, as its agent reported last */
	bool planned;        /* the RNIC is in the newest plan */
	/* an agent has registered the RNIC since the start of this aggregator */
	bool registered;
	bool served;       /* a service of the rack talks to it */
	rm_mono_t learned; /* time of the last roster_learn; ns 0: never */
};

int roster_new(const char *tor, struct roster **ret);
void roster_free(struct roster *roster);

/*
 * Takes over a plan's members and remote RNICs. Members that are neither planned nor
 * registered are removed. Returns 1 when indexes have changed (renumber the window), or
 * 0 when all known RNICs kept theirs. -ENOMEM: a part of the plan was taken, no RNIC
 * was removed, all members count as planned until the next plan, and indexes may have
 * changed.
 */
int roster_plan(struct roster *roster, const struct wire_plan_view *view);

/* An agent registers this RNIC, which is attached to the rack's ToR. Return values as
 * of roster_plan; and -EINVAL: a bad name or id; -EPERM: it belongs to another host;
 * -ENOSPC: the rack is full. */
int roster_register(struct roster *roster, const struct wire_rnic *rnic);

/* The RNIC's host has another name now. A plan with the former name was made before,
 * and does not change the name back. */
void roster_rename(struct roster *roster, struct wire_rnic_id id, const char *former,
    const char *host);

/* Call it after roster_register was called for each RNIC in a host's registration.
 * Removes members that are not in the registration any more, if an RNIC in it that no
 * plan names yet has their device name or address; then not even the plan keeps them.
 * Return values as of roster_plan. */
int roster_replace(struct roster *roster, const char *host);

/* True: by the newest plan or a connected agent, the RNIC belongs to another host. */
bool roster_belongs_to_other(
    const struct roster *roster, struct wire_rnic_id id, const char *host);

/* The host's agent has disconnected: its members that no plan names are removed with
 * the next plan. */
void roster_leave(struct roster *roster, const char *host);

/*
 * Adds a remote RNIC that a service of the rack talks to. It stays while it is served,
 * also if no plan names it. Data from a plan or an agent has priority. 0: no other
 * index has changed; -EINVAL: a bad name or id, or it is at the rack's own ToR;
 * -ENOSPC; -ENOMEM.
 */
int roster_learn(struct roster *roster, const struct wire_rnic *rnic, rm_mono_t now);
/* Marks an RNIC as served. False: it is not in the roster. */
bool roster_serve(struct roster *roster, struct wire_rnic_id id);
/* Marks all RNICs as not served; the caller then calls roster_serve for each that is.
 */
void roster_unserve(struct roster *roster);

const char *roster_tor(const struct roster *roster);
/* Hot path. NULL: it is not in the roster. */
const struct roster_rnic *roster_find(
    const struct roster *roster, struct wire_rnic_id id);
size_t roster_members(const struct roster *roster);
size_t roster_remotes(const struct roster *roster);
size_t roster_hosts(const struct roster *roster); /* number of hosts with members */
const struct roster_rnic *roster_member(const struct roster *roster, size_t i);
const struct roster_rnic *roster_remote(const struct roster *roster, size_t i);
const struct roster_rnic *roster_at(const struct roster *roster, uint32_t index);
const char *roster_host(const struct roster *roster, size_t i);
const char *roster_tor_name(const struct roster *roster, uint16_t number); /* or "" */
/* RNICs refused so far: malformed, of another host, or beyond a limit. */
const uint64_t *roster_refused(const struct roster *roster);

#endif
