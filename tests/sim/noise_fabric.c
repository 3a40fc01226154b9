#include "tests/sim/noise_fabric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/localise/localise.h"

#define ROW_INTERVAL_S 10
#define PATH_BYTES 160
#define FLOWS 4 /* of a path */
#define JUDGED_PER_S 4
#define START_NS (1000 * RM_NS_PER_S)
#define WALL_NS INT64_C(1800000000000000000)

struct path {
	uint32_t src, dst, spine;
	double owed;
	uint32_t sent, forward, reverse; /* counts since the last row of the path */
	char text[PATH_BYTES];
};

struct place_counts { /* sums since the beginning of the stretch */
	uint32_t tried, lost;
};

struct noise_fabric {
	uint32_t racks, spines, places;
	double per_path, loss;
	struct path *paths; /* rack by rack */
	size_t paths_per_rack;
	struct place_counts *counts; /* by second + 1, place */
	struct wire_path_row *rows;
	struct wire_writer *writer;
	struct localise *localise;
	/* second of each path's last row */
	uint32_t reported_s[NOISE_FABRIC_MAX_RACKS];
	bool was_lossy[NOISE_FABRIC_MAX_RACKS];
	char names[NOISE_FABRIC_MAX_RACKS][16];
	uint64_t seq;
};

/* Number of places of one path: its two links, its spine, its two ToRs. */
#define PLACES_OF_PATH 5

static void
places_of(const struct noise_fabric *fabric, uint32_t from, uint32_t to, uint32_t spine,
    uint32_t places[PLACES_OF_PATH])
{
	const uint32_t links = 2 * fabric->racks * fabric->spines;

	places[0] = 2 * (from * fabric->spines + spine);
	places[1] = 2 * (to * fabric->spines + spine) + 1;
	places[2] = links + spine;
	places[3] = links + fabric->spines + from;
	places[4] = links + fabric->spines + to;
}

static struct place_counts *
counts_at(const struct noise_fabric *fabric, uint32_t second, uint32_t place)
{
	return &fabric->counts[(size_t)second * fabric->places + place];
}

static void
lay_paths(struct noise_fabric *fabric)
{
	struct path *path = fabric->paths;

	for (uint32_t src = 0; src < fabric->racks; src++) {
		snprintf(
		    fabric->names[src], sizeof fabric->names[src], "tor%u", src + 1);
		for (uint32_t dst = 0; dst < fabric->racks; dst++)
			for (uint32_t s = 0; s < fabric->spines && dst != src; s++) {
				*path =
				    (struct path){ .src = src, .dst = dst, .spine = s };
				snprintf(path->text, sizeof path->text,
				    "tor%u@10.0.%u.1 s%u@10.1.%u.%u tor%u@10.2.%u.%u",
				    src + 1, src + 1, s + 1, src + 1, s + 1, dst + 1,
				    s + 1, dst + 1);
				path++;
			}
	}
}

int
noise_fabric_new(uint32_t racks, uint32_t spines, double link_rate_per_s, double loss,
    struct noise_fabric **ret)
{
	struct noise_fabric *fabric = calloc(1, sizeof *fabric);

	if (fabric == NULL)
		return -ENOMEM;
	fabric->racks = racks;
	fabric->spines = spines;
	fabric->places = 2 * racks * spines + spines + racks;
	fabric->per_path = link_rate_per_s / (racks - 1);
	fabric->loss = loss;
	fabric->paths_per_rack = (size_t)(racks - 1) * spines;
	fabric->paths = calloc(racks * fabric->paths_per_rack, sizeof *fabric->paths);
	fabric->rows = calloc(fabric->paths_per_rack, sizeof *fabric->rows);
	fabric->counts = calloc(
	    (size_t)(NOISE_STRETCH_S + 1) * fabric->places, sizeof *fabric->counts);
	fabric->writer = wire_writer_new();
	if (fabric->paths == NULL || fabric->rows == NULL || fabric->counts == NULL ||
	    fabric->writer == NULL) {
		noise_fabric_free(fabric);
		return -ENOMEM;
	}
	lay_paths(fabric);
	*ret = fabric;
	return 0;
}

void
noise_fabric_free(struct noise_fabric *fabric)
{
	if (fabric == NULL)
		return;
	localise_free(fabric->localise);
	wire_writer_free(fabric->writer);
	free(fabric->paths);
	free(fabric->rows);
	free(fabric->counts);
	free(fabric);
}

/* ---- one second ------------------------------------------------------------------ */

/* Returns how many of this number of packets are lost in one direction. */
static uint32_t
send(struct noise_fabric *fabric, const struct noise_worse *worse, uint32_t second,
    uint32_t from, uint32_t to, uint32_t spine, uint32_t count, struct dice *dice)
{
	uint32_t places[PLACES_OF_PATH], lost = 0;
	double loss = fabric->loss;

	places_of(fabric, from, to, spine, places);
	for (size_t i = 0; i < PLACES_OF_PATH; i++)
		if (worse->loss > 0 && places[i] == worse->place &&
		    second >= worse->from_s && second < worse->to_s)
			loss = worse->loss;
	for (uint32_t i = 0; i < count; i++)
		lost += dice_share(dice) < loss;
	for (size_t i = 0; i < PLACES_OF_PATH; i++) {
		struct place_counts *counts = counts_at(fabric, second + 1, places[i]);

		counts->tried += count;
		counts->lost += lost;
	}
	return lost;
}

/* Returns the number of lost packets. */
static uint32_t
probe(struct noise_fabric *fabric, const struct noise_worse *worse, uint32_t second,
    struct path *p, struct dice *dice)
{
	uint32_t sent, out, back;

	p->owed += fabric->per_path;
	sent = (uint32_t)p->owed;
	p->owed -= sent;
	out = send(fabric, worse, second, p->src, p->dst, p->spine, sent, dice);
	back = send(fabric, worse, second, p->dst, p->src, p->spine, sent - out, dice);
	p->sent += sent;
	p->forward += out;
	p->reverse += back;
	return out + back;
}

static void
fill_rows(struct noise_fabric *fabric, uint32_t rack, struct wire_summary *summary)
{
	for (size_t i = 0; i < fabric->paths_per_rack; i++) {
		struct path *p = &fabric->paths[rack * fabric->paths_per_rack + i];

		if (p->sent == 0)
			continue;
		fabric->rows[summary->path_count++] =
		    (struct wire_path_row){ .dst_tor = fabric->names[p->dst],
			    .path = p->text,
			    .sent = p->sent,
			    .lost_forward = p->forward,
			    .lost_reverse = p->reverse,
			    .flows = FLOWS,
			    .samples = "" };
		p->sent = p->forward = p->reverse = 0;
	}
	summary->paths = fabric->rows;
}

/* Sends rows as an aggregator does: every interval, and every second while packets are
 * lost. */
static int
summarise(struct noise_fabric *fabric, uint32_t rack, uint32_t second, bool lossy)
{
	const uint64_t end = (uint64_t)(WALL_NS + (second + 1) * RM_NS_PER_S);
	struct wire_summary summary = { .head = { fabric->names[rack], "sim", 1,
					    ++fabric->seq },
		.tor = fabric->names[rack],
		.start_wall_ns = end - (uint64_t)RM_NS_PER_S,
		.end_wall_ns = end,
		.paths_start_wall_ns =
		    (uint64_t)(WALL_NS + fabric->reported_s[rack] * RM_NS_PER_S) };
	struct wire_summary_view view;
	struct wire_bytes bytes;
	int r;

	if (lossy || fabric->was_lossy[rack] ||
	    second + 1 - fabric->reported_s[rack] >= ROW_INTERVAL_S) {
		fill_rows(fabric, rack, &summary);
		fabric->reported_s[rack] = second + 1;
	}
	fabric->was_lossy[rack] = lossy;
	r = wire_write_summary(fabric->writer, &summary, &bytes);
	if (r == 0)
		r = wire_open_summary(&view, bytes.data, bytes.len);
	return r < 0 ? r
		     : localise_summary(fabric->localise, &view,
			   (rm_mono_t){ START_NS + (second + 1) * RM_NS_PER_S });
}

/* Returns the number of named parts, or -ENOMEM. */
static int
judge(struct noise_fabric *fabric, uint32_t second)
{
	int named = 0;

	for (int i = 0; i < JUDGED_PER_S && named >= 0; i++) {
		const int64_t now_ns =
		    (second + 1) * RM_NS_PER_S + i * (RM_NS_PER_S / JUDGED_PER_S);
		const struct rm_verdict *verdicts;

		named =
		    localise_judge(fabric->localise, (rm_mono_t){ START_NS + now_ns },
			(rm_wall_t){ WALL_NS + now_ns }, &verdicts);
	}
	return named;
}

/* ---- a stretch ------------------------------------------------------------------- */

static int
begin(struct noise_fabric *fabric, struct dice *dice)
{
	const struct localise_options options = { "sim", ROW_INTERVAL_S * RM_NS_PER_S };

	localise_free(fabric->localise);
	fabric->localise = NULL;
	fabric->seq = 0;
	memset(fabric->counts, 0, fabric->places * sizeof *fabric->counts);
	memset(fabric->reported_s, 0, sizeof fabric->reported_s);
	memset(fabric->was_lossy, 0, sizeof fabric->was_lossy);
	for (size_t i = 0; i < fabric->racks * fabric->paths_per_rack; i++) {
		struct path *p = &fabric->paths[i];

		p->sent = p->forward = p->reverse = 0;
		p->owed = dice_share(dice);
	}
	return localise_new(&options, &fabric->localise);
}

static int
pass_second(struct noise_fabric *fabric, const struct noise_worse *worse,
    uint32_t second, struct dice *dice)
{
	int r = 0;

	memcpy(counts_at(fabric, second + 1, 0), counts_at(fabric, second, 0),
	    fabric->places * sizeof *fabric->counts);
	for (uint32_t rack = 0; rack < fabric->racks && r == 0; rack++) {
		struct path *paths = &fabric->paths[rack * fabric->paths_per_rack];
		uint32_t lost = 0;

		for (size_t i = 0; i < fabric->paths_per_rack; i++)
			lost += probe(fabric, worse, second, &paths[i], dice);
		r = summarise(fabric, rack, second, lost > 0);
	}
	return r < 0 ? r : judge(fabric, second);
}

static int
run(void *arg, const struct noise_worse *worse, uint32_t counted_from_s,
    struct dice *dice)
{
	struct noise_fabric *fabric = arg;
	bool before = false;
	int openings = 0, r = begin(fabric, dice);

	for (uint32_t second = 0; second < NOISE_STRETCH_S && r >= 0; second++) {
		r = pass_second(fabric, worse, second, dice);
		openings += r > 0 && !before && second >= counted_from_s;
		before = r > 0;
	}
	return r < 0 ? r : openings;
}

static void
met(const void *arg, uint32_t place, uint32_t from_s, uint32_t to_s, uint64_t *tried,
    uint64_t *lost)
{
	const struct place_counts *from = counts_at(arg, from_s, place),
				  *to = counts_at(arg, to_s, place);

	*tried = to->tried - from->tried;
	*lost = to->lost - from->lost;
}

struct noise_subject
noise_fabric_subject(struct noise_fabric *fabric)
{
	return (struct noise_subject){ .places = fabric->places,
		.racks = fabric->racks,
		.run = run,
		.met = met,
		.arg = fabric };
}
