/*
 * keys_fixture - the keys that an aggregator sends to the agents of one ToR. The RNICs
 * have the GUIDs 1 to KEYS_RNICS, port 1, and all of them probe each other.
 */
#ifndef TESTS_UNIT_HOST_AGENT_KEYS_FIXTURE_H
#define TESTS_UNIT_HOST_AGENT_KEYS_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "host-agent/packet/key_ring.h"
#include "rackmesh/identity/probe_key.h"
#include "schemas/wire.h"

#define KEYS_TOR "tor1"
#define KEYS_RNICS 8

struct keys_send {
	uint32_t epoch;
	uint64_t version;
	struct wire_rnic_id plain; /* guid 0: no RNIC */
	bool no_responders, no_pairs;
};

/* Returns a ring with the ToR KEYS_TOR. The last message that it receives applies. */
struct key_ring *keys_fixture_ring(uint32_t epoch, uint64_t version);
void keys_fixture_report(struct key_ring *ring, const struct keys_send *report);

/* All later keys are derived from this secret. 0: back to the first secret. */
void keys_fixture_secret(uint8_t secret);

/* The same keys, derived from the same secrets. */
void keys_fixture_pair(uint32_t epoch, struct wire_rnic_id prober,
    struct wire_rnic_id responder, uint8_t ret[PROBE_KEY_BYTES]);
void keys_fixture_macs(uint32_t epoch, struct wire_rnic_id prober,
    struct wire_rnic_id responder, struct probe_macs *ret);

#endif
