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
 * theirs: as the other aggregator reports it; its notified_opened is used, its evidence
 * only where there is none here, its impact where that is worse. held: the other one
 * resolves it; id, times, severity and name become the other one's. Not held: this
 * daemon is active, and its own open incidents are not changed. Returns 1: newly
 * opened; 0: it was open; -ENOSPC, -ENOMEM, counted as refused.
 */
int rm_incidents_adopt(
    struct rm_incidents *incidents, const struct rm_incident *theirs, bool held);
/* The other aggregator has resolved it. told: and all receivers know; else this daemon
 * has to send the end if the other one cannot. False: known already, or unknown id. */
bool rm_incidents_end(struct rm_incidents *incidents, uint64_t id, rm_wall_t resolved,
    bool notified, rm_mono_t now);

/* This daemon became active: it resolves all held incidents from now on. */
void rm_incidents_release(struct rm_incidents *incidents);
/* This daemon went standby: open incidents of its own that receivers know are owed to
 * the other aggregator until that reports them. The other one may be active already and
 * not know them. */
void rm_incidents_owe(struct rm_incidents *incidents);
/* True: the i-th incident, as of rm_incidents_get, is held. */
bool rm_incidents_owes(const struct rm_incidents *incidents, size_t i);
/* The other aggregator begins to send all its open incidents, and all ends not yet
 * delivered. */
void rm_incidents_doubt(struct rm_incidents *incidents);
/* The other aggregator has sent them all, and is active. Incidents here that were not
 * among them, and that receivers know, or that are held, restored from before the
 * restart, or without a verdict now, have ended meanwhile, and the other one has sent
 * their ends. Incidents that are owed to it are excepted. Returns how many ended.
 */
size_t rm_incidents_end_rest(
    struct rm_incidents *incidents, rm_wall_t resolved, rm_mono_t now);

#endif
