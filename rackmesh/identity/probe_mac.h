/*
 * probe_mac - HMAC-SHA-256 of short messages under one key. Pure.
 *
 * A struct probe_mac is the state of the MAC after the key: 64 bytes without pointers.
 * With it, a probe costs only the hashing of its own bytes. The state is as secret as
 * the key, and can be used like the key: clear it with probe_mac_clear.
 */
#ifndef RACKMESH_IDENTITY_PROBE_MAC_H
#define RACKMESH_IDENTITY_PROBE_MAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROBE_MAC_BYTES 16  /* length in packets: the first half of the MAC */
#define PROBE_HMAC_BYTES 32 /* length of the whole MAC */
#define PROBE_MAC_MAX_KEY 64

struct probe_mac {
	uint32_t inner[8], outer[8]; /* SHA-256 after the key's block */
};

struct probe_mac_piece {
	const void *data;
	size_t len;
};

/* len: at most PROBE_MAC_MAX_KEY. */
void probe_mac_init(struct probe_mac *mac, const void *key, size_t len);
void probe_mac_clear(struct probe_mac *mac);

/* The MAC of the pieces, as if they were one text. */
void probe_mac_full(const struct probe_mac *mac, const struct probe_mac_piece *pieces,
    size_t count, uint8_t ret[PROBE_HMAC_BYTES]);
void probe_mac_sign(const struct probe_mac *mac, const struct probe_mac_piece *pieces,
    size_t count, uint8_t ret[PROBE_MAC_BYTES]);
/* Takes the same time whether the MAC is right or wrong. */
bool probe_mac_verify(const struct probe_mac *mac, const struct probe_mac_piece *pieces,
    size_t count, const uint8_t claimed[PROBE_MAC_BYTES]);

#endif
