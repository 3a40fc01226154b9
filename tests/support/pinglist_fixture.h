/*
 * pinglist_fixture - pinglists as an aggregator sends them, for tests.
 *
 * Include it after cmocka.h. Every failure fails the test.
 */
#ifndef TESTS_SUPPORT_PINGLIST_FIXTURE_H
#define TESTS_SUPPORT_PINGLIST_FIXTURE_H

#include <string.h>

#include "schemas/wire.h"

/* Returns the id of an RNIC with a MAC that ends in n, at 10.0.0.n. */
static inline struct wire_rnic_id
rnic_number(uint8_t n)
{
	return (struct wire_rnic_id){ .guid = 0x020000000000 + n };
}

static inline struct wire_address
address_number(uint8_t n, uint16_t port)
{
	return (
	    struct wire_address){ .family = 4, .bytes = { 10, 0, 0, n }, .port = port };
}

/* A target that src shall probe. */
struct pinglist_pair {
	uint8_t src, dst;
	uint32_t interval_us;
};

#define PINGLIST_PAIRS 16

/* Borrowed from the writer until its next message. The roster contains every dst. */
static inline struct wire_bytes
pinglist_write(struct wire_writer *writer, const char *tor, uint64_t version,
    uint32_t rotation, const struct pinglist_pair *pairs, size_t count)
{
	static const uint16_t flows[] = { 50000, 50001 };
	static const uint8_t dscps[] = { 26 };
	static const uint16_t sizes[] = { 64, 1400 };
	struct wire_target targets[PINGLIST_PAIRS];
	struct wire_peer roster[PINGLIST_PAIRS];
	struct wire_pinglist pinglist = {
		.tor = tor,
		.version = version,
		.rotation = rotation,
		.targets = targets,
		.target_count = count,
		.roster = roster,
		.roster_count = count,
	};
	struct wire_bytes bytes;

	assert_true(count <= PINGLIST_PAIRS);
	for (size_t i = 0; i < count; i++) {
		targets[i] = (struct wire_target){
			.src = rnic_number(pairs[i].src),
			.dst = rnic_number(pairs[i].dst),
			.kind = WIRE_TOR_MESH,
			.address = address_number(pairs[i].dst, 862),
			.interval_us = pairs[i].interval_us,
			.flows = flows,
			.flow_count = 2,
			.dscps = dscps,
			.dscp_count = 1,
			.sizes = sizes,
			.size_count = 2,
		};
		roster[i] = (struct wire_peer){
			.id = rnic_number(pairs[i].dst),
			.address = address_number(pairs[i].dst, 0),
		};
	}
	assert_int_equal(wire_write_pinglist(writer, &pinglist, &bytes), 0);
	return bytes;
}

#endif
