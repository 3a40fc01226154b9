/*
 * history_init - creates the database, its retention policies, and the continuous
 * queries for hourly figures, if they do not exist.
 */
#ifndef CTL_HISTORY_HISTORY_INIT_H
#define CTL_HISTORY_HISTORY_INIT_H

struct influx_place;

#define HISTORY_POLICY_RAW "raw"
#define HISTORY_POLICY_INCIDENTS "incidents"

/* raw, incidents: retention times in the form of InfluxQL, "14d". Prints what was done,
 * and returns an exit code. */
int history_init(
    const struct influx_place *place, const char *raw, const char *incidents);

#endif
