/*
 * refusals - limits the log lines on refused peers. Pure.
 *
 * A refused peer dials again until an operator corrects the cause. So each host and
 * reason is logged once a minute, with the number of refusals since the last line. Of
 * more than RM_REFUSALS hosts and reasons, the one logged longest ago is forgotten.
 */
#ifndef RACKMESH_NET_REFUSALS_H
#define RACKMESH_NET_REFUSALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define RM_REFUSALS 64
#define RM_REFUSALS_AGAIN_NS (60 * RM_NS_PER_S)

struct rm_address;

struct rm_refusals { /* zeroed at first */
	struct {
		uint64_t key;        /* hash of host and reason */
		rm_mono_t logged_at; /* ns 0: the entry is free */
		uint64_t unlogged;
	} rows[RM_REFUSALS];
};

#define RM_REFUSALS_TEXT 160

/* True: log a line. who: the address without its port, and "(7 more times since)" if
 * some refusals were not logged. */
bool rm_refusals_report(struct rm_refusals *refusals, const struct rm_address *peer,
    const char *reason, rm_mono_t now, char who[RM_REFUSALS_TEXT]);

#endif
