#include "tests/sim/runs.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/sim/scenario.h"
#include "tests/sim/score_table.h"

/* number of runs whose results may wait for the result of an earlier run */
#define AHEAD 1024

/* All runs of one file. Each worker takes the next run; the results are added up in
 * order. */
struct file {
	const struct runs_options *options;
	const struct scenario *scenario;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	uint32_t next, added, count;
	struct run_result done[AHEAD]; /* own NULL: no result yet */
	struct run_result sum;
	struct rm_error error;
	int failed;
};

/* ---- running --------------------------------------------------------------------- */

/* Prints each sentence with the number of its run. */
static void
print_errors(const struct run_result *result, uint32_t number)
{
	char *text = NULL, *rest = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);

	if (stream == NULL)
		return;
	score_print_errors(result->own, stream);
	fclose(stream);
	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		printf("run %u, %s\n", number, line);
	free(text);
}

static int
add_result(struct file *file, struct run_result *result)
{
	struct run_result *sum = &file->sum;
	int r = score_add(sum->own, result->own);

	for (size_t i = 0; i < file->options->scheme_count && r == 0; i++)
		r = score_add(sum->schemes[i], result->schemes[i]);
	if (file->options->errors)
		print_errors(result, file->added);
	if (file->options->truth != NULL)
		fprintf(file->options->truth, "%s\n", result->truth);
	sum->probes += result->probes;
	sum->lost += result->lost;
	sum->windows += result->windows;
	run_result_clear(result);
	return r;
}

static void
add_all_in_turn(struct file *file)
{
	while (file->failed == 0 && file->added < file->count &&
	       file->done[file->added % AHEAD].own != NULL) {
		const int r = add_result(file, &file->done[file->added % AHEAD]);

		if (r < 0)
			file->failed = r;
		file->added++;
	}
	pthread_cond_broadcast(&file->moved);
}

static void *
work(void *arg)
{
	struct file *file = arg;
	const struct runs_options *of = file->options;
	struct run_options options = { .seed = of->seed,
		.scheme_count = of->scheme_count,
		.verdicts = of->verdicts ? stdout : NULL,
		.record = of->record };

	memcpy(options.schemes, of->schemes, sizeof options.schemes);
	pthread_mutex_lock(&file->lock);
	while (file->failed == 0 && file->next < file->count) {
		struct run_result result;
		struct rm_error error = { 0 };
		int r;

		if (file->next >= file->added + AHEAD) {
			pthread_cond_wait(&file->moved, &file->lock);
			continue;
		}
		options.number = file->next++;
		pthread_mutex_unlock(&file->lock);
		r = run_whole(file->scenario, &options, &result, &error);
		pthread_mutex_lock(&file->lock);
		if (r < 0 && file->failed == 0) {
			file->failed = r;
			file->error = error;
		}
		if (r == 0)
			file->done[options.number % AHEAD] = result;
		add_all_in_turn(file);
	}
	pthread_mutex_unlock(&file->lock);
	return NULL;
}

static int
begin_sum(struct file *file)
{
	int r = score_new(&file->sum.own);

	for (size_t i = 0; i < file->options->scheme_count && r == 0; i++)
		r = score_new(&file->sum.schemes[i]);
	return r;
}

static int
run_all(struct file *file)
{
	pthread_t workers[RUNS_MAX_JOBS];
	size_t started = 0;
	int r = begin_sum(file);

	if (r < 0)
		return r;
	for (; started < file->options->jobs; started++)
		if (pthread_create(&workers[started], NULL, work, file) != 0)
			break;
	if (started == 0)
		work(file);
	for (size_t i = 0; i < started; i++)
		pthread_join(workers[i], NULL);
	return file->failed;
}

/* ---- output ---------------------------------------------------------------------- */

static void
report(const struct file *file, double seconds)
{
	const struct runs_options *options = file->options;
	const struct run_result *sum = &file->sum;
	char title[RM_NAME_BYTES + 32];

	printf("== %s: %u runs, seed %llu, %llu probes, %llu lost, %llu windows\n",
	    file->scenario->name, file->count - options->first,
	    (unsigned long long)options->seed, (unsigned long long)sum->probes,
	    (unsigned long long)sum->lost, (unsigned long long)sum->windows);
	fflush(stdout);
	/* The duration differs each time, so it is not part of the repeatable output.
	 */
	fprintf(stderr, "sim: %s: %.1f s of a core, %.2f million probes/s\n",
	    file->scenario->name, seconds, (double)sum->probes / seconds / 1e6);
	if (options->score)
		score_print(sum->own, "rackmesh", stdout);
	for (size_t i = 0; i < options->scheme_count && options->score; i++) {
		snprintf(title, sizeof title, "%s", options->schemes[i].name);
		score_print(sum->schemes[i], title, stdout);
	}
}

/* Prints how many of the parts that were named with such a confidence were right. */
static void
report_reliability(const struct score *score)
{
	uint64_t named[10], right[10];

	score_reliability(score, named, right);
	printf("%-16s right of those named, by confidence:", "rackmesh");
	for (size_t i = 0; i < 10; i++)
		if (named[i] > 0)
			printf(" %.1f: %llu of %llu", (double)i / 10,
			    (unsigned long long)right[i], (unsigned long long)named[i]);
	printf("\n");
}

static void
report_kinds(const struct score *score)
{
	for (size_t i = 0; i < FAULT_BURST; i++) {
		const char *kind = scenario_kind_names[i];
		const double p50 = score_seconds(score, kind, .5);

		if (p50 >= 0)
			printf("%-16s seconds   %s: p50 %.2f p90 %.2f p99 %.2f max "
			       "%.2f\n",
			    "rackmesh", kind, p50, score_seconds(score, kind, .9),
			    score_seconds(score, kind, .99),
			    score_seconds(score, kind, 1));
	}
}

static void
report_own(const struct score *score)
{
	report_kinds(score);
	report_reliability(score);
}

/* ---- all files ------------------------------------------------------------------- */

static int
add_score(struct score **sum, const struct score *score)
{
	const int r = *sum == NULL ? score_new(sum) : 0;

	return r < 0 ? r : score_add(*sum, score);
}

static int
sum_up(const struct file *file, struct runs_sum *sum)
{
	int r = add_score(&sum->own, file->sum.own);

	for (size_t i = 0; i < file->options->scheme_count && r == 0; i++)
		r = add_score(&sum->schemes[i], file->sum.schemes[i]);
	sum->files++;
	sum->runs += file->count - file->options->first;
	return r;
}

void
runs_table(const struct runs_options *options, const struct runs_sum *sum)
{
	const struct score *scores[RUN_MAX_SCHEMES + 1] = { sum->own };
	const char *names[RUN_MAX_SCHEMES + 1] = { "rackmesh" };

	if (sum->own == NULL)
		return;
	for (size_t i = 0; i < options->scheme_count; i++) {
		scores[i + 1] = sum->schemes[i];
		names[i + 1] = options->schemes[i].name;
	}
	printf("\n%llu runs of %llu families, seed %llu:\n\n",
	    (unsigned long long)sum->runs, (unsigned long long)sum->files,
	    (unsigned long long)options->seed);
	score_table(scores, names, options->scheme_count + 1, stdout);
}

void
runs_sum_clear(struct runs_sum *sum)
{
	score_free(sum->own);
	for (size_t i = 0; i < RUN_MAX_SCHEMES; i++)
		score_free(sum->schemes[i]);
	*sum = (struct runs_sum){ 0 };
}

int
runs_file(const struct runs_options *options, const char *path, struct runs_sum *sum)
{
	struct file *file = calloc(1, sizeof *file);
	struct scenario *scenario = NULL;
	struct dice dice = dice_of(options->seed, 0);
	const clock_t start = clock();
	int r;

	if (file == NULL)
		return -ENOMEM;
	r = scenario_load(path, &scenario, &file->error);
	if (r == 0) {
		file->options = options;
		file->next = file->added = options->first;
		file->scenario = scenario;
		file->count =
		    options->runs != 0
			? options->runs
			: (uint32_t)scenario_pick(&scenario->top[TOP_COUNT], &dice);
		file->count += options->first;
		pthread_mutex_init(&file->lock, NULL);
		pthread_cond_init(&file->moved, NULL);
		r = run_all(file);
	}
	if (r < 0) {
		if (file->error.text[0] == '\0')
			rm_error_set(&file->error, r, "%s: cannot be simulated: %s",
			    path, strerror(-r));
		fprintf(stderr, "sim: %s\n", file->error.text);
	} else {
		report(file, (double)(clock() - start) / CLOCKS_PER_SEC);
		if (options->score)
			report_own(file->sum.own);
		if (options->gate)
			r = marks_report(&scenario->marks, scenario->name,
			    file->sum.own, stdout, options->junit, &sum->marks);
		if (options->table && r >= 0)
			r = sum_up(file, sum);
	}
	for (size_t i = 0; i < AHEAD; i++)
		run_result_clear(&file->done[i]);
	run_result_clear(&file->sum);
	scenario_free(scenario);
	free(file);
	fflush(stdout);
	return r;
}
