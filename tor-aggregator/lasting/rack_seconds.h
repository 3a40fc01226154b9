/*
 * rack_seconds - the last seconds of a rack's pairs, each once, and their sum. Pure.
 *
 * Of each second only what may bear witness is kept: what a host's stall or a port that
 * is down took away is not in it. A second that we were deaf for begins them afresh.
 */
#ifndef TOR_AGGREGATOR_LASTING_RACK_SECONDS_H
#define TOR_AGGREGATOR_LASTING_RACK_SECONDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rack;
struct rack_seconds;
struct window_closed;

#define RACK_SECONDS 5

enum rack_seconds_says {
	RACK_SECONDS_PASSED, /* part of what is there already */
	RACK_SECONDS_FEW,    /* added; not all seconds are there yet */
	RACK_SECONDS_FULL,
};

int rack_seconds_new(struct rack_seconds **ret);
void rack_seconds_free(struct rack_seconds *seconds);

/* Other members: afresh. -ENOMEM. */
int rack_seconds_renumber(struct rack_seconds *seconds, size_t members);

/* One of a window that moves on bin by bin: added when it is all new. Returns enum
 * rack_seconds_says or -ENOMEM: that second is incomplete. */
int rack_seconds_add(struct rack_seconds *seconds, const struct rack *rack,
    const struct window_closed *window);

/* False: nothing was lost, or there is no memory. *ret lives until the next call. */
bool rack_seconds_sum(struct rack_seconds *seconds, struct window_closed *ret);

uint32_t rack_seconds_newest_lost(const struct rack_seconds *seconds, size_t member);

/* Of the probes from and to it some were lost all the time: without the worst outages
 * there is a share left. */
bool rack_seconds_is_steady(const struct rack_seconds *seconds, size_t member);

#endif
