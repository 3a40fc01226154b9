/*
 * plan - decides, from topology and registry, which other RNICs each RNIC of a region
 * probes. Pure.
 *
 * Equal input gives equal plans, byte for byte: no time and no random numbers are used;
 * hashes of names spread the load. An RNIC never probes itself, an RNIC of its own host
 * or of another plane, or an RNIC with which it has no address family or no transport
 * in common. An RNIC with a QPN is probed over verbs, one without a QPN over UDP.
 *
 * A plan_set is made in steps, since the plans of a large region take a second. The set
 * has copies of the RNICs. It borrows the topology, so the set must be freed before the
 * topology.
 */
#ifndef REGION_CONTROLLER_PLAN_PLAN_H
#define REGION_CONTROLLER_PLAN_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "region-controller/plan/plan_options.h"
#include "schemas/wire.h"

struct plan_set;
struct registry;
struct rm_topology;

int plan_set_begin(const struct rm_topology *topology, const struct registry *registry,
    const struct plan_options *options, struct plan_set **ret);
/* Does the work of about one rack, which takes a few ms at most. Returns 1: there is
 * more to do; 0: the set is complete; < 0: free the set. */
int plan_set_step(struct plan_set *set);
/* Does plan_set_begin and all steps, for callers that may block. */
int plan_set_new(const struct rm_topology *topology, const struct registry *registry,
    const struct plan_options *options, struct plan_set **ret);
void plan_set_free(struct plan_set *set);

/* The following need a complete set. */
size_t plan_set_count(const struct plan_set
	*set); /* Returns the number of racks, which have the topology's order. */
const char *plan_set_tor(const struct plan_set *set, size_t i);
size_t plan_set_members(const struct plan_set *set, size_t i);
const struct plan_counts *plan_set_counts(const struct plan_set *set);

/* Writes the plan of one rack as a message. -EMSGSIZE, -ENOMEM. */
int plan_set_write(const struct plan_set *set, size_t i, uint64_t version,
    uint64_t digest, struct wire_writer *writer, struct wire_bytes *out);

#endif
