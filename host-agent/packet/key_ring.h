/*
 * key_ring - the keys of this host: its RNICs' own keys for replies, and those of the
 * pairs that it probes. Pure.
 *
 * Aggregators send them in one message per ToR, and in answers to questions about
 * services' peers, which are used where no message has a key. The current epoch comes
 * from a ToR's newest message, never from a clock.
 */
#ifndef HOST_AGENT_PACKET_KEY_RING_H
#define HOST_AGENT_PACKET_KEY_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

/* Of services' peers and pairs; the oldest are dropped for new ones. */
#define KEY_RING_MAX_RECEIVED 8192

struct key_ring;

enum key_demand {         /* what is required of packets from a peer in the roster */
	KEY_NOT_DEMANDED, /* its agent cannot authenticate, or the peer is not known */
	KEY_NOT_BEFORE, /* needed after the first authenticated packet: a service's peer
			 */
	KEY_DEMANDED,
};

struct key_ring_counts {
	uint64_t taken, same, old;
	uint64_t malformed;
	uint64_t other_tor; /* of a ToR that is not this host's */
	uint64_t no_memory;
};

int key_ring_new(struct key_ring **ret);
void key_ring_free(struct key_ring *ring); /* NULL is allowed */

/* A tor that is known already is allowed. */
int key_ring_add_tor(struct key_ring *ring, const char *tor);

/* Verifies a message of an aggregator (nothing else verifies it): *ret borrows from
 * data. -EBADMSG, -EMSGSIZE: not a message of keys; the error is counted. */
int key_ring_open(
    struct key_ring *ring, const uint8_t *data, size_t len, struct wire_keys *ret);
/*
 * Takes a message that key_ring_open has opened; it is copied. True: keys changed, *tor
 * (borrowed) is their ToR. *r: the error if the message was not taken, -ENOENT or
 * -ENOMEM; 0 when the ring has this version already or a newer one.
 */
bool key_ring_take(
    struct key_ring *ring, const struct wire_keys *view, const char **tor, int *r);

/* Takes an answer on a service's peer: whether the peer authenticates, and the key from
 * this host's prober to it, if there is one. True: something changed. */
bool key_ring_receive(struct key_ring *ring, const struct wire_rnic *rnic,
    const struct wire_pair_key *key);

/* The newest epoch of any ToR's keys; 0: no keys. */
uint32_t key_ring_epoch(const struct key_ring *ring);
/* The current epoch of own's ToR, as its aggregators sent it; 0: no keys. With two
 * ToRs, the newer one. */
uint32_t key_ring_own_epoch(const struct key_ring *ring, struct wire_rnic_id own);

/* The key of own's replies in that epoch, WIRE_KEY_BYTES borrowed; NULL: none. */
const uint8_t *key_ring_responder(
    const struct key_ring *ring, struct wire_rnic_id own, uint32_t epoch);
/* The key of probes from src to dst, borrowed; NULL: none. */
const struct wire_pair_key *key_ring_pair(
    const struct key_ring *ring, struct wire_rnic_id src, struct wire_rnic_id dst);
enum key_demand key_ring_demand(const struct key_ring *ring, struct wire_rnic_id id);

/* The message held of a tor; none: len 0. */
struct wire_bytes key_ring_bytes(const struct key_ring *ring, const char *tor);

const struct key_ring_counts *key_ring_counts(const struct key_ring *ring);

#endif
