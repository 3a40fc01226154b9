/*
 * peer_incident - the message about an incident between the two aggregators of a ToR.
 * Pure.
 */
#ifndef TOR_AGGREGATOR_STANDBY_PEER_INCIDENT_H
#define TOR_AGGREGATOR_STANDBY_PEER_INCIDENT_H

#include "schemas/wire.h"

struct rm_incident;

/* Reads a message, which is checked; of the evidence only the RNIC's id is used, and
 * of a resolved incident whether all receivers know. -EINVAL. */
int peer_incident_read(const struct wire_incident *wire, struct rm_incident *ret);

/* Writes an incident in any state: open, notified, or resolved. head stays empty:
 * there is no lane. */
int peer_incident_write(struct wire_writer *writer, const char *tor,
    const struct rm_incident *incident, struct wire_bytes *out);

#endif
