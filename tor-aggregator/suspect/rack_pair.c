#include "tor-aggregator/suspect/rack_pair.h"

#include <math.h>

#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

#define SLACK_PACKETS 2
#define SLACK_SHARE 0.15

static bool
is_excused(const struct rack *rack, size_t member)
{
	return rack->excused != NULL && rack->excused[member];
}

static bool
is_witness(const struct rack *rack, size_t member)
{
	return host_is_witness(rack->hosts[rack->members[member].host_index].state);
}

/* True: the port of the member is up, and its host is a witness or stalled. */
static bool
is_running(const struct rack *rack, size_t member)
{
	return !is_excused(rack, member) &&
	       (is_witness(rack, member) ||
		   rack->hosts[rack->members[member].host_index].state == HOST_STALLED);
}

enum rack_pair_use
rack_pair_use(const struct rack *rack, const struct window_pair *from)
{
	const bool remote = from->dst >= WINDOW_REMOTE_BASE;

	if (from->src >= rack->member_count || from->src == from->dst ||
	    !is_running(rack, from->src))
		return RACK_PAIR_UNUSABLE;
	if (remote ? from->dst - WINDOW_REMOTE_BASE >= rack->remote_count
		   : from->dst >= rack->member_count || !is_running(rack, from->dst))
		return RACK_PAIR_UNUSABLE;
	if (!remote && !is_witness(rack, from->dst))
		return RACK_PAIR_WAITS;
	return is_witness(rack, from->src) ? RACK_PAIR_EVIDENCE : RACK_PAIR_STALLED;
}

static uint32_t
clamp(double x, uint32_t low, uint32_t high)
{
	if (!(x > low))
		return low;
	return x < high ? (uint32_t)lround(x) : high;
}

/* Reads the sums over both sizes. False: there are no probes. */
static bool
read_both_sizes(const struct window_pair *from, struct rack_pair *ret)
{
	const uint32_t *outcomes = from->outcomes;
	const bool released = window_is_release(&from->release);
	struct rack_pair pair = {
		.src = from->src,
		.remote = from->dst >= WINDOW_REMOTE_BASE,
		.reflector = from->kind == WIRE_TOR_REFLECTOR,
		.answered = outcomes[WIRE_OK] + outcomes[WIRE_LATE_REPLY] +
			    outcomes[WIRE_INVALID],
		/* Released replies are evidence neither that a part is late nor that it
		 * is not. */
		.timed = from->timed - (released ? from->slow : 0),
		.slow = released ? 0 : from->slow,
		.overdue = released ? 0 : from->overdue,
		.release = from->release,
		.newest_sent = from->newest_sent,
		.newest_lost = from->newest_lost,
		.send_failed = outcomes[WIRE_SEND_FAILED],
		.weight = 1 + (float)from->gaps,
		.bytes = from->large.small_bytes,
	};

	pair.dst = pair.remote ? from->dst - WINDOW_REMOTE_BASE : from->dst;
	pair.sent = pair.answered + outcomes[WIRE_NO_REPLY];
	pair.counted = from->counted && !pair.remote;
	pair.arrived = clamp(from->arrived, pair.answered, pair.sent);
	if (pair.sent + pair.send_failed == 0)
		return false;
	*ret = pair;
	return true;
}

/*
 * Moves the large probes from `small` to *large. Missing probes are divided between the
 * sizes in proportion to their losses: receive counts do not have sizes.
 */
static void
split_pair(
    const struct window_large *from, struct rack_pair *small, struct rack_pair *large)
{
	const uint32_t lost = small->sent - small->answered;
	const uint32_t missing = small->sent - small->arrived;
	const double share = lost > 0 ? (double)from->lost / lost : 0.5;

	*large = *small;
	large->large = true;
	large->bytes = from->bytes;
	large->timed = large->slow = large->overdue = 0;
	large->release = (struct window_release){ 0 };
	large->answered = from->answered;
	large->sent = from->answered + from->lost;
	large->newest_sent = from->newest_sent;
	large->newest_lost = from->newest_lost;
	large->send_failed = from->failed;
	large->weight = small->weight * (float)share;
	large->arrived =
	    clamp((double)large->sent - share * missing, large->answered, large->sent);
	small->answered -= large->answered;
	small->sent -= large->sent;
	small->newest_sent -= large->newest_sent;
	small->newest_lost -= large->newest_lost;
	small->send_failed -= large->send_failed;
	small->weight -= large->weight;
	small->arrived = clamp(
	    (double)small->sent - (1 - share) * missing, small->answered, small->sent);
}

size_t
rack_pair_split(const struct window_pair *from, struct rack_pair pairs[RACK_PAIR_SIZES])
{
	const struct window_large *large = &from->large;

	if (!read_both_sizes(from, &pairs[0]))
		return 0;
	if (large->answered + large->lost + large->failed == 0)
		return 1;
	if (large->answered + large->lost == pairs[0].sent &&
	    large->failed == pairs[0].send_failed) {
		pairs[0].large = true;
		pairs[0].bytes = large->bytes;
		return 1;
	}
	split_pair(large, &pairs[0], &pairs[1]);
	return 2;
}

size_t
rack_pair_read(const struct rack *rack, const struct window_pair *from,
    struct rack_pair pairs[RACK_PAIR_SIZES])
{
	return rack_pair_use(rack, from) == RACK_PAIR_EVIDENCE
		   ? rack_pair_split(from, pairs)
		   : 0;
}

uint32_t
rack_pair_slack(const struct window_pair *pair, uint32_t sent, double seconds)
{
	const uint32_t share = (uint32_t)(SLACK_SHARE * sent / seconds);

	/* the receiver may also have counted probes whose outcome is not in `sent` */
	return (share > SLACK_PACKETS ? share : SLACK_PACKETS) * (1 + pair->gaps) +
	       pair->outcomes[WIRE_SENT_LATE] + pair->outcomes[WIRE_SELF_LOSS] +
	       pair->outcomes[WIRE_STALE_QPN];
}
