/*
 * refusals - which refused peers are worth a line in the log. Pure.
 *
 * Whoever is refused dials again, for as long as nobody mends it: of one host and
 * reason a line a minute, with how many were not told meanwhile. Of more than
 * RM_REFUSALS at a time the one told longest ago is forgotten.
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
 * told. False: no line. */
bool rm_refusals_tell(struct rm_refusals *refusals, const struct rm_address *peer,
    const char *reason, rm_mono_t now, char who[RM_REFUSALS_TEXT]);

#endif
