#include "tor-aggregator/suspect/rack_support.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/judge/crossings.h"
#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/suspect/rack_legs.h"
#include "tor-aggregator/suspect/rack_pair.h"
#include "tor-aggregator/suspect/suspect_view.h"
#include "tor-aggregator/window/rack_view.h"

/* If the member is at fault, the lost share of its own probes is at least this part of
 * the lost share with all peers. */
#define EVEN_SHARE 0.4
/* Without the peers with the most losses, the lost share is at least this part of the
 * lost share with all peers. */
#define REST_SHARE 0.25
/* A host reports losses to the member if this share of its probes is lost. */
#define REPORTS_LOSS_SHARE 0.25
#define REPORTS_LOSS_MIN 2
/* The member is dead by its own reports if this share of its newest probes is lost, or
 * of all its probes could not be sent. */
#define DEAD_SHARE 0.9
#define DEAD_MIN_NEWEST 4
/* A peer reports that the member answers if so many of its newest probes were sent to
 * the member, and at most this share of its newest probes to the member is lost. */
#define GOOD_MIN_NEWEST 2
#define GOOD_SHARE 0.5
/* Number of round trips that may be lost without a fault: at least this number, and
 * twice as many as usual. */
#define USUAL_MIN 3
#define USUAL_SHARE 0.008

/* sums over some pairs of the member, as the senders of the probes report them */
struct outcomes {
	uint64_t sent, lost, newest_sent, newest_lost, failed;
	uint64_t small_sent, small_lost; /* as in rack_tally */
};

struct peer { /* a host that sends probes to the member, and gets probes from it */
	/* The reports of this host, and of the member's host. */
	struct outcomes by_peer, by_member;
	/* lost share of the probes in both directions; below 0: there are no probes */
	double share;
	/* its reports contradict the reports of the member and of others */
	bool refuted;
};

struct rack_support {
	struct peer *peers; /* by host */
	size_t size;
};

struct sums { /* over all peers */
	struct outcomes by_member, by_peer;
	/* mean of the shares of the peers: each peer has the same weight */
	double share;
	/* Number of hosts with probes; number of those that report losses. */
	size_t hosts, loss_reporters;
};

int
rack_support_new(struct rack_support **ret)
{
	struct rack_support *support = calloc(1, sizeof(*support));

	if (support == NULL)
		return -ENOMEM;
	*ret = support;
	return 0;
}

void
rack_support_free(struct rack_support *support)
{
	if (support == NULL)
		return;
	free(support->peers);
	free(support);
}

/* from_member: the member sent these probes. Probes that a peer could not send do not
 * count: they are evidence only against that peer. */
static void
add(struct outcomes *outcomes, const struct rack_pair *pair, bool from_member)
{
	const uint32_t failed = from_member ? pair->send_failed : 0;

	outcomes->sent += pair->sent + failed;
	outcomes->lost += pair->sent - pair->answered + failed;
	outcomes->failed += failed;
	outcomes->newest_sent += pair->newest_sent;
	outcomes->newest_lost += pair->newest_lost;
	if (!pair->large) {
		outcomes->small_sent += pair->sent;
		outcomes->small_lost += pair->sent - pair->answered;
	}
}

static void
add_outcomes(struct outcomes *to, const struct outcomes *outcomes)
{
	to->sent += outcomes->sent;
	to->lost += outcomes->lost;
	to->newest_sent += outcomes->newest_sent;
	to->newest_lost += outcomes->newest_lost;
	to->small_sent += outcomes->small_sent;
	to->small_lost += outcomes->small_lost;
	to->failed += outcomes->failed;
}

static double
share_of(const struct outcomes *outcomes)
{
	return outcomes->sent == 0 ? 0
				   : (double)outcomes->lost / (double)outcomes->sent;
}

/* Both directions have the same weight. */
static double
share_with(const struct peer *peer)
{
	if (peer->by_peer.sent == 0 && peer->by_member.sent == 0)
		return -1;
	if (peer->by_peer.sent == 0 || peer->by_member.sent == 0)
		return share_of(&peer->by_peer) + share_of(&peer->by_member);
	return (share_of(&peer->by_peer) + share_of(&peer->by_member)) / 2;
}

/* Sums up the pairs of the member. unblamed: only pairs whose other end is not blamed.
 */
static struct sums
sum_up(struct rack_support *support, const struct rack_view *view, size_t member,
    bool unblamed)
{
	const struct rack *rack = view->rack;
	const size_t own = rack->members[member].host_index;
	struct sums sums = { 0 };

	memset(support->peers, 0, rack->host_count * sizeof(*support->peers));
	for (size_t i = 0; i < view->legs->pair_count; i++) {
		const struct rack_pair *pair = &view->legs->pairs[i];
		const bool from_member = pair->src == member;
		size_t other, host;

		if (pair->remote || (!from_member && pair->dst != member))
			continue;
		other = from_member ? pair->dst : pair->src;
		host = rack->members[other].host_index;
		if (unblamed && view->blame->members[other])
			continue;
		if (from_member || host == own)
			add(&support->peers[host].by_member, pair, from_member);
		else
			add(&support->peers[host].by_peer, pair, false);
	}
	for (size_t i = 0; i < rack->host_count; i++) {
		struct peer *peer = &support->peers[i];

		add_outcomes(&sums.by_member, &peer->by_member);
		add_outcomes(&sums.by_peer, &peer->by_peer);
		peer->share = i == own ? -1 : share_with(peer);
		if (peer->share < 0)
			continue;
		sums.share += peer->share;
		sums.hosts++;
		sums.loss_reporters += peer->by_peer.lost >= REPORTS_LOSS_MIN &&
				       share_of(&peer->by_peer) >= REPORTS_LOSS_SHARE;
	}
	if (sums.hosts > 0)
		sums.share /= (double)sums.hosts;
	return sums;
}

static int
by_own_share(const void *a, const void *b)
{
	const double x = share_of(&((const struct peer *)a)->by_member);
	const double y = share_of(&((const struct peer *)b)->by_member);

	return x < y ? -1 : x > y;
}

static int
by_share(const void *a, const void *b)
{
	const double x = ((const struct peer *)a)->share;
	const double y = ((const struct peer *)b)->share;

	return x < y ? -1 : x > y;
}

/* True: the member loses probes also to peers outside of the third with the most
 * losses. Uses only the reports of the member's agent, which no other agent can change.
 * Sorts the peers. */
static bool
loses_to_most(struct rack_support *support, size_t host_count)
{
	double all = 0, rest = 0;
	size_t peers = 0, seen = 0, kept;

	for (size_t i = 0; i < host_count; i++)
		peers += support->peers[i].by_member.sent > 0;
	kept = peers - peers / 3;
	qsort(support->peers, host_count, sizeof(*support->peers), by_own_share);
	for (size_t i = 0; i < host_count; i++) {
		const struct outcomes *by_member = &support->peers[i].by_member;

		if (by_member->sent == 0)
			continue;
		all += share_of(by_member);
		rest += seen++ < kept ? share_of(by_member) : 0;
	}
	return rest > 0 && rest * (double)peers >= REST_SHARE * all * (double)kept;
}

/* True: the losses are not only those of peers that refuse the member's probes. As many
 * peers may refuse them as agents may report falsely, and these may be more than a
 * third of the peers. Therefore this leaves out so many peers with the most losses, but
 * at most half of `hosts`; the member still has to lose probes with the others. Uses
 * the reports of all agents. Probes that the member's host could not send were refused
 * by no peer. Sorts the peers. */
static bool
is_not_refusal(struct rack_support *support, const struct rack *rack,
    const struct sums *sums, size_t hosts)
{
	const size_t max_faulty = rack_max_faulty(rack);
	const size_t left_out = max_faulty < hosts / 2 ? max_faulty : hosts / 2;
	const size_t unknown = rack->host_count - sums->hosts;
	double rest = 0;

	if (2 * sums->by_member.failed >= sums->by_member.lost)
		return true;
	if (sums->hosts <= left_out)
		return false;
	qsort(support->peers, rack->host_count, sizeof(*support->peers), by_share);
	for (size_t i = 0; i < sums->hosts - left_out; i++)
		rest += support->peers[unknown + i].share;
	rest /= (double)(sums->hosts - left_out);
	return rest > 0 && rest >= REST_SHARE * sums->share;
}

/* True: by the reports of its own agent, nearly all newest probes of the member are
 * lost, or its host can send hardly any. */
static bool
is_dead(const struct outcomes *by_member)
{
	const uint64_t left = by_member->sent - by_member->failed;

	if ((double)by_member->failed >= DEAD_SHARE * (double)by_member->sent)
		return true;
	return left > 0 && by_member->newest_sent >= DEAD_MIN_NEWEST &&
	       (double)by_member->newest_lost >=
		   DEAD_SHARE * (double)by_member->newest_sent;
}

/* Marks as refuted the few peers that report that the member answers, if its own agent
 * and other peers report that it is dead. Returns their number; 0: none is refuted. */
static size_t
refute(struct rack_support *support, const struct rack *rack, const struct sums *sums)
{
	size_t good = 0, dead = 0;

	if (!is_dead(&sums->by_member))
		return 0;
	for (size_t i = 0; i < rack->host_count; i++) {
		const struct outcomes *by_peer = &support->peers[i].by_peer;

		support->peers[i].refuted =
		    by_peer->newest_sent >= GOOD_MIN_NEWEST &&
		    (double)by_peer->newest_lost <=
			GOOD_SHARE * (double)by_peer->newest_sent;
		good += support->peers[i].refuted;
		dead += by_peer->newest_sent > 0 && !support->peers[i].refuted;
	}
	return dead > 0 && good <= rack_max_faulty(rack) ? good : 0;
}

/* True: no more probes are lost than without a fault. */
static bool
is_usual_loss(const struct rack_view *view, const struct sums *sums)
{
	const double share = view->stray_share != 0 ? view->stray_share : USUAL_SHARE;
	const uint64_t lost = sums->by_member.lost + sums->by_peer.lost;
	const uint64_t sent = sums->by_member.sent + sums->by_peer.sent;

	return (double)lost <= USUAL_MIN + share * (double)sent;
}

static void
subtract(struct rack_tally *tally, const struct outcomes *outcomes)
{
	tally->sent -= outcomes->sent - outcomes->failed;
	tally->lost -= outcomes->lost - outcomes->failed;
	tally->newest_sent -= outcomes->newest_sent;
	tally->newest_lost -= outcomes->newest_lost;
	tally->small_sent -= outcomes->small_sent;
	tally->small_lost -= outcomes->small_lost;
}

static void
subtract_refuted(
    const struct rack_support *support, size_t hosts, struct rack_tally *tally)
{
	for (size_t i = 0; i < hosts; i++) {
		if (support->peers[i].refuted)
			subtract(tally, &support->peers[i].by_peer);
	}
}

bool
rack_support_holds(struct rack_support *support, const struct rack_view *view,
    size_t member, struct rack_tally *tally)
{
	const struct rack *rack = view->rack;
	const size_t max_faulty = rack_max_faulty(rack);
	struct sums sums;
	uint64_t all_lost;
	size_t hosts;

	if (max_faulty == 0 || rm_scratch(&support->peers, &support->size,
				   rack->host_count, sizeof(*support->peers)) < 0)
		return true;
	sums = sum_up(support, view, member, false);
	if (sums.hosts == 0)
		return true;
	hosts = sums.hosts;
	all_lost = sums.by_member.lost + sums.by_peer.lost;
	sums = sum_up(support, view, member, true);
	if (2 * sums.hosts < hosts) /* too many peers are blamed */
		sums = sum_up(support, view, member, false);
	if (sums.by_member.lost + sums.by_peer.lost < all_lost &&
	    is_usual_loss(view, &sums))
		return false;
	if (sums.by_member.lost == 0 ||
	    share_of(&sums.by_member) < EVEN_SHARE * sums.share) {
		/* By its own agent, the member loses few probes. If more hosts report
		 * losses than may report falsely, they outweigh that one agent. */
		if (sums.loss_reporters <= max_faulty)
			return false;
		subtract(tally, &sums.by_member);
		tally->own = (struct rack_probe_loss){ 0 };
		return true;
	}
	if (refute(support, rack, &sums) > 0)
		subtract_refuted(support, rack->host_count, tally);
	return loses_to_most(support, rack->host_count) &&
	       is_not_refusal(support, rack, &sums, hosts);
}
