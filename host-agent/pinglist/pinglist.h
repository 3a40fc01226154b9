/*
 * pinglist - what one ToR's aggregators want of this host, and the sum over the ToRs
 * that an RNIC is attached to. Pure.
 *
 * Holds the wire's own bytes and a view on them: everything that is handed out is
 * borrowed until the pinglist takes a newer one.
 */
#ifndef HOST_AGENT_PINGLIST_PINGLIST_H
#define HOST_AGENT_PINGLIST_PINGLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

/* Expired, it is acted on at this share of its rates, for so much longer: whoever is
 * still out there is seen, and whoever has got the addresses since is not harmed. */
#define PINGLIST_SLOW_FACTOR 10
#define PINGLIST_SLOW_NS (60 * 24 * 3600 * RM_NS_PER_S)

struct pinglist;

enum pinglist_status {
	PINGLIST_NEW,  /* taken */
	PINGLIST_SAME, /* that one is held already */
	PINGLIST_OLD,  /* an older version, or an older rotation of this one */
};

int pinglist_new(const char *tor, struct pinglist **ret);
void pinglist_free(struct pinglist *pinglist);

const char *pinglist_tor(const struct pinglist *pinglist);

/*
 * Copies the offered pinglist's bytes and takes it, if it is newer than what is held.
 * until: after that it has expired (PINGLIST_SAME moves it on). -ENOENT: of another
 * ToR; -ENOMEM. What was held stays then.
 */
int pinglist_take(struct pinglist *pinglist, const struct wire_pinglist_view *offered,
    rm_mono_t until, enum pinglist_status *ret);

/* It is still what the aggregators want. */
void pinglist_renew(struct pinglist *pinglist, rm_mono_t until);

enum pinglist_turn {
	PINGLIST_STAYS,
	PINGLIST_EXPIRES,  /* from now on it is slow */
	PINGLIST_RECOVERS, /* somebody stands behind it again */
	PINGLIST_ENDS,     /* it is forgotten */
};

/* What has become of it, by its age. */
enum pinglist_turn pinglist_expire(struct pinglist *pinglist, rm_mono_t now);
bool pinglist_slow(const struct pinglist *pinglist);

/* NULL: none is held. */
const struct wire_pinglist_view *pinglist_view(const struct pinglist *pinglist);
struct wire_bytes pinglist_bytes(const struct pinglist *pinglist);

/* What an RNIC is to probe and whom it is to answer. */
struct pinglist_sum {
	struct wire_target *targets; /* each (destination, kind) once; the first wins,
					but none of an expired one over one in force */
	size_t target_count;
	struct wire_peer *peers; /* may name one twice: a set to its reader */
	size_t peer_count;
	bool held; /* at least one of the pinglists was there */
};

/* -ENOMEM. The caller clears *ret; it borrows from the pinglists. */
int pinglist_sum(const struct pinglist *const *pinglists, size_t count,
    struct wire_rnic_id rnic, struct pinglist_sum *ret);
void pinglist_sum_clear(struct pinglist_sum *sum);

#endif
