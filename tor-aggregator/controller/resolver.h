/*
 * resolver - requests of agents that only the controller can answer. Pure.
 *
 * Each is sent with a token of the aggregator, so that no agent can see or disturb
 * another's request, and waits a limited time for its answer. Bounded, also per agent.
 */
#ifndef TOR_AGGREGATOR_CONTROLLER_RESOLVER_H
#define TOR_AGGREGATOR_CONTROLLER_RESOLVER_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"

struct resolver;

#define RESOLVER_MAX_PENDING 1024
#define RESOLVER_MAX_PER_AGENT 256
#define RESOLVER_TIMEOUT_NS (3 * RM_NS_PER_S)

struct resolver_asker {
	char host[RM_NAME_BYTES];
	uint64_t incarnation; /* if the agent has a later incarnation, it did not ask */
	uint64_t token;       /* the agent's own token */
	bool ours; /* asked by the aggregator itself: no answer to the agent */
};

struct resolver_counts {
	uint64_t asked, answered;
	uint64_t expired; /* without an answer in time */
	uint64_t refused; /* too many requests at the same time */
	uint64_t unknown; /* answers without a waiting request */
};

int resolver_new(uint64_t seed, struct resolver **ret);
void resolver_free(struct resolver *resolver);

/* *token: to be sent to the controller. -ENOSPC: too many requests at the same time. */
int resolver_ask(struct resolver *resolver, rm_mono_t now,
    const struct resolver_asker *asker, uint64_t *token);

/* Removes the request and returns who sent it. False: the request does not wait any
 * more. */
bool resolver_answered(
    struct resolver *resolver, uint64_t token, struct resolver_asker *ret);

/* Removes the next request that has waited too long; call it until false. */
bool resolver_expired(
    struct resolver *resolver, rm_mono_t now, struct resolver_asker *ret);

const struct resolver_counts *resolver_counts(const struct resolver *resolver);

#endif
