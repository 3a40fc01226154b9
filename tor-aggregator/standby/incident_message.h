/*
 * incident_message - fills the wire message of an incident, for the analyzer and the
 * other aggregator of its ToR. Pure.
 */
#ifndef TOR_AGGREGATOR_STANDBY_INCIDENT_MESSAGE_H
#define TOR_AGGREGATOR_STANDBY_INCIDENT_MESSAGE_H

#include "rackmesh/judge/verdict.h"
#include "schemas/wire.h"

struct rm_incident;

/* Fills all members except head and evidence_json. Writes the incident's sentence to
 * `sentence`. The message borrows tor, incident and sentence. */
struct wire_incident incident_message(const char *tor, enum wire_incident_state state,
    const struct rm_incident *incident, char sentence[RM_SENTENCE_BYTES]);

#endif
