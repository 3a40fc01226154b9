/* Finds replies that are lost from one rack to another, while all probes in that
 * direction arrive, or none is sent. */
#include <stdio.h>
#include <string.h>

#include "analyzer/paths/localise_part.h"
#include "analyzer/suspicion/localise_at_node.h"
#include "analyzer/suspicion/localise_evidence.h"
#include "analyzer/suspicion/localise_standing.h"

/* A rack names a dead RNIC of its own within this time. */
#define RNIC_NS (8 * RM_NS_PER_S)
/* least number of lost replies with which a suspicion begins */
#define SUSPECT_LOST 3
#define REVERSE_SHARE 0.1 /* least share of all replies that is lost */
/* Path parts take at most one of so many places of suspected parts: with many lost
 * replies they would otherwise take all, and the part that loses these replies would
 * find none. */
#define PLACES_FOR_ONE_PATH 2

static bool
is_suspected_on(
    const struct localise_standing *s, const struct localise_path *path, void *arg)
{
	const rm_mono_t *now = arg;

	return s->part.type != RM_PART_PATH && !s->slow &&
	       (s->reported_at.ns != 0 || rm_mono_since(*now, s->since) < RNIC_NS) &&
	       localise_part_on(&s->part, path);
}

/* A part on this path is named, or may be named soon. */
static bool
is_suspected(const struct localise_standings *standings,
    const struct localise_path *path, rm_mono_t now)
{
	return localise_at_node_any(standings, path, is_suspected_on, &now);
}

/* True: a named or suspected part, on a path that these replies may take, explains that
 * they are lost. */
static bool
has_reason(const struct localise_standings *standings, const struct localise_local *l,
    rm_mono_t now)
{
	const struct localise_element *src = l->element->ends[0],
				      *dst = l->element->ends[1];
	const bool known = l->element->path_count > 0;

	for (size_t i = 0; i < l->element->path_count; i++)
		if (is_suspected(standings, l->element->paths[i], now))
			return true;
	/* no probes are sent in this direction, so the replies may take parts of any
	 * path of either ToR */
	for (size_t i = 0; !known && i < src->path_count; i++)
		if (is_suspected(standings, src->paths[i], now))
			return true;
	for (size_t i = 0; !known && i < dst->path_count; i++)
		if (is_suspected(standings, dst->paths[i], now))
			return true;
	return false;
}

/* True: another path part with the same source, or the same destination, is named. */
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

/* True: the path part is suspected already, or may be. Counts it if it may not. */
static bool
has_place(struct localise_standings *standings, const struct rm_part *part)
{
	size_t paths = 0;

	for (size_t i = 0; i < standings->count; i++)
		paths += standings->standings[i].part.type == RM_PART_PATH;
	if (paths < standings->size / PLACES_FOR_ONE_PATH ||
	    localise_standings_find(standings, part) != NULL)
		return true;
	standings->refused++;
	return false;
}

void
localise_standings_reverse(
    struct localise_standings *standings, const struct localise_now *now)
{
	const struct localise_sum recent = { .lossy_end = now->wall };

	for (size_t i = 0; i < now->c->local_count; i++) {
		const struct localise_local *l = &now->c->locals[i];
		struct localise_suspect forward, back;
		struct localise_finding finding = { .suspect = &forward,
			.tie_count = 1 };
		struct localise_standing *s;

		if (l->element->back == NULL || l->reverse < SUSPECT_LOST ||
		    l->reverse < REVERSE_SHARE * l->reverse_sent)
			continue;
		forward = localise_suspect_path(l->element);
		back = localise_suspect_path(l->element->back);
		localise_suspect_part(&forward, &finding.part);
		if (has_reason(standings, l, now->now) ||
		    shares_end(standings, &finding.part, l) ||
		    !has_place(standings, &finding.part))
			continue;
		finding.ties[0] = finding.part;
		s = localise_standings_touch(
		    standings, &finding.part, false, &recent, now);
		if (s == NULL || (!s->named && !localise_may_report(standings, now,
						   &finding, s, false, now->wall)))
			continue;
		if (rm_mono_since(now->now, s->since) < RNIC_NS &&
		    localise_evidence_one_rnic(
			now, &finding, &back, localise_path_recent, standings, true))
			continue;
		localise_name(s, now, &finding, s, false);
		snprintf(s->verdict.evidence.observed, RM_EVIDENCE_TEXT,
		    "%.0f of %.0f replies on it were lost, to probes from %.63s that "
		    "had arrived",
		    l->reverse, l->reverse_sent, forward.elements[1]->a);
	}
}
