/*
 * controller_link - the connection to a controller: sends registrations, and receives
 * plans.
 *
 * There is one link, to the first controller in the list that can be reached. The last
 * registration of each agent is sent unchanged, and again after each reconnect. Before
 * these, the link sends the members of the plans for which no agent is connected, with
 * incarnation 0: otherwise a controller that does not know these members would leave
 * them out of its plans. Plans that arrive are passed to plan_store.
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
	const struct rm_endpoint *controllers; /* copied */
	size_t controller_count;
	const char *name, *region; /* borrowed */
	uint64_t incarnation;
	struct rm_tls *tls;      /* borrowed; NULL: plaintext */
	const char *const *tors; /* borrowed; in the order of the plan store */
	size_t tor_count;
	const struct key_store *keys; /* borrowed; its versions are sent in the hello */
	/* Borrowed; the link stores the controllers' versions in it. */
	struct peer_versions *versions;
};

struct controller_link_counts {
	/* connected: welcomes of controllers. */
	uint64_t connected, disconnected, refused;
	uint64_t registrations, registrations_failed;
	uint64_t plans, bad_frames;
};

/* on_plan: called when the store has a newer plan of ToR number tor. */
int controller_link_new(struct rm_loop *loop,
    const struct controller_link_options *options, struct agents *agents,
    struct plan_store *store, void (*on_plan)(size_t tor, void *arg), void *arg,
    struct controller_link **ret);
void controller_link_free(struct controller_link *controller_link);

/* Sets the handler of the controller's other frames. on_request returns -EPROTO for a
 * kind that a controller must not send, and another negative errno for a malformed
 * frame; both close the link. */
void controller_link_listen(struct controller_link *controller_link,
    int (*on_request)(enum wire_kind kind, const uint8_t *data, size_t len, void *arg),
    void *arg);

/* Sends a message to the controller. -ENOTCONN: no controller is connected. */
int controller_link_send(
    struct controller_link *controller_link, const struct wire_bytes *bytes);

/* Call it when an agent's registration is new or has changed. */
void controller_link_registered(
    struct controller_link *controller_link, const struct agent *agent);

/* Call it often. It closes the link, so that the next controller is tried, if the
 * controller does not answer the hello, or if nothing arrives for 2.5 s after a first
 * ping. */
void controller_link_watch(struct controller_link *controller_link, rm_mono_t now);
/* Call it after this daemon was stopped: the time until now does not count as silence
 * of the peer. */
void controller_link_stalled(struct controller_link *controller_link, rm_mono_t now);

bool controller_link_connected(const struct controller_link *controller_link);
const char *controller_link_controller(const struct controller_link
	*controller_link); /* Returns the controller's name; "": not connected. */
/* When the controller's certificate expires, as it reports, in seconds since the epoch;
 * 0: not soon. */
uint64_t controller_link_controller_ends_s(
    const struct controller_link *controller_link);
const struct controller_link_counts *controller_link_counts(
    const struct controller_link *controller_link);

#endif
