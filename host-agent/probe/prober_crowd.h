/*
 * prober_crowd - all targets of one address: whatever a plan names it, and however
 * often, one host gets no more than CEILING_TARGET_PACKETS_PER_S and _BYTES_PER_S of a
 * prober. Pure.
 */
#ifndef HOST_AGENT_PROBE_PROBER_CROWD_H
#define HOST_AGENT_PROBE_PROBER_CROWD_H

#include <stddef.h>

struct prober_target;

struct prober_crowd {
	double packets_per_s, bytes_per_s; /* as asked for */
};

/* Sets target->crowd of each. The caller frees *ret. -ENOMEM. */
int prober_crowds_make(struct prober_target *const *targets, size_t count,
    struct prober_crowd **ret, size_t *ret_count);
void prober_crowds_clear(struct prober_crowd *crowds, size_t count);
void prober_crowd_add(struct prober_crowd *crowds, const struct prober_target *target,
    double packets_per_s);

/* By what its targets' intervals stretch, 1 or more. */
double prober_crowd_stretch(const struct prober_crowd *crowd);

/* Of a target's packets on the wire, on average. */
double prober_crowd_bytes(const struct prober_target *target);

#endif
