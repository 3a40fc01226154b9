#include "host-agent/agent_check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host-agent/agent_config.h"
#include "rackmesh/check/check.h"

struct rm_identity_claim
agent_claim(const struct agent_config *config)
{
	return (struct rm_identity_claim){
		.role = RM_ROLE_AGENT,
		.region = config->region,
		.name = config->host,
	};
}

/* The agent waits for what is not there yet, so nothing of this is an error. */
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
		rm_check_warn(check, at, "cannot look at it: %s", strerror(-r));
}

unsigned
agent_check(const void *arg, bool connect)
{
	const struct agent_config *config = arg;
	const struct agent_aggregator_config *aggregators = config->aggregators.items;
	const struct rm_http_places places = { config->http_listen, config->http_socket,
		config->https_listen };
	const struct rm_identity_claim claim = agent_claim(config);
	struct rm_check check = { .path = config->path };

	rm_check_credentials(&check, &config->credentials, &claim, config->host);
	rm_check_folder(&check, "state_folder", config->state_folder);
	rm_check_http(&check, &places, &config->credentials);
	for (size_t i = 0; i < config->aggregators.count; i++) {
		char at[64];

		snprintf(at, sizeof(at), "aggregators[%zu].address", i);
		rm_check_peer(&check, at, aggregators[i].address);
	}
	for (size_t i = 0; i < config->rnics.count; i++)
		check_device(&check, config, i);
	(void)connect;
	return check.errors;
}
