#include "analyzer/finding/localise_dead_links.h"

#include "analyzer/finding/localise_observe.h"

#define MAX_LOSSY 1000 /* lossy paths of a case: for each node all are read */
#define MAX_LINKS 64   /* links of a node, each direction counts */
#define MIN_SENT 4     /* least number of probes over a dead link */
/* A link is dead if it loses at least this share of its probes. */
#define DEAD_SHARE 0.9
#define MIN_FORWARDED 4.0
/* Losses over the node on other paths, as a share of those over its dead links: up to
 * this they may be lost replies, or have another cause. */
#define OTHERS_SHARE 0.1

struct node_links {
	struct node_link {
		const struct localise_element *element;
		bool is_dead;
	} list[MAX_LINKS];
	size_t count;
};

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

/* Uses only the newest rows: older rows may be from before the fault. */
static bool
is_link_dead(const struct localise_case *c, const struct localise_element *link)
{
	double sent = 0, lost = 0;

	for (size_t i = 0; i < localise_observe_asked(link); i++) {
		const struct localise_counts_seen *seen =
		    localise_path_row(localise_observe_asked_path(link, i), 0, c->now);

		if (seen == NULL)
			continue;
		sent += (double)seen->sent;
		lost += (double)seen->forward + seen->unknown;
	}
	return sent >= MIN_SENT && lost >= DEAD_SHARE * sent;
}

static void
add_link(const struct localise_case *c, const struct localise_element *link,
    struct node_links *links)
{
	for (size_t i = 0; i < links->count; i++)
		if (links->list[i].element == link)
			return;
	if (links->count < MAX_LINKS)
		links->list[links->count++] =
		    (struct node_link){ link, is_link_dead(c, link) };
}

static void
find_links(const struct localise_case *c, const struct localise_element *node,
    struct node_links *links)
{
	const struct localise_element *at_node[2];

	links->count = 0;
	for (size_t i = 0; i < c->lossy_count; i++) {
		const size_t count = links_at_node(c->lossy[i].path, node, at_node);

		for (size_t k = 0; k < count; k++)
			add_link(c, at_node[k], links);
	}
}

/* Both directions of a cable count once. */
static size_t
count_dead(const struct node_links *links)
{
	size_t count = 0;

	for (size_t i = 0; i < links->count; i++) {
		bool skip = !links->list[i].is_dead;

		for (size_t k = 0; k < i && !skip; k++)
			skip =
			    links->list[k].is_dead && links->list[k].element->cable ==
							  links->list[i].element->cable;
		count += !skip;
	}
	return count;
}

static bool
crosses_dead(const struct localise_path *path, const struct localise_element *node,
    const struct node_links *links)
{
	const struct localise_element *at_node[2];
	const size_t count = links_at_node(path, node, at_node);

	for (size_t i = 0; i < links->count; i++)
		for (size_t k = 0; k < count; k++)
			if (links->list[i].is_dead &&
			    links->list[i].element == at_node[k])
				return true;
	return false;
}

/* True: nearly all losses over the node are on paths over its dead links. On the other
 * paths, losses of unknown direction do not count: they may be lost replies. */
static bool
explain_losses(const struct localise_case *c, const struct localise_element *node,
    const struct node_links *links)
{
	double lost = 0, others = 0;

	for (size_t i = 0; i < c->lossy_count; i++) {
		const struct localise_lossy *lossy = &c->lossy[i];

		if (!localise_path_crosses(lossy->path, node))
			continue;
		if (crosses_dead(lossy->path, node, links))
			lost += lossy->sum.forward + lossy->sum.unknown;
		else
			others += lossy->sum.forward;
	}
	return others <= OTHERS_SHARE * lost;
}

/* True: the newest rows of the path's rack describe the time since its losses began. */
static bool
is_current(const struct localise_path *path)
{
	const struct localise_rack *rack = path->rack;

	return rack->lossy == rack->frame && rack->frame > rack->first;
}

/* True: enough packets crossed the node on paths that have no losses, and that do not
 * cross its dead links. */
static bool
forwards(const struct localise_case *c, const struct localise_map *map,
    const struct localise_element *node, const struct node_links *links)
{
	double forwarded = 0;

	for (size_t i = 0;
	     i < localise_observe_asked(node) && forwarded < MIN_FORWARDED; i++) {
		const struct localise_path *path = localise_observe_asked_path(node, i);
		struct localise_sum sum = { 0 };

		/* A path with this stamp has losses. */
		if (path->stamp == c->stamp || !is_current(path) ||
		    crosses_dead(path, node, links))
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
	struct node_links links;

	if (!c->by_flow || c->slow || c->late || c->lossy_count > MAX_LOSSY)
		return false;
	find_links(c, node, &links);
	return count_dead(&links) >= 2 && explain_losses(c, node, &links) &&
	       forwards(c, map, node, &links);
}

bool
localise_dead_links_alone(const struct localise_case *c, const struct localise_map *map,
    const struct localise_suspect *link)
{
	const char *ends[] = { link->elements[0]->a, link->elements[0]->b };
	bool any = false;

	if (link->type != RM_PART_LINK || !is_link_dead(c, link->elements[0]))
		return false;
	for (size_t i = 0; i < 2; i++) {
		struct localise_element *node;
		struct node_links links;

		HASH_FIND_STR(map->elements, ends[i], node);
		if (node == NULL)
			return false;
		find_links(c, node, &links);
		if (count_dead(&links) < 2)
			continue;
		if (!localise_dead_links_of(c, map, node))
			return false;
		any = true;
	}
	return any;
}
