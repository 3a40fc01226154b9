#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/score_state.h"

#define MAX_LOADED (1U << 26) /* most bytes of errors, or of times */

static double
share(uint64_t part, uint64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 1;
}

struct score_row
score_row(const struct score *score, enum score_class class)
{
	struct score_row row = score->rows[class];

	row.precision = share(row.named - row.wrong, row.named);
	row.recall = share(row.found, row.truths);
	row.f1 = row.precision + row.recall > 0
		     ? 2 * row.precision * row.recall / (row.precision + row.recall)
		     : 0;
	return row;
}

static int
by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double
score_seconds(const struct score *score, const char *kind, double q)
{
	double *seconds = calloc(score->time_count + 1, sizeof *seconds), value = -1;
	size_t count = 0;

	if (seconds == NULL)
		return -1;
	for (size_t i = 0; i < score->time_count; i++)
		if (kind == NULL || strcmp(score->times[i].kind, kind) == 0)
			seconds[count++] = score->times[i].seconds;
	if (count > 0) {
		const size_t rank = (size_t)ceil(q * (double)count);

		qsort(seconds, count, sizeof *seconds, by_value);
		value = seconds[rank > 0 ? rank - 1 : 0];
	}
	free(seconds);
	return value;
}

void
score_reliability(const struct score *score, uint64_t named[10], uint64_t right[10])
{
	memcpy(named, score->sure_named, sizeof score->sure_named);
	memcpy(right, score->sure_right, sizeof score->sure_right);
}

void
score_name(const struct score *score, uint32_t part, enum score_class class,
    char name[RM_PART_NAME_BYTES])
{
	const struct clos_part *p = clos_part(score->clos, part);
	char from[RM_PART_NAME_BYTES], to[RM_PART_NAME_BYTES];

	if (class != SCORE_LINKS_DIRECTED) {
		clos_name(score->clos, part, name);
		return;
	}
	clos_name(score->clos, p->from, from);
	clos_name(score->clos, p->to, to);
	snprintf(name, RM_PART_NAME_BYTES, "%.100s -> %.100s", from, to);
}

void
score_print_errors(const struct score *score, FILE *out)
{
	if (score->errors != NULL)
		fputs(score->errors, out);
}

void
score_print(const struct score *score, const char *title, FILE *out)
{
	static const char *const names[] = { "RNICs", "hosts", "links", "directed",
		"devices" };

	for (size_t i = 0; i < SCORE_CLASSES; i++) {
		const struct score_row row = score_row(score, i);

		if (row.truths == 0 && row.named == 0)
			continue;
		fprintf(out,
		    "%-16s %-9s P %.3f R %.3f F1 %.3f (%lu of %lu found, %lu as A or "
		    "B; %lu of %lu named wrongly)\n",
		    title, names[i], row.precision, row.recall, row.f1, row.found,
		    row.truths, row.either, row.wrong, row.named);
	}
	if (score->time_count > 0)
		fprintf(out, "%-16s seconds   p50 %.1f p90 %.1f p99 %.1f\n", title,
		    score_seconds(score, NULL, .5), score_seconds(score, NULL, .9),
		    score_seconds(score, NULL, .99));
}

int
score_save(const struct score *score, FILE *out)
{
	const size_t sizes[] = { score->time_count, score->errors_length,
		score->error_count };

	if (fwrite(score->rows, sizeof score->rows, 1, out) != 1 ||
	    fwrite(score->sure_named, sizeof score->sure_named, 1, out) != 1 ||
	    fwrite(score->sure_right, sizeof score->sure_right, 1, out) != 1 ||
	    fwrite(sizes, sizeof sizes, 1, out) != 1 ||
	    (sizes[0] > 0 && fwrite(score->times, sizeof *score->times, sizes[0],
				 out) != sizes[0]) ||
	    (sizes[1] > 0 && fwrite(score->errors, 1, sizes[1], out) != sizes[1]) ||
	    fflush(out) != 0)
		return -EIO;
	return 0;
}

static int
load(struct score *score, FILE *in)
{
	size_t sizes[3];

	if (fread(score->rows, sizeof score->rows, 1, in) != 1 ||
	    fread(score->sure_named, sizeof score->sure_named, 1, in) != 1 ||
	    fread(score->sure_right, sizeof score->sure_right, 1, in) != 1 ||
	    fread(sizes, sizeof sizes, 1, in) != 1 ||
	    sizes[0] > MAX_LOADED / sizeof *score->times || sizes[1] > MAX_LOADED)
		return -EIO;
	score->times = calloc(sizes[0] + 1, sizeof *score->times);
	score->errors = calloc(sizes[1] + 1, 1);
	if (score->times == NULL || score->errors == NULL)
		return -ENOMEM;
	if (fread(score->times, sizeof *score->times, sizes[0], in) != sizes[0] ||
	    fread(score->errors, 1, sizes[1], in) != sizes[1])
		return -EIO;
	score->time_count = sizes[0];
	score->times_allocated = sizes[0] + 1;
	score->errors_length = sizes[1];
	score->error_count = sizes[2];
	return 0;
}

int
score_load(FILE *in, struct score **ret)
{
	struct score *score;
	int r;

	r = score_new(&score);
	if (r < 0)
		return r;
	r = load(score, in);
	if (r < 0) {
		score_free(score);
		return r;
	}
	*ret = score;
	return 0;
}
