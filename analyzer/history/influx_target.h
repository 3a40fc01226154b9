/*
 * influx_target - the URLs and credentials for writes and queries.
 *
 * Credentials are read from files, and read again when the database has refused them,
 * so that a token can be changed without a restart.
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
	/* The URL for each lane: rows of summaries and incidents have different
	 * retention policies. */
	char url[WIRE_LANE_INCIDENT + 1][INFLUX_URL_BYTES];
	char authorization[INFLUX_SECRET_BYTES + 32];  /* a header; "": none */
	char user[256], password[INFLUX_SECRET_BYTES]; /* "": none */
};

/* Cuts a URL down to the base URL: removes "/" at the end, and paths that a user may
 * have copied from the config of another client ("/write", "/api/v2/write",
 * "/query"). */
void influx_target_cut(char *url);

/* -ENAMETOOLONG, or the error of reading a file with a secret; *error describes it. */
int influx_target_init(struct influx_target *target, const struct influx_config *config,
    struct rm_error *error);
/* Writes the URL of a query with an InfluxQL statement and times in ns; for InfluxDB 2
 * the database is the bucket. -ENAMETOOLONG. */
int influx_target_ask(const struct influx_config *config, const char *statement,
    char url[INFLUX_URL_BYTES]);
/* Writes the URL of a page that only VictoriaMetrics has, to find out the kind of
 * database. -ENAMETOOLONG. */
int influx_target_kind(const struct influx_config *config, char url[INFLUX_URL_BYTES]);
/* Writes the URL at which VictoriaMetrics exports the raw samples of series. selectors:
 * the last one is NULL. -ENAMETOOLONG. */
int influx_target_export(const struct influx_config *config,
    const char *const *selectors, rm_wall_t from, rm_wall_t to,
    char url[INFLUX_URL_BYTES]);
/* Reads the credentials again. On failure the old ones stay. */
int influx_target_reread(struct influx_target *target,
    const struct influx_config *config, struct rm_error *error);

#endif
