#include "analyzer/racks/rack_quiet.h"

#include <stddef.h>
#include <string.h>

/* Returns the slot of this aggregator, or of the aggregator that has reported nothing
 * for the longest time. */
static struct rack_quiet_source *
source_of(struct rack_quiet *quiet, const char *aggregator)
{
	struct rack_quiet_source *oldest = &quiet->sources[0];

	for (size_t i = 0; i < RACK_QUIET_AGGREGATORS; i++) {
		struct rack_quiet_source *source = &quiet->sources[i];

		if (strcmp(source->aggregator, aggregator) == 0)
			return source;
		if (source->until.ns < oldest->until.ns)
			oldest = source;
	}
	*oldest = (struct rack_quiet_source){ 0 };
	strcpy(oldest->aggregator, aggregator);
	return oldest;
}

void
rack_quiet_take(struct rack_quiet *quiet, const char *aggregator, rm_wall_t end,
    uint64_t incidents_open)
{
	struct rack_quiet_source *source = source_of(quiet, aggregator);

	source->until = end;
	if (incidents_open > 0)
		source->since.ns = 0;
	else if (source->since.ns == 0)
		source->since = end;
}

rm_wall_t
rack_quiet_since(
    const struct rack_quiet *quiet, const char *aggregator, rm_wall_t changed)
{
	rm_wall_t none = { 0 };

	for (size_t i = 0; i < RACK_QUIET_AGGREGATORS; i++) {
		const struct rack_quiet_source *source = &quiet->sources[i];
		rm_wall_t from = source->since;

		if (source->since.ns == 0 ||
		    strcmp(source->aggregator, aggregator) != 0)
			continue;
		if (changed.ns > from.ns)
			from = changed;
		return source->until.ns - from.ns >= RACK_QUIET_NS ? from : none;
	}
	return none;
}
