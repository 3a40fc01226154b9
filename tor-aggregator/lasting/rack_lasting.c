#include "tor-aggregator/lasting/rack_lasting_state.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "rackmesh/judge/judge.h"
#include "tor-aggregator/lasting/rack_blocks.h"
#include "tor-aggregator/lasting/rack_steady.h"
#include "tor-aggregator/suspect/rack_support.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

#define ALTERNATIVES_WITHIN 14
#define ABSENT_SECONDS 15 /* a verdict that is no explanation any more */
#define UNLUCKY 1.5       /* standard deviations of a count */
#define SHARES 8          /* seconds of which it is a mean */

const unsigned rack_lasting_lengths[RACK_LASTING_LENGTHS] = { 2, 3, 4, 6, 8,
	RACK_BLOCKS };

int
rack_lasting_new(struct rack_lasting **ret)
{
	const struct rm_judge_options options = {
		.base_loss = RACK_STEADY_BASE,
		.alternatives_within = ALTERNATIVES_WITHIN,
		.max_parts = RACK_LASTING_PARTS,
		.least_loss = RACK_LASTING_LEAST,
	};
	struct rack_lasting *lasting = calloc(1, sizeof(*lasting));
	int r;

	if (lasting == NULL)
		return -ENOMEM;
	r = rm_judge_new(&options, &lasting->judge);
	if (r == 0)
		r = rack_support_new(&lasting->support);
	if (r == 0)
		r = rack_blocks_new(&lasting->blocks);
	if (r < 0) {
		rack_lasting_free(lasting);
		return r;
	}
	*ret = lasting;
	return 0;
}

static void
release_members(struct rack_lasting *lasting)
{
	free(lasting->ids);
	free(lasting->memories);
	free(lasting->known);
	free(lasting->tallies);
	free(lasting->blame.members);
	free(lasting->blame.foreigners);
	free(lasting->witnesses);
	lasting->ids = NULL;
	lasting->memories = NULL;
	lasting->known = NULL;
	lasting->tallies = NULL;
	lasting->blame = (struct rack_blame){ 0 };
	lasting->witnesses = NULL;
	lasting->members = 0;
}

void
rack_lasting_free(struct rack_lasting *lasting)
{
	if (lasting == NULL)
		return;
	release_members(lasting);
	rack_blocks_free(lasting->blocks);
	rack_support_free(lasting->support);
	rack_legs_release(&lasting->legs);
	rm_judge_free(lasting->judge);
	free(lasting);
}

/* ---- what stands ----------------------------------------------------------------- */

static struct rack_slow_named *
find_named(struct rack_lasting *lasting, size_t member)
{
	for (size_t i = 0; i < lasting->named_count; i++)
		if (lasting->named[i].member == member)
			return &lasting->named[i];
	return NULL;
}

struct rack_slow_named *
rack_lasting_keep(struct rack_lasting *lasting, size_t member)
{
	struct rack_slow_named *named = find_named(lasting, member);

	if (named != NULL || lasting->named_count == RACK_LASTING_PARTS)
		return named;
	named = &lasting->named[lasting->named_count++];
	lasting->known[member] = true;
	lasting->memories[member].over = 0;
	return named;
}

static void
drop_named(struct rack_lasting *lasting, size_t member)
{
	struct rack_slow_named *named = find_named(lasting, member);

	if (named != NULL)
		*named = lasting->named[--lasting->named_count];
	lasting->known[member] = false;
	lasting->memories[member] =
	    (struct rack_lasting_memory){ .other = RACK_NO_OTHER,
		    .unlost = lasting->memories[member].unlost };
}

/* All that it lost so far is told, or over. */
static void
forget_member(struct rack_lasting *lasting, size_t member)
{
	drop_named(lasting, member);
	rack_blocks_forget(lasting->blocks, member);
}

/* Who is named was unlucky, maybe: what it is sure to have lost at first, the mean of
 * what it lost later. */
static double
share_of(const struct rack_tally *tally, double before)
{
	const double lost = (double)tally->lost, sent = (double)tally->sent;

	return before == 0 ? (lost - UNLUCKY * sqrt(lost)) / sent
			   : before + (lost / sent - before) / SHARES;
}

void
rack_lasting_take(struct rack_lasting *lasting, const struct rack_slow_named *named,
    const struct rack_tally *tally)
{
	struct rack_slow_named *kept;
	struct rack_lasting_memory *memory;

	if (lasting->members == 0)
		return;
	if (named->verdict.kind != RM_KIND_RNIC_LOSSY) {
		forget_member(lasting, named->member);
		return;
	}
	kept = rack_lasting_keep(lasting, named->member);
	if (kept == NULL)
		return;
	*kept = *named;
	memory = &lasting->memories[named->member];
	memory->suspect.named = RM_KIND_RNIC_LOSSY;
	memory->suspect.since = named->verdict.evidence.window_start;
	memory->suspect.way = named->verdict.evidence.way;
	memory->suspect.absent = 0;
	memory->other = RACK_NO_OTHER;
	memory->share = share_of(tally, memory->share);
	memory->over_at = RACK_STEADY_OVER_SOON;
}

/* ---- members that come and go ---------------------------------------------------- */

static size_t
find_member(const struct rack *rack, struct rm_rnic_id id)
{
	for (size_t i = 0; i < rack->member_count; i++)
		if (rm_rnic_id_equal(rack->members[i].id, id))
			return i;
	return SIZE_MAX;
}

static void
move_named(struct rack_lasting *lasting, const size_t *moved)
{
	size_t kept = 0;

	for (size_t i = 0; i < lasting->named_count; i++) {
		struct rack_slow_named *named = &lasting->named[i];

		if (moved[named->member] == SIZE_MAX || named->other != RACK_NO_OTHER)
			continue;
		named->member = moved[named->member];
		lasting->named[kept++] = *named;
	}
	lasting->named_count = kept;
}

/* Memories of those that stay; "A or B" is of a rack of two. */
static void
move_memories(struct rack_lasting *lasting, struct rack_lasting_memory *memories,
    bool *known, const size_t *moved)
{
	for (size_t i = 0; i < lasting->members; i++)
		if (moved[i] != SIZE_MAX &&
		    lasting->memories[i].other == RACK_NO_OTHER) {
			memories[moved[i]] = lasting->memories[i];
			known[moved[i]] = lasting->known[i];
		}
	move_named(lasting, moved);
}

int
rack_lasting_renumber(struct rack_lasting *lasting, const struct rack *rack)
{
	const size_t members = rack->member_count + 1;
	size_t *moved = calloc(lasting->members + 1, sizeof(*moved));
	struct rack_lasting_memory *memories = calloc(members, sizeof(*memories));
	bool *known = calloc(members, sizeof(bool));
	int r = -ENOMEM;

	if (moved == NULL || memories == NULL || known == NULL)
		goto fail;
	for (size_t i = 0; i < lasting->members; i++)
		moved[i] = find_member(rack, lasting->ids[i]);
	for (size_t i = 0; i < members; i++)
		memories[i].other = RACK_NO_OTHER;
	r = rack_blocks_renumber(lasting->blocks, rack, moved);
	if (r < 0)
		goto fail;
	move_memories(lasting, memories, known, moved);
	free(moved);
	release_members(lasting);
	lasting->memories = memories;
	lasting->known = known;
	lasting->ids = calloc(members, sizeof(*lasting->ids));
	lasting->tallies = calloc(members, sizeof(*lasting->tallies));
	lasting->blame.members = calloc(members, sizeof(bool));
	lasting->blame.foreigners = calloc(rack->foreigner_count + 1, sizeof(bool));
	lasting->witnesses = calloc(members, sizeof(bool));
	if (lasting->ids == NULL || lasting->tallies == NULL ||
	    lasting->blame.members == NULL || lasting->blame.foreigners == NULL ||
	    lasting->witnesses == NULL) {
		release_members(lasting);
		return -ENOMEM;
	}
	for (size_t i = 0; i < rack->member_count; i++)
		lasting->ids[i] = rack->members[i].id;
	lasting->members = rack->member_count;
	return 0;
fail:
	free(moved);
	free(memories);
	free(known);
	release_members(lasting);
	lasting->named_count = 0;
	return r;
}

/* ---- once a second --------------------------------------------------------------- */

/* Which window shows it best, and whether well enough. */
static void
weigh(struct rack_lasting *lasting, size_t m)
{
	struct rack_lasting_memory *memory = &lasting->memories[m];
	double most = 0;

	memory->shows = memory->seen = false;
	memory->length = RACK_LASTING_LENGTHS - 1;
	for (unsigned i = 0; i < RACK_LASTING_LENGTHS; i++) {
		const struct rack_block_seconds seconds =
		    rack_blocks_seconds(lasting->blocks, m, rack_lasting_lengths[i]);
		const double weight = rack_steady_weight(
		    seconds.seconds, seconds.lossy, seconds.expected);

		if (weight <= most)
			continue;
		most = weight;
		memory->length = i;
	}
	memory->shows = most >= RACK_STEADY_SURE;
}

static void
note_newest(struct rack_lasting *lasting, size_t m)
{
	const struct rack_block_newest *newest = rack_blocks_newest(lasting->blocks, m);
	struct rack_lasting_memory *memory = &lasting->memories[m];

	memory->unlost =
	    newest->lost > 0 || newest->blamed ? 0 : memory->unlost + newest->sent;
	if (!lasting->known[m])
		return;
	memory->over =
	    rack_steady_over(memory->over, memory->share, newest->sent, newest->lost);
}

static bool
shows_any(const struct rack_lasting *lasting, unsigned length)
{
	for (size_t i = 0; i < lasting->members; i++)
		if (lasting->memories[i].length == length &&
		    (lasting->memories[i].shows || lasting->known[i]))
			return true;
	return false;
}

/* What is over, or no explanation of anything any more. */
static void
let_go(struct rack_lasting *lasting)
{
	for (size_t i = 0; i < lasting->members; i++) {
		struct rack_lasting_memory *memory = &lasting->memories[i];

		if (!lasting->known[i])
			continue;
		if (memory->over >= memory->over_at)
			forget_member(lasting, i);
		else if (!memory->seen && !memory->shows &&
			 ++memory->suspect.absent >= ABSENT_SECONDS)
			drop_named(lasting, i);
	}
}

int
rack_lasting_judge(struct rack_lasting *lasting, const struct rack *rack,
    const struct window_closed *second, rm_wall_t start, const struct rack_blame *blame,
    const struct rack_slow_named **ret, size_t *count)
{
	const rm_wall_t end = { start.ns + rm_mono_since(second->end, second->start) };
	int r;

	*ret = lasting->named;
	*count = lasting->named_count;
	if (lasting->members == 0 || second->partial)
		return 0;
	r = rack_blocks_add(lasting->blocks, rack, second, blame, lasting->known);
	for (size_t i = 0; i < lasting->members; i++) {
		note_newest(lasting, i);
		weigh(lasting, i);
	}
	for (unsigned i = 0; i < RACK_LASTING_LENGTHS && r == 0; i++)
		if (shows_any(lasting, i))
			r = rack_lasting_explain(lasting, rack, end, i);
	let_go(lasting);
	*count = lasting->named_count;
	return r;
}
