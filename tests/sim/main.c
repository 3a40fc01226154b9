/* sim - runs scenarios and scores the named parts. See README.md. */
#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/marks_read.h"
#include "tests/sim/noise_main.h"
#include "tests/sim/replay.h"
#include "tests/sim/runs.h"
#include "tests/sim/scenario.h"
#include "tests/sim/tune_main.h"
#include "tests/sim/tuned.h"

#define LARGE_BYTES (128 * 1024)

static const struct scheme_type *const all_schemes[] = { &scheme_ten_percent,
	&scheme_vote, &scheme_007, &scheme_netbouncer, &scheme_pll, &scheme_flock,
	&scheme_ours_flows };

#define SCHEMES (sizeof all_schemes / sizeof all_schemes[0])

static void
usage(FILE *out)
{
	fputs("usage: sim run FILE... [--seed N] [--runs N] [--from N] [--score]\n"
	      "           [--errors] [--verdicts] [--truth FILE] [--scheme NAME]... "
	      "[--jobs N]\n"
	      "           [--gate] [--junit FILE] [--table] [--record FILE]\n"
	      "       sim --replay FILE\n"
	      "       sim noise [--OPTION NUMBER]...\n"
	      "       sim tune FILE... [--OPTION VALUE]...\n"
	      "       sim options\n\n"
	      "  --seed N       seed of all random numbers (default 1)\n"
	      "  --runs N       number of runs, instead of that in the files\n"
	      "  --from N       number of the first run (default 0), to repeat one\n"
	      "  --score        precision, recall, F1, time to verdict\n"
	      "  --errors       each false opening and each missed fault\n"
	      "  --verdicts     each opening, change and end of an incident; one job\n"
	      "  --truth FILE   write the faults of each run, as a line of JSON\n"
	      "  --scheme NAME  also judge by another scheme: all, or one of",
	    out);
	for (size_t i = 0; i < SCHEMES; i++)
		fprintf(out, "%s %s", i > 0 ? "," : "", all_schemes[i]->name);
	fputs(
	    "\n  --jobs N       threads (default 1)\n"
	    "  --gate         check the marks of the files; fails if one does not "
	    "hold\n"
	    "  --junit FILE   write the result of each mark as JUnit XML\n"
	    "  --table        a table of our judge and the schemes (default: all), "
	    "over all files\n"
	    "  --record FILE  write what the aggregators of the one run receive\n"
	    "  --replay FILE  judge a recording, and print each incident\n"
	    "  noise          how often noise alone opens an incident; see --help\n"
	    "  tune           search the schemes' parameters on families; see --help\n"
	    "  options        print the options of scenario files\n",
	    out);
}

static void
add_window(
    struct runs_options *options, const struct scheme_type *type, double window_s)
{
	struct run_scheme *scheme;

	if (options->scheme_count == RUN_MAX_SCHEMES)
		return;
	scheme = &options->schemes[options->scheme_count++];
	scheme->type = type;
	tuned_values(type, window_s, scheme->values);
	snprintf(scheme->name, sizeof scheme->name, window_s > 0 ? "%s, %.0f s" : "%s",
	    type->name, window_s);
}

static int
add_scheme(struct runs_options *options, const char *name)
{
	bool found = false;

	for (size_t i = 0; i < SCHEMES; i++) {
		if (strcmp(name, "all") != 0 && strcmp(name, all_schemes[i]->name) != 0)
			continue;
		found = true;
		add_window(options, all_schemes[i], 0);
	}
	if (!found)
		fprintf(stderr, "sim: there is no scheme %s\n", name);
	return found ? 0 : -EINVAL;
}

/* A window that is long enough for small losses is longer than many runs. So the table
 * has a row for each window, and the reader can compare with the best one. */
static void
add_every_window(struct runs_options *options)
{
	for (size_t i = 0; i < SCHEMES; i++) {
		const struct scheme_parameter *window =
		    &all_schemes[i]->parameters[SCHEME_WINDOW];

		for (size_t k = 0; k < window->grid_count; k++)
			add_window(options, all_schemes[i], window->grid[k]);
	}
}

static int
number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	char *end;
	const unsigned long long value = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || value < min || value > max) {
		fprintf(stderr, "sim: --%s: expected %llu to %llu, not %s\n", option,
		    (unsigned long long)min, (unsigned long long)max, text);
		return -EINVAL;
	}
	*ret = value;
	return 0;
}

static int
open_to_write(const char *path, FILE **ret)
{
	*ret = fopen(path, "w");
	if (*ret == NULL)
		fprintf(stderr, "sim: %s: %s\n", path, strerror(errno));
	return *ret == NULL ? -EINVAL : 0;
}

static const struct option long_options[] = { { "seed", required_argument, NULL, 's' },
	{ "runs", required_argument, NULL, 'r' },
	{ "from", required_argument, NULL, 'f' }, { "score", no_argument, NULL, 'S' },
	{ "errors", no_argument, NULL, 'e' }, { "verdicts", no_argument, NULL, 'v' },
	{ "truth", required_argument, NULL, 't' },
	{ "scheme", required_argument, NULL, 'c' },
	{ "jobs", required_argument, NULL, 'j' }, { "gate", no_argument, NULL, 'g' },
	{ "junit", required_argument, NULL, 'u' },
	{ "record", required_argument, NULL, 'w' },
	{ "replay", required_argument, NULL, 'p' }, { "table", no_argument, NULL, 'T' },
	{ "help", no_argument, NULL, 'h' }, { 0 } };

static int
take_option(struct runs_options *options, int option)
{
	uint64_t value = 0;
	int r = 0;

	switch (option) {
	case 's':
		return number("seed", optarg, 0, UINT64_MAX - 1, &options->seed);
	case 'r':
		r = number("runs", optarg, 1, 10000000, &value);
		options->runs = (uint32_t)value;
		return r;
	case 'f':
		r = number("from", optarg, 0, 10000000, &value);
		options->first = (uint32_t)value;
		return r;
	case 'j':
		r = number("jobs", optarg, 1, RUNS_MAX_JOBS, &value);
		options->jobs = (size_t)value;
		return r;
	case 'S':
		options->score = true;
		return 0;
	case 'e':
		options->errors = true;
		return 0;
	case 'v':
		options->verdicts = true;
		return 0;
	case 'T':
		options->table = true;
		return 0;
	case 'c':
		return add_scheme(options, optarg);
	case 't':
		return open_to_write(optarg, &options->truth);
	case 'w':
		return open_to_write(optarg, &options->record);
	case 'u':
		options->gate = true;
		return open_to_write(optarg, &options->junit);
	case 'g':
		options->gate = true;
		return 0;
	default:
		return -EINVAL;
	}
}

static void
show(const char *section, const struct scenario_option *options, size_t count)
{
	printf("%s\n", section);
	for (size_t i = 0; i < count; i++)
		printf("  %-30s %10.10g  %.10g to %.10g: %s\n", options[i].name,
		    options[i].fallback, options[i].min, options[i].max,
		    options[i].help);
}

static int
show_options(void)
{
	show("top", scenario_top_options, TOP_OPTIONS);
	show("fabric", scenario_fabric_options, FABRIC_OPTIONS);
	show("probing", scenario_probing_options, PROBING_OPTIONS);
	show("noise", scenario_noise_options, NOISE_OPTIONS);
	show("faults", scenario_fault_options, FAULT_OPTIONS);
	show("marks of a class", marks_figures, MARK_FIGURES);
	show("marks of seconds", marks_times, MARK_TIMES);
	printf("  kind:");
	for (size_t i = 0; i < FAULT_BURST; i++)
		printf(" %s", scenario_kind_names[i]);
	printf("\n  way:");
	for (size_t i = 0; i < FAULT_DIRECTIONS; i++)
		printf(" %s", scenario_direction_names[i]);
	printf("\n  type:");
	for (size_t i = 1; i < PLACES; i++)
		printf(" %s", scenario_place_names[i]);
	printf("\n");
	return EXIT_SUCCESS;
}

/* Ends the report. -ERANGE: a mark was not reached, or no mark was checked. */
static int
end_gate(const struct runs_options *options, const struct marks_count *count)
{
	printf("%zu of %zu marks hold\n", count->held, count->held + count->failed);
	if (options->junit != NULL) {
		fputs("</testsuite>\n", options->junit);
		if (fclose(options->junit) != 0) {
			fprintf(stderr, "sim: the report: %s\n", strerror(errno));
			return -EIO;
		}
	}
	return count->failed > 0 || count->held == 0 ? -ERANGE : 0;
}

/* files ends with NULL. */
static int
run_files(const struct runs_options *options, char **files)
{
	struct runs_sum sum = { 0 };
	int r = 0, gate = 0;

	if (options->junit != NULL)
		fputs("<testsuite name=\"sim\">\n", options->junit);
	for (; *files != NULL && r == 0; files++)
		r = runs_file(options, *files, &sum);
	if (options->gate)
		gate = end_gate(options, &sum.marks);
	if (options->table)
		runs_table(options, &sum);
	runs_sum_clear(&sum);
	return r < 0 ? r : gate;
}

static int
replay(const char *path)
{
	FILE *in = fopen(path, "r");
	struct rm_error error = { 0 };
	int r;

	if (in == NULL) {
		fprintf(stderr, "sim: %s: %s\n", path, strerror(errno));
		return EXIT_FAILURE;
	}
	r = replay_whole(in, path, stdout, &error);
	if (r < 0)
		fprintf(stderr, "sim: %s\n",
		    error.text[0] != '\0' ? error.text : strerror(-r));
	fclose(in);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Records one run of one file. */
static bool
can_record(const struct runs_options *options, int files)
{
	if (options->record == NULL || (files == 1 && options->runs == 1))
		return true;
	fputs("sim: --record goes with one FILE and --runs 1\n", stderr);
	return false;
}

int
main(int argc, char **argv)
{
	struct runs_options options = { .seed = 1, .jobs = 1 };
	int option, r;

	/* Racks have large tables that stay almost empty. Memory that is mapped is zero
	 * already, so that calloc does not touch it. */
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	if (argc > 1 && strcmp(argv[1], "noise") == 0)
		return noise_main(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "tune") == 0)
		return tune_main(argc - 1, argv + 1, all_schemes, SCHEMES);
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == 'h') {
			usage(stdout);
			return EXIT_SUCCESS;
		}
		if (option == 'p')
			return replay(optarg);
		if (take_option(&options, option) < 0)
			return EXIT_FAILURE;
	}
	if (optind < argc && strcmp(argv[optind], "options") == 0)
		return show_options();
	if (optind + 1 >= argc || strcmp(argv[optind], "run") != 0) {
		usage(stderr);
		return EXIT_FAILURE;
	}
	if (!can_record(&options, argc - optind - 1))
		return EXIT_FAILURE;
	if (options.verdicts)
		options.jobs = 1;
	if (options.table && options.scheme_count == 0)
		add_every_window(&options);
	r = run_files(&options, argv + optind + 1);
	if (options.record != NULL && fclose(options.record) != 0)
		r = -errno;
	if (options.truth != NULL && fclose(options.truth) != 0)
		r = -errno;
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
