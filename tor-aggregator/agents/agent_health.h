/*
 * agent_health - the state of one host's agent during a window. Pure.
 *
 * Judged from the management network: heartbeats with the agent's own time stamps, the
 * stalls that it reports, TCP acknowledgements of its kernel, and the end of its
 * session. A heartbeat that was only delayed on the network is not a stall, because
 * gaps are measured between the agent's stamps. The exception is a cut of the
 * management path: then the cause of a gap is not known. All times are on this
 * aggregator's clock (see clock_map).
 */
#ifndef TOR_AGGREGATOR_AGENTS_AGENT_HEALTH_H
#define TOR_AGGREGATOR_AGENTS_AGENT_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "tor-aggregator/window/rack_view.h"

/* Gap between heartbeats that is a stall. */
#define AGENT_HEALTH_GAP_NS (400 * RM_NS_PER_MS)
#define AGENT_HEALTH_STALL_NS (200 * RM_NS_PER_MS) /* shorter stalls cost no probe */
/* A stall shorter than the probe time-out minus this is a stutter: packets wait in
 * queues with the kernel's stamps, and are answered in time. */
#define AGENT_HEALTH_MARGIN_NS (100 * RM_NS_PER_MS)
/* Then its kernel is asked for an acknowledgement. */
#define AGENT_HEALTH_OVERDUE_NS (500 * RM_NS_PER_MS)
/* A fault: the host is unreachable. */
#define AGENT_HEALTH_SILENT_NS (1000 * RM_NS_PER_MS)
/* Silence longer than this is a fault: the agent is frozen. Shorter silence is a stall,
 * as a busy host may stop a process for a second, and that needs no alert. */
#define AGENT_HEALTH_FROZEN_NS (2000 * RM_NS_PER_MS)
/* Also a fault: this many stops of a second or longer within the time below,
 * together more than half of it. A host that stops its processes for one second of
 * five is only busy. */
#define AGENT_HEALTH_STOP_NS (1000 * RM_NS_PER_MS)
#define AGENT_HEALTH_STOPS 5
#define AGENT_HEALTH_STOPS_NS (30 * RM_NS_PER_S)
/* Counted from the last of them. */
#define AGENT_HEALTH_STOPS_OVER_NS (4 * RM_NS_PER_S)
/* Time to reconnect after a reset. */
#define AGENT_HEALTH_GRACE_NS (1000 * RM_NS_PER_MS)
/* After the start of a new incarnation. */
#define AGENT_HEALTH_SETTLE_NS (1000 * RM_NS_PER_MS)
#define AGENT_HEALTH_ACK_FRESH_NS (1500 * RM_NS_PER_MS)
/* A first answer later than this was not delayed, it was blocked: until the cut is
 * as long ago as it lasted, heartbeats may wait for TCP's back-off. */
#define AGENT_HEALTH_ACK_LATE_NS (250 * RM_NS_PER_MS)
#define AGENT_HEALTH_BACKOFF_NS (500 * RM_NS_PER_MS)
/* The kernel reports the ages of acknowledgements in ticks of up to 10 ms. */
#define AGENT_HEALTH_ACK_BLUR_NS (30 * RM_NS_PER_MS)

struct agent_health;

int agent_health_new(struct agent_health **ret);
void agent_health_free(struct agent_health *watch);

/* A session began; fresh: with a new incarnation. */
void agent_health_hello(struct agent_health *watch, rm_mono_t now, bool fresh);

/* A heartbeat made at `made` arrived, after all results known at `through`. Only the
 * newest counts. */
void agent_health_beat(struct agent_health *watch, rm_mono_t now, rm_mono_t made,
    rm_mono_t through, bool paused);

/* An operator has paused or resumed its probing. If its session ends while paused,
 * that is intended, and the host counts as paused until it reconnects. */
void agent_health_excuse(struct agent_health *watch, bool paused_by_hand);

/* The agent reports that its loop did not run between these two times. */
void agent_health_stall(struct agent_health *watch, rm_mono_t start, rm_mono_t end);

/* True: its heartbeat is overdue, and its kernel's acknowledgements are needed. */
bool agent_health_overdue(const struct agent_health *watch, rm_mono_t now);
/* True: it has been overdue for so long that it is a fault: see
 * AGENT_HEALTH_SILENT_NS. */
bool agent_health_silent(const struct agent_health *watch, rm_mono_t now);
/* True: ask its kernel now (wire_ping, then rm_link_peer_ack). At most once per
 * AGENT_HEALTH_OVERDUE_NS; the answer goes to agent_health_acked. */
bool agent_health_wants_ping(struct agent_health *watch, rm_mono_t now);
void agent_health_acked(struct agent_health *watch, rm_mono_t acked_at);

/* The session ended. by_peer: closed or reset by its kernel, not timed out. */
void agent_health_ended(struct agent_health *watch, rm_mono_t now, bool by_peer);

/*
 * The worst state within [start, end + timeout_ns], because a probe sent at the end of
 * a window is answered until then. ret: the state now.
 */
enum host_state agent_health_state(const struct agent_health *watch, rm_mono_t now,
    rm_mono_t start, rm_mono_t end, int64_t timeout_ns, struct host_silence *ret);

/* Results sent before this time have arrived; false while it is silent for longer than
 * a stutter, or disconnected. */
bool agent_health_reported(const struct agent_health *watch, rm_mono_t now,
    int64_t timeout_ns, rm_mono_t *ret);

#endif
