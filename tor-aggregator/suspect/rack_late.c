#include "tor-aggregator/suspect/rack_late.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/judge/verdict.h"
#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/suspect/rack_legs.h"
#include "tor-aggregator/suspect/rack_pair.h"
#include "tor-aggregator/suspect/rack_suspect.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window_pair.h"
#include "tor-aggregator/window/window_release.h"

#define MIN_TIMED 2      /* least number of timed round trips of a pair */
#define LATE_SHARE 0.75  /* a pair is slow from this share of slow round trips on */
#define QUICK_SHARE 0.25 /* a pair is quick up to this share of slow round trips */
/* least number of slow pairs of the member, which has two pairs with each of its peers
 */
#define MIN_LATE 3
#define MIN_QUICK 2 /* least number of members that are quick with others */
/* Of only two members with pairs inside the rack: least number of pairs out of the rack
 * of the late one that are slow. */
#define MIN_OUTSIDE 2
#define MOST_PART 2 /* fewer than this part (1/2) of the members may be late */
/* Each half of the window has at least this part (1/8) of the probes. */
#define HALF_PART 8

/* least number of late replies, as a part of the lost probes inside the rack */
#define TOR_LATE_SHARE 0.5
#define TOR_LATE_MIN 4 /* least number of late replies */
/* least number of probes that arrived, as a part of the lost ones, by receive counts */
#define TOR_ARRIVES_SHARE 0.3

#define WINDOWS 4        /* late windows before the member is reported */
#define ABSENT_WINDOWS 8 /* other windows before a reported member is forgotten */
#define MAX_RULED_OUT 3

static bool
is_timed(const struct rack_pair *pair)
{
	return !pair->remote && pair->timed >= MIN_TIMED;
}

static bool
is_slow(const struct rack_pair *pair)
{
	return (double)pair->slow >= LATE_SHARE * (double)pair->timed;
}

static bool
is_quick(const struct rack_pair *pair)
{
	return (double)pair->slow <= QUICK_SHARE * (double)pair->timed;
}

static void
count_end(struct rack_late *late, const struct rack_pair *pair)
{
	late->timed += pair->timed;
	late->slow += pair->slow;
	late->newer += pair->newest_sent;
	late->older += pair->sent - pair->newest_sent;
	late->late += is_slow(pair);
	late->quick += is_quick(pair);
}

static void
count_outside(struct rack_late *late, const struct rack_pair *pair)
{
	if (pair->timed < MIN_TIMED) {
		/* both ends are late, so replies miss the time-out */
		late->outside_late +=
		    pair->overdue >= MIN_TIMED && !window_is_release(&pair->release);
		return;
	}
	late->outside_late += is_slow(pair);
	late->outside_quick += is_quick(pair);
}

void
rack_late_count(const struct rack_legs *legs, struct rack_late *lates)
{
	memset(lates, 0, legs->members * sizeof(*lates));
	for (size_t i = 0; i < legs->pair_count; i++) {
		const struct rack_pair *pair = &legs->pairs[i];

		if (pair->remote)
			count_outside(&lates[pair->src], pair);
		if (!is_timed(pair))
			continue;
		lates[pair->src].own++;
		count_end(&lates[pair->src], pair);
		count_end(&lates[pair->dst], pair);
	}
}

/* False: probes were sent only in a short part of the window, as just after probing
 * began. */
static bool
is_filled(const struct rack_late *late)
{
	const uint64_t all = late->older + late->newer;

	return HALF_PART * late->older >= all && HALF_PART * late->newer >= all;
}

/* True: at least MIN_LATE pairs of the member are slow, and none is quick. The member
 * must have timed a pair itself: if only others have timed their pairs with it, its
 * host may just answer slowly. */
static bool
looks_late(const struct rack_late *late)
{
	return late->late >= MIN_LATE && late->quick == 0 && late->own > 0;
}

/* True: the member and its only peer are slow with each other, and the member is the
 * cause: it is slow with other racks, too, and the peer is quick with them. The peer
 * may be slow with some RNICs there that are late themselves: a late RNIC is quick with
 * none. */
static bool
is_late_of_two(const struct rack_late *late, const struct rack_late *peer)
{
	return late->late > 0 && late->quick == 0 && late->own > 0 &&
	       late->outside_late >= MIN_OUTSIDE && late->outside_quick == 0 &&
	       peer->outside_quick > 0 && peer->outside_late <= peer->outside_quick;
}

/* Returns the only other member with timed pairs inside the rack; `members`: there is
 * none, or there are several. */
static size_t
only_peer(const struct rack_late *lates, size_t members, size_t member)
{
	size_t peer = members;

	for (size_t i = 0; i < members; i++) {
		if (i == member || lates[i].timed == 0)
			continue;
		if (peer != members)
			return members;
		peer = i;
	}
	return peer;
}

bool
rack_late_is(const struct rack_legs *legs, const struct rack_late *lates, size_t member)
{
	const size_t peer = only_peer(lates, legs->members, member);
	size_t quick = 0, suspects = 0;

	if (!is_filled(&lates[member]))
		return false;
	if (peer < legs->members)
		return is_late_of_two(&lates[member], &lates[peer]);
	if (!looks_late(&lates[member]))
		return false;
	for (size_t i = 0; i < legs->members; i++) {
		suspects += looks_late(&lates[i]);
		quick += lates[i].quick > 0;
	}
	return quick >= MIN_QUICK && MOST_PART * suspects < legs->members;
}

/* Counts the late windows of a member. True: it is late, and was for long enough. */
static bool
note_late(struct rack_suspect_memory *memory, bool late, rm_wall_t start)
{
	if (late) {
		if (memory->late++ == 0)
			memory->late_since = start;
		memory->late_absent = 0;
		return memory->late >= WINDOWS;
	}
	if (memory->late < WINDOWS || ++memory->late_absent >= ABSENT_WINDOWS) {
		memory->late = 0;
		memory->late_alone = false;
	}
	return false;
}

/* Decides what to report for a member that has been late for long enough.
 * RACK_LATE_HOST: its host, because all RNICs of the host that have timed pairs are
 * late. RACK_LATE_NOTHING: nothing yet, because all these RNICs are late, but some of
 * them not for long enough. */
static enum rack_late_status
status_of(const struct rack *rack, const struct rack_suspect_memory *memories,
    const struct rack_late *lates, size_t member)
{
	size_t count = 0;
	bool wait = false;

	for (size_t i = 0; i < rack->member_count; i++) {
		if (rack->members[i].host_index != rack->members[member].host_index ||
		    lates[i].timed == 0)
			continue;
		if (memories[i].late == 0 || memories[i].late_alone)
			return RACK_LATE_RNIC;
		wait |= memories[i].late < WINDOWS;
		count++;
	}
	if (count < 2)
		return RACK_LATE_RNIC;
	return wait ? RACK_LATE_NOTHING : RACK_LATE_HOST;
}

void
rack_late_judge(const struct rack *rack, const struct rack_legs *legs,
    rm_wall_t window_start, const bool *bad, struct rack_suspect_memory *memories,
    struct rack_late *lates)
{
	for (size_t i = 0; i < rack->member_count; i++) {
		lates[i].status =
		    note_late(&memories[i], rack_late_is(legs, lates, i), window_start)
			? RACK_LATE_RNIC
			: RACK_LATE_NOTHING;
		/* If an RNIC has a worse fault, too, its host is not the cause. */
		memories[i].late_alone |= memories[i].late > 0 && bad[i];
	}
	for (size_t i = 0; i < rack->member_count; i++) {
		if (lates[i].status == RACK_LATE_NOTHING)
			continue;
		lates[i].status = status_of(rack, memories, lates, i);
		memories[i].late_alone |= lates[i].status == RACK_LATE_RNIC;
	}
}

/* True: the member is the late part: `of` itself or, if its host is late, an RNIC of
 * that host. */
static bool
is_same_part(
    const struct rack *rack, const struct rack_late *lates, size_t of, size_t member)
{
	return member == of ||
	       (lates[of].status == RACK_LATE_HOST &&
		   rack->members[member].host_index == rack->members[of].host_index);
}

/* Counts the round trips between members that are not late, and not the late part; if
 * the late member has only one peer, those of the peer with other racks. peer: counts
 * only those with this member; SIZE_MAX: all. */
static void
count_others(const struct rack *rack, const struct rack_legs *legs,
    const struct rack_late *lates, size_t of, size_t peer, struct rack_late *ret)
{
	const size_t only = only_peer(lates, legs->members, of);

	*ret = (struct rack_late){ 0 };
	for (size_t i = 0; i < legs->pair_count; i++) {
		const struct rack_pair *pair = &legs->pairs[i];

		if (pair->remote && only < legs->members && pair->src == only &&
		    pair->timed >= MIN_TIMED) {
			ret->timed += pair->timed;
			ret->slow += pair->slow;
		}
		if (!is_timed(pair) || is_same_part(rack, lates, of, pair->src) ||
		    is_same_part(rack, lates, of, pair->dst) ||
		    looks_late(&lates[pair->src]) || looks_late(&lates[pair->dst]) ||
		    (peer != SIZE_MAX && pair->src != peer && pair->dst != peer))
			continue;
		ret->timed += pair->timed;
		ret->slow += pair->slow;
	}
}

static void
rule_out(const struct rack *rack, const struct rack_legs *legs,
    const struct rack_late *lates, size_t of, const bool *witnesses,
    struct rm_evidence *evidence)
{
	evidence->ruled_out_count = 0;
	for (size_t i = 0;
	     i < rack->member_count && evidence->ruled_out_count < MAX_RULED_OUT; i++) {
		char name[RACK_MEMBER_NAME_BYTES];
		struct rack_late others;

		if (!witnesses[i] || lates[i].quick + lates[i].outside_quick == 0)
			continue;
		count_others(rack, legs, lates, of, i, &others);
		if ((double)others.slow > QUICK_SHARE * (double)others.timed)
			continue;
		rack_member_name(rack, i, name);
		snprintf(evidence->ruled_out[evidence->ruled_out_count++],
		    RM_EVIDENCE_TEXT,
		    "%s: %" PRIu64 " of %" PRIu64 " of its round trips with %s took so "
		    "long",
		    name, others.slow, others.timed,
		    lates[i].quick > 0 ? "the others" : "other racks");
	}
}

void
rack_late_sentence(const struct rack *rack, const struct rack_legs *legs,
    const struct rack_late *lates, size_t member, struct rm_evidence *evidence)
{
	const size_t only = only_peer(lates, legs->members, member);
	const char *between = "the others";
	struct rack_late all = { 0 }, others;
	char part[40] = "it";
	unsigned count = 0;

	for (size_t i = 0; i < rack->member_count; i++) {
		if (!is_same_part(rack, lates, member, i) || lates[i].timed == 0)
			continue;
		all.timed += lates[i].timed;
		all.slow += lates[i].slow;
		count++;
	}
	count_others(rack, legs, lates, member, SIZE_MAX, &others);
	if (lates[member].status == RACK_LATE_HOST)
		snprintf(part, sizeof(part), "all %u of its RNICs here", count);
	if (only < legs->members)
		between = lates[only].outside_late > 0
			      ? "its peer and other racks, where another RNIC or "
				"path is slow, too"
			      : "its peer and other racks";
	snprintf(evidence->observed, sizeof(evidence->observed),
	    "%" PRIu64 " of %" PRIu64 " round trips with %s took %d ms or longer, and "
	    "%" PRIu64 " of %" PRIu64 " between %s",
	    all.slow, all.timed, part, (int)(WINDOW_SLOW_NS / RM_NS_PER_MS),
	    others.slow, others.timed, between);
}

void
rack_late_evidence(const struct rack *rack, const struct rack_legs *legs,
    const struct rack_late *lates, size_t member, bool *witnesses,
    struct rm_evidence *evidence)
{
	memset(witnesses, 0, rack->member_count * sizeof(*witnesses));
	for (size_t i = 0; i < legs->pair_count; i++) {
		const struct rack_pair *pair = &legs->pairs[i];
		bool src;

		if (!is_timed(pair))
			continue;
		src = is_same_part(rack, lates, member, pair->src);
		if (src != is_same_part(rack, lates, member, pair->dst))
			witnesses[src ? pair->dst : pair->src] = true;
	}
	evidence->peers = 0;
	for (size_t i = 0; i < rack->member_count; i++)
		evidence->peers += witnesses[i];
	rack_late_sentence(rack, legs, lates, member, evidence);
	rule_out(rack, legs, lates, member, witnesses, evidence);
}

struct tor_sum { /* sums over pairs inside the rack */
	uint64_t sent, lost, overdue;
	/* counted_lost: probes lost by pairs with receive counts; counted_arrived:
	 * those of them that arrived */
	uint64_t counted_lost, counted_arrived;
	struct window_release release;
};

static struct tor_sum
sum_tor(const struct rack_legs *legs)
{
	struct tor_sum sum = { 0 };

	for (size_t i = 0; i < legs->pair_count; i++) {
		const struct rack_pair *pair = &legs->pairs[i];

		if (pair->remote)
			continue;
		sum.sent += pair->sent;
		sum.lost += pair->sent - pair->answered;
		sum.overdue += pair->overdue;
		window_release_join(&sum.release, &pair->release);
		if (!pair->counted)
			continue;
		sum.counted_lost += pair->sent - pair->answered;
		sum.counted_arrived += pair->arrived - pair->answered;
	}
	/* One released reply per pair is recognized only in the sum over all pairs. */
	if (window_is_release(&sum.release))
		sum.overdue = 0;
	return sum;
}

enum rack_late_tor
rack_late_tor(const struct rack_legs *legs)
{
	const struct tor_sum sum = sum_tor(legs);

	if (sum.overdue >= TOR_LATE_MIN &&
	    (double)sum.overdue >= TOR_LATE_SHARE * (double)sum.lost)
		return RACK_TOR_LATE;
	return sum.counted_lost > 0 && (double)sum.counted_arrived >=
					   TOR_ARRIVES_SHARE * (double)sum.counted_lost
		   ? RACK_TOR_ARRIVES
		   : RACK_TOR_DEAD;
}

void
rack_late_tor_sentence(const struct rack_legs *legs, struct rm_evidence *evidence)
{
	const struct tor_sum sum = sum_tor(legs);

	snprintf(evidence->observed, sizeof(evidence->observed),
	    "%" PRIu64 " of %" PRIu64
	    " probes inside its rack were answered in time, and %" PRIu64
	    " replies came later",
	    sum.sent - sum.lost, sum.sent, sum.overdue);
}
