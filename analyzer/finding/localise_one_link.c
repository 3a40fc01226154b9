#include "analyzer/finding/localise_one_link.h"

#include <math.h>

#include "analyzer/finding/localise_observe.h"

#define MAX_CABLES 256 /* of a switch; ways over others count as avoiding all */
/* So many packets would have been lost on the other ways; by chance none is in one of
 * some hundred cases. One more may be lost for each 25 more: a switch that loses a
 * tenth of what its link does shows. */
#define MIN_MISSED 6.0
#define MISSED_FOR_ONE 25.0
#define ELSEWHERE_SHARE 0.02 /* of its losses: none to speak of */
#define OTHER_SHARE 0.8      /* of the losses over another cable: no one link */

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

/* To the switch, and to those of its links that the way crosses. */
static void
add_way(struct over_node *over, const struct localise_way *way,
    const struct localise_element *node, double sent, double lost)
{
	over->sent += sent;
	over->lost += lost;
	for (uint8_t i = 0; i < way->element_count; i++) {
		const struct localise_element *e = way->elements[i];
		const bool beside =
		    (i > 0 && way->elements[i - 1] == node) ||
		    (i + 1 < way->element_count && way->elements[i + 1] == node);
		struct over_cable *cable =
		    beside && e->b[0] != '\0' ? find_cable(over, e->cable) : NULL;

		if (cable != NULL) {
			cable->sent += sent;
			cable->lost += lost;
		}
	}
}

static void
add_all(const struct localise_case *c, const struct localise_map *map,
    localise_seen *seen, const struct localise_element *node, struct over_node *over)
{
	const size_t asked = localise_observe_asked(node);
	const double scale = (double)node->way_count / fmax((double)asked, 1);

	for (size_t i = 0; i < asked; i++) {
		const struct localise_way *way = localise_observe_asked_way(node, i);
		struct localise_sum sum = { 0 };

		seen(map, way, c->now, &sum);
		sum = localise_observe_witnesses(c, &sum);
		add_way(over, way, node, scale * sum.sent, 0);
	}
	for (size_t i = 0; i < c->lossy_count; i++) {
		const struct localise_way *way = c->lossy[i].way;
		struct localise_sum sum = { 0 };

		if (!localise_way_crosses(way, node))
			continue;
		seen(map, way, c->now, &sum);
		sum = localise_observe_witnesses(c, &sum);
		add_way(over, way, node, 0, sum.forward + sum.unknown);
	}
}

/* The link's two directions, or the one. */
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
	struct over_node over = { .count = 0 };
	const struct over_cable *most = NULL, *next = NULL;
	double missed, elsewhere;

	if ((node->type != RM_PART_SWITCH && node->type != RM_PART_TOR) ||
	    node->transit != NULL)
		return NULL;
	add_all(c, map, seen, node->elements[0], &over);
	for (size_t i = 0; i < over.count; i++) {
		if (most == NULL || over.cables[i].lost > most->lost) {
			next = most;
			most = &over.cables[i];
		} else if (next == NULL || over.cables[i].lost > next->lost) {
			next = &over.cables[i];
		}
	}
	if (most == NULL || most->sent <= 0 ||
	    (next != NULL && next->lost >= OTHER_SHARE * most->lost))
		return NULL;
	missed = (over.sent - most->sent) * most->lost / most->sent;
	elsewhere = over.lost - most->lost;
	*sure =
	    missed >= MIN_MISSED && elsewhere <= (missed - MIN_MISSED) / MISSED_FOR_ONE;
	return *sure || elsewhere <= ELSEWHERE_SHARE * most->lost
		   ? suspect_of(c, most->cable)
		   : NULL;
}
