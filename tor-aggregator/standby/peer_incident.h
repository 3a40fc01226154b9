/*
 * peer_incident - an incident as the other aggregator tells it, and as we tell it.
 * Pure.
 */
#ifndef TOR_AGGREGATOR_STANDBY_PEER_INCIDENT_H
#define TOR_AGGREGATOR_STANDBY_PEER_INCIDENT_H

#include "schemas/wire.h"

struct rm_incident;

/* Foreign words, checked; of the evidence only the RNIC's id, and of an end whether
 * everybody was told. -EINVAL. */
int peer_incident_read(const struct wire_incident *wire, struct rm_incident *ret);

/* Whatever has to be told of it: open, told, or at its end. head is filled by nobody:
 * there is no lane. */
int peer_incident_write(struct wire_writer *writer, const char *tor,
    const struct rm_incident *incident, struct wire_bytes *out);

#endif
