#include "analyzer/suspicion/localise_standing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/paths/localise_bins.h"
#include "analyzer/paths/localise_part.h"
#include "analyzer/suspicion/localise_evidence.h"
#include "analyzer/suspicion/localise_speak.h"

/* Rows take up to 1.5 s to come, and come every second. */
#define TOR_SPEAK_NS (500 * RM_NS_PER_MS) /* its own rack has said so */
#define LAPSE_NS (1500 * RM_NS_PER_MS)    /* a suspicion that pauses begins anew */
#define SUDDEN_LOSS 0.3                   /* of what was known to lose a few before */
#define SLOW_LAPSE_NS (6 * RM_NS_PER_S)
#define WAIT_NS (6 * RM_NS_PER_S)
#define JUST_NOW_NS (500 * RM_NS_PER_MS)
#define STALE_NS (45 * RM_NS_PER_S)  /* until nothing recent is of it */
#define DECIDED_NS (5 * RM_NS_PER_S) /* rows of the same flows */

#define MAX_LOOKED 64 /* ways of a part */

int
localise_standings_init(struct localise_standings *standings, size_t size)
{
	*standings =
	    (struct localise_standings){ calloc(size, sizeof *standings->standings), 0,
		    size };
	return standings->standings != NULL ? 0 : -ENOMEM;
}

void
localise_standings_release(struct localise_standings *standings)
{
	free(standings->standings);
	*standings = (struct localise_standings){ 0 };
}

struct localise_standing *
localise_standings_find(
    const struct localise_standings *standings, const struct rm_part *part)
{
	for (size_t i = 0; i < standings->count; i++)
		if (localise_part_same(&standings->standings[i].part, part))
			return &standings->standings[i];
	return NULL;
}

/* It loses a share: what it lost is weighed with all else, and it is blamed anew. */
static bool
loses_a_share(const struct localise_standing *s)
{
	return s->slow || s->verdict.kind == RM_KIND_LINK_LOSSY ||
	       s->verdict.kind == RM_KIND_SWITCH_LOSSY;
}

bool
localise_standings_slow(
    const struct localise_standings *standings, const struct localise_way *way)
{
	for (size_t i = 0; i < standings->count; i++) {
		const struct localise_standing *s = &standings->standings[i];

		if (s->named && s->slow && localise_part_on(&s->part, way))
			return true;
	}
	return false;
}

static bool
forget_way(struct localise_way *way, void *arg)
{
	if (!localise_standings_slow(arg, way))
		localise_bins_forget(way);
	return true;
}

void
localise_standings_fade(
    struct localise_standings *standings, const struct localise_map *map, rm_mono_t now)
{
	for (size_t i = standings->count; i-- > 0;) {
		struct localise_standing *s = &standings->standings[i];
		const int64_t absent = rm_mono_since(now, s->seen);

		/* What was named is remembered until its losses are forgotten. */
		if (absent > (s->told.ns != 0 ? STALE_NS : SLOW_LAPSE_NS)) {
			if (s->told.ns != 0 && !loses_a_share(s))
				localise_part_ways(
				    map, &s->part, forget_way, standings);
			*s = standings->standings[--standings->count];
			continue;
		}
		if (absent > (s->slow ? SLOW_LAPSE_NS : LAPSE_NS))
			s->named = false;
	}
}

static bool
was_told(
    const struct localise_standing *s, const struct localise_way *way, rm_mono_t since)
{
	return s->told.ns != 0 && s->told.ns >= since.ns &&
	       localise_part_on(&s->part, way);
}

bool
localise_standings_explain(const struct localise_standings *standings,
    const struct localise_way *way, rm_mono_t since)
{
	for (size_t i = 0; i < standings->count; i++)
		if (!loses_a_share(&standings->standings[i]) &&
		    was_told(&standings->standings[i], way, since))
			return true;
	return false;
}

bool
localise_standings_explain_path(const struct localise_standings *standings,
    const struct localise_way *way, bool slow, rm_mono_t since)
{
	for (size_t i = 0; i < standings->count; i++)
		if (standings->standings[i].part.type != RM_PART_PATH &&
		    (slow || !standings->standings[i].slow) &&
		    was_told(&standings->standings[i], way, since))
			return true;
	return false;
}

bool
localise_standings_wait(const struct localise_standings *standings, rm_mono_t now)
{
	for (size_t i = 0; i < standings->count; i++) {
		const struct localise_standing *s = &standings->standings[i];

		if (!s->named && rm_mono_since(now, s->seen) < JUST_NOW_NS &&
		    rm_mono_since(now, s->since) < WAIT_NS)
			return true;
	}
	return false;
}

static bool
is_tied(const struct localise_finding *finding, const struct rm_part *part)
{
	for (size_t i = 0; i < finding->tie_count; i++)
		if (localise_part_same(&finding->ties[i], part))
			return true;
	return localise_part_same(&finding->part, part);
}

bool
localise_standings_other(const struct localise_standings *standings,
    const struct localise_finding *finding, const struct localise_way *way,
    rm_mono_t now)
{
	for (size_t i = 0; i < standings->count; i++) {
		const struct localise_standing *s = &standings->standings[i];

		if ((s->named || rm_mono_since(now, s->seen) < JUST_NOW_NS) &&
		    s->part.type != RM_PART_PATH && !is_tied(finding, &s->part) &&
		    localise_part_on(&s->part, way))
			return true;
	}
	return false;
}

struct localise_standing *
localise_standings_touch(struct localise_standings *standings,
    const struct rm_part *part, bool slow, rm_wall_t lossy_end,
    const struct localise_now *now)
{
	struct localise_standing *s = localise_standings_find(standings, part);

	if (s == NULL) {
		if (standings->count == standings->size)
			return NULL;
		s = &standings->standings[standings->count++];
		*s = (struct localise_standing){ .part = *part };
		s->seen.ns = s->decided.ns = INT64_MIN / 2;
	}
	if (!s->named &&
	    rm_mono_since(now->now, s->seen) > (slow ? SLOW_LAPSE_NS : LAPSE_NS)) {
		s->since = now->now;
		s->first_end = lossy_end;
		s->start.ns = now->wall.ns - 2 * RM_NS_PER_S;
	}
	s->seen = now->now;
	return s;
}

/* One lossy way may turn out to be a part of it. */
static const struct localise_standing *
earlier(const struct localise_standing *first,
    const struct localise_standings *standings, const struct localise_way *way,
    const struct localise_now *now)
{
	for (size_t i = 0; i < standings->count; i++) {
		const struct localise_standing *s = &standings->standings[i];

		if (s->part.type == RM_PART_PATH && !s->named &&
		    rm_mono_since(now->now, s->seen) <= LAPSE_NS &&
		    (first == NULL || s->since.ns < first->since.ns) &&
		    localise_part_on(&s->part, way))
			first = s;
	}
	return first;
}

/* Which of those that explain it as well was named already; or NULL. */
static const struct localise_standing *
named_among(
    const struct localise_standings *standings, const struct localise_finding *finding)
{
	const struct localise_standing *named = NULL;

	for (size_t i = 0; i < finding->tie_count; i++) {
		const struct localise_standing *s =
		    localise_standings_find(standings, &finding->ties[i]);

		if (s != NULL && s->named)
			named = s;
	}
	return named;
}

/* The first of those that explain it as well to come under suspicion; or NULL. */
static const struct localise_standing *
touch_all(struct localise_standings *standings, const struct localise_finding *finding,
    bool slow, rm_wall_t lossy_end, const struct localise_now *now)
{
	const struct localise_standing *first = NULL;
	size_t looked = 0;

	for (size_t i = 0; i < finding->tie_count; i++) {
		const struct localise_standing *s = localise_standings_touch(
		    standings, &finding->ties[i], slow, lossy_end, now);

		if (s != NULL && (first == NULL || s->since.ns < first->since.ns))
			first = s;
	}
	for (size_t i = 0; i < now->map->lossy_count && looked < MAX_LOOKED; i++)
		if (localise_suspect_on(finding->suspect, now->map->lossy[i])) {
			looked++;
			first = earlier(first, standings, now->map->lossy[i], now);
		}
	return first;
}

/* What the last rows leave open, those just before them have told: the next ones may.
 */
static bool
was_decided(const struct localise_standings *standings,
    const struct localise_finding *finding, rm_mono_t now)
{
	const struct localise_standing *likeliest =
	    localise_standings_find(standings, &finding->ties[0]);

	return finding->other != NULL && likeliest != NULL &&
	       rm_mono_since(now, likeliest->decided) < DECIDED_NS;
}

void
localise_standings_weigh(struct localise_standings *standings,
    const struct localise_now *now, const struct localise_finding *finding, bool slow)
{
	const struct localise_standing *named, *first;
	struct localise_standing *s;
	struct rm_part part = finding->part;
	rm_wall_t lossy_end;
	enum localise_enough much;

	/* What was named and would do as well is not renamed, nor are the others under
	 * suspicion meanwhile. */
	named = named_among(standings, finding);
	/* For what seconds show: they tell when that is over. */
	if (slow && named != NULL && !named->slow)
		return;
	much = localise_how_much(now, finding, slow, slow && named != NULL, &lossy_end);
	if (much == LOCALISE_NOTHING)
		return;
	if (named != NULL)
		part = named->part;
	first =
	    named != NULL ? NULL : touch_all(standings, finding, slow, lossy_end, now);
	s = localise_standings_touch(standings, &part, slow, lossy_end, now);
	if (s == NULL)
		return;
	if (finding->other == NULL && !finding->is_crowded)
		s->decided = now->now;
	/* A few in one second are no other story than that it loses a few. */
	if (!slow && s->named && s->slow &&
	    (much != LOCALISE_ENOUGH || finding->loss < SUDDEN_LOSS))
		return;
	if (!s->named) {
		first = first != NULL ? first : s;
		if (was_decided(standings, finding, now->now))
			return;
		if (much != LOCALISE_ENOUGH || !localise_may_speak(standings, now,
						   finding, first, slow, lossy_end))
			return;
		/* One RNIC that its own rack has not named yet is no part of ours. */
		if ((slow || (localise_may_be_rnic(finding, first->since, now->now) &&
				 !localise_evidence_confined(now, finding->suspect))) &&
		    localise_evidence_one_rnic(now, finding, finding->suspect,
			slow ? localise_way_slow : localise_way_recent, standings,
			localise_may_be_one_pair(finding, first->since, now->now)))
			return;
	}
	localise_name(s, now, finding, s->named ? s : first, slow);
}

void
localise_standings_own(struct localise_standings *standings,
    const struct localise_now *now, const struct localise_rack *rack)
{
	struct rm_part part = { .type = RM_PART_TOR };
	struct localise_standing *s;

	snprintf(part.name, sizeof part.name, "%s", rack->tor);
	s = localise_standings_touch(standings, &part, false, now->wall, now);
	if (s == NULL || s->named || rm_mono_since(now->now, s->since) < TOR_SPEAK_NS)
		return;
	s->verdict = (struct rm_verdict){
		.part = part, .kind = RM_KIND_TOR_DOWN, .confidence = 0.95
	};
	s->verdict.evidence.window_ns = 2 * RM_NS_PER_S;
	s->verdict.evidence.window_start = s->start;
	snprintf(s->verdict.evidence.observed, RM_EVIDENCE_TEXT,
	    "its own rack says so, and no other rack's probes tell otherwise");
	s->named = true;
	s->slow = false;
	s->told = now->now;
}
