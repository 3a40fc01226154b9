/*
 * sonic_optics - what SONiC tells of the optical module in a port
 * (TRANSCEIVER_DOM_SENSOR of its STATE_DB). Pure.
 *
 * Power is told in dBm for each lane, and temperature in degrees; a module of copper
 * tells none, and "N/A" stands for lanes that it has not. A lane in the dark has
 * "-inf". The darkest lane is one of those on which the module itself sends: others are
 * not in use. Below which power it raises an alarm stood in the same table first, and
 * in TRANSCEIVER_DOM_THRESHOLD since 2023.
 */
#ifndef TOR_AGGREGATOR_OPTICS_SONIC_OPTICS_H
#define TOR_AGGREGATOR_OPTICS_SONIC_OPTICS_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/metrics/counter_delta.h"

#define SONIC_LANES 8
#define SONIC_OPTICS_FIELDS (2 * SONIC_LANES + 2)
#define SONIC_ALARM_FIELD "rxpowerlowalarm"
#define SONIC_ALARM_ROW "optics_rx_low_alarm_nw"

struct redisReply;

/* Sources of the table's rows begin so. */
#define SONIC_OPTICS_PREFIX "DOM/"

/* Of the question's fields, from 0. */
void sonic_optics_field(size_t i, char ret[16]);

/* The value of the row of that name, from an answer of SONIC_OPTICS_FIELDS elements.
 * Returns how many of them make no sense. */
size_t sonic_optics_sample(
    const struct redisReply *answer, const char *row, struct counter_sample *ret);
/* Of an answer of one element: below which power it raises an alarm. Returns as that.
 */
size_t sonic_optics_alarm(const struct redisReply *answer, struct counter_sample *ret);

#endif
