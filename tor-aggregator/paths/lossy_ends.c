#include "tor-aggregator/paths/lossy_ends.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/wire.h"
#include "tor-aggregator/paths/flow_counts.h"
#include "tor-aggregator/window/roster.h"
#include "tor-aggregator/window/window.h"

/* Factor per second for older sums: about the last seven seconds count. */
#define DECAY 0.85
#define MIN_LOST 3.0
/* A single second may be the beginning of a fault of a path. */
#define MIN_SECONDS 1.5
/* Losses that other RNICs should have if this RNIC were not at fault. */
#define MIN_EXPECTED 3.0
/* With fewer losses left in the sums, the next loss begins new ones. */
#define FORGOTTEN_LOST 0.5
/* Up to this share of these expected losses the other RNICs may have. */
#define MAX_SHARE 0.25

/* Sums over seconds with losses, with a lower weight for older seconds. */
struct sums {
	uint64_t fold; /* number of the last second that is included */
	double sent, lost;
};

struct lossy_end { /* one member or remote RNIC */
	struct sums sums;
	/* mixed: flows per second that lost some packets; whole: flows per second that
	 * lost all */
	double mixed, whole;
	/* the part of lost that was in seconds with losses on several paths */
	double spread;
	double seconds; /* number of seconds in which flows lost some packets */
	/* bits of the switches that all flows with losses may have crossed */
	uint64_t switches;
	double beside; /* packets of flows that crossed none of these switches */
	/* in this second */
	uint32_t path;
	uint32_t now_lost, now_mixed, now_whole;
	bool now_spread, judged, lossy;
};

struct lossy_ends {
	struct lossy_end *own, *remote;
	struct sums all, *tors; /* sums of all members; and of remote RNICs by ToR */
	uint64_t fold;          /* number of the second, from 1 */
	struct lossy_ends_counts counts;
};

int
lossy_ends_new(struct lossy_ends **ret)
{
	struct lossy_ends *ends = calloc(1, sizeof(*ends));

	if (ends == NULL)
		return -ENOMEM;
	ends->own = calloc(WIRE_MAX_MEMBERS, sizeof(*ends->own));
	ends->remote = calloc(WIRE_MAX_REMOTES, sizeof(*ends->remote));
	ends->tors = calloc(ROSTER_MAX_TORS, sizeof(*ends->tors));
	if (ends->own == NULL || ends->remote == NULL || ends->tors == NULL) {
		lossy_ends_free(ends);
		return -ENOMEM;
	}
	*ret = ends;
	return 0;
}

void
lossy_ends_free(struct lossy_ends *ends)
{
	if (ends == NULL)
		return;
	free(ends->own);
	free(ends->remote);
	free(ends->tors);
	free(ends);
}

void
lossy_ends_forget(struct lossy_ends *ends)
{
	memset(ends->own, 0, WIRE_MAX_MEMBERS * sizeof(*ends->own));
	memset(ends->remote, 0, WIRE_MAX_REMOTES * sizeof(*ends->remote));
	memset(ends->tors, 0, ROSTER_MAX_TORS * sizeof(*ends->tors));
	ends->all = (struct sums){ 0 };
}

static double
decay_of(uint64_t seconds)
{
	double decay = 1;

	if (seconds > 60)
		return 0;
	while (seconds-- > 0)
		decay *= DECAY;
	return decay;
}

static void
sums_add(struct sums *sums, uint64_t fold, const struct flow_count *flow)
{
	if (sums->fold != fold) {
		const double decay = decay_of(fold - sums->fold);

		sums->sent *= decay;
		sums->lost *= decay;
		sums->fold = fold;
	}
	sums->sent += flow->sent;
	sums->lost += flow->lost;
}

static void
end_add(struct lossy_end *end, uint64_t fold, const struct flow_count *flow)
{
	if (end->sums.fold != fold) {
		const double decay = decay_of(fold - end->sums.fold);
		const bool forgotten = end->sums.lost * decay < FORGOTTEN_LOST;

		end->switches = forgotten ? UINT64_MAX : end->switches;
		end->beside = forgotten ? 0 : end->beside * decay;
		end->mixed *= decay;
		end->whole *= decay;
		end->spread *= decay;
		end->seconds *= decay;
		end->now_lost = end->now_mixed = end->now_whole = 0;
		end->now_spread = end->judged = end->lossy = false;
	}
	sums_add(&end->sums, fold, flow);
	if (flow->lost == 0)
		return;
	if (end->now_lost > 0 && end->path != flow->path)
		end->now_spread = true;
	end->path = flow->path;
	end->switches &= flow->switches;
	end->now_lost += flow->lost;
	if (flow->lost < flow->sent)
		end->now_mixed++;
	else if (flow->sent > 1) /* a flow with one probe may be of either kind */
		end->now_whole++;
}

static struct lossy_end *
own_of(const struct lossy_ends *ends, const struct flow_count *flow)
{
	return &ends->own[flow->src % WIRE_MAX_MEMBERS];
}

static struct lossy_end *
remote_of(const struct lossy_ends *ends, const struct flow_count *flow)
{
	return &ends->remote[(flow->dst - WINDOW_REMOTE_BASE) % WIRE_MAX_REMOTES];
}

static struct sums *
tor_of(const struct lossy_ends *ends, const struct flow_count *flow)
{
	return &ends->tors[flow->dst_tor % ROSTER_MAX_TORS];
}

static void
add_beside(struct lossy_end *end, const struct flow_count *flow)
{
	if ((flow->switches & end->switches) == 0)
		end->beside += flow->sent;
}

static void
add_flows(struct lossy_ends *ends, const struct flow_second *second)
{
	for (size_t i = 0; i < second->flows.count; i++) {
		const struct flow_count *flow = &second->flows.flows[i];

		if (flow->left_out)
			continue;
		end_add(own_of(ends, flow), ends->fold, flow);
		end_add(remote_of(ends, flow), ends->fold, flow);
		sums_add(&ends->all, ends->fold, flow);
		sums_add(tor_of(ends, flow), ends->fold, flow);
	}
	for (size_t i = 0; i < second->flows.count; i++) {
		const struct flow_count *flow = &second->flows.flows[i];

		if (flow->left_out)
			continue;
		add_beside(own_of(ends, flow), flow);
		add_beside(remote_of(ends, flow), flow);
	}
}

/* True: all flows with losses may have crossed one switch, and so many packets crossed
 * other switches without a loss that the RNIC would have lost some of these. */
static bool
is_switch_likelier(const struct lossy_end *end)
{
	const double over = end->sums.sent - end->beside;

	return end->switches != 0 && over > 0 &&
	       end->beside * end->sums.lost >= MIN_EXPECTED * over;
}

/* all: sums over all RNICs of the ToR, including this one. */
static bool
is_lossy(const struct lossy_end *end, const struct sums *all)
{
	const double sent = all->sent - end->sums.sent;
	const double lost = all->lost - end->sums.lost;
	const double expected = sent * end->sums.lost / end->sums.sent;

	if (end->sums.lost < MIN_LOST || end->seconds < MIN_SECONDS ||
	    end->mixed < end->whole)
		return false;
	if (expected >= MIN_EXPECTED)
		return lost <= MAX_SHARE * expected;
	return lost < 0.5 && end->spread >= MIN_LOST && !is_switch_likelier(end);
}

static bool
judge_end(struct lossy_end *end, const struct sums *all)
{
	if (end->judged)
		return end->lossy;
	end->judged = true;
	end->mixed += end->now_mixed;
	end->whole += end->now_whole;
	end->seconds += end->now_mixed > 0;
	if (end->now_spread)
		end->spread += end->now_lost;
	end->lossy = is_lossy(end, all);
	return end->lossy;
}

void
lossy_ends_judge(struct lossy_ends *ends, struct flow_second *second)
{
	ends->fold++;
	if (second->loss_count == 0)
		return;
	add_flows(ends, second);
	for (size_t i = 0; i < second->flows.count; i++) {
		struct flow_count *flow = &second->flows.flows[i];

		if (flow->left_out)
			continue;
		if (judge_end(remote_of(ends, flow), tor_of(ends, flow))) {
			ends->counts.remote += flow->sent;
			flow->left_out = true;
		} else if (judge_end(own_of(ends, flow), &ends->all)) {
			ends->counts.own += flow->sent;
			flow->left_out = true;
		}
	}
}

const struct lossy_ends_counts *
lossy_ends_counts(const struct lossy_ends *ends)
{
	return &ends->counts;
}
