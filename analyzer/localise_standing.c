#include "analyzer/localise_standing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/localise_evidence.h"
#include "analyzer/localise_naming.h"
#include "analyzer/localise_part.h"
#include "analyzer/localise_speak.h"

/* Rows take up to 1.5 s to come, and come every second. */
#define SLOW_STRETCH_NS (2 * RM_NS_PER_S)
#define SLOW_STRETCHES 5                  /* with losses, before it is said */
#define TOR_SPEAK_NS (500 * RM_NS_PER_MS) /* its own rack has said so */
#define RNIC_NS (8 * RM_NS_PER_S)         /* until its own rack has named an RNIC */
#define LAPSE_NS (1500 * RM_NS_PER_MS)    /* a suspicion that pauses begins anew */
#define SLOW_LAPSE_NS (6 * RM_NS_PER_S)
#define WAIT_NS (6 * RM_NS_PER_S)
#define JUST_NOW_NS (500 * RM_NS_PER_MS)
#define STALE_NS (45 * RM_NS_PER_S) /* until its losses have faded */

#define SUSPECT_LOST 3 /* with this begins the wait, with the rest it may end */
#define REVERSE_SHARE 0.1
#define MAX_LOOKED 64 /* ways of a part */

int
localise_standings_init(struct localise_standings *standings)
{
	*standings = (struct localise_standings){
		calloc(LOCALISE_MAX_VERDICTS, sizeof *standings->standings), 0
	};
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

void
localise_standings_fade(struct localise_standings *standings, rm_mono_t now)
{
	for (size_t i = standings->count; i-- > 0;) {
		struct localise_standing *s = &standings->standings[i];
		const int64_t absent = rm_mono_since(now, s->seen);

		/* What was named is remembered until its losses are forgotten. */
		if (absent > (s->told.ns != 0 ? STALE_NS : SLOW_LAPSE_NS)) {
			*s = standings->standings[--standings->count];
			continue;
		}
		if (absent > (s->slow ? SLOW_LAPSE_NS : LAPSE_NS))
			s->named = false;
	}
}

static bool
explains(
    const struct localise_standing *s, const struct localise_way *way, rm_mono_t since)
{
	return s->told.ns != 0 && !s->slow && s->told.ns >= since.ns &&
	       localise_part_on(&s->part, way);
}

bool
localise_standings_explain(const struct localise_standings *standings,
    const struct localise_way *way, rm_mono_t since)
{
	for (size_t i = 0; i < standings->count; i++)
		if (explains(&standings->standings[i], way, since))
			return true;
	return false;
}

bool
localise_standings_explain_path(const struct localise_standings *standings,
    const struct localise_way *way, rm_mono_t since)
{
	for (size_t i = 0; i < standings->count; i++)
		if (standings->standings[i].part.type != RM_PART_PATH &&
		    explains(&standings->standings[i], way, since))
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

/* NULL: too many. */
static struct localise_standing *
touch(struct localise_standings *standings, const struct rm_part *part, bool slow,
    rm_wall_t lossy_end, const struct localise_now *now)
{
	struct localise_standing *s = localise_standings_find(standings, part);

	if (s == NULL) {
		if (standings->count == LOCALISE_MAX_VERDICTS)
			return NULL;
		s = &standings->standings[standings->count++];
		*s = (struct localise_standing){ .part = *part };
		s->seen.ns = INT64_MIN / 2;
	}
	if (!s->named &&
	    rm_mono_since(now->now, s->seen) > (slow ? SLOW_LAPSE_NS : LAPSE_NS)) {
		s->since = now->now;
		s->first_end = lossy_end;
		s->start.ns = now->wall.ns - 2 * RM_NS_PER_S;
		s->slow_count = 0;
	}
	if (slow && (s->slow_count == 0 ||
			rm_mono_since(now->now, s->slow_at) >= SLOW_STRETCH_NS)) {
		s->slow_count++;
		s->slow_at = now->now;
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
		const struct localise_standing *s =
		    touch(standings, &finding->ties[i], slow, lossy_end, now);

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

void
localise_standings_weigh(struct localise_standings *standings,
    const struct localise_now *now, const struct localise_finding *finding, bool slow)
{
	const struct localise_standing *named, *first;
	struct localise_standing *s;
	struct rm_part part = finding->part;
	rm_wall_t lossy_end;
	const enum localise_enough much =
	    localise_how_much(now, finding, slow, &lossy_end);

	if (much == LOCALISE_NOTHING)
		return;
	/* What was named and would do as well is not renamed, nor are the others under
	 * suspicion meanwhile. */
	named = named_among(standings, finding);
	if (named != NULL)
		part = named->part;
	first =
	    named != NULL ? NULL : touch_all(standings, finding, slow, lossy_end, now);
	s = touch(standings, &part, slow, lossy_end, now);
	if (s == NULL)
		return;
	if (!s->named) {
		first = first != NULL ? first : s;
		if (much != LOCALISE_ENOUGH ||
		    !localise_may_speak(standings, now, finding, first, lossy_end) ||
		    (slow && s->slow_count < SLOW_STRETCHES))
			return;
		/* One RNIC that its own rack has not named yet is no part of ours. */
		if (localise_may_be_rnic(finding, first->since, now->now) &&
		    localise_evidence_one_rnic(now, finding, finding->suspect,
			slow ? localise_way_slow : localise_way_recent, standings,
			localise_may_be_one_pair(finding, first->since, now->now)))
			return;
	}
	localise_name(s, now, finding, slow);
}

/* Named, or it may be soon. */
static bool
is_suspected(const struct localise_standings *standings, const struct localise_way *way,
    rm_mono_t now)
{
	for (size_t k = 0; k < standings->count; k++) {
		const struct localise_standing *s = &standings->standings[k];

		if (s->part.type != RM_PART_PATH &&
		    (s->told.ns != 0 || rm_mono_since(now, s->since) < RNIC_NS) &&
		    localise_part_on(&s->part, way))
			return true;
	}
	return false;
}

/* All that comes and goes between them the other way is explained by what is named or
 * under suspicion on its way. */
static bool
has_reason(const struct localise_standings *standings, const struct localise_local *l,
    rm_mono_t now)
{
	const struct localise_element *src = l->element->ends[0],
				      *dst = l->element->ends[1];
	const bool known = l->element->way_count > 0;

	for (size_t i = 0; i < l->element->way_count; i++)
		if (is_suspected(standings, l->element->ways[i], now))
			return true;
	/* No probe goes that way: replies may take any that leads from, or to, there.
	 */
	for (size_t i = 0; !known && i < src->way_count; i++)
		if (is_suspected(standings, src->ways[i], now))
			return true;
	for (size_t i = 0; !known && i < dst->way_count; i++)
		if (is_suspected(standings, dst->ways[i], now))
			return true;
	return false;
}

static bool
shares_end(const struct localise_standings *standings, const struct rm_part *part,
    const struct localise_local *l)
{
	const char *src = l->element->ends[0]->a, *dst = l->element->ends[1]->a;
	const size_t src_len = strlen(src), dst_len = strlen(dst);

	for (size_t i = 0; i < standings->count; i++) {
		const struct localise_standing *s = &standings->standings[i];
		const size_t len = strlen(s->part.name);

		if (!s->named || s->part.type != RM_PART_PATH ||
		    rm_part_equal(&s->part, part))
			continue;
		if ((strncmp(s->part.name, src, src_len) == 0 &&
			s->part.name[src_len] == '-') ||
		    (len > dst_len && strcmp(s->part.name + len - dst_len, dst) == 0 &&
			s->part.name[len - dst_len - 1] == '>'))
			return true;
	}
	return false;
}

void
localise_standings_reverse(
    struct localise_standings *standings, const struct localise_now *now)
{
	for (size_t i = 0; i < now->c->local_count; i++) {
		const struct localise_local *l = &now->c->locals[i];
		struct localise_suspect way, back;
		struct localise_finding finding = { .suspect = &way, .tie_count = 1 };
		struct localise_standing *s;

		if (l->element->back == NULL || l->reverse < SUSPECT_LOST ||
		    l->reverse < REVERSE_SHARE * l->reverse_sent)
			continue;
		way = localise_suspect_path(l->element);
		back = localise_suspect_path(l->element->back);
		localise_suspect_part(&way, &finding.part);
		if (has_reason(standings, l, now->now) ||
		    shares_end(standings, &finding.part, l))
			continue;
		finding.ties[0] = finding.part;
		s = touch(standings, &finding.part, false, now->wall, now);
		if (s == NULL || (!s->named && !localise_may_speak(standings, now,
						   &finding, s, now->wall)))
			continue;
		if (rm_mono_since(now->now, s->since) < RNIC_NS &&
		    localise_evidence_one_rnic(
			now, &finding, &back, localise_way_recent, standings, true))
			continue;
		localise_name(s, now, &finding, false);
		snprintf(s->verdict.evidence.observed, RM_EVIDENCE_TEXT,
		    "%.0f of %.0f replies on it did not come, to probes from %.63s "
		    "that "
		    "had arrived",
		    l->reverse, l->reverse_sent, way.elements[1]->a);
	}
}

void
localise_standings_own(struct localise_standings *standings,
    const struct localise_now *now, const struct localise_rack *rack)
{
	struct rm_part part = { .type = RM_PART_TOR };
	struct localise_standing *s;

	snprintf(part.name, sizeof part.name, "%s", rack->tor);
	s = touch(standings, &part, false, now->wall, now);
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
