/*
 * probes_run - a prober and a reflector for fuzz_probes.c, the messages of other peers
 * to them (probes_messages.c) and the network between them (probes_network.c).
 */
#ifndef TESTS_FUZZ_PROBES_RUN_H
#define TESTS_FUZZ_PROBES_RUN_H

#include "schemas/wire.h"
#include "tests/fuzz/bytes.h"
#include "tests/support/fake_port.h"

struct key_ring;
struct prober;
struct reflector;
struct rm_loop;

static const struct wire_rnic_id prober_id = { 1, 1 }, reflector_id = { 2, 1 };
static const struct wire_address prober_at = { .family = 4, .bytes = { 10, 0, 0, 1 } };
static const struct wire_address reflector_at = {
	.family = 4, .bytes = { 10, 0, 0, 2 }, .port = FAKE_PORT_REFLECTOR
};

struct run {
	struct fuzz_bytes bytes;
	bool roce, keyed;
	bool verifies; /* the prober has its keys from the start */
	struct rm_loop *loop;
	struct wire_writer *writer;
	struct key_ring *ring;
	uint32_t epoch;
	uint64_t version;
	struct fake_port near, far; /* the prober's and the reflector's */
	struct prober *prober;
	struct reflector *reflector;
	uint64_t results, answered, genuine;
};

/* Each of these may fail for lack of memory, and then changes nothing. */
void report_keys(struct run *run, bool plain);
void note_seen(struct run *run, bool authenticates);
void report_roster(struct run *run, uint8_t how);
void report_targets(struct run *run);
/* Any targets of a pinglist; each refused one is counted. */
void report_any_targets(struct run *run);

/* probes_network.c: delivers a packet that was sent lately, perhaps again, mostly
 * unchanged. */
void network_probe(struct run *run);
void network_reply(struct run *run);
/* Delivers any bytes to either end. */
void network_raw(struct run *run);
/* Delivers the send stamp of a packet to its sender. */
void network_stamp(struct run *run, enum port_role role);

#endif
