#include "tor-aggregator/agents/agent_health.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Number of spans that are kept: far more than occur in a window and in the time until
 * it is judged. */
#define WATCH_SPANS 128
/* time between two heartbeats of an agent that does not stall */
#define BEAT_NS (250 * RM_NS_PER_MS)

struct span {
	rm_mono_t start, end;
	enum host_state state;
	/* the stall lasted at least this long; 0: the span is not a stall */
	int64_t stall_ns;
};

struct stop {
	rm_mono_t start, end; /* ns 0: there was no such span */
};

struct agent_health {
	bool connected;
	bool beaten; /* a heartbeat was received in this session */
	bool paused, paused_by_hand;
	/* The last session ended because the host's kernel did not reply. */
	bool timed_out;
	rm_mono_t last_seen; /* when the last heartbeat or hello arrived */
	rm_mono_t last_made; /* time stamp of the newest heartbeat, or of the hello */
	/* all results that the agent knew at this time have arrived */
	rm_mono_t through;
	rm_mono_t ended;
	rm_mono_t pinged, first_ping; /* times in the present silence; ns 0: none */
	/* first_ack: the first one in the present silence; ns 0: none */
	rm_mono_t acked, first_ack;
	struct span spans[WATCH_SPANS];
	size_t next_span;
	/* A ring: the oldest entry is overwritten. */
	struct stop stops[AGENT_HEALTH_STOPS];
	size_t next_stop;
};

int
agent_health_new(struct agent_health **ret)
{
	struct agent_health *health = calloc(1, sizeof(*health));

	if (health == NULL)
		return -ENOMEM;
	*ret = health;
	return 0;
}

void
agent_health_free(struct agent_health *health)
{
	free(health);
}

/* Adds a span; it overwrites the oldest one. */
static void
remember_span(struct agent_health *health, struct span span)
{
	if (span.end.ns <= span.start.ns)
		return;
	health->spans[health->next_span] = span;
	health->next_span = (health->next_span + 1) % WATCH_SPANS;
}

static void
remember(
    struct agent_health *health, rm_mono_t start, rm_mono_t end, enum host_state state)
{
	remember_span(health, (struct span){ start, end, state, INT64_MAX });
}

void
agent_health_hello(struct agent_health *health, rm_mono_t now, bool fresh)
{
	rm_mono_t from = health->connected ? health->last_made : health->ended;

	/* This is the first hello, so nothing is known of the time before it. */
	if (health->last_seen.ns == 0)
		from = (rm_mono_t){ INT64_MIN };
	if (fresh)
		memset(health->stops, 0, sizeof health->stops);
	remember(health, from, fresh ? rm_mono_add(now, AGENT_HEALTH_SETTLE_NS) : now,
	    HOST_RESTARTING);
	health->connected = true;
	health->beaten = false;
	health->timed_out = false;
	health->last_seen = now;
	health->last_made = now;
	health->first_ping = health->pinged = health->first_ack = (rm_mono_t){ 0 };
}

/* Returns the length in ns of the shortest stall because of which a probe may lose its
 * reply. */
static int64_t
costly_stall_ns(int64_t timeout_ns)
{
	const int64_t ns = timeout_ns - AGENT_HEALTH_MARGIN_NS;

	return ns > AGENT_HEALTH_STALL_NS ? ns : AGENT_HEALTH_STALL_NS;
}

/* Returns a time in ns. If no heartbeat came for longer than this time, there was a
 * stall of at least the length costly_stall_ns. */
static int64_t
patience_ns(int64_t timeout_ns)
{
	const int64_t ns = BEAT_NS + costly_stall_ns(timeout_ns);

	if (ns < AGENT_HEALTH_GAP_NS)
		return AGENT_HEALTH_GAP_NS;
	return ns < AGENT_HEALTH_SILENT_NS ? ns : AGENT_HEALTH_SILENT_NS;
}

/* True: the kernel did not answer, or its first answer was blocked on the network. */
static bool
was_out_of_reach(const struct agent_health *health, rm_mono_t now)
{
	const rm_mono_t answered = health->first_ack.ns != 0 ? health->first_ack : now;

	return health->first_ping.ns != 0 &&
	       rm_mono_since(now, health->last_seen) > AGENT_HEALTH_SILENT_NS &&
	       rm_mono_since(answered, health->first_ping) >= AGENT_HEALTH_GAP_NS;
}

void
agent_health_beat(struct agent_health *health, rm_mono_t now, rm_mono_t made,
    rm_mono_t through, bool paused)
{
	if (made.ns < health->last_made.ns && health->beaten)
		return;
	/* The cut of the network may have affected the host's other cables, too. Losses
	 * in that time are evidence about the host, not about its RNICs, even if they
	 * are reported later. */
	if (was_out_of_reach(health, now))
		remember(health, health->last_made, now, HOST_STALLED);
	if (health->beaten &&
	    rm_mono_since(made, health->last_made) > AGENT_HEALTH_GAP_NS)
		remember_span(
		    health, (struct span){ health->last_made, made, HOST_STALLED,
				rm_mono_since(made, health->last_made) - BEAT_NS });
	/* Probes that were not sent or not answered while the agent was paused are not
	 * evidence, even if they are reported later. */
	if (health->paused || paused)
		remember(health, health->last_made, made, HOST_PAUSED);
	health->beaten = true;
	health->paused = paused;
	health->last_seen = now;
	health->last_made = made;
	health->through = through;
	health->first_ping = health->pinged = health->first_ack = (rm_mono_t){ 0 };
}

void
agent_health_excuse(struct agent_health *health, bool paused_by_hand)
{
	health->paused_by_hand = paused_by_hand;
}

void
agent_health_stall(struct agent_health *health, rm_mono_t start, rm_mono_t end)
{
	const int64_t stall_ns = rm_mono_since(end, start);

	if (stall_ns >= AGENT_HEALTH_STALL_NS)
		remember_span(
		    health, (struct span){ start, end, HOST_STALLED, stall_ns });
	if (stall_ns >= AGENT_HEALTH_STOP_NS) {
		health->stops[health->next_stop] = (struct stop){ start, end };
		health->next_stop = (health->next_stop + 1) % AGENT_HEALTH_STOPS;
	}
}

static struct host_silence
silence_of(const struct agent_health *health, rm_mono_t now)
{
	struct host_silence silence = { 0 };
	const struct stop *oldest = &health->stops[health->next_stop];
	const struct stop *newest =
	    &health->stops[(health->next_stop + AGENT_HEALTH_STOPS - 1) %
			   AGENT_HEALTH_STOPS];

	silence.ns =
	    health->last_seen.ns == 0 ? 0 : rm_mono_since(now, health->last_seen);
	for (size_t i = 0; i < AGENT_HEALTH_STOPS; i++) {
		const struct stop *stop = &health->stops[i];

		silence.stopped_ns += rm_mono_since(stop->end, stop->start);
		silence.recent_stops +=
		    stop->end.ns != 0 &&
		    rm_mono_since(now, stop->end) <= AGENT_HEALTH_STOPS_NS;
	}
	if (oldest->end.ns == 0)
		return silence;
	silence.stops_ns = rm_mono_since(now, oldest->start);
	if (silence.stops_ns <= AGENT_HEALTH_STOPS_NS &&
	    rm_mono_since(now, newest->end) < AGENT_HEALTH_STOPS_OVER_NS &&
	    2 * silence.stopped_ns > silence.stops_ns)
		silence.stops = AGENT_HEALTH_STOPS;
	return silence;
}

bool
agent_health_overdue(const struct agent_health *health, rm_mono_t now)
{
	return health->connected &&
	       rm_mono_since(now, health->last_seen) >= AGENT_HEALTH_OVERDUE_NS;
}

bool
agent_health_silent(const struct agent_health *health, rm_mono_t now)
{
	return health->connected &&
	       rm_mono_since(now, health->last_seen) >= AGENT_HEALTH_SILENT_NS;
}

bool
agent_health_wants_ping(struct agent_health *health, rm_mono_t now)
{
	if (!agent_health_overdue(health, now))
		return false;
	if (health->pinged.ns != 0 &&
	    rm_mono_since(now, health->pinged) < AGENT_HEALTH_OVERDUE_NS)
		return false;
	health->pinged = now;
	if (health->first_ping.ns == 0)
		health->first_ping = now;
	return true;
}

void
agent_health_acked(struct agent_health *health, rm_mono_t acked_at)
{
	if (acked_at.ns > health->acked.ns)
		health->acked = acked_at;
	if (health->first_ping.ns != 0 && health->first_ack.ns == 0 &&
	    rm_mono_since(acked_at, health->first_ping) >= -AGENT_HEALTH_ACK_BLUR_NS)
		health->first_ack = acked_at;
}

/* True: the management network was cut during this silence, and the agent's TCP may
 * still wait before it sends again. */
static bool
backs_off(const struct agent_health *health, rm_mono_t now)
{
	return rm_mono_since(health->first_ack, health->first_ping) >
		   AGENT_HEALTH_ACK_LATE_NS &&
	       rm_mono_since(now, health->first_ack) <=
		   rm_mono_since(health->first_ack, health->last_seen) +
		       AGENT_HEALTH_BACKOFF_NS;
}

/* A larger weight is a worse state. A fault has more weight than an excuse (paused,
 * starting). An excuse for the whole host has more weight than a stall. */
static int
weight(enum host_state state)
{
	static const int weights[] = {
		[HOST_OK] = 0,
		[HOST_STUTTERED] = 1,
		[HOST_PAUSED] = 2,
		[HOST_STALLED] = 3,
		[HOST_RESTARTING] = 4,
		[HOST_UNKNOWN] = 5,
		[HOST_AGENT_DOWN] = 6,
		[HOST_AGENT_FROZEN] = 6,
		[HOST_UNREACHABLE] = 6,
	};

	return weights[state];
}

static enum host_state
worse(enum host_state a, enum host_state b)
{
	return weight(b) > weight(a) ? b : a;
}

/* Returns the state of the host of an agent that has a session, by the time since its
 * last heartbeat. */
static enum host_state
silence(const struct agent_health *health, rm_mono_t now, int64_t timeout_ns)
{
	int64_t silent_ns = rm_mono_since(now, health->last_seen);

	if (silent_ns <= AGENT_HEALTH_GAP_NS)
		return HOST_OK;
	if (silent_ns <= patience_ns(timeout_ns))
		return HOST_STUTTERED;
	if (silent_ns <= AGENT_HEALTH_SILENT_NS)
		return HOST_STALLED;
	/* The kernel has not had enough time to answer: the state is not known yet. */
	if (health->first_ping.ns == 0 ||
	    rm_mono_since(now, health->first_ping) < AGENT_HEALTH_GAP_NS)
		return HOST_STALLED;
	if (rm_mono_since(health->acked, health->first_ping) >=
		-AGENT_HEALTH_ACK_BLUR_NS &&
	    rm_mono_since(now, health->acked) <= AGENT_HEALTH_ACK_FRESH_NS)
		return silent_ns <= AGENT_HEALTH_FROZEN_NS || backs_off(health, now)
			   ? HOST_STALLED
			   : HOST_AGENT_FROZEN;
	return HOST_UNREACHABLE;
}

void
agent_health_ended(struct agent_health *health, rm_mono_t now, bool by_peer)
{
	/* Keep the state before the end of the session: windows of that time are judged
	 * later. */
	if (health->connected)
		remember(health, health->last_made, now, silence(health, now, 0));
	health->connected = false;
	health->timed_out = !by_peer;
	/* If the kernel did not answer, the agent stopped before: at its last
	 * heartbeat. */
	health->ended = by_peer ? now : health->last_made;
}

/* Returns the state of the host during this span. A stall counts only if it can cause
 * lost probes. */
static enum host_state
state_of(const struct span *span, int64_t timeout_ns)
{
	return span->state == HOST_STALLED &&
		       span->stall_ns < costly_stall_ns(timeout_ns)
		   ? HOST_STUTTERED
		   : span->state;
}

enum host_state
agent_health_state(const struct agent_health *health, rm_mono_t now, rm_mono_t start,
    rm_mono_t end, int64_t timeout_ns, struct host_silence *ret)
{
	rm_mono_t through = rm_mono_add(end, timeout_ns);
	enum host_state state = HOST_OK;

	*ret = silence_of(health, now);
	if (health->last_seen.ns == 0)
		return HOST_UNKNOWN;
	for (size_t i = 0; i < WATCH_SPANS; i++) {
		const struct span *span = &health->spans[i];

		if (span->end.ns > start.ns && span->start.ns <= through.ns)
			state = worse(state, state_of(span, timeout_ns));
	}
	if (health->connected) {
		if (health->last_made.ns <= through.ns)
			state = worse(state, silence(health, now, timeout_ns));
		if (health->paused)
			state = worse(state, HOST_PAUSED);
		return state;
	}
	if (health->ended.ns > through.ns)
		return state;
	if (health->paused_by_hand)
		return worse(state, HOST_PAUSED);
	if (health->timed_out)
		return worse(state, HOST_UNREACHABLE);
	if (rm_mono_since(now, health->ended) <= AGENT_HEALTH_GRACE_NS)
		return worse(state, HOST_RESTARTING);
	return worse(state, HOST_AGENT_DOWN);
}

bool
agent_health_reported(const struct agent_health *health, rm_mono_t now,
    int64_t timeout_ns, rm_mono_t *ret)
{
	if (!health->connected || !health->beaten ||
	    rm_mono_since(now, health->last_seen) > patience_ns(timeout_ns))
		return false;
	*ret = rm_mono_add(health->through, -timeout_ns);
	return true;
}
