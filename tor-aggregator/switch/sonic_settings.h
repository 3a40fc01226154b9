/*
 * sonic_settings - reads the settings of a port from the CONFIG_DB of SONiC: its MTU,
 * speed and FEC (table PORT), PFC and the name of its map of DSCPs (PORT_QOS_MAP), and
 * that map (DSCP_TO_TC_MAP). Pure.
 *
 * These are the settings that were configured, not those in use. A traffic class is
 * compared as a priority: in SONiC, PFC of priority N pauses traffic class N.
 */
#ifndef TOR_AGGREGATOR_SWITCH_SONIC_SETTINGS_H
#define TOR_AGGREGATOR_SWITCH_SONIC_SETTINGS_H

#include <stddef.h>

#include "schemas/wire.h"

struct redisReply;

#define SONIC_PORT_FIELDS 3 /* of PORT|name */
#define SONIC_QOS_FIELDS 2  /* of PORT_QOS_MAP|name */
#define SONIC_MAP_BYTES 64

extern const char *const sonic_port_fields[SONIC_PORT_FIELDS];
extern const char *const sonic_qos_fields[SONIC_QOS_FIELDS];

/* Each takes the answer to one request, adds what it has to *settings, and returns the
 * number of values that could not be parsed. An answer of another type counts as one.
 */
unsigned sonic_settings_port(
    const struct redisReply *answer, struct wire_settings *settings);
/* map: the name of the port's map; "": it has none. */
unsigned sonic_settings_qos(const struct redisReply *answer,
    struct wire_settings *settings, char map[SONIC_MAP_BYTES]);
/* The answer to HGETALL. */
unsigned sonic_settings_dscps(
    const struct redisReply *answer, struct wire_settings *settings);

#endif
