/* The rack for the tests of the rules. */
#ifndef TESTS_UNIT_TOR_AGGREGATOR_DIAGNOSIS_RULES_FIXTURE_H
#define TESTS_UNIT_TOR_AGGREGATOR_DIAGNOSIS_RULES_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tor-aggregator/diagnosis/evidence.h"
#include "tor-aggregator/diagnosis/rules.h"

/* A healthy rack of five RNICs of 100 Gb/s. Each has all counters of mlx5 and of its
 * switch's port, for 10 s of 1 GB/s of RDMA in class 3. A test changes what its fault
 * would change. */

#define RNICS 5
#define SECONDS 10
#define LOSSLESS 3
#define LANES 4
#define PACKETS 1000000

static struct evidence rack[RNICS];
static struct evidence *const all[RNICS] = { &rack[0], &rack[1], &rack[2], &rack[3],
	&rack[4] };
static struct rule_result results[RNICS][DIAGNOSES];

static inline bool
is_by_priority(unsigned number)
{
	return (number >= WIRE_COUNTER_PRIO_RX_BYTES &&
		   number <= WIRE_COUNTER_PFC_ENABLED) ||
	       (number >= SWITCH_PFC_RX_FRAMES && number <= SWITCH_GROUP_DROP_PKTS &&
		   number != SWITCH_PFCWD_DETECTED);
}

static inline void
fill_healthy(struct evidence *evidence, unsigned i)
{
	*evidence = (struct evidence){ .host_ns = SECONDS * INT64_C(1000000000),
		.switch_ns = SECONDS * INT64_C(1000000000) };
	snprintf(evidence->name, sizeof(evidence->name), "h%u/mlx5_0", i);
	snprintf(evidence->port, sizeof(evidence->port), "Ethernet%u", 4 * i);
	for (unsigned n = 1; n < EVIDENCE_NUMBERS; n++)
		for (unsigned x = 0; x < (is_by_priority(n) ? 8u : 1u); x++)
			evidence_set(evidence, n, x, 0);
	evidence_set(evidence, WIRE_COUNTER_RDMA_RX_BYTES, 0, UINT64_C(10000000000));
	evidence_set(
	    evidence, WIRE_COUNTER_PRIO_RX_BYTES, LOSSLESS, UINT64_C(10000000000));
	evidence_set(evidence, WIRE_COUNTER_RDMA_RX_PKTS, 0, PACKETS);
	evidence_set(evidence, WIRE_COUNTER_RDMA_TX_PKTS, 0, PACKETS);
	evidence_set(evidence, WIRE_COUNTER_PHY_RX_BITS, 0, UINT64_C(80000000000));
	evidence_set(evidence, WIRE_COUNTER_FEC_CORRECTED_BITS, 0, 80);
	evidence_set(evidence, WIRE_COUNTER_PORT_RATE_MBPS, 0, 100000);
	for (unsigned lane = 0; lane < LANES; lane++) {
		evidence_set(evidence, WIRE_COUNTER_OPTICS_RX_NW, lane, 800000);
		evidence_set(evidence, WIRE_COUNTER_OPTICS_TX_NW, lane, 1000000);
	}
	evidence_set(evidence, WIRE_COUNTER_OPTICS_RX_LOW_ALARM_NW, 0, 40000);
	evidence_set(evidence, SWITCH_OPTICS_RX_LOWEST_NW, 0, 600000);
	evidence_set(evidence, SWITCH_OPTICS_RX_HIGHEST_NW, 0, 900000);
	evidence_set(evidence, SWITCH_OPTICS_RX_LOW_ALARM_NW, 0, 40000);
	evidence_set(evidence, WIRE_COUNTER_PCI_LINK_LANES, 0, 8); /* a slot of 8 */
	evidence_set(evidence, WIRE_COUNTER_PCI_LINK_LANES_MAX, 0, 16);
	evidence_set(evidence, WIRE_COUNTER_PCI_SLOT_LANES_MAX, 0, 8);
	evidence_set(evidence, WIRE_COUNTER_PCI_LINK_MTS, 0, 16000);
	evidence_set(evidence, WIRE_COUNTER_PCI_LINK_MTS_MAX, 0, 16000);
	evidence_set(evidence, WIRE_COUNTER_PCI_SLOT_MTS_MAX, 0, 32000);
	evidence_set(evidence, WIRE_COUNTER_PFC_ENABLED, LOSSLESS, 1);
	evidence_set(evidence, SWITCH_OPER_UP, 0, 1);
	evidence_set(evidence, SWITCH_SPEED_MBPS, 0, 100000);
	evidence_set(evidence, SWITCH_LANES, 0, LANES);
	evidence_set(evidence, SWITCH_FEC_CORRECTED_BITS, 0, 1000);
	evidence_give(evidence, GIVEN_LOSS_PCT, 0);
	evidence_give(evidence, GIVEN_SMALL_LOSS_PCT, 0);
	evidence_give(evidence, GIVEN_LARGE_LOSS_PCT, 0);
}

static inline void
judge(void)
{
	evidence_join(all, RNICS);
	for (size_t i = 0; i < RNICS; i++)
		rules_judge(&rack[i], results[i]);
}

/* Asserts that only this diagnosis holds for RNIC i; DIAGNOSES: asserts that none
 * holds. */
static inline void
assert_only(size_t i, enum diagnosis diagnosis)
{
	for (size_t d = 0; d < DIAGNOSES; d++)
		if ((results[i][d].status == RULE_HOLDS) != (d == diagnosis))
			fail_msg("%s: %s is %d", rack[i].name, rules[d].name,
			    results[i][d].status);
}

#endif
