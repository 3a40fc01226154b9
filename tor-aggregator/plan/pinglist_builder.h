/*
 * pinglist_builder - builds the pinglist of one agent from one ToR's plan: its targets,
 * and the RNICs that it answers. Pure.
 *
 * The targets are, first, the peers of the agent's RNICs in the mesh
 * (rackmesh/judge/mesh), except RNICs of the same host, and RNICs without a common
 * address family or transport (an RNIC with a QPN is probed over verbs, an RNIC without
 * one by UDP); second, the plan's entries whose source is an RNIC of the agent. The
 * roster has all RNICs that the plan names.
 */
#ifndef TOR_AGGREGATOR_PLAN_PINGLIST_BUILDER_H
#define TOR_AGGREGATOR_PLAN_PINGLIST_BUILDER_H

#include <stdint.h>

#include "schemas/wire.h"

struct pinglist_builder;

/* It can be used for many pinglists. */
int pinglist_builder_new(struct pinglist_builder **ret);
void pinglist_builder_free(struct pinglist_builder *pinglist_builder);

/* Returns the number of the plan's rotation at this time, in seconds since the epoch;
 * always 0 if one rotation covers all peers. */
uint64_t pinglist_builder_rotation(const struct wire_plan *plan, int64_t wall_s);

/*
 * own: the agent's RNICs. *ret is valid until the next call, and only as long as the
 * plan's bytes. Entries beyond WIRE_MAX_TARGETS or WIRE_MAX_ROSTER are left out, and
 * their number is added to *refused.
 */
void pinglist_builder_pinglist(struct pinglist_builder *pinglist_builder,
    const struct wire_plan_view *view, uint64_t rotation,
    const struct wire_rnic_id *own, size_t own_count, struct wire_pinglist *ret,
    uint64_t *refused);

/* Returns the interval in us at which src probes dst by this plan; 0: the plan has no
 * such probes. */
uint32_t pinglist_builder_interval_us(const struct wire_plan_view *view,
    struct wire_rnic_id src, struct wire_rnic_id dst);

#endif
