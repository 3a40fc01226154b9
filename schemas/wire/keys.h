/*
 * keys - what authenticates probes (controller -> aggregator -> agent).
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
 * Every responder has a key per epoch, and so every pair of RNICs one: derived from the
 * responder's and the prober's id (rackmesh/identity/probe_key.h). Probes are made with
 * the key of .epoch; responders also take those of the epochs beside it. Fixed size,
 * zero copy.
 */
struct wire_responder_key {
	uint64_t guid;
	uint8_t port;
	uint8_t reserved[3];
	uint32_t epoch;
	uint8_t key[WIRE_KEY_BYTES];
};

#define WIRE_RESPONDER_KEY_BYTES 32

struct wire_pair_key { /* src probes, dst answers */
	uint64_t src_guid, dst_guid;
	uint8_t src_port, dst_port;
	uint8_t reserved[2];
	uint32_t epoch;
	uint8_t key[WIRE_KEY_BYTES];
};

#define WIRE_PAIR_KEY_BYTES 40

/*
 * To an aggregator: its members' responder keys, and the pair keys of its plan's
 * entries. To an agent: the responder keys of its RNICs on this ToR, and the pair keys
 * of all its targets on it. plain: RNICs of the roster whose agents cannot authenticate
 * (yet): those are answered, and probed, without.
 *
 * Versions are of one ToR each. Who leads numbers above all that its aggregators say in
 * their hellos they hold, whatever its clock says, so that a new leader, one that has
 * restarted, or one with another store is heard, and a late word of an older one is
 * not. Older controllers number by their clocks in ms.
 */
struct wire_keys {
	const char *tor;
	uint32_t epoch;   /* from 1 */
	uint64_t version; /* only grows, see below; an older one changes nothing */
	const struct wire_responder_key *responders;
	size_t responder_count; /* at most WIRE_KEY_EPOCHS * WIRE_MAX_MEMBERS */
	const struct wire_pair_key *pairs;
	size_t pair_count;                /* at most WIRE_MAX_ENTRIES */
	const struct wire_rnic_id *plain; /* of an opened one NULL: wire_keys_plain */
	size_t plain_count;               /* at most WIRE_MAX_ROSTER */
	struct wire_bytes bytes; /* of an opened one: the message itself, borrowed */
	const void *opaque;      /* of an opened one */
};

int wire_write_keys(
    struct wire_writer *writer, const struct wire_keys *keys, struct wire_bytes *out);
/* .responders and .pairs are borrowed from the bytes. */
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
