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

/* An expired pinglist is probed at this share of its rates, for this much longer:
 * RNICs that still exist stay monitored, and other hosts that got the addresses of
 * removed ones meanwhile get few probes. */
#define PINGLIST_SLOW_FACTOR 10
#define PINGLIST_SLOW_NS (60 * 24 * 3600 * RM_NS_PER_S)

struct pinglist;

enum pinglist_status {
	PINGLIST_NEW,  /* taken */
	PINGLIST_SAME, /* the same as the one held */
	PINGLIST_OLD,  /* an older version, or an older rotation */
};

int pinglist_new(const char *tor, struct pinglist **ret);
void pinglist_free(struct pinglist *pinglist);

const char *pinglist_tor(const struct pinglist *pinglist);

/*
 * Copies and takes the offered pinglist if it is newer than the one held. until: time
 * at which it expires (PINGLIST_SAME extends it). -ENOENT: of another ToR; -ENOMEM. On
 * failure the pinglist that is held stays.
 */
int pinglist_take(struct pinglist *pinglist, const struct wire_pinglist_view *offered,
    rm_mono_t until, enum pinglist_status *ret);

/* An aggregator has confirmed that the pinglist is still valid. */
void pinglist_renew(struct pinglist *pinglist, rm_mono_t until);

enum pinglist_turn {
	PINGLIST_STAYS,
	PINGLIST_EXPIRES,  /* it has expired: probed slowly from now on */
	PINGLIST_RECOVERS, /* an aggregator has confirmed it again */
	PINGLIST_ENDS,     /* it is forgotten */
};

/* Its state, by its age. */
enum pinglist_turn pinglist_expire(struct pinglist *pinglist, rm_mono_t now);
bool pinglist_slow(const struct pinglist *pinglist);

/* NULL: none is held. */
const struct wire_pinglist_view *pinglist_view(const struct pinglist *pinglist);
struct wire_bytes pinglist_bytes(const struct pinglist *pinglist);

/* The targets of an RNIC, and the peers that it answers. */
struct pinglist_sum {
	struct wire_target
	    *targets; /* each (destination, kind) once, from the first pinglist that has
			 it; those in force before expired ones */
	size_t target_count;
	struct wire_peer *peers; /* may have duplicates; the reader uses it as a set */
	size_t peer_count;
	bool held; /* at least one of the pinglists is present */
};

/* -ENOMEM: out of memory. The caller clears *ret; it borrows from the pinglists. */
int pinglist_sum(const struct pinglist *const *pinglists, size_t count,
    struct wire_rnic_id rnic, struct pinglist_sum *ret);
void pinglist_sum_clear(struct pinglist_sum *sum);

#endif
