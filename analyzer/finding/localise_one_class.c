#include "analyzer/finding/localise_one_class.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/finding/localise_losses.h"
#include "rackmesh/judge/crossings.h"

#define MIN_LOST 5
#define LARGE_OF_LOST 0.9F /* more, and the size matters, not the class */
/* Share of an element's lossy paths: on the others another part may lose, too. */
#define OF_PATHS 0.5
/* ln of the chance that an element which loses all classes alike loses only this one */
#define BY_CHANCE_LN (-8.0)

struct class_over {     /* paths that lost packets of this class alone */
	uint32_t paths; /* 0: none */
	uint8_t dscp;
	float sent, lost, all; /* all: sent in all classes */
};

struct localise_over { /* lossy paths over an element */
	uint32_t paths;
	/* Those that lost packets of one class alone, and cross an element which loses
	 * this class. */
	uint32_t beyond;
	uint8_t beyond_dscp;
	float lost, large;
	struct class_over of[LOCALISE_SUM_CLASSES];
};

static uint32_t
local_at(const struct localise_path *path, uint8_t i)
{
	return i < path->element_count ? path->elements[i]->local : path->pair->local;
}

/* The newest two sets of rows of a path. *one: its only lossy class; paths 0: it has
 * lost packets of several. */
static void
read_rows(const struct localise_path *path, rm_mono_t now, struct localise_over *ret,
    struct class_over *one)
{
	*ret = (struct localise_over){ .paths = 1 };
	*one = (struct class_over){ 0 };
	for (uint32_t age = 0; age < 2; age++) {
		const struct localise_counts_seen *seen =
		    localise_path_row(path, age, now);

		if (seen == NULL)
			continue;
		ret->lost += (float)(seen->forward + seen->reverse + seen->unknown);
		ret->large += seen->large_lost;
		one->all += (float)seen->all;
		for (size_t i = 0; i < LOCALISE_PATH_CLASSES; i++)
			if (seen->by_class[i].lost > one->lost) {
				one->lost = seen->by_class[i].lost;
				one->dscp = seen->by_class[i].dscp;
			}
	}
	one->lost = 0;
	for (uint32_t age = 0; age < 2; age++) {
		const struct localise_counts_seen *seen =
		    localise_path_row(path, age, now);

		for (size_t i = 0; seen != NULL && i < LOCALISE_PATH_CLASSES; i++)
			if (seen->by_class[i].dscp == one->dscp) {
				one->sent += seen->by_class[i].sent;
				one->lost += seen->by_class[i].lost;
			}
	}
	one->paths = one->lost > 0 && one->lost >= ret->lost;
}

static void
add(struct localise_over *to, const struct localise_over *path,
    const struct class_over *one)
{
	to->paths++;
	to->lost += path->lost;
	to->large += path->large;
	for (size_t i = 0; one->paths > 0 && i < LOCALISE_SUM_CLASSES; i++) {
		struct class_over *of = &to->of[i];

		if (of->paths > 0 && of->dscp != one->dscp)
			continue;
		of->dscp = one->dscp;
		of->paths++;
		of->sent += one->sent;
		of->lost += one->lost;
		of->all += one->all;
		return;
	}
}

static void
count(struct localise_case *c)
{
	memset(c->over, 0, c->local_count * sizeof *c->over);
	for (size_t i = 0; i < c->lossy_count; i++) {
		const struct localise_path *path = c->lossy[i].path;
		struct localise_over rows;
		struct class_over one;

		read_rows(path, c->now, &rows, &one);
		for (uint8_t k = 0; k <= path->element_count; k++)
			add(&c->over[local_at(path, k)], &rows, &one);
	}
}

/* ln of the number of ways to choose so many of all paths */
static double
choices_ln(uint32_t all, uint32_t paths)
{
	return lgamma(all + 1.0) - lgamma(paths + 1.0) - lgamma(all - paths + 1.0);
}

static bool
is_one_class(const struct localise_over *over, const struct class_over *of)
{
	return of->paths > 0 && of->paths >= OF_PATHS * over->paths &&
	       of->lost >= MIN_LOST && of->sent < of->all &&
	       /* Few large packets may be of one class by chance. */
	       over->large < LARGE_OF_LOST * over->lost &&
	       (double)of->lost * log((double)of->sent / (double)of->all) +
		       choices_ln(over->paths, of->paths) <=
		   BY_CHANCE_LN;
}

static bool
decide(struct localise_case *c)
{
	bool any = false;

	for (size_t i = 0; i < c->local_count; i++)
		for (size_t k = 0; k < LOCALISE_SUM_CLASSES; k++) {
			if (c->locals[i].one_class ||
			    !is_one_class(&c->over[i], &c->over[i].of[k]))
				continue;
			c->locals[i].one_class = any = true;
			c->locals[i].dscp = c->over[i].of[k].dscp;
		}
	return any;
}

/* The class that a part of the path loses. */
static bool
class_on(const struct localise_case *c, const struct localise_path *path, uint8_t *dscp)
{
	for (uint8_t i = 0; i <= path->element_count; i++) {
		const struct localise_local *local = &c->locals[local_at(path, i)];

		if (!local->one_class)
			continue;
		*dscp = local->dscp;
		return true;
	}
	return false;
}

static void
count_beyond(struct localise_case *c, const struct localise_path *path)
{
	struct localise_over rows;
	struct class_over one;
	uint8_t dscp;

	if (!class_on(c, path, &dscp))
		return;
	read_rows(path, c->now, &rows, &one);
	if (one.paths == 0 || one.dscp != dscp)
		return;
	for (uint8_t i = 0; i <= path->element_count; i++) {
		struct localise_over *over = &c->over[local_at(path, i)];

		if (over->beyond > 0 && over->beyond_dscp != dscp)
			continue;
		over->beyond_dscp = dscp;
		over->beyond++;
	}
}

/* A part with few losses is compared with others on its paths: it may lose this class
 * as well as they may. */
static void
extend(struct localise_case *c)
{
	for (size_t i = 0; i < c->lossy_count; i++)
		count_beyond(c, c->lossy[i].path);
	for (size_t i = 0; i < c->local_count; i++) {
		const struct localise_over *over = &c->over[i];
		struct localise_local *local = &c->locals[i];

		if (local->one_class || over->beyond == 0 ||
		    over->beyond < OF_PATHS * over->paths)
			continue;
		local->one_class = true;
		local->dscp = over->beyond_dscp;
	}
}

static double
lost_of(const struct localise_sum *sum)
{
	return sum->forward + sum->reverse + sum->unknown;
}

/* dscp: what a part of its path loses. */
static int
split(struct localise_case *c, size_t at, uint8_t dscp)
{
	struct localise_lossy *lossy = &c->lossy[at];
	struct localise_lossy others = { .path = lossy->path,
		.classes = LOCALISE_OTHERS,
		.dscp = dscp,
		.again = true };

	lossy->sum = localise_sum_of_class(&lossy->sum, dscp, &others.sum);
	lossy->classes = LOCALISE_CLASS;
	lossy->dscp = dscp;
	if (round(lost_of(&others.sum)) < 1)
		return 0;
	if (localise_losses_grow(
		&c->lossy, &c->lossy_size, c->lossy_count + 1, sizeof *c->lossy) < 0)
		return -ENOMEM;
	c->lossy[c->lossy_count++] = others;
	return 0;
}

int
localise_one_class_find(struct localise_case *c)
{
	const size_t paths = c->lossy_count;
	int r = 0;

	if (paths == 0)
		return 0;
	if (rm_scratch(&c->over, &c->over_size, c->local_count, sizeof *c->over) < 0)
		return -ENOMEM;
	count(c);
	if (!decide(c))
		return 0;
	extend(c);
	for (size_t i = 0; r == 0 && i < paths; i++) {
		uint8_t dscp;

		if (class_on(c, c->lossy[i].path, &dscp))
			r = split(c, i, dscp);
	}
	return r;
}

/* What may lose a class alone: of a transit, its switch or its pair. */
static const struct localise_local *
with_class(const struct localise_case *c, uint32_t local)
{
	const struct localise_local *of = &c->locals[local];
	const struct localise_local *node;

	if (of->transit == NULL)
		return of;
	node = &c->locals[of->element->local];
	return node->one_class ? node : &c->locals[of->transit->local];
}

bool
localise_one_class_crossed(
    const struct localise_case *c, const struct localise_lossy *lossy, uint32_t local)
{
	const struct localise_local *of = with_class(c, local);

	return lossy->classes == LOCALISE_ALL_CLASSES || !of->one_class ||
	       (of->dscp == lossy->dscp) == (lossy->classes == LOCALISE_CLASS);
}

struct localise_sum
localise_one_class_over(
    const struct localise_case *c, uint32_t local, const struct localise_sum *sum)
{
	const struct localise_local *of = with_class(c, local);

	return of->one_class ? localise_sum_of_class(sum, of->dscp, NULL) : *sum;
}
