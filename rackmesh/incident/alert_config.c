#include "rackmesh/incident/alert_config.h"

#include <stdbool.h>
#include <string.h>

#include "rackmesh/http/http_client.h"
#include "rackmesh/http/http_url.h"
#include "rackmesh/incident/alert.h"
#include "rackmesh/incident/alert_label.h"

static void
cut_slashes(char *url, size_t len)
{
	while (len > 0 && url[len - 1] == '/')
		len--;
	url[len] = '\0';
}

/* Changes "http://am:9093/x/api/v2/alerts/" to http://am:9093/x, and also the address
 * that a browser shows, "http://am:9093/x/#/alerts". */
static void
cut_to_base(char *url)
{
	static const char *const ends[] = { "/api/v2/alerts", "/api/v2" };
	size_t len = strcspn(url, "#");

	while (len > 0 && url[len - 1] == '/')
		len--;
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		const size_t end = strlen(ends[i]);

		if (len > end && memcmp(url + len - end, ends[i], end) == 0) {
			len -= end;
			break;
		}
	}
	cut_slashes(url, len);
}

static int
check_labels(
    const struct rm_alert_config *config, const char *path, struct rm_error *error)
{
	char *const *labels = config->labels.items;

	for (size_t i = 0; i < config->labels.count; i++) {
		const char *expected = alert_label_expected(labels[i]);

		for (size_t k = 0; expected == NULL && k < i; k++)
			if (strncmp(
				labels[i], labels[k], strcspn(labels[k], "=") + 1) == 0)
				expected = "listed twice; remove one";
		if (expected != NULL)
			return rm_config_refuse(
			    path, error, expected, "alerts.labels[%zu]", i);
	}
	return 0;
}

int
rm_alert_config_check(
    struct rm_alert_config *config, const char *path, struct rm_error *error)
{
	char **alertmanagers = config->alertmanagers.items;
	char *const *webhooks = config->webhooks.items;
	int r;

	for (size_t i = 0; i < config->alertmanagers.count; i++) {
		if (!rm_http_url_valid(alertmanagers[i]))
			return rm_config_refuse(path, error,
			    "expected http://... or https://...",
			    "alerts.alertmanagers[%zu]", i);
		cut_to_base(alertmanagers[i]);
		if (strchr(alertmanagers[i], '?') != NULL)
			return rm_config_refuse(path, error,
			    "expected a base URL: nothing with \"?\"",
			    "alerts.alertmanagers[%zu]", i);
	}
	for (size_t i = 0; i < config->webhooks.count; i++)
		if (!rm_http_url_valid(webhooks[i]))
			return rm_config_refuse(path, error,
			    "expected http://... or https://...",
			    "alerts.webhooks[%zu]", i);
	if (config->page_url[0] != '\0' && !rm_http_url_valid(config->page_url))
		return rm_config_refuse(path, error,
		    "expected http://... or https://...", "alerts.page_url");
	cut_slashes(config->page_url, strlen(config->page_url));
	if (config->runbook_url[0] != '\0' && !rm_http_url_valid(config->runbook_url))
		return rm_config_refuse(path, error,
		    "expected http://... or https://...", "alerts.runbook_url");
	r = check_labels(config, path, error);
	if (r < 0)
		return r;
	r = rm_http_origin_check(&config->origin, "alerts", error);
	return r < 0 ? rm_config_locate(path, error, r) : 0;
}

int
rm_alert_config_introduce(
    const struct rm_alert_config *config, struct rm_http_client *http)
{
	const struct rm_list *lists[] = { &config->alertmanagers, &config->webhooks };
	int r = 0;

	for (size_t l = 0; l < 2; l++)
		for (size_t i = 0; r == 0 && i < lists[l]->count; i++)
			r = rm_http_client_origin(
			    http, ((char *const *)lists[l]->items)[i], &config->origin);
	return r;
}

void
rm_alert_config_options(
    const struct rm_alert_config *config, struct rm_alert_options *options)
{
	options->alertmanagers = config->alertmanagers.items;
	options->alertmanager_count = config->alertmanagers.count;
	options->webhooks = config->webhooks.items;
	options->webhook_count = config->webhooks.count;
	options->texts.labels = config->labels.items;
	options->texts.label_count = config->labels.count;
	options->texts.page_url = config->page_url;
	options->texts.runbook_url = config->runbook_url;
}
