/* The HTTP face: where it listens, and what a person may do there. */
#include "host-agent/host_agent_state.h"
#include "host-agent/trace/tracing.h"
#include "rackmesh/core/log.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/metrics/metrics.h"

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

int
agent_serve_http(struct host_agent *agent)
{
	const struct rm_http_places places = { agent->config.http_listen,
		agent->config.http_socket, agent->config.https_listen };
	struct rm_why why = { 0 };
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
	if (r < 0)
		return r;
	r = rm_http_places_listen(agent->http, &places,
	    rm_credentials_tls(agent->credentials), agent->config.region, &why);
	if (r < 0)
		rm_log_error(0, "%s", why.text);
	return r;
}
