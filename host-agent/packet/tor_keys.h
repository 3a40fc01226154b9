/*
 * tor_keys - one ToR's newest message of keys, with an index. Pure; private to
 * key_ring.
 */
#ifndef HOST_AGENT_PACKET_TOR_KEYS_H
#define HOST_AGENT_PACKET_TOR_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

struct tor_keys {
	char tor[RM_NAME_BYTES];
	uint8_t *bytes;        /* the message; NULL: none received yet */
	struct wire_keys view; /* the opened message; borrows bytes */
	/* the pairs of view, sorted by source and destination */
	struct wire_pair_key *pairs;
	/* the RNICs of view that cannot authenticate, sorted */
	struct wire_rnic_id *plain;
};

/* Copies the message. -ENOMEM: keys is empty afterwards. */
int tor_keys_copy(struct tor_keys *keys, const struct wire_keys *message);
void tor_keys_clear(struct tor_keys *keys);

/* All results are borrowed; NULL: there is none. */
const struct wire_responder_key *tor_keys_responder(
    const struct tor_keys *keys, struct wire_rnic_id own, uint32_t epoch);
const struct wire_pair_key *tor_keys_pair(
    const struct tor_keys *keys, struct wire_rnic_id src, struct wire_rnic_id dst);
bool tor_keys_is_plain(const struct tor_keys *keys, struct wire_rnic_id id);

#endif
