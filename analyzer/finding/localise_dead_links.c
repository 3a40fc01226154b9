#include "analyzer/finding/localise_dead_links.h"

#include "analyzer/finding/localise_observe.h"

#define MIN_SENT 4 /* least number of probes over a dead link */
/* A link is dead if it loses at least this share of its probes. */
#define DEAD_SHARE 0.9
#define MIN_FORWARDED 4.0
/* Losses over the node on other paths, as a share of those over its dead links: up to
 * this they may be lost replies, or have another cause. */
#define OTHERS_SHARE 0.1

/* Uses only the newest rows: older rows may be from before the fault. */
static bool
is_link_dead(const struct localise_case *c, const struct localise_local *local)
{
	const struct localise_element *link = local->element;
	/* If more of its probes arrived, all its losses together are too few. */
	const double most = local->lost * (1 - DEAD_SHARE) / DEAD_SHARE;
	double sent = 0, lost = 0;

	if (!local->one_class && local->lost < DEAD_SHARE * MIN_SENT)
		return false;
	for (size_t i = 0; i < localise_observe_asked(link); i++) {
		const struct localise_counts_seen *seen =
		    localise_path_row(localise_observe_asked_path(link, i), 0, c->now);

		if (seen == NULL)
			continue;
		sent += (double)seen->sent;
		lost += (double)seen->forward + seen->unknown;
		if (!local->one_class && sent - lost > most)
			return false;
	}
	return sent >= MIN_SENT && lost >= DEAD_SHARE * sent;
}

static struct localise_local *
local_of(const struct localise_case *c, const struct localise_element *element)
{
	return element->stamp == c->stamp ? &c->locals[element->local] : NULL;
}

/* Both directions of a cable count once. */
static void
add_dead(struct localise_local *node, const struct localise_element *link)
{
	if (node->dead_links == 0 || node->dead_cable != link->cable)
		node->dead_links += node->dead_links < 2;
	node->dead_cable = link->cable;
}

/* Adds the link to the switches or ToRs at its ends. */
static void
add_to_ends(const struct localise_case *c, const struct localise_element *link)
{
	const struct localise_path *path = link->paths[0];

	for (uint8_t i = 1; i + 1 < path->element_count; i++) {
		const struct localise_element *ends[] = { path->elements[i - 1],
			path->elements[i + 1] };

		for (size_t k = 0; path->elements[i] == link && k < 2; k++)
			if (local_of(c, ends[k]) != NULL)
				add_dead(local_of(c, ends[k]), link);
	}
}

static bool
is_dead(const struct localise_case *c, const struct localise_element *link)
{
	const struct localise_local *local = local_of(c, link);

	return local != NULL && local->is_dead_link;
}

/* The path enters or leaves its element `at`, a node, by a dead link. */
static bool
crosses_dead(
    const struct localise_case *c, const struct localise_path *path, uint8_t at)
{
	return (at > 0 && is_dead(c, path->elements[at - 1])) ||
	       (at + 1 < path->element_count && is_dead(c, path->elements[at + 1]));
}

/* Adds the losses of a path to those nodes on it that have several dead links. On paths
 * that do not cross these, losses of unknown direction do not count: they may be lost
 * replies. */
static void
add_lossy(struct localise_case *c, const struct localise_lossy *lossy)
{
	const struct localise_path *path = lossy->path;

	for (uint8_t i = 0; i < path->element_count; i++) {
		struct localise_local *node = local_of(c, path->elements[i]);

		if (node == NULL || node->dead_links < 2)
			continue;
		if (crosses_dead(c, path, i))
			node->lost_on_dead += lossy->sum.forward + lossy->sum.unknown;
		else
			node->lost_beside += lossy->sum.forward;
	}
}

void
localise_dead_links_find(struct localise_case *c)
{
	bool several = false;

	if (!c->by_flow || c->slow || c->late)
		return;
	for (size_t i = 0; i < c->local_count; i++) {
		struct localise_local *local = &c->locals[i];

		if (local->element->b[0] == '\0' || !is_link_dead(c, local))
			continue;
		local->is_dead_link = true;
		add_to_ends(c, local->element);
	}
	for (size_t i = 0; i < c->local_count; i++)
		several |= c->locals[i].dead_links >= 2;
	for (size_t i = 0; several && i < c->lossy_count; i++)
		add_lossy(c, &c->lossy[i]);
}

/* True: the newest rows of the path's rack describe the time since its losses began. */
static bool
is_current(const struct localise_path *path)
{
	const struct localise_rack *rack = path->rack;

	return rack->lossy == rack->frame && rack->frame > rack->first;
}

/* The path crosses one of the node's dead links. */
static bool
crosses_dead_of(const struct localise_case *c, const struct localise_path *path,
    const struct localise_element *node)
{
	for (uint8_t i = 0; i < path->element_count; i++)
		if (path->elements[i] == node)
			return crosses_dead(c, path, i);
	return false;
}

/* True: enough packets crossed the node on paths that have no losses, and that do not
 * cross its dead links. */
static bool
forwards(const struct localise_case *c, const struct localise_map *map,
    const struct localise_element *node)
{
	double forwarded = 0;

	for (size_t i = 0;
	     i < localise_observe_asked(node) && forwarded < MIN_FORWARDED; i++) {
		const struct localise_path *path = localise_observe_asked_path(node, i);
		struct localise_sum sum = { 0 };

		/* a path with this stamp has losses */
		if (path->stamp == c->stamp || !is_current(path) ||
		    crosses_dead_of(c, path, node))
			continue;
		localise_path_newest(map, path, c->now, &sum);
		forwarded += sum.sent - sum.forward - sum.unknown;
	}
	return forwarded >= MIN_FORWARDED;
}

bool
localise_dead_links_of(const struct localise_case *c, const struct localise_map *map,
    const struct localise_element *node)
{
	const struct localise_local *local = local_of(c, node);

	return local != NULL && local->dead_links >= 2 &&
	       local->lost_beside <= OTHERS_SHARE * local->lost_on_dead &&
	       forwards(c, map, node);
}

/* ---- links that are proven to be dead ---- */

/* least number of probes that arrived over a link which passes packets */
#define MIN_ARRIVED 2.0
#define MAX_LINKS 512 /* maximum number of links of a node; each direction counts */
/* With more lossy paths of the map, a sample of the node's paths represents these. */
#define MAX_LOSSY 1000
#define MAX_SAMPLE 4096

struct lossy_at { /* a walk over the lossy paths at a node */
	const struct localise_map *map;
	const struct localise_element *node;
	size_t next;
};

static struct localise_path *
next_lossy(struct lossy_at *walk)
{
	const struct localise_map *map = walk->map;
	const size_t paths = walk->node->path_count,
		     sample = paths < MAX_SAMPLE ? paths : MAX_SAMPLE;

	if (map->lossy_count <= MAX_LOSSY) {
		while (walk->next < map->lossy_count) {
			struct localise_path *path = map->lossy[walk->next++];

			if (localise_path_crosses(path, walk->node))
				return path;
		}
		return NULL;
	}
	while (walk->next < sample) {
		struct localise_path *path =
		    localise_element_sample(walk->node, MAX_SAMPLE, walk->next++);

		if (path->is_listed && path->listed_at < map->lossy_count)
			return path;
	}
	return NULL;
}

struct proof {
	struct localise_element *link;
	bool passes; /* enough probes over the link arrived */
};

struct proofs {
	uint64_t stamp; /* a link with it has the proof number link->local */
	struct proof list[MAX_LINKS];
	size_t count;
};

static struct proof *
find_proof(struct proofs *proofs, const struct localise_element *link)
{
	return link->stamp == proofs->stamp ? &proofs->list[link->local] : NULL;
}

/* The links of the node that lossy paths cross. */
static void
find_proofs(struct localise_map *map, const struct localise_element *node,
    struct proofs *proofs)
{
	struct lossy_at walk = { map, node, 0 };
	struct localise_path *path;

	proofs->count = 0;
	proofs->stamp = ++map->stamp;
	while ((path = next_lossy(&walk)) != NULL)
		for (uint8_t k = 0; k < path->element_count; k++) {
			struct localise_element *link = path->elements[k];
			const bool at_node = (k > 0 && path->elements[k - 1] == node) ||
					     (k + 1 < path->element_count &&
						 path->elements[k + 1] == node);

			if (!at_node || proofs->count == MAX_LINKS ||
			    find_proof(proofs, link) != NULL)
				continue;
			link->stamp = proofs->stamp;
			link->local = (uint32_t)proofs->count;
			proofs->list[proofs->count++] = (struct proof){ link, false };
		}
}

/* The links by which the path enters and leaves the node. */
static size_t
links_at_node(const struct localise_path *path, const struct localise_element *node,
    const struct localise_element *ret[2])
{
	size_t count = 0;

	for (uint8_t i = 0; i < path->element_count; i++) {
		if (path->elements[i] != node)
			continue;
		if (i > 0)
			ret[count++] = path->elements[i - 1];
		if (i + 1 < path->element_count)
			ret[count++] = path->elements[i + 1];
		break;
	}
	return count;
}

/* Returns the other link of the node on this path. NULL: the path begins or ends at the
 * node. */
static const struct localise_element *
other_link(const struct localise_path *path, const struct localise_element *node,
    const struct localise_element *link)
{
	const struct localise_element *at_node[2];
	const size_t count = links_at_node(path, node, at_node);

	return count < 2 ? NULL : at_node[at_node[0] == link];
}

/* True: the other link of the node on this path passes no packets, so that it may be
 * the one that loses them. */
static bool
may_be_other(struct proofs *proofs, const struct localise_path *path,
    const struct localise_element *node, const struct localise_element *link)
{
	const struct localise_element *other = other_link(path, node, link);
	const struct proof *proof = other != NULL ? find_proof(proofs, other) : NULL;

	return proof != NULL && !proof->passes;
}

/* Adds the newest row of each path over the link. proofs: adds only paths on which no
 * other link of the node may lose the packets; NULL: adds all paths. */
static void
sum_newest(const struct localise_element *link, const struct localise_element *node,
    struct proofs *proofs, rm_mono_t now, double *sent, double *lost)
{
	*sent = *lost = 0;
	for (size_t i = 0; i < localise_observe_asked(link); i++) {
		const struct localise_path *path = localise_observe_asked_path(link, i);
		const struct localise_counts_seen *seen =
		    localise_path_row(path, 0, now);

		if (seen == NULL ||
		    (proofs != NULL && may_be_other(proofs, path, node, link)))
			continue;
		*sent += (double)seen->sent;
		*lost += (double)seen->forward + seen->unknown;
	}
}

size_t
localise_dead_links_proven(struct localise_map *map,
    const struct localise_element *node, rm_mono_t now, struct localise_element **ret,
    size_t room)
{
	struct proofs proofs;
	double sent, lost;
	size_t count = 0;

	find_proofs(map, node, &proofs);
	for (size_t i = 0; i < proofs.count; i++) {
		sum_newest(proofs.list[i].link, node, NULL, now, &sent, &lost);
		proofs.list[i].passes = sent - lost >= MIN_ARRIVED;
	}
	for (size_t i = 0; i < proofs.count && count < room; i++) {
		if (proofs.list[i].passes)
			continue;
		sum_newest(proofs.list[i].link, node, &proofs, now, &sent, &lost);
		if (sent >= MIN_SENT && lost >= DEAD_SHARE * sent)
			ret[count++] = proofs.list[i].link;
	}
	return count;
}

static bool
crosses_stamped(const struct localise_path *path, uint64_t stamp)
{
	for (uint8_t i = 0; i < path->element_count; i++)
		if (path->elements[i]->stamp == stamp)
			return true;
	return false;
}

bool
localise_dead_links_explain(struct localise_map *map,
    const struct localise_element *node, rm_mono_t now,
    struct localise_element *const *links, size_t count)
{
	struct lossy_at walk = { map, node, 0 };
	const struct localise_path *path;
	const uint64_t stamp = ++map->stamp;
	double lost = 0, others = 0;

	for (size_t i = 0; i < count; i++)
		links[i]->stamp = stamp;
	while ((path = next_lossy(&walk)) != NULL) {
		struct localise_sum sum = { 0 };

		localise_path_recent(map, path, now, &sum);
		if (crosses_stamped(path, stamp))
			lost += sum.forward + sum.unknown;
		else
			others += sum.forward;
	}
	return lost > 0 && others <= OTHERS_SHARE * lost;
}

bool
localise_dead_links_alone(const struct localise_case *c, const struct localise_map *map,
    const struct localise_suspect *link)
{
	const char *ends[] = { link->elements[0]->a, link->elements[0]->b };
	bool any = false;

	if (link->type != RM_PART_LINK || !is_dead(c, link->elements[0]))
		return false;
	for (size_t i = 0; i < 2; i++) {
		struct localise_element *node;

		HASH_FIND_STR(map->elements, ends[i], node);
		if (node == NULL)
			return false;
		if (local_of(c, node) == NULL || local_of(c, node)->dead_links < 2)
			continue;
		if (!localise_dead_links_of(c, map, node))
			return false;
		any = true;
	}
	return any;
}
