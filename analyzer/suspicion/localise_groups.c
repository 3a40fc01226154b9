#include "analyzer/suspicion/localise_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/finding/localise_dead_links.h"
#include "analyzer/paths/localise_bins.h"

#define MAX_MEMBERS 256 /* links of a group; further ones are counted */
#define MAX_DEAD 512    /* links of a switch, each direction counts */
#define MAX_NODES 16    /* maximum number of switches that are examined in one round */
/* Time for which a link must have been proven dead: two sets of rows. */
#define PROVEN_NS RM_NS_PER_S
#define PROVEN_LAPSE_NS (1500 * RM_NS_PER_MS)
/* a link that has had no fault for this time leaves its group */
#define MEMBER_NS (2 * RM_NS_PER_S)
/* the links of a switch are counted again after this time */
#define COUNT_NS RM_NS_PER_S
#define MAX_PATHS 4096 /* a sample of a switch's paths counts its links */

struct member {
	struct rm_link link;
	bool is_down; /* it carries nothing */
	rm_wall_t start;
	rm_mono_t seen;
};

struct localise_group {
	char name[RM_NAME_BYTES];
	bool is_tor;
	rm_wall_t start;
	struct member *members; /* by name */
	size_t count, size;
	unsigned more_down,
	    more_lossy; /* links of this round that have no room there */
	unsigned links; /* number of the switch's links at the time `counted` */
	rm_mono_t counted;
	struct rm_verdict verdict;
};

/* A link that is at fault in this round. */
struct candidate {
	struct member member;
	struct localise_element *ends[2];
	/* NULL: the link has no verdict, and is only proven dead */
	const struct rm_verdict *verdict;
	const struct localise_group *group; /* that has taken it, or NULL */
};

struct round {
	struct localise_map *map;
	rm_mono_t now;
	rm_wall_t wall;
	const struct rm_verdict *verdicts;
	size_t verdict_count;
	struct candidate *list;
	size_t count, size;
	/* Switches of which enough links are proven dead and explain all losses of the
	 * switch. */
	const struct localise_element *explained[MAX_NODES];
	size_t explained_count;
	/* Switches of which this is so now, or was a second ago: they forward packets.
	 */
	const struct localise_element *forwarding[MAX_NODES];
	size_t forwarding_count;
};

static struct localise_element *
find_node(const struct localise_map *map, const char *name, size_t len)
{
	struct localise_element *ret = NULL;
	char key[RM_NAME_BYTES];

	if (len >= sizeof key)
		return NULL;
	snprintf(key, sizeof key, "%.*s", (int)len, name);
	HASH_FIND_STR(map->elements, key, ret);
	return ret;
}

/* Finds the two ends of a link by its name; names of switches may contain "--". */
static bool
find_ends(const struct localise_map *map, struct candidate *candidate)
{
	const char *name = candidate->member.link.name;

	for (const char *at = strstr(name, "--"); at != NULL;
	     at = strstr(at + 1, "--")) {
		candidate->ends[0] = find_node(map, name, (size_t)(at - name));
		candidate->ends[1] = find_node(map, at + 2, strlen(at + 2));
		if (candidate->ends[0] != NULL && candidate->ends[1] != NULL)
			return true;
	}
	return false;
}

/* True: the link has a verdict, of any kind, or has been added as proven dead. */
static bool
is_known(const struct round *round, const char *link)
{
	for (size_t i = 0; i < round->count; i++)
		if (strcmp(round->list[i].member.link.name, link) == 0)
			return true;
	for (size_t i = 0; i < round->verdict_count; i++)
		if (round->verdicts[i].part.type == RM_PART_LINK &&
		    strcmp(round->verdicts[i].part.name, link) == 0)
			return true;
	return false;
}

static void
add_candidate(struct round *round, const struct candidate *candidate)
{
	if (round->count == round->size) {
		const size_t size = round->size > 0 ? 2 * round->size : 32;
		struct candidate *list =
		    realloc(round->list, size * sizeof *round->list);

		if (list == NULL)
			return; /* this link keeps its own verdict in this round */
		round->list = list;
		round->size = size;
	}
	round->list[round->count++] = *candidate;
}

/* ---- links with a verdict ---- */

/* True: the link loses packets: all, a share, or those of some flows. */
static bool
loses_packets(const struct rm_verdict *verdict)
{
	return verdict->part.type == RM_PART_LINK &&
	       (verdict->kind == RM_KIND_LINK_DOWN ||
		   verdict->kind == RM_KIND_LINK_LOSSY ||
		   verdict->kind == RM_KIND_FLOWS_BLACKHOLED);
}

/* The verdict is of minutes. */
static bool
is_slow(const struct rm_verdict *verdict)
{
	return verdict->evidence.window_ns == LOCALISE_WINDOW_NS;
}

static void
add_verdict(struct round *round, const struct rm_verdict *verdict)
{
	struct candidate candidate = { .verdict = verdict };
	struct member *member = &candidate.member;

	/* it is not known when small losses began that only minutes show */
	if (!loses_packets(verdict) || is_slow(verdict) ||
	    strlen(verdict->part.name) >= sizeof member->link.name)
		return;
	strcpy(member->link.name, verdict->part.name);
	member->link.one_way = verdict->evidence.lost_from[0] != '\0';
	strcpy(member->link.from, verdict->evidence.lost_from);
	strcpy(member->link.to, verdict->evidence.lost_to);
	member->is_down = verdict->kind == RM_KIND_LINK_DOWN;
	member->start = verdict->evidence.window_start;
	member->seen = round->now;
	/* it also returns false for "A or B" */
	if (find_ends(round->map, &candidate))
		add_candidate(round, &candidate);
}

/* ---- links that are proven dead ---- */

/* True: the other direction of the link, over the same cable, is among these. */
static bool
is_dead_back(struct localise_element *const *dead, size_t count,
    const struct localise_element *link)
{
	for (size_t i = 0; i < count; i++)
		if (dead[i]->cable == link->cable && strcmp(dead[i]->a, link->b) == 0 &&
		    strcmp(dead[i]->b, link->a) == 0)
			return true;
	return false;
}

static void
note_dead(struct localise_element *link, rm_mono_t now)
{
	if (link->dead_seen.ns == 0 ||
	    rm_mono_since(now, link->dead_seen) > PROVEN_LAPSE_NS)
		link->dead_since = now;
	link->dead_seen = now;
}

static void
add_proven_of(struct round *round, struct localise_element *node)
{
	struct localise_element *dead[MAX_DEAD];
	const size_t count =
	    localise_dead_links_proven(round->map, node, round->now, dead, MAX_DEAD);
	size_t links = 0, lasting = 0;

	for (size_t i = 0; i < count; i++) {
		struct candidate candidate = { .member.is_down = true };
		struct rm_link *link = &candidate.member.link;
		const bool swap = strcmp(dead[i]->a, dead[i]->b) > 0;
		int64_t dead_ns;

		note_dead(dead[i], round->now);
		dead_ns = rm_mono_since(round->now, dead[i]->dead_since);
		snprintf(link->name, sizeof link->name, "%s--%s",
		    swap ? dead[i]->b : dead[i]->a, swap ? dead[i]->a : dead[i]->b);
		/* The other direction is the same link. */
		links += !is_dead_back(dead, i, dead[i]);
		if (dead_ns < PROVEN_NS)
			continue;
		lasting += !is_dead_back(dead, i, dead[i]);
		if (is_known(round, link->name))
			continue;
		if (!is_dead_back(dead, count, dead[i])) {
			link->one_way = true;
			strcpy(link->from, dead[i]->a);
			strcpy(link->to, dead[i]->b);
		}
		candidate.member.start.ns = round->wall.ns - dead_ns;
		candidate.member.seen = round->now;
		if (find_ends(round->map, &candidate))
			add_candidate(round, &candidate);
	}
	if (links >= LOCALISE_GROUP_LINKS &&
	    localise_dead_links_explain(round->map, node, round->now, dead, count)) {
		node->dead_seen = round->now;
		if (lasting >= LOCALISE_GROUP_LINKS)
			round->explained[round->explained_count++] = node;
	}
	if (node->dead_seen.ns != 0 &&
	    rm_mono_since(round->now, node->dead_seen) <= PROVEN_LAPSE_NS)
		round->forwarding[round->forwarding_count++] = node;
}

static void
add_node(struct localise_element *node, struct localise_element **nodes, size_t *count)
{
	for (size_t i = 0; i < *count; i++)
		if (nodes[i] == node)
			return;
	if (node != NULL && *count < MAX_NODES)
		nodes[(*count)++] = node;
}

/* The switches of a suspicion: a switch, or those at the ends of a link. */
static void
add_nodes_of(const struct round *round, const struct rm_part *part,
    struct localise_element **nodes, size_t *count)
{
	struct candidate candidate = { .verdict = NULL };
	struct rm_link *link = &candidate.member.link;

	if (part->type == RM_PART_SWITCH || part->type == RM_PART_TOR)
		add_node(find_node(round->map, part->name, strlen(part->name)), nodes,
		    count);
	if (part->type != RM_PART_LINK || strlen(part->name) >= sizeof link->name)
		return;
	strcpy(link->name, part->name);
	if (!find_ends(round->map, &candidate))
		return;
	add_node(candidate.ends[0], nodes, count);
	add_node(candidate.ends[1], nodes, count);
}

/* Counts the links of switches that have a group, are suspected, or have a suspected
 * link. */
static void
add_proven(const struct localise_groups *groups,
    const struct localise_standings *standings, struct round *round)
{
	struct localise_element *nodes[MAX_NODES];
	size_t count = 0;

	for (size_t i = 0; i < groups->count; i++)
		add_node(find_node(round->map, groups->groups[i]->name,
			     strlen(groups->groups[i]->name)),
		    nodes, &count);
	for (size_t i = 0; i < standings->count; i++)
		if (!standings->standings[i].slow &&
		    rm_mono_since(round->now, standings->standings[i].seen) <
			LOCALISE_JUST_NOW_NS)
			add_nodes_of(
			    round, &standings->standings[i].part, nodes, &count);
	for (size_t i = 0; i < count; i++)
		add_proven_of(round, nodes[i]);
}

/* ---- groups ---- */

static bool
is_end(const struct candidate *candidate, const char *node)
{
	return strcmp(candidate->ends[0]->a, node) == 0 ||
	       strcmp(candidate->ends[1]->a, node) == 0;
}

/* False: the group has as many links as it may have, or there is no memory. */
static bool
has_room(struct localise_group *group)
{
	const size_t size = group->size > 0 ? 2 * group->size : 8;
	struct member *members;

	if (group->count < group->size)
		return true;
	if (group->size == MAX_MEMBERS)
		return false;
	members = realloc(group->members, size * sizeof *members);
	if (members == NULL)
		return false;
	group->members = members;
	group->size = size;
	return true;
}

static void
put_member(struct localise_group *group, const struct candidate *candidate)
{
	const struct member *member = &candidate->member;
	size_t at = 0;
	int order = -1;

	while (at < group->count &&
	       (order = strcmp(group->members[at].link.name, member->link.name)) < 0)
		at++;
	if (at < group->count && order == 0) {
		/* A verdict knows more of the direction and the kind. */
		if (candidate->verdict != NULL) {
			group->members[at].link = member->link;
			group->members[at].is_down = member->is_down;
		}
		group->members[at].seen = member->seen;
		return;
	}
	if (!has_room(group)) {
		if (member->is_down)
			group->more_down++;
		else
			group->more_lossy++;
		return;
	}
	memmove(&group->members[at + 1], &group->members[at],
	    (group->count - at) * sizeof group->members[0]);
	group->members[at] = *member;
	group->count++;
	if (group->start.ns == 0 || member->start.ns < group->start.ns)
		group->start = member->start;
}

/* Takes into the group those links of the switch that failed with it, or later. */
static void
take_links(struct localise_group *group, struct round *round, rm_wall_t since)
{
	for (size_t i = 0; i < round->count; i++) {
		struct candidate *candidate = &round->list[i];

		if (candidate->group != NULL || !is_end(candidate, group->name) ||
		    candidate->member.start.ns < since.ns)
			continue;
		candidate->group = group;
		put_member(group, candidate);
	}
}

static bool
is_among(const struct localise_element *const *nodes, size_t count, const char *node)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(nodes[i]->a, node) == 0)
			return true;
	return false;
}

static bool
is_explained(const struct round *round, const char *node)
{
	return is_among(round->explained, round->explained_count, node);
}

/* The verdict is that a switch forwards nothing, and it does forward packets. */
static bool
is_premature(const struct round *round, const struct rm_verdict *verdict)
{
	return verdict->kind == RM_KIND_SWITCH_DOWN &&
	       is_among(round->forwarding, round->forwarding_count, verdict->part.name);
}

static bool
is_node(const struct rm_verdict *verdict, const char *node)
{
	return (verdict->part.type == RM_PART_SWITCH ||
		   verdict->part.type == RM_PART_TOR) &&
	       rm_part_names(&verdict->part, node);
}

/* The verdict of seconds on the switch itself; or NULL. */
static const struct rm_verdict *
verdict_on(const struct round *round, const char *node)
{
	for (size_t i = 0; i < round->verdict_count; i++)
		if (is_node(&round->verdicts[i], node) && !is_slow(&round->verdicts[i]))
			return &round->verdicts[i];
	return NULL;
}

/* Returns how many links of the switch failed within LOCALISE_GROUP_NS up to *last, the
 * time of the newest failure. 0: no such link has a verdict. */
static size_t
count_together(const struct round *round, const char *node, rm_wall_t *last)
{
	size_t count = 0;
	bool any = false;

	last->ns = INT64_MIN;
	for (size_t i = 0; i < round->count; i++)
		if (round->list[i].group == NULL && is_end(&round->list[i], node) &&
		    round->list[i].member.start.ns > last->ns)
			*last = round->list[i].member.start;
	for (size_t i = 0; i < round->count; i++) {
		const struct candidate *candidate = &round->list[i];

		if (candidate->group != NULL || !is_end(candidate, node) ||
		    last->ns - candidate->member.start.ns > LOCALISE_GROUP_NS)
			continue;
		count++;
		any |= candidate->verdict != NULL;
	}
	return any || (is_explained(round, node) && verdict_on(round, node) != NULL)
		   ? count
		   : 0;
}

/* The neighbour of the switch to which, or from which, the link leads; NULL: it is no
 * link of the switch. */
static struct localise_element *
neighbour(const struct localise_map *map, const char *node,
    const struct localise_element *link)
{
	const char *far = strcmp(link->a, node) == 0   ? link->b
			  : strcmp(link->b, node) == 0 ? link->a
						       : "";
	struct localise_element *ret = NULL;

	if (link->b[0] != '\0' && far[0] != '\0')
		HASH_FIND_STR(map->elements, far, ret);
	return ret;
}

/* The number of the switch's neighbours: parallel cables to one count as one link.
 * Links and neighbours that are counted have a new stamp. */
static unsigned
count_links(struct localise_map *map, const char *node)
{
	const struct localise_element *at = find_node(map, node, strlen(node));
	const uint64_t stamp = ++map->stamp;
	unsigned count = 0;

	for (size_t i = 0; at != NULL && i < at->path_count && i < MAX_PATHS; i++) {
		struct localise_path *path = localise_element_sample(at, MAX_PATHS, i);

		for (uint8_t k = 0; k < path->element_count; k++) {
			struct localise_element *link = path->elements[k], *end;

			if (link->stamp == stamp)
				continue;
			end = neighbour(map, node, link);
			if (end == NULL)
				continue;
			link->stamp = stamp;
			count += end->stamp != stamp;
			end->stamp = stamp;
		}
	}
	return count;
}

/* True: the switch itself has a verdict of seconds, and its dead links do not explain
 * its losses. */
static bool
has_verdict(const struct round *round, const char *node)
{
	return !is_explained(round, node) && verdict_on(round, node) != NULL;
}

static void
group_free(struct localise_group *group)
{
	free(group->members);
	free(group);
}

static int
add_group(struct localise_groups *groups, struct round *round,
    const struct localise_element *node, rm_wall_t last)
{
	struct localise_group *group;

	if (groups->count == LOCALISE_GROUPS)
		return -1;
	if (groups->groups == NULL)
		groups->groups =
		    calloc(LOCALISE_GROUPS, sizeof(struct localise_group *));
	group = groups->groups != NULL ? calloc(1, sizeof *group) : NULL;
	if (group == NULL)
		return -1; /* its links keep verdicts of their own */
	strcpy(group->name, node->a);
	group->is_tor = node->is_tor;
	groups->groups[groups->count++] = group;
	take_links(group, round, (rm_wall_t){ last.ns - LOCALISE_GROUP_NS });
	return 0;
}

/* Forms groups, first of the switch with the most links that failed together, because
 * each link is in one group only. */
static void
add_groups(struct localise_groups *groups, struct round *round)
{
	for (;;) {
		const struct localise_element *node = NULL;
		size_t most = LOCALISE_GROUP_LINKS - 1;
		rm_wall_t last, of_node = { 0 };

		for (size_t i = 0; i < round->count; i++)
			for (size_t k = 0; k < 2 && round->list[i].group == NULL; k++) {
				const struct localise_element *end =
				    round->list[i].ends[k];
				const size_t count =
				    count_together(round, end->a, &last);

				/* if all links fail, the switch is at fault */
				if (count <= most || has_verdict(round, end->a) ||
				    count >= count_links(round->map, end->a))
					continue;
				most = count;
				node = end;
				of_node = last;
			}
		if (node == NULL || add_group(groups, round, node, of_node) < 0)
			return;
	}
}

/* Takes links that are no longer at fault out of the group. False: no link is left. */
static bool
keep_members(struct localise_group *group, rm_mono_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < group->count; i++)
		if (rm_mono_since(now, group->members[i].seen) < MEMBER_NS)
			group->members[kept++] = group->members[i];
	group->count = kept;
	return kept + group->more_down + group->more_lossy > 0;
}

/* ---- the verdict on a group ---- */

/* Adds that the switch itself is good. What shows that other parts are good is no
 * evidence on a group. */
static void
add_ruled_out(const struct localise_group *group, const struct rm_evidence *from,
    struct rm_evidence *to)
{
	const size_t len = strlen(group->name);

	for (size_t i = 0; i < from->ruled_out_count && to->ruled_out_count == 0; i++)
		if (strncmp(from->ruled_out[i], group->name, len) == 0 &&
		    from->ruled_out[i][len] == ':')
			strcpy(
			    to->ruled_out[to->ruled_out_count++], from->ruled_out[i]);
}

/* from_each: number of samples of one link, so that samples of all links fit */
static void
add_samples(const struct rm_evidence *from, size_t from_each, struct rm_evidence *to)
{
	for (size_t i = 0; i < from->sample_count && i < from_each &&
			   to->sample_count < RM_EVIDENCE_SAMPLES;
	     i++)
		to->samples[to->sample_count++] = from->samples[i];
}

static void
add_evidence(struct localise_group *group, const struct rm_verdict *verdict,
    size_t from_each, bool is_first)
{
	const struct rm_evidence *from = &verdict->evidence;
	struct rm_evidence *to = &group->verdict.evidence;

	if (is_first || verdict->confidence < group->verdict.confidence)
		group->verdict.confidence = verdict->confidence;
	if (from->window_ns > to->window_ns)
		to->window_ns = from->window_ns;
	if (from->late_ns > to->late_ns)
		to->late_ns = from->late_ns;
	to->to_part.sent += from->to_part.sent;
	to->to_part.arrived += from->to_part.arrived;
	add_samples(from, from_each, to);
	add_ruled_out(group, from, to);
}

static void
list_links(const struct round *round, struct localise_group *group)
{
	struct rm_evidence *evidence = &group->verdict.evidence;
	bool fits = true;

	evidence->links[0] = '\0';
	evidence->links_down = group->more_down;
	evidence->links_lossy = group->more_lossy;
	for (size_t i = 0; i < group->count; i++) {
		if (group->members[i].is_down)
			evidence->links_down++;
		else
			evidence->links_lossy++;
		fits = fits && rm_links_add(evidence->links, &group->members[i].link);
	}
	if (group->links == 0 ||
	    rm_mono_since(round->now, group->counted) >= COUNT_NS) {
		group->links = count_links(round->map, group->name);
		group->counted = round->now;
	}
	/* A link may have lost its last path, to another link. */
	evidence->links_of =
	    group->links >= evidence->links_down + evidence->links_lossy ? group->links
									 : 0;
}

/* Fills the evidence from the links' verdicts of this round; if there are none, from
 * the verdict on the switch that these links explain; otherwise the evidence of the
 * last round stays. */
static void
fill_verdict(struct localise_group *group, const struct round *round)
{
	struct rm_verdict *verdict = &group->verdict;
	size_t of_group = 0, added = 0;

	for (size_t i = 0; i < round->count; i++)
		of_group +=
		    round->list[i].verdict != NULL && round->list[i].group == group;
	if (of_group > 0)
		*verdict = (struct rm_verdict){ 0 };
	for (size_t i = 0; i < round->count; i++)
		if (round->list[i].verdict != NULL && round->list[i].group == group)
			add_evidence(group, round->list[i].verdict,
			    (RM_EVIDENCE_SAMPLES + of_group - 1) / of_group,
			    added++ == 0);
	if (added == 0 && is_explained(round, group->name) &&
	    verdict_on(round, group->name) != NULL) {
		*verdict = (struct rm_verdict){ 0 };
		add_evidence(
		    group, verdict_on(round, group->name), RM_EVIDENCE_SAMPLES, true);
	}
	verdict->part.type = group->is_tor ? RM_PART_TOR : RM_PART_SWITCH;
	strcpy(verdict->part.name, group->name);
	verdict->evidence.window_start = group->start;
	list_links(round, group);
	verdict->kind =
	    verdict->evidence.links_down > 0 ? RM_KIND_LINKS_DOWN : RM_KIND_LINKS_LOSSY;
}

/* True: a link of the group began to fail within LOCALISE_GROUP_NS of then. */
static bool
began_with(const struct localise_group *group, rm_wall_t then)
{
	for (size_t i = 0; i < group->count; i++)
		if (llabs(then.ns - group->members[i].start.ns) <= LOCALISE_GROUP_NS)
			return true;
	return false;
}

/* The verdict is on a link of the group, or on "A or B" with one of these, unless it is
 * on an older fault than that of this link, because this may be one of the other link.
 * Or it is a verdict of seconds on "A or B" of two links of the switch that began to
 * fail with a link of the group: one more of its links, and it is not known which. */
static bool
has_link(const struct localise_group *group, const struct rm_verdict *verdict)
{
	const bool undecided = strstr(verdict->part.name, RM_PART_OR) != NULL;

	for (size_t i = 0; i < group->count; i++) {
		const struct member *member = &group->members[i];

		if (rm_part_names(&verdict->part, member->link.name) &&
		    (!undecided || verdict->evidence.window_start.ns >=
				       member->start.ns - LOCALISE_GROUP_NS))
			return true;
	}
	return undecided && !is_slow(verdict) &&
	       rm_links_end_at(&verdict->part, group->name) &&
	       began_with(group, verdict->evidence.window_start);
}

/* The verdict is on a link of a group, or it is of minutes, or explained, and on a
 * switch with a group: its losses are those of the links. */
static bool
is_of_group(const struct localise_groups *groups, const struct round *round,
    const struct rm_verdict *verdict)
{
	for (size_t i = 0; i < round->count; i++)
		if (round->list[i].verdict == verdict)
			return round->list[i].group != NULL;
	for (size_t i = 0; i < groups->count; i++) {
		const struct localise_group *group = groups->groups[i];

		if (is_node(verdict, group->name)
			? is_slow(verdict) || is_explained(round, group->name)
			: loses_packets(verdict) && has_link(group, verdict))
			return true;
	}
	return false;
}

static size_t
remove_taken(const struct localise_groups *groups, const struct round *round,
    struct rm_verdict *verdicts, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (is_of_group(groups, round, &verdicts[i]) ||
		    is_premature(round, &verdicts[i]))
			continue;
		if (kept != i)
			verdicts[kept] = verdicts[i];
		kept++;
	}
	return kept;
}

size_t
localise_groups_join(struct localise_groups *groups,
    const struct localise_standings *standings, const struct localise_now *now,
    struct rm_verdict *verdicts, size_t count)
{
	struct round round = { .map = now->map,
		.now = now->now,
		.wall = now->wall,
		.verdicts = verdicts,
		.verdict_count = count };
	const size_t room = count > LOCALISE_GROUPS ? count : LOCALISE_GROUPS;

	for (size_t i = 0; i < count; i++)
		add_verdict(&round, &verdicts[i]);
	add_proven(groups, standings, &round);
	for (size_t i = groups->count; i-- > 0;) {
		struct localise_group *group = groups->groups[i];

		group->more_down = group->more_lossy = 0;
		take_links(
		    group, &round, (rm_wall_t){ group->start.ns - LOCALISE_GROUP_NS });
		if (keep_members(group, now->now))
			continue;
		group_free(group);
		groups->groups[i] = groups->groups[--groups->count];
	}
	add_groups(groups, &round);
	for (size_t i = 0; i < groups->count; i++)
		fill_verdict(groups->groups[i], &round);
	count = remove_taken(groups, &round, verdicts, count);
	for (size_t i = 0; i < groups->count && count < room; i++) {
		round.verdict_count = count;
		if (!has_verdict(&round, groups->groups[i]->name))
			verdicts[count++] = groups->groups[i]->verdict;
	}
	free(round.list);
	return count;
}

void
localise_groups_release(struct localise_groups *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		group_free(groups->groups[i]);
	free(groups->groups);
	*groups = (struct localise_groups){ 0 };
}
