/*
 * analyzer_config - the options of an analyzer, see analyzer.yaml.
 */
#ifndef ANALYZER_ANALYZER_CONFIG_H
#define ANALYZER_ANALYZER_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/history/influx_config.h"
#include "rackmesh/config/config.h"
#include "rackmesh/identity/http_places.h"
#include "rackmesh/incident/alert_config.h"
#include "rackmesh/tls/credentials.h"

/* Strings are never NULL after a load unless said otherwise. */
struct analyzer_config {
	const char *path; /* path of the config file; borrowed; NULL: none */
	char *name;       /* the host's name if the config has none */
	char *listen;
	struct rm_credentials_config credentials;
	uint64_t max_aggregators;
	char *record_folder; /* "": nothing is recorded */
	uint64_t record_max_mib;
	uint64_t resolve_after_ms, flapping_within_s;
	char *state_folder; /* "": nothing is saved on disk */
	struct rm_alert_config alerts;
	struct influx_config influx;
	/* folder for files of the history; "": none; then without influx.url no history
	 * is written */
	char *history_folder;
	uint64_t history_max_bytes;
	bool primary;
	uint64_t blind_grace_ms, blind_start_ms;
	uint64_t unavailable_permille;
	char *http_listen, *http_socket; /* "": nowhere */
	char *https_listen;              /* "": nowhere */
	char *http_tokens;               /* "": no tokens are accepted */
	struct rm_list http_names;       /* char * */
	int log_level;
};

extern const struct rm_option analyzer_options[];

extern const struct rm_config_type analyzer_config_type;

/* Like rm_config_read: reads and checks the file. Returns 0, or a negative errno and
 * *error. */
int analyzer_config_read(
    struct analyzer_config *config, const char *path, struct rm_error *error);
/* a config of zeros is allowed */
void analyzer_config_clear(struct analyzer_config *config);

#endif
