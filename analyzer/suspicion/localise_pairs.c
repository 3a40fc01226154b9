#include "analyzer/suspicion/localise_pairs.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/paths/localise_map.h"

/* a pair that has been blamed for this time is reported */
#define REPORT_NS (2250 * RM_NS_PER_MS)
/* after a pause of this length, this time begins again */
#define LAPSE_NS (1500 * RM_NS_PER_MS)
#define FORGET_NS (15 * RM_NS_PER_S)
#define MORE_BYTES sizeof " and 16 more"

static void
forget_old(struct localise_pairs *pairs, rm_mono_t now)
{
	for (size_t i = pairs->count; i-- > 0 && pairs->count > 1;)
		if (rm_mono_since(now, pairs->pairs[i].seen) > FORGET_NS) {
			pairs->count--;
			memmove(&pairs->pairs[i], &pairs->pairs[i + 1],
			    (pairs->count - i) * sizeof pairs->pairs[i]);
		}
}

static struct localise_pair *
find(const struct localise_pairs *pairs, const char *from, const char *to)
{
	for (size_t i = 0; i < pairs->count; i++) {
		const struct localise_pair *pair = &pairs->pairs[i];

		if (strcmp(pair->from, from) == 0 && strcmp(pair->to, to) == 0)
			return (struct localise_pair *)pair;
	}
	return NULL;
}

static void
note(struct localise_pairs *pairs, const struct localise_element *transit,
    bool reported, rm_mono_t now)
{
	const char *from = transit->ends[0]->a, *to = transit->ends[1]->a;
	struct localise_pair *pair = find(pairs, from, to);

	if (pair == NULL) {
		if (pairs->count == LOCALISE_PAIRS)
			return;
		pair = &pairs->pairs[pairs->count++];
		*pair = (struct localise_pair){ .since = now };
		snprintf(pair->from, sizeof pair->from, "%s", from);
		snprintf(pair->to, sizeof pair->to, "%s", to);
	} else if (rm_mono_since(now, pair->seen) > LAPSE_NS) {
		pair->since = now;
	}
	pair->seen = now;
	pair->reported |= reported || rm_mono_since(now, pair->since) >= REPORT_NS;
}

void
localise_pairs_note(struct localise_pairs *pairs,
    const struct localise_suspect *suspect, bool reported, rm_mono_t now)
{
	note(pairs, suspect->transit, reported, now);
	if (suspect->and_back)
		note(pairs, suspect->transit->back, reported, now);
	forget_old(pairs, now);
}

bool
localise_pairs_on(const struct localise_pairs *pairs, const struct localise_path *path)
{
	const struct localise_pair *pair =
	    find(pairs, path->elements[0]->a, localise_path_dst(path));

	return pairs->count == 0 || (pair != NULL && pair->reported);
}

void
localise_pairs_report(const struct localise_pairs *pairs, char out[RM_EVIDENCE_TEXT])
{
	size_t at = 0, named = 0, more = 0;

	for (size_t i = 0; i < pairs->count; i++) {
		const struct localise_pair *pair = &pairs->pairs[i];
		const struct localise_pair *back = find(pairs, pair->to, pair->from);
		const bool and_back = back != NULL && back->reported;
		char text[2 * RM_NAME_BYTES + 32];

		if (!pair->reported ||
		    (and_back && back < pair)) /* it is written together with the pair
						  of the other direction */
			continue;
		snprintf(text, sizeof text, "%s %s %s %s %s",
		    named == 0 ? "only" : " and", and_back ? "between" : "from",
		    pair->from, and_back ? "and" : "to", pair->to);
		if (named > 0 && at + strlen(text) + MORE_BYTES > RM_EVIDENCE_TEXT) {
			more++;
			continue;
		}
		snprintf(out + at, RM_EVIDENCE_TEXT - at, "%s", text);
		at += strlen(text);
		named++;
	}
	if (more > 0)
		snprintf(out + at, RM_EVIDENCE_TEXT - at, " and %zu more", more);
}
