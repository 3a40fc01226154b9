/*
 * resolver - stores the agents' requests that wait for an answer of the controller.
 * Pure.
 *
 * A request is sent with a token that the aggregator chooses, so that no agent can see
 * or disturb the request of another agent. A request without an answer is removed after
 * RESOLVER_TIMEOUT_NS. The number of requests is limited, in total and per agent.
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
	uint64_t incarnation; /* an agent with a later incarnation gets no answer */
	uint64_t token;       /* the agent's own token, for the answer */
	bool ours; /* the aggregator itself has asked: no agent gets the answer */
};

struct resolver_counts {
	uint64_t asked, answered;
	uint64_t expired; /* removed after RESOLVER_TIMEOUT_NS */
	uint64_t refused; /* beyond a limit */
	uint64_t unknown; /* answers without a waiting request */
};

int resolver_new(uint64_t seed, struct resolver **ret);
void resolver_free(struct resolver *resolver);

/* Adds a request. *token: to be sent to the controller. -ENOSPC: a limit is reached. */
int resolver_ask(struct resolver *resolver, rm_mono_t now,
    const struct resolver_asker *asker, uint64_t *token);

/* Removes the request with this token. *ret: who asked. False: there is no such
 * request. */
bool resolver_answered(
    struct resolver *resolver, uint64_t token, struct resolver_asker *ret);

/* Removes a request that has waited too long; call it until it returns false. */
bool resolver_expired(
    struct resolver *resolver, rm_mono_t now, struct resolver_asker *ret);

const struct resolver_counts *resolver_counts(const struct resolver *resolver);

#endif
