#include "tor-aggregator/suspect/rack_gaps.h"

void
rack_gaps_pass(struct rack_gaps *gaps, bool works)
{
	if (gaps->inside && works) {
		gaps->inside = false;
		gaps->since = 1;
	} else if (!gaps->inside && gaps->since > 0 &&
		   ++gaps->since > RACK_GAPS_WITHIN) {
		gaps->since = 0;
	}
}

unsigned
rack_gaps_note(struct rack_gaps *gaps)
{
	if (!gaps->inside) {
		gaps->inside = true;
		gaps->before = gaps->since;
	}
	return gaps->before;
}

bool
rack_gaps_are_fresh(const struct rack_gaps *gaps)
{
	return gaps->before > 0 &&
	       (gaps->inside || (gaps->since > 0 && gaps->since <= RACK_GAPS_FRESH));
}
