/* The HTTP face: where it listens, and what a person may do there. */
#include <stdio.h>

#include "host-agent/host_agent_state.h"
#include "host-agent/tracing.h"
#include "rackmesh/base/address.h"
#include "rackmesh/base/http_server.h"
#include "rackmesh/base/log.h"
#include "rackmesh/base/metrics.h"

static void
agent_pause(bool paused, void *arg)
{
	struct host_agent *agent = arg;

	if (agent->paused != paused)
		rm_log_info("probing %s", paused ? "paused" : "resumed");
	agent->paused = paused;
	for (size_t i = 0; i < agent->rnic_count; i++)
		rnic_pause(agent->rnics[i], paused);
	agent_tune_tracing(agent);
}

static int
agent_listen(struct host_agent *agent, const char *prefix, const char *where)
{
	struct rm_address address;
	char text[RM_ADDRESS_TEXT];
	int r;

	if (where[0] == 0)
		return 0;
	snprintf(text, sizeof(text), "%s%s", prefix, where);
	r = rm_address_parse(text, -1, &address);
	if (r == 0)
		r = rm_http_server_listen(agent->http, &address);
	if (r < 0)
		rm_log_error(r, "cannot listen on %s", text);
	return r;
}

static int
agent_listen_tls(struct host_agent *agent)
{
	const char *where = agent->config.https_listen;
	int r = rm_https_listen(agent->http, where,
	    rm_credentials_tls(agent->credentials), agent->config.region);

	if (r < 0)
		rm_log_error(r, "cannot serve HTTPS on %s", where);
	return r;
}

int
agent_serve_http(struct host_agent *agent)
{
	int r;

	agent->api = (struct agent_api){
		.host = agent->config.host,
		.rnics = agent->rnics,
		.rnic_count = agent->rnic_count,
		.uplinks = agent->uplinks,
		.uplink_count = agent->uplink_count,
		.plans = agent->plans,
		.tracer = tracing_tracer(agent->tracing),
		.services = agent->services,
		.paused = &agent->paused,
		.brake = &agent->brake_now,
		.limit = &agent->limit,
		.pause = agent_pause,
		.arg = agent,
	};
	r = rm_http_server_new(agent->loop, &agent->http);
	if (r == 0)
		r = rm_metrics_counter(agent->metrics, agent->http,
		    "rackmesh_agent_http_full_total", "",
		    "Times that newcomers over HTTP had to wait to be accepted.",
		    rm_http_server_full(agent->http));
	if (r == 0)
		r = rm_metrics_counter(agent->metrics, agent->http,
		    "rackmesh_agent_http_late_total", "",
		    "Connections over HTTP whose request or answer took too long.",
		    rm_http_server_late(agent->http));
	if (r == 0)
		r = agent_api_serve(agent->http, agent->metrics, &agent->api);
	if (r == 0)
		r = agent_listen(agent, "", agent->config.http_listen);
	if (r == 0)
		r = agent_listen(agent, "unix:", agent->config.http_socket);
	if (r == 0)
		r = agent_listen_tls(agent);
	return r;
}
