#include "host-agent/rnic/tor_choice.h"

#include <stdio.h>
#include <string.h>

static bool
set_has(const struct tor_set *set, const char *tor)
{
	for (size_t i = 0; i < set->count; i++) {
		if (strcmp(set->tors[i], tor) == 0)
			return true;
	}
	return false;
}

void
tor_set_add(struct tor_set *set, const char *tor)
{
	if (set->count == WIRE_MAX_ATTACHMENTS || set_has(set, tor))
		return;
	snprintf(set->tors[set->count++], TOR_NAME_BYTES, "%s", tor);
}

bool
tor_set_equal(const struct tor_set *a, const struct tor_set *b)
{
	for (size_t i = 0; i < a->count; i++) {
		if (!set_has(b, a->tors[i]))
			return false;
	}
	return a->count == b->count;
}

const char *
tor_set_text(const struct tor_set *set, char out[TOR_SET_TEXT])
{
	size_t len = 0;

	snprintf(out, TOR_SET_TEXT, "none");
	for (size_t i = 0; i < set->count; i++)
		len += (size_t)snprintf(out + len, TOR_SET_TEXT - len, "%s%s",
		    i == 0 ? "" : " and ", set->tors[i]);
	return out;
}

/* Returns the ToRs of the first source that names any. */
static const struct tor_set *
wanted(const struct tor_choice *choice, enum tor_source *source)
{
	for (int i = 0; i < TOR_SOURCES; i++) {
		if (choice->reported[i].count == 0)
			continue;
		*source = (enum tor_source)i;
		return &choice->reported[i];
	}
	return NULL;
}

bool
tor_choice_report(struct tor_choice *choice, enum tor_source source,
    const struct tor_set *set, rm_mono_t now)
{
	enum tor_source from = source;
	const struct tor_set *want;

	choice->reported[source] = *set;
	want = wanted(choice, &from);
	if (want == NULL || tor_set_equal(want, &choice->chosen)) {
		choice->next.count = 0;
		if (want != NULL)
			choice->source = from;
		return false;
	}
	/* While the source that chose the ToRs names none, a source of lower priority
	 * does not replace it. */
	if (choice->chosen.count > 0 && from > choice->source) {
		choice->next.count = 0;
		return false;
	}
	if (choice->chosen.count > 0) {
		if (!tor_set_equal(want, &choice->next)) {
			choice->next = *want;
			choice->next_since = now;
		}
		if (rm_mono_since(now, choice->next_since) < TOR_CHOICE_MOVE_NS)
			return false;
	}
	choice->chosen = *want;
	choice->source = from;
	choice->next.count = 0;
	return true;
}

bool
tor_choice_mismatch(const struct tor_choice *choice)
{
	const struct tor_set *config = &choice->reported[TOR_CONFIG],
			     *lldp = &choice->reported[TOR_LLDP];

	return config->count > 0 && lldp->count > 0 && !tor_set_equal(config, lldp);
}

const char *
tor_source_str(enum tor_source source)
{
	static const char *const names[] = {
		[TOR_CONFIG] = "config",
		[TOR_LLDP] = "lldp",
		[TOR_CONTROLLER] = "controller",
	};

	return names[source];
}
