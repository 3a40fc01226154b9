/*
 * http_health - what a server keeps for /metrics and /readyz; private to it.
 */
#ifndef RACKMESH_HTTP_HTTP_HEALTH_H
#define RACKMESH_HTTP_HTTP_HEALTH_H

#include "rackmesh/http/http_server.h"

struct rm_http_health {
	const struct rm_metrics *metrics;
	bool (*ready)(char *sentence, size_t len, void *arg);
	void *arg;
};

/* The one place for it inside the server; lives as long. */
struct rm_http_health *rm_http_server_health(struct rm_http_server *server);

#endif
