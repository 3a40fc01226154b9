#include "tor-aggregator/lasting/rack_block_pairs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/judge/crossings.h"
#include "tor-aggregator/suspect/rack_pair.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

#define MAX_PAIRS 65536

/* counts of one pair in one block; they stop at the largest value of their type */
struct counts {
	uint16_t sent, lost, large_sent, large_lost;
	/* probes that may not have been sent; not included in `sent` */
	uint16_t doubtful;
	uint8_t gaps; /* number of gaps in front of seconds of the block */
	float arrived;
};

struct pair {
	uint32_t src, dst; /* as in window_pair */
	/* Numbers of seconds. From the second counted_from on, all seconds have receive
	 * counts. newest < 0: there is no second. */
	int64_t first, counted_from, newest;
	uint16_t bytes, small_bytes;
	uint8_t kind;
	struct counts blocks[RACK_BLOCKS];
};

struct rack_block_pairs {
	size_t members, remotes;
	struct rm_rnic_id *ids; /* of remote RNICs */
	/* one item per pair of src and dst: index in pairs, plus 1; 0: none */
	uint32_t *places;
	struct pair *pairs;
	size_t count, size;
	struct window_pair *sum;
	size_t sum_size;
};

int
rack_block_pairs_new(struct rack_block_pairs **ret)
{
	struct rack_block_pairs *table = calloc(1, sizeof(*table));

	if (table == NULL)
		return -ENOMEM;
	*ret = table;
	return 0;
}

static void
release_numbers(struct rack_block_pairs *table)
{
	free(table->ids);
	free(table->places);
	table->ids = NULL;
	table->places = NULL;
	table->members = table->remotes = 0;
}

void
rack_block_pairs_free(struct rack_block_pairs *table)
{
	if (table == NULL)
		return;
	release_numbers(table);
	free(table->pairs);
	free(table->sum);
	free(table);
}

static uint32_t *
place_of(const struct rack_block_pairs *table, uint32_t src, uint32_t dst)
{
	const size_t to = dst >= WINDOW_REMOTE_BASE
			      ? table->members + (dst - WINDOW_REMOTE_BASE)
			      : dst;

	return &table->places[src * (table->members + table->remotes) + to];
}

/* Finds or adds the pair. NULL: no room. */
static struct pair *
get_pair(struct rack_block_pairs *table, uint32_t src, uint32_t dst)
{
	uint32_t *place = place_of(table, src, dst);
	struct pair *pair;

	if (*place != 0)
		return &table->pairs[*place - 1];
	if (table->count == MAX_PAIRS)
		return NULL;
	if (table->count == table->size) {
		const size_t more = 2 * table->size + 16;
		struct pair *wider = realloc(table->pairs, more * sizeof(*wider));

		if (wider == NULL)
			return NULL;
		table->pairs = wider;
		table->size = more;
	}
	pair = &table->pairs[table->count++];
	*pair = (struct pair){ .src = src, .dst = dst, .newest = -1 };
	*place = (uint32_t)table->count;
	return pair;
}

static bool
is_empty(const struct pair *pair)
{
	for (size_t i = 0; i < RACK_BLOCKS; i++)
		if (pair->blocks[i].sent > 0)
			return false;
	return true;
}

void
rack_block_pairs_tidy(struct rack_block_pairs *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++) {
		const struct pair *pair = &table->pairs[i];
		uint32_t *place = place_of(table, pair->src, pair->dst);

		*place = 0;
		if (is_empty(pair))
			continue;
		*place = (uint32_t)kept + 1;
		if (kept != i)
			table->pairs[kept] = *pair;
		kept++;
	}
	table->count = kept;
}

/* Gives the pair the new numbers of its RNICs. False: one of them has left the rack. */
static bool
move_pair(const struct rack_block_pairs *table, const struct rack *rack, size_t remotes,
    const size_t *moved, struct pair *pair)
{
	const size_t far = pair->dst - WINDOW_REMOTE_BASE;

	if (moved[pair->src] == SIZE_MAX)
		return false;
	pair->src = (uint32_t)moved[pair->src];
	if (pair->dst >= WINDOW_REMOTE_BASE)
		return far < remotes &&
		       rm_rnic_id_equal(table->ids[far], rack->remotes[far].id);
	if (moved[pair->dst] == SIZE_MAX)
		return false;
	pair->dst = (uint32_t)moved[pair->dst];
	return true;
}

static void
move_pairs(struct rack_block_pairs *table, const struct rack *rack, size_t remotes,
    const size_t *moved)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++) {
		struct pair pair = table->pairs[i];

		if (move_pair(table, rack, remotes, moved, &pair))
			table->pairs[kept++] = pair;
	}
	table->count = kept;
}

int
rack_block_pairs_renumber(struct rack_block_pairs *table, const struct rack *rack,
    size_t remotes, const size_t *moved)
{
	const size_t members = rack->member_count;
	struct rm_rnic_id *ids = calloc(remotes + 1, sizeof(*ids));
	uint32_t *places = calloc((members + 1) * (members + remotes), sizeof(*places));

	if (ids == NULL || places == NULL) {
		free(ids);
		free(places);
		release_numbers(table);
		table->count = 0;
		return -ENOMEM;
	}
	for (size_t i = 0; i < remotes; i++)
		ids[i] = rack->remotes[i].id;
	move_pairs(table, rack, remotes, moved);
	release_numbers(table);
	table->ids = ids;
	table->places = places;
	table->members = members;
	table->remotes = remotes;
	for (size_t i = 0; i < table->count; i++)
		*place_of(table, table->pairs[i].src, table->pairs[i].dst) =
		    (uint32_t)i + 1;
	return 0;
}

/* A block's number is at least -RACK_BLOCKS, so the sum is not negative. */
static size_t
slot_of(int64_t block)
{
	return (size_t)(block + RACK_BLOCKS) % RACK_BLOCKS;
}

void
rack_block_pairs_begin(struct rack_block_pairs *table, int64_t block)
{
	for (size_t i = 0; i < table->count; i++)
		table->pairs[i].blocks[slot_of(block)] = (struct counts){ 0 };
}

static void
add_to(uint16_t *count, uint32_t more)
{
	*count = more < (uint32_t)(UINT16_MAX - *count) ? (uint16_t)(*count + more)
							: UINT16_MAX;
}

static void
note_second(struct pair *pair, struct counts *counts, const struct window_pair *from,
    int64_t second)
{
	if (pair->newest < 0)
		pair->first = pair->counted_from = second;
	else if (pair->newest != second - 1 && counts->gaps < UINT8_MAX)
		counts->gaps++;
	if (!from->counted)
		pair->counted_from = second + 1;
	pair->newest = second;
}

int
rack_block_pairs_add(struct rack_block_pairs *table, int64_t second,
    const struct window_pair *from, const struct rack_pair *sizes, size_t count)
{
	struct pair *pair = get_pair(table, from->src, from->dst);
	struct counts *to;

	if (pair == NULL)
		return -ENOMEM;
	to = &pair->blocks[slot_of(second / RACK_BLOCK_SECONDS)];
	note_second(pair, to, from, second);
	pair->kind = from->kind;
	if (from->large.bytes > 0)
		pair->bytes = from->large.bytes;
	if (from->large.small_bytes > 0)
		pair->small_bytes = from->large.small_bytes;
	for (size_t k = 0; k < count; k++) {
		const uint32_t lost = sizes[k].sent - sizes[k].answered;

		add_to(&to->sent, sizes[k].sent);
		add_to(&to->lost, lost);
		add_to(&to->large_sent, sizes[k].large ? sizes[k].sent : 0);
		add_to(&to->large_lost, sizes[k].large ? lost : 0);
	}
	add_to(&to->doubtful, from->outcomes[WIRE_SENT_LATE] +
				  from->outcomes[WIRE_SELF_LOSS] +
				  from->outcomes[WIRE_STALE_QPN]);
	to->arrived += (float)from->arrived;
	return 0;
}

void
rack_block_pairs_forget(struct rack_block_pairs *table, size_t member)
{
	for (size_t i = 0; i < table->count; i++) {
		struct pair *pair = &table->pairs[i];

		if (pair->src != member && pair->dst != member)
			continue;
		memset(pair->blocks, 0, sizeof(pair->blocks));
		pair->newest = -1;
	}
}

static struct window_pair
sum_pair(const struct pair *pair, int64_t first, int64_t newest)
{
	unsigned gaps = 0;
	struct window_pair to = { .src = pair->src,
		.dst = pair->dst,
		.kind = pair->kind,
		.large = { .bytes = pair->bytes, .small_bytes = pair->small_bytes },
		.counted =
		    pair->counted_from <= first || pair->counted_from == pair->first };

	for (int64_t block = first / RACK_BLOCK_SECONDS;
	     block <= newest / RACK_BLOCK_SECONDS; block++) {
		const struct counts *from = &pair->blocks[slot_of(block)];

		to.outcomes[WIRE_OK] += from->sent - from->lost;
		to.outcomes[WIRE_NO_REPLY] += from->lost;
		to.outcomes[WIRE_SELF_LOSS] += from->doubtful;
		to.large.answered += from->large_sent - from->large_lost;
		to.large.lost += from->large_lost;
		to.arrived += (double)from->arrived;
		gaps += from->gaps;
	}
	to.gaps = gaps < UINT8_MAX ? (uint8_t)gaps : UINT8_MAX;
	return to;
}

int
rack_block_pairs_sum(struct rack_block_pairs *table, int64_t first, int64_t newest,
    struct window_closed *ret)
{
	size_t pairs = 0;

	if (rm_scratch(&table->sum, &table->sum_size, table->count + 1,
		sizeof(*table->sum)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < table->count; i++) {
		const struct window_pair pair =
		    sum_pair(&table->pairs[i], first, newest);

		if (pair.outcomes[WIRE_OK] + pair.outcomes[WIRE_NO_REPLY] > 0)
			table->sum[pairs++] = pair;
	}
	*ret = (struct window_closed){
		.start = { first * RM_NS_PER_S },
		.end = { (newest + 1) * RM_NS_PER_S },
		.pairs = table->sum,
		.pair_count = pairs,
	};
	return 0;
}
