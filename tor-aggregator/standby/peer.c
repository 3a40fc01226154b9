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
	peer->deaf.ns = peer->mute.ns = peer->well.ns = 0;
	peer->doubt.ns = peer->stuck.ns = 0;
}

/* Becomes active or goes standby, and counts it. */
static void
turn(struct peer *peer, bool active)
{
	if (active && !peer->active)
		peer->taken++;
	if (!active && peer->active)
		peer->given++;
	peer->active = active;
}

/* How long nothing has been received, not counting times in which this aggregator
 * was stopped. */
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
peer_seen(struct peer *peer, const struct wire_tor_standing *standing, rm_mono_t now)
{
	if (peer->primary && peer->active && standing->active &&
	    !peer_is_seen(peer, now)) {
		turn(peer, false);
		peer->well.ns = 0;
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
		/* The other one was not silent: this one was stopped. The silence
		 * before counts on: otherwise an aggregator that stalls often would
		 * never notice that the other one is gone. */
		if (peer->has_state)
			peer->last_seen = rm_mono_add(peer->last_seen, for_ns);
		if (rm_mono_since(now, peer->last_seen) < 0)
			peer->last_seen = now;
		return;
	}
	turn(peer, false);
	peer->since = now;
	peer->has_state = false;
	peer->deaf.ns = peer->mute.ns = peer->well.ns = 0;
	peer->doubt.ns = peer->stuck.ns = peer->isolated.ns = 0;
}

/* True: the condition has held for that long. */
static bool
lasts(rm_mono_t *since, bool is_so, int64_t for_ns, rm_mono_t now)
{
	if (!is_so)
		since->ns = 0;
	else if (since->ns == 0)
		*since = now;
	return is_so && rm_mono_since(now, *since) >= for_ns;
}

/* Decided by its own message, else by agents, if they also report what it says of
 * this aggregator: older agents do not, and then it would never know that it has to
 * become active. */
static bool
other_delivers(const struct peer *peer, const struct peer_own *own, rm_mono_t now)
{
	if (peer_is_seen(peer, now))
		return peer->other_delivers;
	return own->asked > 0 && 2 * (uint64_t)own->controller_link >= own->asked &&
	       2 * ((uint64_t)own->lost + own->mute) <= own->asked;
}

/* An aggregator that is connected to no agent may itself have been cut off, and its
 * knowledge be outdated: it gives the other one more time. */
static int64_t
patience(const struct peer_own *own)
{
	return own->agents == 0 ? PEER_ALONE_NS : PEER_SILENT_NS;
}

/* It yields only to an aggregator that is alive and better off. */
static bool
primary_judge(struct peer *peer, const struct peer_own *own, rm_mono_t now)
{
	const bool seen = peer_is_seen(peer, now);
	const bool is_deaf = seen && 2 * (uint64_t)own->agents < peer->other_agents;
	const bool is_mute = !own->delivers && other_delivers(peer, own, now);
	const bool deaf = lasts(&peer->deaf, is_deaf, PEER_DEAF_NS, now);
	const bool mute = lasts(&peer->mute, is_mute, PEER_MUTE_NS, now);
	const bool well =
	    lasts(&peer->well, own->warm && !is_deaf && !is_mute, PEER_BACK_NS, now);

	if (peer->active)
		return !deaf && !mute;
	if (!seen)
		return own->warm && !is_mute && silence(peer, now) >= patience(own);
	/* No aggregator has been active yet, or this one was a moment ago: no need
	 * to wait. */
	return well || (own->warm && !is_deaf && !is_mute && !peer->other_is_active &&
			   peer->given == 0);
}

/* By the agents' reports, and by this aggregator's own view if no agent has any.
 * That the other one cannot deliver counts only if this one can. */
static bool
agents_miss_it(const struct peer_own *own)
{
	const uint64_t miss = (uint64_t)own->lost + (own->delivers ? own->mute : 0);

	return own->agents == 0 || 2 * miss >= own->asked;
}

static bool
standby_judge(struct peer *peer, const struct peer_own *own, rm_mono_t now)
{
	const bool seen = peer_is_seen(peer, now);
	const bool stuck = lasts(&peer->stuck,
	    seen && peer->other_is_active && !peer->other_delivers && own->delivers,
	    PEER_STUCK_NS, now);
	const bool missed = agents_miss_it(own);
	const bool doubt = lasts(&peer->doubt, !seen && !missed, PEER_DOUBT_NS, now);

	if (!seen && peer->active)
		return !doubt;
	if (!own->warm)
		return false;
	if (!seen)
		return missed && silence(peer, now) >= patience(own);
	if (peer->other_is_active)
		return stuck;
	return peer->active || rm_mono_since(now, peer->since) >= PEER_START_NS;
}

/* An aggregator without any connection cannot do its work, and what it sends later
 * may be outdated. */
static bool
is_isolated(struct peer *peer, const struct peer_own *own, rm_mono_t now)
{
	const bool is = !peer_is_seen(peer, now) && own->agents == 0 && !own->delivers;
	const bool lasting = lasts(&peer->isolated, is, PEER_ISOLATED_NS, now);

	if (!is || (peer->active && !lasting))
		return false;
	/* When that is over, it waits for the state of the other one first. */
	peer->since = now;
	peer->has_state = false;
	peer->well.ns = 0;
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
