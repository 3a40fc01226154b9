/*
 * peer_incident - reads and writes the message in which one aggregator of a ToR sends
 * an incident to the other. Pure.
 */
#ifndef TOR_AGGREGATOR_STANDBY_PEER_INCIDENT_H
#define TOR_AGGREGATOR_STANDBY_PEER_INCIDENT_H

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct rm_incident;

/* Reads and checks a message. Only this evidence is used: the RNIC's id, the values
 * that the alert needs, the falls of the part, and for a resolved incident whether all
 * receivers have accepted the end. An older peer sends no falls; unusable ones are left
 * out. now: the time of the falls is converted to this clock. -EINVAL: a value is
 * impossible. */
int peer_incident_read(
    const struct wire_incident *wire, rm_mono_t now, struct rm_incident *ret);

/* Writes an incident: open, notified, or resolved. The message's head stays empty,
 * because there is no acknowledgement. *out is valid until the writer's next
 * message. */
int peer_incident_write(struct wire_writer *writer, const char *tor,
    const struct rm_incident *incident, rm_mono_t now, struct wire_bytes *out);

#endif
