#include "analyzer/paths/localise_bins.h"

#include <string.h>

/* A path that has lost so many probes, and such a share of the sent ones, has no slow
 * fault. */
#define SWALLOWED_LOST 4
#define SWALLOWED_SHARE 0.3
#define LATE_BINS 2
#define FOUND_NS (4 * RM_NS_PER_S) /* the longest delay of rows */

static int64_t
number_of(rm_mono_t at)
{
	return at.ns / LOCALISE_BIN_NS;
}

static size_t
place_of(int64_t number)
{
	return (size_t)(number & (LOCALISE_BINS - 1));
}

static uint16_t
plus(uint16_t have, uint64_t more)
{
	return more < (uint64_t)(UINT16_MAX - have) ? (uint16_t)(have + more)
						    : UINT16_MAX;
}

void
localise_bins_forget(struct localise_path *path)
{
	memset(path->bins, 0, sizeof path->bins);
	path->lossy_slots = 0;
}

/* True: the bin has losses of probes on their way out. */
static bool
forget_replies(struct localise_bin *bin)
{
	const uint32_t replies = (uint32_t)bin->reverse + bin->unknown;

	bin->sent -= replies < bin->sent ? replies : bin->sent;
	bin->reverse = bin->unknown = 0;
	return bin->forward > 0;
}

void
localise_bins_forget_replies(struct localise_path *path)
{
	bool forward = false;

	for (size_t i = 0; i < LOCALISE_BINS; i++)
		forward |= forget_replies(&path->bins[i]);
	if (!forward)
		path->lossy_slots = 0;
}

static int64_t
slot_of(rm_mono_t at)
{
	return at.ns / LOCALISE_SLOT_NS;
}

/* Moves slot bits whose bit 0 stands for slot `then`, so that it stands for `now`. */
static uint64_t
aged(uint64_t slots, int64_t then, int64_t now)
{
	return now - then < 64 && now >= then ? slots << (now - then) : 0;
}

static void
forget_slots_until(struct localise_path *path, rm_mono_t at)
{
	const int64_t later = path->slot - slot_of(at);

	if (later <= 0)
		path->lossy_slots = 0;
	else if (later < 64)
		path->lossy_slots &= (UINT64_C(1) << later) - 1;
}

void
localise_bins_forget_until(struct localise_path *path, rm_mono_t at)
{
	const int64_t number = number_of(at);

	for (int64_t n = path->bin - LOCALISE_BINS + 1; n <= path->bin && n <= number;
	     n++)
		path->bins[place_of(n)] = (struct localise_bin){ 0 };
	forget_slots_until(path, at);
}

void
localise_bins_forget_replies_until(struct localise_path *path, rm_mono_t at)
{
	const int64_t number = number_of(at);
	bool forward = false;

	for (int64_t n = path->bin - LOCALISE_BINS + 1; n <= path->bin && n <= number;
	     n++)
		forward |= forget_replies(&path->bins[place_of(n)]);
	if (!forward)
		forget_slots_until(path, at);
}

static void
turn_slots(struct localise_path *path, rm_mono_t now)
{
	path->lossy_slots = aged(path->lossy_slots, path->slot, slot_of(now));
	path->clean_slots = aged(path->clean_slots, path->slot, slot_of(now));
	path->slot = slot_of(now);
}

void
localise_bins_note(struct localise_path *path, bool lost, int64_t covered_ns,
    rm_mono_t lossy_at, rm_mono_t now)
{
	int64_t slots = slot_of(now) - slot_of((rm_mono_t){ now.ns - covered_ns });
	const int64_t since = slot_of(now) - slot_of(lossy_at);

	turn_slots(path, now);
	if (lost) {
		path->clean_slots &= ~UINT64_C(1);
		return;
	}
	slots = slots > 0 ? slots : 1;
	slots = slots < since ? slots : since;
	if (slots > 0)
		path->clean_slots |=
		    slots < 64 ? (UINT64_C(1) << slots) - 1 : UINT64_MAX;
}

uint64_t
localise_bins_clean_slots(const struct localise_path *path, rm_mono_t now)
{
	return aged(path->clean_slots, path->slot, slot_of(now));
}

/* Returns the bin with this number. Clears it and all bins since the last one that was
 * used. */
static struct localise_bin *
newest(struct localise_path *path, int64_t number)
{
	if (number - path->bin >= LOCALISE_BINS)
		localise_bins_forget(path);
	else
		for (int64_t n = path->bin + 1; n <= number; n++)
			path->bins[place_of(n)] = (struct localise_bin){ 0 };
	path->bin = number;
	return &path->bins[place_of(number)];
}

static void
add_sent(struct localise_map *map, uint64_t sent, int64_t number)
{
	if (number - map->bin >= LOCALISE_BINS)
		memset(map->sent, 0, sizeof map->sent);
	else
		for (int64_t n = map->bin + 1; n <= number; n++)
			map->sent[place_of(n)] = 0;
	map->bin = number;
	map->sent[place_of(number)] += sent;
}

static bool
reports_of_what_was_found(const struct localise_path *path, rm_mono_t now)
{
	const struct localise_element *src, *dst;

	if (localise_path_is_inside(path))
		return false;
	src = path->elements[0];
	dst = path->elements[path->element_count - 1];
	return (src->found.ns != 0 && rm_mono_since(now, src->found) < FOUND_NS) ||
	       (dst->found.ns != 0 && rm_mono_since(now, dst->found) < FOUND_NS);
}

void
localise_bins_add(struct localise_map *map, struct localise_path *path,
    const struct wire_path_row *row, rm_mono_t now)
{
	const int64_t number = number_of(now);
	struct localise_bin *bin;

	if (reports_of_what_was_found(path, now))
		return;
	bin = newest(path, number);
	bin->sent = row->sent < UINT32_MAX - bin->sent ? bin->sent + (uint32_t)row->sent
						       : UINT32_MAX;
	bin->forward = plus(bin->forward, row->lost_forward);
	bin->reverse = plus(bin->reverse, row->lost_reverse);
	bin->unknown = plus(bin->unknown, row->lost_unknown);
	if (!localise_path_is_inside(path))
		add_sent(map, row->sent, number);
	turn_slots(path, now);
	if (row->lost_forward + row->lost_unknown > 0)
		path->lossy_slots |= 1;
}

double
localise_bins_sent(const struct localise_map *map, rm_mono_t now)
{
	const int64_t first = number_of(now) - LOCALISE_BINS + 1;
	double sent = 0;

	for (int64_t n = map->bin; n > map->bin - LOCALISE_BINS && n >= first; n--)
		sent += (double)map->sent[place_of(n)];
	return sent;
}

/* True: the path loses so many packets that single seconds show it: these are not the
 * losses of a slow fault, and must not count as such. */
static bool
is_swallowed(const struct localise_sum *sum)
{
	const double lost = sum->forward + sum->reverse + sum->unknown;

	return lost >= SWALLOWED_LOST && lost >= SWALLOWED_SHARE * sum->sent;
}

/* Adds the path's counts of this many newest bins to *sum. */
static void
add_bins(const struct localise_path *path, rm_mono_t now, int64_t bins,
    struct localise_sum *sum)
{
	const int64_t first = number_of(now) - bins + 1;
	struct localise_sum mine = { 0 };

	for (int64_t n = path->bin; n > path->bin - bins && n >= first; n--) {
		const struct localise_bin *bin = &path->bins[place_of(n)];

		mine.sent += bin->sent;
		mine.forward += bin->forward;
		mine.reverse += bin->reverse;
		mine.unknown += bin->unknown;
	}
	if (!localise_path_is_inside(path) && is_swallowed(&mine))
		return;
	sum->sent += mine.sent;
	sum->forward += mine.forward;
	sum->reverse += mine.reverse;
	sum->unknown += mine.unknown;
	sum->lossy_slots |= aged(path->lossy_slots, path->slot, slot_of(now));
}

void
localise_path_slow(const struct localise_map *map, const struct localise_path *path,
    rm_mono_t now, struct localise_sum *sum)
{
	(void)map;
	add_bins(path, now, LOCALISE_BINS, sum);
}

void
localise_path_lately(const struct localise_map *map, const struct localise_path *path,
    rm_mono_t now, struct localise_sum *sum)
{
	(void)map;
	add_bins(path, now, LATE_BINS, sum);
}
