/*
 * target_filter - refuses addresses that must never be probed.
 *
 * A pinglist comes from outside: each target is checked against the addresses that may
 * be probed, and against the RNIC's own addresses and subnets. Pure.
 */
#ifndef HOST_AGENT_PROBE_TARGET_FILTER_H
#define HOST_AGENT_PROBE_TARGET_FILTER_H

#include <stdint.h>

#include "schemas/wire.h"

#define OWN_RNIC_ADDRESSES 2 /* at most one per family */

enum target_refusal {
	TARGET_FINE,
	TARGET_UNSPECIFIED, /* the unspecified address, or an unknown family */
	TARGET_MULTICAST,   /* multicast, or the former class E */
	/* 255.255.255.255, or the broadcast or network address of a subnet of the
	 * RNIC */
	TARGET_BROADCAST,
	/* a loopback address, while the RNIC is not on a loopback interface */
	TARGET_LOOPBACK,
	TARGET_LINK_LOCAL, /* a link-local address, while the RNIC has none */
	/* an address of the RNIC itself, or a source that is another RNIC */
	TARGET_SELF,
	TARGET_OTHER_PORT, /* flow, family or QP that the transport does not have */
	TARGET_MALFORMED,  /* no flow, class or size, or one with an impossible value */
	/* from here on: the target is beyond a limit that is compiled in */
	TARGET_TOO_FAST,
	TARGET_TOO_LARGE,
	TARGET_TOO_MANY,
	TARGET_REFUSALS
};

/* The RNIC's own addresses and subnets. All zeros: not known, so nothing is checked
 * against them. */
struct own_rnic {
	struct wire_rnic_id id;
	struct wire_address addresses[OWN_RNIC_ADDRESSES]; /* family 0: none */
	uint8_t prefix_bits[OWN_RNIC_ADDRESSES];           /* 0: not known */
};

/* Returns the label of the metric: "unspecified", "multicast", ... */
const char *target_refusal_str(enum target_refusal refusal);

/* Checks the address alone, without the rest of the target. */
enum target_refusal target_address_check(
    const struct wire_address *address, const struct own_rnic *own_rnic);

#endif
