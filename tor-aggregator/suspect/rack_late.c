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

#define MIN_TIMED 2
#define LATE_SHARE 0.75 /* share of a pair's round trips */
#define WELL_SHARE 0.25
#define MIN_LATE 3  /* pairs of the member: there are two with each of its peers */
#define MIN_QUICK 2 /* peers of it that are quick with others */
#define MOST_PART 2 /* part of the members: at least as many must be quick */
#define HALF_PART 8 /* part of a window's probes, at least, in either half of it */

#define TOR_LATE_SHARE 0.5 /* share of the losses in the rack */
#define TOR_LATE_MIN 4
#define TOR_ARRIVES_SHARE 0.3 /* share of the losses that receive counts cover */

#define WINDOWS 4        /* windows before it is reported */
#define ABSENT_WINDOWS 8 /* windows before it is not reported any more */
#define MAX_RULED_OUT 3

static bool
is_reported(const struct rack_pair *pair)
{
	return !pair->remote && pair->timed >= MIN_TIMED;
}

static bool
is_slow(const struct rack_pair *pair)
{
	return (double)pair->slow >= LATE_SHARE * (double)pair->timed;
}

static void
count_end(struct rack_late *late, const struct rack_pair *pair)
{
	late->timed += pair->timed;
	late->slow += pair->slow;
	late->newer += pair->newest_sent;
	late->older += pair->sent - pair->newest_sent;
	late->late += is_slow(pair);
	late->well += (double)pair->slow <= WELL_SHARE * (double)pair->timed;
}

void
rack_late_count(const struct rack_legs *legs, struct rack_late *lates)
{
	memset(lates, 0, legs->members * sizeof(*lates));
	for (size_t i = 0; i < legs->pair_count; i++) {
		const struct rack_pair *pair = &legs->pairs[i];

		if (!is_reported(pair))
			continue;
		lates[pair->src].own++;
		count_end(&lates[pair->src], pair);
		count_end(&lates[pair->dst], pair);
	}
}

/* Just after probing began, the window has only a short time in it. */
static bool
is_filled(const struct rack_late *late)
{
	const uint64_t all = late->older + late->newer;

	return HALF_PART * late->older >= all && HALF_PART * late->newer >= all;
}

/* Round trips timed only by others may be long because its host answers slowly. */
static bool
may_be(const struct rack_late *late)
{
	return late->late >= MIN_LATE && late->well == 0 && late->own > 0;
}

bool
rack_late_is(const struct rack_legs *legs, const struct rack_late *lates, size_t member)
{
	size_t quick = 0, suspects = 0;

	if (!may_be(&lates[member]) || !is_filled(&lates[member]))
		return false;
	for (size_t i = 0; i < legs->members; i++) {
		suspects += may_be(&lates[i]);
		quick += lates[i].well > 0;
	}
	return quick >= MIN_QUICK && MOST_PART * suspects < legs->members;
}

/* True: it is late, and has been for long enough. */
static bool
note(struct rack_suspect_memory *memory, bool late, rm_wall_t start)
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

/* For a member that is about to be reported: reports its host if all its RNICs that
 * others time are late, and then waits for the last of them. */
static enum rack_late_status
report(const struct rack *rack, const struct rack_suspect_memory *memories,
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
		    note(&memories[i], rack_late_is(legs, lates, i), window_start)
			? RACK_LATE_RNIC
			: RACK_LATE_NOTHING;
		/* A worse fault belongs to the RNIC alone. */
		memories[i].late_alone |= memories[i].late > 0 && bad[i];
	}
	for (size_t i = 0; i < rack->member_count; i++) {
		if (lates[i].status == RACK_LATE_NOTHING)
			continue;
		lates[i].status = report(rack, memories, lates, i);
		memories[i].late_alone |= lates[i].status == RACK_LATE_RNIC;
	}
}

static bool
is_of(const struct rack *rack, const struct rack_late *lates, size_t of, size_t member)
{
	return member == of ||
	       (lates[of].status == RACK_LATE_HOST &&
		   rack->members[member].host_index == rack->members[of].host_index);
}

/* Counts the round trips between members that are not late; peer: one of them, or
 * SIZE_MAX. */
static void
count_others(const struct rack *rack, const struct rack_legs *legs,
    const struct rack_late *lates, size_t of, size_t peer, struct rack_late *ret)
{
	*ret = (struct rack_late){ 0 };
	for (size_t i = 0; i < legs->pair_count; i++) {
		const struct rack_pair *pair = &legs->pairs[i];

		if (!is_reported(pair) || is_of(rack, lates, of, pair->src) ||
		    is_of(rack, lates, of, pair->dst) || may_be(&lates[pair->src]) ||
		    may_be(&lates[pair->dst]) ||
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

		if (!witnesses[i] || lates[i].well == 0)
			continue;
		count_others(rack, legs, lates, of, i, &others);
		if ((double)others.slow > WELL_SHARE * (double)others.timed)
			continue;
		rack_member_name(rack, i, name);
		snprintf(evidence->ruled_out[evidence->ruled_out_count++],
		    RM_EVIDENCE_TEXT,
		    "%s: %" PRIu64 " of %" PRIu64
		    " of its round trips with the others took so long",
		    name, others.slow, others.timed);
	}
}

void
rack_late_sentence(const struct rack *rack, const struct rack_legs *legs,
    const struct rack_late *lates, size_t member, struct rm_evidence *evidence)
{
	struct rack_late all = { 0 }, others;
	char whom[40] = "it";
	unsigned count = 0;

	for (size_t i = 0; i < rack->member_count; i++) {
		if (!is_of(rack, lates, member, i) || lates[i].timed == 0)
			continue;
		all.timed += lates[i].timed;
		all.slow += lates[i].slow;
		count++;
	}
	count_others(rack, legs, lates, member, SIZE_MAX, &others);
	if (lates[member].status == RACK_LATE_HOST)
		snprintf(whom, sizeof(whom), "all %u of its RNICs here", count);
	snprintf(evidence->observed, sizeof(evidence->observed),
	    "%" PRIu64 " of %" PRIu64 " round trips with %s took %d ms or longer, and "
	    "%" PRIu64 " of %" PRIu64 " between the others",
	    all.slow, all.timed, whom, (int)(WINDOW_SLOW_NS / RM_NS_PER_MS),
	    others.slow, others.timed);
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

		if (!is_reported(pair))
			continue;
		src = is_of(rack, lates, member, pair->src);
		if (src != is_of(rack, lates, member, pair->dst))
			witnesses[src ? pair->dst : pair->src] = true;
	}
	evidence->peers = 0;
	for (size_t i = 0; i < rack->member_count; i++)
		evidence->peers += witnesses[i];
	rack_late_sentence(rack, legs, lates, member, evidence);
	rule_out(rack, legs, lates, member, witnesses, evidence);
}

struct tor_sum { /* over pairs inside the rack */
	uint64_t sent, lost, overdue;
	uint64_t counted_lost, counted_arrived; /* part of the lost ones */
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
	/* Each pair may have had only a single probe waiting. */
	if (window_release_is(&sum.release))
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
