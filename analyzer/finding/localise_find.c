#include "analyzer/finding/localise_find.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/finding/localise_observe.h"
#include "analyzer/paths/localise_part.h"

/* ln of likelihood ratios: two parts with a ratio up to 20 to 1 count as equally
 * likely; from 1000 to 1 on the likelier part is clear. */
#define AMBIGUOUS 3.0
#define SURE 6.9
/* The same limit between two transits of the same racks is 100 to 1, because the path
 * of a reply is known only by shares. */
#define AMBIGUOUS_TRANSITS 4.6
/* Up to 20,000 to 1 other parts, e.g. several cables of a switch, are a rival of it. */
#define RIVAL 10.0
#define CERTAIN 14.0 /* `behind` if no alternative was listed */
/* Least gain of a part for each flow, or probe, that is lost on it. */
#define FAINT_GAIN 0.5
#define DOWN 0.9 /* least fitted loss of a part through which nothing passes */
/* least share of the fitted loss that the part's own paths lose */
#define OVERSTATED 0.4
#define TOR_DEAD 0.99 /* least fitted loss of a ToR through which nothing passes */
/* Least fitted loss of such a ToR if it is named although one of its links is as
 * likely. */
#define TOR_DOWN 0.95

struct ties { /* one suspect of each part that is equally likely */
	const struct localise_suspect *suspects[LOCALISE_TIES];
	size_t count, tors, switches, links;
	double tor_loss; /* the smallest fitted loss of the ToRs */
	bool overflow;
};

static bool
is_known(const struct localise_finding *finding, const struct rm_part *part)
{
	for (size_t i = 0; i < finding->tie_count; i++)
		if (rm_part_equal(&finding->ties[i], part))
			return true;
	return false;
}

static void
add_tie(struct ties *ties, struct localise_finding *finding,
    const struct localise_suspect *suspect, double loss)
{
	struct rm_part part;

	localise_suspect_part(suspect, &part);
	if (is_known(finding, &part))
		return;
	if (ties->count == LOCALISE_TIES) {
		ties->overflow = true;
		return;
	}
	if (suspect->type == RM_PART_TOR)
		ties->tor_loss = ties->tors > 0 ? fmin(ties->tor_loss, loss) : loss;
	ties->tors += suspect->type == RM_PART_TOR;
	ties->switches += suspect->type == RM_PART_SWITCH;
	ties->links += suspect->type == RM_PART_LINK;
	ties->suspects[ties->count++] = suspect;
	finding->tied[finding->tie_count] = suspect;
	finding->ties[finding->tie_count++] = part;
}

static const struct localise_suspect *
of_type(const struct ties *ties, enum rm_part_type type, size_t nth)
{
	for (size_t i = 0; i < ties->count; i++)
		if (ties->suspects[i]->type == type && nth-- == 0)
			return ties->suspects[i];
	return NULL;
}

static bool
links_touch(const struct ties *ties, const struct localise_suspect *node)
{
	const char *name = node->elements[0]->a;

	for (size_t i = 0; i < ties->count; i++) {
		const struct localise_suspect *s = ties->suspects[i];

		if (s->type == RM_PART_LINK && strcmp(s->elements[0]->a, name) != 0 &&
		    strcmp(s->elements[0]->b, name) != 0)
			return false;
	}
	return true;
}

static bool
crosses_cable(const struct localise_path *path, uint64_t cable)
{
	for (uint8_t i = 0; i < path->element_count; i++)
		if (path->elements[i]->b[0] != '\0' &&
		    path->elements[i]->cable == cable)
			return true;
	return false;
}

/* True: all packets that cross the switch cross this cable, too, or a parallel one. */
static bool
is_in_series(const struct localise_suspect *link, const struct localise_suspect *node)
{
	const struct localise_element *e = node->elements[0];

	for (size_t i = 0; i < e->path_count; i++)
		if (!crosses_cable(e->paths[i], link->elements[0]->cable))
			return false;
	return true;
}

/* True: there is no parallel cable: all packets that cross the switch cross this one.
 */
static bool
is_single(const struct localise_suspect *link, const struct localise_suspect *node)
{
	return link->element_count == 2 &&
	       link->elements[0]->path_count + link->elements[1]->path_count ==
		   node->elements[0]->path_count;
}

/* True: the ties are a switch and two cables of it, which the same packets cross. If
 * they lose all packets, the switch stands for its cables. */
static bool
are_in_series(const struct ties *ties, const struct localise_finding *finding)
{
	const struct localise_suspect *node = of_type(ties, RM_PART_SWITCH, 0);

	return (finding->loss < DOWN || finding->suspect->one_class) &&
	       ties->count == 3 && ties->switches == 1 && ties->links == 2 &&
	       links_touch(ties, node) &&
	       is_in_series(of_type(ties, RM_PART_LINK, 0), node) &&
	       is_in_series(of_type(ties, RM_PART_LINK, 1), node);
}

/* True: a comes before b in "A or B": in alphabetical order, but a switch before its
 * links, because the first one gives the incident its type. */
static bool
comes_first(const struct rm_part *a, const struct rm_part *b)
{
	if ((a->type == RM_PART_LINK) != (b->type == RM_PART_LINK))
		return b->type == RM_PART_LINK;
	return strcmp(a->name, b->name) < 0;
}

/* Writes "A or B", or three parts. */
static void
either(struct localise_finding *finding, const struct localise_suspect *const *suspects,
    size_t count)
{
	const struct localise_suspect *sorted[LOCALISE_EITHER] = { NULL };
	struct rm_part parts[LOCALISE_EITHER] = { { 0 } };
	size_t len = 0;

	for (size_t i = 0; i < count; i++) {
		struct rm_part part;
		size_t at = i;

		localise_suspect_part(suspects[i], &part);
		for (; at > 0 && comes_first(&part, &parts[at - 1]); at--) {
			parts[at] = parts[at - 1];
			sorted[at] = sorted[at - 1];
		}
		parts[at] = part;
		sorted[at] = suspects[i];
	}
	finding->suspect = sorted[0];
	finding->part = (struct rm_part){ .type = parts[0].type };
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			finding->others[i - 1] = sorted[i];
		len += (size_t)snprintf(finding->part.name + len,
		    sizeof finding->part.name - len, "%s%s", i > 0 ? RM_PART_OR : "",
		    parts[i].name);
	}
}

/* True: all ties are transits. */
static bool
are_transits(const struct ties *ties)
{
	for (size_t i = 0; i < ties->count; i++)
		if (ties->suspects[i]->transit == NULL)
			return false;
	return true;
}

/* Decides which of several equally likely suspects to name. False: no rule decides. */
static bool
settle(const struct ties *ties, struct localise_finding *finding)
{
	const struct localise_suspect *tor = of_type(ties, RM_PART_TOR, 0),
				      *spine = of_type(ties, RM_PART_SWITCH, 0),
				      *link = of_type(ties, RM_PART_LINK, 0);

	if (ties->overflow)
		return false;
	/* Two racks are probed only by each other: no part between them is likelier
	 * than the two ToRs. */
	if (ties->tors == 2 && finding->loss >= DOWN && ties->tor_loss >= DOWN) {
		const struct localise_suspect *two[] = { tor,
			of_type(ties, RM_PART_TOR, 1) };

		either(finding, two, 2);
		return true;
	}
	/* A ToR all of whose uplinks are down counts as down. A lossy link does not
	 * make its ToR lossy. */
	if (ties->tors == 1 && finding->loss >= DOWN && ties->tor_loss >= TOR_DOWN) {
		finding->suspect = tor;
		return true;
	}
	if (are_in_series(ties, finding)) {
		either(finding, ties->suspects, 3);
		return true;
	}
	/* If single packets are lost, and the losses so far fit the switch best, more
	 * losses will decide. */
	if (finding->loses_share && ties->suspects[0] == spine && ties->tors < 2)
		return true;
	if (ties->links == 1 && ties->tors < 2) {
		finding->suspect = link;
		return true;
	}
	if (ties->tors == 0 && ties->switches == 1 && links_touch(ties, spine)) {
		finding->suspect = spine;
		finding->or_its_links = true;
		return true;
	}
	if (ties->count == 2 && ties->tors == 0 &&
	    (ties->links == 2 || ties->switches == 2)) {
		either(finding, ties->suspects, 2);
		return true;
	}
	/* If there is a single path between two racks, its switches cannot be
	 * distinguished. */
	if (ties->count == 3 && ties->switches == 3 && are_transits(ties)) {
		either(finding, ties->suspects, 3);
		return true;
	}
	return false;
}

/* True: all lossy paths over the suspect are between the same two racks. *ret: the path
 * suspect of these racks. */
static bool
only_path(const struct localise_case *c, const struct localise_suspect *suspect,
    struct localise_suspect *ret)
{
	struct localise_element *src = NULL, *dst = NULL;

	for (size_t i = 0; i < suspect->element_count; i++) {
		const struct localise_element *e = suspect->elements[i];

		for (size_t k = 0; k < e->path_count; k++) {
			const struct localise_path *path = e->paths[k];
			struct localise_element *end =
			    path->elements[path->element_count - 1];

			if (path->stamp != c->stamp)
				continue;
			if (src != NULL && (src != path->elements[0] || dst != end))
				return false;
			src = path->elements[0];
			dst = end;
		}
	}
	*ret = (struct localise_suspect){
		.type = RM_PART_PATH, .elements = { src, dst }, .element_count = 2
	};
	return src != NULL;
}

/* True: a path suspect is blamed, too, and the switch would explain its losses while
 * the link would not. */
static bool
explains_paths(const struct localise_case *c, const struct rm_explanation *explanation,
    const struct localise_suspect *node, const struct localise_suspect *link)
{
	for (size_t i = 0; i < explanation->part_count; i++) {
		const struct localise_suspect *path =
		    &c->suspects[explanation->parts[i].candidate];
		const struct localise_element *src = path->elements[0];

		if (path->type != RM_PART_PATH)
			continue;
		for (size_t k = 0; k < src->path_count; k++)
			if (localise_suspect_on(path, src->paths[k]) &&
			    localise_suspect_on(node, src->paths[k]) &&
			    !localise_suspect_on(link, src->paths[k]))
				return true;
	}
	return false;
}

/* The gain of a part is large enough only in proportion to the losses over it. A small
 * gain may come from inexact input: lossy flows are probed more often than others, and
 * paths of replies are known only by shares. */
bool
localise_is_faint(
    const struct localise_case *c, const struct rm_explanation *explanation, size_t nth)
{
	const struct rm_blamed *part = &explanation->parts[nth];
	const struct localise_suspect *suspect = &c->suspects[part->candidate];
	const struct rm_candidate *candidate = &c->candidates[part->candidate];
	double lost = 0;

	if (explanation->part_count < 2 || suspect->type == RM_PART_PATH)
		return false;
	for (size_t i = 0; i < candidate->element_count; i++)
		lost += c->locals[candidate->elements[i]].weighed;
	return part->gain < FAINT_GAIN * lost;
}

int
localise_find_parts(struct localise_case *c, struct rm_explanation *ret)
{
	size_t most = LOCALISE_MAX_PARTS;
	int r;

	do {
		r = localise_case_explain(c, most, ret);
		most = ret->part_count - 1;
	} while (r == 0 && ret->part_count > 1 && localise_is_faint(c, ret, 0));
	return r;
}

bool
localise_is_overstated(const struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, const struct rm_explanation *explanation, size_t nth)
{
	const struct rm_blamed *part = &explanation->parts[nth];
	const struct localise_suspect *suspect = &c->suspects[part->candidate];

	if (explanation->part_count < 2 || part->loss >= DOWN ||
	    suspect->transit != NULL ||
	    (suspect->type != RM_PART_LINK && suspect->type != RM_PART_SWITCH))
		return false;
	return localise_observe_share(c, map, seen, suspect) < OVERSTATED * part->loss;
}

/* True: another link of a switch at its ends is blamed, too, so that later rows may
 * show that the switch is at fault. */
static bool
has_sibling(const struct localise_case *c, const struct rm_explanation *explanation,
    const struct localise_suspect *mine)
{
	const struct localise_element *my = mine->elements[0];

	if (mine->type != RM_PART_LINK)
		return false;
	for (size_t i = 0; i < explanation->part_count; i++) {
		const struct localise_suspect *s =
		    &c->suspects[explanation->parts[i].candidate];
		const struct localise_element *e = s->elements[0];

		if (s->type == RM_PART_LINK && e->cable != my->cable &&
		    (strcmp(e->a, my->a) == 0 || strcmp(e->a, my->b) == 0 ||
			strcmp(e->b, my->a) == 0 || strcmp(e->b, my->b) == 0))
			return true;
	}
	return false;
}

static bool
has_end(const struct localise_suspect *link, const struct localise_suspect *node)
{
	const char *name = node->elements[0]->a;

	return link->type == RM_PART_LINK && node->type == RM_PART_SWITCH &&
	       node->transit == NULL &&
	       (strcmp(link->elements[0]->a, name) == 0 ||
		   strcmp(link->elements[0]->b, name) == 0);
}

/* Returns the ln of the largest factor by which b may be less likely than a and still
 * be a tie. */
static double
ambiguous(const struct localise_suspect *a, const struct localise_suspect *b)
{
	return a->transit != NULL && b->transit != NULL ? AMBIGUOUS_TRANSITS
							: AMBIGUOUS;
}

/* If one switch is among the ties, adds cables of it that are slightly less likely: if
 * all packets cross both, only replies distinguish them, by chance. */
static void
add_cables(const struct localise_case *c, const struct rm_blamed *blamed,
    struct ties *ties, struct localise_finding *finding)
{
	const struct localise_suspect *node = of_type(ties, RM_PART_SWITCH, 0);

	if (ties->switches != 1 || ties->tors > 0)
		return;
	for (size_t i = 0; i < blamed->alternative_count; i++) {
		const struct rm_alternative *a = &blamed->alternatives[i];
		const struct localise_suspect *s = &c->suspects[a->candidate];

		if (a->behind <= 2 * AMBIGUOUS && has_end(s, node))
			add_tie(ties, finding, s, a->loss);
	}
}

/* If a switch is blamed, adds the cables that all of its packets cross, too, however
 * likely: nothing distinguishes them. */
static void
add_series(const struct localise_case *c, const struct localise_suspect *mine,
    struct ties *ties, struct localise_finding *finding)
{
	if (mine->type != RM_PART_SWITCH || mine->transit != NULL || ties->tors > 0)
		return;
	for (size_t i = 0; i < c->suspect_count; i++)
		if (has_end(&c->suspects[i], mine) && is_single(&c->suspects[i], mine))
			add_tie(ties, finding, &c->suspects[i], finding->loss);
}

void
localise_find(const struct localise_case *c, const struct rm_explanation *explanation,
    size_t nth, struct localise_finding *ret)
{
	const struct rm_blamed *blamed = &explanation->parts[nth];
	const struct localise_suspect *mine = &c->suspects[blamed->candidate];
	struct ties ties = { .count = 0 };

	*ret = (struct localise_finding){ .suspect = mine,
		.gain = blamed->gain,
		.behind = CERTAIN,
		.loss = blamed->loss,
		.loses_share = blamed->loss < DOWN && !c->by_flow };
	add_tie(&ties, ret, mine, blamed->loss);
	for (size_t i = 0; i < blamed->alternative_count; i++) {
		const struct rm_alternative *a = &blamed->alternatives[i];
		const struct localise_suspect *s = &c->suspects[a->candidate];
		struct rm_part part;

		/* A path suspect is named only if no other part fits. */
		if (s->type == RM_PART_PATH)
			continue;
		localise_suspect_part(s, &part);
		if (a->behind <= ambiguous(mine, s))
			add_tie(&ties, ret, s, a->loss);
		else if (!is_known(ret, &part))
			ret->behind = fmin(ret->behind, a->behind);
	}
	add_cables(c, blamed, &ties, ret);
	add_series(c, mine, &ties, ret);
	ret->has_tor = ties.tors > 0;
	if (mine->type != RM_PART_PATH && ties.count > 1 && !settle(&ties, ret)) {
		const bool one = only_path(c, mine, &ret->path);

		/* Another switch between the same two racks is as likely: name the
		 * path.
		 */
		if (!one && mine->transit != NULL && ties.switches > 1) {
			ret->path = localise_suspect_path(mine->transit);
			ret->is_crowded = true;
		}
		if (one || ret->is_crowded)
			ret->suspect = &ret->path;
		else
			ret->is_crowded = true;
	}
	if (ties.tors == 0 && ties.switches == 1 && ties.links == 1 &&
	    explains_paths(c, explanation, of_type(&ties, RM_PART_SWITCH, 0),
		of_type(&ties, RM_PART_LINK, 0)))
		ret->suspect = of_type(&ties, RM_PART_SWITCH, 0);
	if (ret->others[0] == NULL)
		localise_suspect_part(ret->suspect, &ret->part);
	ret->has_sibling = has_sibling(c, explanation, mine);
	/* A ToR through which nothing passes has no rivals: it is down, no matter
	 * whether the ToR itself or all of its uplinks are at fault. */
	ret->has_rival = c->by_flow && blamed->rival_behind < RIVAL &&
			 (mine->type != RM_PART_TOR || blamed->loss < TOR_DEAD);
	ret->has_rival |= c->slow && c->candidates[blamed->candidate].wide &&
			  blamed->rival_behind < LOCALISE_CLEAR;
	ret->is_clear =
	    !ret->has_rival && ties.count == 1 && ret->behind >= SURE && !ties.overflow;
}

void
localise_find_instead(
    struct localise_finding *finding, const struct localise_suspect *suspect)
{
	finding->suspect = suspect;
	finding->or_its_links = false;
	localise_suspect_part(suspect, &finding->part);
}

const struct localise_suspect *
localise_find_tied(const struct localise_finding *finding, const struct rm_part *part)
{
	for (size_t i = 0; i < finding->tie_count; i++)
		if (localise_part_same(&finding->ties[i], part))
			return finding->tied[i];
	return NULL;
}

double
localise_finding_confidence(const struct localise_finding *finding)
{
	const double p = 1 / (1 + exp(-finding->behind));

	if (finding->is_crowded || finding->or_its_links)
		return 0.5;
	if (finding->suspect->type == RM_PART_PATH)
		return 0.8;
	return p < 0.99 ? p : 0.99;
}

bool
localise_find_explains(const struct localise_case *c,
    const struct rm_explanation *explanation, const struct localise_path *path)
{
	for (size_t i = 0; i < explanation->part_count; i++) {
		const struct localise_suspect *s =
		    &c->suspects[explanation->parts[i].candidate];

		if (s->type != RM_PART_PATH && localise_suspect_on(s, path))
			return true;
	}
	return false;
}
