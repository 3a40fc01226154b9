#include "analyzer/finding/localise_one_link.h"

#include <math.h>

#include "analyzer/finding/localise_observe.h"

/* maximum number of cables of one node; further cables are not counted separately */
#define MAX_CABLES 256
/* If the other paths lost packets at the link's rate, they would have lost this many;
 * that they lose none by chance happens once in some 400 cases. For each MISSED_FOR_ONE
 * more they may lose one, which another link may have lost. */
#define MIN_MISSED 6.0
#define MISSED_FOR_ONE 4.0
/* With so many losses on paths that avoid both worst links, the node is at fault. */
#define MIN_SPREAD 3.0
/* Losses on paths that avoid the link are ignored up to this share of the link's
 * losses. */
#define ELSEWHERE_SHARE 0.02
/* If at least this share of the link's losses is also over another cable, the fault is
 * not that of one link. */
#define OTHER_SHARE 0.8

struct over_cable {
	uint64_t cable;
	double sent, lost;
};

struct over_node {
	struct over_cable cables[MAX_CABLES];
	size_t count;
	double sent, lost;
};

static struct over_cable *
find_cable(struct over_node *over, uint64_t cable)
{
	for (size_t i = 0; i < over->count; i++)
		if (over->cables[i].cable == cable)
			return &over->cables[i];
	if (over->count == MAX_CABLES)
		return NULL;
	over->cables[over->count] = (struct over_cable){ .cable = cable };
	return &over->cables[over->count++];
}

/* The links of the node that the path crosses. */
static size_t
cables_of(const struct localise_path *path, const struct localise_element *node,
    uint64_t cables[2])
{
	size_t count = 0;

	for (uint8_t i = 0; i < path->element_count && count < 2; i++) {
		const struct localise_element *e = path->elements[i];
		const bool beside =
		    (i > 0 && path->elements[i - 1] == node) ||
		    (i + 1 < path->element_count && path->elements[i + 1] == node);

		if (beside && e->b[0] != '\0')
			cables[count++] = e->cable;
	}
	return count;
}

/* Adds the path to the node and to those of its links that the path crosses; paths over
 * the cable `without` (NULL: none) are left out. */
static void
add_path(struct over_node *over, const struct localise_path *path,
    const struct localise_element *node, const uint64_t *without, double sent,
    double lost)
{
	uint64_t cables[2];
	const size_t count = cables_of(path, node, cables);

	for (size_t i = 0; i < count; i++)
		if (without != NULL && cables[i] == *without)
			return;
	over->sent += sent;
	over->lost += lost;
	for (size_t i = 0; i < count; i++) {
		struct over_cable *cable = find_cable(over, cables[i]);

		if (cable != NULL) {
			cable->sent += sent;
			cable->lost += lost;
		}
	}
}

static void
add_sent(const struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, const struct localise_element *node, const uint64_t *without,
    struct over_node *over)
{
	const size_t asked = localise_observe_asked(node);
	const double scale = (double)node->path_count / fmax((double)asked, 1);

	for (size_t i = 0; i < asked; i++) {
		const struct localise_path *path = localise_observe_asked_path(node, i);
		struct localise_sum sum = { 0 };

		seen(map, path, c->now, &sum);
		sum = localise_observe_witnesses(c, &sum);
		add_path(over, path, node, without, scale * sum.sent, 0);
	}
}

static void
add_lost(const struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, const struct localise_element *node, const uint64_t *without,
    struct over_node *over)
{
	for (size_t i = 0; i < c->lossy_count; i++) {
		const struct localise_path *path = c->lossy[i].path;
		struct localise_sum sum = { 0 };

		if (c->lossy[i].again || !localise_path_crosses(path, node))
			continue;
		seen(map, path, c->now, &sum);
		sum = localise_observe_witnesses(c, &sum);
		add_path(over, path, node, without, 0, sum.forward + sum.unknown);
	}
}

/* Returns the worst link. *next: the second worst link; NULL: there is none. */
static const struct over_cable *
worst(const struct over_node *over, const struct over_cable **next)
{
	const struct over_cable *most = NULL;

	*next = NULL;
	for (size_t i = 0; i < over->count; i++) {
		if (most == NULL || over->cables[i].lost > most->lost) {
			*next = most;
			most = &over->cables[i];
		} else if (*next == NULL || over->cables[i].lost > (*next)->lost) {
			*next = &over->cables[i];
		}
	}
	return most;
}

/* Returns how many probes the paths that avoid the cable would lose at the cable's
 * rate. */
static double
missed_beside(const struct over_node *over, const struct over_cable *cable)
{
	return cable->sent > 0 ? (over->sent - cable->sent) * cable->lost / cable->sent
			       : 0;
}

/* Returns the suspect of both directions of the link, or of one. */
static const struct localise_suspect *
suspect_of(const struct localise_case *c, uint64_t cable)
{
	const struct localise_suspect *ret = NULL;

	for (size_t i = 0; i < c->suspect_count; i++) {
		const struct localise_suspect *s = &c->suspects[i];

		if (s->type == RM_PART_LINK && s->elements[0]->cable == cable &&
		    (ret == NULL || s->element_count > ret->element_count))
			ret = s;
	}
	return ret;
}

const struct localise_suspect *
localise_one_link(const struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, const struct localise_suspect *node, bool *sure)
{
	struct over_node over = { .count = 0 }, without = { .count = 0 };
	const struct over_cable *most, *next, *second;
	double missed, missed_by_both = 0, spread = 0;

	if ((node->type != RM_PART_SWITCH && node->type != RM_PART_TOR) ||
	    node->transit != NULL)
		return NULL;
	add_sent(c, map, seen, node->elements[0], NULL, &over);
	add_lost(c, map, seen, node->elements[0], NULL, &over);
	most = worst(&over, &next);
	if (most == NULL || most->sent <= 0 ||
	    (next != NULL && next->lost >= OTHER_SHARE * most->lost))
		return NULL;
	missed = missed_beside(&over, most);
	add_sent(c, map, seen, node->elements[0], &most->cable, &without);
	add_lost(c, map, seen, node->elements[0], &most->cable, &without);
	second = worst(&without, &next);
	if (second != NULL) {
		spread = without.lost - second->lost;
		missed_by_both = missed_beside(&without, second);
	}
	*sure = missed >= MIN_MISSED && spread < MIN_SPREAD &&
		(without.lost <= (missed - MIN_MISSED) / MISSED_FOR_ONE ||
		    missed_by_both >= MIN_MISSED);
	return *sure || without.lost <= ELSEWHERE_SHARE * most->lost
		   ? suspect_of(c, most->cable)
		   : NULL;
}
