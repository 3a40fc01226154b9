/*
 * store_status - what a store says of itself: who leads, how new it is, what is wrong.
 */
#ifndef REGION_CONTROLLER_STORE_STORE_STATUS_H
#define REGION_CONTROLLER_STORE_STORE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct store_status {
	bool is_shared;     /* by several controllers */
	bool leads;         /* us */
	const char *leader; /* who leads, "" when nobody does; borrowed */
	rm_wall_t since;    /* how long that is so, as far as we know */
	const char *endpoint;
	int64_t revision; /* of what we know; 0: nothing yet */
	bool is_fresh;    /* the store was heard of just now */
	/* The one that leads derives other probe keys than this controller. */
	bool probe_keys_differ;
	/* "" or what a person should do something about; borrowed. */
	const char *trouble;
};

#endif
