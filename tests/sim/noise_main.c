/* sim noise: how often noise alone opens an incident. */
#include "tests/sim/noise_main.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/noise_fabric.h"
#include "tests/sim/noise_rack.h"

#define RACK_DAYS 300000
#define LINK_RATE_PER_S 10

struct asked {
	/* rnics: number of RNICs of one rack, if racks is 0 */
	double rnics, racks, spines;
	double loss, plainly, stretches, seed;
};

static const struct {
	const char *name, *help;
	double least, most, fallback;
	size_t at;
} options[] = {
	{ "rnics", "RNICs of one rack, for the judge of a rack", 2,
	    NOISE_RACK_MAX_RNICS, 8, offsetof(struct asked, rnics) },
	{ "racks", "racks, for the localisation; 0: one rack", 0,
	    NOISE_FABRIC_MAX_RACKS, 0, offsetof(struct asked, racks) },
	{ "spines", "spines between the racks", 1, NOISE_FABRIC_MAX_SPINES, 4,
	    offsetof(struct asked, spines) },
	{ "loss", "loss per packet and direction", 1e-9, 1e-2, 1e-4,
	    offsetof(struct asked, loss) },
	{ "stretches", "stretches of five minutes", 1, 1e8, 2000,
	    offsetof(struct asked, stretches) },
	{ "plainly", "share of the stretches with noise alone", 0.01, 1, 0.2,
	    offsetof(struct asked, plainly) },
	{ "seed", "seed of the random numbers", 0, 1e15, 1,
	    offsetof(struct asked, seed) },
};

#define OPTIONS (sizeof options / sizeof options[0])

static double *
field(struct asked *asked, size_t i)
{
	return (double *)((char *)asked + options[i].at);
}

static void
usage(FILE *out)
{
	fputs("usage: sim noise [--OPTION NUMBER]...\n\n", out);
	for (size_t i = 0; i < OPTIONS; i++)
		fprintf(out, "  --%-10s %s (%g to %g, default %g)\n", options[i].name,
		    options[i].help, options[i].least, options[i].most,
		    options[i].fallback);
}

static int
read_options(int argc, char **argv, struct asked *asked)
{
	struct option names[OPTIONS + 1] = { { 0 } };
	int option;

	for (size_t i = 0; i < OPTIONS; i++) {
		names[i] =
		    (struct option){ options[i].name, required_argument, NULL, (int)i };
		*field(asked, i) = options[i].fallback;
	}
	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		char *end = NULL;
		double value;

		if (option < 0 || option >= (int)OPTIONS)
			return -1;
		value = strtod(optarg, &end);
		if (*end != '\0' || end == optarg || value < options[option].least ||
		    value > options[option].most) {
			fprintf(stderr, "sim: --%s: expected %g to %g, not %s\n",
			    options[option].name, options[option].least,
			    options[option].most, optarg);
			return -1;
		}
		*field(asked, (size_t)option) = value;
	}
	return optind < argc || asked->racks == 1 ? -1 : 0;
}

static int
estimate(const struct asked *asked, struct noise_found *found)
{
	const struct noise_options how = { .loss = asked->loss,
		.stretches = (uint32_t)asked->stretches,
		.seed = (uint64_t)asked->seed,
		.plainly = asked->plainly };
	struct noise_fabric *fabric = NULL;
	struct noise_rack *rack = NULL;
	struct noise_subject subject;
	int r;

	if (asked->racks > 0)
		r = noise_fabric_new((uint32_t)asked->racks, (uint32_t)asked->spines,
		    LINK_RATE_PER_S, asked->loss, &fabric);
	else
		r = noise_rack_new((uint32_t)asked->rnics, asked->loss, &rack);
	if (r < 0)
		return r;
	subject =
	    fabric != NULL ? noise_fabric_subject(fabric) : noise_rack_subject(rack);
	r = noise_estimate(&subject, &how, found);
	noise_fabric_free(fabric);
	noise_rack_free(rack);
	return r;
}

int
noise_main(int argc, char **argv)
{
	struct noise_found found = { 0 };
	struct asked asked;
	int r;

	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		usage(stdout);
		return EXIT_SUCCESS;
	}
	if (read_options(argc, argv, &asked) < 0) {
		usage(stderr);
		return EXIT_FAILURE;
	}
	r = estimate(&asked, &found);
	if (r < 0) {
		fprintf(stderr, "sim: %s\n", strerror(-r));
		return EXIT_FAILURE;
	}
	if (asked.racks > 0)
		printf("%g racks, %g spines", asked.racks, asked.spines);
	else
		printf("a rack of %g RNICs", asked.rnics);
	printf(", loss %g per direction: %.3g false openings per rack and day, "
	       "standard error "
	       "%.2g\nin %d rack-days %.3g, with three standard errors %.3g\n"
	       "%g stretches, %llu openings in them, the heaviest %.0f %% of the sum, "
	       "mean weight %.3f\n",
	    asked.loss, found.rate, found.error, RACK_DAYS, found.rate * RACK_DAYS,
	    (found.rate + 3 * found.error) * RACK_DAYS, asked.stretches,
	    (unsigned long long)found.named, 100 * found.largest, found.mean_weight);
	return EXIT_SUCCESS;
}
