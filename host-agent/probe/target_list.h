/*
 * target_list - the targets of one prober and the rate of each.
 *
 * All intervals are stretched by one factor, so that the sum of the rates stays below
 * the prober's limit. Pure: time is an argument.
 */
#ifndef HOST_AGENT_PROBE_TARGET_LIST_H
#define HOST_AGENT_PROBE_TARGET_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "host-agent/probe/pacer.h"
#include "host-agent/probe/target_filter.h"
#include "schemas/wire.h"

struct port;
struct per_address_limit;
struct prober_target;

struct target_list {
	struct pacer pacer; /* its entries are the targets */
	struct prober_target **targets;
	size_t count;
	struct per_address_limit *limits; /* indexed by target->limit */
	size_t flood_count;
	uint64_t max_rate_per_s;
	/* share of the rates that the pinglist asks for, from 1 to 1000 */
	uint32_t permille;
	double rate_per_s; /* packets per second, at the stretched intervals */
	uint64_t random;   /* state of the jitter */
};

void target_list_init(
    struct target_list *plan, uint64_t max_rate_per_s, uint64_t random_seed);
void target_list_clear(struct target_list *plan);

uint64_t target_list_random(struct target_list *plan);

struct target_list_place { /* the RNIC from which the targets are probed */
	struct port *port;
	const struct own_rnic *own_rnic;
};

/* Replaces the list (copied). Targets beyond a limit, or impossible ones, are left out
 * and added to refused, by reason. -ENOMEM: the list is not changed. */
int target_list_set(struct target_list *plan, const struct target_list_place *place,
    const struct wire_target *wires, size_t count, rm_mono_t now,
    uint64_t refused[TARGET_REFUSALS]);

void target_list_focus(struct target_list *plan, struct wire_rnic_id dst,
    int64_t interval_ns, rm_mono_t until);

/* Sets the pace of every target: call it after a change of targets, focus or limit.
 * Returns when the next focus ends; ns INT64_MAX: no focus is active. */
rm_mono_t target_list_pace(struct target_list *plan, rm_mono_t now);

/* Moves the next probe of every target to a random point of its interval. */
void target_list_jitter(struct target_list *plan, rm_mono_t now);

#endif
