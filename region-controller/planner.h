/*
 * planner - makes the leader's plans, soon after a change, but not too early.
 *
 * Changes are gathered for debounce_ms. A new leader that has no registrations from the
 * store publishes nothing until every ToR of the topology has an aggregator and RNICs,
 * or until settle_ms have passed: with half of the registrations, all plans would lose
 * targets. With registrations from the store it plans at once.
 *
 * Plans are made and published in slices, between which the loop turns: the lease is
 * refreshed, and frames and requests are served. If something changes meanwhile,
 * planning begins anew, up to a few times; then it completes the plans that it makes,
 * and begins again afterwards.
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
	/* plans that were dropped unfinished because something changed meanwhile */
	uint64_t restarts;
	uint64_t last_us; /* time that the last planning took, in microseconds */
	/* turns of the loop in which a part of the last planning was done */
	uint64_t slices;
	uint64_t longest_us; /* the longest of these turns, in microseconds */
};

/* All pointers are borrowed; the config may change between calls. */
int planner_new(struct rm_loop *loop, const struct controller_config *config,
    struct store *store, struct registry *registry, struct publish *publish,
    struct planner **ret);
void planner_free(struct planner *planner);

/* Sets the aggregators that get the plans. */
void planner_start(struct planner *planner, struct aggregators *aggregators);

/* This controller became leader: starts planning. is_full: the registry has the
 * registrations of the store. */
void planner_lead(struct planner *planner, bool is_full);
void planner_follow(struct planner *planner);

/* Drops the plans that are being made. Call it before their topology is freed. */
void planner_drop(struct planner *planner);
/* Call it after every change; arg is the planner. */
void planner_soon(void *arg);

/* The result is borrowed from the planner. */
const bool *planner_settled(const struct planner *planner);
const struct planner_counts *planner_counts(const struct planner *planner);
const struct plan_counts *planner_plan_counts(const struct planner *planner);

#endif
