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
#define PRIOR_LINK (-11.0)
#define PRIOR_LINK_ONE_WAY (-11.5)
#define PRIOR_SWITCH (-12.0)
#define PRIOR_PATH (-14.0)

#define MIN_LOST 2.5 /* fewer make nobody a suspect */
#define MAX_WAYS_ASKED 128
#define STRIDE 7919
#define MAX_PATH_SUSPECTS 256
#define MAX_PARALLEL 16 /* cables between two switches, both ways counted */
#define DEAD_SHARE 0.5  /* of the flows that lose something: they lose all */
#define MAX_WAYS_BACK 16
#define LOSSY_BACK 0.05 /* of what was sent: a lost one among many is no reason */
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
	free(c->lossy);
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

static int
observe(struct localise_case *c, double sent, double lost, const uint32_t *elements,
    uint32_t count)
{
	struct rm_observation *o;

	if (grow(&c->observations, &c->observation_size, c->observation_count + 1,
		sizeof *c->observations) < 0)
		return -ENOMEM;
	o = &c->observations[c->observation_count++];
	*o = (struct rm_observation){ .element_count = count };
	o->sent = (uint32_t)fmin(round(fmax(sent, lost)), UINT32_MAX / 2);
	o->lost = (uint32_t)fmin(round(lost), o->sent);
	memcpy(o->elements, elements, count * sizeof *elements);
	return 0;
}

/* What the way says by itself; what it lost on the way out, or nobody knows where, is
 * kept until all ways are known. */
static int
take_way(
    struct localise_case *c, struct localise_way *way, const struct localise_sum *sum)
{
	const uint32_t there = local_of(c, way->pair),
		       back = local_of(c, way->pair->back);
	struct localise_local *local;

	if (back == NO_LOCAL || there == NO_LOCAL ||
	    grow(&c->lossy, &c->lossy_size, c->lossy_count + 1, sizeof *c->lossy) < 0)
		return -ENOMEM;
	local = &c->locals[back];
	local->reverse += sum->reverse;
	local->reverse_sent += sum->sent - sum->forward - sum->unknown;
	if (round(sum->forward) + round(sum->unknown) < 1)
		return 0;
	way->stamp = c->stamp;
	local = &c->locals[there];
	c->lossy[c->lossy_count] = (struct localise_lossy){ way, *sum, local->first };
	local->first = (uint32_t)++c->lossy_count;
	return 0;
}

static void
add_once(struct rm_observation *o, uint32_t element)
{
	if (element == NO_LOCAL || o->element_count == RM_OBSERVATION_ELEMENTS)
		return;
	for (uint32_t i = 0; i < o->element_count; i++)
		if (o->elements[i] == element)
			return;
	o->elements[o->element_count++] = element;
}

/* Replies may have taken any way back: one that loses probes may lose replies. To the
 * last observation. */
static void
add_ways_back(struct localise_case *c, const struct localise_element *back)
{
	struct rm_observation *o = &c->observations[c->observation_count - 1];
	const uint32_t sure = o->element_count;
	size_t looked = 0;

	for (uint32_t at = c->locals[back->local].first;
	     at != 0 && looked < MAX_WAYS_BACK; at = c->lossy[at - 1].next, looked++) {
		const struct localise_lossy *l = &c->lossy[at - 1];

		if (l->sum.forward + l->sum.unknown < LOSSY_BACK * l->sum.sent)
			continue;
		for (uint8_t i = 0; i < l->way->element_count; i++)
			add_once(o, local_of(c, l->way->elements[i]));
	}
	o->spread = o->element_count - sure;
	o->share = 1.0F / (float)(back->way_count > 1 ? back->way_count : 1);
}

/* Flows that a hash picks die whole, and the others live: to count each of their probes
 * would make a certainty of what a few flows say. */
static double
weight(const struct localise_case *c, const struct localise_sum *sum)
{
	return c->by_flow && sum->flows < sum->sent ? sum->flows / sum->sent : 1;
}

static bool
loses_whole_flows(const struct localise_case *c)
{
	double dead = 0, hit = 0;

	for (size_t i = 0; i < c->lossy_count; i++) {
		dead += c->lossy[i].sum.dead;
		hit += c->lossy[i].sum.hit;
	}
	return dead > 0 && dead >= DEAD_SHARE * hit;
}

static int
observe_way(struct localise_case *c, const struct localise_lossy *lossy)
{
	const struct localise_sum *sum = &lossy->sum;
	struct localise_way *way = lossy->way;
	const double w = weight(c, sum);
	uint32_t elements[RM_OBSERVATION_ELEMENTS], count = 0;
	int r;

	for (uint8_t i = 0; i < way->element_count; i++)
		elements[count++] = local_of(c, way->elements[i]);
	elements[count++] = way->pair->local;
	for (uint32_t i = 0; i < count; i++) {
		if (elements[i] == NO_LOCAL)
			return -ENOMEM;
		c->locals[elements[i]].lost += sum->forward + sum->unknown;
		c->locals[elements[i]].lossy++;
	}
	r = observe(
	    c, w * (sum->sent - sum->unknown), w * sum->forward, elements, count);
	if (r < 0 || round(sum->unknown) < 1)
		return r;
	elements[count++] = way->pair->back->local;
	c->locals[way->pair->back->local].lost += sum->unknown;
	r = observe(c, w * sum->unknown, w * sum->unknown, elements, count);
	if (r == 0)
		add_ways_back(c, way->pair->back);
	return r;
}

/* What arrived over an element's other ways: of no use to tell them apart, so they are
 * one observation of this element alone. A switch may have thousands: some stand for
 * all. */
static int
observe_arrivals(struct localise_case *c, const struct localise_map *map, rm_mono_t now,
    localise_seen *seen, uint32_t local)
{
	const struct localise_element *at = c->locals[local].element;
	const size_t asked =
	    at->way_count < MAX_WAYS_ASKED ? at->way_count : MAX_WAYS_ASKED;
	struct localise_sum sum = { 0 };
	double arrived;

	if (c->locals[local].lossy >= at->way_count)
		return 0;
	/* Ways come in the order of peers and spines: a stride that is prime to both.
	 */
	for (size_t i = 0; i < asked; i++) {
		const struct localise_way *way =
		    at->ways[asked < at->way_count ? i * STRIDE % at->way_count : i];

		if (way->stamp != c->stamp)
			seen(map, way, now, &sum);
	}
	arrived = (double)at->way_count / (double)asked * weight(c, &sum) *
		  (sum.sent - sum.forward - sum.unknown);
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
		if (c->locals[i].lost >= MIN_LOST && c->locals[i].element->b[0] != '\0')
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

	if (l->element->back != NULL) {
		if (++*paths > MAX_PATH_SUSPECTS)
			return 0;
		return suspect(
		    c, localise_suspect_path(l->element), PRIOR_PATH, local, NO_LOCAL);
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
	int r = 0;

	c->stamp = ++map->stamp;
	c->observation_count = c->suspect_count = c->local_count = 0;
	c->lossy_count = 0;
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
		r = take_way(c, way, &sum);
	}
	c->by_flow = loses_whole_flows(c);
	for (size_t i = 0; r == 0 && i < c->lossy_count; i++)
		r = observe_way(c, &c->lossy[i]);
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
