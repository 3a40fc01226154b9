/*
 * sonic_optics - reads the measurements of the optical module in a port of a SONiC
 * switch, from the table TRANSCEIVER_DOM_SENSOR of its STATE_DB. Pure.
 *
 * The table has the power of each lane in dBm, and the temperature in degrees Celsius.
 * A copper module has no values; "N/A" stands for lanes that the module does not have;
 * "-inf" is a lane without light. A lane on which the module does not send is not in
 * use, so it does not count for the lowest received power. The power below which the
 * module raises an alarm was in the same table before 2023, and is in
 * TRANSCEIVER_DOM_THRESHOLD since then.
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

/* In switch_rows[] the sources of these values begin with this prefix. */
#define SONIC_OPTICS_PREFIX "DOM/"

/* Writes the name of field i of the query; i is below SONIC_OPTICS_FIELDS. */
void sonic_optics_field(size_t i, char ret[16]);

/* Reads the value for the row of switch_rows[] with this name, from an answer of
 * SONIC_OPTICS_FIELDS elements. Returns the number of elements that are malformed or
 * out of range. */
size_t sonic_optics_sample(
    const struct redisReply *answer, const char *row, struct counter_sample *ret);
/* Reads the power below which the module raises an alarm, from an answer of one
 * element. Returns as sonic_optics_sample. */
size_t sonic_optics_alarm(const struct redisReply *answer, struct counter_sample *ret);

#endif
