#include "tor-aggregator/lasting/rack_excuse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/clock.h"
#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/suspect/rack_loss.h"
#include "tor-aggregator/suspect/rack_pair.h"
#include "tor-aggregator/window/rack_view.h"

#define HALVES RACK_COURSE_HALVES

/* Share of its packets that an RNIC loses at least, if stutters are not the cause. */
#define STUTTER_SHARE 0.05

/* Loss is steady if no half-second is an outage (lost OUTAGE_SHARE or more), and if
 * without the WORST_HALVES worst half-seconds at least LOSSY_HALVES half-seconds lost
 * packets, and at least STEADY_SHARE of all packets was lost. */
#define WORST_HALVES 3
#define LOSSY_HALVES 6
#define STEADY_SHARE 0.015
#define OUTAGE_SHARE 0.95
/* Without outages loss is also steady if each of the newest STRONG_HALVES half-seconds
 * lost at least STRONG_SHARE: heavy loss is recognised sooner. */
#define STRONG_HALVES 5
#define STRONG_SHARE 0.05

/* The loss began outside of the rack if no probe inside was lost since the start of the
 * window, although this is unlikely: if the probes inside were lost at the rate of the
 * probes out of the rack in the same time, none would be lost in only one of 3,000
 * cases (e^8). */
#define BEGAN_OUTSIDE_LN 8.0

void
rack_course_begin_second(struct rack_course *course)
{
	struct rack_half *halves = course->halves;

	memmove(halves, halves + 2, (HALVES - 2) * sizeof(*halves));
	halves[HALVES - 1] = halves[HALVES - 2] = (struct rack_half){ 0 };
}

static void
add_half(struct rack_half *half, uint32_t sent, uint32_t lost, bool outside)
{
	half->sent += sent;
	half->lost += lost;
	if (!outside)
		return;
	half->outside_sent += sent;
	half->outside_lost += lost;
}

void
rack_course_add(struct rack_course *course, const struct rack_pair *pair)
{
	const uint32_t lost = pair->sent - pair->answered;

	add_half(&course->halves[HALVES - 2], pair->sent - pair->newest_sent,
	    lost - pair->newest_lost, pair->remote);
	add_half(&course->halves[HALVES - 1], pair->newest_sent, pair->newest_lost,
	    pair->remote);
}

uint32_t
rack_course_newest_lost(const struct rack_course *course)
{
	return course->halves[HALVES - 1].lost + course->halves[HALVES - 2].lost;
}

static bool
is_outage(const struct rack_half *half)
{
	return half->lost > 1 &&
	       (double)half->lost >= OUTAGE_SHARE * (double)half->sent;
}

bool
rack_course_has_outage(const struct rack_course *course)
{
	for (size_t i = 0; i < HALVES; i++)
		if (is_outage(&course->halves[i]))
			return true;
	return false;
}

static int
by_lost(const void *a, const void *b)
{
	const struct rack_half *x = a, *y = b;

	return x->lost < y->lost ? -1 : x->lost > y->lost;
}

static bool
is_strong(const struct rack_half newest[STRONG_HALVES])
{
	for (size_t i = 0; i < STRONG_HALVES; i++)
		if (newest[i].lost < 2 ||
		    (double)newest[i].lost < STRONG_SHARE * (double)newest[i].sent)
			return false;
	return true;
}

/* True: the member lost packets all the time, see WORST_HALVES and STRONG_HALVES. */
static bool
is_steady(const struct rack_course *course)
{
	struct rack_course sorted = *course;
	double sent = 0, lost = 0;
	unsigned lossy = 0;
	const bool strong = is_strong(&course->halves[HALVES - STRONG_HALVES]);

	if (rack_course_has_outage(course))
		return false;
	qsort(sorted.halves, HALVES, sizeof(*sorted.halves), by_lost);
	for (size_t i = 0; i < HALVES - WORST_HALVES; i++) {
		const struct rack_half *half = &sorted.halves[i];

		sent += half->sent;
		lost += half->lost;
		lossy += half->lost > 0;
	}
	return strong || (lossy >= LOSSY_HALVES && lost >= STEADY_SHARE * sent);
}

/* True: the first losses are outside of the rack, see BEGAN_OUTSIDE_LN. */
static bool
began_outside(const struct rack_course *course)
{
	const struct rack_half *halves = course->halves;
	double inside = 0, outside = 0, lost = 0;

	for (size_t i = 0; i < HALVES && halves[i].lost == halves[i].outside_lost;
	     i++) {
		inside += halves[i].sent - halves[i].outside_sent;
		outside += halves[i].outside_sent;
		lost += halves[i].outside_lost;
		if (-inside * log1p(-lost / (outside + 1)) >= BEGAN_OUTSIDE_LN)
			return true;
	}
	return false;
}

enum rack_excuse
rack_excuse_find(const struct rack_excuse_facts *facts)
{
	const struct rack_tally *tally = facts->tally;

	if (rack_loss_is_elsewhere(tally))
		return RACK_EXCUSE_OUTSIDE;
	if (facts->named)
		return RACK_EXCUSE_NONE;
	if (rack_loss_has_no_witness(tally) ||
	    (facts->peer_outage && tally->inside_sent + tally->stalled_sent == 0 &&
		tally->outside_answered < tally->outside_sent))
		return RACK_EXCUSE_NO_WITNESS;
	if (facts->stutters &&
	    (double)tally->lost < STUTTER_SHARE * (double)tally->sent)
		return RACK_EXCUSE_STUTTER;
	if (!is_steady(facts->course))
		return RACK_EXCUSE_OUTAGE;
	if (began_outside(facts->course))
		return RACK_EXCUSE_BEGAN_OUTSIDE;
	if (rack_flows_are_lost(
		facts->rack, facts->member, RACK_COURSE_SECONDS * RM_NS_PER_S))
		return RACK_EXCUSE_FLOWS;
	return RACK_EXCUSE_NONE;
}
