#include "analyzer/analyzer_check.h"

#include <string.h>
#include <unistd.h>

#include "analyzer/analyzer_config.h"
#include "analyzer/history/influx_target.h"
#include "rackmesh/check/check.h"
#include "rackmesh/check/connect.h"

struct rm_identity_claim
analyzer_claim(void)
{
	return (struct rm_identity_claim){ .role = RM_ROLE_ANALYZER };
}

/* A history folder inside of a state folder that does not exist yet cannot be checked.
 */
static void
check_history(struct rm_check *check, const struct analyzer_config *config)
{
	const size_t len = strlen(config->state_folder);

	if (len > 0 &&
	    strncmp(config->history_folder, config->state_folder, len) == 0 &&
	    config->history_folder[len] == '/' &&
	    access(config->state_folder, F_OK) != 0)
		return;
	if (config->influx.url[0] == '\0')
		rm_check_folder(check, "history.folder", config->history_folder);
}

static void
check_influx(struct rm_check *check, const struct analyzer_config *config)
{
	struct influx_target target;
	struct rm_error error = { 0 };

	if (influx_target_init(&target, &config->influx, &error) < 0)
		rm_check_error(check, "influx", "%s", error.text);
	explicit_bzero(&target, sizeof(target));
	rm_check_url(check, "influx.url", config->influx.url);
	rm_check_origin(check, "influx", &config->influx.origin);
}

static void
connect_all(struct rm_check *check, const struct analyzer_config *config)
{
	struct rm_connect *connect = rm_connect_new(check, &config->credentials, NULL);

	if (connect == NULL)
		return;
	if (config->influx.url[0] != '\0')
		rm_connect_url(connect, "influx.url", config->influx.url, "/ping",
		    &config->influx.origin);
	rm_connect_urls(connect, "alerts.alertmanagers", &config->alerts.alertmanagers,
	    RM_CONNECT_ALERTMANAGER, &config->alerts.origin);
	rm_connect_urls(connect, "alerts.webhooks", &config->alerts.webhooks, NULL,
	    &config->alerts.origin);
	rm_connect_run(connect);
	rm_connect_free(connect);
}

unsigned
analyzer_check(const void *arg, bool connect)
{
	const struct analyzer_config *config = arg;
	const struct rm_http_places places = { config->http_listen, config->http_socket,
		config->https_listen, config->http_tokens };
	const struct rm_identity_claim claim = analyzer_claim();
	struct rm_check check = { .path = config->path };

	rm_check_credentials(&check, &config->credentials, &claim, config->name);
	rm_check_folder(&check, "state_folder", config->state_folder);
	check_history(&check, config);
	rm_check_folder(&check, "record.folder", config->record_folder);
	rm_check_listen(&check, "listen", config->listen);
	rm_check_http(&check, &places, &config->credentials);
	rm_check_urls(&check, "alerts.alertmanagers", &config->alerts.alertmanagers);
	rm_check_urls(&check, "alerts.webhooks", &config->alerts.webhooks);
	rm_check_origin(&check, "alerts", &config->alerts.origin);
	if (config->influx.url[0] != '\0')
		check_influx(&check, config);
	if (connect)
		connect_all(&check, config);
	return check.errors;
}
