/*
 * dispatch - sends each connected agent its pinglists and keys.
 *
 * One pinglist per ToR of its RNICs, again whenever the plan's version, its rotation or
 * the agent's registration has changed. A bounded number per tick. Keys go first, and
 * to all agents: an RNIC should have its key before another one probes it with a
 * derived key.
 */
#ifndef TOR_AGGREGATOR_AGENTS_DISPATCH_H
#define TOR_AGGREGATOR_AGENTS_DISPATCH_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct agent_links;
struct agents;
struct dispatch;
struct expansion;
struct key_store;
struct tor_rack;
struct wire_focus;

struct dispatch_counts {
	uint64_t pinglists, keys, failed;
	uint64_t refused_targets; /* beyond what one pinglist can hold */
	uint64_t focuses, focuses_failed;
};

int dispatch_new(struct agents *agents, struct agent_links *links,
    struct tor_rack *const *racks, size_t rack_count, struct dispatch **ret);
void dispatch_free(struct dispatch *dispatch);
/* Borrowed; in the order of the racks. Without it no keys are sent. */
void dispatch_set_keys(struct dispatch *dispatch, struct key_store *keys);

void dispatch_tick(struct dispatch *dispatch, rm_wall_t wall);
void dispatch_focus(
    struct dispatch *dispatch, const char *host, const struct wire_focus *focus);

/* Scratch memory for the API, to show a pinglist. */
struct expansion *dispatch_scratch(struct dispatch *dispatch);
const struct dispatch_counts *dispatch_counts(const struct dispatch *dispatch);

#endif
