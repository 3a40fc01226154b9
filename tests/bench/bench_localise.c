/*
 * bench_localise - what the localisation costs per second of data, for regions of more
 * and more racks, with one fault per 100 racks: a curve. The largest region is measured
 * twice, the second time with a dead core besides: then all racks lose packets.
 *
 * The summaries of all racks, as bytes, go through the analyzer's own code: open,
 * localise_summary, and localise_judge every 250 ms. Only that code is timed.
 *
 * Yardstick of time: opening the summaries and reading every row once, which every
 * analyzer must do. Yardstick of memory: that of each rack in the smallest region.
 *
 *     --smoke        one small region only
 *     --racks N      this region only
 *     --faults N     so many faults
 *     --core         with a dead core
 *     --seconds N    of data with faults; default 40
 *     --names        also prints the names of the parts that were found, missed, or
 *                    named without a fault, and when
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/localise/localise.h"
#include "tests/bench/figure.h"
#include "tests/bench/sim_region.h"

#define RACKS_PER_FAULT 100
#define FAULTS_FROM_S 12
#define SECONDS 40
#define SMOKE_SECONDS 8
#define SMOKE_RACKS 250
#define MAX_NAMED 4096

struct costs { /* seconds of CPU time with faults */
	double read, rows, judgement;
	double worst_second, worst_judgement;
};

struct plan {
	size_t racks, faults;
	bool core, names;
	uint64_t seconds;
};

struct named {
	char part[RM_PART_NAME_BYTES];
	rm_mono_t since;
};

struct run {
	struct sim_region *region;
	struct localise *localise;
	struct costs costs;
	uint64_t lossy_rows, all_rows;
	double bytes_per_rack;
	rm_mono_t faults_since;
	struct named *named; /* each once */
	size_t named_count;
};

static volatile uint64_t used;

static double
cpu_s(void)
{
	return (double)figure_cpu_ns() / 1e9;
}

static void
read_rows(struct run *run, const struct wire_bytes *bytes)
{
	struct wire_summary_view view;

	if (wire_open_summary(&view, bytes->data, bytes->len) < 0)
		return;
	for (size_t i = 0; i < view.summary.path_count; i++) {
		struct wire_path_row row;

		wire_summary_path(&view, i, &row);
		used += row.sent + row.flows + strlen(row.path) + strlen(row.dst_tor);
		run->lossy_rows +=
		    row.lost_forward + row.lost_reverse + row.lost_unknown > 0;
	}
	run->all_rows += view.summary.path_count;
}

static int
take(struct run *run, const struct wire_bytes *bytes)
{
	struct wire_summary_view view;
	int r = wire_open_summary(&view, bytes->data, bytes->len);

	return r < 0 ? r
		     : localise_summary(
			   run->localise, &view, sim_region_now(run->region));
}

static const struct named *
find_named(const struct run *run, const char *part)
{
	for (size_t i = 0; i < run->named_count; i++)
		if (strcmp(run->named[i].part, part) == 0)
			return &run->named[i];
	return NULL;
}

static void
note_name(struct run *run, const char *name)
{
	struct named *named = &run->named[run->named_count];

	if (find_named(run, name) != NULL || run->named_count == MAX_NAMED)
		return;
	snprintf(named->part, sizeof named->part, "%s", name);
	named->since = sim_region_now(run->region);
	run->named_count++;
}

static int
judge(struct run *run, double *cpu)
{
	const struct rm_verdict *verdicts;
	const double before = cpu_s();
	int n = localise_judge(run->localise, sim_region_now(run->region),
	    sim_region_wall(run->region), &verdicts);

	*cpu = cpu_s() - before;
	for (int i = 0; i < n; i++)
		note_name(run, verdicts[i].part.name);
	return n < 0 ? n : 0;
}

/* One second. *costs: added to. */
static int
live(struct run *run, struct costs *costs)
{
	double second = 0, cpu = 0;
	int r = 0;

	for (int step = 0; r == 0 && step < SIM_REGION_STEPS; step++) {
		struct wire_bytes bytes;

		while (r == 0 && sim_region_next(run->region, &bytes) == 0) {
			const double start = cpu_s();
			double between;

			read_rows(run, &bytes);
			between = cpu_s();
			r = take(run, &bytes);
			costs->read += between - start;
			costs->rows += cpu_s() - between;
			second += cpu_s() - between;
		}
		if (r == 0)
			r = judge(run, &cpu);
		costs->judgement += cpu;
		second += cpu;
		if (cpu > costs->worst_judgement)
			costs->worst_judgement = cpu;
	}
	if (second > costs->worst_second)
		costs->worst_second = second;
	return r;
}

static bool
is_fault(const struct run *run, const char *part)
{
	const char *fault;

	for (size_t i = 0; (fault = sim_region_fault(run->region, i)) != NULL; i++)
		if (strcmp(fault, part) == 0)
			return true;
	return false;
}

/* Seconds from the beginning of the faults. */
static double
named_after(const struct run *run, const struct named *named)
{
	return (double)rm_mono_since(named->since, run->faults_since) / RM_NS_PER_S;
}

static size_t
count_found(const struct run *run, bool names, size_t *faults)
{
	const char *fault;
	size_t found = 0;

	for (*faults = 0; (fault = sim_region_fault(run->region, *faults)) != NULL;
	     ++*faults) {
		const struct named *named = find_named(run, fault);

		found += named != NULL;
		if (names && named != NULL)
			fprintf(stderr, "found %zu %s after %.2f s\n", *faults, fault,
			    named_after(run, named));
		else if (names)
			fprintf(stderr, "missed %zu %s\n", *faults, fault);
	}
	for (size_t i = 0; names && i < run->named_count; i++)
		if (!is_fault(run, run->named[i].part))
			fprintf(stderr, "wrong: %s after %.2f s\n", run->named[i].part,
			    named_after(run, &run->named[i]));
	return found;
}

static int
simulate(struct run *run, const struct plan *plan)
{
	const struct sim_region_options options = { plan->racks, plan->faults,
		plan->core, FAULTS_FROM_S };
	const uint64_t seconds = plan->seconds;
	const struct localise_options judged = { "r1", SIM_REGION_ROW_S * RM_NS_PER_S };
	struct costs before = { 0 };
	size_t memory;
	int r;

	*run = (struct run){ 0 };
	run->named = calloc(MAX_NAMED, sizeof *run->named);
	if (run->named == NULL)
		return -ENOMEM;
	r = sim_region_new(&options, &run->region);
	memory = mallinfo2().uordblks;
	if (r == 0)
		r = localise_new(&judged, &run->localise);
	for (uint64_t s = 0; r == 0 && s < FAULTS_FROM_S; s++)
		r = live(run, &before);
	run->faults_since = sim_region_now(run->region);
	run->lossy_rows = run->all_rows = 0;
	for (uint64_t s = 0; r == 0 && s < seconds; s++)
		r = live(run, &run->costs);
	run->bytes_per_rack =
	    (double)(mallinfo2().uordblks - memory) / (double)plan->racks;
	run->costs.read /= (double)seconds;
	run->costs.rows /= (double)seconds;
	run->costs.judgement /= (double)seconds;
	run->lossy_rows /= seconds;
	run->all_rows /= seconds;
	return r;
}

static void
run_free(struct run *run)
{
	localise_free(run->localise);
	sim_region_free(run->region);
	free(run->named);
}

static void
report(const struct run *run, const struct plan *plan, double first_bytes)
{
	const struct costs *costs = &run->costs;
	const double whole = costs->rows + costs->judgement;
	size_t faults;
	const double found = (double)count_found(run, plan->names, &faults);
	char of[64];
	double in_vain = 0;
	const struct figure figures[] = {
		{ "rows per second of data", "", (double)run->all_rows },
		{ "rows taken in, per second of data", "s", costs->rows, "read once",
		    costs->read },
		{ "judged, per second of data", "s", costs->judgement, "read once",
		    costs->read },
		{ "both, per second of data", "s", whole, "read once", costs->read,
		    "value <= 1" },
		{ "both, in the worst second", "s", costs->worst_second },
		{ "longest judgement", "s", costs->worst_judgement },
		{ "memory per rack", "KiB", run->bytes_per_rack / 1024,
		    first_bytes > 0 ? "smallest" : NULL, first_bytes / 1024,
		    first_bytes > 0 ? "ratio <= 1.2" : NULL },
		{ "faults found", "", found, "faults", (double)faults },
	};

	for (size_t i = 0; i < run->named_count; i++)
		in_vain += !is_fault(run, run->named[i].part);
	snprintf(of, sizeof of, "%zu racks, %zu faults%s", plan->racks, plan->faults,
	    plan->core ? ", a core" : "");
	for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
		struct figure figure = figures[i];

		figure.of = of;
		figure_print(&figure);
	}
	figure_print(
	    &(struct figure){ "named without a fault", "", in_vain, .of = of });
}

static int
bench(const struct plan *plan, double *first_bytes)
{
	struct run run;
	int r = simulate(&run, plan);

	if (r == 0)
		report(&run, plan, *first_bytes);
	if (*first_bytes <= 0)
		*first_bytes = run.bytes_per_rack;
	run_free(&run);
	return r;
}

static size_t
argument(int argc, char **argv, const char *option, size_t otherwise)
{
	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], option) == 0)
			return strtoul(argv[i + 1], NULL, 10);
	return otherwise;
}

int
main(int argc, char **argv)
{
	static const size_t curve[] = { 1250, 2500, 5000, 10000 };
	const bool smoke = figure_argument(argc, argv, "--smoke");
	const size_t racks = argument(argc, argv, "--racks", smoke ? SMOKE_RACKS : 0);
	struct plan plan = { .racks = racks,
		.core = figure_argument(argc, argv, "--core"),
		.names = figure_argument(argc, argv, "--names"),
		.seconds = argument(
		    argc, argv, "--seconds", smoke ? SMOKE_SECONDS : SECONDS) };
	double first_bytes = 0;
	int r = 0;

	for (size_t i = 0; racks == 0 && r == 0 && i < sizeof curve / sizeof *curve;
	     i++) {
		plan.racks = curve[i];
		plan.faults = curve[i] / RACKS_PER_FAULT;
		r = bench(&plan, &first_bytes);
	}
	plan.core |= racks == 0;
	plan.faults = argument(
	    argc, argv, "--faults", plan.racks / RACKS_PER_FAULT + (smoke ? 8 : 0));
	if (r == 0)
		r = bench(&plan, &first_bytes);
	if (r < 0)
		fprintf(stderr, "bench_localise: %s\n", strerror(-r));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
