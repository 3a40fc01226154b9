/*
 * sim_flock - the experiment of the Flock paper: tunes the schemes on odd seeds, and
 * prints their results on even ones.
 *
 *   sim_flock a1|rnics [--defaults] [SCHEME ...]
 *
 * a1: probes bounced off the cores, as many as give Flock its published recall. rnics:
 * RNICs probe each other, on average with 30 packets/s per link and direction, first
 * evenly, then skewed. --defaults: without tuning.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/flock_set.h"

static const struct scheme_type *const types[] = { &scheme_vote, &scheme_007,
	&scheme_netbouncer, &scheme_pll, &scheme_flock, &scheme_ours_flows };

#define TYPES (sizeof types / sizeof *types)

static const struct {
	const char *scheme, *what;
} published[] = {
	{ "flock", "A1 links random .995/.656/.791 skewed .995/.667/.798, devices "
		   "1.000/.903/.949" },
	{ "netbouncer", "A1 links random .878/.661/.755 skewed .903/.677/.774, devices "
			".570/.350/.434" },
	{ "007", "A2 (passive) links random 1.000/.708/.829 skewed .948/.094/.171, "
		 "devices .613/1.000/.760" },
};

static void
print(const struct scheme_type *type, const double *values,
    const struct flock_result *result)
{
	printf("%-11s P/R ", type->name);
	for (size_t i = 0; i < FLOCK_RATES; i++)
		printf(
		    " %.2f/%.2f", result->links[i].precision, result->links[i].recall);
	printf(" | P/R/F links %.3f/%.3f/%.3f devices %.3f/%.3f/%.3f\n",
	    result->precision, result->recall, result->f1, result->devices.precision,
	    result->devices.recall, result->devices.f1);
	printf("            with");
	for (size_t i = 1; i < type->parameter_count; i++)
		printf(" %s %g", type->parameters[i].name, values[i]);
	printf("\n");
	for (size_t i = 0; i < sizeof published / sizeof *published; i++)
		if (strcmp(published[i].scheme, type->name) == 0)
			printf("            published: %s\n", published[i].what);
	fflush(stdout);
}

struct table {
	const char *name;
	uint32_t packets;
	enum flock_probes probes[FLOCK_MAX_SETS];
	struct flock_sets odd, even;
};

static int
run(const struct scheme_type *type, struct table *table, bool defaults)
{
	double values[SCHEME_PARAMETERS] = { 0 };
	struct flock_result result;
	double mark;
	int r = 0;

	for (size_t i = 0; i < type->parameter_count; i++)
		values[i] = type->parameters[i].value;
	/* The first parameter is the window, which is the whole observation. */
	if (!defaults)
		r = tune(type, 1, flock_sets_try, &table->odd, values, &mark);
	for (size_t i = 0; i < table->even.count && r == 0; i++) {
		r = flock_set_judge(table->even.sets[i], type, values, &result);
		if (r == 0)
			print(type, values, &result);
	}
	return r;
}

static int
begin(struct table *table)
{
	int r = 0;

	for (size_t i = 0; i < table->even.count && r == 0; i++) {
		r = flock_set_new(
		    table->probes[i], table->packets, false, &table->odd.sets[i]);
		if (r == 0)
			r = flock_set_new(table->probes[i], table->packets, true,
			    &table->even.sets[i]);
		if (r == 0)
			printf("%zu: %.0f packets of a link and direction in 120 s\n",
			    i + 1, flock_set_packets(table->even.sets[i]));
	}
	printf("loss 0.2 0.4 0.6 1.0 1.4 1.8 %%\n");
	return r;
}

static bool
has_argument(const char *name, int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return false;
}

int
main(int argc, char **argv)
{
	static struct table tables[] = {
		{ .name = "a1",
		    .packets = 30,
		    .probes = { FLOCK_BOUNCED },
		    .odd = { .count = 1 },
		    .even = { .count = 1 } },
		{ .name = "rnics",
		    .packets = 94,
		    .probes = { FLOCK_ALIKE, FLOCK_SKEWED },
		    .odd = { .count = 2 },
		    .even = { .count = 2 } },
	};
	const bool defaults = has_argument("--defaults", argc, argv);
	struct table *table = NULL;
	int r;

	for (size_t i = 0; i < 2 && argc > 1; i++)
		if (strcmp(tables[i].name, argv[1]) == 0)
			table = &tables[i];
	if (table == NULL) {
		fprintf(
		    stderr, "usage: %s a1|rnics [--defaults] [SCHEME ...]\n", argv[0]);
		return EXIT_FAILURE;
	}
	r = begin(table);
	for (size_t i = 0; i < TYPES && r == 0; i++)
		if (argc <= 2 + defaults || has_argument(types[i]->name, argc, argv))
			r = run(types[i], table, defaults);
	if (r < 0)
		fprintf(stderr, "%s\n", strerror(-r));
	for (size_t i = 0; i < FLOCK_MAX_SETS; i++) {
		flock_set_free(table->odd.sets[i]);
		flock_set_free(table->even.sets[i]);
	}
	return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
