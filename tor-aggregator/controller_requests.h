/*
 * controller_requests - messages of controllers except plans: the brake, answers to
 * agents' requests, and drill-downs.
 *
 * The brake is saved on disk, sent to all agents at once, and sent to each agent that
 * connects later. An agent's request is answered from the aggregator's own rosters if
 * they have the address; otherwise the controller is asked. Every request gets an
 * answer.
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
	uint64_t brakes_sent, brakes_failed; /* messages to agents */
	/* answers from the rosters; answers that could not be sent */
	uint64_t resolved_here, resolve_failed;
	/* join requests for RNICs that the agent has not registered */
	uint64_t unauthorized;
	uint64_t learned,
	    /* peers of services that were found in, or could not be added to, the
	     * rosters */
	    learn_failed;
	uint64_t drills, drills_failed;
};

/* aggregator: borrowed; its racks must exist. The saved brake applies at once. On
 * failure the reason is logged. */
int controller_requests_new(
    struct tor_aggregator *aggregator, struct controller_requests **ret);
void controller_requests_free(
    struct controller_requests *controller_requests); /* free the worker first */

/* Callback on_request of controller_link_listen. */
int controller_requests_take(
    enum wire_kind kind, const uint8_t *data, size_t len, void *arg);

/* Handles a drill-down request of any peer. send() sends the answer. < 0: the request
 * is malformed. */
int controller_requests_drill(struct controller_requests *controller_requests,
    const uint8_t *data, size_t len,
    int (*send)(const struct wire_bytes *bytes, void *arg), void *arg);

/* Call it when a session of an agent begins: sends the brake. */
void controller_requests_session(
    struct controller_requests *controller_requests, struct agent *agent);
void controller_requests_resolve(struct controller_requests *controller_requests,
    struct agent *agent, const struct wire_resolve *resolve);
/* Handles a request for the other end of a QP, which only the controller can answer. */
void controller_requests_join(struct controller_requests *controller_requests,
    struct agent *agent, const struct wire_join *join);
/* Asks the controller which RNIC has this address, which a service of the agent
 * communicates with. The RNIC is added to the rosters when the answer arrives. < 0: the
 * request was not sent. */
int controller_requests_peer(struct controller_requests *controller_requests,
    struct agent *agent, const struct wire_address *address);
/* Call it when a roster has changed. */
void controller_requests_roster(struct controller_requests *controller_requests);

/* Call it once a second. */
void controller_requests_tick(
    struct controller_requests *controller_requests, rm_mono_t now);

const struct brake_store *controller_requests_brake(
    const struct controller_requests *controller_requests);
const struct resolver *controller_requests_resolver(
    const struct controller_requests *controller_requests);
const struct controller_requests_counts *controller_requests_counts(
    const struct controller_requests *controller_requests);

#endif
