/*
 * peer - decides which of a ToR's two aggregators is active, that is, sends the ToR's
 * alerts and its reports to the analyzer. Pure.
 *
 * There is no lease: one of the two is the primary, by its config, and is active by
 * default. It yields only to a standby that is alive and better off: one that can
 * deliver alerts while the primary cannot, or that is connected to the rack's agents
 * while the primary is not. The standby becomes active while the primary reports that
 * it is not active; or while nothing comes from the primary and at least half of the
 * agents report that they have lost it, too, or that it told them it cannot deliver. By
 * such reports of agents the primary yields as well, once at least half of them pass on
 * its own message. Both may be active for a moment, and equal labels make one alert of
 * the two; that neither is active lasts for seconds at most.
 */
#ifndef TOR_AGGREGATOR_STANDBY_PEER_H
#define TOR_AGGREGATOR_STANDBY_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define PEER_SILENT_NS (3 * RM_NS_PER_S)
/* Is connected to less than half of the agents that the other one is connected to. */
#define PEER_DEAF_NS (3 * RM_NS_PER_S)
#define PEER_MUTE_NS (1 * RM_NS_PER_S) /* cannot deliver alerts, and reports that */
/* Time without trouble before it becomes active again. */
#define PEER_BACK_NS (3 * RM_NS_PER_S)
/* Age at which agents' reports do not count any more. */
#define PEER_DOUBT_NS (1 * RM_NS_PER_S)
/* Time for the primary to connect, at the start. */
#define PEER_START_NS (6 * RM_NS_PER_S)
#define PEER_STUCK_NS (5 * RM_NS_PER_S) /* it cannot deliver, and does not yield */
/* Neither the other one nor any agent is connected. */
#define PEER_ALONE_NS (10 * RM_NS_PER_S)
/* No connection to agents, receivers, and the other one. */
#define PEER_ISOLATED_NS (1 * RM_NS_PER_S)
/* After a longer stall of its own it has to ask first. */
#define PEER_STALL_NS (2 * RM_NS_PER_S)

struct wire_tor_standing;

struct peer {
	bool primary, active;
	rm_mono_t since; /* start of this aggregator, or the end of a stall */
	bool has_state;  /* a message of the other one was received since then */
	rm_mono_t last_seen;
	bool other_is_active, other_delivers;
	uint32_t other_agents;
	/* Since when the condition holds, without interruption; ns 0: it does not. */
	rm_mono_t deaf, mute, well, doubt, stuck, isolated;
	uint64_t taken,
	    given; /* times that this aggregator became active, went standby */
};

struct peer_own {        /* state of this aggregator, now */
	bool warm;       /* windows are complete, agents had time to connect */
	bool delivers;   /* alerts are accepted by receivers */
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

/* The other config now has the primary, or lost it. */
void peer_become(struct peer *peer, bool primary);

/* Takes a message with the state of the other one. On a new link it comes after the
 * other one's incidents. A primary that learns after a silence that the other one is
 * active knows less than that one: it goes standby until it has been without trouble
 * for a while. */
void peer_seen(
    struct peer *peer, const struct wire_tor_standing *standing, rm_mono_t now);

/* This aggregator was stopped for so long, until now. After PEER_STALL_NS or more it
 * is standby until it knows which one was active meanwhile. */
void peer_stalled(struct peer *peer, int64_t for_ns, rm_mono_t now);

/* Call it often. True: this aggregator is active. */
bool peer_judge(struct peer *peer, const struct peer_own *own, rm_mono_t now);

/* True: messages of the other one are received. */
bool peer_is_seen(const struct peer *peer, rm_mono_t now);

#endif
