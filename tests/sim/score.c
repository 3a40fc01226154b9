#include "tests/sim/score.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/score_state.h"

/* most sentences that are kept; further ones are only counted */
#define MAX_ERRORS 1000

int
score_new(struct score **ret)
{
	struct score *score = calloc(1, sizeof *score);

	if (score == NULL)
		return -ENOMEM;
	*ret = score;
	return 0;
}

void
score_free(struct score *score)
{
	if (score == NULL)
		return;
	free(score->times);
	free(score->errors);
	free(score->cases);
	free(score->open);
	free(score->next);
	free(score);
}

/* Makes room for one more item of `size` bytes behind `count` items in *(void **)array.
 */
static int
grow(void *array, size_t *allocated, size_t count, size_t size)
{
	const size_t more = *allocated > 0 ? 2 * *allocated : 16;
	void **p = array, *wider;

	if (count < *allocated)
		return 0;
	wider = realloc(*p, more * size);
	if (wider == NULL)
		return -ENOMEM;
	*p = wider;
	*allocated = more;
	return 0;
}

static int
append(struct score *score, const char *sentences)
{
	const size_t n = strlen(sentences);
	char *longer = realloc(score->errors, score->errors_length + n + 1);

	if (longer == NULL)
		return -ENOMEM;
	memcpy(longer + score->errors_length, sentences, n + 1);
	score->errors = longer;
	score->errors_length += n;
	return 0;
}

int
score_complain(struct score *score, const char *format, ...)
{
	char sentence[2 * RM_PART_NAME_BYTES];
	va_list args;

	if (score->error_count++ >= MAX_ERRORS)
		return 0;
	va_start(args, format);
	vsnprintf(sentence, sizeof sentence, format, args);
	va_end(args);
	return append(score, sentence);
}

static int
add_case(struct score *score, const struct truth *truth, uint32_t part,
    enum score_class class)
{
	if (grow(&score->cases, &score->cases_allocated, score->case_count,
		sizeof *score->cases) < 0)
		return -ENOMEM;
	score->cases[score->case_count++] =
	    (struct score_case){ .truth = truth, .part = part, .class = class };
	score->rows[class].truths++;
	return 0;
}

static uint32_t
cable(const struct clos *clos, uint32_t link)
{
	const uint32_t twin = clos_part(clos, link)->twin;

	return link < twin ? link : twin;
}

static int
add_truth(struct score *score, const struct truth *truth)
{
	const struct clos_part *p = clos_part(score->clos, truth->part);
	int r;

	if (!truth->counts)
		return 0;
	if (p->type != CLOS_LINK)
		return add_case(score, truth, truth->part, score_class_of(p->type));
	r = add_case(score, truth, cable(score->clos, truth->part), SCORE_LINKS);
	if (r == 0)
		r = add_case(score, truth, truth->part, SCORE_LINKS_DIRECTED);
	if (r == 0 && truth->both_directions)
		r = add_case(score, truth, p->twin, SCORE_LINKS_DIRECTED);
	return r;
}

int
score_begin(struct score *score, const struct clos *clos, const struct truth *truths,
    size_t count)
{
	int r = 0;

	score->clos = clos;
	score->truths = truths;
	score->truth_count = count;
	score->case_count = 0;
	score->open_count = 0;
	for (size_t i = 0; i < count && r == 0; i++)
		r = add_truth(score, &truths[i]);
	return r;
}

static bool
was_open(const struct score *score, const struct score_opening *o)
{
	for (size_t i = 0; i < score->open_count; i++)
		if (score->open[i].part == o->part &&
		    score->open[i].other == o->other &&
		    score->open[i].third == o->third &&
		    score->open[i].class == o->class)
			return true;
	return false;
}

static void
count_confidence(struct score *score, double confidence, bool right)
{
	const size_t i = confidence >= 1   ? 9
			 : confidence <= 0 ? 0
					   : (size_t)(confidence * 10);

	score->sure_named[i]++;
	score->sure_right[i] += right;
}

/* The class of "B" in "A or B": A may be a switch, and B one of its cables. */
static enum score_class
class_of_other(const struct score *score, uint32_t other, enum score_class class)
{
	return class == SCORE_DEVICES &&
		       clos_part(score->clos, other)->type == CLOS_LINK
		   ? SCORE_LINKS
		   : class;
}

static bool
other_is_right(
    const struct score *score, uint32_t other, enum score_class class, int64_t now_ns)
{
	return score_is_right(
	    score, other, class_of_other(score, other, class), now_ns);
}

/* A part that was not named at the last judgement. */
static int
count_opening(struct score *score, const struct score_opening *o, int64_t now_ns,
    double confidence)
{
	const bool right =
	    score_is_right(score, o->part, o->class, now_ns) ||
	    (o->other != CLOS_NONE &&
		other_is_right(score, o->other, o->class, now_ns)) ||
	    (o->third != 0 && other_is_right(score, o->third, o->class, now_ns));
	char name[RM_PART_NAME_BYTES];

	score->rows[o->class].named++;
	score->rows[o->class].wrong += !right;
	if (o->class == SCORE_LINKS_DIRECTED)
		return 0; /* the cable of the link was counted already */
	count_confidence(score, confidence, right);
	if (right)
		return 0;
	score_name(score, o->part, o->class, name);
	return score_complain(score, "%.1f s: %s was named and is not at fault\n",
	    (double)now_ns / 1e9, name);
}

static bool
is_late_kind(const char *kind)
{
	static const char late[] = "-late";
	const size_t n = strlen(kind);

	return n >= strlen(late) && strcmp(kind + n - strlen(late), late) == 0;
}

static int
find_cases(struct score *score, uint32_t part, enum score_class class, bool either,
    int64_t now_ns, const struct scheme_named *named)
{
	const char *kind = named->kind;

	for (size_t i = 0; i < score->case_count; i++) {
		struct score_case *c = &score->cases[i];
		struct score_time *time;

		if (!score_holds(c->truth, now_ns) ||
		    (!score_finds(score, part, class, c) &&
			!score_hides(score, part, c, now_ns)))
			continue;
		c->has_kind = kind != NULL;
		c->is_late = kind != NULL && is_late_kind(kind);
		c->is_of_flows = kind != NULL && strcmp(kind, "flows-blackholed") == 0;
		c->one_class = named->one_class;
		c->dscp = named->dscp;
		if (c->found)
			continue;
		c->found = true;
		score->rows[c->class].found++;
		score->rows[c->class].either += either;
		if (c->class == SCORE_LINKS_DIRECTED)
			continue; /* the cable of the link has the time */
		if (grow(&score->times, &score->times_allocated, score->time_count,
			sizeof *score->times) < 0)
			return -ENOMEM;
		time = &score->times[score->time_count++];
		snprintf(time->kind, sizeof time->kind, "%s",
		    c->truth->kind != NULL ? c->truth->kind : "");
		time->seconds = (double)(now_ns - c->truth->from_ns) / 1e9;
	}
	return 0;
}

static int
find_other(struct score *score, uint32_t other, enum score_class class, int64_t now_ns,
    const struct scheme_named *named)
{
	const enum score_class mine = class_of_other(score, other, class);

	return find_cases(score, mine == class ? other : cable(score->clos, other),
	    mine, true, now_ns, named);
}

/* Compares in one class: a truth is found as one part, or as A or B. */
static int
report_part(struct score *score, size_t *next_count, struct score_opening o,
    int64_t now_ns, const struct scheme_named *named)
{
	const bool either = o.other != CLOS_NONE;
	int r = 0;

	for (size_t i = 0; i < *next_count;
	     i++) /* the part is named twice at the same time */
		if (score->next[i].part == o.part && score->next[i].class == o.class)
			return 0;
	if (grow(&score->next, &score->next_allocated, *next_count,
		sizeof *score->next) < 0)
		return -ENOMEM;
	score->next[(*next_count)++] = o;
	if (!was_open(score, &o))
		r = count_opening(score, &o, now_ns, named->confidence);
	if (r == 0)
		r = find_cases(score, o.part, o.class, either, now_ns, named);
	if (r == 0 && either)
		r = find_other(score, o.other, o.class, now_ns, named);
	if (r == 0 && o.third != 0)
		r = find_other(score, o.third, o.class, now_ns, named);
	return r;
}

static int
report_link(struct score *score, size_t *next_count, const struct scheme_named *named,
    int64_t now_ns)
{
	const uint32_t twin = clos_part(score->clos, named->part)->twin;
	const uint32_t other = named->other;
	const bool other_is_link =
	    other != CLOS_NONE && clos_part(score->clos, other)->type == CLOS_LINK;
	int r;

	r = report_part(score, next_count,
	    (struct score_opening){ cable(score->clos, named->part),
		other_is_link ? cable(score->clos, other) : other, SCORE_LINKS, 0 },
	    now_ns, named);
	if (r == 0)
		r = report_part(score, next_count,
		    (struct score_opening){
			named->part, other, SCORE_LINKS_DIRECTED, 0 },
		    now_ns, named);
	if (r == 0 && named->both_directions)
		r = report_part(score, next_count,
		    (struct score_opening){ twin, other, SCORE_LINKS_DIRECTED, 0 },
		    now_ns, named);
	return r;
}

int
score_report(
    struct score *score, int64_t now_ns, const struct scheme_named *named, size_t count)
{
	struct score_opening *open;
	size_t next_count = 0, allocated;
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		const enum clos_type type = clos_part(score->clos, named[i].part)->type;

		if (type == CLOS_LINK)
			r = report_link(score, &next_count, &named[i], now_ns);
		else
			r = report_part(score, &next_count,
			    (struct score_opening){ named[i].part, named[i].other,
				score_class_of(type), named[i].third },
			    now_ns, &named[i]);
	}
	open = score->open;
	allocated = score->open_allocated;
	score->open = score->next;
	score->open_allocated = score->next_allocated;
	score->open_count = next_count;
	score->next = open;
	score->next_allocated = allocated;
	return r;
}

/* True: the verdict named the class of packets that the part loses at the end, if the
 * part loses only one class. */
static bool
is_right_class(const struct score_case *c)
{
	return c->one_class == c->truth->one_class &&
	       (!c->one_class || c->dscp == c->truth->dscp);
}

/* For a truth that was found: decides whether its kind was wrong at the end. It is
 * wrong if the verdict called it late and it is not, or the other way round; if the
 * verdict said that it drops whole flows and it does not; or if the verdict named
 * another class of packets than the part loses. */
static int
check_kind(struct score *score, const struct score_case *c)
{
	const char *kind = c->truth->kind;
	char name[RM_PART_NAME_BYTES];

	if (!c->has_kind || kind == NULL ||
	    (c->is_late == (strcmp(kind, "latency") == 0) &&
		!(c->is_of_flows && strcmp(kind, "flows-blackholed") != 0) &&
		is_right_class(c)))
		return 0;
	score->rows[c->class].kinds_wrong++;
	if (c->class == SCORE_LINKS_DIRECTED)
		return 0; /* the cable of the link was reported already */
	score_name(score, c->part, c->class, name);
	return score_complain(score, "%.1f s: %s (%s) was called %s in the end\n",
	    (double)c->truth->from_ns / 1e9, name, kind,
	    c->is_of_flows       ? "swallowing flows"
	    : c->is_late         ? "late"
	    : !is_right_class(c) ? "lossy, with a wrong class or none"
				 : "other than late");
}

int
score_end(struct score *score, int64_t now_ns)
{
	char name[RM_PART_NAME_BYTES];
	int r = 0;

	for (size_t i = 0; i < score->case_count && r == 0; i++) {
		const struct score_case *c = &score->cases[i];

		if (c->found)
			r = check_kind(score, c);
		if (c->found || c->class == SCORE_LINKS_DIRECTED)
			continue;
		score_name(score, c->truth->part,
		    clos_part(score->clos, c->part)->type == CLOS_LINK
			? SCORE_LINKS_DIRECTED
			: c->class,
		    name);
		r = score_complain(score,
		    "%.1f s: %s (%s, loss %g) was never named, until %.1f s\n",
		    (double)c->truth->from_ns / 1e9, name,
		    c->truth->kind != NULL ? c->truth->kind : "-", c->truth->loss,
		    (double)now_ns / 1e9);
	}
	score->truth_count = score->case_count = score->open_count = 0;
	return r;
}

int
score_add(struct score *into, const struct score *from)
{
	for (size_t i = 0; i < SCORE_CLASSES; i++) {
		into->rows[i].truths += from->rows[i].truths;
		into->rows[i].found += from->rows[i].found;
		into->rows[i].either += from->rows[i].either;
		into->rows[i].named += from->rows[i].named;
		into->rows[i].wrong += from->rows[i].wrong;
		into->rows[i].kinds_wrong += from->rows[i].kinds_wrong;
	}
	for (size_t i = 0; i < 10; i++) {
		into->sure_named[i] += from->sure_named[i];
		into->sure_right[i] += from->sure_right[i];
	}
	for (size_t i = 0; i < from->time_count; i++) {
		if (grow(&into->times, &into->times_allocated, into->time_count,
			sizeof *into->times) < 0)
			return -ENOMEM;
		into->times[into->time_count++] = from->times[i];
	}
	into->error_count += from->error_count;
	return from->errors != NULL ? append(into, from->errors) : 0;
}
