/* The HTTP face: where it listens. */
#include "rackmesh/core/log.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/metrics/metrics.h"
#include "tor-aggregator/aggregator_config.h"
#include "tor-aggregator/api/aggregator_api.h"
#include "tor-aggregator/api/aggregator_metrics.h"
#include "tor-aggregator/tor_aggregator_state.h"

int
tor_aggregator_serve_http(struct tor_aggregator *aggregator)
{
	const struct aggregator_config *config = aggregator->config;
	const struct rm_http_places places = { config->http_listen, config->http_socket,
		config->https_listen };
	struct rm_why why = { 0 };
	int r;

	r = rm_metrics_new(&aggregator->metrics);
	if (r == 0)
		r = aggregator_metrics_register(aggregator, aggregator->metrics);
	if (r == 0)
		r = rm_credentials_metrics(
		    aggregator->credentials, aggregator->metrics);
	if (r == 0)
		r = rm_http_server_new(aggregator->loop, &aggregator->server);
	if (r == 0)
		r = rm_metrics_counter(aggregator->metrics, aggregator->server,
		    "rackmesh_aggregator_http_full_total", "",
		    "Times that newcomers over HTTP had to wait to be accepted.",
		    rm_http_server_full(aggregator->server));
	if (r == 0)
		r = rm_metrics_counter(aggregator->metrics, aggregator->server,
		    "rackmesh_aggregator_http_late_total", "",
		    "Connections over HTTP whose request or answer took too long.",
		    rm_http_server_late(aggregator->server));
	if (r == 0)
		r = aggregator_api_serve(aggregator, aggregator->server);
	if (r < 0) {
		rm_log_error(r, "cannot prepare the HTTP server");
		return r;
	}
	r = rm_http_places_listen(aggregator->server, &places,
	    rm_credentials_tls(aggregator->credentials), config->region, &why);
	if (r < 0)
		rm_log_error(0, "%s", why.text);
	return r;
}
