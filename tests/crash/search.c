#include "tests/crash/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/loop/loop.h"
#include "tests/crash/choices.h"
#include "tests/crash/disk.h"
#include "tests/crash/image.h"
#include "tests/crash/recorder.h"
#include "tests/crash/seen.h"

/* A search of at least this many states tries every point, with more states each. */
#define MANY 100000
#define ONE_POINT_IN 10 /* otherwise one of this many points is tried */
/* If a point has fewer states than this times the drawn ones, all are tried. */
#define ALL_OF_A_POINT 6
#define DRAWN_PER_POINT 64 /* for points with many states; else the next one */
#define DRAWN_PER_POINT_OF_FEW 16
#define DRAWN_IN_RECOVERY 12
#define ONE_RECOVERY_IN 120 /* one of this many starts crashes again */
#define PATIENCE 3          /* retries, in case another process delayed us */
#define MAX_PATH 128

struct search {
	const struct search_options *options;
	struct search_counts *counts;
	struct rm_loop *loop;
	char root[MAX_PATH], folder[MAX_PATH + 8];
	uint64_t seed, random;
	/* The images seen so far; and the pairs of an image and its requirements. */
	struct seen images, demands;
	struct image image;
};

struct point { /* a point of a workload, or of a start after a crash */
	const struct trace *trace;
	const struct oracle *oracle;
	size_t when;
	uint64_t demand;
	unsigned depth; /* number of crashes before this one */
	const struct disk *disk;
};

static void explore(struct search *search, const struct image *before,
    const struct trace *trace, const struct oracle *oracle, unsigned depth);

static bool
enough(const struct search *search)
{
	return search->counts->distinct >= search->options->states ||
	       life_fault_count(&search->counts->faults) > search->options->faults;
}

static void
life_make(struct search *search, struct oracle *oracle, const struct trace *trace,
    struct life_faults *faults, struct life *ret)
{
	*ret = (struct life){
		.loop = search->loop, .oracle = oracle, .trace = trace, .faults = faults
	};
	workload_options(search->seed, &ret->options);
	ret->options.folder = search->folder;
}

static void
report(const struct search *search, const struct point *point, const struct life *life)
{
	size_t from = point->when < 12 ? 0 : point->when - 12;

	if (!search->options->loud)
		return;
	printf("%s\n  workload %llu, after call %zu%s\n", life->faults->first,
	    (unsigned long long)search->seed, point->when,
	    point->depth > 0 ? " of the start after a crash" : "");
	trace_print(point->trace, from, point->when);
	image_print(&search->image);
}

/* Starts a spool on one state. recorded: keeps the trace of the start. */
static void
try_once(struct search *search, const struct point *point, struct oracle *oracle,
    struct trace *trace, bool recorded, struct life_faults *faults)
{
	struct life life;

	life_make(search, oracle, trace, faults, &life);
	life_hold_timers(false);
	image_write(&search->image, search->folder);
	oracle_after(point->oracle, point->when, oracle);
	if (recorded)
		recorder_begin(search->root, search->folder, &search->image, trace);
	if (life_start(&life) == 0) {
		life_turn(&life);
		life_works(&life);
		if (recorded && rm_spool_waiting(life.spool) > 3)
			life_done(&life, rm_spool_next(life.spool) - 4);
		if (recorded)
			life_works(&life);
		life_stop(&life);
	}
	recorder_end();
	image_remove(search->folder);
	if (life.slowest_ns > search->counts->slowest_ns)
		search->counts->slowest_ns = life.slowest_ns;
	if (life_fault_count(faults) > faults->slow)
		report(search, point, &life);
}

static void
add_faults(struct life_faults *to, const struct life_faults *from)
{
	to->lost += from->lost;
	to->invented += from->invented;
	to->altered += from->altered;
	to->disordered += from->disordered;
	to->refused += from->refused;
	to->slow += from->slow;
	to->stuck += from->stuck;
	to->numbers += from->numbers;
	if (to->first[0] == '\0')
		memcpy(to->first, from->first, sizeof(to->first));
}

static void
try_image(struct search *search, const struct point *point)
{
	bool deep =
	    point->depth == 0 && choices_random(&search->random) % ONE_RECOVERY_IN == 0;
	struct life_faults faults = { 0 };
	struct oracle oracle = { 0 };
	struct trace trace = { 0 };

	search->counts->tried++;
	for (int i = 0; i < PATIENCE; i++) {
		faults = (struct life_faults){ 0 };
		trace_clear(&trace);
		try_once(search, point, &oracle, &trace, deep, &faults);
		if (faults.slow == 0)
			break;
	}
	add_faults(&search->counts->faults, &faults);
	if (deep && life_fault_count(&faults) == 0) {
		struct image before = { 0 };

		image_copy(&before, &search->image);
		explore(search, &before, &trace, &oracle, point->depth + 1);
		image_clear(&before);
	}
	trace_clear(&trace);
	oracle_clear(&oracle);
}

static void
look_at(struct search *search, const struct point *point, struct choices *choices)
{
	size_t grain =
	    choices->drawn && choices_random(&search->random) % 2 == 0 ? 4096 : 512;
	uint64_t hash;

	disk_image(point->disk, choices, grain, &search->image);
	hash = image_hash(&search->image);
	if (!seen_add(&search->demands, hash * 31 + point->demand))
		return;
	if (seen_add(&search->images, hash)) {
		search->counts->distinct++;
		search->counts->in_recovery += point->depth > 0;
	}
	try_image(search, point);
}

static void
explore_point(struct search *search, const struct point *point)
{
	static struct choices one[2];
	struct choices *choices = &one[point->depth];
	size_t decisions, most;

	if (point->depth == 0 && search->options->states < MANY &&
	    choices_random(&search->random) % ONE_POINT_IN != 0)
		return;
	search->counts->points++;
	choices_all(choices);
	look_at(search, point, choices);
	most = point->depth > 0                  ? DRAWN_IN_RECOVERY
	       : search->options->states >= MANY ? DRAWN_PER_POINT
						 : DRAWN_PER_POINT_OF_FEW;
	if (choices->rows <= most * (point->depth > 0 ? 1 : ALL_OF_A_POINT)) {
		search->counts->exhausted++;
		while (!enough(search) && choices_next(choices))
			look_at(search, point, choices);
		return;
	}
	decisions = choices->used;
	for (size_t i = 0; i < most && !enough(search); i++) {
		choices_draw(choices, &search->random, decisions);
		look_at(search, point, choices);
	}
}

static void
explore(struct search *search, const struct image *before, const struct trace *trace,
    const struct oracle *oracle, unsigned depth)
{
	struct disk *disk = disk_new(before, trace);

	for (size_t when = 0; when <= trace->count && !enough(search); when++) {
		const struct point point = { trace, oracle, when,
			oracle_hash(oracle, when), depth, disk };

		explore_point(search, &point);
		if (when < trace->count)
			disk_apply(disk, &trace->ops[when]);
	}
	disk_free(disk);
}

static void
run_workload(struct search *search)
{
	struct search_counts *counts = search->counts;
	struct image before = { 0 };
	struct oracle oracle = { 0 };
	struct trace trace = { 0 };
	struct life life;

	life_make(search, &oracle, &trace, &counts->faults, &life);
	recorder_begin(search->root, search->folder, &before, &trace);
	workload_run(search->seed, &life, &counts->work);
	recorder_end();
	image_remove(search->folder);
	counts->workloads++;
	explore(search, &before, &trace, &oracle, 0);
	trace_clear(&trace);
	oracle_clear(&oracle);
}

void
search_run(
    const char *root, const struct search_options *options, struct search_counts *ret)
{
	static struct search search;

	memset(&search, 0, sizeof(search));
	*ret = (struct search_counts){ 0 };
	search.options = options;
	search.counts = ret;
	search.seed = options->first_seed;
	snprintf(search.root, sizeof(search.root), "%s", root);
	snprintf(search.folder, sizeof(search.folder), "%s/spool", root);
	if (rm_loop_new(&search.loop) < 0)
		abort();
	while (!enough(&search) &&
	       (options->workloads == 0 || ret->workloads < options->workloads)) {
		search.random = search.seed;
		run_workload(&search);
		search.seed++;
	}
	rm_loop_free(search.loop);
	image_clear(&search.image);
	free(search.images.slots);
	free(search.demands.slots);
}
