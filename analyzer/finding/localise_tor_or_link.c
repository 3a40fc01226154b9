#include "analyzer/finding/localise_tor_or_link.h"

#include <math.h>
#include <string.h>

#include "analyzer/finding/localise_observe.h"

#define MAX_FLOWS 128
/* the shares of loss that are tried: from 1/2 down to 1/2 * STEP^(TRIED - 1) = 0.5 % */
#define TRIED 21
#define STEP 0.794
#define USUAL_LOSS 1e-4 /* share of packets that are lost elsewhere */

/* The probes on one path of the ToR. */
struct over {
	double sent, lost;
	bool one_course; /* all of them are of one flow, so all replies take one path */
	bool is_out;     /* the path begins at the ToR */
	uint64_t cable;  /* of the ToR */
};

struct paths {
	struct over over[MAX_FLOWS];
	size_t count;
};

/* Which packets a faulty link loses. */
struct hypothesis {
	uint64_t cable;
	double share; /* of all paths that cross the cable */
	bool up, down;
	bool same_way; /* replies cross the cable if their probes do */
};

static uint64_t
cable_at(const struct localise_path *path, bool is_out)
{
	return path->elements[is_out ? 1 : path->element_count - 2]->cable;
}

static bool
is_on_other_part(const struct localise_case *c,
    const struct rm_explanation *explanation, const struct localise_suspect *tor,
    const struct localise_path *path)
{
	for (size_t i = 0; i < explanation->part_count; i++) {
		const struct localise_suspect *s =
		    &c->suspects[explanation->parts[i].candidate];

		if (s != tor && localise_suspect_on(s, path))
			return true;
	}
	return false;
}

static void
take_paths(const struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, const struct rm_explanation *explanation,
    const struct localise_suspect *tor, struct paths *ret)
{
	const struct localise_element *node = tor->elements[0];
	const size_t asked = localise_observe_asked(node);

	ret->count = 0;
	for (size_t i = 0; i < asked && ret->count < MAX_FLOWS; i++) {
		const struct localise_path *path = localise_observe_asked_path(node, i);
		const bool is_out = path->elements[0] == node;
		struct localise_sum sum = { 0 };

		if (path->element_count < 3 ||
		    is_on_other_part(c, explanation, tor, path))
			continue;
		seen(map, path, c->now, &sum);
		if (sum.sent >= 1)
			ret->over[ret->count++] = (struct over){ .sent = sum.sent,
				.lost = sum.forward + sum.unknown + sum.reverse,
				.one_course = sum.tuples <= 1,
				.is_out = is_out,
				.cable = cable_at(path, is_out) };
	}
}

/* Returns ln P(the losses), if this share of the packets is lost. */
static double
log_likely(const struct over *over, double passes)
{
	passes *= 1 - USUAL_LOSS;
	return over->lost * log1p(-passes) + (over->sent - over->lost) * log(passes);
}

static double
log_sum(double a, double b)
{
	return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

static double
log_likely_tor(const struct paths *paths, double loss)
{
	double sum = 0;

	for (size_t i = 0; i < paths->count; i++)
		sum += log_likely(&paths->over[i], (1 - loss) * (1 - loss));
	return sum;
}

static double
log_likely_link(const struct paths *paths, const struct hypothesis *h, double loss)
{
	double sum = 0;

	for (size_t i = 0; i < paths->count; i++) {
		const struct over *over = &paths->over[i];
		const bool there = over->is_out ? h->up : h->down,
			   back = over->is_out ? h->down : h->up,
			   crosses = over->cable == h->cable;
		const double passes = there && crosses ? 1 - loss : 1;

		if (!back || h->same_way)
			sum += log_likely(
			    over, back && crosses ? passes * (1 - loss) : passes);
		else if (over->one_course)
			sum += log_sum(
			    log(h->share) + log_likely(over, passes * (1 - loss)),
			    log1p(-h->share) + log_likely(over, passes));
		else
			sum += log_likely(over, passes * (1 - h->share * loss));
	}
	return sum;
}

/* Returns the largest ln P(the losses) over the shares of loss that are tried. h: NULL:
 * the ToR is at fault. */
static double
best_loss(const struct paths *paths, const struct hypothesis *h)
{
	double best = -INFINITY, loss = 0.5;

	for (size_t i = 0; i < TRIED; i++, loss *= STEP)
		best = fmax(best, h == NULL ? log_likely_tor(paths, loss)
					    : log_likely_link(paths, h, loss));
	return best;
}

static double
share_of(const struct paths *paths, uint64_t cable)
{
	double count = 0;

	for (size_t i = 0; i < paths->count; i++)
		count += paths->over[i].cable == cable;
	/* neither 0 nor 1: replies of the paths in use may take another one */
	return (count + 0.5) / ((double)paths->count + 1);
}

static double
best_of_link(const struct paths *paths, uint64_t cable)
{
	struct hypothesis h = { .cable = cable, .share = share_of(paths, cable) };
	double best = -INFINITY;

	for (unsigned i = 0; i < 6; i++) {
		h.up = i % 3 != 1;
		h.down = i % 3 != 2;
		h.same_way = i >= 3;
		best = fmax(best, best_loss(paths, &h));
	}
	return best;
}

/* True: the suspect is a link of the node; the one of both its directions if there are
 * several. */
static bool
is_link_of(const struct localise_suspect *s, const struct localise_element *node)
{
	return s->type == RM_PART_LINK && (strcmp(s->elements[0]->a, node->a) == 0 ||
					      strcmp(s->elements[0]->b, node->a) == 0);
}

double
localise_tor_or_link(const struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, const struct rm_explanation *explanation,
    const struct localise_suspect *tor, const struct localise_suspect **link)
{
	struct paths paths;
	double best = -INFINITY;

	*link = NULL;
	take_paths(c, map, seen, explanation, tor, &paths);
	for (size_t i = 0; i < c->suspect_count; i++) {
		const struct localise_suspect *s = &c->suspects[i];
		double likely;

		if (!is_link_of(s, tor->elements[0]))
			continue;
		if (*link != NULL &&
		    (*link)->elements[0]->cable == s->elements[0]->cable) {
			if (s->element_count > (*link)->element_count)
				*link = s;
			continue;
		}
		likely = best_of_link(&paths, s->elements[0]->cable);
		if (likely > best) {
			best = likely;
			*link = s;
		}
	}
	return best_loss(&paths, NULL) - best;
}
