#include "analyzer/analyzer_config.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/history/influx_target.h"
#include "rackmesh/config/host_name.h"
#include "rackmesh/core/address.h"
#include "rackmesh/core/log.h"
#include "rackmesh/http/http_url.h"
#include "rackmesh/judge/part.h"

#define AT(field) offsetof(struct analyzer_config, field)

/* clang-format off */
const struct rm_option analyzer_options[] = {
	{ "name", RM_STRING, AT(name), NULL, 1, 63, 0,
	  "name of this analyzer; left out: the system's host name", NULL, NULL, 0 },
	{ "listen", RM_STRING, AT(listen), "0.0.0.0:7491", 1, 255, 0,
	  "address:port where tor-aggregators connect, on the management network", NULL, NULL, 0 },
	RM_CREDENTIALS_OPTIONS(struct analyzer_config, credentials),
	{ "max_aggregators", RM_UINT, AT(max_aggregators), "4096", 1, 16384, 0,
	  "limit on connections at a time", NULL, NULL, 0 },
	{ "resolve_after_ms", RM_UINT, AT(resolve_after_ms), "2000", 250, 600000, 0,
	  "an incident is resolved when its part has worked for this long", NULL, NULL, 0 },
	{ "flapping_within_s", RM_UINT, AT(flapping_within_s), "1800", 1, 1800, 0,
	  "a part that fails for the third time within this time is flapping: one "
	  "incident, until it has worked for three times the longest time that it worked "
	  "between two failures", NULL, NULL, 0 },
	{ "state_folder", RM_STRING, AT(state_folder), "/var/lib/rackmesh/analyzer", 0, 1023, 0,
	  "folder for data that must survive a restart: open incidents, SLA figures, and points "
	  "that are not written yet; \"\": nothing is kept", NULL, NULL, 0 },
	{ "primary", RM_BOOL, AT(primary), "true", 0, 0, 0,
	  "true at the first analyzer in the aggregators' config; false at the others, which send no alert while no aggregator is connected", NULL, NULL, 0 },
	RM_ALERT_OPTIONS(struct analyzer_config, alerts),
	{ "blind.grace_ms", RM_UINT, AT(blind_grace_ms), "3000", 500, 600000, 0,
	  "time that an aggregator may be silent before it is reported", NULL, NULL, 0 },
	{ "blind.start_ms", RM_UINT, AT(blind_start_ms), "15000", 500, 600000, 0,
	  "time after the analyzer's start in which no aggregator is reported as "
	  "silent", NULL, NULL, 0 },
	{ "record.folder", RM_STRING, AT(record_folder), "", 0, 1023, 0,
	  "for labs: folder in which the inputs of the judge between racks are recorded, for sim --replay; \"\": nothing is recorded",
	  NULL, NULL, 0 },
	{ "record.max_mib", RM_UINT, AT(record_max_mib), "256", 1, 65536, 0,
	  "limit on one recording; each start of the analyzer begins a new one", NULL, NULL, 0 },
	{ "sla.unavailable_permille", RM_UINT, AT(unavailable_permille), "10", 1, 1000, 0,
	  "a rack was unavailable in a minute with this much loss or more", NULL, NULL, 0 },
	{ "influx.url", RM_STRING, AT(influx.url), "", 0, 1023, 0,
	  "base URL of InfluxDB or of a database with its write API; \"\": "
	  "history is written to files", NULL, NULL, 0 },
	{ "influx.version", RM_UINT, AT(influx.version), "1", 1, 2, 0,
	  "1: /write with database and retention policy; 2: /api/v2/write with org and bucket",
	  NULL, NULL, 0 },
	{ "influx.database", RM_STRING, AT(influx.database), "rackmesh", 1, 255, 0,
	  "database, for version 1", NULL, NULL, 0 },
	{ "influx.retention_policy", RM_STRING, AT(influx.retention_policy), "", 0, 255, 0,
	  "retention policy of summaries, for version 1; \"\": the database's "
	  "default", NULL, NULL, 0 },
	{ "influx.incident_retention_policy", RM_STRING, AT(influx.incident_retention_policy),
	  "", 0, 255, 0, "retention policy of incidents and SLA, for version 1; \"\": the "
	  "database's default",
	  NULL, NULL, 0 },
	{ "influx.org", RM_STRING, AT(influx.org), "rackmesh", 0, 255, 0,
	  "organisation, for version 2", NULL, NULL, 0 },
	{ "influx.bucket", RM_STRING, AT(influx.bucket), "rackmesh", 1, 255, 0,
	  "bucket, for version 2", NULL, NULL, 0 },
	{ "influx.token_file", RM_STRING, AT(influx.token_file), "", 0, 1023, 0,
	  "file with an API token (mode 0600); \"\": none", NULL, NULL, 0 },
	{ "influx.user", RM_STRING, AT(influx.user), "", 0, 255, 0,
	  "user name for basic authentication; \"\": none", NULL, NULL, 0 },
	{ "influx.password_file", RM_STRING, AT(influx.password_file), "", 0, 1023, 0,
	  "file with the user's password (mode 0600); \"\": none", NULL, NULL, 0 },
	RM_HTTP_ORIGIN_TLS("influx", struct analyzer_config, influx.origin),
	{ "influx.batch_points", RM_UINT, AT(influx.batch_points), "5000", 1, 100000, 0,
	  "limit on points in one write", NULL, NULL, 0 },
	{ "influx.batch_ms", RM_UINT, AT(influx.batch_ms), "1000", 1, 60000, 0,
	  "time that a write waits for more points", NULL, NULL, 0 },
	{ "influx.timeout_ms", RM_UINT, AT(influx.timeout_ms), "10000", 100, 600000, 0,
	  "a write without an answer after this time is repeated", NULL, NULL, 0 },
	{ "influx.spool_bytes", RM_UINT, AT(influx.spool_bytes), "1073741824", 1048576,
	  UINT64_C(1) << 40, 0,
	  "limit on points of summaries that are not written yet; the oldest are "
	  "dropped first", NULL, NULL, 0 },
	{ "influx.incident_spool_bytes", RM_UINT, AT(influx.incident_spool_bytes), "67108864",
	  1048576, UINT64_C(1) << 40, 0,
	  "limit on points of incidents that are not written yet; the oldest are "
	  "dropped first", NULL, NULL, 0 },
	{ "history.folder", RM_STRING, AT(history_folder), NULL, 0, 1023, 0,
	  "folder for line-protocol files, used without influx.url; left out: "
	  "history/ in the state folder; \"\": no history", NULL, NULL, 0 },
	{ "history.max_bytes", RM_UINT, AT(history_max_bytes), "1073741824", 1048576,
	  UINT64_C(1) << 44, 0, "limit on all these files together; the oldest is deleted first", NULL, NULL, 0 },
	RM_LOG_LEVEL_OPTION(struct analyzer_config, log_level),
	{ "http.listen", RM_STRING, AT(http_listen), "127.0.0.1:9474", 0, 255, 0,
	  "address:port of /metrics and the read-only API; \"\": none", NULL, NULL, 0 },
	RM_HTTP_TLS_OPTION(struct analyzer_config, https_listen),
	RM_HTTP_TOKENS_OPTION(struct analyzer_config, http_tokens),
	RM_HTTP_NAMES_OPTION(struct analyzer_config, http_names),
	{ "http.socket", RM_STRING, AT(http_socket), "/run/rackmesh/analyzer.sock", 0, 100, 0,
	  "Unix socket of the whole API; \"\": none", NULL, NULL, 0 },
	{ 0 }
};
/* clang-format on */

static int
check_influx(const struct analyzer_config *config, struct rm_error *error)
{
	const struct influx_config *influx = &config->influx;

	if (influx->url[0] != '\0' && !rm_http_url_valid(influx->url))
		return rm_config_refuse(config->path, error,
		    "expected http://... or https://...", "influx.url");
	if (strpbrk(influx->url, "?#") != NULL)
		return rm_config_refuse(config->path, error,
		    "expected a base URL: nothing with \"?\" or \"#\"", "influx.url");
	influx_target_cut(influx->url);
	if (influx->password_file[0] != '\0' && influx->user[0] == '\0')
		return rm_config_refuse(config->path, error,
		    "influx.user is missing; a password needs a user",
		    "influx.password_file");
	if (influx->token_file[0] != '\0' && influx->user[0] != '\0')
		return rm_config_refuse(config->path, error,
		    "give a token, or a user with a password, not both",
		    "influx.token_file");
	return 0;
}

static int
check_all(const struct analyzer_config *config, struct rm_error *error)
{
	struct rm_address address;
	int r;

	if (!rm_name_valid(config->name))
		return rm_host_name_refuse(
		    config->path, error, "name", config->name, RM_NAME_EXPECTED);
	if (rm_address_parse(config->listen, -1, &address) < 0 ||
	    address.storage.ss_family == AF_UNIX)
		return rm_config_refuse_value(
		    config->path, error, RM_ADDRESS_EXPECTED, config->listen, "listen");
	if (config->http_listen[0] != '\0' &&
	    rm_address_parse(config->http_listen, -1, &address) < 0)
		return rm_config_refuse_value(config->path, error, RM_ADDRESS_EXPECTED,
		    config->http_listen, "http.listen");
	r = check_influx(config, error);
	if (r == 0)
		r = rm_http_origin_check(&config->influx.origin, "influx", error);
	else
		return r;
	return r < 0 ? rm_config_locate(config->path, error, r) : 0;
}

/* Sets the options whose default depends on another option. */
static int
derive(struct analyzer_config *config, struct rm_error *error)
{
	int r;

	if (config->history_folder != NULL)
		return 0;
	if (config->state_folder[0] == '\0')
		config->history_folder = strdup("");
	else if (asprintf(&config->history_folder, "%s/history", config->state_folder) <
		 0)
		config->history_folder = NULL;
	r = config->history_folder == NULL ? -ENOMEM : 0;
	return r < 0 ? rm_error_set(error, r, "out of memory") : 0;
}

static int
check_config(void *arg, struct rm_error *error)
{
	struct analyzer_config *config = arg;
	int r = derive(config, error);

	if (r == 0)
		r = check_all(config, error);
	if (r == 0)
		r = rm_alert_config_check(&config->alerts, config->path, error);
	return r;
}

const struct rm_config_type analyzer_config_type = {
	.options = analyzer_options,
	.bytes = sizeof(struct analyzer_config),
	.path = AT(path),
	.name = AT(name),
	.log_level = AT(log_level),
	.name_option = "name",
	.check = check_config,
};

int
analyzer_config_read(
    struct analyzer_config *config, const char *path, struct rm_error *error)
{
	return rm_config_read(&analyzer_config_type, config, path, error);
}

void
analyzer_config_clear(struct analyzer_config *config)
{
	rm_config_clear(analyzer_options, config);
	config->path = NULL;
}
