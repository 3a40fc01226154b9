/*
 * history_init - a database, its retention policies, and the continuous queries that
 * keep hourly figures: made if they are not there.
 */
#ifndef CTL_HISTORY_HISTORY_INIT_H
#define CTL_HISTORY_HISTORY_INIT_H

struct influx_place;

#define HISTORY_POLICY_RAW "raw"
#define HISTORY_POLICY_INCIDENTS "incidents"

/* Durations as in InfluxQL, "14d". Returns an exit code; prints what was done. */
int history_init(
    const struct influx_place *place, const char *raw, const char *incidents);

#endif
