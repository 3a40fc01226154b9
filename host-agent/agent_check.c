#include "host-agent/agent_check.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host-agent/agent_config.h"
#include "host-agent/kubernetes/kubelet.h"
#include "host-agent/rnic/rdma_facts.h"
#include "rackmesh/check/check.h"
#include "rackmesh/check/connect.h"
#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"
#include "schemas/wire.h"

struct rm_identity_claim
agent_claim(const struct agent_config *config)
{
	return (struct rm_identity_claim){
		.role = RM_ROLE_AGENT,
		.region = config->region,
		.name = config->host,
	};
}

/* Checks that the network namespace of the config exists: otherwise no RNIC is
 * found. */
static void
check_netns(struct rm_check *check, const struct agent_config *config)
{
	char path[PATH_MAX];

	if (config->netns == NULL)
		return;
	snprintf(path, sizeof(path), "%s%s",
	    strchr(config->netns, '/') == NULL ? "/run/netns/" : "", config->netns);
	if (access(path, F_OK) < 0)
		rm_check_warn(check, "netns",
		    "%s: %s; create the network namespace (ip netns add), or correct "
		    "its name",
		    path, strerror(errno));
}

/* Gives warnings only, no errors: the agent waits for a device that does not
 * exist yet. */
static void
check_device(struct rm_check *check, const struct agent_config *config, size_t i)
{
	const struct rnic_place place = agent_rnic_place(config, i);
	struct rnic_facts facts;
	char at[64];
	int r = rnic_facts_find(&place, &facts);

	if (r == 0)
		return;
	snprintf(at, sizeof(at), "rnics[%zu].device", i);
	if (r == -ENODEV)
		rm_check_warn(check, at,
		    "no such device on this host yet; the agent waits for it");
	else if (r == -EADDRNOTAVAIL)
		rm_check_warn(check, at,
		    "it has no address to probe from yet; the agent waits for it");
	else
		rm_check_warn(check, at, "cannot examine it: %s", rdma_facts_error(r));
}

static void
check_kubernetes(struct rm_check *check, const struct agent_config *config)
{
	const char *token_file = config->kubernetes_origin.token_file;
	struct rm_error error;

	rm_check_url(check, "kubernetes.kubelet", config->kubernetes_kubelet);
	rm_check_origin(check, "kubernetes", &config->kubernetes_origin);
	if (token_file[0] != '\0' && rm_file_check_secret(token_file, &error) < 0)
		rm_check_error(check, "kubernetes.token_file", "%s", error.text);
}

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

#define MAX_TORS (WIRE_MAX_HOST_RNICS * WIRE_MAX_ATTACHMENTS)

/* The ToRs of this host's RNICs that the aggregator has to serve. */
static size_t
served_tors(const struct agent_config *config,
    const struct agent_aggregator_config *aggregator, const char *ret[MAX_TORS])
{
	const struct agent_rnic_config *rnics = config->rnics.items;
	size_t count = 0;

	for (size_t i = 0; i < config->rnics.count; i++)
		for (size_t t = 0; t < agent_rnic_tor_count(&rnics[i]); t++) {
			const char *tor = agent_rnic_tor(&rnics[i], t);

			if (agent_aggregator_serves(aggregator, tor))
				ret[count++] = tor;
		}
	return count;
}

static void
connect_aggregators(struct rm_connect *connect, const struct agent_config *config,
    const char *(*tors)[MAX_TORS])
{
	const struct agent_aggregator_config *list = config->aggregators.items;
	const struct rm_request request = {
		.verb = RM_VERB_SERVE_AGENT,
		.region = config->region,
	};

	for (size_t i = 0; i < config->aggregators.count; i++) {
		char at[64];

		snprintf(at, sizeof(at), "aggregators[%zu].address", i);
		rm_connect_daemon(connect, at, list[i].address, &request, tors[i],
		    served_tors(config, &list[i], tors[i]));
	}
	if (config->kubernetes_kubelet[0] != '\0')
		rm_connect_url(connect, "kubernetes.kubelet",
		    config->kubernetes_kubelet, KUBELET_PAGE,
		    &config->kubernetes_origin);
	rm_connect_run(connect);
}

static void
connect_all(struct rm_check *check, const struct agent_config *config)
{
	const struct wire_hello hello = {
		.role = WIRE_ROLE_CHECK,
		.version_min = WIRE_VERSION,
		.version_max = WIRE_VERSION,
		.region = config->region,
		.id = config->host,
	};
	const char *(*tors)[MAX_TORS] =
	    calloc(config->aggregators.count, sizeof(*tors));
	struct wire_writer *writer = wire_writer_new();
	struct rm_connect *connect = NULL;
	struct wire_bytes bytes;

	if (tors != NULL && writer != NULL &&
	    wire_write_hello(writer, &hello, &bytes) == 0)
		connect = rm_connect_new(check, &config->credentials,
		    &(struct rm_connect_messages){
			bytes.data, bytes.len, open_answer });
	if (connect != NULL)
		connect_aggregators(connect, config, tors);
	rm_connect_free(connect);
	wire_writer_free(writer);
	free(tors);
}

unsigned
agent_check(const void *arg, bool connect)
{
	const struct agent_config *config = arg;
	const struct agent_aggregator_config *aggregators = config->aggregators.items;
	const struct agent_rnic_config *rnics = config->rnics.items;
	const struct rm_http_places places = { config->http_listen, config->http_socket,
		config->https_listen, config->http_tokens };
	const struct rm_identity_claim claim = agent_claim(config);
	struct rm_check check = { .path = config->path };

	rm_check_credentials(&check, &config->credentials, &claim, config->host);
	rm_check_folder(&check, "state_folder", config->state_folder);
	rm_check_http(&check, &places, &config->credentials);
	rm_check_peers(&check, "controllers", &config->controllers);
	check_kubernetes(&check, config);
	check_netns(&check, config);
	for (size_t i = 0; i < config->aggregators.count; i++) {
		char at[64];

		snprintf(at, sizeof(at), "aggregators[%zu].address", i);
		rm_check_peer(&check, at, aggregators[i].address);
	}
	for (size_t i = 0; i < config->rnics.count; i++)
		if (!agent_rnic_is_pattern(&rnics[i]))
			check_device(&check, config, i);
	if (connect)
		connect_all(&check, config);
	return check.errors;
}
