/*
 * pinglist_builder - builds the pinglist of one agent from one ToR's plan: its targets,
 * and the RNICs that it answers. Pure.
 *
 * The targets are mesh peers by rackmesh/judge/mesh of the agent's RNICs, without those
 * on its own host and those without a common address family or transport (an RNIC with
 * a QPN is probed over verbs, one without by UDP), and planned entries whose source is
 * one of its RNICs; the roster has all RNICs that the plan names.
 */
#ifndef TOR_AGGREGATOR_PLAN_PINGLIST_BUILDER_H
#define TOR_AGGREGATOR_PLAN_PINGLIST_BUILDER_H

#include <stdint.h>

#include "schemas/wire.h"

struct pinglist_builder;

int pinglist_builder_new(struct pinglist_builder **ret); /* reusable scratch memory */
void pinglist_builder_free(struct pinglist_builder *pinglist_builder);

/* The rotation in use now: 0 as long as one rotation covers all peers. */
uint64_t pinglist_builder_rotation(const struct wire_plan *plan, int64_t wall_s);

/*
 * own: the agent's RNICs. Everything in *ret is valid until the next call or as long as
 * the plan's bytes, whichever ends first. Entries beyond WIRE_MAX_TARGETS or
 * WIRE_MAX_ROSTER are left out and added to *refused.
 */
void pinglist_builder_pinglist(struct pinglist_builder *pinglist_builder,
    const struct wire_plan_view *view, uint64_t rotation,
    const struct wire_rnic_id *own, size_t own_count, struct wire_pinglist *ret,
    uint64_t *refused);

/* The interval at which src probes dst in this plan; 0: not planned. */
uint32_t pinglist_builder_interval_us(const struct wire_plan_view *view,
    struct wire_rnic_id src, struct wire_rnic_id dst);

#endif
