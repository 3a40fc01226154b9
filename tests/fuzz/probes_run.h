/*
 * probes_run - a prober and a reflector for fuzz_probes.c, and what they are told by
 * others than each other (probes_tell.c) and what lies between them (probes_network.c).
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
	struct fake_port near, far; /* the prober's, the reflector's */
	struct prober *prober;
	struct reflector *reflector;
	uint64_t results, answered, genuine;
};

/* Anything here may also fail for want of memory: then it is as it was. */
void report_keys(struct run *run, bool plain);
void note_seen(struct run *run, bool authenticates);
void report_roster(struct run *run, uint8_t how);
void report_targets(struct run *run);
/* Whatever a pinglist may name: what is refused is counted. */
void report_any_targets(struct run *run);

/* probes_network.c: what was sent lately arrives, now or again, mostly as it was sent.
 */
void network_probe(struct run *run);
void network_reply(struct run *run);
/* Any bytes, at either end. */
void network_raw(struct run *run);
/* A packet's time, from who has sent it. */
void network_stamp(struct run *run, enum port_role role);

#endif
