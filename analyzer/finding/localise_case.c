#include "analyzer/finding/localise_case.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/finding/localise_dead_links.h"
#include "analyzer/finding/localise_observe.h"
#include "analyzer/finding/localise_one_class.h"
#include "analyzer/finding/localise_transit.h"
#include "analyzer/paths/localise_listed.h"
#include "analyzer/paths/localise_map.h"

/* ---- suspects ---- */

struct localise_suspect
localise_suspect_path(const struct localise_element *pair)
{
	return (struct localise_suspect){ .type = RM_PART_PATH,
		.elements = { pair->ends[0], pair->ends[1] },
		.element_count = 2 };
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
    const struct localise_suspect *suspect, const struct localise_path *path)
{
	if (suspect->type == RM_PART_PATH)
		return path->elements[0] == suspect->elements[0] &&
		       path->elements[path->element_count - 1] == suspect->elements[1];
	if (suspect->transit != NULL && path->pair != suspect->transit &&
	    (!suspect->and_back || path->pair != suspect->transit->back))
		return false;
	for (size_t i = 0; i < suspect->element_count; i++)
		if (localise_path_crosses(path, suspect->elements[i]))
			return true;
	return false;
}

/* ---- the input of the judge ---- */

/* The share of probes that are lost without a fault. */
#define BASE_LOSS 0.001
/* The share of probes that are lost without a fault, if whole flows are lost and one
 * switch is on all paths of these flows. */
#define FLOW_BASE_LOSS 1e-6
#define SLOW_BASE_LOSS 1e-4 /* replaced by rm_judge_base_loss */
#define SLOW_LEAST_LOSS 1.5e-3
/* the base loss is less certain over minutes, in which thousands of probes are lost */
#define SLOW_DOUBT 0.03
#define ALTERNATIVES_WITHIN 14 /* ln of a million */
/* Added to the log prior of a part that loses only a share: a faulty part usually loses
 * everything, and a share that is fitted to the losses explains them well by chance. */
#define PRIOR_PARTIAL (-3.0)

/* ln of priors. A cable fails more often than a switch, and than a single direction of
 * a cable. */
#define PRIOR_LINK (-11.0)
#define PRIOR_LINK_ONE_DIRECTION (-11.5)
#define PRIOR_SWITCH (-12.0)
#define PRIOR_PATH (-14.0)
/* Prior of a wrong entry in a switch's tables. It is so small that a link which
 * explains the losses almost as well is named instead. */
#define PRIOR_TRANSIT (-16.0)
#define PRIOR_TRANSIT_BACK (-17.5)
/* Prior of a ToR. It is larger than that of a switch: each link of a faulty ToR
 * explains some of the losses better than chance would, and together the links compete
 * with the ToR. */
#define PRIOR_TOR (-8.0)
/* Prior of a switch over minutes. It is smaller than PRIOR_SWITCH: for a long time a
 * few losses over two links of a switch look like losses of the switch. */
#define SLOW_PRIOR_SWITCH (-14.0)

/* Over minutes: once a link of a switch is blamed, ln of the factor by which other
 * links of it become likelier. LOCALISE_CLEAR then decides between switch and links. */
#define SLOW_SIBLINGS_RELIEF 6.0

#define MAX_PATH_SUSPECTS 256
/* With more lossy paths than this, one wrong entry of a table is not the cause. */
#define MAX_TRANSIT_PATHS 256
/* maximum number of cables between two switches, counted in both directions */
#define MAX_PARALLEL 16
/* share of the flows with losses that lose all their packets */
#define DEAD_SHARE 0.5
#define NO_LOCAL LOCALISE_NO_LOCAL

int
localise_case_init(struct localise_case *c, bool slow)
{
	const struct rm_judge_options options = {
		.base_loss = slow ? SLOW_BASE_LOSS : BASE_LOSS,
		.least_loss = slow ? SLOW_LEAST_LOSS : 0,
		.alternatives_within = ALTERNATIVES_WITHIN,
		.max_parts = LOCALISE_MAX_PARTS,
		.doubt = slow ? SLOW_DOUBT : 0,
		.siblings_relief = slow ? SLOW_SIBLINGS_RELIEF : 0,
		.clear = LOCALISE_CLEAR,
		.partial_log_prior = slow ? 0 : PRIOR_PARTIAL,
	};

	*c = (struct localise_case){ .slow = slow };
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
	free(c->over);
	free(c->fans);
	*c = (struct localise_case){ 0 };
}

static uint32_t
add_local(struct localise_case *c, struct localise_local local)
{
	if (localise_losses_grow(
		&c->locals, &c->local_size, c->local_count + 1, sizeof *c->locals) < 0)
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

/* Adds a path to the lossy ones, and its replies to the pair that they crossed. The
 * losses on the way out are counted later, by count_path, when by_flow is known. */
static int
take_path(
    struct localise_case *c, struct localise_path *path, const struct localise_sum *sum)
{
	const uint32_t there = local_of(c, path->pair),
		       back = local_of(c, path->pair->back);
	struct localise_local *local;

	if (back == NO_LOCAL || there == NO_LOCAL ||
	    localise_losses_grow(
		&c->lossy, &c->lossy_size, c->lossy_count + 1, sizeof *c->lossy) < 0)
		return -ENOMEM;
	local = &c->locals[back];
	local->reverse += sum->reverse;
	local->reverse_sent += sum->sent - sum->forward - sum->unknown;
	if (round(sum->forward) + round(sum->unknown) +
		(c->with_replies ? round(sum->reverse) : 0) <
	    1)
		return 0;
	path->stamp = c->stamp;
	c->lossy[c->lossy_count++] =
	    (struct localise_lossy){ .path = path, .sum = *sum };
	return 0;
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

/* True: a switch above the racks is on every path that is known to lose packets on the
 * way out. */
static bool
meet_at_switch(const struct localise_case *c)
{
	const struct localise_element *common[LOCALISE_PATH_ELEMENTS];
	size_t count = 0;
	bool first = true;

	for (size_t i = 0; i < c->lossy_count; i++) {
		const struct localise_path *path = c->lossy[i].path;

		if (round(c->lossy[i].sum.forward) < 1)
			continue;
		for (uint8_t k = 0; first && k < path->element_count; k++)
			if (path->elements[k]->b[0] == '\0' &&
			    !path->elements[k]->is_tor)
				common[count++] = path->elements[k];
		first = false;
		for (size_t k = count; k-- > 0;)
			if (!localise_path_crosses(path, common[k]))
				common[k] = common[--count];
	}
	return count > 0;
}

/* Sets how many losses may remain unexplained. Single packets are lost without a fault.
 * A whole flow is lost only by a fault, but that may be one of the RNIC at its end. If
 * every path that loses flows crosses the same switch, no RNIC is at fault, and almost
 * no lost flow may remain unexplained. */
static int
report_base_loss(struct localise_case *c)
{
	if (c->slow)
		return 0;
	return rm_judge_base_loss(
	    c->judge, c->by_flow && meet_at_switch(c) ? FLOW_BASE_LOSS : BASE_LOSS);
}

/* Returns the local (or adds it) of the packets that cross the path's element `at`, a
 * switch, between the path's racks. NO_LOCAL: out of memory. */
static uint32_t
add_transit(struct localise_case *c, const struct localise_path *path, uint8_t at)
{
	uint32_t local = localise_transit(c, path->pair, path->elements[at]);
	struct localise_local *pair;

	if (local != NO_LOCAL)
		return local;
	local = add_local(
	    c, (struct localise_local){ .element = path->elements[at],
		   .transit = path->pair,
		   .next_transit = c->locals[path->pair->local].next_transit });
	if (local == NO_LOCAL)
		return NO_LOCAL;
	pair = &c->locals[path->pair->local];
	pair->next_transit = local + 1;
	return local;
}

static bool
may_have_transits(const struct localise_case *c, const struct localise_element *element)
{
	return c->with_transits && !element->is_tor && element->b[0] == '\0';
}

/* Adds the elements, the pair and the transits of the path to the case. */
static int
add_locals(struct localise_case *c, const struct localise_path *path)
{
	for (uint8_t i = 0; i <= path->element_count; i++)
		if (local_of(c, i < path->element_count ? path->elements[i]
							: path->pair) == NO_LOCAL)
			return -ENOMEM;
	for (uint8_t i = 0; i < path->element_count; i++)
		if (may_have_transits(c, path->elements[i]) &&
		    add_transit(c, path, i) == NO_LOCAL)
			return -ENOMEM;
	return 0;
}

static void
count_path(struct localise_case *c, const struct localise_lossy *lossy)
{
	const struct localise_sum *sum = &lossy->sum;
	const struct localise_sum witnesses = localise_observe_witnesses(c, sum);
	const struct localise_path *path = lossy->path;
	const double lost = sum->forward + sum->unknown;

	for (uint8_t i = 0; i <= path->element_count; i++) {
		const uint32_t at = i < path->element_count ? path->elements[i]->local
							    : path->pair->local;

		if (localise_one_class_crossed(c, lossy, at)) {
			c->locals[at].lost += lost;
			c->locals[at].weighed += witnesses.forward + witnesses.unknown;
		}
		c->locals[at].lossy += !lossy->again;
	}
	c->locals[path->pair->back->local].lost += sum->unknown;
	for (uint8_t i = 0; i < path->element_count; i++) {
		struct localise_local *local;
		uint32_t at;

		if (!may_have_transits(c, path->elements[i]))
			continue;
		at = localise_transit(c, path->pair, path->elements[i]);
		local = &c->locals[at];
		local->lossy += !lossy->again;
		if (!localise_one_class_crossed(c, lossy, at))
			continue;
		local->lost += lost;
		local->sent += sum->sent;
		local->unanswered += lost + sum->reverse;
		local->weighed += witnesses.forward + witnesses.unknown;
	}
}

/* Stores the switches or ToRs at both ends of a link: the judge compares each of these
 * with several of its links. */
static void
add_ends(const struct localise_case *c, const struct localise_element *link,
    struct rm_candidate *candidate)
{
	const struct localise_path *path = link->paths[0];

	for (uint8_t i = 1; i + 1 < path->element_count; i++) {
		const struct localise_element *ends[] = { path->elements[i - 1],
			path->elements[i + 1] };

		if (path->elements[i] != link)
			continue;
		for (size_t k = 0; k < 2; k++)
			if (ends[k]->stamp == c->stamp)
				candidate->within[candidate->within_count++] =
				    ends[k]->local;
		return;
	}
}

static int
suspect(struct localise_case *c, struct localise_suspect who, double log_prior,
    uint32_t local, uint32_t second)
{
	struct rm_candidate *candidate;

	if (localise_losses_grow(&c->candidates, &c->candidate_size,
		c->suspect_count + 1, sizeof *c->candidates) < 0 ||
	    localise_losses_grow(&c->suspects, &c->suspect_size, c->suspect_count + 1,
		sizeof *c->suspects) < 0)
		return -ENOMEM;
	candidate = &c->candidates[c->suspect_count];
	*candidate = (struct rm_candidate){ .elements = { local, second },
		.element_count = second != NO_LOCAL ? 2 : 1,
		.log_prior = log_prior };
	if (second == NO_LOCAL)
		candidate->elements[1] = 0;
	/* Only for one direction of a link: two cables up from a switch carry nearly
	 * all that the switch loses, and would replace it if the second direction of a
	 * cable were free. */
	if (who.type == RM_PART_LINK && second == NO_LOCAL)
		add_ends(c, who.elements[0], candidate);
	who.one_class = c->locals[local].one_class &&
			(second == NO_LOCAL || c->locals[second].one_class);
	who.dscp = c->locals[local].dscp;
	candidate->wide =
	    who.transit == NULL && who.type != RM_PART_PATH && who.type != RM_PART_LINK;
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
suspect_both_directions(struct localise_case *c, uint32_t one, uint32_t other)
{
	struct localise_element *there = c->locals[one].element,
				*back = c->locals[other].element;

	if (strcmp(back->a, there->b) != 0 || strcmp(back->b, there->a) != 0)
		return 0;
	return suspect(c,
	    (struct localise_suspect){
		.type = RM_PART_LINK, .elements = { there, back }, .element_count = 2 },
	    PRIOR_LINK, one, other);
}

/* Suspects both directions of cables together. Which two directions are one cable is
 * not known if there are parallel cables: then each is combined with each. */
static int
suspect_cables(struct localise_case *c)
{
	size_t count = 0;
	int r = 0;

	if (localise_losses_grow(
		&c->cables, &c->cable_size, c->local_count, sizeof *c->cables) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->local_count; i++)
		if (c->locals[i].lost >= LOCALISE_MIN_LOST &&
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
			r = suspect_both_directions(
			    c, c->cables[i].local, c->cables[k].local);
	return r;
}

/* Suspects a switch for the packets from one rack to another; and, if it is the first
 * of both directions, for the packets between the two. */
static int
suspect_transit(struct localise_case *c, uint32_t local)
{
	const struct localise_local *l = &c->locals[local];
	const uint32_t back = localise_transit_suspect(c, l->transit->back, l->element);
	struct localise_suspect who = { RM_PART_SWITCH, { l->element }, 1, l->transit,
		false };
	int r;

	if (!localise_transit_takes_all(c, l))
		return 0;
	r = suspect(c, who, PRIOR_TRANSIT, local, NO_LOCAL);
	if (r < 0 || back == NO_LOCAL || back < local)
		return r;
	who.and_back = true;
	return suspect(c, who, PRIOR_TRANSIT_BACK, local, back);
}

static int
suspect_local(struct localise_case *c, uint32_t local)
{
	const struct localise_local *l = &c->locals[local];

	if (l->transit != NULL)
		return suspect_transit(c, local);
	if (l->element->back != NULL)
		return suspect(
		    c, localise_suspect_path(l->element), PRIOR_PATH, local, NO_LOCAL);
	if (l->element->b[0] == '\0')
		return suspect(c,
		    (struct localise_suspect){
			.type = l->element->is_tor ? RM_PART_TOR : RM_PART_SWITCH,
			.elements = { l->element },
			.element_count = 1 },
		    c->slow              ? SLOW_PRIOR_SWITCH
		    : l->element->is_tor ? PRIOR_TOR
					 : PRIOR_SWITCH,
		    local, NO_LOCAL);
	return suspect(c,
	    (struct localise_suspect){
		.type = RM_PART_LINK, .elements = { l->element }, .element_count = 1 },
	    PRIOR_LINK_ONE_DIRECTION, local, NO_LOCAL);
}

int
localise_case_build(struct localise_case *c, struct localise_map *map, rm_mono_t now,
    localise_seen *seen,
    enum localise_known (*known)(
	const struct localise_path *path, const struct localise_sum *sum, void *arg),
    void *arg)
{
	const size_t listed = localise_listed(map, seen);
	size_t paths = 0;
	int r = 0;

	c->stamp = ++map->stamp;
	c->observation_count = c->suspect_count = c->local_count = 0;
	c->lossy_count = c->fan_count = 0;
	c->now = now;
	c->current_ns = 5 * map->row_interval_ns / 2;
	for (size_t i = 0; r == 0 && i < listed; i++) {
		struct localise_path *path = map->lossy[i];
		struct localise_sum sum = { 0 };

		enum localise_known what = LOCALISE_NEWS;

		seen(map, path, now, &sum);
		if (sum.forward + sum.unknown + sum.reverse <= 0)
			continue;
		if (known != NULL)
			what = known(path, &sum, arg);
		if (what == LOCALISE_KNOWN) {
			path->stamp = c->stamp;
			continue;
		}
		localise_sum_leave_out(&sum,
		    what == LOCALISE_KNOWN_REPLIES || what == LOCALISE_KNOWN_MISSED,
		    what >= LOCALISE_KNOWN_BACK);
		r = take_path(c, path, &sum);
	}
	c->by_flow = loses_whole_flows(c);
	c->with_transits = !c->late && c->lossy_count <= MAX_TRANSIT_PATHS;
	if (r == 0)
		r = report_base_loss(c);
	for (size_t i = 0; r == 0 && i < c->lossy_count; i++)
		r = add_locals(c, c->lossy[i].path);
	if (r == 0 && !c->slow && !c->late)
		r = localise_one_class_find(c);
	for (size_t i = 0; r == 0 && i < c->lossy_count; i++)
		count_path(c, &c->lossy[i]);
	if (r == 0)
		localise_dead_links_find(c);
	for (size_t i = 0; r == 0 && i < c->lossy_count; i++)
		r = localise_observe_path(c, &c->lossy[i]);
	for (uint32_t i = 0; r == 0 && i < c->local_count; i++) {
		if (c->locals[i].lost <
			(c->locals[i].transit != NULL ? 1 : LOCALISE_MIN_LOST) ||
		    (c->locals[i].element->back != NULL && ++paths > MAX_PATH_SUSPECTS))
			continue;
		r = suspect_local(c, i);
		if (r == 0)
			r = localise_observe_arrivals(c, map, seen, i);
		if (r == 0)
			r = localise_observe_inside(c, map, seen, i);
		if (r == 0 && c->with_replies)
			r = localise_observe_replies(c, map, seen, i);
	}
	return r < 0 ? r : suspect_cables(c);
}

int
localise_case_explain(struct localise_case *c, size_t most, struct rm_explanation *ret)
{
	*ret = (struct rm_explanation){ 0 };
	if (c->suspect_count == 0)
		return 0;
	rm_judge_most_parts(c->judge, most);
	return rm_judge_explain(c->judge, c->local_count, c->observations,
	    c->observation_count, c->candidates, c->suspect_count, ret);
}
