/*
 * controller_link - the link to the controllers: sends registrations, receives plans.
 *
 * One link to the first reachable controller. Every agent's last registration is sent
 * unchanged, and all of them again after every reconnect. The plans' other members are
 * sent before them with incarnation 0, so that a controller that does not know them
 * does not drop RNICs whose agents are dead. Plans go to plan_store.
 */
#ifndef TOR_AGGREGATOR_CONTROLLER_CONTROLLER_LINK_H
#define TOR_AGGREGATOR_CONTROLLER_CONTROLLER_LINK_H

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
struct controller_link;
struct rm_endpoint;
struct rm_loop;
struct rm_tls;

struct controller_link_options {
	const struct rm_endpoint *controllers; /* copied; none: no link at all */
	size_t controller_count;
	const char *name, *region; /* borrowed */
	uint64_t incarnation;
	struct rm_tls *tls;      /* borrowed; NULL: plaintext */
	const char *const *tors; /* borrowed; in the order of the store */
	size_t tor_count;
	const struct key_store
	    *keys; /* borrowed; the versions that it holds are sent */
	/* Borrowed; the controllers' versions are entered. */
	struct peer_versions *versions;
};

struct controller_link_counts {
	/* connected: after the controller's welcome. */
	uint64_t connected, disconnected, refused;
	uint64_t registrations, registrations_failed;
	uint64_t plans, bad_frames;
};

/* on_plan: a newer plan of the store's tor-th ToR. */
int controller_link_new(struct rm_loop *loop,
    const struct controller_link_options *options, struct agents *agents,
    struct plan_store *store, void (*on_plan)(size_t tor, void *arg), void *arg,
    struct controller_link **ret);
void controller_link_free(struct controller_link *controller_link);

/* Handles the controller's other frames. -EPROTO: a kind that it must not send;
 * malformed frames close the link too. */
void controller_link_listen(struct controller_link *controller_link,
    int (*on_order)(enum wire_kind kind, const uint8_t *data, size_t len, void *arg),
    void *arg);

/* Sends to the controller; -ENOTCONN without one. */
int controller_link_send(
    struct controller_link *controller_link, const struct wire_bytes *bytes);

/* Call it when an agent's registration is new or has changed. */
void controller_link_registered(
    struct controller_link *controller_link, const struct agent *agent);

/* Call it often: closes the link to a controller that never answers the hello, or that
 * has pinged and then is silent for 2.5 s, so that the next one is tried. */
void controller_link_watch(struct controller_link *controller_link, rm_mono_t now);
/* This daemon itself was stopped until now: the peer was not silent meanwhile. */
void controller_link_stalled(struct controller_link *controller_link, rm_mono_t now);

bool controller_link_connected(const struct controller_link *controller_link);
const char *controller_link_controller(
    const struct controller_link *controller_link); /* its id, or "" */
/* When its certificate expires, as it reports, if that is soon; 0: not soon. */
uint64_t controller_link_controller_ends_s(
    const struct controller_link *controller_link);
const struct controller_link_counts *controller_link_counts(
    const struct controller_link *controller_link);

#endif
