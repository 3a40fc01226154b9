/*
 * peer - decides which of a ToR's two aggregators is active, that is, sends the ToR's
 * alerts and its reports to the analyzer. Pure.
 *
 * There is no lease. By the config one of the two is the primary, which normally is
 * active. The primary goes standby only if the other aggregator works and can do more:
 * it can deliver alerts while the primary cannot, or it is connected to the rack's
 * agents while the primary is not. The standby becomes active in three cases: the
 * primary reports that it is not active; the primary stays active although it cannot
 * deliver alerts; no message arrives from the primary, and at least half of the agents
 * report that they have no connection to the primary either, or that the primary cannot
 * deliver alerts. If no message arrives from the standby, a primary that cannot deliver
 * alerts goes standby once at least half of the agents report this to it: the standby
 * gets the same reports, and becomes active. For a moment both may be active; their
 * alerts have equal labels, so receivers see one alert. Neither is active for a few
 * seconds at most.
 */
#ifndef TOR_AGGREGATOR_STANDBY_PEER_H
#define TOR_AGGREGATOR_STANDBY_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define PEER_SILENT_NS (3 * RM_NS_PER_S)
/* How long this aggregator may have less than half as many connected agents as the
 * other one. */
#define PEER_FEW_AGENTS_NS (3 * RM_NS_PER_S)
#define PEER_CANNOT_DELIVER_NS (1 * RM_NS_PER_S) /* cannot deliver alerts */
/* Time without a problem before the primary becomes active again. */
#define PEER_BACK_NS (3 * RM_NS_PER_S)
/* An active standby without messages of the primary goes standby if for this time fewer
 * than half of the agents report that they have lost the primary. */
#define PEER_DOUBT_NS (1 * RM_NS_PER_S)
/* After its start a standby waits this long for the primary to become active. */
#define PEER_START_NS (6 * RM_NS_PER_S)
/* How long the primary may be active although it cannot deliver alerts. */
#define PEER_STUCK_NS (5 * RM_NS_PER_S)
/* How long an aggregator without any connected agent waits for the other one. */
#define PEER_ALONE_NS (10 * RM_NS_PER_S)
/* How long an aggregator may have no connection: to agents, to receivers of alerts, or
 * to the other aggregator. */
#define PEER_ISOLATED_NS (1 * RM_NS_PER_S)
/* After a longer stall this aggregator must learn the other one's state before it
 * becomes active. */
#define PEER_STALL_NS (2 * RM_NS_PER_S)

struct wire_tor_standing;

struct peer {
	bool primary, active;
	rm_mono_t since; /* start of this aggregator, or the end of a stall */
	/* a message of the other aggregator was received after `since` */
	bool has_state;
	rm_mono_t last_seen;
	bool other_is_active, other_delivers;
	uint32_t other_agents;
	/* Times since which a condition has held without interruption; ns 0: it does
	 * not hold. */
	rm_mono_t few_agents, cannot_deliver, no_problem, doubt, stuck, isolated;
	uint64_t taken,
	    /* taken: how often this aggregator became active; given: how often it went
	       standby */
	    given;
};

struct peer_own {        /* present state of this aggregator */
	bool ready;      /* agents have had time to connect, and windows are complete */
	bool delivers;   /* receivers accept alerts */
	uint32_t agents; /* number of connected agents of the ToR */
	uint32_t asked;  /* number of these agents that report their aggregators */
	/* number of agents in `asked` that are not connected to the other aggregator */
	uint32_t lost;
	/* number of agents in `asked` that are connected to the other aggregator and
	 * report that it cannot deliver alerts */
	uint32_t other_cannot_deliver;
	/* number of agents in `asked` that report that this aggregator cannot deliver
	 * alerts */
	uint32_t we_cannot_deliver;
};

/* A primary becomes active when it has received the state of the other aggregator, or
 * has waited for that state for PEER_SILENT_NS (without agents: PEER_ALONE_NS). */
void peer_init(struct peer *peer, bool primary, rm_mono_t now);

/* The roles have changed: this aggregator is the primary now, or is not any more. */
void peer_become(struct peer *peer, bool primary);

/* Handles a message with the state of the other aggregator. On a new link that message
 * comes after the other one's incidents. If a primary learns after a silence that the
 * other one is active, the other one has newer data: the primary goes standby until it
 * has had no problem for PEER_BACK_NS. */
void peer_receive_state(
    struct peer *peer, const struct wire_tor_standing *standing, rm_mono_t now);

/* This aggregator was stopped for the last for_ns. After PEER_STALL_NS or more it is
 * standby until it knows which aggregator was active meanwhile. */
void peer_stalled(struct peer *peer, int64_t for_ns, rm_mono_t now);

/* Call it often, as it measures times between calls. True: this aggregator is
 * active. */
bool peer_judge(struct peer *peer, const struct peer_own *own, rm_mono_t now);

/* True: the last message of the other aggregator is recent. */
bool peer_is_seen(const struct peer *peer, rm_mono_t now);

#endif
