/*
 * http_server - the HTTP server of a daemon: /metrics, /healthz, /readyz, /v1/...
 *
 * The server is libevent's evhttp, with limits: 8 KiB of headers, 64 KiB of body (1 KiB
 * over TLS without a certificate), 10 s of silence, 64 connections and 4 listeners for
 * TCP, as many for TLS and for Unix sockets, 64 routes; a TLS handshake within
 * RM_TLS_HANDSHAKE_NS, a request within 10 s of the accept or the last answer (1 s
 * while all connections are in use), an answer in 60 s. Requests that only read are
 * answered over TCP (loopback by default). Those that change something are registered
 * with RM_HTTP_CHANGE: they are answered only on a Unix socket, or over TLS to an
 * identity that the owner allows (403 else). They are never answered to a web page,
 * because a browser presents the certificate of its user for every page. Over TLS every
 * request needs a certificate or a token (http_token.h), and the owner of the server
 * must allow it for that identity, even if it only reads. Over plain TCP on loopback a
 * request is answered only if its Host header is a name of this host (http_host.h).
 * Others get 421: they may come from a foreign web page whose name resolves to this
 * host.
 */
#ifndef RACKMESH_HTTP_HTTP_SERVER_H
#define RACKMESH_HTTP_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/http/http_handler.h"
#include "rackmesh/tls/tls.h"

struct rm_address;
struct rm_list;
struct rm_http_request;
struct rm_http_server;
struct rm_loop;
struct rm_metrics;

enum rm_http_verb {
	RM_HTTP_READ, /* GET, HEAD */
	/* the same, and the handler limits its answer to the regions that the client
	   may see */
	RM_HTTP_READ_PART,
	RM_HTTP_CHANGE, /* POST */
};

typedef void rm_http_handler(struct rm_http_request *request, void *arg);

int rm_http_server_new(struct rm_loop *loop, struct rm_http_server **ret);
void rm_http_server_free(struct rm_http_server *server);

/* May be called several times, for TCP or Unix sockets. A Unix socket has mode 0600 and
 * is unlinked at the end; an old one at its path is unlinked first. */
int rm_http_server_listen(
    struct rm_http_server *server, const struct rm_address *address);

/* The same for HTTPS, always with the same tls (else -EINVAL), which is borrowed and
 * outlives the server. */
int rm_http_server_listen_tls(struct rm_http_server *server,
    const struct rm_address *address, struct rm_tls *tls);
/* Sets a function that is called for each request over TLS. False: the request is
 * refused with 403 and the text in reason, which is empty before the call. Without such
 * a function every request is refused. */
void rm_http_server_authorise(struct rm_http_server *server,
    bool (*allows)(const char *identity, enum rm_http_verb verb, char *reason,
	size_t len, void *arg),
    void *arg);

/* Sets a function that is called for a client over TLS with a token and no certificate.
 * 0: identity is the URI of the token's owner. -ENOENT: no such token (401); another
 * error: it cannot be checked now (503). Without such a function no token is
 * accepted. */
void rm_http_server_tokens(struct rm_http_server *server,
    int (*finds)(const char *token, char identity[RM_TLS_MAX_IDENTITY], void *arg),
    void *arg);

/* The port of the first TCP (TLS) listener, for an address with port 0; negative: there
 * is none. */
int rm_http_server_port(const struct rm_http_server *server);
int rm_http_server_tls_port(const struct rm_http_server *server);

/* Sets the limit on bodies of requests over a Unix socket, or over TLS with a
 * certificate.
 */
void rm_http_server_max_body(struct rm_http_server *server, size_t bytes);

/* Times that accepting stopped, because all connections or all file descriptors were in
 * use; new connections wait in the kernel's queue meanwhile. Borrowed by a metric. */
const uint64_t *rm_http_server_full(const struct rm_http_server *server);
/* Connections that were closed because a request or its answer took too long; borrowed
 * by a metric. */
const uint64_t *rm_http_server_late(const struct rm_http_server *server);

/* Sets further names that requests over plain HTTP on loopback may have as Host, for
 * example behind a proxy. Borrowed for the server's life. */
void rm_http_server_names(struct rm_http_server *server, const struct rm_list *names);
/* Requests with a Host that is no name of this host; borrowed by a metric. */
const uint64_t *rm_http_server_misdirected(const struct rm_http_server *server);

/*
 * path: copied; exact ("/v1/rnics"), or, with '/' at its end, for everything below it
 * ("/v1/drill/"). The handler must reply exactly once, by one of rm_http_reply*, or
 * defer. Unknown paths get 404, a wrong verb 405, both with JSON {"error": ...}.
 */
int rm_http_route(struct rm_http_server *server, enum rm_http_verb verb,
    const char *path, rm_http_handler *handler, void *arg);
/* The path of the i-th route; NULL: there are no more. */
const char *rm_http_route_at(const struct rm_http_server *server, size_t i);

/* Serves /metrics from the registry; /healthz, which is 200 while the loop turns; and
 * /readyz, which is 200, or 503 with the sentence that ready() writes. All is
 * borrowed. */
int rm_http_serve_health(struct rm_http_server *server,
    const struct rm_metrics *metrics,
    bool (*ready)(char *sentence, size_t len, void *arg), void *arg);

/* NULL: the request was answered already, or the client has disconnected. Replying to
 * NULL does nothing. */
struct rm_http_request *rm_http_deferred(struct rm_http_server *server, uint64_t token);

#endif
