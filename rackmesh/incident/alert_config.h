/*
 * alert_config - the options "alerts." of a daemon that sends alerts.
 *
 * Call rm_alert_config_check after each load: it also changes the URLs to the form in
 * which they are used.
 */
#ifndef RACKMESH_INCIDENT_ALERT_CONFIG_H
#define RACKMESH_INCIDENT_ALERT_CONFIG_H

#include <stddef.h>

#include "rackmesh/config/config.h"
#include "rackmesh/http/http_origin.h"

#define RM_ALERT_CONFIG_RECEIVERS 8 /* of each kind */
#define RM_ALERT_CONFIG_LABELS 16

struct rm_alert_options;
struct rm_http_client;

struct rm_alert_config {
	struct rm_list alertmanagers; /* base URLs, without "/" at the end */
	struct rm_list webhooks;      /* whole URLs */
	struct rm_list labels;        /* "team=fabric" */
	char *page_url, *runbook_url; /* "": none */
	/* CA bundle, certificate and login for all receivers */
	struct rm_http_origin origin;
};

/* clang-format off */
#define RM_ALERT_OPTIONS(type, alerts)                                                     \
	{ "alerts.alertmanagers", RM_LIST, offsetof(type, alerts.alertmanagers), NULL, 0,  \
	  RM_ALERT_CONFIG_RECEIVERS, RM_RELOAD,                                            \
	  "base URLs, with the prefix of --web.route-prefix if there is one, e.g. "        \
	  "http://127.0.0.1:9093; each gets every alert; redirects are not followed",      \
	  NULL, NULL, 0 },                                                                 \
	{ "alerts.webhooks", RM_LIST, offsetof(type, alerts.webhooks), NULL, 0,            \
	  RM_ALERT_CONFIG_RECEIVERS, RM_RELOAD,                                            \
	  "URLs that get each alert when it opens and when it is resolved, in the " \
	  "format of Alertmanager's webhooks", NULL, NULL, 0 },                                      \
	{ "alerts.page_url", RM_STRING, offsetof(type, alerts.page_url), "", 0, 1023,      \
	  RM_RELOAD, "base URL of an analyzer's HTTP API as a person's browser sees it, "   \
	  "for links to incidents (generatorURL); \"\": no links", NULL, NULL, 0 },        \
	{ "alerts.runbook_url", RM_STRING, offsetof(type, alerts.runbook_url), "", 0, 1023, \
	  RM_RELOAD, "URL to which the kind of the fault is appended, for the " \
	  "annotation runbook_url, e.g. https://wiki.example/rackmesh/verdicts.md#; " \
	  "\"\": a link to the text on the kind on the page at page_url",                                     \
	  NULL, NULL, 0 },                                                                 \
	{ "alerts.labels", RM_LIST, offsetof(type, alerts.labels), NULL, 0,                \
	  RM_ALERT_CONFIG_LABELS, RM_RELOAD,                                               \
	  "labels for every alert that opens from now on, as name=value, e.g. "            \
	  "team=fabric", NULL, NULL, 0 },                                                  \
	RM_HTTP_ORIGIN_TLS("alerts", type, alerts.origin),                                     \
	RM_HTTP_ORIGIN_LOGIN("alerts", type, alerts.origin)
/* clang-format on */

/*
 * Checks URLs, and reduces those of Alertmanagers to the base: removes a fragment,
 * slashes at the end and "/api/v2/alerts". path: of the config file. -EINVAL, -EACCES,
 * ... and error.
 */
int rm_alert_config_check(
    struct rm_alert_config *config, const char *path, struct rm_error *error);

/* Sets the CA bundle and the login of all receivers; see rm_http_client_origin. */
int rm_alert_config_introduce(
    const struct rm_alert_config *config, struct rm_http_client *http);

/* Fills the alert options from the config; the strings are borrowed from the config. */
void rm_alert_config_options(
    const struct rm_alert_config *config, struct rm_alert_options *options);

#endif
