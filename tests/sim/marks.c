#include "tests/sim/marks.h"

#include <errno.h>

#include "tests/sim/marks_read.h"

/* ---- reading --------------------------------------------------------------------- */

const char *const marks_class_names[MARKS_SECONDS + 2] = { [SCORE_RNICS] = "rnics",
	[SCORE_HOSTS] = "hosts",
	[SCORE_LINKS] = "links",
	[SCORE_LINKS_DIRECTED] = "links_directed",
	[SCORE_DEVICES] = "devices",
	[MARKS_SECONDS] = "seconds" };

/* clang-format off */
const struct scenario_option marks_figures[MARK_FIGURES] = {
	[MARK_RECALL] = { "recall", 0, 0, 1, false, "least recall of a class" },
	[MARK_PRECISION] = { "precision", 0, 0, 1, false, "least precision of a class" },
	[MARK_F1] = { "f1", 0, 0, 1, false, "least F1 of a class" },
	[MARK_WRONG] = { "wrong", 0, 0, 1e6, true, "most false openings of a class" },
	[MARK_NAMED] = { "named", 0, 0, 1e6, true, "most openings of a class, right or wrong" },
	[MARK_KINDS_WRONG] = { "kinds_wrong", 0, 0, 1e6, true, "most found faults with a wrong kind in the end: called late or not, said to drop whole flows, or to lose a single class" },
};

const struct scenario_option marks_times[MARK_TIMES] = {
	[MARK_P50] = { "p50", 0, 0, 86400, false, "longest median time to a verdict, s" },
	[MARK_P90] = { "p90", 0, 0, 86400, false, "longest 90th percentile of it, s" },
	[MARK_P99] = { "p99", 0, 0, 86400, false, "longest 99th percentile of it, s" },
};
/* clang-format on */

static const struct scenario_option *
options_of(size_t class, size_t *count)
{
	*count = class == MARKS_SECONDS ? (size_t)MARK_TIMES : (size_t)MARK_FIGURES;
	return class == MARKS_SECONDS ? marks_times : marks_figures;
}

static int
read_mark(const struct scenario_read *read, const struct rm_yaml_node *node,
    const struct scenario_option *option, struct mark *ret)
{
	struct scenario_choice limit;
	int r;

	if (rm_yaml_kind(node) != RM_YAML_SCALAR)
		return rm_yaml_error(node, read->error, -EINVAL,
		    "%s: expected a plain number: a mark is the same for all runs",
		    option->name);
	r = scenario_read_number(read, node, option, &limit);
	if (r == 0)
		ret->limit = limit.values[0];
	return r;
}

static int
read_class(
    const struct scenario_read *read, const struct rm_yaml_node *map, size_t class)
{
	struct marks *marks = &read->scenario->marks;
	const char *keys[MARK_FIGURES + MARK_TIMES + 1] = { NULL };
	const struct scenario_option *options;
	size_t count;
	int r;

	if (rm_yaml_kind(map) != RM_YAML_MAP || rm_yaml_count(map) == 0)
		return rm_yaml_error(map, read->error, -EINVAL,
		    "%s: expected a map of marks", marks_class_names[class]);
	options = options_of(class, &count);
	for (size_t i = 0; i < count; i++)
		keys[i] = options[i].name;
	r = scenario_read_keys(read, map, marks_class_names[class], keys);
	for (size_t i = 0; i < count && r == 0; i++) {
		const struct rm_yaml_node *node = rm_yaml_get(map, options[i].name);
		struct mark mark = { .class = class, .figure = i };

		if (node == NULL)
			continue;
		r = read_mark(read, node, &options[i], &mark);
		if (r == 0)
			marks->of[marks->count++] = mark;
	}
	return r;
}

int
marks_read(const struct scenario_read *read, const struct rm_yaml_node *root)
{
	const struct rm_yaml_node *map = rm_yaml_get(root, "marks"), *node;
	int r;

	if (map == NULL)
		return 0;
	if (rm_yaml_kind(map) != RM_YAML_MAP)
		return rm_yaml_error(map, read->error, -EINVAL,
		    "marks: expected a map of classes, and seconds");
	r = scenario_read_keys(read, map, "marks", marks_class_names);
	for (size_t i = 0; i <= MARKS_SECONDS && r == 0; i++) {
		node = rm_yaml_get(map, marks_class_names[i]);
		if (node != NULL)
			r = read_class(read, node, i);
	}
	return r;
}

/* ---- checking -------------------------------------------------------------------- */

bool
mark_holds(const struct mark *mark, const struct score *score, double *ret)
{
	static const double shares[MARK_TIMES] = { .5, .9, .99 };
	struct score_row row;

	if (mark->class == MARKS_SECONDS) {
		*ret = score_seconds(score, NULL, shares[mark->figure]);
		return *ret >= 0 && *ret <= mark->limit;
	}
	row = score_row(score, (enum score_class)mark->class);
	switch ((enum mark_figure)mark->figure) {
	case MARK_WRONG:
		*ret = (double)row.wrong;
		return *ret <= mark->limit;
	case MARK_NAMED:
		*ret = (double)row.named;
		return *ret <= mark->limit;
	case MARK_KINDS_WRONG:
		*ret = (double)row.kinds_wrong;
		return *ret <= mark->limit;
	case MARK_PRECISION:
		*ret = row.precision;
		return *ret >= mark->limit;
	default:
		*ret = mark->figure == MARK_RECALL ? row.recall : row.f1;
		if (row.truths == 0)
			*ret = -1;
		return *ret >= mark->limit;
	}
}

/* Names contain no character that is special in XML. */
int
marks_report(const struct marks *marks, const char *name, const struct score *score,
    FILE *out, FILE *junit, struct marks_count *count)
{
	for (size_t i = 0; i < marks->count; i++) {
		const struct mark *mark = &marks->of[i];
		const bool most =
		    mark->class == MARKS_SECONDS || mark->figure == MARK_WRONG ||
		    mark->figure == MARK_NAMED || mark->figure == MARK_KINDS_WRONG;
		const char *class = marks_class_names[mark->class];
		size_t figures;
		const char *figure =
		    options_of(mark->class, &figures)[mark->figure].name;
		double reached;
		const bool holds = mark_holds(mark, score, &reached);

		*(holds ? &count->held : &count->failed) += 1;
		fprintf(out, "%-16s mark      %s: %s %s %.10g, at %s %.10g\n", name,
		    holds ? "holds" : "FAILS", class, figure, reached,
		    most ? "most" : "least", mark->limit);
		if (junit == NULL)
			continue;
		fprintf(junit, "<testcase classname=\"sim.%s\" name=\"%s %s\">", name,
		    class, figure);
		if (!holds)
			fprintf(junit, "<failure message=\"%.10g, not at %s %.10g\"/>",
			    reached, most ? "most" : "least", mark->limit);
		fprintf(junit, "</testcase>\n");
	}
	return ferror(out) || (junit != NULL && ferror(junit)) ? -EIO : 0;
}
