/*
 * controller_requests - messages of controllers except plans: the brake, answers to
 * agents' requests, and drill-downs.
 *
 * The brake is saved, and sent to every agent at once and to each new one. An agent's
 * request is answered from the aggregator's own rosters if they have the address, else
 * by the controller; every request is answered.
 */
#ifndef TOR_AGGREGATOR_CONTROLLER_REQUESTS_H
#define TOR_AGGREGATOR_CONTROLLER_REQUESTS_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct agent;
struct brake_store;
struct controller_requests;
struct resolver;
struct tor_aggregator;

struct controller_requests_counts {
	uint64_t brakes_sent, brakes_failed;    /* to agents */
	uint64_t resolved_here, resolve_failed; /* failed: answers not sent */
	uint64_t unauthorized; /* joins of RNICs that the agent has not registered */
	uint64_t learned,
	    learn_failed; /* peers of services, by the aggregator's rosters */
	uint64_t drills, drills_failed;
};

/* aggregator: borrowed; its racks exist. The saved brake applies at once. Logs the
 * reason on failure. */
int controller_requests_new(
    struct tor_aggregator *aggregator, struct controller_requests **ret);
void controller_requests_free(
    struct controller_requests *controller_requests); /* after the worker */

/* Callback on_order of controller_link_listen. */
int controller_requests_take(
    enum wire_kind kind, const uint8_t *data, size_t len, void *arg);

/* Handles a drill-down of any peer; the answer is sent with send. < 0: malformed. */
int controller_requests_drill(struct controller_requests *controller_requests,
    const uint8_t *data, size_t len,
    int (*send)(const struct wire_bytes *bytes, void *arg), void *arg);

/* A new session of an agent: sends the brake. */
void controller_requests_session(
    struct controller_requests *controller_requests, struct agent *agent);
void controller_requests_resolve(struct controller_requests *controller_requests,
    struct agent *agent, const struct wire_resolve *resolve);
/* A request for the other end of a QP, which only the controller can answer. */
void controller_requests_join(struct controller_requests *controller_requests,
    struct agent *agent, const struct wire_join *join);
/* Requests the RNIC of a peer of this agent's service; it is added to the rosters when
 * the controller has answered. < 0: not sent. */
int controller_requests_peer(struct controller_requests *controller_requests,
    struct agent *agent, const struct wire_address *address);
/* A roster has changed. */
void controller_requests_roster(struct controller_requests *controller_requests);

/* Once a second. */
void controller_requests_tick(
    struct controller_requests *controller_requests, rm_mono_t now);

const struct brake_store *controller_requests_brake(
    const struct controller_requests *controller_requests);
const struct resolver *controller_requests_resolver(
    const struct controller_requests *controller_requests);
const struct controller_requests_counts *controller_requests_counts(
    const struct controller_requests *controller_requests);

#endif
