/*
 * peer_incident - reads and writes the message in which one aggregator of a ToR sends
 * an incident to the other. Pure.
 */
#ifndef TOR_AGGREGATOR_STANDBY_PEER_INCIDENT_H
#define TOR_AGGREGATOR_STANDBY_PEER_INCIDENT_H

#include "schemas/wire.h"

struct rm_incident;

/* Reads and checks a message. Of the evidence only the RNIC's id is used, and for a
 * resolved incident whether all receivers have accepted the end. -EINVAL: a value is
 * impossible. */
int peer_incident_read(const struct wire_incident *wire, struct rm_incident *ret);

/* Writes an incident: open, notified, or resolved. The message's head stays empty,
 * because there is no acknowledgement. *out is valid until the writer's next
 * message. */
int peer_incident_write(struct wire_writer *writer, const char *tor,
    const struct rm_incident *incident, struct wire_bytes *out);

#endif
