#include "host-agent/report/heartbeat.h"

void
loop_watch_init(struct loop_watch *watch, rm_mono_t now)
{
	watch->alive = now;
	watch->deadline = rm_mono_add(now, LOOP_WATCH_INTERVAL_NS);
}

struct loop_turn
loop_watch_turn(struct loop_watch *watch, rm_mono_t now)
{
	int64_t lag = rm_mono_since(now, watch->deadline);
	struct loop_turn turn = { .lag_ns = lag > 0 ? lag : 0 };

	if (lag > LOOP_WATCH_STALL_NS - LOOP_WATCH_INTERVAL_NS) {
		turn.stalled = true;
		turn.stall.start_ns = (uint64_t)watch->alive.ns;
		turn.stall.end_ns = (uint64_t)now.ns;
	}
	watch->alive = now;
	if (lag >= 0)
		watch->deadline = rm_mono_add(watch->deadline,
		    (lag / LOOP_WATCH_INTERVAL_NS + 1) * LOOP_WATCH_INTERVAL_NS);
	return turn;
}

void
heartbeat_note(struct heartbeat *heartbeat, const struct loop_turn *turn)
{
	if (turn->lag_ns > heartbeat->lag_max_ns)
		heartbeat->lag_max_ns = turn->lag_ns;
	heartbeat->slowed_permille = turn->slowed_permille;
	heartbeat->slowed_reason = turn->slowed_reason;
	if (!turn->stalled)
		return;
	if (heartbeat->stall_count < WIRE_MAX_STALLS) {
		heartbeat->stalls[heartbeat->stall_count++] = turn->stall;
		return;
	}
	/* More stalls than fit are merged into one long stall: so more results are
	 * excluded than necessary, never fewer. */
	heartbeat->stalls[WIRE_MAX_STALLS - 1].end_ns = turn->stall.end_ns;
}

void
heartbeat_fill(const struct heartbeat *heartbeat, struct wire_heartbeat *ret)
{
	ret->seq = heartbeat->seq + 1;
	ret->loop_lag_max_ns = (uint64_t)heartbeat->lag_max_ns;
	ret->stalls = heartbeat->stalls;
	ret->stall_count = heartbeat->stall_count;
	ret->slowed_permille = heartbeat->slowed_permille;
	ret->slowed_reason = (uint8_t)heartbeat->slowed_reason;
}

void
heartbeat_sent(struct heartbeat *heartbeat)
{
	heartbeat->seq++;
	heartbeat->lag_max_ns = 0;
	heartbeat->stall_count = 0;
}
