#include "tor-aggregator/aggregator_check.h"

#include <stdio.h>
#include <string.h>

#include "rackmesh/check/check.h"
#include "rackmesh/check/connect.h"
#include "rackmesh/core/address.h"
#include "tor-aggregator/aggregator_config.h"
#include "tor-aggregator/plan/plan_store.h"

#define OPTION_BYTES 64

struct rm_identity_claim
aggregator_claim(
    const struct aggregator_config *config, const char *tors[WIRE_MAX_TORS])
{
	const struct aggregator_tor_config *list = config->tors.items;

	for (size_t i = 0; i < config->tors.count; i++)
		tors[i] = list[i].name;
	return (struct rm_identity_claim){
		.role = RM_ROLE_AGGREGATOR,
		.region = config->region,
		.name = config->name,
		.tors = tors,
		.tor_count = config->tors.count,
	};
}

/* Checks the addresses of the standby aggregators. Each must be of another daemon, and
 * must not be the address on which this aggregator listens. */
static void
check_peers(struct rm_check *check, const struct aggregator_config *config)
{
	const struct aggregator_tor_config *tors = config->tors.items;

	for (size_t i = 0; i < config->tors.count; i++) {
		struct rm_address own, peer;
		char at[64];

		if (tors[i].peer_name[0] == '\0')
			continue;
		snprintf(at, sizeof(at), "tors[%zu].peer.address", i);
		rm_check_peer(check, at, tors[i].peer_address);
		if (rm_address_parse(config->listen, -1, &own) == 0 &&
		    rm_address_parse(tors[i].peer_address, -1, &peer) == 0 &&
		    rm_address_equal(&own, &peer))
			rm_check_error(check, at,
			    "this aggregator itself listens there: expected the "
			    "address of the other one");
	}
}

static void
check_switch(
    struct rm_check *check, const char *option, const struct switch_config *config)
{
	struct rm_error error;
	char at[OPTION_BYTES + sizeof(".password_file")];

	snprintf(at, sizeof(at), "%s.password_file", option);
	if (switch_config_check_files(config, &error) < 0)
		rm_check_error(check, at, "%s", error.text);
	snprintf(at, sizeof(at), "%s.authorities", option);
	rm_check_file(check, at, config->authorities);
}

/* Checks the files for reading switches and hypervisors. The daemon also starts without
 * them, because it has to monitor the racks. */
static void
check_collectors(struct rm_check *check, const struct aggregator_config *config)
{
	const struct aggregator_tor_config *tors = config->tors.items;
	const struct other_switch_config *others = config->switches.items;
	const struct hypervisor_config *hypervisors = config->hypervisors.items;
	struct rm_error error;
	char at[OPTION_BYTES];

	for (size_t i = 0; i < config->tors.count; i++) {
		snprintf(at, sizeof(at), "tors[%zu].switch", i);
		check_switch(check, at, &tors[i].counters);
	}
	for (size_t i = 0; i < config->switches.count; i++) {
		snprintf(at, sizeof(at), "switches[%zu]", i);
		check_switch(check, at, &others[i].reading);
	}
	for (size_t i = 0; i < config->hypervisors.count; i++) {
		snprintf(at, sizeof(at), "hypervisors[%zu]", i);
		if (hypervisor_check_files(&hypervisors[i], &error) < 0)
			rm_check_error(check, at, "%s", error.text);
	}
}

static void
check_plans(struct rm_check *check, const struct aggregator_config *config,
    const char *const *tors)
{
	char *const *paths = config->plans.items;
	struct plan_store *store = NULL;
	int r = plan_store_new(
	    NULL, config->region, NULL, tors, config->tors.count, &store);

	for (size_t i = 0; r == 0 && i < config->plans.count; i++) {
		struct rm_error error = { 0 };
		char at[64];
		size_t tor;

		snprintf(at, sizeof(at), "plans[%zu]", i);
		if (plan_store_load_file(store, paths[i], &tor, &error) < 0)
			rm_check_error(check, at, "%s", error.text);
	}
	if (r < 0)
		rm_check_error(check, "plans", "cannot read them: %s", strerror(-r));
	plan_store_free(store);
}

/* ---- --connect ---- */

static int
open_answer(const uint8_t *data, size_t len, const char **name, const char **refused)
{
	struct wire_welcome welcome;
	int r = wire_open_welcome(&welcome, data, len);

	if (r < 0)
		return r;
	*name = welcome.id;
	*refused = welcome.refused;
	return 0;
}

static void
connect_list(struct rm_connect *connect, const char *option, const struct rm_list *list,
    const struct rm_request *request)
{
	char *const *texts = list->items;
	char at[64];

	for (size_t i = 0; i < list->count; i++) {
		snprintf(at, sizeof(at), "%s[%zu]", option, i);
		rm_connect_daemon(connect, at, texts[i], request, NULL, 0);
	}
}

static void
connect_peers(struct rm_connect *connect, const struct aggregator_config *config)
{
	const struct aggregator_tor_config *tors = config->tors.items;

	for (size_t i = 0; i < config->tors.count; i++) {
		const struct rm_request request = {
			.verb = RM_VERB_PEER_SESSION,
			.region = config->region,
			.name = tors[i].peer_name,
			.tor = tors[i].name,
		};
		char at[64];

		snprintf(at, sizeof(at), "tors[%zu].peer.address", i);
		if (tors[i].peer_name[0] != '\0')
			rm_connect_daemon(
			    connect, at, tors[i].peer_address, &request, NULL, 0);
	}
}

static void
connect_each(struct rm_connect *connect, const struct aggregator_config *config)
{
	const struct rm_request plans = {
		.verb = RM_VERB_SERVE_AGGREGATOR,
		.region = config->region,
	};
	const struct rm_request lanes = {
		.verb = RM_VERB_SERVE_LANES,
		.region = config->region,
	};

	connect_list(connect, "controllers", &config->controllers, &plans);
	connect_list(connect, "analyzers", &config->analyzers, &lanes);
	connect_peers(connect, config);
	rm_connect_urls(connect, "alerts.alertmanagers", &config->alerts.alertmanagers,
	    RM_CONNECT_ALERTMANAGER, &config->alerts.origin);
	rm_connect_urls(connect, "alerts.webhooks", &config->alerts.webhooks, NULL,
	    &config->alerts.origin);
	if (config->otlp.url[0] != '\0')
		rm_connect_url(
		    connect, "otlp.url", config->otlp.url, NULL, &config->otlp.origin);
	rm_connect_run(connect);
}

static void
connect_all(struct rm_check *check, const struct aggregator_config *config,
    const struct rm_identity_claim *claim)
{
	struct wire_tor_state tors[WIRE_MAX_TORS] = { 0 };
	const struct wire_hello hello = {
		.role = WIRE_ROLE_CHECK,
		.version_min = WIRE_VERSION,
		.version_max = WIRE_VERSION,
		.region = config->region,
		.id = config->name,
		.tors = tors,
		.tor_count = claim->tor_count,
	};
	struct wire_writer *writer = wire_writer_new();
	struct rm_connect *connect = NULL;
	struct wire_bytes bytes;

	for (size_t i = 0; i < claim->tor_count; i++)
		tors[i].tor = claim->tors[i];
	if (writer != NULL && wire_write_hello(writer, &hello, &bytes) == 0)
		connect = rm_connect_new(check, &config->credentials,
		    &(struct rm_connect_messages){
			bytes.data, bytes.len, open_answer });
	if (connect != NULL)
		connect_each(connect, config);
	rm_connect_free(connect);
	wire_writer_free(writer);
}

unsigned
aggregator_check(const void *arg, bool connect)
{
	const struct aggregator_config *config = arg;
	const struct rm_http_places places = { config->http_listen, config->http_socket,
		config->https_listen, config->http_tokens };
	const char *tors[WIRE_MAX_TORS];
	const struct rm_identity_claim claim = aggregator_claim(config, tors);
	struct rm_check check = { .path = config->path };

	rm_check_credentials(&check, &config->credentials, &claim, config->name);
	rm_check_folder(&check, "state_folder", config->state_folder);
	rm_check_listen(&check, "listen", config->listen);
	rm_check_http(&check, &places, &config->credentials);
	rm_check_peers(&check, "controllers", &config->controllers);
	rm_check_peers(&check, "analyzers", &config->analyzers);
	check_peers(&check, config);
	check_plans(&check, config, tors);
	check_collectors(&check, config);
	rm_check_urls(&check, "alerts.alertmanagers", &config->alerts.alertmanagers);
	rm_check_urls(&check, "alerts.webhooks", &config->alerts.webhooks);
	rm_check_origin(&check, "alerts", &config->alerts.origin);
	rm_check_url(&check, "otlp.url", config->otlp.url);
	rm_check_origin(&check, "otlp", &config->otlp.origin);
	if (connect)
		connect_all(&check, config, &claim);
	return check.errors;
}
