#include "tor-aggregator/lasting/rack_alone.h"

#include "rackmesh/core/clock.h"
#include "tor-aggregator/lasting/rack_excuse.h"
#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/window/rack_view.h"

#define HALVES RACK_COURSE_HALVES
/* Least number of half-seconds with losses out of the rack. */
#define LOSSY_HALVES 6
/* The same for a member that is named already. */
#define LOSSY_HALVES_NAMED 2
/* A half-second with this share of loss is an outage, and no steady loss. */
#define OUTAGE_SHARE 0.95
/* The flows of these times are compared: of the longer one, if in the shorter one too
 * few packets were lost, because they are spread over many flows. */
#define FLOWS_NS (15 * RM_NS_PER_S)
#define MORE_FLOWS_NS (45 * RM_NS_PER_S)

bool
rack_alone_is(const struct rack_tally *tallies, size_t members, size_t member)
{
	const struct rack_tally *mine = &tallies[member];

	for (size_t i = 0; i < members; i++)
		if (i != member && tallies[i].lost < tallies[i].sent)
			return false;
	return mine->outside_sent > 0 && mine->inside_sent + mine->stalled_sent == 0;
}

static bool
is_outage(const struct rack_half *half)
{
	return half->outside_lost > 1 &&
	       (double)half->outside_lost >= OUTAGE_SHARE * (double)half->outside_sent;
}

bool
rack_alone_loses(const struct rack *rack, size_t member,
    const struct rack_course *course, bool named)
{
	enum rack_flows flows;
	unsigned lossy = 0;

	for (size_t i = 0; i < HALVES; i++) {
		if (is_outage(&course->halves[i]))
			return false;
		lossy += course->halves[i].outside_lost > 0;
	}
	if (named)
		return lossy >= LOSSY_HALVES_NAMED;
	if (lossy < LOSSY_HALVES)
		return false;
	flows = rack_flows_lose_alike(rack, member, FLOWS_NS);
	if (flows == RACK_FLOWS_TOO_FEW)
		flows = rack_flows_lose_alike(rack, member, MORE_FLOWS_NS);
	return flows == RACK_FLOWS_ALIKE;
}
