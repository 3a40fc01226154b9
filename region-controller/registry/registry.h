/*
 * registry - every RNIC that agents have registered, with or without a place in the
 * topology. Pure.
 *
 * A well-formed registration is kept even if the topology has no place for the RNIC
 * (yet): a later topology may have one. An RNIC is not forgotten when its agent or
 * aggregator disconnects, since an RNIC that stops answering must be found. But if its
 * host registers a new RNIC in its place (a NIC was exchanged, a VF has a new GUID),
 * the new one replaces it at once. An RNIC does not expire while a session that has
 * reported it is alive. A registration with incarnation 0 comes from a plan that an
 * aggregator holds: it adds RNICs that are not known, and changes no known RNIC.
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
/* Malformed registrations that are kept for the API. */
#define REGISTRY_MAX_REFUSED 256
/* RNICs of a host that have got each other's device names, until the one that is
 * replaced. */
#define REGISTRY_MAX_MOVES 8

struct registry;
struct rm_topology;
struct store_rnic;

struct registry_refused { /* The texts are quoted, cut and printable. */
	char id[RM_RNIC_ID_TEXT];
	char host[RM_NAME_BYTES], device[RM_NAME_BYTES], tor[RM_NAME_BYTES];
	char aggregator[RM_NAME_BYTES];
	/* The malformed name (REGISTRY_BAD_NAME), the name of the other host
	 * (REGISTRY_OF_OTHER_HOST), or "". */
	char name[RM_NAME_BYTES];
	enum registry_refusal refusal;
	uint64_t times;
	rm_wall_t last;
};

struct registry_counts {
	uint64_t registrations; /* registrations of single RNICs, also unchanged ones */
	uint64_t changed;       /* number of these registrations that change a plan */
	uint64_t moved;
	uint64_t forgotten;
	uint64_t renamed; /* RNICs of hosts that were renamed */
	/* RNICs that were dropped because another one has their place */
	uint64_t replaced;
	uint64_t loaded;    /* values from the store that changed an RNIC */
	uint64_t ambiguous; /* registrations of an address that another RNIC has, too */
	uint64_t refused[REGISTRY_REFUSALS];
};

struct registry_source { /* the sender of a registration, and its time */
	const char *host;
	const char *aggregator;
	uint64_t session; /* number of the session, never 0 */
	rm_mono_t now;
	rm_wall_t wall;
};

struct registry_named { /* an RNIC in the registration of a host */
	struct wire_rnic_id id;
	bool was_known; /* the registry knew the RNIC before this registration */
};

int registry_new(struct registry **ret);
void registry_free(struct registry *registry);

/* Sets the topology, which is borrowed until the next call, and finds the place of
 * every RNIC again. */
int registry_set_topology(
    struct registry *registry, const struct rm_topology *topology);

/* Takes a registration. Returns 1: something changed on which plans depend; 0: nothing
 * like that changed; -EINVAL: refused, *refusal is the reason; -ENOMEM. For an RNIC
 * that is kept without a place *refusal is set, too. */
int registry_report(struct registry *registry, const struct wire_rnic *rnic,
    const struct registry_source *source, enum registry_refusal *refusal);

/* Call it after all RNICs in a host's registration were reported. Forgets RNICs of the
 * host that the registration does not name, and whose place one of its new RNICs has.
 * (An RNIC that was known before may just have got another device name or address,
 * which says nothing about other RNICs, unless a new RNIC has the device that it had
 * before.) on_replaced is called for each RNIC before it
 * is freed. Returns their number. */
size_t registry_replace(struct registry *registry, const char *host,
    const struct registry_named *reported, size_t count,
    void (*on_replaced)(
	const struct registry_rnic *old, const struct registry_rnic *by, void *arg),
    void *arg);

/* Gives the host of an RNIC another name. False: the RNIC is not known, or does not
 * belong to the host `former`; then nothing changes. */
bool registry_rename(struct registry *registry, struct wire_rnic_id id,
    const char *former, const char *host);

/* Replaces the state of an RNIC by the store's value. Returns the same results as
 * registry_report. */
int registry_load(
    struct registry *registry, const struct store_rnic *from, rm_mono_t now);

/* Sets a function that is called for each RNIC that expires or is forgotten, which is
 * borrowed for the call. */
void registry_on_gone(struct registry *registry,
    void (*on_gone)(const struct registry_rnic *rnic, void *arg), void *arg);

/* Drops RNICs that no session has reported for max_age_ns; an RNIC stays while a
 * session that has reported it is alive. Returns their number. */
size_t registry_expire(struct registry *registry, rm_mono_t now, int64_t max_age_ns,
    bool (*is_alive)(uint64_t session, void *arg), void *arg);
/* -ENOENT: the RNIC is not known. */
int registry_forget(struct registry *registry, struct rm_rnic_id id);

size_t registry_count(const struct registry *registry);
const struct registry_rnic *registry_find(const struct registry *registry,
    struct rm_rnic_id id); /* Returns NULL if the RNIC is not known. */
/* Returns the RNIC with this address; if several have it, the one that has registered
 * it last. NULL: there is none. */
const struct registry_rnic *registry_resolve(
    const struct registry *registry, const struct wire_address *address);
/* False: there is no i-th shared address. */
bool registry_shared_address(
    const struct registry *registry, size_t i, struct registry_shared *ret);
/* Returns the RNIC in the form of the wire, borrowed. plane: "" if the RNIC has no
 * place, or topology is NULL. */
struct wire_rnic registry_wire(
    const struct rm_topology *topology, const struct registry_rnic *rnic);
/* Makes a list of all RNICs, sorted by id, which the caller frees. */
int registry_sorted(
    const struct registry *registry, const struct registry_rnic ***ret, size_t *count);
/* Number of RNICs with a place under this switch. */
size_t registry_members(const struct registry *registry, size_t tor);

size_t registry_refused_count(const struct registry *registry);
const struct registry_refused *registry_refused(
    const struct registry *registry, size_t i); /* The newest refusal has index 0. */
const struct registry_counts *registry_counts(const struct registry *registry);
const char *registry_refusal_str(enum registry_refusal refusal);
/* Returns a text on the reason and what to do. */
const char *registry_refusal_sentence(enum registry_refusal refusal);

#endif
