/*
 * duration - reads a duration in the form of the command line and of InfluxDB: "90s",
 * "15m", "14d", "336h0m0s".
 */
#ifndef CTL_CLIENT_DURATION_H
#define CTL_CLIENT_DURATION_H

/* Returns the duration in ns; -1: the text is not a duration, or is longer than ten
 * years. */
long long duration_ns(const char *text);

#endif
