/* The HTTP server: its routes, and requests, each of which must be answered once. */
#include <errno.h>
#include <event2/buffer.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/config/yaml.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/metrics/metrics.h"
#include "tests/support/fake_world_parts.h"

#define MAX_ROUTES 64
#define MAX_DEFERRED 32
#define MAX_QUERY 8

struct rm_http_request {
	struct rm_http_server *server;
	const char *rest;
	const char *keys[MAX_QUERY], *values[MAX_QUERY];
	size_t query_count;
	const char *body;
	size_t body_len;
	int status;     /* 0: not answered yet */
	uint64_t token; /* 0: not deferred */
	struct rm_timer *timer;
};

struct rm_http_server {
	struct rm_loop *loop;
	struct {
		enum rm_http_verb verb;
		char *path;
		rm_http_handler *handler;
		void *arg;
	} routes[MAX_ROUTES];
	size_t count;
	struct rm_http_request *deferred[MAX_DEFERRED];
	uint64_t last_token, full, late, misdirected;
	const struct rm_metrics *metrics;
	bool (*ready)(char *sentence, size_t len, void *arg);
	void *arg;
};

static struct rm_http_server *server;

void
fake_http_end(void)
{
	if (server != NULL)
		abort();
}

/* ---- the server ----------------------------------------------------------------- */

int
rm_http_server_new(struct rm_loop *loop, struct rm_http_server **ret)
{
	if (server != NULL)
		abort();
	server = calloc(1, sizeof(*server));
	if (server == NULL)
		return -ENOMEM;
	server->loop = loop;
	*ret = server;
	return 0;
}

void
rm_http_server_free(struct rm_http_server *gone)
{
	if (gone == NULL)
		return;
	for (size_t i = 0; i < MAX_DEFERRED; i++)
		rm_http_reply_error(gone->deferred[i], 503, "shutting down");
	for (size_t i = 0; i < gone->count; i++)
		free(gone->routes[i].path);
	free(gone);
	server = NULL;
}

int
rm_http_server_listen(struct rm_http_server *to, const struct rm_address *address)
{
	return 0;
}

int
rm_http_server_listen_tls(
    struct rm_http_server *to, const struct rm_address *address, struct rm_tls *tls)
{
	return 0;
}

void
rm_http_server_authorise(struct rm_http_server *to,
    bool (*allows)(const char *identity, enum rm_http_verb verb, char *reason,
	size_t len, void *arg),
    void *arg)
{
}

void
rm_http_server_tokens(struct rm_http_server *to,
    int (*finds)(const char *token, char identity[RM_TLS_MAX_IDENTITY], void *arg),
    void *arg)
{
}

int
rm_http_server_port(const struct rm_http_server *of)
{
	return 1;
}

int
rm_http_server_tls_port(const struct rm_http_server *of)
{
	return 1;
}

void
rm_http_server_max_body(struct rm_http_server *of, size_t bytes)
{
}

const uint64_t *
rm_http_server_full(const struct rm_http_server *of)
{
	return &of->full;
}

const uint64_t *
rm_http_server_late(const struct rm_http_server *of)
{
	return &of->late;
}

const uint64_t *
rm_http_server_misdirected(const struct rm_http_server *of)
{
	return &of->misdirected;
}

void
rm_http_server_names(struct rm_http_server *to, const struct rm_list *names)
{
}

int
rm_http_route(struct rm_http_server *to, enum rm_http_verb verb, const char *path,
    rm_http_handler *handler, void *arg)
{
	char *copy = strdup(path);

	if (to->count == MAX_ROUTES)
		abort();
	if (copy == NULL)
		return -ENOMEM;
	to->routes[to->count].verb = verb;
	to->routes[to->count].path = copy;
	to->routes[to->count].handler = handler;
	to->routes[to->count++].arg = arg;
	return 0;
}

static void
get_metrics(struct rm_http_request *request, void *arg)
{
	struct evbuffer *body = evbuffer_new();

	if (body == NULL || rm_metrics_render(request->server->metrics, body) < 0)
		rm_http_reply_error(request, 500, "out of memory");
	else
		rm_http_reply_plain(request, 200, "", 0);
	if (body != NULL)
		evbuffer_free(body);
}

static void
get_ready(struct rm_http_request *request, void *arg)
{
	char sentence[256] = "";
	bool ready =
	    request->server->ready(sentence, sizeof(sentence), request->server->arg);

	rm_http_reply_json(request, ready ? 200 : 503,
	    json_pack("{s:b, s:s}", "ready", ready, "reason", sentence));
}

int
rm_http_serve_health(struct rm_http_server *to, const struct rm_metrics *metrics,
    bool (*ready)(char *sentence, size_t len, void *arg), void *arg)
{
	int r = rm_http_route(to, RM_HTTP_READ, "/metrics", get_metrics, NULL);

	to->metrics = metrics;
	to->ready = ready;
	to->arg = arg;
	return r < 0 ? r : rm_http_route(to, RM_HTTP_READ, "/readyz", get_ready, NULL);
}

/* ---- a request ------------------------------------------------------------------ */

const char *
rm_http_identity(const struct rm_http_request *request)
{
	return "";
}

const char *
rm_http_path_rest(const struct rm_http_request *request)
{
	return request->rest;
}

const char *
rm_http_query(const struct rm_http_request *request, const char *key)
{
	for (size_t i = 0; i < request->query_count; i++)
		if (strcmp(request->keys[i], key) == 0)
			return request->values[i];
	return NULL;
}

bool
rm_http_query_number(struct rm_http_request *request, const char *key, uint64_t least,
    uint64_t most, uint64_t *value)
{
	const char *text = rm_http_query(request, key);
	uint64_t number;

	if (text == NULL)
		return true;
	if (rm_yaml_number(text, &number) && number >= least && number <= most) {
		*value = number;
		return true;
	}
	rm_http_reply_error(request, 400, "%s: expected a whole number", key);
	return false;
}

const char *
rm_http_body(const struct rm_http_request *request, size_t *len)
{
	*len = request->body_len;
	return request->body;
}

/* ---- its answer ----------------------------------------------------------------- */

static void
answer(struct rm_http_request *request, int status)
{
	if (request->status != 0 || status < 200 || status > 599)
		abort(); /* answered twice, or with an invalid status */
	request->status = status;
	if (request->token == 0)
		return;
	for (size_t i = 0; i < MAX_DEFERRED; i++)
		if (request->server->deferred[i] == request)
			request->server->deferred[i] = NULL;
	rm_timer_free(request->timer);
	free(request);
}

void
rm_http_reply_json(struct rm_http_request *request, int status, json_t *takes)
{
	char *text = takes == NULL ? NULL : json_dumps(takes, JSON_COMPACT);

	if (text == NULL)
		abort(); /* not valid JSON, for example because a text is not UTF-8 */
	free(text);
	json_decref(takes);
	if (request != NULL)
		answer(request, status);
}

void
rm_http_reply_text(
    struct rm_http_request *request, int status, const char *json, size_t len)
{
	json_t *copy = json_loadb(json, len, JSON_DECODE_ANY, NULL);

	json_decref(copy);
	if (request != NULL)
		answer(request, status);
}

void
rm_http_reply_plain(
    struct rm_http_request *request, int status, const char *text, size_t len)
{
	if (request != NULL)
		answer(request, status);
}

void
rm_http_reply_file(struct rm_http_request *request, const struct rm_http_file *file)
{
	if (request != NULL)
		answer(request, 200);
}

void
rm_http_reply_error(
    struct rm_http_request *request, int status, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (request != NULL)
		answer(request, status);
}

static void
on_timeout(void *arg)
{
	rm_http_reply_error(arg, 504, "no answer in time");
}

int
rm_http_defer(struct rm_http_request *request, int64_t timeout_ns, uint64_t *token)
{
	struct rm_http_server *of = request->server;
	struct rm_http_request *copy;
	size_t i = 0;

	if (request->status != 0)
		return -EALREADY;
	while (i < MAX_DEFERRED && of->deferred[i] != NULL)
		i++;
	if (i == MAX_DEFERRED)
		return -EAGAIN;
	copy = calloc(1, sizeof(*copy));
	if (copy == NULL ||
	    rm_timer_new(of->loop, on_timeout, copy, &copy->timer) < 0) {
		free(copy);
		return -ENOMEM;
	}
	rm_timer_after(copy->timer, timeout_ns);
	copy->server = of;
	copy->token = request->token = ++of->last_token;
	of->deferred[i] = copy;
	*token = copy->token;
	return 0;
}

struct rm_http_request *
rm_http_deferred(struct rm_http_server *of, uint64_t token)
{
	for (size_t i = 0; i < MAX_DEFERRED; i++)
		if (of->deferred[i] != NULL && of->deferred[i]->token == token)
			return of->deferred[i];
	return NULL;
}

/* ---- sending a request ---------------------------------------------------------- */

static void
cut_query(struct rm_http_request *request, char *text)
{
	char *save = NULL;

	for (char *pair = strtok_r(text, "&", &save);
	     pair != NULL && request->query_count < MAX_QUERY;
	     pair = strtok_r(NULL, "&", &save)) {
		char *value = strchr(pair, '=');

		if (value != NULL)
			*value++ = '\0';
		request->keys[request->query_count] = pair;
		request->values[request->query_count++] = value != NULL ? value : "";
	}
}

int
fake_world_ask(enum rm_http_verb verb, const char *path, const char *query,
    const char *body, size_t body_len)
{
	struct rm_http_request request = {
		.server = server, .rest = "", .body = body, .body_len = body_len
	};
	char *copy = strdup(query);
	size_t best = MAX_ROUTES, longest = 0;

	if (copy == NULL)
		return 0;
	cut_query(&request, copy);
	for (size_t i = 0; i < server->count; i++) {
		const char *route = server->routes[i].path;
		const size_t len = strlen(route);
		const bool fits = route[len - 1] == '/' ? strncmp(path, route, len) == 0
							: strcmp(path, route) == 0;

		if (server->routes[i].verb == verb && fits && len > longest) {
			best = i;
			longest = len;
		}
	}
	if (best == MAX_ROUTES) {
		rm_http_reply_error(&request, 404, "no such path");
	} else {
		request.rest = path + longest;
		server->routes[best].handler(&request, server->routes[best].arg);
	}
	/* A deferred request has no status yet; any other must have one. */
	if ((request.status == 0) == (request.token == 0))
		abort();
	free(copy);
	return request.status;
}
