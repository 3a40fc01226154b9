#include "tor-aggregator/paths/path_ends.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"
#include "tor-aggregator/paths/flow_counts.h"
#include "tor-aggregator/paths/path_set.h"
#include "tor-aggregator/window/roster.h"
#include "tor-aggregator/window/window.h"

struct end { /* one member or remote RNIC */
	uint32_t flows, lost_flows;
	uint64_t lost;
	/* send times in ns; 0: there was none */
	int64_t first_lost, last_lost, answered;
	uint64_t answered_slots;
	/* End of the last second in which the RNIC was paused; 0: there was none. */
	int64_t dead_through;
	uint32_t path; /* the path of its lost flows, if they all take one path */
	/* bits of the switches that all these paths have in common */
	uint64_t switches;
	uint32_t src; /* source and port of the RNIC's first flow */
	uint16_t src_port;
	/* lone: the RNIC has only this flow, in one or more classes; alone: no other
	 * RNIC gets answers from the ToR from which this RNIC gets none. */
	bool lone, one_path, alone, dead, weighed;
	uint64_t pause; /* see pause_of */
};

struct newest { /* the newest answer, and the newest answer of any other RNIC */
	int64_t first, second;
	uint32_t first_end; /* the RNIC with the newest answer */
	uint64_t slots;     /* bits of the slots of all answers */
	/* lost: all losses; paused_lost: losses of RNICs that may have paused; pauses:
	 * the number of these pauses. */
	uint64_t lost, paused_lost, pauses;
	uint32_t paused;
};

struct on_path {
	/* mixed_lost: losses of RNICs that got other answers in the same time. */
	uint64_t lost, mixed_lost;
	int64_t answered;
};

struct path_ends {
	struct end *own, *remote;
	struct newest *of_remote, *of_own; /* for each ToR of a destination */
	uint32_t *lone; /* for each ToR: number of dead RNICs with only one flow */
	struct on_path *paths;
	size_t path_room;
	struct path_ends_counts counts;
};

int
path_ends_new(struct path_ends **ret)
{
	struct path_ends *ends = calloc(1, sizeof(*ends));

	if (ends == NULL)
		return -ENOMEM;
	ends->own = calloc(WIRE_MAX_MEMBERS, sizeof(*ends->own));
	ends->remote = calloc(WIRE_MAX_REMOTES, sizeof(*ends->remote));
	ends->of_remote = calloc(ROSTER_MAX_TORS, sizeof(*ends->of_remote));
	ends->of_own = calloc(ROSTER_MAX_TORS, sizeof(*ends->of_own));
	ends->lone = calloc(ROSTER_MAX_TORS, sizeof(*ends->lone));
	if (ends->own == NULL || ends->remote == NULL || ends->of_remote == NULL ||
	    ends->of_own == NULL || ends->lone == NULL) {
		path_ends_free(ends);
		return -ENOMEM;
	}
	*ret = ends;
	return 0;
}

void
path_ends_free(struct path_ends *ends)
{
	if (ends == NULL)
		return;
	free(ends->own);
	free(ends->remote);
	free(ends->of_remote);
	free(ends->of_own);
	free(ends->lone);
	free(ends->paths);
	free(ends);
}

static int64_t
second_start(int64_t sent)
{
	const int64_t in_second = sent % RM_NS_PER_S;

	return sent - in_second - (in_second < 0 ? RM_NS_PER_S : 0);
}

static struct end *
own_of(const struct path_ends *ends, const struct flow_count *flow)
{
	return &ends->own[flow->src % WIRE_MAX_MEMBERS];
}

static struct end *
remote_of(const struct path_ends *ends, const struct flow_count *flow)
{
	return &ends->remote[(flow->dst - WINDOW_REMOTE_BASE) % WIRE_MAX_REMOTES];
}

/* Returns the newest answers from the ToR of the flow's destination, for each source.
 */
static struct newest *
own_newest(const struct path_ends *ends, const struct flow_count *flow)
{
	return &ends->of_own[flow->dst_tor % ROSTER_MAX_TORS];
}

/* The same, by destination. */
static struct newest *
remote_newest(const struct path_ends *ends, const struct flow_count *flow)
{
	return &ends->of_remote[flow->dst_tor % ROSTER_MAX_TORS];
}

static uint32_t *
lone_of(const struct path_ends *ends, const struct flow_count *flow)
{
	return &ends->lone[flow->dst_tor % ROSTER_MAX_TORS];
}

static void
begin_end(struct end *end)
{
	*end = (struct end){ .dead_through = end->dead_through };
}

static int
begin(struct path_ends *ends, const struct flow_second *second, uint32_t path_end)
{
	if (path_end > ends->path_room) {
		struct on_path *paths = realloc(ends->paths, path_end * sizeof(*paths));

		if (paths == NULL)
			return -ENOMEM;
		ends->paths = paths;
		ends->path_room = path_end;
	}
	memset(ends->paths, 0, path_end * sizeof(*ends->paths));
	memset(ends->of_remote, 0, ROSTER_MAX_TORS * sizeof(*ends->of_remote));
	memset(ends->of_own, 0, ROSTER_MAX_TORS * sizeof(*ends->of_own));
	memset(ends->lone, 0, ROSTER_MAX_TORS * sizeof(*ends->lone));
	for (size_t i = 0; i < second->flows.count; i++) {
		const struct flow_count *flow = &second->flows.flows[i];

		*own_of(ends, flow) = (struct end){ 0 };
		begin_end(remote_of(ends, flow));
	}
	return 0;
}

static void
newest_add(struct newest *newest, uint32_t end, const struct flow_count *flow)
{
	const int64_t answered = flow->answered;

	newest->slots |= flow->answered_slots;
	if (answered > newest->first) {
		if (newest->first_end != end)
			newest->second = newest->first;
		newest->first = answered;
		newest->first_end = end;
	} else if (newest->first_end != end && answered > newest->second) {
		newest->second = answered;
	}
}

static int64_t
newest_of_others(const struct newest *newest, uint32_t end)
{
	return newest->first_end == end ? newest->second : newest->first;
}

static void
end_add(struct end *end, const struct flow_count *flow)
{
	if (end->flows++ == 0) {
		end->src = flow->src;
		end->src_port = flow->src_port;
		end->lone = true;
	}
	end->lone &= end->src == flow->src && end->src_port == flow->src_port;
	if (flow->answered > end->answered)
		end->answered = flow->answered;
	end->answered_slots |= flow->answered_slots;
	if (flow->lost == 0)
		return;
	end->one_path =
	    (end->lost_flows == 0 || (end->one_path && end->path == flow->path)) &&
	    flow->path >= PATH_FIRST;
	end->path = flow->path;
	end->switches =
	    end->lost_flows == 0 ? flow->switches : end->switches & flow->switches;
	end->lost_flows++;
	end->lost += flow->lost;
}

static void
add_flows(struct path_ends *ends, const struct flow_second *second)
{
	for (size_t i = 0; i < second->flows.count; i++) {
		const struct flow_count *flow = &second->flows.flows[i];
		struct on_path *path = &ends->paths[flow->path];

		if (flow->left_out)
			continue;
		end_add(own_of(ends, flow), flow);
		end_add(remote_of(ends, flow), flow);
		newest_add(own_newest(ends, flow), flow->src, flow);
		newest_add(remote_newest(ends, flow), flow->dst, flow);
		path->lost += flow->lost;
		if (flow->answered > path->answered)
			path->answered = flow->answered;
	}
}

static void
loss_add(struct end *end, int64_t sent)
{
	if (end->first_lost == 0 || sent < end->first_lost)
		end->first_lost = sent;
	if (end->last_lost == 0 || sent > end->last_lost)
		end->last_lost = sent;
}

static void
add_losses(struct path_ends *ends, const struct flow_second *second)
{
	for (size_t i = 0; i < second->loss_count; i++) {
		const struct flow_loss *loss = &second->losses[i];
		const struct flow_count *flow = &second->flows.flows[loss->flow];

		if (flow->left_out)
			continue;
		loss_add(own_of(ends, flow), loss->sent);
		loss_add(remote_of(ends, flow), loss->sent);
	}
}

static void
add_company(struct path_ends *ends, const struct flow_second *second)
{
	for (size_t i = 0; i < second->flows.count; i++) {
		const struct flow_count *flow = &second->flows.flows[i];
		struct end *own = own_of(ends, flow), *remote = remote_of(ends, flow);

		if (flow->left_out || flow->lost == 0)
			continue;
		if (newest_of_others(own_newest(ends, flow), flow->src) <=
		    own->first_lost)
			own->alone = true;
		if (newest_of_others(remote_newest(ends, flow), flow->dst) <=
		    remote->first_lost)
			remote->alone = true;
	}
}

/* True: the RNIC was dead at the end of the second before, and got no answer until its
 * last loss. */
static bool
still_dead(const struct end *end)
{
	const uint64_t before = (UINT64_C(1) << flow_slot(end->last_lost)) - 1;

	return end->lost > 0 && end->dead_through != 0 &&
	       end->dead_through == second_start(end->first_lost) &&
	       (end->answered_slots & before) == 0;
}

static bool
is_dead(const struct end *end)
{
	return end->lost >= PATH_ENDS_MIN_LOST && end->answered < end->first_lost &&
	       (end->lost_flows >= PATH_ENDS_MIN_FLOWS ||
		   end->lost_flows == end->flows) &&
	       !end->alone;
}

/* Returns the slots in which the RNIC got no answer, if they are successive and its
 * losses are on paths without a common switch; otherwise 0. */
static uint64_t
pause_of(const struct end *end)
{
	const unsigned first = flow_slot(end->first_lost),
		       last = flow_slot(end->last_lost);
	uint64_t pause = (UINT64_C(1) << last) - 1;

	if (end->lost_flows < PATH_ENDS_MIN_FLOWS || end->switches != 0)
		return 0;
	if (end->answered < end->first_lost)
		pause = UINT64_MAX;
	pause &= ~((UINT64_C(2) << first) - 1);
	return (end->answered_slots & pause) == 0 ? pause : 0;
}

static void
add_pauses(struct path_ends *ends, const struct flow_second *second)
{
	for (size_t i = 0; i < second->flows.count; i++) {
		const struct flow_count *flow = &second->flows.flows[i];
		struct end *end = remote_of(ends, flow);
		struct newest *tor = remote_newest(ends, flow);

		if (flow->left_out || end->lost == 0 || end->weighed)
			continue;
		end->weighed = true;
		end->pause = pause_of(end);
		tor->lost += end->lost;
		tor->paused += end->pause != 0;
		tor->paused_lost += end->pause != 0 ? end->lost : 0;
		tor->pauses |= end->pause;
	}
}

/* True: pauses of some RNICs are more likely than a fault on a path. A fault would, by
 * chance, have lost this many probes of these RNICs and none of other RNICs. */
static bool
has_pauses(const struct newest *tor)
{
	const double lost = (double)tor->lost;
	const double answered = __builtin_popcountll(tor->slots & tor->pauses);
	const double sent = lost + answered;

	if (tor->paused == 0 || answered < 1 ||
	    tor->lost > tor->paused_lost + PATH_ENDS_STRAY)
		return false;
	return lost * log(sent / lost) + answered * log(sent / answered) >=
	       PATH_ENDS_PAUSED_LN + PATH_ENDS_PAUSE_LN * tor->paused;
}

static bool
is_remote_dead(const struct path_ends *ends, const struct flow_count *flow)
{
	const struct end *end = remote_of(ends, flow);

	return is_dead(end) || still_dead(end) ||
	       (end->pause != 0 && has_pauses(remote_newest(ends, flow)));
}

static void
find_dead(struct path_ends *ends, const struct flow_second *second)
{
	for (size_t i = 0; i < second->flows.count; i++) {
		const struct flow_count *flow = &second->flows.flows[i];
		struct end *remote = remote_of(ends, flow);
		const bool dead = is_remote_dead(ends, flow);

		own_of(ends, flow)->dead = is_dead(own_of(ends, flow));
		if (!remote->dead && dead && remote->lone)
			++*lone_of(ends, flow);
		remote->dead = dead;
	}
	for (size_t i = 0; i < second->flows.count; i++) {
		const struct flow_count *flow = &second->flows.flows[i];

		if (!flow->left_out && !own_of(ends, flow)->dead &&
		    !remote_of(ends, flow)->dead)
			ends->paths[flow->path].mixed_lost += flow->lost;
	}
}

/* True: all flows of the RNIC take one path that also loses packets of other RNICs, so
 * the path may be at fault. */
static bool
is_excused(const struct path_ends *ends, const struct end *end)
{
	const struct on_path *path = &ends->paths[end->path];

	return end->one_path &&
	       (path->mixed_lost >= PATH_ENDS_MIXED_LOST ||
		   (path->answered < end->first_lost && path->lost > end->lost));
}

/* True: several RNICs of one rack seem dead, and each has a single flow. Then it is
 * more likely that a part on their paths drops these flows. */
static bool
is_of_flows(const struct path_ends *ends, const struct flow_count *flow)
{
	return remote_of(ends, flow)->lone && *lone_of(ends, flow) >= PATH_ENDS_LONE;
}

/* Stores a dead or paused RNIC. An RNIC that is paused at the end of the second stays
 * dead until it gets an answer. */
static void
note_dead(struct end *end, const struct newest *tor)
{
	if (end->answered < end->last_lost && end->pause != 0 && has_pauses(tor))
		end->dead_through = second_start(end->first_lost) + RM_NS_PER_S;
}

void
path_ends_forget(struct path_ends *ends)
{
	memset(ends->remote, 0, WIRE_MAX_REMOTES * sizeof(*ends->remote));
}

int
path_ends_judge(struct path_ends *ends, struct flow_second *second, uint32_t path_end)
{
	int r;

	if (second->loss_count == 0 || second->cut)
		return 0;
	r = begin(ends, second, path_end);
	if (r < 0)
		return r;
	add_flows(ends, second);
	add_losses(ends, second);
	add_company(ends, second);
	add_pauses(ends, second);
	find_dead(ends, second);
	for (size_t i = 0; i < second->flows.count; i++) {
		struct flow_count *flow = &second->flows.flows[i];
		const struct end *own = own_of(ends, flow);
		struct end *remote = remote_of(ends, flow);

		if (flow->left_out)
			continue;
		if (remote->dead && !is_excused(ends, remote) &&
		    !is_of_flows(ends, flow)) {
			ends->counts.remote_dead += flow->sent;
			flow->left_out = true;
			note_dead(remote, remote_newest(ends, flow));
		} else if (own->dead && !is_excused(ends, own)) {
			ends->counts.own_dead += flow->sent;
			flow->left_out = true;
		}
	}
	return 0;
}

const struct path_ends_counts *
path_ends_counts(const struct path_ends *ends)
{
	return &ends->counts;
}
