#include "analyzer/localise_map.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRESH_NS (2600 * RM_NS_PER_MS) /* rows come every second while they count */
#define SILENT_NS (2 * RM_NS_PER_S)    /* without rows for so long: lost nothing */
#define IMPLIED_NS (1500 * RM_NS_PER_MS)
#define SLOW_NS ((double)(15 * RM_NS_PER_S))
#define FORGOTTEN_LOSS 0.3
#define MAX_SAMPLES 8 /* of a row */

void
localise_map_frame(struct localise_rack *rack, rm_wall_t end, rm_mono_t now)
{
	rack->frame++;
	rack->frame_end[rack->frame & 1] = end;
	rack->frame_came[rack->frame & 1] = now;
}

static void
fade(struct localise_way *way, rm_mono_t now)
{
	const double left = exp(-(double)rm_mono_since(now, way->slow_at) / SLOW_NS);

	way->slow_sent *= (float)left;
	way->slow_forward *= (float)left;
	way->slow_reverse *= (float)left;
	way->slow_unknown *= (float)left;
	way->slow_at = now;
}

static int
list_lossy(struct localise_map *map, struct localise_way *way)
{
	if (way->is_listed)
		return 0;
	if (map->lossy_count == map->lossy_size) {
		const size_t size = map->lossy_size != 0 ? 2 * map->lossy_size : 64;
		struct localise_way **lossy =
		    realloc(map->lossy, size * sizeof(struct localise_way *));

		if (lossy == NULL)
			return -ENOMEM;
		map->lossy = lossy;
		map->lossy_size = size;
	}
	map->lossy[map->lossy_count++] = way;
	way->is_listed = true;
	return 0;
}

/* Rows that begin to come may count many quiet seconds before the first loss, and those
 * that have lost nothing many more: they stand beside what others lost in one. */
static float
sent_in_window(uint64_t sent, uint64_t lost, int64_t covered_ns, int64_t window_ns)
{
	const int64_t newest_ns = lost > 0 && window_ns > 0 ? window_ns : RM_NS_PER_S;
	double share = 1;

	if (covered_ns > newest_ns)
		share = (double)newest_ns / (double)covered_ns;
	return (float)fmax((double)sent * share, (double)lost);
}

/* How many flows lost something. Rows name but the first of them: beyond those, as many
 * as chance would hit. */
static float
flows_hit(const struct wire_path_row *row, uint64_t lost)
{
	const double sent = fmax((double)row->sent, 1);
	const double share = fmin((double)lost / sent, 1);
	const double each = sent / fmax(row->flows, 1);
	double named = 0, hit;

	for (const char *p = row->samples; p != NULL && *p != '\0'; p += *p == ' ') {
		named++;
		p += strcspn(p, " ");
	}
	if (named < MAX_SAMPLES)
		return (float)fmax(named, row->flows_dead);
	hit = row->flows * (1 - pow(1 - share, each));
	return (float)fmax(fmax(named, hit), row->flows_dead);
}

int
localise_map_row(struct localise_map *map, struct localise_way *way,
    const struct wire_path_row *row, int64_t covered_ns, int64_t window_ns,
    rm_mono_t now)
{
	const uint64_t lost = row->lost_forward + row->lost_reverse + row->lost_unknown;
	struct localise_counts_seen *seen = &way->seen[way->rack->frame & 1];
	char *samples;

	if (seen->frame != way->rack->frame) {
		*seen = (struct localise_counts_seen){ .frame = way->rack->frame };
		way->rate = 0;
	}
	seen->all += (uint32_t)row->sent;
	seen->sent += sent_in_window(row->sent, lost, covered_ns, window_ns);
	seen->forward += (uint32_t)row->lost_forward;
	seen->reverse += (uint32_t)row->lost_reverse;
	seen->unknown += (uint32_t)row->lost_unknown;
	seen->flows += row->flows;
	seen->dead += row->flows_dead;
	seen->hit += lost > 0 ? flows_hit(row, lost) : 0;
	if (covered_ns > 0)
		way->rate +=
		    (double)row->sent * (double)RM_NS_PER_S / (double)covered_ns;
	fade(way, now);
	way->slow_sent += (float)row->sent;
	way->slow_forward += (float)row->lost_forward;
	way->slow_reverse += (float)row->lost_reverse;
	way->slow_unknown += (float)row->lost_unknown;
	if (lost == 0)
		return 0;
	if (row->samples != NULL && row->samples[0] != '\0') {
		samples = strdup(row->samples);
		if (samples != NULL) {
			free(way->samples);
			way->samples = samples;
		}
	}
	return list_lossy(map, way);
}

void
localise_map_tidy(struct localise_map *map, rm_mono_t now)
{
	for (size_t i = map->lossy_count; i-- > 0;) {
		struct localise_way *way = map->lossy[i];

		fade(way, now);
		if (way->slow_forward + way->slow_reverse + way->slow_unknown >
		    FORGOTTEN_LOSS)
			continue;
		way->is_listed = false;
		map->lossy[i] = map->lossy[--map->lossy_count];
	}
}

/* Nothing lost is only told every row interval. How long its last rows have spoken for
 * it meanwhile, or 0. */
static int64_t
implied_ns(
    const struct localise_map *map, const struct localise_rack *rack, rm_mono_t now)
{
	const int64_t since = rm_mono_since(now, rack->frame_came[rack->frame & 1]);

	return rack->heard && since > SILENT_NS && since <= 5 * map->row_interval_ns / 2
		   ? since
		   : 0;
}

static void
add_seen(const struct localise_counts_seen *seen, bool newest, struct localise_sum *sum)
{
	/* A reply that was lost did arrive on the way out. */
	const double lost = (double)seen->forward + seen->unknown;

	sum->sent += (double)seen->sent;
	sum->all += seen->all;
	sum->forward += seen->forward;
	sum->reverse += seen->reverse;
	sum->unknown += seen->unknown;
	if (!newest) {
		sum->older_lost += lost;
		return;
	}
	sum->newest_sent += (double)seen->sent;
	sum->flows += fmin(seen->flows, (double)seen->sent);
	sum->newest_lost += lost;
	if (lost < 1)
		return;
	sum->dead += seen->dead;
	sum->hit += (double)seen->hit;
}

static void
add_frames(const struct localise_map *map, const struct localise_way *way,
    rm_mono_t now, uint32_t frames, struct localise_sum *sum)
{
	const struct localise_rack *rack = way->rack;

	const int64_t implied = implied_ns(map, rack, now);

	if (implied > 0) {
		const struct localise_counts_seen *seen = &way->seen[rack->frame & 1];

		/* What was lossy last may carry nothing since: that is no health. */
		if (seen->frame == rack->frame &&
		    seen->forward + seen->reverse + seen->unknown == 0) {
			sum->sent +=
			    way->rate * (double)IMPLIED_NS / (double)RM_NS_PER_S;
			sum->flows += seen->flows;
			sum->all += seen->all +
				    way->rate * (double)implied / (double)RM_NS_PER_S;
		}
		return;
	}
	for (uint32_t age = 0; age < frames; age++) {
		const uint32_t frame = rack->frame - age, at = frame & 1;

		if (frame == 0 || way->seen[at].frame != frame ||
		    rm_mono_since(now, rack->frame_came[at]) > FRESH_NS)
			continue;
		add_seen(&way->seen[at], age == 0, sum);
		if (way->seen[at].forward + way->seen[at].unknown > 0 &&
		    rack->frame_end[at].ns > sum->lossy_end.ns)
			sum->lossy_end = rack->frame_end[at];
	}
}

void
localise_way_newest(const struct localise_map *map, const struct localise_way *way,
    rm_mono_t now, struct localise_sum *sum)
{
	add_frames(map, way, now, 1, sum);
}

void
localise_way_recent(const struct localise_map *map, const struct localise_way *way,
    rm_mono_t now, struct localise_sum *sum)
{
	add_frames(map, way, now, 2, sum);
}

void
localise_way_slow(const struct localise_map *map, const struct localise_way *way,
    rm_mono_t now, struct localise_sum *sum)
{
	const double left = exp(-(double)rm_mono_since(now, way->slow_at) / SLOW_NS);

	sum->sent += (double)way->slow_sent * left;
	sum->forward += (double)way->slow_forward * left;
	sum->reverse += (double)way->slow_reverse * left;
	sum->unknown += (double)way->slow_unknown * left;
	if (implied_ns(map, way->rack, now) > 0)
		sum->sent += way->rate * SLOW_NS / (double)RM_NS_PER_S * (1 - left);
}
