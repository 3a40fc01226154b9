/*
 * store_status - the state of a store: who leads, how recent its data are, and what is
 * wrong.
 */
#ifndef REGION_CONTROLLER_STORE_STORE_STATUS_H
#define REGION_CONTROLLER_STORE_STORE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct store_status {
	bool is_shared;     /* several controllers use the store */
	bool leads;         /* this controller leads */
	const char *leader; /* name of the leader; "": there is none; borrowed */
	rm_wall_t since; /* time since which the leader leads, as far as it is known */
	const char *endpoint;
	/* revision of the data that this controller has; 0: it has none yet */
	int64_t revision;
	bool is_fresh; /* the store has answered recently */
	/* The leader derives other probe keys than this controller. */
	bool probe_keys_differ;
	/* Text on a problem that an operator should solve; "": there is none;
	 * borrowed. */
	const char *trouble;
};

#endif
