/*
 * rack_alone - finds losses of the last RNIC of a rack that works. Pure.
 *
 * All other RNICs of the rack are dead, or not probed. So no probe inside the rack
 * shows whether the RNIC, its ToR or a part outside of the rack loses packets. If the
 * flows to other racks lose packets at the same rate, and no other switch is common to
 * them (rack_flows_lose_alike), no link or spine is the cause, because only some of the
 * flows cross it: then it is the RNIC or its ToR.
 */
#ifndef TOR_AGGREGATOR_LASTING_RACK_ALONE_H
#define TOR_AGGREGATOR_LASTING_RACK_ALONE_H

#include <stdbool.h>
#include <stddef.h>

struct rack;
struct rack_course;
struct rack_tally;

/* True: all other members lost all their probes, or have none. tallies: one per
 * member, of RACK_COURSE_SECONDS. */
bool rack_alone_is(const struct rack_tally *tallies, size_t members, size_t member);

/* True: the member, which is alone, or its ToR loses packets all the time. course: of
 * the member; named: this was found before, so that few losses are enough. */
bool rack_alone_loses(const struct rack *rack, size_t member,
    const struct rack_course *course, bool named);

#endif
