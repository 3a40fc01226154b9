#include "tests/sim/tune_families.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/in_turn.h"
#include "tests/sim/kept.h"
#include "tests/sim/run.h"
#include "tests/sim/scenario.h"
#include "tests/sim/tune.h"

struct tune_families {
	size_t families;
	uint32_t runs;
	struct kept **kept; /* indexed by family and run */
};

/* ---- simulating ------------------------------------------------------------------ */

struct work {
	struct tune_families *families;
	struct scenario **scenarios;
	uint64_t seed;
};

static int
simulate(void *arg, size_t number)
{
	const struct work *work = arg;
	const uint32_t runs = work->families->runs;
	const struct run_options options = { .seed = work->seed,
		.number = (uint32_t)(number % runs),
		.keep = &work->families->kept[number] };
	struct run_result result;
	struct rm_error error = { 0 };
	const int r =
	    run_whole(work->scenarios[number / runs], &options, &result, &error);

	if (r < 0)
		fprintf(stderr, "sim: %s\n",
		    error.text[0] != '\0' ? error.text : strerror(-r));
	else
		run_result_clear(&result);
	return r;
}

static int
load(char *const *files, size_t count, struct scenario **scenarios)
{
	for (size_t i = 0; i < count; i++) {
		struct rm_error error = { 0 };
		const int r = scenario_load(files[i], &scenarios[i], &error);

		if (r < 0) {
			fprintf(stderr, "sim: %s\n",
			    error.text[0] != '\0' ? error.text : strerror(-r));
			return r;
		}
	}
	return 0;
}

int
tune_families_new(char *const *files, size_t file_count, uint32_t runs, uint64_t seed,
    size_t jobs, struct tune_families **ret)
{
	struct tune_families *families = calloc(1, sizeof *families);
	struct work work = { .families = families, .seed = seed };
	int r = -ENOMEM;

	work.scenarios = calloc(file_count, sizeof(struct scenario *));
	if (families != NULL) {
		families->families = file_count;
		families->runs = runs;
		families->kept = calloc(file_count * runs, sizeof(struct kept *));
	}
	if (work.scenarios != NULL && families != NULL && families->kept != NULL)
		r = load(files, file_count, work.scenarios);
	if (r == 0)
		r = in_turn(file_count * runs, jobs, simulate, &work);
	for (size_t i = 0; i < file_count && work.scenarios != NULL; i++)
		scenario_free(work.scenarios[i]);
	free(work.scenarios);
	if (r < 0) {
		tune_families_free(families);
		return r;
	}
	*ret = families;
	return 0;
}

void
tune_families_free(struct tune_families *families)
{
	if (families == NULL)
		return;
	for (size_t i = 0;
	     families->kept != NULL && i < families->families * families->runs; i++)
		kept_free(families->kept[i]);
	free(families->kept);
	free(families);
}

/* ---- judging --------------------------------------------------------------------- */

static double
mark_of(const struct score *score)
{
	static const enum score_class classes[] = { SCORE_RNICS, SCORE_LINKS,
		SCORE_DEVICES };
	uint64_t truths = 0, found = 0, named = 0, wrong = 0;

	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
		const struct score_row row = score_row(score, classes[i]);

		truths += row.truths;
		found += row.found;
		named += row.named;
		wrong += row.wrong;
	}
	return tune_mark(named > 0 ? 1 - (double)wrong / (double)named : 1,
	    truths > 0 ? (double)found / (double)truths : 1);
}

int
tune_families_try(
    void *arg, const struct scheme_type *type, const double *values, double *ret_mark)
{
	const struct tune_families *families = arg;
	double sum = 0;

	for (size_t f = 0; f < families->families; f++) {
		struct score *score = NULL;
		int r = score_new(&score);

		for (uint32_t i = 0; i < families->runs && r == 0; i++)
			r = kept_judge(families->kept[f * families->runs + i], type,
			    values, score);
		if (r == 0)
			sum += mark_of(score);
		score_free(score);
		if (r < 0)
			return r;
	}
	*ret_mark = sum / (double)families->families;
	return 0;
}
