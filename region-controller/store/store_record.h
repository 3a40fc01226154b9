/*
 * store_record - what a store keeps: a registered RNIC, a ToR's plan, the brake.
 *
 * All that a record points to is borrowed from whoever made it. (A topology and its
 * links have headers of their own.)
 */
#ifndef REGION_CONTROLLER_STORE_STORE_RECORD_H
#define REGION_CONTROLLER_STORE_STORE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct store_rnic {
	struct wire_rnic rnic;  /* plane is "" */
	const char *aggregator; /* who told */
	rm_wall_t registered;
};

struct store_plan {
	const char *tor;
	struct wire_bytes bytes; /* the message, with version and digest */
	uint64_t version, digest;
	rm_wall_t since; /* kept, or seen first */
};

struct store_draft { /* a plan without a version */
	const char *tor;
	struct wire_bytes bytes; /* version and digest 0 */
	uint64_t digest;
	uint64_t above; /* the newest version that anybody holds */
	bool is_held;   /* that one is this very plan */
};

struct store_brake {
	uint32_t rate_permille;
	uint64_t version;
	const char *by;
	rm_wall_t when;
};

#endif
