#include "tor-aggregator/suspect/rack_loss.h"

#include <math.h>

#include "tor-aggregator/suspect/rack_evidence.h"

/* Dead: lost shares of the probes in the newest two bins, and in the window. */
#define DEAD_MIN_NEWEST 4 /* number of probes in the newest two bins */
#define DEAD_NEWEST_SHARE 0.95
#define DEAD_SHARE 0.45
/* Least number of lost probes that were sent: probes that the member's host could not
 * send are not enough. */
#define DEAD_MIN_LOST 4
#define DEAD_SMALL_SHARE 0.25 /* share of the small probes in the window */

/* A gap (dead for half a second): share of the probes in the newest two bins that are
 * lost. The bins before do not count: after a loss, the RNIC is probed faster, so that
 * they contain fewer probes. */
#define GAP_NEWEST_SHARE 0.6
#define GAP_MIN_LOST 6
/* lost share of the small probes, as a part of that of all probes */
#define GAP_SMALL_SHARE 0.5

#define UNABLE_MIN_FAILED 8
/* largest share of the probes of others to the member that may be lost */
#define UNABLE_PEERS_SHARE 0.1

/* least number of large probes that are lost, and of small probes that are sent */
#define MTU_MIN 8
/* Least number of large probes lost inside the rack: if fewer are lost, the MTU of a
 * remote RNIC may be too small. */
#define MTU_MIN_INSIDE 4
#define MTU_LARGE_SHARE 0.9
#define MTU_SMALL_SHARE 0.1

#define LOSSY_SHARE 0.2
/* least share of loss in the newer half of the window, and in the older half */
#define LOSSY_HALF_SHARE 0.1
#define LOSSY_MIN_LOST 10

/* A direction counts as free of loss if it loses less than a third of the packets that
 * it would lose at the rate of the other direction, and these would be at least
 * DIRECTION_MIN_EXPECTED. */
#define DIRECTION_SHARE (1.0 / 3)
#define DIRECTION_MIN_EXPECTED 6
#define DIRECTION_MIN_LOST 8
/* Standard deviation / losses: above this, the direction is unknown. */
#define DIRECTION_UNCERTAIN 0.2
/* The loss is outside of the rack if no probe inside is lost, though with a fault of
 * the RNIC that would happen by chance only once in 55 times (e^4). It is also outside
 * if at least 8 losses inside are expected, and at most one occurs besides the usual
 * ones (chance: 3 in 1,000). */
#define ELSEWHERE_NONE_LN 4.0
#define ELSEWHERE_MIN_EXPECTED 8
#define ELSEWHERE_LOST 1
#define ELSEWHERE_NOISE 0.002
/* If most probes inside the rack were sent by stalled hosts: the least losses inside,
 * and their share / that of the probes out of the rack. */
#define STALLED_MIN_LOST 2
#define STALLED_PART 0.4

static bool
is_share(uint64_t part, uint64_t of, double low, double high)
{
	return (double)part >= low * (double)of && (double)part <= high * (double)of;
}

bool
rack_loss_is_dead(const struct rack_tally *tally)
{
	const double failed = (double)tally->send_failed;
	const double lost = (double)tally->lost, sent = (double)tally->sent;

	return tally->newest_sent >= DEAD_MIN_NEWEST && tally->lost >= DEAD_MIN_LOST &&
	       (double)tally->newest_lost >=
		   DEAD_NEWEST_SHARE * (double)tally->newest_sent &&
	       lost + failed >= DEAD_SHARE * (sent + failed) &&
	       (double)tally->small_lost >=
		   DEAD_SMALL_SHARE * (double)tally->small_sent;
}

bool
rack_loss_is_gap(const struct rack_tally *tally)
{
	const double lost = (double)tally->lost, sent = (double)tally->sent;

	return tally->newest_lost >= GAP_MIN_LOST &&
	       is_share(tally->newest_lost, tally->newest_sent, GAP_NEWEST_SHARE, 1) &&
	       (double)tally->small_lost * sent >=
		   GAP_SMALL_SHARE * lost * (double)tally->small_sent;
}

/* Returns the ln of the likelihood ratio: all losses are lost probes, against all are
 * lost replies. */
static double
probes_over_replies(const struct rack_probe_loss *loss)
{
	const double replies = loss->lost - loss->missing, probes = loss->missing;

	return loss->variance > 0
		   ? (probes * probes - replies * replies) / (2 * loss->variance)
		   : 0;
}

enum rm_kind
rack_loss_dead_kind(const struct rack_tally *tally, double *behind)
{
	/* If a host cannot send, its agent reports that itself. */
	const bool cannot_send =
	    2 * tally->send_failed > tally->own_sent + tally->send_failed;
	const double send =
	    cannot_send ? RACK_LOSS_CERTAIN : probes_over_replies(&tally->own);
	const double receive = probes_over_replies(&tally->peers);

	*behind = fmin(fabs(send), fabs(receive));
	if (send > 0 && receive > 0)
		return RM_KIND_RNIC_DOWN;
	if (send > 0)
		return RM_KIND_RNIC_SEND_DEAD;
	if (receive > 0)
		return RM_KIND_RNIC_RECEIVE_DEAD;
	/* both directions work: replies arrive after the time-out */
	return RM_KIND_RNIC_LATE;
}

bool
rack_loss_is_unable(const struct rack_tally *tally)
{
	return tally->own_sent == 0 && tally->send_failed >= UNABLE_MIN_FAILED &&
	       is_share(tally->lost, tally->sent, 0, UNABLE_PEERS_SHARE);
}

static bool
loses_large(const struct rack_tally *tally, double share)
{
	const uint64_t lost = tally->large_lost + tally->large_failed;
	const uint64_t small = tally->clean_sent - tally->large_sent;

	return small >= MTU_MIN &&
	       is_share(lost, tally->large_sent + tally->large_failed, share, 1) &&
	       is_share(
		   tally->clean_lost - tally->large_lost, small, 0, MTU_SMALL_SHARE);
}

bool
rack_loss_is_mtu(const struct rack_tally *tally)
{
	return tally->large_lost + tally->large_failed >= MTU_MIN &&
	       tally->large_inside_lost + tally->large_failed >= MTU_MIN_INSIDE &&
	       loses_large(tally, MTU_LARGE_SHARE);
}

bool
rack_loss_is_of_large(const struct rack_tally *tally)
{
	return tally->large_lost > 0 && loses_large(tally, MTU_LARGE_SHARE / 2);
}

bool
rack_loss_is_lossy(const struct rack_tally *tally)
{
	return tally->lost >= LOSSY_MIN_LOST &&
	       is_share(tally->lost, tally->sent, LOSSY_SHARE, DEAD_NEWEST_SHARE) &&
	       is_share(tally->newest_lost, tally->newest_sent, LOSSY_HALF_SHARE,
		   DEAD_NEWEST_SHARE) &&
	       is_share(tally->lost - tally->newest_lost,
		   tally->sent - tally->newest_sent, LOSSY_HALF_SHARE,
		   DEAD_NEWEST_SHARE);
}

/* Losses of probes inside the rack. */
static double
inside_lost(const struct rack_tally *tally)
{
	return (
	    double)(tally->inside_sent - tally->inside_answered + tally->stalled_lost);
}

static bool
depends_on_stalled(const struct rack_tally *tally)
{
	return tally->any_stall && tally->inside_sent <= tally->stalled_sent;
}

bool
rack_loss_has_no_witness(const struct rack_tally *tally)
{
	return depends_on_stalled(tally) && inside_lost(tally) < STALLED_MIN_LOST;
}

bool
rack_loss_is_elsewhere(const struct rack_tally *tally)
{
	const double inside = (double)(tally->inside_sent + tally->stalled_sent);
	const double lost = inside_lost(tally);
	const double outside = (double)tally->outside_sent;
	const double outside_lost = outside - (double)tally->outside_answered;
	/* The + 1 makes the share smaller if there are few probes. */
	const double share = outside_lost / (outside + 1);

	if (outside_lost > 0 && tally->stalled_sent > 0 && depends_on_stalled(tally) &&
	    (lost < STALLED_MIN_LOST || lost < STALLED_PART * share * inside))
		return true;
	if (lost < 1)
		return -inside * log1p(-share) >= ELSEWHERE_NONE_LN;
	return inside * share >= ELSEWHERE_MIN_EXPECTED &&
	       lost <= ELSEWHERE_LOST + ELSEWHERE_NOISE * inside;
}

/* One direction of an RNIC: packets in that direction, and those that were lost. */
struct direction_counts {
	double sent, lost;
};

/* Says whether the losses of a direction are as many as the rate of the other direction
 * would cause, or clearly fewer. off: standard deviation of the losses. */
enum direction_status { DIRECTION_UNSURE, DIRECTION_CLEAR, DIRECTION_LOSSY };

static enum direction_status
judge_direction(const struct direction_counts *direction,
    const struct direction_counts *other, double off)
{
	const double rate = other->sent > 0 ? other->lost / other->sent : 0;
	const double border = DIRECTION_SHARE * rate * direction->sent;

	if (direction->lost - 2 * off > border)
		return DIRECTION_LOSSY;
	if (direction->lost + off < border &&
	    rate * direction->sent >= DIRECTION_MIN_EXPECTED)
		return DIRECTION_CLEAR;
	return DIRECTION_UNSURE;
}

enum rm_direction
rack_loss_direction(const struct rack_tally *tally, enum rm_kind kind)
{
	const bool large = kind == RM_KIND_RNIC_MTU;
	const struct rack_probe_loss *own = large ? &tally->large_own : &tally->own;
	const struct rack_probe_loss *peers =
	    large ? &tally->large_peers : &tally->peers;
	/* An RNIC sends its own probes and its replies; it receives the probes and the
	 * replies of its peers. */
	const struct direction_counts send = { own->sent + peers->sent - peers->missing,
		own->missing + peers->lost - peers->missing };
	const struct direction_counts receive = { peers->sent + own->sent -
						      own->missing,
		peers->missing + own->lost - own->missing };
	const double lost = own->lost + peers->lost;
	const double off = sqrt(own->variance + peers->variance);
	enum direction_status sends, receives;

	if (large && tally->large_failed > tally->large_lost)
		return RM_DIRECTION_SEND;
	if (lost < DIRECTION_MIN_LOST || off > DIRECTION_UNCERTAIN * lost)
		return RM_DIRECTION_UNKNOWN;
	sends = judge_direction(&send, &receive, off);
	receives = judge_direction(&receive, &send, off);
	if (sends == DIRECTION_LOSSY && receives == DIRECTION_LOSSY)
		return RM_DIRECTION_BOTH;
	if (sends == DIRECTION_CLEAR && receives == DIRECTION_LOSSY)
		return RM_DIRECTION_RECEIVE;
	return sends == DIRECTION_LOSSY && receives == DIRECTION_CLEAR
		   ? RM_DIRECTION_SEND
		   : RM_DIRECTION_UNKNOWN;
}
