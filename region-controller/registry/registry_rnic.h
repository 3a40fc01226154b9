/*
 * registry_rnic - an RNIC in the registry, and the reasons for which it has no place in
 * a plan.
 */
#ifndef REGION_CONTROLLER_REGISTRY_REGISTRY_RNIC_H
#define REGION_CONTROLLER_REGISTRY_REGISTRY_RNIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

#define REGISTRY_MAX_CLAIMANTS 8 /* RNICs with the same address that are shown */

enum registry_refusal {
	REGISTRY_PLACED = 0,
	/* The registration is not kept: */
	REGISTRY_BAD_ID,
	REGISTRY_BAD_NAME,
	REGISTRY_BAD_ADDRESS,
	REGISTRY_NO_TOR,
	REGISTRY_OF_OTHER_HOST, /* another host has registered the RNIC before */
	/* a newer agent has replaced the agent that sent the registration */
	REGISTRY_STALE,
	REGISTRY_REPLACED, /* the host has another RNIC in this place */
	REGISTRY_FULL,
	/* The registration is kept, but the RNIC is in no plan: */
	REGISTRY_UNKNOWN_TOR,
	REGISTRY_NOT_A_TOR,
	REGISTRY_WRONG_PLANE, /* its two ToRs are of different planes */
	REGISTRY_RACK_FULL,
	REGISTRY_REFUSALS
};

struct registry_key {
	uint64_t guid;
	uint64_t port;
};

struct registry_host;

struct registry_rnic {
	UT_hash_handle hh;
	/* this member and the next two are private to registry_hosts */
	struct registry_host *of_host;
	struct registry_rnic *next_of_host, *previous_of_host;
	struct registry_key key;
	struct rm_rnic_id id;
	char host[RM_NAME_BYTES], device[RM_NAME_BYTES], driver[RM_NAME_BYTES];
	/* the device before the last change of its name, as this leader has seen it;
	 * "": it has not changed */
	char former_device[RM_NAME_BYTES];
	char tors[WIRE_MAX_ATTACHMENTS][RM_NAME_BYTES];
	size_t tor_count;
	struct wire_address addresses[WIRE_MAX_ADDRESSES];
	size_t address_count;
	uint32_t qpn, large_qpn, mtu_bytes;
	uint16_t lid;
	uint8_t link; /* enum wire_link */
	bool authenticates;
	/* incarnation of the agent, and that of the agent before it */
	uint64_t incarnation, replaced;
	/* Its place in the topology: the ToRs, and REGISTRY_PLACED or the reason why it
	 * has no place. */
	enum registry_refusal refusal;
	size_t switches[WIRE_MAX_ATTACHMENTS];
	size_t plane;
	/* The last reporter, and the time. */
	char aggregator[RM_NAME_BYTES];
	/* the last two sessions that reported the RNIC, the newest first; 0: none */
	uint64_t reporters[2];
	rm_mono_t seen; /* time of the last report */
	rm_wall_t registered;
	rm_wall_t claimed; /* time since which the RNIC has its present addresses */
	uint64_t moves;    /* how often the RNIC has moved to another ToR */
};

struct registry_shared { /* an address that several RNICs have */
	struct wire_address address;
	/* the first RNIC of the list is the one that is used */
	const struct registry_rnic *rnics[REGISTRY_MAX_CLAIMANTS];
	size_t count;
};

#endif
