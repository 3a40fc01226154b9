#include "analyzer/suspicion/localise_healed.h"

#include <math.h>

#include "analyzer/finding/localise_case.h"
#include "analyzer/finding/localise_lossy_over.h"
#include "analyzer/paths/localise_bins.h"
#include "analyzer/paths/localise_listed.h"
#include "analyzer/suspicion/localise_standing.h"

#define PROOF_LN 7.0 /* ln of how unlikely the time without losses is */
#define MIN_SLOTS 6  /* with losses, before the time without losses */
/* With fewer slots: so many losses in each, and so many slots without a loss. A fault
 * that loses packets in bursts has shorter times without losses. */
#define MIN_LOST_PER_SLOT 8
#define MIN_CLEAN 12
#define MAX_PATHS_OF_PAIR 64

/* `clean` slots without a loss follow the losses of `before`, whose newest bit is 0. */
static bool
is_proof(uint64_t before, int clean, bool is_dense)
{
	const int lossy = __builtin_popcountll(before);
	const int slots = 64 - __builtin_clzll(before);

	return (lossy >= MIN_SLOTS || (is_dense && clean >= MIN_CLEAN)) &&
	       clean * -log1p(-lossy / (slots + 1.0)) >= PROOF_LN;
}

int
localise_healed_slot(uint64_t slots, uint64_t clean, double lost)
{
	const bool is_dense =
	    lost >= MIN_LOST_PER_SLOT * (double)__builtin_popcountll(slots);

	clean &= ~slots;
	for (uint64_t left = slots; left != 0; left &= left - 1) {
		const int at = __builtin_ctzll(left);
		const uint64_t newer = (UINT64_C(1) << at) - 1;

		if (is_proof(
			slots >> at, __builtin_popcountll(clean & newer), is_dense))
			return at;
		clean &= ~newer;
	}
	return -1;
}

/* Replies to probes over other paths between the same racks may have been lost on the
 * link: their losses are deleted, too. */
static void
forget_pair(const struct localise_element *pair, rm_mono_t until)
{
	for (size_t i = 0; i < pair->path_count && i < MAX_PATHS_OF_PAIR; i++)
		localise_bins_forget_replies_until(pair->paths[i], until);
}

static struct localise_lossy_over
paths_over(const struct localise_now *now, const struct localise_suspect *suspect)
{
	return localise_lossy_over(
	    now->map, suspect, localise_listed(now->map, localise_path_slow));
}

bool
localise_healed_forget(const struct localise_standings *standings,
    const struct localise_now *now, const struct localise_suspect *suspect)
{
	struct localise_lossy_over over = paths_over(now, suspect);
	struct localise_sum sum = { 0 };
	const struct localise_standing *s;
	struct localise_path *path;
	struct rm_part part;
	uint64_t clean = UINT64_MAX;
	rm_mono_t until;
	int slot;

	localise_suspect_part(suspect, &part);
	s = localise_standings_find(standings, &part);
	if (s == NULL || s->reported_at.ns == 0)
		return false;
	while ((path = localise_lossy_next(&over)) != NULL) {
		localise_path_slow(now->map, path, now->now, &sum);
		clean &= localise_bins_clean_slots(path, now->now);
	}
	slot = localise_healed_slot(sum.lossy_slots, clean, sum.forward + sum.unknown);
	if (slot < 0)
		return false;
	until.ns = now->now.ns - (int64_t)slot * LOCALISE_SLOT_NS;
	over = paths_over(now, suspect);
	while ((path = localise_lossy_next(&over)) != NULL) {
		localise_bins_forget_until(path, until);
		if (suspect->type != RM_PART_LINK)
			continue;
		forget_pair(path->pair, until);
		forget_pair(path->pair->back, until);
	}
	return true;
}
