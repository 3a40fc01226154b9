#include "region-controller/controller_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/check/check.h"
#include "rackmesh/check/connect.h"
#include "rackmesh/topology/topology.h"
#include "region-controller/controller_config.h"
#include "region-controller/registry/probe_keys.h"
#include "region-controller/store/store_file.h"

struct rm_identity_claim
controller_claim(const struct controller_config *config)
{
	return (struct rm_identity_claim){
		.role = RM_ROLE_CONTROLLER,
		.region = config->region,
	};
}

static void
check_topology(struct rm_check *check, const struct controller_config *config)
{
	const struct rm_topology *topology;
	struct store *store = NULL;
	struct rm_error error = { 0 };
	size_t tors = 0;

	if (store_file_new(
		config->topology, config->name, config->region, &store, &error) < 0) {
		rm_check_error(check, "topology", "%s", error.text);
		return;
	}
	topology = store_topology(store);
	for (size_t i = 0; i < rm_topology_warnings(topology); i++)
		rm_check_warn(
		    check, "topology", "%s", rm_topology_warning(topology, i));
	for (size_t i = 0; i < rm_topology_switches(topology); i++)
		tors += rm_topology_switch(topology, i)->role == RM_SWITCH_TOR;
	printf("%s: good, %zu ToRs of %zu switches, %zu links\n", config->topology,
	    tors, rm_topology_switches(topology), rm_topology_links(topology));
	store_free(store);
}

static void
check_etcd(struct rm_check *check, const struct controller_config *config)
{
	struct rm_error error = { 0 };
	char *password = NULL;

	if (controller_config_unused_topology(config))
		rm_check_warn(check, "topology", CONTROLLER_UNUSED_TOPOLOGY);
	if (controller_config_password(config, &password, &error) < 0)
		rm_check_error(check, "etcd.password_file", "%s", error.text);
	free(password);
	rm_check_urls(check, "etcd.endpoints", &config->etcd.endpoints);
	rm_check_origin(check, "etcd", &config->etcd.origin);
}

static void
check_secret(struct rm_check *check, const struct controller_config *config)
{
	struct probe_keys *keys = NULL;
	struct rm_error error = { 0 };

	if (config->keys_secret_file[0] != '\0' &&
	    probe_keys_new(
		config->keys_secret_file, config->keys_epoch_s, &error, &keys) < 0)
		rm_check_error(check, "probe_keys.secret_file", "%s", error.text);
	probe_keys_free(keys);
}

static void
connect_all(struct rm_check *check, const struct controller_config *config)
{
	struct rm_connect *connect = rm_connect_new(check, &config->credentials, NULL);

	if (connect == NULL)
		return;
	rm_connect_urls(connect, "etcd.endpoints", &config->etcd.endpoints, "/health",
	    &config->etcd.origin);
	rm_connect_run(connect);
	rm_connect_free(connect);
}

unsigned
controller_check(const void *arg, bool connect)
{
	const struct controller_config *config = arg;
	const struct rm_http_places places = { config->http_listen, config->http_socket,
		config->https_listen, config->http_tokens };
	const struct rm_identity_claim claim = controller_claim(config);
	struct rm_check check = { .path = config->path };

	rm_check_credentials(&check, &config->credentials, &claim, config->name);
	rm_check_listen(&check, "listen", config->listen);
	rm_check_http(&check, &places, &config->credentials);
	if (config->etcd.endpoints.count > 0)
		check_etcd(&check, config);
	else
		check_topology(&check, config);
	check_secret(&check, config);
	if (connect)
		connect_all(&check, config);
	return check.errors;
}
