#include "analyzer/localise_case.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASE_LOSS 0.001
#define ALTERNATIVES_WITHIN 14 /* ln of a million */
#define MAX_PARTS 24

/* A cable fails more often than a switch, and than one direction of a cable. */
#define PRIOR_LINK (-7.0)
#define PRIOR_LINK_ONE_WAY (-7.5)
#define PRIOR_SWITCH (-8.0)
#define PRIOR_PATH (-10.0)

#define MIN_LOST 2.5 /* fewer make nobody a suspect */
/* So many arrivals for each loss outweigh it at any share worth naming. */
#define ACQUITTED(lost) (200 * (lost) + 100)
#define MAX_PATH_SUSPECTS 256
#define MAX_PARALLEL 16 /* cables between two switches, both ways counted */
#define NO_LOCAL UINT32_MAX

int
localise_case_init(struct localise_case *c)
{
	const struct rm_judge_options options = {
		.base_loss = BASE_LOSS,
		.alternatives_within = ALTERNATIVES_WITHIN,
		.max_parts = MAX_PARTS,
	};

	*c = (struct localise_case){ 0 };
	return rm_judge_new(&options, &c->judge);
}

void
localise_case_release(struct localise_case *c)
{
	rm_judge_free(c->judge);
	free(c->observations);
	free(c->candidates);
	free(c->suspects);
	free(c->locals);
	free(c->pairs);
	free(c->cables);
	*c = (struct localise_case){ 0 };
}

static int
grow(void *array, size_t *have, size_t need, size_t size)
{
	void **p = array;
	const size_t count = need + need / 2 + 64;
	void *bigger;

	if (need <= *have)
		return 0;
	bigger = realloc(*p, count * size);
	if (bigger == NULL)
		return -ENOMEM;
	*p = bigger;
	*have = count;
	return 0;
}

static uint32_t
add_local(struct localise_case *c, struct localise_local local)
{
	if (grow(&c->locals, &c->local_size, c->local_count + 1, sizeof *c->locals) < 0)
		return NO_LOCAL;
	c->locals[c->local_count] = local;
	return (uint32_t)c->local_count++;
}

static uint32_t
local_of(struct localise_case *c, struct localise_element *element)
{
	if (element->stamp != c->stamp) {
		element->local =
		    add_local(c, (struct localise_local){ .element = element });
		element->stamp = c->stamp;
	}
	return element->local;
}

static uint32_t
local_of_pair(
    struct localise_case *c, struct localise_element *src, struct localise_element *dst)
{
	const size_t mask = c->pair_size - 1;
	uint64_t at = ((uintptr_t)src >> 4) * UINT64_C(0x9e3779b97f4a7c15) ^
		      ((uintptr_t)dst >> 4) * UINT64_C(0xbf58476d1ce4e5b9);

	for (at = (at >> 20) & mask; c->pairs[at] != 0; at = (at + 1) & mask) {
		const struct localise_local *local = &c->locals[c->pairs[at] - 1];

		if (local->src == src && local->dst == dst)
			return c->pairs[at] - 1;
	}
	c->pairs[at] =
	    add_local(c, (struct localise_local){ .src = src, .dst = dst }) + 1;
	return c->pairs[at] - 1; /* NO_LOCAL wraps to 0 and back */
}

/* Room for both directions of all lossy ways, and then some. */
static int
begin_pairs(struct localise_case *c, size_t ways)
{
	size_t size = 256;

	while (size < 8 * ways)
		size *= 2;
	if (size > c->pair_size) {
		free(c->pairs);
		c->pairs = malloc(size * sizeof *c->pairs);
		c->pair_size = c->pairs != NULL ? size : 0;
		if (c->pairs == NULL)
			return -ENOMEM;
	}
	memset(c->pairs, 0, c->pair_size * sizeof *c->pairs);
	return 0;
}

static int
observe(struct localise_case *c, double sent, double lost, const uint32_t *elements,
    uint32_t count)
{
	struct rm_observation *o;

	if (grow(&c->observations, &c->observation_size, c->observation_count + 1,
		sizeof *c->observations) < 0)
		return -ENOMEM;
	o = &c->observations[c->observation_count++];
	o->sent = (uint32_t)fmin(round(fmax(sent, lost)), UINT32_MAX / 2);
	o->lost = (uint32_t)fmin(round(lost), o->sent);
	memcpy(o->elements, elements, count * sizeof *elements);
	o->element_count = count;
	return 0;
}

static int
observe_way(
    struct localise_case *c, struct localise_way *way, const struct localise_sum *sum)
{
	uint32_t elements[RM_OBSERVATION_ELEMENTS], count = 0;
	struct localise_element *src = way->elements[0],
				*dst = way->elements[way->element_count - 1];
	const uint32_t back = local_of_pair(c, dst, src);
	struct localise_local *local;
	int r = 0;

	if (back == NO_LOCAL)
		return -ENOMEM;
	local = &c->locals[back];
	local->reverse += sum->reverse;
	local->reverse_sent += sum->sent - sum->forward - sum->unknown;
	if (round(sum->forward) + round(sum->unknown) < 1)
		return 0;
	way->stamp = c->stamp;
	for (uint8_t i = 0; i < way->element_count; i++)
		elements[count++] = local_of(c, way->elements[i]);
	elements[count++] = local_of_pair(c, src, dst);
	for (uint32_t i = 0; i < count; i++) {
		if (elements[i] == NO_LOCAL)
			return -ENOMEM;
		c->locals[elements[i]].lost += sum->forward + sum->unknown;
	}
	r = observe(c, sum->sent - sum->unknown, sum->forward, elements, count);
	if (r < 0 || round(sum->unknown) < 1)
		return r;
	elements[count++] = back;
	c->locals[back].lost += sum->unknown;
	return observe(c, sum->unknown, sum->unknown, elements, count);
}

/* What arrived over an element's other ways: of no use to tell them apart, so they are
 * one observation of this element alone. */
static int
observe_arrivals(struct localise_case *c, const struct localise_map *map, rm_mono_t now,
    localise_seen *seen, uint32_t local)
{
	const struct localise_local *l = &c->locals[local];
	const struct localise_element *at = l->element != NULL ? l->element : l->src;
	struct localise_sum sum = { 0 };
	double arrived;

	for (size_t i = 0; i < at->way_count && sum.sent < ACQUITTED(l->lost); i++) {
		const struct localise_way *way = at->ways[i];

		if (way->stamp == c->stamp)
			continue;
		if (l->element == NULL &&
		    (way->elements[0] != l->src ||
			way->elements[way->element_count - 1] != l->dst))
			continue;
		seen(map, way, now, &sum);
	}
	arrived = sum.sent - sum.forward - sum.unknown;
	if (arrived < 1)
		return 0;
	return observe(c, arrived, 0, &local, 1);
}

static int
suspect(struct localise_case *c, struct localise_suspect who, double log_prior,
    uint32_t local, uint32_t second)
{
	struct rm_candidate *candidate;

	if (grow(&c->candidates, &c->candidate_size, c->suspect_count + 1,
		sizeof *c->candidates) < 0 ||
	    grow(&c->suspects, &c->suspect_size, c->suspect_count + 1,
		sizeof *c->suspects) < 0)
		return -ENOMEM;
	candidate = &c->candidates[c->suspect_count];
	*candidate = (struct rm_candidate){ .elements = { local, second },
		.element_count = second != NO_LOCAL ? 2 : 1,
		.log_prior = log_prior };
	if (second == NO_LOCAL)
		candidate->elements[1] = 0;
	c->suspects[c->suspect_count++] = who;
	return 0;
}

static int
by_cable(const void *a, const void *b)
{
	const struct localise_cable *x = a, *y = b;

	if (x->cable != y->cable)
		return x->cable < y->cable ? -1 : 1;
	return x->local < y->local ? -1 : x->local > y->local;
}

static int
suspect_both_ways(struct localise_case *c, uint32_t one, uint32_t other)
{
	struct localise_element *there = c->locals[one].element,
				*back = c->locals[other].element;

	if (strcmp(back->a, there->b) != 0 || strcmp(back->b, there->a) != 0)
		return 0;
	return suspect(c, (struct localise_suspect){ RM_PART_LINK, { there, back }, 2 },
	    PRIOR_LINK, one, other);
}

/* Each link with each that leads back: of two cables any may be the same one. */
static int
suspect_cables(struct localise_case *c)
{
	size_t count = 0;
	int r = 0;

	if (grow(&c->cables, &c->cable_size, c->local_count, sizeof *c->cables) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->local_count; i++)
		if (c->locals[i].lost >= MIN_LOST && c->locals[i].element != NULL &&
		    c->locals[i].element->b[0] != '\0')
			c->cables[count++] =
			    (struct localise_cable){ c->locals[i].element->cable, i };
	if (count > 0)
		qsort(c->cables, count, sizeof *c->cables, by_cable);
	for (size_t i = 0; i < count; i++)
		for (size_t k = i + 1;
		     r == 0 && k < count && c->cables[k].cable == c->cables[i].cable &&
		     k - i <= MAX_PARALLEL;
		     k++)
			r = suspect_both_ways(
			    c, c->cables[i].local, c->cables[k].local);
	return r;
}

static int
suspect_local(struct localise_case *c, uint32_t local, size_t *paths)
{
	const struct localise_local *l = &c->locals[local];

	if (l->element == NULL) {
		if (++*paths > MAX_PATH_SUSPECTS)
			return 0;
		return suspect(c,
		    (struct localise_suspect){ RM_PART_PATH, { l->src, l->dst }, 2 },
		    PRIOR_PATH, local, NO_LOCAL);
	}
	if (l->element->b[0] == '\0')
		return suspect(c,
		    (struct localise_suspect){
			l->element->is_tor ? RM_PART_TOR : RM_PART_SWITCH,
			{ l->element }, 1 },
		    PRIOR_SWITCH, local, NO_LOCAL);
	return suspect(c, (struct localise_suspect){ RM_PART_LINK, { l->element }, 1 },
	    PRIOR_LINK_ONE_WAY, local, NO_LOCAL);
}

int
localise_case_build(struct localise_case *c, struct localise_map *map, rm_mono_t now,
    localise_seen *seen,
    enum localise_known (*known)(
	const struct localise_way *way, const struct localise_sum *sum, void *arg),
    void *arg)
{
	size_t paths = 0;
	int r;

	c->stamp = ++map->stamp;
	c->observation_count = c->suspect_count = c->local_count = 0;
	r = begin_pairs(c, map->lossy_count);
	for (size_t i = 0; r == 0 && i < map->lossy_count; i++) {
		struct localise_way *way = map->lossy[i];
		struct localise_sum sum = { 0 };

		enum localise_known what;

		seen(map, way, now, &sum);
		if (sum.forward + sum.unknown + sum.reverse <= 0)
			continue;
		what = known(way, &sum, arg);
		if (what == LOCALISE_KNOWN) {
			way->stamp = c->stamp;
			continue;
		}
		if (what == LOCALISE_KNOWN_BACK) {
			sum.sent -= sum.unknown;
			sum.unknown = 0;
		}
		r = observe_way(c, way, &sum);
	}
	for (uint32_t i = 0; r == 0 && i < c->local_count; i++) {
		if (c->locals[i].lost < MIN_LOST)
			continue;
		r = suspect_local(c, i, &paths);
		if (r == 0 && paths <= MAX_PATH_SUSPECTS)
			r = observe_arrivals(c, map, now, seen, i);
	}
	return r < 0 ? r : suspect_cables(c);
}

int
localise_case_explain(struct localise_case *c, struct rm_explanation *ret)
{
	*ret = (struct rm_explanation){ 0 };
	if (c->suspect_count == 0)
		return 0;
	return rm_judge_explain(c->judge, c->local_count, c->observations,
	    c->observation_count, c->candidates, c->suspect_count, ret);
}

void
localise_suspect_part(const struct localise_suspect *suspect, struct rm_part *ret)
{
	const struct localise_element *e = suspect->elements[0];

	*ret = (struct rm_part){ .type = suspect->type };
	if (suspect->type == RM_PART_PATH)
		snprintf(ret->name, sizeof ret->name, "%s->%s", e->a,
		    suspect->elements[1]->a);
	else if (suspect->type != RM_PART_LINK)
		snprintf(ret->name, sizeof ret->name, "%s", e->a);
	else
		snprintf(ret->name, sizeof ret->name, "%s--%s",
		    strcmp(e->a, e->b) < 0 ? e->a : e->b,
		    strcmp(e->a, e->b) < 0 ? e->b : e->a);
}

bool
localise_suspect_on(
    const struct localise_suspect *suspect, const struct localise_way *way)
{
	if (suspect->type == RM_PART_PATH)
		return way->elements[0] == suspect->elements[0] &&
		       way->elements[way->element_count - 1] == suspect->elements[1];
	for (size_t i = 0; i < suspect->element_count; i++)
		if (localise_way_crosses(way, suspect->elements[i]))
			return true;
	return false;
}
