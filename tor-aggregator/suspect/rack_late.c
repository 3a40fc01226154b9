#include "tor-aggregator/suspect/rack_late.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/judge/verdict.h"
#include "tor-aggregator/suspect/rack_legs.h"
#include "tor-aggregator/suspect/rack_pair.h"
#include "tor-aggregator/window/window_pair.h"

#define MIN_TIMED 2
#define LATE_SHARE 0.75 /* of a pair's round trips */
#define WELL_SHARE 0.25
#define MIN_LATE 3  /* pairs of the member: two go with each of its peers */
#define MIN_QUICK 2 /* its peers that are quick with others */
#define MOST_PART 2 /* of the members: as many are late as are not */

static bool
is_told(const struct rack_pair *pair)
{
	return !pair->foreign && pair->timed >= MIN_TIMED;
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
	late->late += is_slow(pair);
	late->well += (double)pair->slow <= WELL_SHARE * (double)pair->timed;
}

void
rack_late_count(const struct rack_legs *legs, struct rack_late *lates)
{
	memset(lates, 0, legs->members * sizeof(*lates));
	for (size_t i = 0; i < legs->pair_count; i++) {
		const struct rack_pair *pair = &legs->pairs[i];

		if (!is_told(pair))
			continue;
		lates[pair->src].own++;
		count_end(&lates[pair->src], pair);
		count_end(&lates[pair->dst], pair);
	}
}

/* What only others have timed may be its host's slowness in answering. */
static bool
may_be(const struct rack_late *late)
{
	return late->late >= MIN_LATE && late->well == 0 && late->own > 0;
}

bool
rack_late_is(const struct rack_legs *legs, const struct rack_late *lates, size_t member)
{
	size_t quick = 0, suspects = 0;

	if (!may_be(&lates[member]))
		return false;
	for (size_t i = 0; i < legs->members; i++) {
		suspects += may_be(&lates[i]);
		quick += lates[i].well > 0;
	}
	return quick >= MIN_QUICK && MOST_PART * suspects < legs->members;
}

void
rack_late_evidence(const struct rack_legs *legs, const struct rack_late *lates,
    size_t member, struct rm_evidence *evidence)
{
	uint64_t timed = 0, slow = 0;

	for (size_t i = 0; i < legs->pair_count; i++) {
		const struct rack_pair *pair = &legs->pairs[i];

		if (!is_told(pair) || pair->src == member || pair->dst == member ||
		    may_be(&lates[pair->src]) || may_be(&lates[pair->dst]))
			continue;
		timed += pair->timed;
		slow += pair->slow;
	}
	snprintf(evidence->observed, sizeof(evidence->observed),
	    "%" PRIu64 " of %" PRIu64 " round trips with it took %d ms or longer, and "
	    "%" PRIu64 " of %" PRIu64 " between the others",
	    lates[member].slow, lates[member].timed,
	    (int)(WINDOW_SLOW_NS / RM_NS_PER_MS), slow, timed);
}
