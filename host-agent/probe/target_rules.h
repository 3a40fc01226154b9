/*
 * target_rules - which addresses are never probed, whoever asks for it.
 *
 * A pinglist comes from outside: what it names is held against what a probe may ever go
 * to, and against what the RNIC knows of its own place. Pure.
 */
#ifndef HOST_AGENT_PROBE_TARGET_RULES_H
#define HOST_AGENT_PROBE_TARGET_RULES_H

#include <stdint.h>

#include "schemas/wire.h"

#define TARGET_HOME_ADDRESSES 2 /* one per family */

enum target_refusal {
	TARGET_FINE,
	TARGET_NOBODY,     /* the unspecified address, or of no family we know */
	TARGET_GROUP,      /* multicast, and what was class E */
	TARGET_BROADCAST,  /* 255.255.255.255, or our own subnet's, or its network's */
	TARGET_LOOPBACK,   /* and we are not on it */
	TARGET_LINK_LOCAL, /* and we are not */
	TARGET_SELF,       /* our own address, or from another RNIC than ours */
	TARGET_OTHER_PORT, /* a flow, family or QP that our port does not have */
	TARGET_MALFORMED,  /* no flow, no class, no size, or one that cannot be */
	TARGET_TOO_FAST,   /* beyond a compiled-in ceiling, like the following */
	TARGET_TOO_LARGE,
	TARGET_TOO_MANY,
	TARGET_REFUSALS
};

/* Where an RNIC is itself. All zero: not known, and nothing is held against it. */
struct target_home {
	struct wire_rnic_id id;
	struct wire_address addresses[TARGET_HOME_ADDRESSES]; /* family 0: none */
	uint8_t prefix_bits[TARGET_HOME_ADDRESSES];           /* 0: not known */
};

/* "unspecified", "multicast", ...: the label of its metric. */
const char *target_refusal_str(enum target_refusal refusal);

/* Of an address alone. */
enum target_refusal target_address_check(
    const struct wire_address *address, const struct target_home *home);

#endif
