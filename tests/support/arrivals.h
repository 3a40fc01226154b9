/*
 * arrivals - handles a frame with a pinglist or keys as an agent does: it is opened
 * once, then taken. *r: 0, or the error.
 */
#ifndef TESTS_SUPPORT_ARRIVALS_H
#define TESTS_SUPPORT_ARRIVALS_H

#include "host-agent/packet/key_ring.h"
#include "host-agent/pinglist/pinglist.h"
#include "host-agent/pinglist/pinglist_store.h"

static inline bool
pinglist_store_arrival(struct pinglist_store *pinglists, const uint8_t *data,
    size_t len, rm_wall_t wall, rm_mono_t now, const char **tor, int *r)
{
	struct wire_pinglist_view view;

	*r = pinglist_store_open(pinglists, data, len, &view);
	return *r == 0 && pinglist_store_take(pinglists, &view, wall, now, tor, r);
}

static inline int
pinglist_arrival(struct pinglist *pinglist, const uint8_t *data, size_t len,
    rm_mono_t until, enum pinglist_status *status)
{
	struct wire_pinglist_view view;
	int r = wire_open_pinglist(&view, data, len);

	return r < 0 ? r : pinglist_take(pinglist, &view, until, status);
}

static inline bool
keys_arrival(
    struct key_ring *ring, const uint8_t *data, size_t len, const char **tor, int *r)
{
	struct wire_keys view;

	*r = key_ring_open(ring, data, len, &view);
	return *r == 0 && key_ring_take(ring, &view, tor, r);
}

#endif
