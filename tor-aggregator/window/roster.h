/*
 * roster - who is in one ToR's rack, and whom else its plan names. Pure.
 *
 * Fed by the plan and by what agents register; an RNIC keeps its index for as long
 * as it can, so that a plan that only grows disturbs no window. Members count from 0,
 * remote RNICs from WINDOW_REMOTE_BASE. Names from outside are checked here; what
 * is malformed or beyond the limits is refused and counted.
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

#define ROSTER_MAX_TORS 1024 /* names told apart; the rest shares the last number */

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
	uint32_t link_falls; /* from not down to down, as its agent told */
	bool reported_up;    /* not down, as its agent told last */
	bool planned;        /* in the newest plan */
	bool registered;     /* by an agent in this life of ours */
	bool served;         /* a service of the rack talks to it */
	rm_mono_t learned;   /* when a question about it was answered last; 0: never */
};

int roster_new(const char *tor, struct roster **ret);
void roster_free(struct roster *roster);

/*
 * Takes over a plan's members and remote RNICs. Members that are neither planned
 * nor registered leave. Returns 1 when indexes have changed (renumber the
 * window), 0 when all that was known kept its own, or -ENOMEM.
 */
int roster_plan(struct roster *roster, const struct wire_plan_view *view);

/* An agent speaks for this RNIC, which is attached to our ToR. Same returns;
 * -EINVAL: a bad name or id; -EPERM: it is another host's; -ENOSPC: the rack is full.
 */
int roster_register(struct roster *roster, const struct wire_rnic *rnic);

/* Its host has got another name: a plan that has the former one is older. */
void roster_rename(struct roster *roster, struct wire_rnic_id id, const char *former,
    const char *host);

/* All RNICs of the host's registration are registered: members that it does not name
 * any more, and in whose place (its device, or an address) it has one that no plan
 * names yet, leave whatever the plan says. Same returns. */
int roster_replace(struct roster *roster, const char *host);

/* By the newest plan or an agent that is there, it is not that host's. */
bool roster_is_anothers(
    const struct roster *roster, struct wire_rnic_id id, const char *host);

/* The host's agent is gone: what no plan names leaves with the next plan. */
void roster_leave(struct roster *roster, const char *host);

/*
 * An RNIC outside that a service of our rack talks to: it stays while it is served,
 * also when no plan names it. What a plan or an agent says of it goes before. 0,
 * without any change of indexes; -EINVAL: a bad name or id, or of our own ToR;
 * -ENOSPC; -ENOMEM.
 */
int roster_learn(struct roster *roster, const struct wire_rnic *rnic, rm_mono_t now);
/* It is served. False: not known here. */
bool roster_serve(struct roster *roster, struct wire_rnic_id id);
/* Nobody is served any more: what still is, is said again. */
void roster_unserve(struct roster *roster);

const char *roster_tor(const struct roster *roster);
/* Hot path. NULL: not known here. */
const struct roster_rnic *roster_find(
    const struct roster *roster, struct wire_rnic_id id);
size_t roster_members(const struct roster *roster);
size_t roster_remotes(const struct roster *roster);
size_t roster_hosts(const struct roster *roster); /* that have members */
const struct roster_rnic *roster_member(const struct roster *roster, size_t i);
const struct roster_rnic *roster_remote(const struct roster *roster, size_t i);
const struct roster_rnic *roster_at(const struct roster *roster, uint32_t index);
const char *roster_host(const struct roster *roster, size_t i);
const char *roster_tor_name(const struct roster *roster, uint16_t number); /* or "" */
/* RNICs that found no place so far: malformed, another host's, or beyond a bound. */
const uint64_t *roster_refused(const struct roster *roster);

#endif
