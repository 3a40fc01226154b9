/*
 * key_ring - the keys of this host: its RNICs' own keys for replies, and those of the
 * pairs that it probes. Pure.
 *
 * Aggregators send keys in one message per ToR, and in their answers about the peers of
 * services; a key from an answer is used if no message has one. The current epoch comes
 * from a ToR's newest message, never from a clock.
 */
#ifndef HOST_AGENT_PACKET_KEY_RING_H
#define HOST_AGENT_PACKET_KEY_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

/* Most keys and peers from answers; the oldest are dropped for new ones. */
#define KEY_RING_MAX_RECEIVED 8192

struct key_ring;

enum key_demand { /* for a peer in the roster: which of its packets must carry a MAC */
	/* none: the peer's agent cannot authenticate, or the peer is not known */
	KEY_NOT_DEMANDED,
	/* all packets after the first one with a MAC: for the peer of a service */
	KEY_NOT_BEFORE,
	KEY_DEMANDED,
};

struct key_ring_counts {
	uint64_t taken, same, old;
	uint64_t malformed;
	/* messages about a ToR that is not one of this host's ToRs */
	uint64_t other_tor;
	uint64_t no_memory;
};

int key_ring_new(struct key_ring **ret);
void key_ring_free(struct key_ring *ring); /* NULL is allowed */

/* Adds a ToR of this host; one that is known already is allowed. -EINVAL: not a valid
 * name; -ENOSPC: a host has no more ToRs. */
int key_ring_add_tor(struct key_ring *ring, const char *tor);

/* Verifies the bytes of an aggregator's message, which nothing else verifies. *ret
 * borrows from data. -EBADMSG, -EMSGSIZE: not a message of keys; the error is
 * counted. */
int key_ring_open(
    struct key_ring *ring, const uint8_t *data, size_t len, struct wire_keys *ret);
/*
 * Copies a message that key_ring_open has opened. True: keys changed; *tor, borrowed,
 * is their ToR. False, with *r: -ENOENT: the ToR is not of this host; -ENOMEM; 0: the
 * ring has this version or a newer one already.
 */
bool key_ring_take(
    struct key_ring *ring, const struct wire_keys *view, const char **tor, int *r);

/* Copies the data about the peer of a service from an answer: whether the peer
 * authenticates, and the key of probes from this host to the peer, if there is one.
 * True: something changed. */
bool key_ring_receive(struct key_ring *ring, const struct wire_rnic *rnic,
    const struct wire_pair_key *key);

/* The newest epoch of any ToR's keys; 0: no keys. */
uint32_t key_ring_epoch(const struct key_ring *ring);
/* The current epoch of the ToR of the RNIC own, as its aggregators sent it; 0: there
 * are no keys. For an RNIC with two ToRs, the newer epoch of the two. */
uint32_t key_ring_own_epoch(const struct key_ring *ring, struct wire_rnic_id own);

/* Returns the key for the replies of the RNIC own in that epoch: WIRE_KEY_BYTES,
 * borrowed; NULL: there is none. */
const uint8_t *key_ring_responder(
    const struct key_ring *ring, struct wire_rnic_id own, uint32_t epoch);
/* Returns the key of probes from src to dst, borrowed; NULL: there is none. */
const struct wire_pair_key *key_ring_pair(
    const struct key_ring *ring, struct wire_rnic_id src, struct wire_rnic_id dst);
enum key_demand key_ring_demand(const struct key_ring *ring, struct wire_rnic_id id);

/* The bytes of the last message of a ToR, borrowed; len 0: none was received. */
struct wire_bytes key_ring_bytes(const struct key_ring *ring, const char *tor);

const struct key_ring_counts *key_ring_counts(const struct key_ring *ring);

#endif
