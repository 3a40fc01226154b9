/*
 * region - for all tests of the controller: a topology from text, and registered RNICs.
 *
 * Include it after cmocka.h. Every failure fails the test.
 */
#ifndef TESTS_UNIT_REGION_CONTROLLER_REGION_H
#define TESTS_UNIT_REGION_CONTROLLER_REGION_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/topology/topology.h"
#include "region-controller/registry/registry.h"

#define REGION_V4 1
#define REGION_V6 2

static inline struct rm_topology *
region_topology(const char *text)
{
	struct rm_topology *topology = NULL;
	struct rm_error error = { 0 };

	if (rm_topology_parse("t.yaml", text, strlen(text), &topology, &error) < 0)
		fail_msg("%s", error.text);
	return topology;
}

/* Text of a topology with ToRs "tor1"..., spines "spine1"..., and a link between each
 * ToR and each spine. The caller frees it. */
static inline char *
region_clos_text(unsigned tors, unsigned spines)
{
	char *text = calloc(1, 1 << 16);
	size_t len;

	assert_non_null(text);
	len = (size_t)sprintf(text, "region: lab\nswitches:\n");
	for (unsigned i = 1; i <= tors; i++)
		len += (size_t)sprintf(text + len, "- {name: tor%u, role: tor}\n", i);
	for (unsigned i = 1; i <= spines; i++)
		len +=
		    (size_t)sprintf(text + len, "- {name: spine%u, role: spine}\n", i);
	len += (size_t)sprintf(text + len, "links:\n");
	for (unsigned i = 1; i <= tors; i++) {
		for (unsigned s = 1; s <= spines; s++)
			len +=
			    (size_t)sprintf(text + len, "- [tor%u, spine%u]\n", i, s);
	}
	return text;
}

static inline struct rm_topology *
region_clos(unsigned tors, unsigned spines)
{
	char *text = region_clos_text(tors, spines);
	struct rm_topology *topology = region_topology(text);

	free(text);
	return topology;
}

/* An RNIC with an address of each of these families, derived from its number. */
static inline struct wire_rnic
region_rnic(uint64_t number, const char *host, const char *tor, unsigned families)
{
	struct wire_rnic rnic = {
		.id = { number, 0 },
		.host = host,
		.device = "rnic0",
		.driver = "veth",
		.tors = { tor },
		.tor_count = 1,
		.plane = "",
		.mtu_bytes = 1500,
		.incarnation = 7,
	};

	if (families & REGION_V4)
		rnic.addresses[rnic.address_count++] = (struct wire_address){
			.family = 4,
			.bytes = { 10, (uint8_t)(number >> 16), (uint8_t)(number >> 8),
			    (uint8_t)number },
			.port = 862,
		};
	if (families & REGION_V6)
		rnic.addresses[rnic.address_count++] = (struct wire_address){
			.family = 6,
			.bytes = { 0xfd, [13] = (uint8_t)(number >> 16),
			    (uint8_t)(number >> 8), (uint8_t)number },
			.port = 862,
		};
	return rnic;
}

/* As region_rnic, but probed over verbs. */
static inline struct wire_rnic
region_roce_rnic(uint64_t number, const char *host, const char *tor, unsigned families)
{
	struct wire_rnic rnic = region_rnic(number, host, tor, families);

	rnic.qpn = 0x100 + (uint32_t)number;
	rnic.large_qpn = 0x800000 + (uint32_t)number;
	rnic.mtu_bytes = 4096;
	rnic.link = WIRE_LINK_UP;
	for (size_t i = 0; i < rnic.address_count; i++)
		rnic.addresses[i].port = WIRE_ROCE_PORT;
	return rnic;
}

static inline struct registry_source
region_source(const char *host)
{
	return (
	    struct registry_source){ .host = host, .aggregator = "agg1", .session = 1 };
}

static inline void
region_report(struct registry *registry, const struct wire_rnic *rnic)
{
	struct registry_source source = region_source(rnic->host);
	enum registry_refusal refusal;

	if (registry_report(registry, rnic, &source, &refusal) < 0)
		fail_msg("refused: %s", registry_refusal_str(refusal));
}

/* Registers `count` RNICs of a rack on hosts "<tor>-h<i>", one each, with numbers from
 * `first` on. */
static inline void
region_rack(struct registry *registry, const char *tor, uint64_t first, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		char host[RM_NAME_BYTES];
		struct wire_rnic rnic;

		snprintf(host, sizeof(host), "%s-h%u", tor, i + 1);
		rnic = region_rnic(first + i, host, tor, REGION_V4 | REGION_V6);
		region_report(registry, &rnic);
	}
}

/* As region_rack, but probed over verbs. */
static inline void
region_roce_rack(
    struct registry *registry, const char *tor, uint64_t first, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		char host[RM_NAME_BYTES];
		struct wire_rnic rnic;

		snprintf(host, sizeof(host), "%s-r%u", tor, i + 1);
		rnic = region_roce_rnic(first + i, host, tor, REGION_V4 | REGION_V6);
		region_report(registry, &rnic);
	}
}

#endif
