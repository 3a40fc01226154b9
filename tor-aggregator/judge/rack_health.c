#include "tor-aggregator/judge/rack_health.h"

#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/window/rack_view.h"

/* A member is well when this much came back and hardly anything was lost. */
#define GOOD_MIN_ANSWERED 4
#define GOOD_MIN_NEWEST_ANSWERED 2
#define GOOD_LOSS 0.1

enum rm_health
rack_health_of(const struct rack *rack, size_t member, const struct rack_tally *tally)
{
	if (rack->hosts[rack->members[member].host_index].state != HOST_OK ||
	    tally->send_failed > 0 ||
	    tally->clean_sent - tally->clean_lost < GOOD_MIN_ANSWERED ||
	    tally->clean_newest_answered < GOOD_MIN_NEWEST_ANSWERED)
		return RM_HEALTH_UNKNOWN;
	/* A single loss among few is no reason to doubt. */
	if (tally->clean_lost > 1 &&
	    (double)tally->clean_lost > GOOD_LOSS * (double)tally->clean_sent)
		return RM_HEALTH_UNKNOWN;
	return RM_HEALTH_GOOD;
}
