/*
 * localise_minutes - stores the parts that are blamed for losses of the last minutes,
 * to correct a finding from the last seconds. Pure. A part with a loss of 1 % loses a
 * few packets in a second, and their paths back are known only by shares: a good switch
 * that replies may have crossed sometimes seems more likely than this part. The last
 * minutes contain the same packets and many more, and are therefore more reliable.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_MINUTES_H
#define ANALYZER_SUSPICION_LOCALISE_MINUTES_H

#include "analyzer/finding/localise_find.h"

struct localise_minutes {
	struct rm_part parts[LOCALISE_MAX_PARTS];
	size_t count;
	rm_mono_t judged;
};

/* Call the first function before minutes are judged, and the second one for each
 * finding of that judgement. */
void localise_minutes_begin(struct localise_minutes *minutes, rm_mono_t now);
void localise_minutes_add(
    struct localise_minutes *minutes, const struct localise_finding *finding);

/* True: the judgement of minutes does not blame the part of this finding of seconds,
 * but blames other parts for most of its recent losses. False for a part that loses
 * whole flows, or all packets. */
bool localise_minutes_explain(const struct localise_minutes *minutes,
    const struct localise_map *map, const struct localise_finding *finding,
    rm_mono_t now);

#endif
