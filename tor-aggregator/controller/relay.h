/*
 * relay - the link to the controllers: sends registrations, receives plans.
 *
 * One link to the first reachable controller. Every agent's last registration is sent
 * unchanged, and all of them again after every reconnect. The plans' other members are
 * sent before them with incarnation 0, so that a controller without a memory of them
 * does not drop RNICs whose agents are dead. Plans go to plan_store.
 */
#ifndef TOR_AGGREGATOR_CONTROLLER_RELAY_H
#define TOR_AGGREGATOR_CONTROLLER_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct agent;
struct agents;
struct key_store;
struct peer_versions;
struct plan_store;
struct relay;
struct rm_endpoint;
struct rm_loop;
struct rm_tls;

struct relay_options {
	const struct rm_endpoint *controllers; /* copied; none: no link at all */
	size_t controller_count;
	const char *name, *region; /* borrowed */
	uint64_t incarnation;
	struct rm_tls *tls;      /* borrowed; NULL: plaintext */
	const char *const *tors; /* borrowed; in the order of the store */
	size_t tor_count;
	const struct key_store
	    *keys; /* borrowed; the versions that it holds are sent */
	struct peer_versions *versions; /* borrowed; told of the controllers' */
};

struct relay_counts {
	uint64_t connected, disconnected, refused; /* by the controller's welcome */
	uint64_t registrations, registrations_failed;
	uint64_t plans, bad_frames;
};

/* on_plan: a newer plan of the store's tor-th ToR. */
int relay_new(struct rm_loop *loop, const struct relay_options *options,
    struct agents *agents, struct plan_store *store,
    void (*on_plan)(size_t tor, void *arg), void *arg, struct relay **ret);
void relay_free(struct relay *relay);

/* Handles the controller's other frames. -EPROTO: a kind that it must not send;
 * malformed frames close the link too. */
void relay_listen(struct relay *relay,
    int (*on_order)(enum wire_kind kind, const uint8_t *data, size_t len, void *arg),
    void *arg);

/* Sends to the controller; -ENOTCONN without one. */
int relay_send(struct relay *relay, const struct wire_bytes *bytes);

/* Call it when an agent's registration is new or has changed. */
void relay_registered(struct relay *relay, const struct agent *agent);

/* Call it often: closes the link to a controller that never answers the hello, or that
 * has pinged and then is silent for 2.5 s, so that the next one is tried. */
void relay_watch(struct relay *relay, rm_mono_t now);
/* This daemon itself was stopped until now: the peer was not silent meanwhile. */
void relay_stalled(struct relay *relay, rm_mono_t now);

bool relay_connected(const struct relay *relay);
const char *relay_controller(const struct relay *relay); /* its id, or "" */
/* When its certificate expires, as it reports, if that is soon; 0: not soon. */
uint64_t relay_controller_ends_s(const struct relay *relay);
const struct relay_counts *relay_counts(const struct relay *relay);

#endif
