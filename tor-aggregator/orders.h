/*
 * orders - messages of controllers besides plans: the brake, answers to agents'
 * requests, and drill-downs.
 *
 * The brake is saved, and sent to every agent at once and to each new one. An agent's
 * request is answered from the aggregator's own rosters if they have the address, else
 * by the controller; every request is answered.
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
	uint64_t unauthorized; /* joins of RNICs that the agent has not registered */
	uint64_t learned,
	    learn_failed; /* peers of services, by the aggregator's rosters */
	uint64_t drills, drills_failed;
};

/* aggregator: borrowed; its racks exist. The saved brake is in force at once. Logs the
 * reason when it fails. */
int orders_new(struct tor_aggregator *aggregator, struct orders **ret);
void orders_free(struct orders *orders); /* after the worker */

/* relay_listen's on_order. */
int orders_take(enum wire_kind kind, const uint8_t *data, size_t len, void *arg);

/* Handles a drill-down of any peer; the answer is sent with send. < 0: malformed. */
int orders_drill(struct orders *orders, const uint8_t *data, size_t len,
    int (*send)(const struct wire_bytes *bytes, void *arg), void *arg);

/* A new session of an agent: sends the brake. */
void orders_session(struct orders *orders, struct agent *agent);
void orders_resolve(
    struct orders *orders, struct agent *agent, const struct wire_resolve *resolve);
/* A request for the other end of a QP, which only the controller can answer. */
void orders_join(
    struct orders *orders, struct agent *agent, const struct wire_join *join);
/* Requests the RNIC of a peer of this agent's service; it is added to the rosters when
 * the controller has answered. < 0: not sent. */
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
