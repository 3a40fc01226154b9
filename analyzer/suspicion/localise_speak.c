#include "analyzer/suspicion/localise_speak.h"

#include <math.h>

#include "analyzer/paths/localise_bins.h"
#include "analyzer/paths/localise_part.h"
#include "analyzer/suspicion/localise_evidence.h"

/* Rows take up to 1.5 s to come, and come every second. */
#define SPEAK_NS (1600 * RM_NS_PER_MS)   /* nothing else is near */
#define LASTING_NS (1800 * RM_NS_PER_MS) /* three windows of a second */
#define DECIDE_NS (2250 * RM_NS_PER_MS)  /* the likelier one */
/* "A or B" keeps its name for life: more rows may tell which. */
#define UNDECIDED_NS (4500 * RM_NS_PER_MS)
#define SIBLING_NS (3250 * RM_NS_PER_MS)  /* or it is the switch of both */
#define CROWDED_NS (5 * RM_NS_PER_S)      /* the likeliest of several */
#define OVERLAP_NS (3 * RM_NS_PER_S)      /* more, where another fault was named */
#define TOR_SPEAK_NS (500 * RM_NS_PER_MS) /* its own rack has said so */
#define LATELY_NS (6 * RM_NS_PER_S)
#define SUSPECT_LOST 3 /* with this begins the wait, with the rest it may end */
#define SUSPECT_GAIN 2.0
#define MIN_LOST 4
#define MIN_NEWEST_LOST 2
#define MIN_GAIN 6.0
#define LASTING_SHARE                                                   \
	0.6 /* of the losses before, or of all sent: fewer, and it ends \
	     */
#define SLOW_MIN_TIMES 6
#define SLOW_STILL_TIMES 2 /* of what is named */
#define SLOW_MIN_GAIN 6.0
#define SLOW_RECENT_SHARE 0.5 /* more is sudden: the recent losses will tell */
#define SLOW_GAPS 6           /* by chance, one in 400 is longer */
#define SLOW_OVER_NS (4 * RM_NS_PER_S)
#define DOWN_SHARE 0.9
#define LOSSY_TOR 0.15            /* fitted: less is left to what minutes show */
#define RNIC_NS (8 * RM_NS_PER_S) /* until its own rack has named an RNIC */
#define MAX_LOOKED 64             /* ways of a part */

/* Another part that is named, or was until lately, shares a lossy way with it. */
static bool
overlaps(const struct localise_standings *standings,
    const struct localise_finding *finding, const struct localise_now *now)
{
	const struct localise_map *map = now->map;

	for (size_t k = 0; k < standings->count; k++) {
		const struct localise_standing *s = &standings->standings[k];
		size_t looked = 0;

		if (s->told.ns == 0 || s->slow ||
		    rm_mono_since(now->now, s->told) > LATELY_NS ||
		    localise_part_same(&s->part, &finding->part))
			continue;
		for (size_t i = 0; i < map->lossy_count && looked < MAX_LOOKED; i++) {
			if (!localise_suspect_on(finding->suspect, map->lossy[i]))
				continue;
			looked++;
			if (localise_part_on(&s->part, map->lossy[i]))
				return true;
		}
	}
	return false;
}

bool
localise_may_speak(const struct localise_standings *standings,
    const struct localise_now *now, const struct localise_finding *finding,
    const struct localise_standing *first, bool slow, rm_wall_t lossy_end)
{
	const struct localise_rack *rack = localise_rack_of(now->map, finding);
	int64_t wait = finding->is_crowded                           ? CROWDED_NS
		       : finding->other != NULL && !finding->has_tor ? UNDECIDED_NS
		       : finding->has_sibling                        ? SIBLING_NS
		       : finding->is_clear                           ? SPEAK_NS
								     : DECIDE_NS;

	/* Two racks that only have each other, and some of it arrives: anything may be.
	 */
	if (finding->is_crowded && finding->has_tor && finding->loss < DOWN_SHARE)
		return false;
	/* A few lost on the way to one of its links, and as many replies, look like it.
	 */
	if (!slow && rack != NULL && !rack->tor_stands && finding->loss < LOSSY_TOR)
		return false;
	if (rack != NULL && rack->tor_stands)
		wait = TOR_SPEAK_NS;
	else if (!slow && lossy_end.ns - first->first_end.ns < LASTING_NS)
		return false;
	/* A way that has a name of its own needs no part, and no haste. */
	if (finding->suspect->type == RM_PART_PATH && wait < DECIDE_NS)
		wait = DECIDE_NS;
	if (overlaps(standings, finding, now))
		wait += OVERLAP_NS;
	return rm_mono_since(now->now, first->since) >= wait;
}

/* What a burst took is one witness. A fault of before is over when nothing has been
 * lost for as long as it would take to lose some more; until then a few will do. */
static enum localise_enough
how_much_slow(const struct localise_now *now, const struct localise_finding *finding,
    double recent, bool named)
{
	struct localise_sum sum;
	double lost, times, clean_ns;

	localise_evidence_losses(
	    now->map, finding->suspect, now->now, localise_way_slow, &sum);
	if (sum.lossy_slots == 0)
		return LOCALISE_NOTHING;
	lost = sum.forward + sum.unknown;
	times = __builtin_popcountll(sum.lossy_slots);
	clean_ns = (double)__builtin_ctzll(sum.lossy_slots) * (double)LOCALISE_SLOT_NS;
	return times >= (named ? SLOW_STILL_TIMES : SLOW_MIN_TIMES) &&
		       (named ||
			   finding->gain * fmin(times / lost, 1) >= SLOW_MIN_GAIN) &&
		       recent <= SLOW_RECENT_SHARE * lost &&
		       clean_ns <= fmax(SLOW_GAPS * (double)LOCALISE_WINDOW_NS / lost,
				       (double)SLOW_OVER_NS)
		   ? LOCALISE_ENOUGH
		   : LOCALISE_NOTHING;
}

enum localise_enough
localise_how_much(const struct localise_now *now,
    const struct localise_finding *finding, bool slow, bool named, rm_wall_t *lossy_end)
{
	struct localise_sum sum;
	double lost;

	localise_evidence_losses(
	    now->map, finding->suspect, now->now, localise_way_recent, &sum);
	*lossy_end = sum.lossy_end;
	lost = sum.forward + sum.unknown;
	if (slow)
		return how_much_slow(now, finding, lost, named);
	if (finding->gain >= MIN_GAIN && lost >= MIN_LOST &&
	    sum.newest_lost >= MIN_NEWEST_LOST && sum.older_lost >= 1 &&
	    sum.newest_lost >= LASTING_SHARE * fmin(sum.older_lost, sum.newest_sent))
		return LOCALISE_ENOUGH;
	return finding->gain >= SUSPECT_GAIN && lost >= SUSPECT_LOST
		   ? LOCALISE_SUSPICIOUS
		   : LOCALISE_NOTHING;
}

/* A dead RNIC's own rack takes some seconds to name it. What is a link's alone is not
 * its doing, however few the flows over it are. */
bool
localise_may_be_rnic(
    const struct localise_finding *finding, rm_mono_t since, rm_mono_t now)
{
	if (finding->suspect->type == RM_PART_PATH)
		return true;
	return finding->loss < DOWN_SHARE &&
	       (finding->has_tor || rm_mono_since(now, since) < RNIC_NS);
}

/* The whole way between two racks that have but one pair of RNICs is told in the end.
 */
bool
localise_may_be_one_pair(
    const struct localise_finding *finding, rm_mono_t since, rm_mono_t now)
{
	return finding->suspect->type == RM_PART_PATH &&
	       rm_mono_since(now, since) < RNIC_NS;
}
