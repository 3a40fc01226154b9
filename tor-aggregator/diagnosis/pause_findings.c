#include "tor-aggregator/diagnosis/pause_findings.h"

#include <string.h>

static bool
is_same(const struct pause_finding *a, const struct pause_finding *b)
{
	return a->kind == b->kind && a->priority == b->priority &&
	       strcmp(a->source, b->source) == 0 &&
	       strcmp(a->at_switch, b->at_switch) == 0 &&
	       strcmp(a->at_port, b->at_port) == 0;
}

static struct pause_standing *
find(struct pause_findings *findings, const struct pause_finding *like)
{
	for (size_t i = 0; i < findings->count; i++)
		if (is_same(&findings->kept[i].finding, like))
			return &findings->kept[i];
	return NULL;
}

static void
take(struct pause_findings *findings, const struct pause_finding *found,
    int64_t hold_ns, rm_mono_t now, rm_wall_t wall)
{
	struct pause_standing *standing = find(findings, found);

	if (standing == NULL && findings->count == PAUSE_MAX_KEPT) {
		findings->left_out++;
		return;
	}
	if (standing == NULL) {
		standing = &findings->kept[findings->count++];
		*standing = (struct pause_standing){ .first = now, .since = wall };
	}
	standing->finding = *found;
	standing->last = now;
	standing->stands |= rm_mono_since(now, standing->first) >= hold_ns;
}

/* Removes findings that have ended, and findings that do not stand yet and were not
 * found now. */
static void
forget(struct pause_findings *findings, rm_mono_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < findings->count; i++) {
		const struct pause_standing *standing = &findings->kept[i];
		const int64_t quiet = rm_mono_since(now, standing->last);

		if (quiet > (standing->stands ? PAUSE_QUIET_NS : 0))
			continue;
		if (kept != i)
			findings->kept[kept] = *standing;
		kept++;
	}
	findings->count = kept;
}

void
pause_findings_take(struct pause_findings *findings, const struct pause_finding *found,
    size_t count, int64_t hold_ns, rm_mono_t now, rm_wall_t wall)
{
	for (size_t i = 0; i < count; i++)
		take(findings, &found[i], hold_ns, now, wall);
	forget(findings, now);
}
