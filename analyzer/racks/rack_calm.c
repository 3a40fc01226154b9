#include "analyzer/racks/rack_calm.h"

#include <stddef.h>
#include <string.h>

/* The place of that aggregator's word, or that of the one silent longest. */
static struct rack_calm_word *
word_of(struct rack_calm *calm, const char *aggregator)
{
	struct rack_calm_word *oldest = &calm->words[0];

	for (size_t i = 0; i < RACK_CALM_AGGREGATORS; i++) {
		struct rack_calm_word *word = &calm->words[i];

		if (strcmp(word->aggregator, aggregator) == 0)
			return word;
		if (word->until.ns < oldest->until.ns)
			oldest = word;
	}
	*oldest = (struct rack_calm_word){ 0 };
	strcpy(oldest->aggregator, aggregator);
	return oldest;
}

void
rack_calm_take(struct rack_calm *calm, const char *aggregator, rm_wall_t end,
    uint64_t incidents_open)
{
	struct rack_calm_word *word = word_of(calm, aggregator);

	word->until = end;
	if (incidents_open > 0)
		word->since.ns = 0;
	else if (word->since.ns == 0)
		word->since = end;
}

rm_wall_t
rack_calm_since(const struct rack_calm *calm, const char *aggregator, rm_wall_t changed)
{
	rm_wall_t none = { 0 };

	for (size_t i = 0; i < RACK_CALM_AGGREGATORS; i++) {
		const struct rack_calm_word *word = &calm->words[i];
		rm_wall_t from = word->since;

		if (word->since.ns == 0 || strcmp(word->aggregator, aggregator) != 0)
			continue;
		if (changed.ns > from.ns)
			from = changed;
		return word->until.ns - from.ns >= RACK_CALM_NS ? from : none;
	}
	return none;
}
