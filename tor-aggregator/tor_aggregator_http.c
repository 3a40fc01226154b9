/* The HTTP face: where it listens. */
#include <stdio.h>

#include "rackmesh/base/address.h"
#include "rackmesh/base/http_server.h"
#include "rackmesh/base/log.h"
#include "rackmesh/base/metrics.h"
#include "tor-aggregator/aggregator_api.h"
#include "tor-aggregator/aggregator_config.h"
#include "tor-aggregator/aggregator_metrics.h"
#include "tor-aggregator/tor_aggregator_state.h"

int
tor_aggregator_serve_http(struct tor_aggregator *aggregator)
{
	const char *const places[] = { aggregator->config->http_listen,
		aggregator->config->http_socket };
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
	if (r < 0)
		rm_log_error(r, "cannot prepare the HTTP server");
	for (size_t i = 0; r == 0 && i < 2; i++) {
		struct rm_address address;
		char text[512];

		if (places[i][0] == 0)
			continue;
		snprintf(text, sizeof(text), "%s%s", i == 1 ? "unix:" : "", places[i]);
		r = rm_address_parse(text, -1, &address);
		if (r == 0)
			r = rm_http_server_listen(aggregator->server, &address);
		if (r < 0)
			rm_log_error(r, "cannot serve HTTP on %s", text);
	}
	if (r < 0)
		return r;
	r = rm_https_listen(aggregator->server, aggregator->config->https_listen,
	    rm_credentials_tls(aggregator->credentials), aggregator->config->region);
	if (r < 0)
		rm_log_error(
		    r, "cannot serve HTTPS on %s", aggregator->config->https_listen);
	return r;
}
