#include "analyzer/localise/localise_known.h"

#define LATELY_NS (6 * RM_NS_PER_S) /* rows of before may still come */

static rm_mono_t
lately(const struct localise *localise)
{
	return (rm_mono_t){ localise->now.ns - LATELY_NS };
}

/* Some way between two racks is explained by what is named. */
static bool
is_explained(const struct localise *localise, const struct localise_element *pair)
{
	for (size_t i = 0; i < pair->way_count; i++)
		if (localise_standings_explain(
			&localise->standings, pair->ways[i], lately(localise)))
			return true;
	return false;
}

static enum localise_known
known_back(const struct localise *localise, const struct localise_way *way,
    const struct localise_sum *sum)
{
	if (sum->unknown > 0 &&
	    !localise_standings_explain(&localise->standings, way, lately(localise)) &&
	    is_explained(localise, way->pair->back))
		return LOCALISE_KNOWN_BACK;
	return LOCALISE_NEWS;
}

/* What a hard fault loses stays in the sums of many seconds longer than it lasts. */
enum localise_known
localise_known_slow(
    const struct localise_way *way, const struct localise_sum *sum, void *arg)
{
	const struct localise *localise = arg;

	if (localise_standings_explain(
		&localise->standings, way, (rm_mono_t){ INT64_MIN }))
		return LOCALISE_KNOWN;
	return known_back(localise, way, sum);
}

bool
localise_is_needless(const struct localise *localise, const struct localise_case *c,
    const struct rm_explanation *explanation, const struct localise_suspect *path)
{
	if (path->type != RM_PART_PATH)
		return false;
	for (size_t i = 0; i < path->elements[0]->way_count; i++) {
		const struct localise_way *way = path->elements[0]->ways[i];

		if (!localise_suspect_on(path, way))
			continue;
		if (localise_standings_explain_path(
			&localise->standings, way, c->slow, lately(localise)))
			return true;
		for (size_t k = 0; k < explanation->part_count; k++) {
			const struct localise_suspect *s =
			    &c->suspects[explanation->parts[k].candidate];

			if (s->type != RM_PART_PATH && localise_suspect_on(s, way))
				return true;
		}
	}
	return false;
}
