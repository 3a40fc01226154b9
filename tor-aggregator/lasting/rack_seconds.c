#include "tor-aggregator/lasting/rack_seconds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tor-aggregator/suspect/rack_pair.h"
#include "tor-aggregator/window/pair_table.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

#define HALVES (2 * RACK_SECONDS)
#define MAX_PAIRS 131072

/* Steady: without the worst halves of a second, so many of the rest lost some, and that
 * share of all; and none was an outage of its own. */
#define WORST_HALVES 3
#define LOSSY_HALVES 6
#define STEADY_SHARE 0.015
#define OUTAGE_SHARE 0.95

struct half {
	uint32_t sent, lost;
};

struct halves { /* of one member, newest last */
	struct half of[HALVES];
};

struct rack_seconds {
	struct pair_table ring[RACK_SECONDS], sum;
	bool lossy[RACK_SECONDS]; /* something was lost in it */
	unsigned known, next;     /* in the ring, where the next one goes */
	rm_mono_t end;            /* of the newest; ns 0: none */
	struct halves *halves;
	size_t members;
};

int
rack_seconds_new(struct rack_seconds **ret)
{
	struct rack_seconds *seconds = calloc(1, sizeof(*seconds));

	if (seconds == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < RACK_SECONDS; i++)
		pair_table_init(&seconds->ring[i], MAX_PAIRS);
	pair_table_init(&seconds->sum, MAX_PAIRS);
	*ret = seconds;
	return 0;
}

void
rack_seconds_free(struct rack_seconds *seconds)
{
	if (seconds == NULL)
		return;
	for (size_t i = 0; i < RACK_SECONDS; i++)
		pair_table_release(&seconds->ring[i]);
	pair_table_release(&seconds->sum);
	free(seconds->halves);
	free(seconds);
}

static void
begin_afresh(struct rack_seconds *seconds, rm_mono_t end)
{
	for (size_t i = 0; i < RACK_SECONDS; i++)
		pair_table_clear(&seconds->ring[i]);
	memset(seconds->halves, 0, seconds->members * sizeof(*seconds->halves));
	seconds->known = seconds->next = 0;
	seconds->end = end;
}

int
rack_seconds_renumber(struct rack_seconds *seconds, size_t members)
{
	struct halves *halves = calloc(members + 1, sizeof(*halves));

	if (halves == NULL)
		return -ENOMEM;
	free(seconds->halves);
	seconds->halves = halves;
	seconds->members = members;
	begin_afresh(seconds, (rm_mono_t){ 0 });
	return 0;
}

static void
add_halves(struct rack_seconds *seconds, size_t member, const struct rack_pair *pair)
{
	struct half *halves = seconds->halves[member].of;
	const uint32_t lost = pair->sent - pair->answered;

	halves[HALVES - 1].sent += pair->newest_sent;
	halves[HALVES - 1].lost += pair->newest_lost;
	halves[HALVES - 2].sent += pair->sent - pair->newest_sent;
	halves[HALVES - 2].lost += lost - pair->newest_lost;
}

static void
turn_halves(struct rack_seconds *seconds)
{
	for (size_t i = 0; i < seconds->members; i++) {
		struct half *halves = seconds->halves[i].of;

		memmove(halves, halves + 2, (HALVES - 2) * sizeof(*halves));
		halves[HALVES - 1] = halves[HALVES - 2] = (struct half){ 0 };
	}
}

static int
add_second(struct rack_seconds *seconds, const struct rack *rack,
    const struct window_closed *window)
{
	struct pair_table *second = &seconds->ring[seconds->next];
	bool *lossy = &seconds->lossy[seconds->next];

	pair_table_clear(second);
	*lossy = false;
	seconds->next = (seconds->next + 1) % RACK_SECONDS;
	turn_halves(seconds);
	for (size_t i = 0; i < window->pair_count; i++) {
		const struct window_pair *from = &window->pairs[i];
		struct rack_pair pairs[RACK_PAIR_SIZES];
		const size_t sizes = rack_pair_read(rack, from, pairs);
		struct window_pair *to;

		if (sizes == 0)
			continue;
		to = pair_table_get(second, from->src, from->dst);
		if (to == NULL)
			return -ENOMEM;
		*to = *from;
		*lossy = *lossy || from->outcomes[WIRE_NO_REPLY] > 0;
		for (size_t k = 0; k < sizes; k++) {
			add_halves(seconds, pairs[k].src, &pairs[k]);
			if (!pairs[k].foreign)
				add_halves(seconds, pairs[k].dst, &pairs[k]);
		}
	}
	if (seconds->known < RACK_SECONDS)
		seconds->known++;
	return 0;
}

int
rack_seconds_add(struct rack_seconds *seconds, const struct rack *rack,
    const struct window_closed *window)
{
	if (window->partial) {
		begin_afresh(seconds, window->end);
		return RACK_SECONDS_FEW;
	}
	if (seconds->end.ns != 0 && window->start.ns < seconds->end.ns)
		return RACK_SECONDS_PASSED;
	if (window->start.ns != seconds->end.ns)
		begin_afresh(seconds, window->end);
	seconds->end = window->end;
	if (add_second(seconds, rack, window) < 0)
		return -ENOMEM;
	return seconds->known == RACK_SECONDS ? RACK_SECONDS_FULL : RACK_SECONDS_FEW;
}

static void
sum_large(struct window_large *to, const struct window_large *from)
{
	to->answered += from->answered;
	to->lost += from->lost;
	to->failed += from->failed;
	to->newest_sent += from->newest_sent;
	to->newest_lost += from->newest_lost;
	if (from->bytes > to->bytes)
		to->bytes = from->bytes;
	if (from->small_bytes > to->small_bytes)
		to->small_bytes = from->small_bytes;
}

static bool
sum_second(struct pair_table *sum, const struct pair_table *second)
{
	for (size_t i = 0; i < second->count; i++) {
		const struct window_pair *from = &second->pairs[i];
		const size_t before = sum->count;
		struct window_pair *to = pair_table_get(sum, from->src, from->dst);

		if (to == NULL)
			return false;
		if (sum->count > before)
			to->counted = true;
		for (int k = 0; k < WIRE_OUTCOMES; k++)
			to->outcomes[k] += from->outcomes[k];
		to->kind = from->kind;
		to->newest_sent += from->newest_sent;
		to->newest_lost += from->newest_lost;
		to->arrived += from->arrived;
		to->counted = to->counted && from->counted;
		sum_large(&to->large, &from->large);
	}
	return true;
}

bool
rack_seconds_sum(struct rack_seconds *seconds, struct window_closed *ret)
{
	bool lost = false;

	pair_table_clear(&seconds->sum);
	for (size_t s = 0; s < RACK_SECONDS; s++)
		lost = lost || seconds->lossy[s];
	if (!lost)
		return false;
	for (size_t s = 0; s < RACK_SECONDS; s++)
		if (!sum_second(&seconds->sum, &seconds->ring[s]))
			return false;
	*ret = (struct window_closed){
		.start = rm_mono_add(seconds->end, -RACK_SECONDS * RM_NS_PER_S),
		.end = seconds->end,
		.pairs = seconds->sum.pairs,
		.pair_count = seconds->sum.count,
	};
	return true;
}

static int
by_lost(const void *a, const void *b)
{
	const struct half *x = a, *y = b;

	return x->lost < y->lost ? -1 : x->lost > y->lost;
}

uint32_t
rack_seconds_newest_lost(const struct rack_seconds *seconds, size_t member)
{
	const struct half *halves = seconds->halves[member].of;

	return halves[HALVES - 1].lost + halves[HALVES - 2].lost;
}

bool
rack_seconds_is_steady(const struct rack_seconds *seconds, size_t member)
{
	struct halves halves = seconds->halves[member];
	double sent = 0, lost = 0;
	unsigned lossy = 0;

	qsort(halves.of, HALVES, sizeof(*halves.of), by_lost);
	for (size_t i = 0; i < HALVES; i++) {
		const struct half *half = &halves.of[i];

		if (half->lost > 1 &&
		    (double)half->lost >= OUTAGE_SHARE * (double)half->sent)
			return false;
		if (i >= HALVES - WORST_HALVES)
			continue;
		sent += half->sent;
		lost += half->lost;
		lossy += half->lost > 0;
	}
	return lossy >= LOSSY_HALVES && lost >= STEADY_SHARE * sent;
}
