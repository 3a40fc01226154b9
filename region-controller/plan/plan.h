/*
 * plan - decides which RNICs of a region probe which, from the topology and the
 * registry. Pure.
 *
 * Equal input gives equal plans, byte for byte: no time and no random numbers are used;
 * hashes of names spread the load. No RNIC probes itself, its own host, another plane,
 * or an RNIC with which it shares no address family or transport: one with a QPN is
 * probed over verbs, one without by UDP.
 *
 * A plan_set is made step by step, since a large region takes a second. It has copies
 * of the RNICs and borrows the topology: it is to be freed before that goes.
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
/* Does about one rack's share, a few ms at most. 1: there is more; 0: the set is
 * complete; after a failure free it. */
int plan_set_step(struct plan_set *set);
/* Both, to the end: for callers that may block. */
int plan_set_new(const struct rm_topology *topology, const struct registry *registry,
    const struct plan_options *options, struct plan_set **ret);
void plan_set_free(struct plan_set *set);

/* Of a whole set. */
size_t plan_set_count(const struct plan_set *set); /* racks, in the topology's order */
const char *plan_set_tor(const struct plan_set *set, size_t i);
size_t plan_set_members(const struct plan_set *set, size_t i);
const struct plan_counts *plan_set_counts(const struct plan_set *set);

/* One rack's plan as a message. -EMSGSIZE, -ENOMEM. */
int plan_set_write(const struct plan_set *set, size_t i, uint64_t version,
    uint64_t digest, struct wire_writer *writer, struct wire_bytes *out);

#endif
