#include <string.h>

#include "rackmesh/judge/crossings.h"
#include "tor-aggregator/report_check/rack_words_state.h"
#include "tor-aggregator/window/rack_view.h"

/* A pair that has lost one is probed five times as fast; more than this, as much as the
 * rack's pairs commonly are, is no more than talk. */
#define MOST_TIMES 6
#define COMMON_LEAST 4
#define BUCKETS 1024

static uint32_t
results_of(const struct window_pair *pair)
{
	return pair->outcomes[WIRE_OK] + pair->outcomes[WIRE_LATE_REPLY] +
	       pair->outcomes[WIRE_INVALID] + pair->outcomes[WIRE_NO_REPLY] +
	       pair->outcomes[WIRE_SEND_FAILED];
}

/* So many results of one pair count: by the median of those in the rack. */
static uint32_t
most_of(const struct rack *rack, const struct window_closed *window)
{
	uint32_t buckets[BUCKETS] = { 0 }, common = 0;
	size_t pairs = 0, below = 0;

	for (size_t i = 0; i < window->pair_count; i++) {
		const struct window_pair *pair = &window->pairs[i];
		const uint32_t results = results_of(pair);

		if (pair->dst >= rack->member_count || results == 0)
			continue;
		buckets[results < BUCKETS ? results : BUCKETS - 1]++;
		pairs++;
	}
	while (common < BUCKETS - 1 && 2 * (below += buckets[common]) < pairs)
		common++;
	return MOST_TIMES * (common > COMMON_LEAST ? common : COMMON_LEAST);
}

static uint32_t
scale(uint32_t count, double by)
{
	return (uint32_t)((double)count * by);
}

/* The same shares of less. Each part is rounded down, and stays one of its whole. */
static void
shrink(struct window_pair *pair, double by)
{
	struct window_large *large = &pair->large;

	for (int k = 0; k < WIRE_OUTCOMES; k++)
		pair->outcomes[k] = scale(pair->outcomes[k], by);
	pair->newest_lost = scale(pair->newest_lost, by);
	pair->newest_sent = scale(pair->newest_sent, by);
	pair->arrived *= by;
	large->answered = scale(large->answered, by);
	large->lost = scale(large->lost, by);
	large->failed = scale(large->failed, by);
	large->newest_sent = scale(large->newest_sent, by);
	large->newest_lost = scale(large->newest_lost, by);
}

static bool
is_disbelieved(const struct rack_words *words, const struct rack *rack, size_t member)
{
	return member < rack->member_count &&
	       words->hosts[rack->members[member].host_index].named;
}

static bool
believes_all(const struct rack_words *words, const struct rack *rack,
    const struct window_closed *window, uint32_t most)
{
	if (words->any_named)
		return false;
	for (size_t i = 0; i < window->pair_count; i++)
		if (window->pairs[i].dst < rack->member_count &&
		    results_of(&window->pairs[i]) > most)
			return false;
	return true;
}

struct window_closed
rack_words_believed(struct rack_words *words, const struct rack *rack,
    const struct window_closed *window)
{
	struct window_closed believed = *window;
	uint32_t most;
	size_t count = 0;

	if (rack->host_count < RACK_MIN_HOSTS)
		return believed;
	most = most_of(rack, window);
	/* Without memory for it, all are believed: no worse than nobody doubted. */
	if (believes_all(words, rack, window, most) ||
	    rm_scratch(&words->believed, &words->believed_size, window->pair_count + 1,
		sizeof(*words->believed)) < 0)
		return believed;
	for (size_t i = 0; i < window->pair_count; i++) {
		struct window_pair *pair = &words->believed[count];

		if (is_disbelieved(words, rack, window->pairs[i].src))
			continue;
		*pair = window->pairs[i];
		if (is_disbelieved(words, rack, pair->dst))
			pair->counted = false;
		if (pair->dst < rack->member_count && results_of(pair) > most)
			shrink(pair, (double)most / results_of(pair));
		count++;
	}
	believed.pairs = words->believed;
	believed.pair_count = count;
	return believed;
}
