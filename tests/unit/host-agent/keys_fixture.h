/*
 * keys_fixture - the keys of one ToR as an aggregator would hand them to an agent:
 * RNICs with GUIDs 1 to KEYS_RNICS, port 1, all of which probe each other.
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
	struct wire_rnic_id plain; /* guid 0: nobody */
	bool no_responders, no_pairs;
};

/* The ring has KEYS_TOR; the last message given to it is in force. */
struct key_ring *keys_fixture_ring(uint32_t epoch, uint64_t version);
void keys_fixture_report(struct key_ring *ring, const struct keys_send *report);

/* Keys are derived from this secret from now on; 0: from the first one. */
void keys_fixture_secret(uint8_t secret);

/* Derived from the same secrets. */
void keys_fixture_pair(uint32_t epoch, struct wire_rnic_id prober,
    struct wire_rnic_id responder, uint8_t ret[PROBE_KEY_BYTES]);
void keys_fixture_macs(uint32_t epoch, struct wire_rnic_id prober,
    struct wire_rnic_id responder, struct probe_macs *ret);

#endif
