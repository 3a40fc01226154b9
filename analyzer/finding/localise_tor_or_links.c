#include "analyzer/finding/localise_tor_or_links.h"

#include <math.h>
#include <string.h>

#include "analyzer/finding/localise_observe.h"

#define MAX_FLOWS 128
#define MAX_LINKS 4         /* links that are tried: those with the most losses */
#define LEVELS 8            /* shares of loss that are tried first: 1/2, 1/4, ... */
#define REFINED 3           /* then the best one is refined, each time to the half */
#define USUAL_LOSS 1e-4     /* share of packets that are lost elsewhere */
#define SECOND_LINK (-11.5) /* ln of the prior of a second faulty link */

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

struct faulty_link {
	uint64_t cable;
	double share; /* of the replies that cross it, if they may */
	double loss;
	bool out, in;   /* the directions, seen from the ToR, that lose packets */
	bool same_path; /* replies cross the link if their probes do */
};

/* What is at fault: a few links, or none of them and the ToR. */
struct hypothesis {
	struct faulty_link links[2];
	size_t link_count;
	double tor_loss;
};

bool
localise_is_link_of(
    const struct localise_suspect *suspect, const struct localise_element *node)
{
	return suspect->type == RM_PART_LINK &&
	       (strcmp(suspect->elements[0]->a, node->a) == 0 ||
		   strcmp(suspect->elements[0]->b, node->a) == 0);
}

static bool
is_on_other_part(const struct localise_case *c,
    const struct rm_explanation *explanation, const struct localise_suspect *tor,
    const struct localise_path *path)
{
	for (size_t i = 0; i < explanation->part_count; i++) {
		const struct localise_suspect *s =
		    &c->suspects[explanation->parts[i].candidate];

		if (s != tor && !localise_is_link_of(s, tor->elements[0]) &&
		    localise_suspect_on(s, path))
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
		struct localise_sum sum = { 0 }, newest = { 0 };

		if (path->element_count < 3 ||
		    is_on_other_part(c, explanation, tor, path))
			continue;
		seen(map, path, c->now, &sum);
		if (sum.sent < 1)
			continue;
		localise_path_newest(map, path, c->now, &newest);
		ret->over[ret->count++] = (struct over){
			.sent = sum.sent,
			.lost = sum.forward + sum.unknown + sum.reverse,
			.one_course = newest.tuples <= 1,
			.is_out = is_out,
			.cable =
			    path->elements[is_out ? 1 : path->element_count - 2]->cable
		};
	}
}

/* Returns ln P(the losses), if this share of the packets passes. */
static double
log_likely(const struct over *over, double passes)
{
	passes *= 1 - USUAL_LOSS;
	return over->lost * log1p(-passes) + (over->sent - over->lost) * log(passes);
}

/* The same, if the share `back` of the replies crosses a part with this loss. */
static double
log_likely_back(const struct over *over, double passes, double back, double loss)
{
	double one, other;

	if (!over->one_course || back <= 0 || back >= 1)
		return log_likely(over, passes * (1 - back * loss));
	one = log(back) + log_likely(over, passes * (1 - loss));
	other = log1p(-back) + log_likely(over, passes);
	return fmax(one, other) + log1p(exp(-fabs(one - other)));
}

/* Multiplies *passes by the share of the packets that passes the link. Returns the
 * share of the replies that may cross it: any reply to a probe of the ToR may. */
static double
cross(const struct over *over, const struct faulty_link *link, double *passes)
{
	const bool there = over->is_out ? link->out : link->in,
		   back = over->is_out ? link->in : link->out,
		   crosses = over->cable == link->cable;

	if (there && crosses)
		*passes *= 1 - link->loss;
	if (!back)
		return 0;
	return link->same_path ? crosses : link->share;
}

static double
log_likely_all(const struct paths *paths, const struct hypothesis *h)
{
	double sum = 0;

	for (size_t i = 0; i < paths->count; i++) {
		const struct over *over = &paths->over[i];
		double passes = 1 - h->tor_loss, back = 1, loss = h->tor_loss;

		if (h->link_count > 0) {
			back = cross(over, &h->links[0], &passes);
			loss = h->links[0].loss;
		}
		if (h->link_count == 2) {
			const double second = cross(over, &h->links[1], &passes);

			/* as if one of the two had the mean loss */
			if (back + second > 0)
				loss = (back * loss + second * h->links[1].loss) /
				       (back + second);
			back = fmin(back + second, 1);
		}
		sum += log_likely_back(over, passes, back, loss);
	}
	return sum;
}

/* Sets *loss, a loss of the hypothesis, to the likeliest. Returns ln P(the losses). */
static double
fit(const struct paths *paths, struct hypothesis *h, double *loss)
{
	double best = -INFINITY, best_at = 0.5, ratio = 2;

	for (int i = 1; i <= LEVELS; i++) {
		*loss = ldexp(1, -i);
		const double likely = log_likely_all(paths, h);

		if (likely > best) {
			best = likely;
			best_at = *loss;
		}
	}
	for (int i = 0; i < REFINED; i++) {
		const double around[] = { best_at * (ratio = sqrt(ratio)),
			best_at / ratio };

		for (size_t k = 0; k < 2; k++) {
			double likely;

			*loss = fmin(around[k], 0.98);
			likely = log_likely_all(paths, h);
			if (likely > best) {
				best = likely;
				best_at = *loss;
			}
		}
	}
	*loss = best_at;
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

/* Makes this cable the last link of the hypothesis, with the directions and the loss
 * that explain the losses best. */
static double
fit_link(const struct paths *paths, struct hypothesis *h, uint64_t cable)
{
	struct faulty_link *link = &h->links[h->link_count - 1];
	struct faulty_link best_link = { 0 };
	double best = -INFINITY;

	for (unsigned i = 0; i < 6; i++) {
		double likely;

		*link = (struct faulty_link){ .cable = cable,
			.share = share_of(paths, cable),
			.out = i % 3 != 1,
			.in = i % 3 != 2,
			.same_path = i >= 3 };
		likely = fit(paths, h, &link->loss);
		if (likely > best) {
			best = likely;
			best_link = *link;
		}
	}
	*link = best_link;
	return best;
}

static double
lost_on(const struct localise_case *c, const struct localise_suspect *s)
{
	double lost = 0;

	for (size_t i = 0; i < s->element_count; i++)
		lost += c->locals[s->elements[i]->local].lost;
	return lost;
}

/* Adds the link to the list, which has the links with the most losses first. The
 * suspect of both directions replaces that of one. */
static size_t
add_link(const struct localise_case *c, const struct localise_suspect *s,
    const struct localise_suspect *links[MAX_LINKS], size_t count)
{
	size_t at = 0;

	while (at < count && links[at]->elements[0]->cable != s->elements[0]->cable)
		at++;
	if (at < count) {
		if (links[at]->element_count >= s->element_count)
			return count;
	} else if (count < MAX_LINKS) {
		count++;
	} else if (lost_on(c, s) <= lost_on(c, links[--at])) {
		return count;
	}
	for (; at > 0 && lost_on(c, links[at - 1]) < lost_on(c, s); at--)
		links[at] = links[at - 1];
	links[at] = s;
	return count;
}

double
localise_tor_or_links(const struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, const struct rm_explanation *explanation,
    const struct localise_suspect *tor)
{
	const struct localise_suspect *links[MAX_LINKS];
	struct hypothesis of_tor = { 0 }, h = { .link_count = 1 }, one = { 0 };
	double best = -INFINITY;
	struct paths paths;
	size_t count = 0;

	for (size_t i = 0; i < c->suspect_count; i++)
		if (localise_is_link_of(&c->suspects[i], tor->elements[0]))
			count = add_link(c, &c->suspects[i], links, count);
	take_paths(c, map, seen, explanation, tor, &paths);
	for (size_t i = 0; i < count; i++) {
		const double likely =
		    fit_link(&paths, &h, links[i]->elements[0]->cable);

		if (likely > best) {
			best = likely;
			one = h;
		}
	}
	for (size_t i = 0; i < count; i++) {
		h = one;
		h.link_count = 2;
		if (links[i]->elements[0]->cable == one.links[0].cable)
			continue;
		fit_link(&paths, &h, links[i]->elements[0]->cable);
		best = fmax(best, SECOND_LINK + fit(&paths, &h, &h.links[0].loss));
	}
	return fit(&paths, &of_tor, &of_tor.tor_loss) - best;
}
