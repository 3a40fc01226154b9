#include "analyzer/paths/localise_bins.h"
#include "analyzer/paths/localise_listed.h"
#include "analyzer/paths/localise_map.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows that arrived longer ago do not count: while a rack has losses, it sends some
 * rows every second. */
#define FRESH_NS (2600 * RM_NS_PER_MS)
/* after this time without rows the rack's paths have no losses */
#define SILENT_NS (2 * RM_NS_PER_S)
/* a path without losses has a new row within this time */
#define CLEAN_NS (5 * RM_NS_PER_S)
/* for a path whose rack sends no rows, probes of this time count as sent */
#define IMPLIED_NS (1500 * RM_NS_PER_MS)
#define WHOLE_SHARE 0.5F /* share of the flows with losses that lose all packets */
#define MAX_SAMPLES 8    /* maximum number of lost flows that one row names */
/* least share of the row's probes that is lost in a sudden fault */
#define SUDDEN_SHARE 0.3
/* Rows that arrive within this time after other rows were delayed together with these.
 */
#define TOGETHER_NS (500 * RM_NS_PER_MS)

void
localise_map_frame(
    struct localise_rack *rack, rm_wall_t end, int64_t late_ns, rm_mono_t now)
{
	const uint32_t before = rack->frame & 1;

	if (rack->frame > 0 && late_ns < rack->frame_late[before] &&
	    rm_mono_since(now, rack->frame_came[before]) < TOGETHER_NS)
		late_ns = rack->frame_late[before];
	rack->frame++;
	rack->frame_late[rack->frame & 1] = late_ns;
	if (rack->lossy + 1 != rack->frame)
		rack->first = rack->frame;
	rack->frame_end[rack->frame & 1] = end;
	rack->frame_came[rack->frame & 1] = now;
}

/* Returns the number of probes sent in the part of the row's time that has the losses,
 * or in one second if there is no loss. The first row with losses may cover many
 * seconds before the first loss, and a row without losses covers even more: this makes
 * all rows comparable with the rows of a single second. */
static float
sent_in_window(uint64_t sent, uint64_t lost, int64_t covered_ns, int64_t window_ns)
{
	const int64_t newest_ns = lost > 0 && window_ns > 0 ? window_ns : RM_NS_PER_S;
	double share = 1;

	if (covered_ns > newest_ns)
		share = (double)newest_ns / (double)covered_ns;
	return (float)fmax((double)sent * share, (double)lost);
}

/* Returns the number of flows with losses, for an aggregator that does not report it. A
 * row names at most MAX_SAMPLES of them. If it names that many, the number is
 * estimated, as if each lost probe belonged to a random flow. */
static float
guess_hit(const struct wire_path_row *row, uint64_t lost)
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

struct flows_lost {
	float hit, gone, silent, partial; /* see localise_counts_seen */
};

/* Lossy flows are probed more often, so the share of lost packets does not show how
 * many flows lose all of them: the aggregator's counts of flows do. But a flow that
 * failed within the time of the row had replies before and counts as partial: therefore
 * gone is at least the share of lost packets. */
static struct flows_lost
count_flows(const struct wire_path_row *row, uint64_t lost, float sent)
{
	const double share = (double)lost / fmax((double)sent, 1);
	const float by_packets = (float)(share * row->flows);
	const float silent = (float)row->flows_silent;
	const float partial = (float)row->flows_partial;

	if (lost == 0)
		return (struct flows_lost){ 0 };
	if (silent + partial <= 0) {
		const float hit = guess_hit(row, lost);

		return (struct flows_lost){ hit, by_packets, fminf(by_packets, hit),
			hit - fminf(by_packets, hit) };
	}
	return (struct flows_lost){ (float)row->flows_dead + partial,
		fminf(fmaxf(by_packets, silent), silent + partial), silent, partial };
}

/* True: flows lose all their probes, or one row has large losses, which is found within
 * seconds. Such losses must not count as the losses of a slow fault. */
static bool
is_sudden(const struct wire_path_row *row, uint64_t lost, float hit)
{
	return (lost >= 2 && (double)lost >= SUDDEN_SHARE * (double)row->sent) ||
	       (row->flows_dead > 0 && (float)row->flows_dead >= WHOLE_SHARE * hit);
}

static uint16_t
plus(uint16_t have, uint64_t more)
{
	return more < (uint64_t)(UINT16_MAX - have) ? (uint16_t)(have + more)
						    : UINT16_MAX;
}

static void
add_class(struct localise_counts_seen *seen, const struct wire_path_row *row,
    uint64_t lost, float gone)
{
	for (size_t i = 0; i < LOCALISE_PATH_CLASSES && row->sent > 0; i++) {
		struct localise_class_seen *of = &seen->by_class[i];

		if (of->sent > 0 && of->dscp != row->dscp)
			continue;
		of->dscp = row->dscp;
		of->sent += (uint32_t)row->sent; /* as seen->all */
		of->lost = plus(of->lost, lost);
		of->gone += gone;
		return;
	}
}

/* Adds the row to the path's counts. Returns the number of lost and slow probes. */
static uint64_t
count_row(struct localise_map *map, struct localise_path *path,
    const struct wire_path_row *row, int64_t covered_ns, int64_t window_ns,
    rm_mono_t now)
{
	const uint64_t lost = row->lost_forward + row->lost_reverse + row->lost_unknown;
	struct localise_counts_seen *seen = &path->seen[path->rack->frame & 1];
	const float sent =
	    sent_in_window(row->sent, lost + row->slow, covered_ns, window_ns);
	const struct flows_lost flows = count_flows(row, lost, sent);

	if (seen->frame != path->rack->frame) {
		*seen = (struct localise_counts_seen){ .frame = path->rack->frame,
			.came = now };
		path->rate = 0;
	}
	seen->all += (uint32_t)row->sent;
	seen->sent += sent;
	seen->forward += (uint32_t)row->lost_forward;
	seen->reverse += (uint32_t)row->lost_reverse;
	seen->unknown += (uint32_t)row->lost_unknown;
	seen->flows += row->flows;
	seen->classes++;
	seen->dead += row->flows_dead;
	seen->hit += flows.hit;
	seen->gone += flows.gone;
	seen->silent += flows.silent;
	seen->partial += flows.partial;
	seen->timed += (float)row->timed * sent / fmaxf((float)row->sent, 1);
	seen->slow += (float)row->slow;
	seen->overdue += (float)row->overdue;
	seen->slow_s += (float)row->slow_ns / (float)RM_NS_PER_S;
	add_class(seen, row, lost, flows.gone);
	seen->large_sent += (float)row->large_sent;
	seen->large_lost += (float)row->large_lost;
	if (row->large_bytes > 0 &&
	    (seen->large_bytes == 0 || row->large_bytes < seen->large_bytes))
		seen->large_bytes = row->large_bytes;
	if (covered_ns > 0)
		path->rate +=
		    (double)row->sent * (double)RM_NS_PER_S / (double)covered_ns;
	path->row_at = now;
	localise_bins_note(path, lost > 0, covered_ns, path->lossy_at, now);
	if (localise_path_is_inside(path) || !is_sudden(row, lost, flows.hit))
		localise_bins_add(map, path, row, now);
	if (lost + row->slow + row->overdue == 0)
		return 0;
	path->lossy_at = now;
	if (lost > 0)
		path->rack->lossy = path->rack->frame;
	return lost + row->slow + row->overdue;
}

int
localise_map_row(struct localise_map *map, struct localise_path *path,
    const struct wire_path_row *row, int64_t covered_ns, int64_t window_ns,
    rm_mono_t now)
{
	char *samples;

	if (count_row(map, path, row, covered_ns, window_ns, now) == 0)
		return 0;
	if (row->samples != NULL && row->samples[0] != '\0') {
		samples = strdup(row->samples);
		if (samples != NULL) {
			free(path->samples);
			path->samples = samples;
		}
	}
	return localise_list(map, path);
}

int
localise_map_inside_row(struct localise_map *map, struct localise_rack *rack,
    const struct wire_path_row *row, int64_t covered_ns, int64_t window_ns,
    rm_mono_t now)
{
	if (rack->inside == NULL) {
		rack->inside = calloc(1, sizeof *rack->inside);
		if (rack->inside == NULL)
			return -ENOMEM;
		rack->inside->rack = rack;
	}
	count_row(map, rack->inside, row, covered_ns, window_ns, now);
	return 0;
}

/* A rack without losses sends rows only once in a row interval. Returns for how long
 * the rack has sent no rows because of that. 0: its rows are recent, or it may have
 * lost its connection or all its probes. */
static int64_t
implied_ns(
    const struct localise_map *map, const struct localise_rack *rack, rm_mono_t now)
{
	const int64_t since = rm_mono_since(now, rack->frame_came[rack->frame & 1]);

	return rack->seen && rack->agents == LOCALISE_AGENTS_PROBE && !rack->doubted &&
		       since > SILENT_NS && since <= 5 * map->row_interval_ns / 2
		   ? since
		   : 0;
}

/* A flow takes the same path in all of its classes (DSCPs), because switches select the
 * path by a hash of addresses and ports: this counts the flow once. */
static void
add_tuples(double flows, double gone, const struct localise_counts_seen *seen,
    struct localise_sum *sum)
{
	sum->tuples += flows / fmax(seen->classes, 1);
	sum->tuples_gone += gone / fmax(seen->classes, 1);
}

static struct localise_class_sum *
class_of_sum(struct localise_sum *sum, uint8_t dscp)
{
	for (size_t i = 0; i < LOCALISE_SUM_CLASSES; i++)
		if (sum->by_class[i].sent <= 0 || sum->by_class[i].dscp == dscp)
			return &sum->by_class[i];
	return NULL;
}

/* sent: probes of all classes in these rows; each class has its share of it */
static void
add_classes(
    const struct localise_counts_seen *seen, double sent, struct localise_sum *sum)
{
	for (size_t i = 0; i < LOCALISE_PATH_CLASSES; i++) {
		const struct localise_class_seen *of = &seen->by_class[i];
		struct localise_class_sum *to;

		if (of->sent == 0)
			break;
		to = class_of_sum(sum, of->dscp);
		if (to == NULL)
			continue;
		to->dscp = of->dscp;
		to->sent += (float)(sent * fmin(of->sent / fmax(seen->all, 1), 1));
		to->lost += of->lost;
		to->gone += of->gone;
	}
}

/* share: the part of the losses that is returned; gone: flows that lost all their
 * probes */
static struct localise_sum
part_of_sum(const struct localise_sum *sum, double sent, double share, double gone)
{
	struct localise_sum ret = *sum;

	ret.forward *= share;
	ret.reverse *= share;
	ret.unknown *= share;
	ret.sent = fmax(sent, ret.forward + ret.reverse + ret.unknown);
	ret.tuples = fmin(sum->tuples, ret.sent);
	ret.tuples_gone = fmin(gone, ret.tuples);
	return ret;
}

struct localise_sum
localise_sum_of_class(
    const struct localise_sum *sum, uint8_t dscp, struct localise_sum *others)
{
	const double lost = sum->forward + sum->reverse + sum->unknown;
	struct localise_sum ret = *sum;
	const struct localise_class_sum *of = class_of_sum(&ret, dscp);
	double sent = 0, share = 0, gone = 0;

	if (of != NULL) {
		sent = fmin((double)of->sent, sum->sent);
		gone = (double)of->gone;
		share = lost > 0 ? fmin((double)of->lost / lost, 1) : 0;
	}
	if (others != NULL)
		*others = part_of_sum(
		    sum, sum->sent - sent, 1 - share, fmax(sum->gone - gone, 0));
	return part_of_sum(sum, sent, share, gone);
}

void
localise_sum_leave_out(struct localise_sum *sum, bool reverse, bool unknown)
{
	const double lost = sum->forward + sum->reverse + sum->unknown;
	const double out = (reverse ? sum->reverse : 0) + (unknown ? sum->unknown : 0);
	const float kept = lost > 0 ? (float)((lost - out) / lost) : 1;

	sum->sent -= out;
	if (reverse)
		sum->reverse = 0;
	if (unknown)
		sum->unknown = 0;
	for (size_t i = 0; i < LOCALISE_SUM_CLASSES; i++) {
		struct localise_class_sum *of = &sum->by_class[i];

		of->sent = fmaxf(of->sent - (1 - kept) * of->lost, 0);
		of->lost *= kept;
		of->gone *= kept;
	}
}

static void
add_seen(const struct localise_counts_seen *seen, bool newest, struct localise_sum *sum)
{
	/* `reverse` is left out: a probe whose reply was lost did arrive */
	const double lost = (double)seen->forward + seen->unknown;

	sum->sent += (double)seen->sent;
	sum->all += seen->all;
	sum->forward += seen->forward;
	sum->reverse += seen->reverse;
	sum->unknown += seen->unknown;
	add_classes(seen, (double)seen->sent, sum);
	if (!newest) {
		sum->older_lost += lost;
		return;
	}
	sum->newest_sent += (double)seen->sent;
	sum->flows += fmin(seen->flows, (double)seen->sent);
	sum->newest_lost += lost;
	sum->gone += (double)seen->gone;
	add_tuples(
	    fmin(seen->flows, (double)seen->sent), (double)seen->gone, seen, sum);
	if (lost < 1)
		return;
	sum->dead += seen->dead;
	sum->hit += (double)seen->hit;
}

const struct localise_counts_seen *
localise_path_row(const struct localise_path *path, uint32_t age, rm_mono_t now)
{
	const uint32_t frame = path->rack->frame - age;
	const struct localise_counts_seen *seen = &path->seen[frame & 1];

	return frame != 0 && seen->frame == frame &&
		       rm_mono_since(now, seen->came) <= FRESH_NS
		   ? seen
		   : NULL;
}

static void
add_frames(const struct localise_map *map, const struct localise_path *path,
    rm_mono_t now, uint32_t frames, struct localise_sum *sum)
{
	const struct localise_rack *rack = path->rack;

	const int64_t implied = implied_ns(map, rack, now);

	if (implied > 0) {
		const struct localise_counts_seen *seen = &path->seen[rack->frame & 1];

		/* a path with losses in its last row may not have been probed since: it
		 * does not count as good */
		if (seen->frame == rack->frame &&
		    seen->forward + seen->reverse + seen->unknown == 0) {
			const double sent =
			    path->rate * (double)IMPLIED_NS / (double)RM_NS_PER_S;

			sum->sent += sent;
			add_classes(seen, sent, sum);
			sum->flows += seen->flows;
			add_tuples(seen->flows, 0, seen, sum);
			sum->all += seen->all +
				    path->rate * (double)implied / (double)RM_NS_PER_S;
		}
		return;
	}
	for (uint32_t age = 0; age < frames; age++) {
		const struct localise_counts_seen *seen =
		    localise_path_row(path, age, now);

		if (seen == NULL)
			continue;
		add_seen(seen, age == 0, sum);
		if (seen->forward + seen->unknown == 0)
			continue;
		if (rack->frame_end[seen->frame & 1].ns > sum->lossy_end.ns)
			sum->lossy_end = rack->frame_end[seen->frame & 1];
		if (rack->frame_late[seen->frame & 1] > sum->late_ns)
			sum->late_ns = rack->frame_late[seen->frame & 1];
	}
}

/*
 * While a rack loses packets, its sets of rows do not contain all paths: lossy paths
 * are probed more often than others. Therefore the newest row of each path counts, even
 * if it is not of the newest set: otherwise lossy paths would outnumber the others.
 * Three kinds of rows are left out. Rows from before the losses began. Rows without
 * losses in the first set, because most of their time may be from before the losses
 * began. Rows with losses that are older than the newest two sets: their rack has found
 * an RNIC at fault, and leaves its losses out of newer rows.
 */
void
localise_path_newest(const struct localise_map *map, const struct localise_path *path,
    rm_mono_t now, struct localise_sum *sum)
{
	const struct localise_rack *rack = path->rack;
	const struct localise_counts_seen *seen =
	    &path->seen[path->seen[1].frame > path->seen[0].frame];
	const int64_t age = rm_mono_since(now, seen->came);

	if (rack->lossy != rack->frame || implied_ns(map, rack, now) > 0) {
		add_frames(map, path, now, 1, sum);
		return;
	}
	if (seen->frame < rack->first)
		return;
	if (seen->forward + seen->reverse + seen->unknown > 0) {
		if (seen->frame + 1 < rack->frame || age > FRESH_NS)
			return;
	} else if (age > CLEAN_NS ||
		   (seen->frame == rack->first && rack->frame > rack->first)) {
		return;
	}
	add_seen(seen, true, sum);
}

void
localise_path_recent(const struct localise_map *map, const struct localise_path *path,
    rm_mono_t now, struct localise_sum *sum)
{
	add_frames(map, path, now, 2, sum);
}

void
localise_path_late(const struct localise_map *map, const struct localise_path *path,
    rm_mono_t now, struct localise_sum *sum)
{
	const struct localise_counts_seen *last = &path->seen[path->rack->frame & 1];
	double newest = 0;

	if (implied_ns(map, path->rack, now) > 0) {
		if (last->frame == path->rack->frame && last->slow + last->overdue <= 0)
			sum->sent += path->rate * (double)IMPLIED_NS /
				     (double)RM_NS_PER_S * (double)last->timed /
				     fmax((double)last->sent, 1);
		return;
	}
	for (uint32_t age = 0; age < 2; age++) {
		const struct localise_counts_seen *seen =
		    localise_path_row(path, age, now);
		double late;

		if (seen == NULL)
			continue;
		late = (double)seen->slow + (double)seen->overdue;
		/* The newest set has late replies and the older set has none: the path
		 * has become late between the two sets, and only the newest one counts.
		 */
		if (late <= 0 && newest > 0)
			continue;
		newest += late;
		sum->sent += (double)seen->timed + (double)seen->overdue;
		sum->unknown += late;
		sum->slow_s += (double)seen->slow_s;
		if (late <= 0)
			continue;
		if (path->rack->frame_end[seen->frame & 1].ns > sum->lossy_end.ns)
			sum->lossy_end = path->rack->frame_end[seen->frame & 1];
		if (path->rack->frame_late[seen->frame & 1] > sum->late_ns)
			sum->late_ns = path->rack->frame_late[seen->frame & 1];
	}
}
