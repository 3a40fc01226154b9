/*
 * key_ring - the keys this host holds: those its RNICs answer with, and those of the
 * pairs it probes. Pure.
 *
 * They come in one message per ToR from its aggregators, and with answers to questions
 * about services' peers, which count where no message has any. Which epoch is the
 * current one is what a ToR's newest message says, never a clock's business.
 */
#ifndef HOST_AGENT_PACKET_KEY_RING_H
#define HOST_AGENT_PACKET_KEY_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

#define KEY_RING_MAX_RECEIVED 8192 /* services' peers, pairs; the oldest make room */

struct key_ring;

enum key_demand {         /* of the packets of somebody whom we may answer */
	KEY_NOT_DEMANDED, /* its agent cannot, or we do not know who it is */
	KEY_NOT_BEFORE,   /* not before the first authenticated one: a service's peer */
	KEY_DEMANDED,
};

struct key_ring_counts {
	uint64_t taken, same, old;
	uint64_t malformed;
	uint64_t foreign; /* of a ToR that is not this host's */
	uint64_t no_memory;
};

int key_ring_new(struct key_ring **ret);
void key_ring_free(struct key_ring *ring); /* NULL is fine */

int key_ring_add_tor(struct key_ring *ring, const char *tor); /* known ones are fine */

/* Verifies a message of an aggregator, the only time that this is done to it: *ret
 * borrows from data. -EBADMSG, -EMSGSIZE: not a message of keys; it is counted. */
int key_ring_open(
    struct key_ring *ring, const uint8_t *data, size_t len, struct wire_keys *ret);
/*
 * Takes a message that key_ring_open has opened; it is copied. True: something has
 * changed, *tor (borrowed) is whose. *r: why it was not taken, -ENOENT or -ENOMEM; 0
 * when it is held already or an older one.
 */
bool key_ring_take(
    struct key_ring *ring, const struct wire_keys *view, const char **tor, int *r);

/* An answer: whether it authenticates, and the key from a prober of ours to it, if
 * there is one. True: something has changed. */
bool key_ring_receive(struct key_ring *ring, const struct wire_rnic *rnic,
    const struct wire_pair_key *key);

/* The newest that any ToR's keys are of; 0: no keys. */
uint32_t key_ring_epoch(const struct key_ring *ring);
/* The one of own's ToR, its aggregators' word and no clock's; 0: no keys. Of two ToRs,
 * the newer. */
uint32_t key_ring_own_epoch(const struct key_ring *ring, struct wire_rnic_id own);

/* What own answers with in that epoch, WIRE_KEY_BYTES borrowed; NULL: none. */
const uint8_t *key_ring_responder(
    const struct key_ring *ring, struct wire_rnic_id own, uint32_t epoch);
/* What src probes dst with, borrowed; NULL: nothing. */
const struct wire_pair_key *key_ring_pair(
    const struct key_ring *ring, struct wire_rnic_id src, struct wire_rnic_id dst);
enum key_demand key_ring_demand(const struct key_ring *ring, struct wire_rnic_id id);

/* The message held of a tor; none: len 0. */
struct wire_bytes key_ring_bytes(const struct key_ring *ring, const char *tor);

const struct key_ring_counts *key_ring_counts(const struct key_ring *ring);

#endif
