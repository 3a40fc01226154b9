/*
 * incident_adopt - keeps the open incidents of the other aggregator of a pair. Pure.
 *
 * Two aggregators judge the same rack, and the active one sends its alerts. When the
 * active one is gone, its incidents continue here under their ids. Until then they are
 * held: only a message of the active one resolves them, not this daemon's own verdict;
 * otherwise no daemon would send the end of an alert that the active one has sent.
 */
#ifndef RACKMESH_INCIDENT_INCIDENT_ADOPT_H
#define RACKMESH_INCIDENT_INCIDENT_ADOPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct rm_incident;
struct rm_incidents;

/*
 * Takes an incident that the other aggregator has reported: its notified_opened is
 * used, its evidence if there is none here, and its impact if that is worse. held: true
 * if only the other aggregator resolves it; then it gets the id, times, severity and
 * name of the other aggregator's incident. Not held: this daemon is active, and its own
 * open incidents are not changed. Returns 1: newly opened; 0: it was open; -ENOSPC,
 * -ENOMEM, which count as refused.
 */
int rm_incidents_adopt(
    struct rm_incidents *incidents, const struct rm_incident *theirs, bool held);
/* The other aggregator has resolved the incident. notified: all receivers have accepted
 * the end; else this daemon has to send it if the other one cannot. False:
 * nothing has changed, because the id is unknown, or this was known before. */
bool rm_incidents_end(struct rm_incidents *incidents, uint64_t id, rm_wall_t resolved,
    bool notified, rm_mono_t now);

/* This daemon became active: it resolves all held incidents from now on. */
void rm_incidents_release(struct rm_incidents *incidents);
/* This daemon went standby. Marks those of its own open incidents that receivers know
 * as owed: the other aggregator may have become active without knowing them.
 * rm_incidents_end_rest does not end an owed incident before the other aggregator has
 * reported it once. */
void rm_incidents_owe(struct rm_incidents *incidents);
/* True: the i-th incident, by the order of rm_incidents_get, is owed: see
 * rm_incidents_owe. */
bool rm_incidents_owes(const struct rm_incidents *incidents, size_t i);
/* Marks all incidents as not confirmed: the other aggregator begins to send all its
 * open incidents, and all ends that were not delivered. */
void rm_incidents_doubt(struct rm_incidents *incidents);
/* Call it when the other aggregator is active, and has sent all its incidents. Ends the
 * incidents here that it has not sent: the other aggregator has ended them, and has
 * sent the ends to the receivers. Only an incident that receivers know, that is held,
 * is of a former run or has no verdict now, ends; one that is owed stays. Returns the
 * number of incidents that ended. */
size_t rm_incidents_end_rest(
    struct rm_incidents *incidents, rm_wall_t resolved, rm_mono_t now);

#endif
