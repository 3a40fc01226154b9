/*
 * refusals - limits the log lines on refused peers. Pure.
 *
 * A refused peer dials again until a person corrects the cause: each host and reason
 * gets one line a minute, with the number of refusals since the last one. Beyond
 * RM_REFUSALS hosts and reasons, the one logged longest ago is forgotten.
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
		uint64_t key;        /* of host and reason */
		rm_mono_t logged_at; /* 0: free */
		uint64_t untold;
	} rows[RM_REFUSALS];
};

#define RM_REFUSALS_TEXT 160

/* who: the address without its port, and "(7 more times since)" where some were not
 * logged. False: no line. */
bool rm_refusals_report(struct rm_refusals *refusals, const struct rm_address *peer,
    const char *reason, rm_mono_t now, char who[RM_REFUSALS_TEXT]);

#endif
