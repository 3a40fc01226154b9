#include "analyzer/localise/localise.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/localise/localise_state.h"
#include "analyzer/paths/localise_bins.h"
#include "analyzer/paths/localise_part.h"

/* So much was sent lately, and hardly any of it was lost. */
#define GOOD_MIN_SENT 4
#define GOOD_LOSS 0.02
#define GOOD_AFTER_LOSSY_NS (6 * RM_NS_PER_S) /* of what loses only some */

struct health {
	const struct localise *localise;
	struct localise_sum there, back; /* a link's two directions */
};

/* By the alphabet, as links are named. */
static bool
goes_back(const struct rm_part *part, const struct localise_way *way)
{
	for (uint8_t i = 0; i < way->element_count; i++) {
		const struct localise_element *e = way->elements[i];

		if (e->b[0] != '\0' && localise_part_is_link(part, e))
			return strcmp(e->a, e->b) > 0;
	}
	return false;
}

struct visit {
	struct health *health;
	const struct rm_part *part;
};

static bool
add_way(struct localise_way *way, void *arg)
{
	const struct visit *visit = arg;
	struct health *health = visit->health;
	const bool back =
	    visit->part->type == RM_PART_LINK && goes_back(visit->part, way);

	localise_way_recent(&health->localise->map, way, health->localise->now,
	    back ? &health->back : &health->there);
	return true;
}

static bool
is_clean(double lost, double sent)
{
	/* A single loss among few is no reason to doubt. */
	return lost <= 1 || lost <= GOOD_LOSS * sent;
}

/* The replies that come this way belong to probes the other way. */
static double
lost_replies(const struct localise *localise, const struct rm_part *path)
{
	double lost = 0;

	for (size_t i = 0; i < localise->map.lossy_count; i++) {
		const struct localise_way *way = localise->map.lossy[i];
		struct localise_sum sum = { 0 };
		char name[2 * RM_NAME_BYTES + 2];

		snprintf(name, sizeof name, "%s->%s", localise_way_dst(way),
		    way->elements[0]->a);
		if (strcmp(name, path->name) != 0)
			continue;
		localise_way_recent(&localise->map, way, localise->now, &sum);
		lost += sum.reverse;
	}
	return lost;
}

static bool
loses_only_some(enum rm_kind kind)
{
	return kind != RM_KIND_TOR_DOWN && kind != RM_KIND_LINK_DOWN &&
	       kind != RM_KIND_SWITCH_DOWN;
}

static bool
traffic_is_good(const struct localise *localise, const struct rm_part *part)
{
	struct health health = { .localise = localise };
	struct visit visit = { &health, part };
	double lost;

	localise_part_ways(&localise->map, part, add_way, &visit);
	lost = health.there.forward + health.there.unknown;
	if (part->type == RM_PART_PATH)
		lost += lost_replies(localise, part);
	if (health.there.all < GOOD_MIN_SENT || !is_clean(lost, health.there.all))
		return false;
	/* Which way it failed is not known for sure: both must carry something. */
	return part->type != RM_PART_LINK ||
	       (health.back.all >= GOOD_MIN_SENT &&
		   is_clean(
		       health.back.forward + health.back.unknown, health.back.all));
}

enum rm_health
localise_health(const struct localise *localise, const struct rm_verdict *verdict)
{
	const struct rm_part *part = &verdict->part;
	const struct localise_standing *standing =
	    localise_standings_find(&localise->standings, part);

	if (part->type == RM_PART_TOR) {
		const struct localise_rack *rack =
		    localise_map_find_rack(&localise->map, part->name);
		const struct localise_element *tor;

		HASH_FIND_STR(localise->map.elements, part->name, tor);
		if (rack != NULL && rack->tor_stands)
			return RM_HEALTH_BAD;
		/* Nobody probes it from outside: its own rack is the only witness. */
		if (rack != NULL && rack->heard && tor == NULL)
			return RM_HEALTH_GOOD;
	}
	/* What minutes had shown, before a start of ours, seconds do not acquit. */
	if (verdict->evidence.window_ns == LOCALISE_WINDOW_NS && standing == NULL &&
	    (localise->first_row.ns == 0 ||
		rm_mono_since(localise->now, localise->first_row) < LOCALISE_WINDOW_NS))
		return RM_HEALTH_UNKNOWN;
	if (!traffic_is_good(localise, part))
		return RM_HEALTH_UNKNOWN;
	/* A clean second proves nothing of what loses one of twenty. */
	if (standing != NULL && loses_only_some(verdict->kind) &&
	    rm_mono_since(localise->now, standing->seen) < GOOD_AFTER_LOSSY_NS)
		return RM_HEALTH_UNKNOWN;
	return RM_HEALTH_GOOD;
}
