#include "tests/bench/sim_region.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/judge/part.h"

#define POD_RACKS SIM_REGION_POD_RACKS
#define MIDDLES 8 /* switches of a pod above its ToRs */
#define UPLINKS 8 /* uplinks of each of them, to as many cores */
#define CORES (MIDDLES * UPLINKS)
/* none of its links has a fault of its own: nobody could see it */
#define DEAD_CORE 5
#define PEERS 16     /* racks that a rack probes */
#define NEAR_PEERS 2 /* number of peers in its own pod */
#define PATHS 4      /* to each of them */
#define CLASSES 2
#define FLOWS 2 /* of a path */
#define ROWS (PEERS * PATHS * CLASSES)
#define PATH_BYTES 256
#define NAME_BYTES 32
#define HOPS 9 /* five switches and four links at most */
#define START_NS (1000 * RM_NS_PER_S)
#define WALL_NS (INT64_C(1700000000) * RM_NS_PER_S)
#define NOISE 1e-5
#define ANY_CLASS CLASSES
#define KINDS 20 /* kinds of faults, which follow each other */

static const uint8_t dscps[CLASSES] = { 26, 0 };
/* probes per second of a path: 240 of a rack on eight uplinks */
static const uint64_t rates[CLASSES] = { 3, 1 };

/* Each loses a share of each class. Directed links: up is from the lower tier. */
enum place { TOR, MIDDLE, CORE, TOR_UP, TOR_DOWN, MIDDLE_UP, MIDDLE_DOWN, PLACES };

struct path {
	uint32_t src, dst;
	uint8_t middle, uplink;           /* the core is middle * UPLINKS + uplink */
	uint8_t back_middle, back_uplink; /* of the replies */
};

struct rack {
	bool was_lossy;
	uint64_t rows_from_s; /* the rows before cover the time until then */
	uint64_t seq;
	uint64_t sent[PEERS * PATHS * CLASSES]; /* since then */
};

struct sim_region {
	struct sim_region_options options;
	size_t pods;
	float (*loss[PLACES])[CLASSES];
	struct path *paths; /* paths of all racks, one rack after another */
	struct rack *racks;
	char (*faults)[RM_PART_NAME_BYTES];
	size_t fault_count;
	uint64_t step, random;
	size_t next_rack;
	struct wire_writer *writer;
	struct wire_path_row rows[ROWS];
	char texts[ROWS][PATH_BYTES], names[ROWS][NAME_BYTES],
	    samples[ROWS][PATH_BYTES];
};

/* The last step of splitmix64: pseudo-random numbers, the same in each run. */
static uint64_t
mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static uint64_t
draw(struct sim_region *region)
{
	region->random += UINT64_C(0x9e3779b97f4a7c15);
	return mix(region->random);
}

static double
chance(struct sim_region *region)
{
	return (double)(draw(region) >> 11) / (double)(UINT64_C(1) << 53);
}

/* ---- the fabric ---- */

static size_t
pod_of(size_t tor)
{
	return tor / POD_RACKS;
}

/* The elements of a path from src to dst: where each is, and its index there. */
static size_t
elements_of(size_t src, size_t dst, size_t middle, size_t uplink,
    enum place places[HOPS], size_t at[HOPS])
{
	const size_t up = pod_of(src) * MIDDLES + middle,
		     down = pod_of(dst) * MIDDLES + middle;
	size_t n = 0;

	places[n] = TOR, at[n++] = src;
	places[n] = TOR_UP, at[n++] = src * MIDDLES + middle;
	places[n] = MIDDLE, at[n++] = up;
	if (up != down) {
		places[n] = MIDDLE_UP, at[n++] = up * UPLINKS + uplink;
		places[n] = CORE, at[n++] = middle * UPLINKS + uplink;
		places[n] = MIDDLE_DOWN, at[n++] = down * UPLINKS + uplink;
		places[n] = MIDDLE, at[n++] = down;
	}
	places[n] = TOR_DOWN, at[n++] = dst * MIDDLES + middle;
	places[n] = TOR, at[n++] = dst;
	return n;
}

static void
add_peer(struct sim_region *region, size_t src, size_t dst, size_t first_middle,
    struct path *paths)
{
	for (size_t i = 0; i < PATHS; i++) {
		const uint64_t r = draw(region);

		paths[i] = (struct path){ (uint32_t)src, (uint32_t)dst,
			/* Flows are chosen so that the flows from a rack, and those to
			 * a rack, use all uplinks equally. */
			(uint8_t)((first_middle + i * MIDDLES / PATHS) % MIDDLES),
			(uint8_t)(r % UPLINKS), (uint8_t)(r / UPLINKS % MIDDLES),
			(uint8_t)(r / CORES % UPLINKS) };
	}
}

static void
add_paths(struct sim_region *region, size_t src)
{
	const size_t racks = region->options.racks, pod = pod_of(src) * POD_RACKS;
	struct path *paths = region->paths + src * PEERS * PATHS;

	for (size_t i = 0; i < PEERS; i++)
		add_peer(region, src,
		    i < NEAR_PEERS
			? pod + (src - pod + 1 + i * 7) % POD_RACKS
			: (src + POD_RACKS + (i - NEAR_PEERS) * (racks / 17 + 1)) %
			      racks,
		    src + i, paths + i * PATHS);
}

/* ---- faults ---- */

static void
set_loss(
    struct sim_region *region, enum place place, size_t at, size_t class, double loss)
{
	for (size_t c = 0; c < CLASSES; c++)
		if (class == ANY_CLASS || class == c)
			region->loss[place][at][c] = (float)loss;
}

static void
tor_name(size_t tor, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "tor%zu", tor + 1);
}

static void
middle_name(size_t middle, char name[NAME_BYTES])
{
	snprintf(
	    name, NAME_BYTES, "agg%zu-%zu", middle / MIDDLES + 1, middle % MIDDLES + 1);
}

static void
core_name(size_t core, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "core%zu", core + 1);
}

static void
add_fault(struct sim_region *region, const char *a, const char *b)
{
	snprintf(region->faults[region->fault_count++], RM_PART_NAME_BYTES, "%s%s%s", a,
	    b != NULL ? "--" : "", b != NULL ? b : "");
}

/* both: in both directions, or only down. */
static void
break_tor_link(struct sim_region *region, size_t tor, size_t middle, size_t class,
    double loss, bool both)
{
	char name[NAME_BYTES], other[NAME_BYTES];

	set_loss(region, TOR_DOWN, tor * MIDDLES + middle, class, loss);
	if (both)
		set_loss(region, TOR_UP, tor * MIDDLES + middle, class, loss);
	tor_name(tor, name);
	middle_name(pod_of(tor) * MIDDLES + middle, other);
	add_fault(region, other, name);
}

static void
break_core_link(
    struct sim_region *region, size_t middle, size_t uplink, double loss, bool both)
{
	char name[NAME_BYTES], other[NAME_BYTES];

	set_loss(region, MIDDLE_UP, middle * UPLINKS + uplink, ANY_CLASS, loss);
	if (both)
		set_loss(
		    region, MIDDLE_DOWN, middle * UPLINKS + uplink, ANY_CLASS, loss);
	middle_name(middle, name);
	core_name(middle % MIDDLES * UPLINKS + uplink, other);
	add_fault(region, name, other);
}

static void
break_switch(
    struct sim_region *region, enum place place, size_t at, size_t class, double loss)
{
	char name[NAME_BYTES];

	set_loss(region, place, at, class, loss);
	(place == TOR ? tor_name : place == MIDDLE ? middle_name : core_name)(at, name);
	add_fault(region, name, NULL);
}

/* The nth fault. The racks of the faults are spread over the region. */
static void
break_nth(struct sim_region *region, size_t nth)
{
	const size_t kind = nth % KINDS, racks = region->options.racks;
	const size_t tor =
	    (nth * racks / region->options.faults + (nth * 7) % POD_RACKS) % racks;
	const size_t m = nth / KINDS * 3 % MIDDLES, u = (nth / KINDS + kind) % UPLINKS;
	const size_t middle = pod_of(tor) * MIDDLES + m;
	const double share = 0.02 * (double)(1 + nth % 10);

	switch (kind) {
	case 0:
	case 1:
	case 2:
		break_tor_link(region, tor, m, ANY_CLASS, 1, kind > 0);
		break;
	case 3:
	case 4:
	case 5:
		break_tor_link(region, tor, m, ANY_CLASS, share, false);
		break;
	case 6:
	case 7:
		break_tor_link(region, tor, m, 0, kind == 6 ? 1 : 0.3, false);
		break;
	case 8:
		break_core_link(region, middle, u, 1, true);
		break;
	case 9:
		break_core_link(region, middle, u, share, false);
		break;
	case 10: /* two links of one switch */
		break_tor_link(region, tor, m, ANY_CLASS, 1, true);
		break_tor_link(region,
		    pod_of(tor) * POD_RACKS +
			(tor - pod_of(tor) * POD_RACKS + 9) % POD_RACKS,
		    m, ANY_CLASS, 1, true);
		break;
	case 11:
		break; /* the second one of 10 */
	case 12:
		break_switch(region, TOR, tor, ANY_CLASS, 1);
		break;
	case 13:
		break_switch(region, TOR, tor, ANY_CLASS, 0.2);
		break;
	case 14:
		break_switch(region, TOR, tor, 0, 1);
		break;
	case 15:
		break_switch(region, MIDDLE, middle, ANY_CLASS, 1);
		break;
	case 16:
		break_switch(region, MIDDLE, middle, ANY_CLASS, 0.1);
		break;
	case 17:
		break_switch(region, MIDDLE, middle, 0, 1);
		break;
	case 18:
		break_tor_link(region, tor, m, ANY_CLASS, 0.01, false);
		break;
	default:
		break_core_link(region, middle, u, 0.01, false);
	}
}

const char *
sim_region_fault(const struct sim_region *region, size_t nth)
{
	return nth < region->fault_count ? region->faults[nth] : NULL;
}

/* ---- its life ---- */

int
sim_region_new(const struct sim_region_options *options, struct sim_region **ret)
{
	struct sim_region *region = calloc(1, sizeof *region);
	const size_t racks = options->racks / POD_RACKS * POD_RACKS;
	const size_t middles = racks / POD_RACKS * MIDDLES;
	const size_t counts[PLACES] = { [TOR] = racks,
		[MIDDLE] = middles,
		[CORE] = CORES,
		[TOR_UP] = racks * MIDDLES,
		[TOR_DOWN] = racks * MIDDLES,
		[MIDDLE_UP] = middles * UPLINKS,
		[MIDDLE_DOWN] = middles * UPLINKS };
	bool full;

	if (region == NULL)
		return -ENOMEM;
	region->options = *options;
	region->options.racks = racks;
	region->random = 1;
	region->writer = wire_writer_new();
	region->paths = calloc(racks * PEERS * PATHS, sizeof *region->paths);
	region->racks = calloc(racks, sizeof *region->racks);
	region->faults = calloc(options->faults + 2, sizeof *region->faults);
	full = racks > 2 * POD_RACKS && region->writer != NULL &&
	       region->paths != NULL && region->racks != NULL && region->faults != NULL;
	for (size_t i = 0; full && i < PLACES; i++) {
		region->loss[i] = calloc(counts[i], sizeof *region->loss[i]);
		full = region->loss[i] != NULL;
	}
	if (!full) {
		sim_region_free(region);
		return -ENOMEM;
	}
	for (size_t i = 0; i < racks; i++)
		add_paths(region, i);
	for (size_t i = 0; i < options->faults; i++)
		break_nth(region, i);
	if (options->core)
		break_switch(region, CORE, DEAD_CORE, ANY_CLASS, 1);
	*ret = region;
	return 0;
}

void
sim_region_free(struct sim_region *region)
{
	if (region == NULL)
		return;
	wire_writer_free(region->writer);
	for (size_t i = 0; i < PLACES; i++)
		free(region->loss[i]);
	free(region->paths);
	free(region->racks);
	free(region->faults);
	free(region);
}

/* ---- rows ---- */

static uint64_t
second(const struct sim_region *region)
{
	return region->step / SIM_REGION_STEPS;
}

rm_mono_t
sim_region_now(const struct sim_region *region)
{
	return (
	    rm_mono_t){ START_NS + (int64_t)(region->step + 1) * SIM_REGION_STEP_NS };
}

rm_wall_t
sim_region_wall(const struct sim_region *region)
{
	return (rm_wall_t){ WALL_NS + sim_region_now(region).ns };
}

static double
share_lost(const struct sim_region *region, size_t src, size_t dst, size_t middle,
    size_t uplink, size_t class)
{
	enum place places[HOPS];
	size_t at[HOPS];
	const size_t n = elements_of(src, dst, middle, uplink, places, at);
	double kept = 1 - NOISE;

	for (size_t i = 0; second(region) >= region->options.faults_from_s && i < n;
	     i++)
		kept *= 1 - (double)region->loss[places[i]][at[i]][class];
	return 1 - kept;
}

static uint64_t
draw_lost(struct sim_region *region, uint64_t sent, double share)
{
	uint64_t lost = 0;

	if (share <= 2 * NOISE)
		return chance(region) < (double)sent * share;
	for (uint64_t i = 0; i < sent; i++)
		lost += chance(region) < share;
	return lost;
}

static uint64_t
lost_of(const struct wire_path_row *row)
{
	return row->lost_forward + row->lost_reverse + row->lost_unknown;
}

static void
lose(struct sim_region *region, const struct path *path, size_t class, uint64_t sent,
    struct wire_path_row *row)
{
	uint64_t lost;

	row->lost_forward = draw_lost(region, sent,
	    share_lost(
		region, path->src, path->dst, path->middle, path->uplink, class));
	row->lost_reverse = draw_lost(region, sent - row->lost_forward,
	    share_lost(region, path->dst, path->src, path->back_middle,
		path->back_uplink, class));
	lost = lost_of(row);
	if (lost == 0)
		return;
	row->flows_silent = lost == sent ? FLOWS : 0;
	row->flows_dead = lost == sent && sent >= 2 ? (uint32_t)(sent / 2) : 0;
	row->flows_partial = lost == sent ? 0 : (uint32_t)(lost < FLOWS ? lost : FLOWS);
}

static void
write_path(const struct path *path, char text[PATH_BYTES])
{
	const size_t up = pod_of(path->src) * MIDDLES + path->middle,
		     down = pod_of(path->dst) * MIDDLES + path->middle,
		     core = (size_t)path->middle * UPLINKS + path->uplink;
	char names[5][NAME_BYTES];

	tor_name(path->src, names[0]);
	middle_name(up, names[1]);
	core_name(core, names[2]);
	middle_name(down, names[3]);
	tor_name(path->dst, names[4]);
	if (up == down) {
		snprintf(text, PATH_BYTES, "%s@10.0.0.1 %s@10.1.%u.%u %s@10.2.%u.%u",
		    names[0], names[1], path->src % POD_RACKS, path->middle, names[4],
		    path->dst % POD_RACKS, path->middle);
		return;
	}
	snprintf(text, PATH_BYTES,
	    "%s@10.0.0.1 %s@10.1.%u.%u %s@10.3.%zu.%u %s@10.4.%u.%u %s@10.2.%u.%u",
	    names[0], names[1], path->src % POD_RACKS, path->middle, names[2], up % 256,
	    path->uplink, names[3], path->uplink, path->middle, names[4],
	    path->dst % POD_RACKS, path->middle);
}

/* It is not known where probes were lost to a rack from which nothing comes back. */
static void
forget_direction(struct wire_path_row *rows)
{
	uint64_t sent = 0, lost = 0;

	for (size_t i = 0; i < PATHS * CLASSES; i++) {
		sent += rates[i % CLASSES];
		lost += lost_of(&rows[i]);
	}
	for (size_t i = 0; lost == sent && i < PATHS * CLASSES; i++) {
		rows[i].lost_unknown = lost_of(&rows[i]);
		rows[i].lost_forward = rows[i].lost_reverse = 0;
	}
}

/* Adds a second of probes to the rows. True: some were lost. */
static bool
probe(struct sim_region *region, size_t number)
{
	const struct path *paths = region->paths + number * PEERS * PATHS;
	struct rack *rack = &region->racks[number];
	bool lossy = false;

	for (size_t i = 0; i < ROWS; i++) {
		const size_t class = i % CLASSES;
		struct wire_path_row *row = &region->rows[i];

		*row = (struct wire_path_row){ .dscp = dscps[class], .flows = FLOWS };
		lose(region, &paths[i / CLASSES], class, rates[class], row);
		rack->sent[i] += rates[class];
		lossy |= lost_of(row) > 0;
	}
	for (size_t i = 0; i < PEERS; i++)
		forget_direction(region->rows + i * PATHS * CLASSES);
	return lossy;
}

static void
fill_rows(struct sim_region *region, size_t number)
{
	struct rack *rack = &region->racks[number];

	for (size_t i = 0; i < ROWS; i++) {
		const struct path *path =
		    &region->paths[number * PEERS * PATHS + i / CLASSES];
		struct wire_path_row *row = &region->rows[i];

		if (i % CLASSES == 0) {
			write_path(path, region->texts[i]);
			tor_name(path->dst, region->names[i]);
		}
		row->path = region->texts[i / CLASSES * CLASSES];
		row->dst_tor = region->names[i / CLASSES * CLASSES];
		row->sent = rack->sent[i];
		row->timed = row->sent - lost_of(row);
		row->samples = region->samples[i];
		region->samples[i][0] = '\0';
		if (lost_of(row) > 0)
			snprintf(region->samples[i], PATH_BYTES,
			    "h%u-%zu/r0>h%u-%zu/r0:%zu", path->src, i % 16, path->dst,
			    (number + i) % 16, 49152 + i);
		rack->sent[i] = 0;
	}
}

/* The summary of the second that ends now. */
static int
write_summary(struct sim_region *region, size_t number, struct wire_bytes *ret)
{
	struct rack *rack = &region->racks[number];
	const int64_t end = sim_region_now(region).ns;
	const uint64_t end_wall = (uint64_t)sim_region_wall(region).ns;
	const bool lossy = probe(region, number);
	char name[NAME_BYTES], sender[NAME_BYTES];
	struct wire_summary summary = {
		.head = { sender, "r1", 77, ++rack->seq },
		.tor = name,
		.start_wall_ns = end_wall - (uint64_t)RM_NS_PER_S,
		.end_wall_ns = end_wall,
		.end_ns = (uint64_t)end,
		.paths_start_wall_ns =
		    end_wall -
		    (second(region) + 1 - rack->rows_from_s) * (uint64_t)RM_NS_PER_S,
	};

	tor_name(number, name);
	snprintf(sender, sizeof sender, "agg-%zu", number);
	if (lossy || rack->was_lossy ||
	    second(region) + 1 - rack->rows_from_s >= SIM_REGION_ROW_S ||
	    (rack->rows_from_s == 0 &&
		second(region) >= number / SIM_REGION_STEPS % SIM_REGION_ROW_S)) {
		fill_rows(region, number);
		summary.paths = region->rows;
		summary.path_count = ROWS;
		rack->rows_from_s = second(region) + 1;
	}
	rack->was_lossy = lossy;
	return wire_write_summary(region->writer, &summary, ret);
}

int
sim_region_next(struct sim_region *region, struct wire_bytes *ret)
{
	const size_t phase = region->step % SIM_REGION_STEPS;
	const size_t number = region->next_rack * SIM_REGION_STEPS + phase;

	if (number >= region->options.racks) {
		region->next_rack = 0;
		region->step++;
		return -ENOENT;
	}
	region->next_rack++;
	return write_summary(region, number, ret);
}
