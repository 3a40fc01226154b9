/*
 * agent_health - the state of one host's agent during a window. Pure.
 *
 * The sources are all on the management network: heartbeats with the agent's own time
 * stamps, the stalls that the agent reports, TCP acknowledgements by its kernel, and
 * the end of its session. Gaps are measured between the agent's time stamps, so a
 * heartbeat that is only delayed on the network does not count as a stall. If the
 * management network was cut, however, the cause of a gap is not known. All times are
 * on this aggregator's clock (see clock_map).
 */
#ifndef TOR_AGGREGATOR_AGENTS_AGENT_HEALTH_H
#define TOR_AGGREGATOR_AGENTS_AGENT_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "tor-aggregator/window/rack_view.h"

/* A longer gap between two heartbeats is a stall. */
#define AGENT_HEALTH_GAP_NS (400 * RM_NS_PER_MS)
/* A shorter stall causes no lost probe. */
#define AGENT_HEALTH_STALL_NS (200 * RM_NS_PER_MS)
/* A stall that is shorter than the probe time-out minus this margin is only a stutter:
 * the packets wait in queues with time stamps of the kernel, and are answered in
 * time. */
#define AGENT_HEALTH_MARGIN_NS (100 * RM_NS_PER_MS)
/* After this time without a heartbeat the kernel of the agent's host is asked for an
 * acknowledgement. */
#define AGENT_HEALTH_OVERDUE_NS (500 * RM_NS_PER_MS)
/* After this time without an acknowledgement the host counts as unreachable, which is a
 * fault. */
#define AGENT_HEALTH_SILENT_NS (1000 * RM_NS_PER_MS)
/* After this time without a heartbeat, while the kernel answers, the agent counts as
 * frozen, which is a fault. Shorter silence is only a stall: a busy host may stop a
 * process for a second, and that needs no alert. */
#define AGENT_HEALTH_FROZEN_NS (2000 * RM_NS_PER_MS)
/* The agent also counts as frozen if it stops AGENT_HEALTH_STOPS times within
 * AGENT_HEALTH_STOPS_NS, each time for at least AGENT_HEALTH_STOP_NS, and together for
 * more than half of the time. A host that stops its processes for one second of five is
 * only busy. */
#define AGENT_HEALTH_STOP_NS (1000 * RM_NS_PER_MS)
#define AGENT_HEALTH_STOPS 5
#define AGENT_HEALTH_STOPS_NS (30 * RM_NS_PER_S)
/* This fault ends this long after the last stop. */
#define AGENT_HEALTH_STOPS_OVER_NS (4 * RM_NS_PER_S)
/* Time that an agent has to reconnect after its connection was reset. */
#define AGENT_HEALTH_GRACE_NS (1000 * RM_NS_PER_MS)
/* Time that a new incarnation of an agent has to start probing. */
#define AGENT_HEALTH_SETTLE_NS (1000 * RM_NS_PER_MS)
#define AGENT_HEALTH_ACK_FRESH_NS (1500 * RM_NS_PER_MS)
/* If the first acknowledgement is later than this, the management network was cut.
 * After a cut, TCP's back-off may delay heartbeats for as long as the cut lasted. */
#define AGENT_HEALTH_ACK_LATE_NS (250 * RM_NS_PER_MS)
#define AGENT_HEALTH_BACKOFF_NS (500 * RM_NS_PER_MS)
/* The inaccuracy of an acknowledgement's age: the kernel reports it in ticks of up to
 * 10 ms. */
#define AGENT_HEALTH_ACK_BLUR_NS (30 * RM_NS_PER_MS)

struct agent_health;

int agent_health_new(struct agent_health **ret);
void agent_health_free(struct agent_health *health);

/* Call it when a session begins; fresh: with a new incarnation. */
void agent_health_hello(struct agent_health *health, rm_mono_t now, bool fresh);

/* Call it when a heartbeat arrives that the agent made at `made`; it comes after all
 * results that the agent knew at `through`. A heartbeat older than the newest one is
 * ignored. */
void agent_health_beat(struct agent_health *health, rm_mono_t now, rm_mono_t made,
    rm_mono_t through, bool paused);

/* An operator has paused or resumed the agent's probing. If the session ends while
 * paused, that is intended: the host counts as paused until the agent reconnects. */
void agent_health_excuse(struct agent_health *health, bool paused_by_hand);

/* Adds a stall that the agent reports: its loop did not run between these two times. */
void agent_health_stall(struct agent_health *health, rm_mono_t start, rm_mono_t end);

/* True: the heartbeat is overdue, so acknowledgements of the agent's kernel are
 * needed. */
bool agent_health_overdue(const struct agent_health *health, rm_mono_t now);
/* True: the heartbeat has been overdue for so long that it is a fault, see
 * AGENT_HEALTH_SILENT_NS. */
bool agent_health_silent(const struct agent_health *health, rm_mono_t now);
/* True: ask the agent's kernel now: send a wire_ping, then pass the time of the
 * acknowledgement (rm_link_peer_ack) to agent_health_acked. True at most once per
 * AGENT_HEALTH_OVERDUE_NS. */
bool agent_health_wants_ping(struct agent_health *health, rm_mono_t now);
void agent_health_acked(struct agent_health *health, rm_mono_t acked_at);

/* Call it when the session ends. by_peer: the agent's kernel closed or reset it; false:
 * it timed out. */
void agent_health_ended(struct agent_health *health, rm_mono_t now, bool by_peer);

/*
 * Returns the worst state of the host within [start, end + timeout_ns]: a probe sent at
 * the end of a window may be answered until then. *ret: details of the present silence.
 */
enum host_state agent_health_state(const struct agent_health *health, rm_mono_t now,
    rm_mono_t start, rm_mono_t end, int64_t timeout_ns, struct host_silence *ret);

/* *ret: all results of probes that were sent before this time have arrived. False: the
 * agent is disconnected, or has been silent for longer than a stutter. */
bool agent_health_reported(const struct agent_health *health, rm_mono_t now,
    int64_t timeout_ns, rm_mono_t *ret);

#endif
