#include "tor-aggregator/standby/peer.h"

#include "schemas/wire.h"

void
peer_init(struct peer *peer, bool primary, rm_mono_t now)
{
	*peer = (struct peer){ .primary = primary, .since = now };
}

void
peer_become(struct peer *peer, bool primary)
{
	if (peer->primary == primary)
		return;
	peer->primary = primary;
	peer->few_agents.ns = peer->cannot_deliver.ns = peer->no_problem.ns = 0;
	peer->doubt.ns = peer->stuck.ns = 0;
}

/* Makes this aggregator active or standby, and counts a change. */
static void
turn(struct peer *peer, bool active)
{
	if (active && !peer->active)
		peer->taken++;
	if (!active && peer->active)
		peer->given++;
	peer->active = active;
}

/* Returns the time since the last message of the other aggregator, without times in
 * which this aggregator was stopped. */
static int64_t
silence(const struct peer *peer, rm_mono_t now)
{
	return rm_mono_since(now, peer->has_state ? peer->last_seen : peer->since);
}

bool
peer_is_seen(const struct peer *peer, rm_mono_t now)
{
	return peer->has_state && silence(peer, now) < PEER_SILENT_NS;
}

void
peer_receive_state(
    struct peer *peer, const struct wire_tor_standing *standing, rm_mono_t now)
{
	if (peer->primary && peer->active && standing->active &&
	    !peer_is_seen(peer, now)) {
		turn(peer, false);
		peer->no_problem.ns = 0;
	}
	peer->has_state = true;
	peer->last_seen = now;
	peer->other_is_active = standing->active;
	peer->other_delivers = standing->delivers;
	peer->other_agents = standing->agents;
}

void
peer_stalled(struct peer *peer, int64_t for_ns, rm_mono_t now)
{
	if (for_ns < PEER_STALL_NS) {
		/* While this aggregator was stopped, the other one was not silent. The
		 * silence before the stop still counts: otherwise an aggregator that
		 * stalls often would never notice that the other one is gone. */
		if (peer->has_state)
			peer->last_seen = rm_mono_add(peer->last_seen, for_ns);
		if (rm_mono_since(now, peer->last_seen) < 0)
			peer->last_seen = now;
		return;
	}
	turn(peer, false);
	peer->since = now;
	peer->has_state = false;
	peer->few_agents.ns = peer->cannot_deliver.ns = peer->no_problem.ns = 0;
	peer->doubt.ns = peer->stuck.ns = peer->isolated.ns = 0;
}

/* True: the condition has held for for_ns or longer. is_so: it holds now. */
static bool
lasts(rm_mono_t *since, bool is_so, int64_t for_ns, rm_mono_t now)
{
	if (!is_so)
		since->ns = 0;
	else if (since->ns == 0)
		*since = now;
	return is_so && rm_mono_since(now, *since) >= for_ns;
}

/* True: the other aggregator can deliver alerts. Its own message decides. Without a
 * recent message the reports of agents decide: at most half of them report that the
 * other aggregator is lost or cannot deliver, and at least half report that this one
 * cannot. Older agents do not report the latter; then the other aggregator could not
 * learn that it has to become active. */
static bool
other_delivers(const struct peer *peer, const struct peer_own *own, rm_mono_t now)
{
	if (peer_is_seen(peer, now))
		return peer->other_delivers;
	return own->asked > 0 && 2 * (uint64_t)own->we_cannot_deliver >= own->asked &&
	       2 * ((uint64_t)own->lost + own->other_cannot_deliver) <= own->asked;
}

/* Returns how long to wait for the other aggregator. An aggregator without connected
 * agents may itself be cut off from the network, and what it knows may be outdated: so
 * it waits longer. */
static int64_t
patience(const struct peer_own *own)
{
	return own->agents == 0 ? PEER_ALONE_NS : PEER_SILENT_NS;
}

/* Decides whether a primary is active. It goes standby only if the other aggregator
 * works and can do more. */
static bool
primary_judge(struct peer *peer, const struct peer_own *own, rm_mono_t now)
{
	const bool seen = peer_is_seen(peer, now);
	const bool has_few = seen && 2 * (uint64_t)own->agents < peer->other_agents;
	const bool delivers_less = !own->delivers && other_delivers(peer, own, now);
	const bool few_agents =
	    lasts(&peer->few_agents, has_few, PEER_FEW_AGENTS_NS, now);
	const bool cannot_deliver =
	    lasts(&peer->cannot_deliver, delivers_less, PEER_CANNOT_DELIVER_NS, now);
	const bool no_problem = lasts(&peer->no_problem,
	    own->ready && !has_few && !delivers_less, PEER_BACK_NS, now);

	if (peer->active)
		return !few_agents && !cannot_deliver;
	if (!seen)
		return own->ready && !delivers_less &&
		       silence(peer, now) >= patience(own);
	/* If the other aggregator is not active and this one has never gone standby, do
	 * not wait for PEER_BACK_NS. */
	return no_problem || (own->ready && !has_few && !delivers_less &&
				 !peer->other_is_active && peer->given == 0);
}

/* True: by the reports of agents, the other aggregator is lost, or cannot deliver
 * alerts while this one can. If no agent reports, this aggregator's own state decides.
 */
static bool
agents_report_it_lost(const struct peer_own *own)
{
	const uint64_t miss =
	    (uint64_t)own->lost + (own->delivers ? own->other_cannot_deliver : 0);

	return own->agents == 0 || 2 * miss >= own->asked;
}

static bool
standby_judge(struct peer *peer, const struct peer_own *own, rm_mono_t now)
{
	const bool seen = peer_is_seen(peer, now);
	const bool stuck = lasts(&peer->stuck,
	    seen && peer->other_is_active && !peer->other_delivers && own->delivers,
	    PEER_STUCK_NS, now);
	const bool missed = agents_report_it_lost(own);
	const bool doubt = lasts(&peer->doubt, !seen && !missed, PEER_DOUBT_NS, now);

	if (!seen && peer->active)
		return !doubt;
	if (!own->ready)
		return false;
	if (!seen)
		return missed && silence(peer, now) >= patience(own);
	if (peer->other_is_active)
		return stuck;
	return peer->active || rm_mono_since(now, peer->since) >= PEER_START_NS;
}

/* True: this aggregator has no connections. Then it cannot work, and what it sends
 * later may be outdated. */
static bool
is_isolated(struct peer *peer, const struct peer_own *own, rm_mono_t now)
{
	const bool is = !peer_is_seen(peer, now) && own->agents == 0 && !own->delivers;
	const bool lasting = lasts(&peer->isolated, is, PEER_ISOLATED_NS, now);

	if (!is || (peer->active && !lasting))
		return false;
	/* When it is connected again, this aggregator first waits for the state of the
	 * other one. */
	peer->since = now;
	peer->has_state = false;
	peer->no_problem.ns = 0;
	return true;
}

bool
peer_judge(struct peer *peer, const struct peer_own *own, rm_mono_t now)
{
	if (is_isolated(peer, own, now)) {
		turn(peer, false);
		return false;
	}
	turn(peer, peer->primary ? primary_judge(peer, own, now)
				 : standby_judge(peer, own, now));
	return peer->active;
}
