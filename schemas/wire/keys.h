/*
 * keys - the keys that authenticate probes (controller -> aggregator -> agent).
 */
#ifndef SCHEMAS_WIRE_KEYS_H
#define SCHEMAS_WIRE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire/identity.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Each responder has a key per epoch. From this key and the prober's id the key of each
 * pair of RNICs is derived (rackmesh/identity/probe_key.h). A prober uses the key of
 * wire_keys.epoch; responders also accept the keys of the epochs before and after it.
 * Fixed size, zero copy.
 */
struct wire_responder_key {
	uint64_t guid;
	uint8_t port;
	uint8_t reserved[3];
	uint32_t epoch;
	uint8_t key[WIRE_KEY_BYTES];
};

#define WIRE_RESPONDER_KEY_BYTES 32

struct wire_pair_key { /* key of a pair: src probes, dst answers */
	uint64_t src_guid, dst_guid;
	uint8_t src_port, dst_port;
	uint8_t reserved[2];
	uint32_t epoch;
	uint8_t key[WIRE_KEY_BYTES];
};

#define WIRE_PAIR_KEY_BYTES 40

/*
 * An aggregator gets the responder keys of its members, and the pair keys of the
 * entries in its plan. An agent gets the responder keys of its RNICs at this ToR, and
 * the pair keys of all their targets. plain: RNICs of the roster whose agents cannot
 * authenticate, or cannot do so yet; probes from and to these RNICs have no MAC.
 *
 * Each ToR has its own versions. The leading controller uses versions above all those
 * that its aggregators report in their hellos, whatever its clock says. So aggregators
 * accept the keys of a new leader, of a restarted one, and of one with another store,
 * and ignore late messages of an earlier leader. Older controllers use their clocks in
 * ms as versions.
 */
struct wire_keys {
	const char *tor;
	uint32_t epoch;   /* from 1 */
	uint64_t version; /* see above; a message with an older version is ignored */
	const struct wire_responder_key *responders;
	size_t responder_count; /* at most WIRE_KEY_EPOCHS * WIRE_MAX_MEMBERS */
	const struct wire_pair_key *pairs;
	size_t pair_count; /* at most WIRE_MAX_ENTRIES */
	const struct wire_rnic_id
	    *plain;              /* NULL in an opened message: wire_keys_plain */
	size_t plain_count;      /* at most WIRE_MAX_ROSTER */
	struct wire_bytes bytes; /* in an opened message: its bytes, borrowed */
	const void *opaque;      /* private; set in an opened message */
};

int wire_write_keys(
    struct wire_writer *writer, const struct wire_keys *keys, struct wire_bytes *out);
/* responders and pairs are borrowed from the bytes. */
int wire_open_keys(struct wire_keys *view, const uint8_t *data, size_t len);
/* Copies the message of view to data, which is aligned to 8 and has room for
 * view->bytes.len, and sets *ret to a view of the copy. The message was verified when
 * view was opened, so the copy is not verified again. */
void wire_copy_keys(const struct wire_keys *view, uint8_t *data, struct wire_keys *ret);
struct wire_rnic_id wire_keys_plain(const struct wire_keys *view, size_t i);

#ifdef __cplusplus
}
#endif

#endif
