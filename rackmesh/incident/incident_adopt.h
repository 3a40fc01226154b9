/*
 * incident_adopt - what the other one of a pair has open, kept here, too. Pure.
 *
 * Of the two that judge the same rack one speaks. What that has open goes on here under
 * its id when it is gone. Until then it is held: its word ends it, not our own eyes, or
 * nobody would tell of the end of what it told of.
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
 * theirs: as they tell it; notified_opened counts, the evidence only where we have
 * none. held: it is theirs to end; the id, times, severity and name become theirs, too.
 * Not held: we speak, and what we have open ourselves stays as it is. 1: it is open
 * anew; 0: it was open; -ENOSPC, -ENOMEM, counted as refused.
 */
int rm_incidents_adopt(
    struct rm_incidents *incidents, const struct rm_incident *theirs, bool held);
/* They have ended it; told: and told everybody, else that is ours to do should they not
 * come to it. False: that is no news, or it is not known under this id. */
bool rm_incidents_end(struct rm_incidents *incidents, uint64_t id, rm_wall_t resolved,
    bool notified, rm_mono_t now);

/* We speak: all that is held is ours to end from now on. */
void rm_incidents_release(struct rm_incidents *incidents);
/* We do not any more: what is open, was ours and is told is owed to the other one until
 * it tells of it itself. It may speak already, and never have heard of that. */
void rm_incidents_owe(struct rm_incidents *incidents);
/* The i-th, as of rm_incidents_get, is. */
bool rm_incidents_owes(const struct rm_incidents *incidents, size_t i);
/* They are about to tell of all that they have open, and of all ends not yet told. */
void rm_incidents_doubt(struct rm_incidents *incidents);
/* They have, and they speak: what was not among it, and was told, or held, or is of an
 * earlier life of ours, or has no verdict now, has ended meanwhile, and they have told
 * of that, as of every end that was not; but not what is owed to them. Returns how
 * many.
 */
size_t rm_incidents_end_rest(
    struct rm_incidents *incidents, rm_wall_t resolved, rm_mono_t now);

#endif
