#include "tests/sim/score_table.h"

#include <inttypes.h>
#include <stdbool.h>

static bool
is_shown(const struct score *const *scores, size_t count, enum score_class class)
{
	for (size_t i = 0; i < count; i++) {
		const struct score_row row = score_row(scores[i], class);

		if (row.truths > 0 || row.named > 0)
			return true;
	}
	return false;
}

static void
print_cell(const struct score *score, enum score_class class, FILE *out)
{
	const struct score_row row = score_row(score, class);

	if (row.truths == 0 && row.named == 0)
		fputs(" – |", out);
	else if (row.truths == 0)
		fprintf(out, " %" PRIu64 " wrong |", row.wrong);
	else if (row.named == 0)
		fputs(" none found |", out);
	else
		fprintf(
		    out, " %.3f (%.3f / %.3f) |", row.f1, row.precision, row.recall);
}

static void
print_times(const struct score *score, FILE *out)
{
	static const double shares[] = { .5, .9, .99 };

	for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
		const double seconds = score_seconds(score, NULL, shares[i]);

		fputs(i > 0 ? " / " : " ", out);
		if (seconds < 0)
			fputs("–", out);
		else
			fprintf(out, "%.1f", seconds);
	}
	fputs(" |\n", out);
}

/* Directed links are the same links as the undirected ones, so they are left out. */
static uint64_t
without_fault(const struct score *score)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < SCORE_CLASSES; i++)
		if (i != SCORE_LINKS_DIRECTED)
			sum += score_row(score, i).wrong;
	return sum;
}

void
score_table(const struct score *const *scores, const char *const *names, size_t count,
    FILE *out)
{
	static const char *const titles[] = { "RNICs", "hosts", "links",
		"links, directed", "devices" };

	fputs("| F1 (precision / recall) |", out);
	for (size_t class = 0; class < SCORE_CLASSES; class ++)
		if (is_shown(scores, count, class))
			fprintf(out, " %s |", titles[class]);
	fputs(" named without fault | seconds: p50 / p90 / p99 |\n|---|", out);
	for (size_t class = 0; class < SCORE_CLASSES; class ++)
		if (is_shown(scores, count, class))
			fputs("---|", out);
	fputs("---|---|\n", out);
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "| %s |", names[i]);
		for (size_t class = 0; class < SCORE_CLASSES; class ++)
			if (is_shown(scores, count, class))
				print_cell(scores[i], class, out);
		fprintf(out, " %" PRIu64 " |", without_fault(scores[i]));
		print_times(scores[i], out);
	}
}
