/*
 * prober_plan - the targets of one prober and the rate of each.
 *
 * Keeps the sum of all rates below the limit by stretching all intervals by the same
 * factor. Pure: time is an argument.
 */
#ifndef HOST_AGENT_PROBE_PROBER_PLAN_H
#define HOST_AGENT_PROBE_PROBER_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "host-agent/probe/pacer.h"
#include "host-agent/probe/target_rules.h"
#include "schemas/wire.h"

struct port;
struct prober_crowd;
struct prober_target;

struct prober_plan {
	struct pacer pacer; /* its entries are the targets */
	struct prober_target **targets;
	size_t count;
	struct prober_crowd *crowds; /* by target->crowd */
	size_t crowd_count;
	uint64_t max_rate_per_s;
	uint32_t permille; /* of what the pinglist asks for, from 1 */
	double rate_per_s; /* packets, after stretching */
	uint64_t random;   /* state of the jitter */
};

void prober_plan_init(
    struct prober_plan *plan, uint64_t max_rate_per_s, uint64_t random_seed);
void prober_plan_clear(struct prober_plan *plan);

uint64_t prober_plan_random(struct prober_plan *plan);

struct prober_plan_place { /* from where the targets are probed */
	struct port *port;
	const struct target_home *home;
};

/* Adds the targets beyond a limit, or impossible ones, to refused. On failure nothing
 * has changed.
 */
int prober_plan_set(struct prober_plan *plan, const struct prober_plan_place *place,
    const struct wire_target *wires, size_t count, rm_mono_t now,
    uint64_t refused[TARGET_REFUSALS]);

void prober_plan_focus(struct prober_plan *plan, struct wire_rnic_id dst,
    int64_t interval_ns, rm_mono_t until);

/* Call it after a change of targets, focus or limit: sets every target's pace. Returns
 * when the next focus ends; INT64_MAX ns: none. */
rm_mono_t prober_plan_pace(struct prober_plan *plan, rm_mono_t now);

/* Every target starts at a random point of its interval. */
void prober_plan_jitter(struct prober_plan *plan, rm_mono_t now);

#endif
