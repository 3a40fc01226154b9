#include "analyzer/suspicion/localise_minutes.h"

#include "analyzer/finding/localise_lossy_over.h"
#include "analyzer/paths/localise_bins.h"
#include "analyzer/paths/localise_part.h"

/* least ln of the likelihood ratio: a finding with less explains nothing */
#define MIN_GAIN 7.0
#define MOST_SHARE 0.75 /* of the losses */
/* An older judgement of minutes does not count. */
#define CURRENT_NS (12 * RM_NS_PER_S)
#define MAX_LOOKED 64 /* maximum number of lossy paths of a part that are examined */

void
localise_minutes_begin(struct localise_minutes *minutes, rm_mono_t now)
{
	minutes->count = 0;
	minutes->judged = now;
}

void
localise_minutes_add(
    struct localise_minutes *minutes, const struct localise_finding *finding)
{
	if (finding->gain >= MIN_GAIN && finding->part.type != RM_PART_PATH &&
	    minutes->count < LOCALISE_MAX_PARTS)
		minutes->parts[minutes->count++] = finding->part;
}

static bool
is_on_any(const struct localise_minutes *minutes, const struct localise_path *path)
{
	for (size_t i = 0; i < minutes->count; i++)
		if (localise_part_on(&minutes->parts[i], path))
			return true;
	return false;
}

bool
localise_minutes_explain(const struct localise_minutes *minutes,
    const struct localise_map *map, const struct localise_finding *finding,
    rm_mono_t now)
{
	struct localise_lossy_over over =
	    localise_lossy_over(map, finding->suspect, map->lossy_count);
	const struct localise_path *path;
	double lost = 0, explained = 0;
	size_t looked = 0;

	if (!finding->loses_share || minutes->count == 0 ||
	    rm_mono_since(now, minutes->judged) > CURRENT_NS)
		return false;
	for (size_t i = 0; i < minutes->count; i++)
		if (localise_part_same(&finding->part, &minutes->parts[i]))
			return false;
	while (looked < MAX_LOOKED && (path = localise_lossy_next(&over)) != NULL) {
		struct localise_sum sum = { 0 };

		looked++;
		localise_path_recent(map, path, now, &sum);
		lost += sum.forward + sum.unknown;
		if (is_on_any(minutes, path))
			explained += sum.forward + sum.unknown;
	}
	return lost > 0 && explained >= MOST_SHARE * lost;
}
