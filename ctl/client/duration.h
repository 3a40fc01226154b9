/*
 * duration - how long, as people write it, and InfluxDB: "90s", "15m", "14d",
 * "336h0m0s".
 */
#ifndef CTL_CLIENT_DURATION_H
#define CTL_CLIENT_DURATION_H

/* In ns; -1: it is none, or longer than ten years. */
long long duration_ns(const char *text);

#endif
