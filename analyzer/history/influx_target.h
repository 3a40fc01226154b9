/*
 * influx_target - where points are written, and as whom: URLs and credentials.
 *
 * Credentials come from files, which are read again when the database has refused them:
 * a token may be changed without a restart.
 */
#ifndef ANALYZER_HISTORY_INFLUX_TARGET_H
#define ANALYZER_HISTORY_INFLUX_TARGET_H

#include <stddef.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/error.h"
#include "schemas/wire.h"

#define INFLUX_URL_BYTES 4096
#define INFLUX_SECRET_BYTES 1024

struct influx_config;

struct influx_target {
	/* By lane: rows of summaries, and incidents, have policies of their own. */
	char url[WIRE_LANE_INCIDENT + 1][INFLUX_URL_BYTES];
	char authorization[INFLUX_SECRET_BYTES + 32];  /* a header; "": none */
	char user[256], password[INFLUX_SECRET_BYTES]; /* "": none */
};

/* Cuts a URL to the base URL: slashes at its end, and what somebody has copied from
 * another client's config ("/write", "/api/v2/write", "/query"). */
void influx_target_cut(char *url);

/* -ENAMETOOLONG, or what keeps the files of secrets from being read: why. */
int influx_target_init(struct influx_target *target, const struct influx_config *config,
    struct rm_error *error);
/* Where an InfluxQL statement is asked, with times in ns; of InfluxDB 2 by the bucket's
 * name. -ENAMETOOLONG. */
int influx_target_ask(const struct influx_config *config, const char *statement,
    char url[INFLUX_URL_BYTES]);
/* What kind of database is there: only VictoriaMetrics has that page. -ENAMETOOLONG. */
int influx_target_kind(const struct influx_config *config, char url[INFLUX_URL_BYTES]);
/* Where VictoriaMetrics gives the raw samples of series. selectors: ended by NULL.
 * -ENAMETOOLONG. */
int influx_target_export(const struct influx_config *config,
    const char *const *selectors, rm_wall_t from, rm_wall_t to,
    char url[INFLUX_URL_BYTES]);
/* On failure the old credentials stay. */
int influx_target_reread(struct influx_target *target,
    const struct influx_config *config, struct rm_error *error);

#endif
