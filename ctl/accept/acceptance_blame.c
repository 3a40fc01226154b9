/*
 * Finds the RNICs that cause a loss. If an RNIC is dead, all other RNICs of the rack
 * lose the packets that they send to it, but are not at fault.
 */
#include <stdint.h>
#include <stdlib.h>

#include "ctl/accept/acceptance_state.h"
#include "ctl/accept/pair_counts.h"

/* For an RNIC: the number of its peers, and the number of peers to which it loses
 * packets. */
struct share {
	unsigned peers, lossy;
};

/* Counts a pair for both of its RNICs, unless one of them is blamed already. */
static void
count_pairs(const struct acceptance *acceptance, struct share *shares)
{
	for (size_t i = 0; i < pair_counts_count(acceptance->pairs); i++) {
		const struct pair_count *pair = pair_counts_at(acceptance->pairs, i);
		bool lossy = acceptance_lossy(acceptance, pair->lost, pair->sent);

		if (acceptance->rnics[pair->from].to_blame ||
		    acceptance->rnics[pair->to].to_blame)
			continue;
		shares[pair->from].peers++;
		shares[pair->to].peers++;
		shares[pair->from].lossy += lossy;
		shares[pair->to].lossy += lossy;
	}
}

/* Packets to other racks use only the RNIC's own cable in this rack: they count as two
 * directions of a pair. */
static void
count_outside(const struct acceptance *acceptance, struct share *shares)
{
	for (size_t i = 0; i < acceptance->rnic_count; i++) {
		const struct accept_counts *outside = &acceptance->rnics[i].outside;
		uint64_t all = outside->answered + outside->lost;

		if (all == 0)
			continue;
		shares[i].peers += 2;
		shares[i].lossy +=
		    acceptance_lossy(acceptance, outside->lost, all) ? 2 : 0;
	}
}

/* Returns the RNIC that loses packets with the largest share of its peers, if that is
 * more than half; else SIZE_MAX. */
static size_t
worst_of(const struct acceptance *acceptance, const struct share *shares)
{
	size_t worst = SIZE_MAX;

	for (size_t i = 0; i < acceptance->rnic_count; i++) {
		if (acceptance->rnics[i].to_blame ||
		    2 * shares[i].lossy <= shares[i].peers)
			continue;
		if (worst == SIZE_MAX ||
		    (uint64_t)shares[i].lossy * shares[worst].peers >
			(uint64_t)shares[worst].lossy * shares[i].peers)
			worst = i;
	}
	return worst;
}

/* Blames all RNICs that are equally bad: in a rack of two it cannot be found out which
 * one is at fault. */
static void
blame_like(struct acceptance *acceptance, const struct share *shares, size_t worst)
{
	for (size_t i = 0; i < acceptance->rnic_count; i++)
		if (2 * shares[i].lossy > shares[i].peers &&
		    (uint64_t)shares[i].lossy * shares[worst].peers ==
			(uint64_t)shares[worst].lossy * shares[i].peers)
			acceptance->rnics[i].to_blame = acceptance->rnics[i].is_lossy =
			    true;
}

void
acceptance_blame(struct acceptance *acceptance)
{
	size_t worst = 0;

	/* An RNIC that is missing is blamed for all losses of its pairs. */
	for (size_t i = 0; i < acceptance->rnic_count; i++)
		acceptance->rnics[i].to_blame =
		    !acceptance->rnics[i].listed || !acceptance->rnics[i].registered;
	while (worst != SIZE_MAX) {
		struct share *shares =
		    calloc(acceptance->rnic_count + 1, sizeof(*shares));

		if (shares == NULL)
			return;
		count_pairs(acceptance, shares);
		count_outside(acceptance, shares);
		worst = worst_of(acceptance, shares);
		if (worst != SIZE_MAX)
			blame_like(acceptance, shares, worst);
		free(shares);
	}
}
