/*
 * store_record - records of a store: a registered RNIC, the plan of a ToR, the brake, a
 * controller.
 *
 * Pointers in a record are borrowed from the code that has filled it in. (For a
 * topology and its links see store_topology.h.)
 */
#ifndef REGION_CONTROLLER_STORE_STORE_RECORD_H
#define REGION_CONTROLLER_STORE_STORE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/version.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

struct store_rnic {
	struct wire_rnic rnic;  /* its plane is "" */
	const char *aggregator; /* name of the aggregator that reported the RNIC */
	rm_wall_t registered;
};

struct store_plan {
	const char *tor;
	struct wire_bytes bytes; /* the message, with its version and digest */
	uint64_t version, digest;
	rm_wall_t since; /* when the plan was written, or first seen */
};

struct store_draft { /* a plan that has no version yet */
	const char *tor;
	struct wire_bytes bytes; /* the message, with version and digest 0 */
	uint64_t digest;
	uint64_t above; /* the newest version that any aggregator holds */
	bool is_held;   /* the aggregator holds that version of exactly this plan */
};

struct store_brake {
	uint32_t rate_permille;
	uint64_t version;
	const char *by;
	rm_wall_t when;
};

struct store_controller { /* a controller that runs and reaches the store */
	char name[RM_NAME_BYTES];
	char software[RM_VERSION_BYTES]; /* "": not known */
	rm_wall_t since;                 /* when this release was first read */
};

#endif
