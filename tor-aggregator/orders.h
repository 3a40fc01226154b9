/*
 * orders - what comes down from above besides plans: the brake, answers to questions of
 * our agents, and drill-downs.
 *
 * The brake is remembered, given to every agent at once and to each that comes later.
 * An agent's question is answered from our own rosters where they know the address,
 * else by the controller; one way or the other it is always answered.
 */
#ifndef TOR_AGGREGATOR_ORDERS_H
#define TOR_AGGREGATOR_ORDERS_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct agent;
struct brake_store;
struct orders;
struct resolver;
struct tor_aggregator;

struct orders_counts {
	uint64_t brakes_sent, brakes_failed;    /* to agents */
	uint64_t resolved_here, resolve_failed; /* failed: answers not sent */
	uint64_t unauthorized; /* joins of RNICs that the agent does not speak for */
	uint64_t learned, learn_failed; /* peers of services, by our rosters */
	uint64_t drills, drills_failed;
};

/* aggregator: borrowed; its racks exist. The remembered brake is in force at once. Has
 * said why when it fails. */
int orders_new(struct tor_aggregator *aggregator, struct orders **ret);
void orders_free(struct orders *orders); /* after the worker */

/* relay_listen's on_order. */
int orders_take(enum wire_kind kind, const uint8_t *data, size_t len, void *arg);

/* From whomever; the answer goes back through send. < 0: malformed. */
int orders_drill(struct orders *orders, const uint8_t *data, size_t len,
    int (*send)(const struct wire_bytes *bytes, void *arg), void *arg);

/* A new session of an agent: it learns of the brake. */
void orders_session(struct orders *orders, struct agent *agent);
void orders_resolve(
    struct orders *orders, struct agent *agent, const struct wire_resolve *resolve);
/* The controller knows who else has asked. */
void orders_join(
    struct orders *orders, struct agent *agent, const struct wire_join *join);
/* Whom a service of this agent talks to, for our rosters: they learn of it once the
 * controller has answered. < 0: not asked. */
int orders_peer(
    struct orders *orders, struct agent *agent, const struct wire_address *address);
/* A roster has changed. */
void orders_roster(struct orders *orders);

/* Once a second. */
void orders_tick(struct orders *orders, rm_mono_t now);

const struct brake_store *orders_brake(const struct orders *orders);
const struct resolver *orders_resolver(const struct orders *orders);
const struct orders_counts *orders_counts(const struct orders *orders);

#endif
