#include "tor-aggregator/switch/switch_asics.h"

#include <errno.h>

#include "tor-aggregator/switch/config/switch_config.h"
#include "tor-aggregator/switch/switch_list.h"

void
switch_asic_clear(struct switch_asic *asic)
{
	switch_list_free(asic->list);
	asic->list = NULL;
}

void
switch_asic_succeed(struct switch_asic *asic, struct switch_list *list,
    const struct switch_times *times)
{
	const int64_t before_ns = asic->times.interval_ns;
	/* The deltas of the list before were used by no merged list. After a failure,
	 * those of the new one cover more than one interval. */
	const bool add = asic->unused && asic->continues, replace = !asic->up;

	if (add)
		switch_list_add_deltas(list, asic->list, replace);
	switch_list_free(asic->list);
	asic->list = list;
	asic->times = *times;
	if (add)
		asic->times.interval_ns =
		    before_ns + (replace ? 0 : times->interval_ns);
	asic->continues = asic->up || add;
	asic->up = true;
	asic->down = false;
	asic->unused = true;
}

void
switch_asic_fail(struct switch_asic *asic)
{
	asic->up = false;
	asic->down = true;
}

/* The interval is the longest one, so that no rate is overestimated. */
static struct switch_times
times_of(const struct switch_asic *asics, size_t count)
{
	struct switch_times all = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct switch_times *one = &asics[i].times;

		if (!asics[i].unused)
			continue;
		if (all.at.ns == 0 || one->at.ns < all.at.ns)
			all.at = one->at;
		if (one->ended.ns > all.ended.ns)
			all.ended = one->ended;
		if (one->took_ns > all.took_ns)
			all.took_ns = one->took_ns;
		if (asics[i].continues && one->interval_ns > all.interval_ns)
			all.interval_ns = one->interval_ns;
	}
	return all;
}

/* A merged list has used the list of the ASIC, or the ASIC is missing in it. */
static void
note_use(struct switch_asic *asic)
{
	if (asic->unused)
		asic->away = 0;
	else if (asic->away < SWITCH_AWAY_READINGS)
		asic->away++;
	asic->unused = false;
}

int
switch_asics_merge(struct switch_asic *asics, size_t count,
    struct switch_counts *counts, struct switch_list **list, struct switch_times *times)
{
	struct switch_share shares[1 + SWITCH_MAX_ASICS];
	bool complete = false;
	int r;

	for (size_t i = 0; i < count; i++) {
		const struct switch_asic *asic = &asics[i];

		if (!asic->unused && !asic->down)
			return 0;
		shares[i] = (struct switch_share){
			.list = asic->unused || asic->away < SWITCH_AWAY_READINGS
				    ? asic->list
				    : NULL,
			.taken = asic->unused,
			.continues = asic->continues
		};
		complete |= shares[i].taken;
	}
	if (!complete) {
		*list = NULL;
		return 1;
	}
	r = switch_list_merge(shares, count, counts, list);
	if (r == 0)
		*times = times_of(asics, count);
	for (size_t i = 0; i < count; i++)
		note_use(&asics[i]);
	return r < 0 ? r : 1;
}
