#include "analyzer/finding/localise_one_class.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/finding/localise_losses.h"
#include "rackmesh/judge/crossings.h"

#define MIN_LOST 5
/* If at least this share of the lost packets is large, the size may be the cause, and
 * not the class. */
#define LARGE_OF_LOST 0.9F
/* At least this share of an element's lossy paths must have lost packets of its class
 * only. On its other lossy paths, other elements may lose packets, too. */
#define OF_PATHS 0.5
/* A smaller share suffices if nearly all of its lossy paths lost packets of its class:
 * another element on many of them loses another class. */
#define FEWER_OF_PATHS 0.25
#define OF_PATHS_WITH 0.95
/* ln of the chance that an element which loses all classes alike has lost packets of
 * only this class */
#define BY_CHANCE_LN (-8.0)
/* share of an element's paths that counts as nearly all of them */
#define ON_ALL_PATHS 0.9

struct class_losses {   /* for the paths that lost packets of this class only */
	uint32_t paths; /* 0: none */
	/* number of paths that lost packets of this class and of other classes */
	uint32_t with;
	uint8_t dscp;
	float sent, lost, all; /* all: packets sent in all classes */
};

struct localise_over { /* the lossy paths over an element */
	uint32_t paths;
	/* The number of paths that lost packets of the class known_dscp only, and cross
	 * an element that find_by_losses() has found to lose this class. */
	uint32_t known_paths;
	uint8_t known_dscp;
	float lost, large;
	struct class_losses by_class[LOCALISE_SUM_CLASSES];
};

/* The counts of one path in the newest two sets of rows. */
struct path_rows {
	float lost, large, all;
	size_t class_count;
	struct {
		uint8_t dscp;
		float sent, lost;
	} classes[LOCALISE_PATH_CLASSES];
};

static uint32_t
local_at(const struct localise_path *path, uint8_t i)
{
	return i < path->element_count ? path->elements[i]->local : path->pair->local;
}

static void
add_class(struct path_rows *rows, const struct localise_class_seen *of)
{
	size_t i = 0;

	while (i < rows->class_count && rows->classes[i].dscp != of->dscp)
		i++;
	if (i == LOCALISE_PATH_CLASSES || of->sent == 0)
		return;
	if (i == rows->class_count) {
		rows->class_count++;
		rows->classes[i].dscp = of->dscp;
	}
	rows->classes[i].sent += (float)of->sent;
	rows->classes[i].lost += (float)of->lost;
}

static void
read_rows(const struct localise_path *path, rm_mono_t now, struct path_rows *ret)
{
	*ret = (struct path_rows){ 0 };
	for (uint32_t age = 0; age < 2; age++) {
		const struct localise_counts_seen *seen =
		    localise_path_row(path, age, now);

		if (seen == NULL)
			continue;
		ret->lost += (float)(seen->forward + seen->reverse + seen->unknown);
		ret->large += seen->large_lost;
		ret->all += (float)seen->all;
		for (size_t i = 0; i < LOCALISE_PATH_CLASSES; i++)
			add_class(ret, &seen->by_class[i]);
	}
}

/* Leaves out the losses of this class: another element explains them. They are no
 * evidence that packets of the class arrive. */
static void
leave_out(struct path_rows *rows, uint8_t dscp)
{
	for (size_t i = 0; i < rows->class_count; i++) {
		if (rows->classes[i].dscp != dscp)
			continue;
		rows->lost -= rows->classes[i].lost;
		rows->all -= rows->classes[i].lost;
		rows->classes[i].sent -= rows->classes[i].lost;
		rows->classes[i].lost = 0;
	}
}

/* The index of the only class of which the path lost packets. LOCALISE_PATH_CLASSES:
 * there is none, because it lost no packets, or some of several classes. */
static size_t
only_class(const struct path_rows *rows)
{
	for (size_t i = 0; i < rows->class_count; i++)
		if (rows->classes[i].lost > 0 && rows->classes[i].lost >= rows->lost)
			return i;
	return LOCALISE_PATH_CLASSES;
}

static struct class_losses *
losses_of(struct localise_over *over, uint8_t dscp)
{
	for (size_t i = 0; i < LOCALISE_SUM_CLASSES; i++) {
		struct class_losses *of = &over->by_class[i];

		if (of->paths + of->with > 0 && of->dscp != dscp)
			continue;
		of->dscp = dscp;
		return of;
	}
	return NULL;
}

static void
add_path(struct localise_over *to, const struct path_rows *rows)
{
	const size_t only = only_class(rows);

	to->paths++;
	to->lost += rows->lost;
	to->large += rows->large;
	for (size_t i = 0; i < rows->class_count; i++) {
		struct class_losses *of = rows->classes[i].lost > 0
					      ? losses_of(to, rows->classes[i].dscp)
					      : NULL;

		if (of == NULL)
			continue;
		if (i != only) {
			of->with++;
			continue;
		}
		of->paths++;
		of->sent += rows->classes[i].sent;
		of->lost += rows->classes[i].lost;
		of->all += rows->all;
	}
}

/* True: the path crosses an element that loses packets of a class on nearly all its
 * paths: that explains the path's losses of this class. */
static bool
explained_on(
    const struct localise_case *c, const struct localise_path *path, uint8_t *dscp)
{
	for (uint8_t i = 0; i <= path->element_count; i++) {
		const struct localise_local *local = &c->locals[local_at(path, i)];

		if (!local->on_all_paths)
			continue;
		*dscp = local->dscp;
		return true;
	}
	return false;
}

/* others: adds only losses that no element explains by its class */
static void
count_losses(struct localise_case *c, bool others)
{
	memset(c->over, 0, c->local_count * sizeof *c->over);
	for (size_t i = 0; i < c->lossy_count; i++) {
		const struct localise_path *path = c->lossy[i].path;
		struct path_rows rows;
		uint8_t dscp;

		read_rows(path, c->now, &rows);
		if (others && explained_on(c, path, &dscp)) {
			leave_out(&rows, dscp);
			if (rows.lost <= 0)
				continue;
		}
		for (uint8_t k = 0; k <= path->element_count; k++)
			add_path(&c->over[local_at(path, k)], &rows);
	}
}

/* Returns the ln of the number of ways to choose `paths` of `all` paths. */
static double
choices_ln(uint32_t all, uint32_t paths)
{
	return lgamma(all + 1.0) - lgamma(paths + 1.0) - lgamma(all - paths + 1.0);
}

static bool
is_on_enough_paths(const struct localise_over *over, const struct class_losses *of)
{
	return of->paths >= OF_PATHS * over->paths ||
	       (of->paths >= FEWER_OF_PATHS * over->paths &&
		   of->paths + of->with >= OF_PATHS_WITH * over->paths);
}

static bool
is_one_class(const struct localise_over *over, const struct class_losses *of)
{
	return of->sent < of->all &&
	       (double)of->lost * log((double)of->sent / (double)of->all) +
		       choices_ln(over->paths, of->paths) <=
		   BY_CHANCE_LN;
}

static bool
find_by_losses(struct localise_case *c)
{
	bool any = false;

	for (size_t i = 0; i < c->local_count; i++)
		for (size_t k = 0; k < LOCALISE_SUM_CLASSES; k++) {
			const struct localise_over *over = &c->over[i];
			const struct class_losses *of = &over->by_class[k];

			if (c->locals[i].one_class || of->lost < MIN_LOST ||
			    over->large >= LARGE_OF_LOST * over->lost ||
			    !is_on_enough_paths(over, of) || !is_one_class(over, of))
				continue;
			c->locals[i].one_class = any = true;
			c->locals[i].dscp = of->dscp;
			c->locals[i].on_all_paths =
			    c->locals[i].transit == NULL &&
			    of->paths + of->with >=
				ON_ALL_PATHS * (double)c->locals[i].element->path_count;
		}
	return any;
}

/* True: an element of the path loses packets of one class only. *dscp: the class of the
 * first such element. */
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
count_known(struct localise_case *c, const struct localise_path *path)
{
	struct path_rows rows;
	size_t only;
	uint8_t dscp;

	if (!class_on(c, path, &dscp))
		return;
	read_rows(path, c->now, &rows);
	only = only_class(&rows);
	if (only == LOCALISE_PATH_CLASSES || rows.classes[only].dscp != dscp)
		return;
	for (uint8_t i = 0; i <= path->element_count; i++) {
		struct localise_over *over = &c->over[local_at(path, i)];

		if (over->known_paths > 0 && over->known_dscp != dscp)
			continue;
		over->known_dscp = dscp;
		over->known_paths++;
	}
}

/* Gives a class to elements with too few losses for find_by_losses(). If at least
 * OF_PATHS of an element's lossy paths lost only packets of a class that another
 * element on them loses, it may lose this class as well as the other one: both are then
 * judged by the same packets. */
static void
find_by_others(struct localise_case *c)
{
	for (size_t i = 0; i < c->lossy_count; i++)
		count_known(c, c->lossy[i].path);
	for (size_t i = 0; i < c->local_count; i++) {
		const struct localise_over *over = &c->over[i];
		struct localise_local *local = &c->locals[i];

		if (local->one_class || over->known_paths == 0 ||
		    over->known_paths < OF_PATHS * over->paths)
			continue;
		local->one_class = true;
		local->dscp = over->known_dscp;
	}
}

static double
lost_of(const struct localise_sum *sum)
{
	return sum->forward + sum->reverse + sum->unknown;
}

/* Splits the entry c->lossy[at] into one entry for the packets of this class and, if
 * packets of other classes were lost, one entry for these. dscp: the class that an
 * element of its path loses. */
static int
split_entry(struct localise_case *c, size_t at, uint8_t dscp)
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
	count_losses(c, false);
	if (!find_by_losses(c))
		return 0;
	find_by_others(c);
	count_losses(c, true);
	find_by_losses(c);
	for (size_t i = 0; r == 0 && i < paths; i++) {
		uint8_t dscp;

		if (class_on(c, c->lossy[i].path, &dscp))
			r = split_entry(c, i, dscp);
	}
	return r;
}

/* Returns the element whose one_class applies to this one: for a transit this is its
 * switch, if that loses one class only, or else its pair; for other elements it is the
 * element itself. */
static const struct localise_local *
element_with_class(const struct localise_case *c, uint32_t local)
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
	const struct localise_local *of = element_with_class(c, local);

	return lossy->classes == LOCALISE_ALL_CLASSES || !of->one_class ||
	       (of->dscp == lossy->dscp) == (lossy->classes == LOCALISE_CLASS);
}

struct localise_sum
localise_one_class_over(
    const struct localise_case *c, uint32_t local, const struct localise_sum *sum)
{
	const struct localise_local *of = element_with_class(c, local);

	return of->one_class ? localise_sum_of_class(sum, of->dscp, NULL) : *sum;
}
