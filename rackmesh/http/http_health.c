/* What every daemon answers: /metrics, /healthz, /readyz. */
#include <errno.h>
#include <event2/buffer.h>
#include <stdlib.h>

#include "rackmesh/http/http_health.h"
#include "rackmesh/http/http_request.h"
#include "rackmesh/metrics/metrics.h"

static void
health_metrics(struct rm_http_request *request, void *arg)
{
	const struct rm_http_health *health = arg;
	struct evbuffer *body = evbuffer_new();
	bool built = body != NULL && rm_metrics_render(health->metrics, body) == 0;

	rm_http_reply_buffer(request, 200, "text/plain; version=0.0.4; charset=utf-8",
	    built ? body : NULL);
	if (body != NULL)
		evbuffer_free(body);
}

/* That this runs at all is the answer: the loop turns. */
static void
health_alive(struct rm_http_request *request, void *arg)
{
	rm_http_reply_json(request, 200, json_pack("{s:b}", "healthy", 1));
}

static void
health_ready(struct rm_http_request *request, void *arg)
{
	const struct rm_http_health *health = arg;
	char sentence[256] = "";
	bool ready = health->ready(sentence, sizeof(sentence), health->arg);

	rm_http_reply_json(request, ready ? 200 : 503,
	    json_pack("{s:b, s:s}", "ready", ready, "why", sentence));
}

int
rm_http_serve_health(struct rm_http_server *server, const struct rm_metrics *metrics,
    bool (*ready)(char *sentence, size_t len, void *arg), void *arg)
{
	struct rm_http_health *health = rm_http_server_health(server);
	int r;

	*health = (struct rm_http_health){ metrics, ready, arg };
	r = rm_http_route(server, RM_HTTP_READ, "/metrics", health_metrics, health);
	if (r == 0)
		r = rm_http_route(
		    server, RM_HTTP_READ, "/healthz", health_alive, health);
	if (r == 0)
		r = rm_http_route(
		    server, RM_HTTP_READ, "/readyz", health_ready, health);
	return r;
}
