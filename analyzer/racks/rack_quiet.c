#include "analyzer/racks/rack_quiet.h"

#include <stddef.h>
#include <string.h>

/* The slot of this aggregator, or of the one that is silent longest. */
static struct rack_quiet_word *
word_of(struct rack_quiet *quiet, const char *aggregator)
{
	struct rack_quiet_word *oldest = &quiet->words[0];

	for (size_t i = 0; i < RACK_QUIET_AGGREGATORS; i++) {
		struct rack_quiet_word *word = &quiet->words[i];

		if (strcmp(word->aggregator, aggregator) == 0)
			return word;
		if (word->until.ns < oldest->until.ns)
			oldest = word;
	}
	*oldest = (struct rack_quiet_word){ 0 };
	strcpy(oldest->aggregator, aggregator);
	return oldest;
}

void
rack_quiet_take(struct rack_quiet *quiet, const char *aggregator, rm_wall_t end,
    uint64_t incidents_open)
{
	struct rack_quiet_word *word = word_of(quiet, aggregator);

	word->until = end;
	if (incidents_open > 0)
		word->since.ns = 0;
	else if (word->since.ns == 0)
		word->since = end;
}

rm_wall_t
rack_quiet_since(
    const struct rack_quiet *quiet, const char *aggregator, rm_wall_t changed)
{
	rm_wall_t none = { 0 };

	for (size_t i = 0; i < RACK_QUIET_AGGREGATORS; i++) {
		const struct rack_quiet_word *word = &quiet->words[i];
		rm_wall_t from = word->since;

		if (word->since.ns == 0 || strcmp(word->aggregator, aggregator) != 0)
			continue;
		if (changed.ns > from.ns)
			from = changed;
		return word->until.ns - from.ns >= RACK_QUIET_NS ? from : none;
	}
	return none;
}
