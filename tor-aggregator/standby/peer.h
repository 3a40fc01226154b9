/*
 * peer - decides which of a ToR's two aggregators is active, that is sends its alerts
 * and its reports to the analyzer. Pure.
 *
 * No lease: one of the two is the primary, by its config, and speaks. It yields only to
 * one that it hears, and that is better off: that delivers alerts while it cannot, or
 * hears the rack's agents while it does not. The other one stands by; it speaks while
 * the primary says that it does not, or while nothing comes from the primary and at
 * least half of the agents say that they have lost it, too, or have its word that it
 * cannot deliver; by agents' word the primary yields as well, once at least half of
 * them pass its own on. Both may speak for a moment, and labels make that one alert;
 * that neither speaks lasts seconds.
 */
#ifndef TOR_AGGREGATOR_STANDBY_PEER_H
#define TOR_AGGREGATOR_STANDBY_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define PEER_SILENT_NS (3 * RM_NS_PER_S)
#define PEER_DEAF_NS                                                               \
	(3 * RM_NS_PER_S) /* is connected to less than half of the agents that the \
			     other one is connected to */
#define PEER_MUTE_NS (1 * RM_NS_PER_S) /* cannot deliver alerts, and reports that */
#define PEER_BACK_NS \
	(3 * RM_NS_PER_S) /* time without trouble before it becomes active again */
#define PEER_DOUBT_NS \
	(1 * RM_NS_PER_S) /* age at which agents' reports do not count any more */
#define PEER_START_NS \
	(6 * RM_NS_PER_S) /* time for the primary to connect, at the start */
#define PEER_STUCK_NS (5 * RM_NS_PER_S) /* it cannot deliver, and does not yield */
#define PEER_ALONE_NS \
	(10 * RM_NS_PER_S) /* neither the other one nor any agent is connected */
#define PEER_ISOLATED_NS (1 * RM_NS_PER_S) /* from agents, receivers, and it */
#define PEER_STALL_NS (2 * RM_NS_PER_S)    /* who stood still for longer has to ask */

struct wire_tor_standing;

struct peer {
	bool primary, active;
	rm_mono_t since; /* our start, or the end of a stall */
	bool has_word;   /* of the other one, since then */
	rm_mono_t last_seen;
	bool other_is_active, other_delivers;
	uint32_t other_agents;
	/* Since when it is so, without interruption; ns 0: it is not. */
	rm_mono_t deaf, mute, well, doubt, stuck, isolated;
	uint64_t taken,
	    given; /* times that this aggregator became active, went standby */
};

struct peer_own {        /* how we are, now */
	bool warm;       /* windows are whole, agents had their time to come */
	bool delivers;   /* alerts are taken */
	uint32_t agents; /* agents of the ToR that are connected here */
	uint32_t asked;  /* of them: those that report their aggregators, */
	uint32_t lost;   /* of those: not connected to the other one, */
	uint32_t mute;   /* or connected to it, and reporting that it cannot deliver */
	uint32_t controller_link; /* of those asked: those that pass on that this one
				     cannot deliver */
};

/* The primary becomes active once it knows the state of the other one, or that there is
 * none. */
void peer_init(struct peer *peer, bool primary, rm_mono_t now);

/* Who of the two is the primary turns out to be otherwise. */
void peer_become(struct peer *peer, bool primary);

/* The other one's word. On a new link that comes after its incidents. A primary that
 * hears after a silence that the other one speaks knows less than that one does: it
 * speaks no more until it has been well for a while. */
void peer_seen(
    struct peer *peer, const struct wire_tor_standing *standing, rm_mono_t now);

/* We stood still for so long, until now. After PEER_STALL_NS or more we speak no more
 * until we know who did meanwhile. */
void peer_stalled(struct peer *peer, int64_t for_ns, rm_mono_t now);

/* Often. Do we speak? */
bool peer_judge(struct peer *peer, const struct peer_own *own, rm_mono_t now);

/* Is the other one heard? */
bool peer_is_seen(const struct peer *peer, rm_mono_t now);

#endif
