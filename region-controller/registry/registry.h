/*
 * registry - every RNIC that agents have registered, with or without a place in the
 * topology. Pure.
 *
 * What is well formed is kept, also when the topology has no place for it (yet): a new
 * topology finds it then. Nothing is forgotten because somebody disconnected: an RNIC
 * that falls silent is a finding, not a gap. But one in whose place its host has a new
 * one (a NIC was swapped, a VF has a new GUID) is replaced by that at once. Who told
 * counts: while a session that told of an RNIC lives, it does not age. Incarnation 0 is
 * second hand, out of a plan that an aggregator holds: it makes an RNIC known, and
 * changes none that is.
 */
#ifndef REGION_CONTROLLER_REGISTRY_REGISTRY_H
#define REGION_CONTROLLER_REGISTRY_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uthash.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"
#include "region-controller/registry/registry_rnic.h"
#include "schemas/wire.h"

#define REGISTRY_MAX_RNICS 131072
#define REGISTRY_MAX_REFUSED 256 /* malformed registrations that are kept */

struct registry;
struct rm_topology;
struct store_rnic;

struct registry_refused { /* malformed; the texts are quoted, cut and printable */
	char id[RM_RNIC_ID_TEXT];
	char host[RM_NAME_BYTES], device[RM_NAME_BYTES], tor[RM_NAME_BYTES];
	char aggregator[RM_NAME_BYTES];
	/* The malformed name (REGISTRY_BAD_NAME), the other host (REGISTRY_ANOTHERS);
	 * or "". */
	char name[RM_NAME_BYTES];
	enum registry_refusal refusal;
	uint64_t times;
	rm_wall_t last;
};

struct registry_counts {
	uint64_t registrations; /* registrations of an RNIC, also equal ones */
	uint64_t changed;       /* that change a plan */
	uint64_t moved;
	uint64_t forgotten;
	uint64_t renamed;   /* of a renamed host */
	uint64_t replaced;  /* dropped for another one in their place */
	uint64_t loaded;    /* from the store, changes only */
	uint64_t ambiguous; /* claims of an address that another RNIC has, too */
	uint64_t refused[REGISTRY_REFUSALS];
};

struct registry_source { /* by whom, when */
	const char *host;
	const char *aggregator;
	uint64_t session; /* never 0 */
	rm_mono_t now;
	rm_wall_t wall;
};

struct registry_named { /* in a host's registration */
	struct wire_rnic_id id;
	bool was_known; /* before it */
};

int registry_new(struct registry **ret);
void registry_free(struct registry *registry);

/* Finds the place of every RNIC again; borrows the topology until the next call. */
int registry_set_topology(
    struct registry *registry, const struct rm_topology *topology);

/* 1: something changed that plans depend on; 0: nothing has. -EINVAL: refused, see
 * *refusal; -ENOMEM. *refusal is set also for what is kept without a place. */
int registry_report(struct registry *registry, const struct wire_rnic *rnic,
    const struct registry_source *source, enum registry_refusal *refusal);

/* After all RNICs of a host's registration were told: forgets those that it does not
 * name any more and in whose place it names a new one. One that was known has come by
 * another device's name or address, which says nothing of the other. on_replaced is
 * called for each before it is gone. Returns how many. */
size_t registry_replace(struct registry *registry, const char *host,
    const struct registry_named *reported, size_t count,
    void (*on_replaced)(
	const struct registry_rnic *old, const struct registry_rnic *by, void *arg),
    void *arg);

/* The host of an RNIC has got another name. False: it is not known, or not of `former`;
 * then nothing changes. */
bool registry_rename(struct registry *registry, struct wire_rnic_id id,
    const char *former, const char *host);

/* The store's value of an RNIC, which replaces the one here. As registry_report. */
int registry_load(
    struct registry *registry, const struct store_rnic *from, rm_mono_t now);

/* Called for each RNIC that expires or is forgotten; borrowed for the call. */
void registry_on_gone(struct registry *registry,
    void (*on_gone)(const struct registry_rnic *rnic, void *arg), void *arg);

/* Drops RNICs that no session has reported for max_age_ns. Returns how many. */
size_t registry_expire(struct registry *registry, rm_mono_t now, int64_t max_age_ns,
    bool (*is_alive)(uint64_t session, void *arg), void *arg);
/* -ENOENT. */
int registry_forget(struct registry *registry, struct rm_rnic_id id);

size_t registry_count(const struct registry *registry);
const struct registry_rnic *registry_find(
    const struct registry *registry, struct rm_rnic_id id); /* or NULL */
/* The RNIC with this address; of several the latest. NULL: none. */
const struct registry_rnic *registry_resolve(
    const struct registry *registry, const struct wire_address *address);
/* False: there is no i-th. */
bool registry_shared_address(
    const struct registry *registry, size_t i, struct registry_shared *ret);
/* As the wire says it, borrowed; plane "" without a place or a topology (NULL). */
struct wire_rnic registry_wire(
    const struct rm_topology *topology, const struct registry_rnic *rnic);
/* All, by id; malloc'd, the caller frees it. */
int registry_sorted(
    const struct registry *registry, const struct registry_rnic ***ret, size_t *count);
/* RNICs that have a place under this switch. */
size_t registry_members(const struct registry *registry, size_t tor);

size_t registry_refused_count(const struct registry *registry);
const struct registry_refused *registry_refused(
    const struct registry *registry, size_t i); /* the newest first */
const struct registry_counts *registry_counts(const struct registry *registry);
const char *registry_refusal_str(enum registry_refusal refusal);
/* Text on what to do about it. */
const char *registry_refusal_sentence(enum registry_refusal refusal);

#endif
