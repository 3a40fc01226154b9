#include "tor-aggregator/lasting/rack_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tor-aggregator/lasting/rack_block_pairs.h"
#include "tor-aggregator/lasting/rack_steady.h"
#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/suspect/rack_pair.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

/* In racks with at least so many members, probes inside the rack are enough to find the
 * faulty RNIC. */
#define FEW_MEMBERS 4

struct member_block {
	uint8_t seconds, lossy;
	float expected;
};

struct member {
	struct rack_block_newest newest;
	struct member_block blocks[RACK_BLOCKS];
};

struct rack_blocks {
	struct rack_block_pairs *pairs;
	struct member *members;
	size_t member_count;
	bool remote;           /* probes to and from remote RNICs are used, too */
	int64_t first, newest; /* numbers of seconds; newest < 0: there is none */
};

int
rack_blocks_new(struct rack_blocks **ret)
{
	struct rack_blocks *blocks = calloc(1, sizeof(*blocks));
	int r;

	if (blocks == NULL)
		return -ENOMEM;
	blocks->newest = -1;
	r = rack_block_pairs_new(&blocks->pairs);
	if (r < 0) {
		rack_blocks_free(blocks);
		return r;
	}
	*ret = blocks;
	return 0;
}

void
rack_blocks_free(struct rack_blocks *blocks)
{
	if (blocks == NULL)
		return;
	rack_block_pairs_free(blocks->pairs);
	free(blocks->members);
	free(blocks);
}

int
rack_blocks_renumber(
    struct rack_blocks *blocks, const struct rack *rack, const size_t *moved)
{
	const bool remote = rack->member_count < FEW_MEMBERS;
	struct member *kept = calloc(rack->member_count + 1, sizeof(*kept));

	if (kept == NULL || rack_block_pairs_renumber(blocks->pairs, rack,
				remote ? rack->remote_count : 0, moved) < 0) {
		free(kept);
		free(blocks->members);
		blocks->members = NULL;
		blocks->member_count = 0;
		return -ENOMEM;
	}
	for (size_t i = 0; i < blocks->member_count; i++)
		if (moved[i] != SIZE_MAX)
			kept[moved[i]] = blocks->members[i];
	free(blocks->members);
	blocks->members = kept;
	blocks->member_count = rack->member_count;
	blocks->remote = remote;
	return 0;
}

void
rack_blocks_forget(struct rack_blocks *blocks, size_t member)
{
	struct member *m = &blocks->members[member];

	rack_block_pairs_forget(blocks->pairs, member);
	memset(m->blocks, 0, sizeof(m->blocks));
}

static int64_t
block_of(int64_t second)
{
	return second / RACK_BLOCK_SECONDS;
}

/* Returns the member's data in a block. before: 0 for the newest block, 1 for the block
 * before it, and so on. */
static struct member_block *
member_block(const struct rack_blocks *blocks, size_t member, unsigned before)
{
	const int64_t block = block_of(blocks->newest) + RACK_BLOCKS - before;

	return &blocks->members[member].blocks[block % RACK_BLOCKS];
}

/* Begins the block of this second, if it is not the newest block already; blocks that
 * are skipped stay empty. */
static void
go_on(struct rack_blocks *blocks, int64_t second)
{
	int64_t block = block_of(second) - RACK_BLOCKS;

	if (blocks->newest < 0)
		blocks->first = second;
	else if (block_of(blocks->newest) > block)
		block = block_of(blocks->newest);
	if (block == block_of(second)) {
		blocks->newest = second;
		return;
	}
	while (block < block_of(second)) {
		blocks->newest = ++block * RACK_BLOCK_SECONDS;
		rack_block_pairs_begin(blocks->pairs, block);
		for (size_t i = 0; i < blocks->member_count; i++)
			*member_block(blocks, i, 0) = (struct member_block){ 0 };
	}
	blocks->newest = second;
	rack_block_pairs_tidy(blocks->pairs);
}

static void
report_end(struct rack_blocks *blocks, uint32_t member, const struct rack_pair *sizes,
    size_t count)
{
	struct rack_block_newest *newest = &blocks->members[member].newest;

	for (size_t k = 0; k < count; k++) {
		newest->sent += sizes[k].sent;
		newest->lost += sizes[k].sent - sizes[k].answered;
	}
}

static bool
is_explained(const struct rack_blame *blame, const struct rack_pair *pair)
{
	if (blame->members[pair->src])
		return true;
	if (!pair->remote)
		return blame->members[pair->dst];
	return blame->remotes[pair->dst] || (blame->uplinks && !pair->reflector);
}

/* Counts a pair's results for its two members. A member with a verdict is also charged
 * with the losses for which a shorter window named it: without them its share of loss
 * would seem smaller. */
static void
report(struct rack_blocks *blocks, const struct rack_blame *blame, const bool *known,
    const struct rack_pair *sizes, size_t count)
{
	const uint32_t src = sizes[0].src, dst = sizes[0].dst;

	if (sizes[0].remote) {
		if (known[src])
			report_end(blocks, src, sizes, count);
		return;
	}
	if (!known[dst] && !blame->members[dst] && (known[src] || !blame->members[src]))
		report_end(blocks, src, sizes, count);
	if (!known[src] && !blame->members[src] && (known[dst] || !blame->members[dst]))
		report_end(blocks, dst, sizes, count);
}

static int
add_second(struct rack_blocks *blocks, const struct rack *rack,
    const struct window_closed *second, const struct rack_blame *blame,
    const bool *known)
{
	for (size_t i = 0; i < second->pair_count; i++) {
		const struct window_pair *from = &second->pairs[i];
		const bool remote = from->dst >= WINDOW_REMOTE_BASE;
		struct rack_pair sizes[RACK_PAIR_SIZES];
		size_t count;
		int r;

		if (remote && !blocks->remote)
			continue;
		count = rack_pair_read(rack, from, sizes);
		if (count == 0)
			continue;
		report(blocks, blame, known, sizes, count);
		if (is_explained(blame, &sizes[0]))
			continue;
		r = rack_block_pairs_add(
		    blocks->pairs, blocks->newest, from, sizes, count);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Counts the second for each member, except for members without usable probes in it. */
static void
note_members(struct rack_blocks *blocks)
{
	for (size_t i = 0; i < blocks->member_count; i++) {
		const struct rack_block_newest *newest = &blocks->members[i].newest;
		struct member_block *block = member_block(blocks, i, 0);

		if (newest->sent == 0)
			continue;
		block->seconds++;
		block->lossy += newest->lost > 0;
		block->expected += (float)rack_steady_expected(newest->sent);
	}
}

int
rack_blocks_add(struct rack_blocks *blocks, const struct rack *rack,
    const struct window_closed *second, const struct rack_blame *blame,
    const bool *known)
{
	int r;

	if (blocks->member_count == 0)
		return 0;
	go_on(blocks, second->start.ns / RM_NS_PER_S);
	for (size_t i = 0; i < blocks->member_count; i++)
		blocks->members[i].newest =
		    (struct rack_block_newest){ .blamed =
						    blame->tor || blame->members[i] };
	if (blame->tor) /* a fault of the ToR hides which RNICs lose packets */
		return 0;
	r = add_second(blocks, rack, second, blame, known);
	note_members(blocks);
	return r;
}

const struct rack_block_newest *
rack_blocks_newest(const struct rack_blocks *blocks, size_t member)
{
	return &blocks->members[member].newest;
}

struct rack_block_seconds
rack_blocks_seconds(const struct rack_blocks *blocks, size_t member, unsigned count)
{
	struct rack_block_seconds sum = { 0 };

	for (unsigned i = 0; i < count; i++) {
		const struct member_block *from = member_block(blocks, member, i);

		sum.seconds += from->seconds;
		sum.lossy += from->lossy;
		sum.expected += (double)from->expected;
	}
	return sum;
}

int
rack_blocks_sum(struct rack_blocks *blocks, unsigned count, struct window_closed *ret)
{
	const int64_t oldest =
	    (block_of(blocks->newest) - (int64_t)count + 1) * RACK_BLOCK_SECONDS;

	return rack_block_pairs_sum(blocks->pairs,
	    oldest > blocks->first ? oldest : blocks->first, blocks->newest, ret);
}
