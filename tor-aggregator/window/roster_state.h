/*
 * roster_state - what roster.c, roster_read.c and roster_served.c share; nobody else's
 * business.
 */
#ifndef TOR_AGGREGATOR_WINDOW_ROSTER_STATE_H
#define TOR_AGGREGATOR_WINDOW_ROSTER_STATE_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "tor-aggregator/window/roster.h"

struct roster_key { /* no padding: it is hashed as bytes */
	uint64_t guid, port;
};

struct roster_entry {
	struct roster_rnic rnic;
	struct roster_key key;
	bool member;
	UT_hash_handle hh;
};

struct roster {
	char (*tors)[RM_NAME_BYTES];
	size_t tor_count; /* the first is our own */
	struct roster_entry *by_id;
	struct roster_entry **members, **foreigners;
	size_t member_count, foreigner_count;
	size_t planned_foreigners;
	const char **hosts; /* borrowed from the first member of each */
	size_t host_count;
	uint64_t refused;
};

/* NULL: not known. */
struct roster_entry *roster_entry(const struct roster *roster, struct wire_rnic_id id);
/* An RNIC that has changed sides starts afresh on the other one; *changed is then
 * set. Returns its entry, or NULL with *r set when it is refused, and counted. */
struct roster_entry *roster_place(struct roster *roster, const struct wire_rnic *rnic,
    bool member, bool *changed, int *r);

#endif
