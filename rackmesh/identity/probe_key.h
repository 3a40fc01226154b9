/*
 * probe_key - what a pair of RNICs authenticates its probes with. Pure.
 *
 * Derived downwards (as SCION's DRKey does it): a region has a secret per epoch, and of
 * that every responder a key, and of that every prober one for this responder. So a
 * responder finds any prober's key by itself, out of its own and the prober's id, and a
 * prober holds nothing but the keys of its own pairs. Epochs count from 1; a responder
 * takes those beside the current one, too, so that no clock has to be exact.
 *
 * Probes and replies are signed with different keys, both of the pair's: a reflected
 * probe is no reply, and a reply no probe. Two of the same pair the other way round
 * have another key altogether.
 */
#ifndef RACKMESH_IDENTITY_PROBE_KEY_H
#define RACKMESH_IDENTITY_PROBE_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/identity/probe_mac.h"
#include "rackmesh/judge/part.h"

#define PROBE_KEY_BYTES 16
#define PROBE_SECRET_BYTES 32
#define PROBE_KEY_EPOCHS 3 /* that a responder takes: one back, now, one ahead */

/* The region's secret of an epoch, of its master secret (32 to PROBE_MAC_MAX_KEY
 * bytes): HMAC-SHA-256 over "rackmesh epoch" | epoch u32, big-endian. */
void probe_key_secret(
    const void *master, size_t len, uint32_t epoch, uint8_t ret[PROBE_SECRET_BYTES]);
/* HMAC-SHA-256 of the secret over "rackmesh responder" | guid u64 | port u8 | epoch
 * u32, big-endian; its first 16 bytes. */
void probe_key_responder(const uint8_t secret[PROBE_SECRET_BYTES], uint32_t epoch,
    struct rm_rnic_id responder, uint8_t ret[PROBE_KEY_BYTES]);
/* HMAC-SHA-256 of the responder's key over "rackmesh prober" | guid u64 | port u8. */
void probe_key_pair(const uint8_t responder_key[PROBE_KEY_BYTES],
    struct rm_rnic_id prober, uint8_t ret[PROBE_KEY_BYTES]);

struct probe_macs { /* of one pair, one epoch */
	struct probe_mac probe;
	struct probe_mac reply; /* of HMAC-SHA-256 of the pair's key over "reply" */
};

void probe_macs_init(struct probe_macs *macs, const uint8_t pair_key[PROBE_KEY_BYTES]);
void probe_macs_clear(struct probe_macs *macs);

#endif
