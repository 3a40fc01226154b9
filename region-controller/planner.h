/*
 * planner - makes the leader's plans, soon after a change, but not too early.
 *
 * Changes are gathered for debounce_ms. A new leader without stored registrations
 * publishes nothing before every ToR of the topology has an aggregator and RNICs, or
 * settle_ms have passed: a controller that knows half of the region would shrink all
 * plans. With registrations from the store it plans at once.
 *
 * Plans are made and published in slices, between which the loop turns: the lease is
 * refreshed, and frames and requests are served. What changes meanwhile begins it anew,
 * a few times; then it goes through with what it has, and begins again after that.
 */
#ifndef REGION_CONTROLLER_PLANNER_H
#define REGION_CONTROLLER_PLANNER_H

#include <stdbool.h>
#include <stdint.h>

struct aggregators;
struct controller_config;
struct plan_counts;
struct planner;
struct publish;
struct registry;
struct rm_loop;
struct store;

struct planner_counts {
	uint64_t plannings, failures;
	uint64_t restarts;   /* given up because something changed meanwhile */
	uint64_t last_us;    /* the last one took so long */
	uint64_t slices;     /* turns of the loop that did a part of it */
	uint64_t longest_us; /* of them, in the last one */
};

/* All are borrowed; the config may change between calls. */
int planner_new(struct rm_loop *loop, const struct controller_config *config,
    struct store *store, struct registry *registry, struct publish *publish,
    struct planner **ret);
void planner_free(struct planner *planner);

/* They get the plans. */
void planner_start(struct planner *planner, struct aggregators *aggregators);

/* Starts planning; loaded: the registry has the store's registrations. */
void planner_lead(struct planner *planner, bool is_full);
void planner_follow(struct planner *planner);

/* Call it before the topology is freed: gives up the plans being made of it. */
void planner_drop(struct planner *planner);
/* Call it after a change; arg is the planner. */
void planner_soon(void *arg);

/* All borrowed from the planner. */
const bool *planner_settled(const struct planner *planner);
const struct planner_counts *planner_counts(const struct planner *planner);
const struct plan_counts *planner_plan_counts(const struct planner *planner);

#endif
