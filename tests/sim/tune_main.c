#include "tests/sim/tune_main.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/in_turn.h"
#include "tests/sim/tune.h"
#include "tests/sim/tune_families.h"
#include "tests/sim/tuned.h"

#define MAX_RUNS 1000

static void
usage(FILE *out)
{
	fputs(
	    "usage: sim tune FILE... [--runs N] [--seed N] [--jobs N] [--scheme "
	    "NAME]\n\n"
	    "Finds, for each scheme and each of its windows, the values of its other\n"
	    "parameters that do best on these families, which have the same weight: "
	    "precision\n"
	    "and recall over RNICs, links and switches, precision weighing twice.\n"
	    "Prints lines for tests/sim/tuned.c: all at the end, and each as it is\n"
	    "found to standard error.\n\n"
	    "  --runs N       of each family (default 2); all are kept in memory\n"
	    "  --seed N       (default 1)\n"
	    "  --jobs N       threads (default 1)\n"
	    "  --scheme NAME  only this one\n",
	    out);
}

struct found { /* results of one scheme and window */
	const struct scheme_type *type;
	double values[SCHEME_PARAMETERS], mark;
};

struct search {
	struct tune_families *families;
	struct found *found;
	size_t count;
};

/* Allocates the windows of every scheme, with their first values. -ENOMEM. */
static int
plan(struct search *search, const struct scheme_type *const *schemes, size_t count,
    const char *only)
{
	size_t windows = 0;

	for (size_t i = 0; i < count; i++)
		windows += schemes[i]->parameters[SCHEME_WINDOW].grid_count;
	search->found = calloc(windows, sizeof *search->found);
	if (search->found == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct scheme_parameter *window =
		    &schemes[i]->parameters[SCHEME_WINDOW];

		if (only != NULL && strcmp(only, schemes[i]->name) != 0)
			continue;
		for (size_t k = 0; k < window->grid_count; k++) {
			struct found *found = &search->found[search->count++];

			found->type = schemes[i];
			tuned_values(schemes[i], 0, found->values);
			found->values[SCHEME_WINDOW] = window->grid[k];
		}
	}
	return 0;
}

static void
print(const struct found *found, FILE *out)
{
	flockfile(out);
	fprintf(out, "\t{ \"%s\", {", found->type->name);
	for (size_t i = 0; i < found->type->parameter_count; i++)
		fprintf(out, "%s %g", i > 0 ? "," : "", found->values[i]);
	fprintf(out, " } }, /* mark %.3f */\n", found->mark);
	funlockfile(out);
}

static int
search_one(void *arg, size_t number)
{
	const struct search *search = arg;
	struct found *found = &search->found[number];
	const int r = tune(found->type, SCHEME_WINDOW + 1, tune_families_try,
	    search->families, found->values, &found->mark);

	if (r == 0) /* print results as they are found */
		print(found, stderr);
	return r;
}

static int
search_all(struct search *search, size_t jobs)
{
	const int r = in_turn(search->count, jobs, search_one, search);

	if (r < 0)
		fprintf(stderr, "sim: %s\n", strerror(-r));
	for (size_t i = 0; i < search->count && r == 0; i++)
		print(&search->found[i], stdout);
	return r;
}

static bool
is_scheme(const struct scheme_type *const *schemes, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(schemes[i]->name, name) == 0)
			return true;
	fprintf(stderr, "sim: there is no scheme %s\n", name);
	return false;
}

struct options {
	unsigned long runs, seed, jobs;
	const char *scheme;
};

static bool
number(const char *option, const char *text, unsigned long max, unsigned long *ret)
{
	char *end;

	errno = 0;
	*ret = strtoul(text, &end, 10);
	if (errno == 0 && *text >= '0' && *text <= '9' && *end == '\0' && *ret >= 1 &&
	    *ret <= max)
		return true;
	fprintf(stderr, "sim: --%s: expected 1 to %lu, not %s\n", option, max, text);
	return false;
}

static bool
read_options(int argc, char **argv, struct options *options)
{
	static const struct option names[] = { { "runs", required_argument, NULL, 'r' },
		{ "seed", required_argument, NULL, 's' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "scheme", required_argument, NULL, 'c' }, { 0 } };
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		bool good = option != '?';

		if (option == 'r')
			good = number("runs", optarg, MAX_RUNS, &options->runs);
		else if (option == 's')
			good = number("seed", optarg, INT64_MAX, &options->seed);
		else if (option == 'j')
			good = number("jobs", optarg, IN_TURN_MAX_JOBS, &options->jobs);
		else
			options->scheme = optarg;
		if (!good)
			return false;
	}
	return true;
}

int
tune_main(int argc, char **argv, const struct scheme_type *const *schemes, size_t count)
{
	struct options options = { .runs = 2, .seed = 1, .jobs = 1 };
	struct search search = { 0 };
	int r;

	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		usage(stdout);
		return EXIT_SUCCESS;
	}
	if (!read_options(argc, argv, &options))
		return EXIT_FAILURE;
	if (optind == argc) {
		usage(stderr);
		return EXIT_FAILURE;
	}
	if (options.scheme != NULL && !is_scheme(schemes, count, options.scheme))
		return EXIT_FAILURE;
	r = plan(&search, schemes, count, options.scheme);
	if (r == 0)
		r = tune_families_new(argv + optind, (size_t)(argc - optind),
		    (uint32_t)options.runs, options.seed, options.jobs,
		    &search.families);
	if (r == 0)
		r = search_all(&search, options.jobs);
	free(search.found);
	tune_families_free(search.families);
	return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
