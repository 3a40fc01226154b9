/*
 * pinglist_sender - sends pinglists and probe keys to each connected agent.
 *
 * An agent gets one pinglist for each ToR at which it has RNICs. It gets a new one when
 * the plan's version, the plan's rotation or the agent's registration has changed. The
 * number of pinglists sent per tick is limited. Keys are sent first, to all agents: an
 * RNIC should have its key before another RNIC probes it with a key derived from that
 * key.
 */
#ifndef TOR_AGGREGATOR_AGENTS_PINGLIST_SENDER_H
#define TOR_AGGREGATOR_AGENTS_PINGLIST_SENDER_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct agent_server;
struct agents;
struct pinglist_sender;
struct pinglist_builder;
struct key_store;
struct tor_rack;
struct wire_focus;

struct pinglist_sender_counts {
	uint64_t pinglists, keys, failed;
	uint64_t refused_targets; /* targets that did not fit into a pinglist */
	uint64_t focuses, focuses_failed;
};

int pinglist_sender_new(struct agents *agents, struct agent_server *links,
    struct tor_rack *const *racks, size_t rack_count, struct pinglist_sender **ret);
void pinglist_sender_free(struct pinglist_sender *pinglist_sender);
/* keys: borrowed; its ToRs are in the order of the racks. Without this call no keys are
 * sent. */
void pinglist_sender_set_keys(
    struct pinglist_sender *pinglist_sender, struct key_store *keys);

void pinglist_sender_tick(struct pinglist_sender *pinglist_sender, rm_wall_t wall);
void pinglist_sender_focus(struct pinglist_sender *pinglist_sender, const char *host,
    const struct wire_focus *focus);

/* The builder, which the API may use to show a pinglist; borrowed. */
struct pinglist_builder *pinglist_sender_scratch(
    struct pinglist_sender *pinglist_sender);
const struct pinglist_sender_counts *pinglist_sender_counts(
    const struct pinglist_sender *pinglist_sender);

#endif
