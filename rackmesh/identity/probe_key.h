/*
 * probe_key - the keys with which a pair of RNICs authenticates its probes. Pure.
 *
 * Keys are derived in three steps, as in SCION's DRKey: a region has a secret per
 * epoch; from the secret, a key of each responder is derived; from that, a key of each
 * prober for this responder. So a responder derives the key of any prober from its own
 * key and the prober's id, and a prober holds only the keys of its own pairs. Epochs
 * count from 1. A responder accepts the epochs before and after the current one, too,
 * so that no clock has to be exact.
 *
 * Probes and replies of a pair have different keys, so a reflected probe cannot pass as
 * a reply, nor a reply as a probe. In the opposite direction the same two RNICs have
 * another key.
 */
#ifndef RACKMESH_IDENTITY_PROBE_KEY_H
#define RACKMESH_IDENTITY_PROBE_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/identity/probe_mac.h"
#include "rackmesh/judge/part.h"

#define PROBE_KEY_BYTES 16
#define PROBE_SECRET_BYTES 32
/* epochs that a responder accepts: the one before, the current one, the one after */
#define PROBE_KEY_EPOCHS 3

/* The region's secret of an epoch: HMAC-SHA-256 with the master secret (32 to
 * PROBE_MAC_MAX_KEY bytes) over "rackmesh epoch" | epoch u32, big-endian. */
void probe_key_secret(
    const void *master, size_t len, uint32_t epoch, uint8_t ret[PROBE_SECRET_BYTES]);
/* The responder's key: the first 16 bytes of HMAC-SHA-256 with that secret over
 * "rackmesh responder" | guid u64 | port u8 | epoch u32, big-endian. */
void probe_key_responder(const uint8_t secret[PROBE_SECRET_BYTES], uint32_t epoch,
    struct rm_rnic_id responder, uint8_t ret[PROBE_KEY_BYTES]);
/* The key of the pair: HMAC-SHA-256 with the responder's key over "rackmesh prober" |
 * guid u64 | port u8. */
void probe_key_pair(const uint8_t responder_key[PROBE_KEY_BYTES],
    struct rm_rnic_id prober, uint8_t ret[PROBE_KEY_BYTES]);

struct probe_macs { /* the keys of one pair in one epoch */
	struct probe_mac probe;
	/* its key: HMAC-SHA-256 with the pair's key over "reply" */
	struct probe_mac reply;
};

void probe_macs_init(struct probe_macs *macs, const uint8_t pair_key[PROBE_KEY_BYTES]);
void probe_macs_clear(struct probe_macs *macs);

#endif
