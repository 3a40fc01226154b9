/*
 * Whose loss it is. A dead RNIC makes every pair lossy that it is in, and every other
 * RNIC of the rack lose what it sends there: those are not at fault.
 */
#include <stdint.h>
#include <stdlib.h>

#include "ctl/accept/acceptance_state.h"
#include "ctl/accept/pair_counts.h"

/* Of an RNIC: with how many of its peers it loses packets. */
struct share {
	unsigned peers, lossy;
};

/* Both ends of a pair, unless one is to blame already. */
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

/* What it sends out of the rack has its own cable as the only part in common with the
 * rack: it counts as two directions of a pair. */
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

/* The one that loses with the largest part of its peers, more than half; or SIZE_MAX.
 */
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

/* All that are as bad: of a rack of two there is no telling which. */
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

	/* Of those that are not there every loss is theirs. */
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
