#include "rackmesh/http/http_server.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/log.h"
#include "rackmesh/http/http_host.h"
#include "rackmesh/http/http_listener.h"
#include "rackmesh/http/http_request.h"
#include "rackmesh/http/http_token.h"
#include "rackmesh/http/own_names.h"
#include "rackmesh/metrics/metrics.h"

struct rm_http_health {
	const struct rm_metrics *metrics;
	bool (*ready)(char *sentence, size_t len, void *arg);
	void *arg;
};

#define SERVER_MAX_ROUTES 64
#define READ_METHODS (EVHTTP_REQ_GET | EVHTTP_REQ_HEAD)

struct route {
	enum rm_http_verb verb;
	char *path;
	rm_http_handler *handler;
	void *arg;
};

struct rm_http_server {
	struct rm_loop *loop;
	/* TCP and Unix sockets have separate listeners, because evhttp does not report
	 * from which socket a request came. Separate listeners also keep the Unix
	 * socket usable for an operator while all TCP connections are in use. */
	struct rm_http_listener *tcp, *local;
	/* the listener for TLS; NULL until it is configured */
	struct rm_http_listener *sealed;
	bool (*allows)(const char *identity, enum rm_http_verb verb, char *reason,
	    size_t len, void *arg);
	void *allows_arg;
	int (*finds)(const char *token, char identity[RM_TLS_MAX_IDENTITY], void *arg);
	void *finds_arg;
	size_t max_body; /* 0: the default of the listener */
	struct rm_http_defers *defers;
	struct route routes[SERVER_MAX_ROUTES];
	size_t route_count;
	struct rm_http_health health;
	char local_at[RM_ADDRESS_TEXT]; /* path of the Unix socket, or "": none */
	struct http_listener_counts counts;
	struct own_names own;
	const struct rm_list *names;
	uint64_t misdirected;
};

/* The health of this server; it lives as long as the server. */
static struct rm_http_health *
rm_http_server_health(struct rm_http_server *server)
{
	return &server->health;
}

const uint64_t *
rm_http_server_full(const struct rm_http_server *server)
{
	return &server->counts.full;
}

const uint64_t *
rm_http_server_late(const struct rm_http_server *server)
{
	return &server->counts.late;
}

const uint64_t *
rm_http_server_misdirected(const struct rm_http_server *server)
{
	return &server->misdirected;
}

void
rm_http_server_names(struct rm_http_server *server, const struct rm_list *names)
{
	server->names = names;
}

/* Returns the part of path after the route; NULL: the route does not match. */
static const char *
route_match(const struct route *route, const char *path)
{
	size_t len = strlen(route->path);

	if (route->path[len - 1] == '/')
		return strncmp(path, route->path, len) == 0 ? path + len : NULL;
	return strcmp(path, route->path) == 0 ? "" : NULL;
}

static const struct route *
server_find(const struct rm_http_server *server, struct rm_http_request *request,
    bool read, bool change, bool *known)
{
	const struct route *best = NULL;

	*known = false;
	for (size_t i = 0; i < server->route_count; i++) {
		const struct route *route = &server->routes[i];
		const char *rest = route_match(route, request->path);

		if (rest == NULL)
			continue;
		*known = true;
		if (!(route->verb == RM_HTTP_CHANGE ? change : read))
			continue;
		if (best != NULL && strlen(best->path) >= strlen(route->path))
			continue;
		best = route;
		request->rest = rest;
	}
	return best;
}

/* This header makes a browser ask its user for a name and a token. Requests of scripts
 * (they have a Fetch Metadata header) do not get it: the page sends one each second, so
 * the dialog would appear again and again. The page then reports that its token is not
 * valid any more. */
static void
server_asks_for_token(struct rm_http_request *request, const char *sentence)
{
	const char *purpose = evhttp_find_header(
	    evhttp_request_get_input_headers(request->req), "Sec-Fetch-Dest");
	const bool is_script = purpose != NULL && strcmp(purpose, "empty") == 0;

	evhttp_add_header(evhttp_request_get_output_headers(request->req),
	    "WWW-Authenticate",
	    is_script ? "Bearer realm=\"Rackmesh\""
		      : "Basic realm=\"Rackmesh\", charset=\"UTF-8\"");
	rm_http_reply_error(request, 401, "%s", sentence);
}

/* Checks the token of a client without a certificate. False: the request was
 * answered. */
static bool
server_takes_token(struct rm_http_server *server, struct rm_http_request *request,
    char identity[RM_TLS_MAX_IDENTITY])
{
	struct rm_tls *tls = rm_http_listener_tls(server->sealed);
	const char *header = evhttp_find_header(
	    evhttp_request_get_input_headers(request->req), "Authorization");
	char token[RM_HTTP_MAX_TOKEN] = "";
	int r = -EACCES;

	if (server->finds != NULL) {
		r = http_token_of(header, token);
		if (r == 0)
			r = server->finds(token, identity, server->finds_arg);
		OPENSSL_cleanse(token, sizeof(token));
	}
	if (r == 0)
		return true;
	http_tls_refuses(tls, request->req);
	if (server->finds == NULL)
		rm_http_reply_error(
		    request, 403, "a viewer's or an operator's certificate is needed");
	else if (r == -EINVAL)
		server_asks_for_token(request, "this is no token");
	else if (r == -ENOKEY)
		server_asks_for_token(
		    request, "a certificate or a viewer's token is needed");
	else if (r == -ENOENT)
		server_asks_for_token(request, "the token is not known");
	else
		rm_http_reply_error(request, 503,
		    "tokens cannot be looked up now; the log has the reason");
	return false;
}

/* True: the client may use the server. False: the request was answered. */
static bool
server_identifies(struct rm_http_server *server, struct rm_http_request *request,
    const struct rm_http_listener *listener, char identity[RM_TLS_MAX_IDENTITY])
{
	struct rm_tls *tls;
	int r;

	if (listener != server->sealed)
		return true;
	tls = rm_http_listener_tls(listener);
	r = http_tls_identity(tls, request->req, identity);
	if (r == -ENOENT)
		return server_takes_token(server, request, identity);
	if (r < 0) {
		http_tls_refuses(tls, request->req);
		rm_http_reply_error(
		    request, 403, "this certificate is not accepted any more");
	}
	return r == 0;
}

/* True: the request came to a loopback address, or to an unknown one. On other
 * addresses plain HTTP is open to every client, under any name. */
static bool
is_from_loopback(struct evhttp_request *req)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(req);
	struct sockaddr_storage at = { 0 };
	const struct sockaddr_in *in = (const void *)&at;
	const struct sockaddr_in6 *in6 = (const void *)&at;
	socklen_t len = sizeof(at);

	if (connection == NULL ||
	    getsockname(
		bufferevent_getfd(evhttp_connection_get_bufferevent(connection)),
		(void *)&at, &len) < 0)
		return true;
	if (at.ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
	return ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

/* True: the request cannot come from a web page of another site. False: the request was
 * answered. */
static bool
server_is_meant(struct rm_http_server *server, struct rm_http_request *request,
    const struct rm_http_listener *listener)
{
	const char *host;
	char quoted[128];

	if (listener != server->tcp || !is_from_loopback(request->req))
		return true;
	host = evhttp_request_get_host(request->req);
	if (http_host_is_here(host, &server->own, server->names))
		return true;
	server->misdirected++;
	rm_log_warn(0,
	    "http: request refused: its Host %s is not a name of this host; http.names "
	    "lists more names",
	    rm_log_quote(quoted, sizeof(quoted), host, strlen(host)));
	rm_http_reply_error(request, 421,
	    "'%.100s' is not a name of this host: ask for its address, for localhost, "
	    "or "
	    "list the name in http.names",
	    host);
	return false;
}

/* True: this listener may be used for the request. False: the request was answered. */
static bool
server_allows(struct rm_http_server *server, struct rm_http_request *request,
    const struct rm_http_listener *listener, enum rm_http_verb verb)
{
	char reason[256] = "";

	/* A page of another site could send a form with the rights of the user. */
	if (verb == RM_HTTP_CHANGE &&
	    evhttp_find_header(
		evhttp_request_get_input_headers(request->req), "Origin") != NULL) {
		rm_http_reply_error(
		    request, 403, "changes are not accepted from web pages");
		return false;
	}
	if (listener == server->sealed) {
		if (server->allows != NULL &&
		    server->allows(request->identity, verb, reason, sizeof(reason),
			server->allows_arg))
			return true;
		http_tls_refuses(rm_http_listener_tls(listener), request->req);
		rm_http_reply_error(request, 403, "%s",
		    reason[0] != '\0' ? reason : "this certificate does not allow it");
		return false;
	}
	if (verb != RM_HTTP_CHANGE || listener == server->local)
		return true;
	rm_http_reply_error(request, 403,
	    "changes are accepted on the Unix socket%s%s%s",
	    server->sealed != NULL ? " and over TLS only" : " only",
	    server->local_at[0] != '\0' ? ", " : "", server->local_at);
	return false;
}

static void
server_answer(struct rm_http_server *server, struct evhttp_request *req,
    const struct rm_http_listener *listener)
{
	enum evhttp_cmd_type method = evhttp_request_get_command(req);
	char identity[RM_TLS_MAX_IDENTITY] = "";
	struct rm_http_request request;
	const struct route *route;
	bool known;

	if (rm_http_request_open(&request, req, server->defers) < 0)
		return;
	request.identity = identity;
	route = server_find(
	    server, &request, method & READ_METHODS, method == EVHTTP_REQ_POST, &known);
	if (!server_is_meant(server, &request, listener) ||
	    !server_identifies(server, &request, listener, identity))
		; /* the function above has answered the request */
	else if (listener == server->sealed && route == NULL &&
		 !server_allows(server, &request, listener, RM_HTTP_READ_PART))
		/* clients without the right to read must not learn which paths exist */
		;
	else if (!known)
		rm_http_reply_error(&request, 404, "nothing at this path");
	else if (route == NULL)
		rm_http_reply_error(&request, 405, "this path takes %s",
		    method & READ_METHODS ? "POST only" : "GET only");
	else if (server_allows(server, &request, listener, route->verb))
		route->handler(&request, route->arg);
	rm_http_request_close(&request);
}

static void
server_on_tcp(struct evhttp_request *req, void *arg)
{
	struct rm_http_server *server = arg;

	server_answer(server, req, server->tcp);
}

static void
server_on_local(struct evhttp_request *req, void *arg)
{
	struct rm_http_server *server = arg;

	server_answer(server, req, server->local);
}

static void
server_on_sealed(struct evhttp_request *req, void *arg)
{
	struct rm_http_server *server = arg;

	server_answer(server, req, server->sealed);
}

int
rm_http_server_new(struct rm_loop *loop, struct rm_http_server **ret)
{
	struct rm_http_server *server = calloc(1, sizeof(*server));
	int r;

	if (server == NULL)
		return -ENOMEM;
	server->loop = loop;
	own_names_read(&server->own);
	r = rm_http_defers_new(loop, &server->defers);
	if (r == 0)
		r = rm_http_listener_new(
		    loop, NULL, server_on_tcp, server, &server->counts, &server->tcp);
	if (r == 0)
		r = rm_http_listener_new(loop, NULL, server_on_local, server,
		    &server->counts, &server->local);
	if (r < 0) {
		rm_http_server_free(server);
		return r;
	}
	*ret = server;
	return 0;
}

void
rm_http_server_free(struct rm_http_server *server)
{
	if (server == NULL)
		return;
	/* before the listeners, which own the requests */
	rm_http_defers_free(server->defers);
	rm_http_listener_free(server->tcp);
	rm_http_listener_free(server->local);
	rm_http_listener_free(server->sealed);
	for (size_t i = 0; i < server->route_count; i++)
		free(server->routes[i].path);
	free(server);
}

int
rm_http_server_listen(struct rm_http_server *server, const struct rm_address *address)
{
	bool local = address->storage.ss_family == AF_UNIX;
	int r;

	r = rm_http_listener_listen(local ? server->local : server->tcp, address);
	if (r == 0 && local)
		rm_address_format(address, server->local_at);
	return r;
}

int
rm_http_server_listen_tls(
    struct rm_http_server *server, const struct rm_address *address, struct rm_tls *tls)
{
	int r = 0;

	if (tls == NULL || address->storage.ss_family == AF_UNIX ||
	    (server->sealed != NULL && rm_http_listener_tls(server->sealed) != tls))
		return -EINVAL;
	if (server->sealed == NULL)
		r = rm_http_listener_new(server->loop, tls, server_on_sealed, server,
		    &server->counts, &server->sealed);
	if (r < 0)
		return r;
	if (server->max_body > 0)
		rm_http_listener_max_body(server->sealed, server->max_body);
	return rm_http_listener_listen(server->sealed, address);
}

void
rm_http_server_authorise(struct rm_http_server *server,
    bool (*allows)(const char *identity, enum rm_http_verb verb, char *reason,
	size_t len, void *arg),
    void *arg)
{
	server->allows = allows;
	server->allows_arg = arg;
}

void
rm_http_server_tokens(struct rm_http_server *server,
    int (*finds)(const char *token, char identity[RM_TLS_MAX_IDENTITY], void *arg),
    void *arg)
{
	server->finds = finds;
	server->finds_arg = arg;
}

int
rm_http_server_tls_port(const struct rm_http_server *server)
{
	return server->sealed != NULL ? rm_http_listener_port(server->sealed)
				      : -ENOTCONN;
}

int
rm_http_server_port(const struct rm_http_server *server)
{
	return rm_http_listener_port(server->tcp);
}

void
rm_http_server_max_body(struct rm_http_server *server, size_t bytes)
{
	server->max_body = bytes;
	rm_http_listener_max_body(server->local, bytes);
	if (server->sealed != NULL)
		rm_http_listener_max_body(server->sealed, bytes);
}

int
rm_http_route(struct rm_http_server *server, enum rm_http_verb verb, const char *path,
    rm_http_handler *handler, void *arg)
{
	struct route route = { verb, NULL, handler, arg };

	if (path[0] != '/')
		return -EINVAL;
	if (server->route_count == SERVER_MAX_ROUTES)
		return -ENOSPC;
	route.path = strdup(path);
	if (route.path == NULL)
		return -ENOMEM;
	server->routes[server->route_count++] = route;
	return 0;
}

const char *
rm_http_route_at(const struct rm_http_server *server, size_t i)
{
	return i < server->route_count ? server->routes[i].path : NULL;
}

struct rm_http_request *
rm_http_deferred(struct rm_http_server *server, uint64_t token)
{
	return rm_http_defers_find(server->defers, token);
}

/* ---- /metrics, /healthz and /readyz, which every daemon has ---- */

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

/* Any answer shows that the process runs and its loop turns, so the answer is always
 * 200. */
static void
health_alive(struct rm_http_request *request, void *arg)
{
	rm_http_reply_json(request, 200, json_pack("{s:b}", "healthy", 1));
}

static void
health_ready(struct rm_http_request *request, void *arg)
{
	const struct rm_http_health *health = arg;
	char sentence[1024] = "";
	bool ready = health->ready(sentence, sizeof(sentence), health->arg);

	rm_http_reply_json(request, ready ? 200 : 503,
	    json_pack("{s:b, s:s}", "ready", ready, "reason", sentence));
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
		    server, RM_HTTP_READ_PART, "/healthz", health_alive, health);
	if (r == 0)
		r = rm_http_route(
		    server, RM_HTTP_READ, "/readyz", health_ready, health);
	return r;
}
