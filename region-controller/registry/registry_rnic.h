/*
 * registry_rnic - an RNIC in the registry, and why it has no place in a plan.
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

#define REGISTRY_MAX_CLAIMANTS 8 /* of one address that are shown */

enum registry_refusal {
	REGISTRY_PLACED = 0,
	/* Not kept. */
	REGISTRY_BAD_ID,
	REGISTRY_BAD_NAME,
	REGISTRY_BAD_ADDRESS,
	REGISTRY_NO_TOR,
	REGISTRY_ANOTHERS, /* another host has registered it before */
	REGISTRY_STALE,    /* of an agent that has been replaced since */
	REGISTRY_REPLACED, /* its host has another RNIC in its place */
	REGISTRY_FULL,
	/* Kept, but in no plan. */
	REGISTRY_UNKNOWN_TOR,
	REGISTRY_NOT_A_TOR,
	REGISTRY_WRONG_PLANE, /* two ToRs of different planes */
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
	struct registry_host *of_host; /* these three are private to registry_hosts */
	struct registry_rnic *next_of_host, *previous_of_host;
	struct registry_key key;
	struct rm_rnic_id id;
	char host[RM_NAME_BYTES], device[RM_NAME_BYTES], driver[RM_NAME_BYTES];
	char tors[WIRE_MAX_ATTACHMENTS][RM_NAME_BYTES];
	size_t tor_count;
	struct wire_address addresses[WIRE_MAX_ADDRESSES];
	size_t address_count;
	uint32_t qpn, large_qpn, mtu_bytes;
	uint16_t lid;
	uint8_t link; /* enum wire_link */
	bool authenticates;
	uint64_t incarnation, replaced; /* this one's, and the one before */
	/* Where the topology puts it. */
	enum registry_refusal refusal;
	size_t switches[WIRE_MAX_ATTACHMENTS];
	size_t plane;
	/* Who told, and when. */
	char aggregator[RM_NAME_BYTES];
	uint64_t tellers[2]; /* sessions, the newest first; 0: none */
	rm_mono_t seen;      /* when it was last reported */
	rm_wall_t registered;
	rm_wall_t claimed; /* since when it has these addresses */
	uint64_t moves;    /* to another ToR */
};

struct registry_shared { /* an address that several RNICs claim */
	struct wire_address address;
	const struct registry_rnic *rnics[REGISTRY_MAX_CLAIMANTS]; /* the first wins */
	size_t count;
};

#endif
