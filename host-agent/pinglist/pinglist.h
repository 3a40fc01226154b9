/*
 * pinglist - the pinglist of one ToR, and the sum over the ToRs of an RNIC.
 *
 * Pure. It holds the message's bytes and a view on them: all results are borrowed until
 * the pinglist takes a newer message.
 */
#ifndef HOST_AGENT_PINGLIST_PINGLIST_H
#define HOST_AGENT_PINGLIST_PINGLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

/* An expired pinglist is probed at 1 / PINGLIST_SLOW_FACTOR of its rates for
 * PINGLIST_SLOW_NS more. So RNICs that still exist stay monitored, and a host that has
 * got the address of a removed RNIC receives few probes. */
#define PINGLIST_SLOW_FACTOR 10
#define PINGLIST_SLOW_NS (60 * 24 * 3600 * RM_NS_PER_S)

struct pinglist;

enum pinglist_status {
	PINGLIST_NEW, /* the offered pinglist was taken */
	/* the offered pinglist is equal to the held one, which is thereby confirmed */
	PINGLIST_SAME,
	/* the offered pinglist has an older version, or an older rotation */
	PINGLIST_OLD,
};

int pinglist_new(const char *tor, struct pinglist **ret);
void pinglist_free(struct pinglist *pinglist);

const char *pinglist_tor(const struct pinglist *pinglist);

/*
 * Copies the offered pinglist if it is newer than the one held. until: time at which it
 * expires; PINGLIST_SAME sets that time of the held one. -ENOENT: the offered pinglist
 * is of another ToR; -ENOMEM. On failure the held pinglist stays.
 */
int pinglist_take(struct pinglist *pinglist, const struct wire_pinglist_view *offered,
    rm_mono_t until, enum pinglist_status *ret);

/* An aggregator has confirmed that the pinglist is still valid. */
void pinglist_renew(struct pinglist *pinglist, rm_mono_t until);

enum pinglist_turn {
	PINGLIST_STAYS,
	/* the pinglist has just expired: it is probed slowly from now on */
	PINGLIST_EXPIRES,
	/* an aggregator has confirmed the expired pinglist: it is probed at full rates
	   again */
	PINGLIST_RECOVERS,
	PINGLIST_ENDS, /* the pinglist has been expired for too long, and was dropped */
};

/* Moves the pinglist to the state that its age requires, and returns the change. */
enum pinglist_turn pinglist_expire(struct pinglist *pinglist, rm_mono_t now);
bool pinglist_slow(const struct pinglist *pinglist);

/* Returns NULL if no pinglist is held. */
const struct wire_pinglist_view *pinglist_view(const struct pinglist *pinglist);
struct wire_bytes pinglist_bytes(const struct pinglist *pinglist);

/* The sum of the pinglists of all ToRs of an RNIC: the targets that the RNIC probes,
 * and the peers that it answers. */
struct pinglist_sum {
	/* each (destination, kind) once, from the first pinglist that has it; pinglists
	 * in force come before expired ones */
	struct wire_target *targets;
	size_t target_count;
	/* may have duplicates, as the reflector uses the peers as a set */
	struct wire_peer *peers;
	size_t peer_count;
	bool held; /* at least one ToR has a pinglist */
};

/* Sums up the pinglists for the RNIC; *ret borrows from them, and the caller clears it.
 * -ENOMEM. */
int pinglist_sum(const struct pinglist *const *pinglists, size_t count,
    struct wire_rnic_id rnic, struct pinglist_sum *ret);
void pinglist_sum_clear(struct pinglist_sum *sum);

#endif
