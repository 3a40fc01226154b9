/*
 * reflector_keys - the keys that verify probes: the RNIC's own key of each accepted
 * epoch, from which the key of every prober is derived. Pure.
 */
#ifndef HOST_AGENT_REFLECTOR_REFLECTOR_KEYS_H
#define HOST_AGENT_REFLECTOR_REFLECTOR_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/identity/probe_key.h"
#include "schemas/wire.h"

struct key_ring;
struct probe_format;
struct reflector_auth;

struct reflector_keys { /* all zero: none */
	struct {
		uint32_t epoch;
		uint8_t key[PROBE_KEY_BYTES];
	} own[PROBE_KEY_EPOCHS]; /* the key of the current epoch is first */
	size_t count;
};

void reflector_keys_set(
    struct reflector_keys *keys, const struct key_ring *ring, struct wire_rnic_id own);

/* Verifies the MAC of a packet from prober, in the keyed format. True: auth now has the
 * key that made the MAC; false: auth is not changed. Besides the key in auth, at most
 * PROBE_KEY_EPOCHS keys are tried. */
bool reflector_keys_verify(const struct reflector_keys *keys,
    const struct probe_format *format, const uint8_t *data, size_t len,
    struct wire_rnic_id prober, struct reflector_auth *auth);

#endif
