/*
 * roster - the members of one ToR's rack, and the other RNICs that its plan names.
 * Pure.
 *
 * Filled by the plan and by agents' registrations; an RNIC keeps its index for as long
 * as possible, so that a plan that only grows disturbs no window. Members count from 0,
 * remote RNICs from WINDOW_REMOTE_BASE. Names from outside are checked here; malformed
 * ones and those beyond the limits are refused and counted.
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

/* Numbers of ToRs. All beyond have the last number, which has no name. */
#define ROSTER_MAX_TORS 1024
#define ROSTER_OTHER_TORS (ROSTER_MAX_TORS - 1)

struct roster_rnic {
	struct wire_rnic_id id;
	uint32_t index;
	uint16_t tor_number; /* stable for the life of the roster; 0: its own ToR */
	size_t host_index;   /* members only */
	char host[RM_NAME_BYTES], device[RM_NAME_BYTES], tor[RM_NAME_BYTES];
	char former[RM_NAME_BYTES]; /* of its host, before roster_rename; or "" */
	struct wire_address addresses[WIRE_MAX_ADDRESSES];
	size_t address_count;
	uint32_t qpn, large_qpn, mtu_bytes;
	uint16_t lid;
	uint8_t link; /* enum wire_link */
	bool authenticates;
	uint32_t link_falls; /* changes to down, as its agent reported */
	bool reported_up;    /* not down, as its agent reported last */
	bool planned;        /* in the newest plan */
	bool registered;     /* by an agent since the start of this aggregator */
	bool served;         /* a service of the rack talks to it */
	rm_mono_t learned;   /* when the last answer about it came; 0: never */
};

int roster_new(const char *tor, struct roster **ret);
void roster_free(struct roster *roster);

/*
 * Takes over a plan's members and remote RNICs. Members that are neither planned nor
 * registered are removed. Returns 1 when indexes have changed (renumber the window), 0
 * when all known RNICs kept theirs, or -ENOMEM.
 */
int roster_plan(struct roster *roster, const struct wire_plan_view *view);

/* An agent registers this RNIC, which is attached to the rack's ToR. Same return
 * values; -EINVAL: a bad name or id; -EPERM: it belongs to another host; -ENOSPC:
 * the rack is full. */
int roster_register(struct roster *roster, const struct wire_rnic *rnic);

/* Its host has another name now: a plan with the former name is older. */
void roster_rename(struct roster *roster, struct wire_rnic_id id, const char *former,
    const char *host);

/* Call it when all RNICs of the host's registration are registered: removes members
 * that are not in it any more, if one of its RNICs that no plan names yet has their
 * device or address, whatever the plan says. Same return values. */
int roster_replace(struct roster *roster, const char *host);

/* True: by the newest plan or a connected agent, it does not belong to that host. */
bool roster_is_anothers(
    const struct roster *roster, struct wire_rnic_id id, const char *host);

/* The host's agent is gone: members that no plan names are removed with the next
 * plan. */
void roster_leave(struct roster *roster, const char *host);

/*
 * A remote RNIC that a service of the rack talks to: it stays while it is served, also
 * when no plan names it. Data from a plan or an agent has priority. 0, without any
 * change of indexes; -EINVAL: a bad name or id, or of the rack's own ToR; -ENOSPC;
 * -ENOMEM.
 */
int roster_learn(struct roster *roster, const struct wire_rnic *rnic, rm_mono_t now);
/* Marks it as served. False: not known here. */
bool roster_serve(struct roster *roster, struct wire_rnic_id id);
/* Marks all as not served: those that still are, are marked again. */
void roster_unserve(struct roster *roster);

const char *roster_tor(const struct roster *roster);
/* Hot path. NULL: not known here. */
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
