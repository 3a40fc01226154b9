#include "tor-aggregator/paths/lossy_ends.h"

#include <errno.h>
#include <math.h>
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
/* For is_switch_likelier. If a link loses packets in both directions, and replies take
 * either of two switches, the flows whose probes cross the link lose three times as
 * many packets as the others. */
#define SWITCH_RATIO 3.0
#define SWITCH_CLEAR 3.0 /* ln of the likelihood ratio, with one switch */
#define SWITCH_BITS 64
#define MAX_BY_SWITCH 256 /* maximum number of RNICs with such sums */
/* Up to this share of these expected losses the other RNICs may have. */
#define MAX_SHARE 0.25

/* Sums over seconds with losses, with a lower weight for older seconds. */
struct sums {
	uint64_t fold; /* number of the last second that is included */
	double sent, lost;
};

/* Sums of one RNIC by switch: by the bits of path_set_switches. They begin with the
 * second of its first loss. A flow counts for each switch that it may have crossed. */
struct by_switch {
	struct lossy_end *of; /* NULL: not in use */
	double sent[SWITCH_BITS], lost[SWITCH_BITS];
	double all_sent, all_lost;
};

struct lossy_end { /* one member or remote RNIC */
	struct sums sums;
	/* mixed: flows per second that lost some packets; whole: flows per second that
	 * lost all */
	double mixed, whole;
	/* the part of lost that was in seconds with losses on several paths */
	double spread;
	double seconds; /* number of seconds in which flows lost some packets */
	struct by_switch *by_switch; /* NULL: no losses, or too many RNICs have some */
	/* in this second */
	uint32_t path;
	uint32_t now_lost, now_mixed, now_whole;
	bool now_spread, judged, lossy;
};

struct lossy_ends {
	struct lossy_end *own, *remote;
	struct by_switch *by_switch; /* MAX_BY_SWITCH */
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
	ends->by_switch = calloc(MAX_BY_SWITCH, sizeof(*ends->by_switch));
	if (ends->own == NULL || ends->remote == NULL || ends->tors == NULL ||
	    ends->by_switch == NULL) {
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
	free(ends->by_switch);
	free(ends);
}

void
lossy_ends_forget(struct lossy_ends *ends)
{
	memset(ends->own, 0, WIRE_MAX_MEMBERS * sizeof(*ends->own));
	memset(ends->remote, 0, WIRE_MAX_REMOTES * sizeof(*ends->remote));
	memset(ends->tors, 0, ROSTER_MAX_TORS * sizeof(*ends->tors));
	for (size_t i = 0; i < MAX_BY_SWITCH; i++)
		ends->by_switch[i].of = NULL;
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

static bool
is_forgotten(const struct lossy_end *end, uint64_t fold)
{
	return end->sums.lost * decay_of(fold - end->sums.fold) < FORGOTTEN_LOST;
}

static void
decay_by_switch(struct by_switch *by, double decay)
{
	for (size_t i = 0; i < SWITCH_BITS; i++) {
		by->sent[i] *= decay;
		by->lost[i] *= decay;
	}
	by->all_sent *= decay;
	by->all_lost *= decay;
}

static void
end_add(struct lossy_end *end, uint64_t fold, const struct flow_count *flow)
{
	if (end->sums.fold != fold) {
		const double decay = decay_of(fold - end->sums.fold);

		if (end->by_switch != NULL && is_forgotten(end, fold)) {
			end->by_switch->of = NULL;
			end->by_switch = NULL;
		}
		if (end->by_switch != NULL)
			decay_by_switch(end->by_switch, decay);
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

/* Begins the sums by switch of an RNIC that has losses. If none are free, those of an
 * RNIC without recent losses are taken. */
static void
begin_by_switch(struct lossy_ends *ends, struct lossy_end *end)
{
	for (size_t i = 0; end->by_switch == NULL && i < MAX_BY_SWITCH; i++) {
		struct by_switch *by = &ends->by_switch[i];

		if (by->of != NULL && !is_forgotten(by->of, ends->fold))
			continue;
		if (by->of != NULL)
			by->of->by_switch = NULL;
		*by = (struct by_switch){ .of = end };
		end->by_switch = by;
	}
}

static void
add_by_switch(struct lossy_end *end, const struct flow_count *flow)
{
	struct by_switch *by = end->by_switch;

	if (by == NULL)
		return;
	by->all_sent += flow->sent;
	by->all_lost += flow->lost;
	for (uint64_t bits = flow->switches; bits != 0; bits &= bits - 1) {
		by->sent[__builtin_ctzll(bits)] += flow->sent;
		by->lost[__builtin_ctzll(bits)] += flow->lost;
	}
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
		if (flow->lost > 0) {
			begin_by_switch(ends, own_of(ends, flow));
			begin_by_switch(ends, remote_of(ends, flow));
		}
	}
	for (size_t i = 0; i < second->flows.count; i++) {
		const struct flow_count *flow = &second->flows.flows[i];

		if (flow->left_out)
			continue;
		add_by_switch(own_of(ends, flow), flow);
		add_by_switch(remote_of(ends, flow), flow);
	}
}

/* ln of the likelihood of these losses, if packets are lost with this probability. */
static double
likelihood(double sent, double lost, double share)
{
	double sum = 0;

	if (lost > 0)
		sum += lost * log(share);
	if (sent > lost)
		sum += (sent - lost) * log(1 - share);
	return sum;
}

/* Returns the ln of the likelihood ratio: the flows that may have crossed one switch
 * lose at least SWITCH_RATIO times as many packets as the others, against: all flows
 * lose packets at the same rate. */
static double
switch_weight(const struct by_switch *by, size_t bit)
{
	const double sent = by->sent[bit], lost = by->lost[bit];
	const double beside = by->all_sent - sent, beside_lost = by->all_lost - lost;
	double share, beside_share;

	if (lost <= 0 || beside <= 0)
		return 0;
	share = lost / sent;
	beside_share = fmin(beside_lost / beside, share / SWITCH_RATIO);
	return likelihood(sent, lost, share) +
	       likelihood(beside, beside_lost, beside_share) -
	       likelihood(by->all_sent, by->all_lost, by->all_lost / by->all_sent);
}

/* True: a fault at one switch, or at a link to it, is likelier than one of the RNIC.
 * The more switches there are, the likelier it is that one of them has more losses than
 * the others by chance, so the limit rises with their number. */
static bool
is_switch_likelier(const struct lossy_end *end)
{
	double most = 0;
	size_t switches = 0;

	if (end->by_switch == NULL)
		return true; /* losses of so many RNICs are those of paths */
	for (size_t bit = 0; bit < SWITCH_BITS; bit++) {
		switches += end->by_switch->sent[bit] > 0;
		most = fmax(most, switch_weight(end->by_switch, bit));
	}
	return most >= SWITCH_CLEAR + log((double)switches);
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
