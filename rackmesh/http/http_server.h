/*
 * http_server - the HTTP server of a daemon: /metrics, /healthz, /readyz, /v1/...
 *
 * evhttp, bounded: 8 KiB of headers, 64 KiB of body (1 KiB over TLS without a
 * certificate), 10 s of silence, 64 connections and 4 listeners for TCP, as many for
 * TLS and for Unix sockets, 64 routes; a TLS handshake within RM_TLS_HANDSHAKE_NS, a
 * request within 10 s of the accept or the last answer (1 s while all connections are
 * in use), an answer in 60 s. Requests that only read are answered over TCP (loopback
 * by default). Those that change something are registered with RM_HTTP_CHANGE: they are
 * answered only on a Unix socket, or over TLS to an identity that the owner allows (403
 * else). They are never answered to a web page, because a browser presents the
 * certificate of its user for every page. Over TLS every request needs a certificate or
 * a token (http_token.h), and the owner has to allow it to that identity, also if it
 * only reads. Over plain TCP on loopback a request is answered only if its Host is a
 * name of this host (http_host.h): a page from elsewhere whose name was made to lead
 * here is 421.
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
	RM_HTTP_READ,      /* GET, HEAD */
	RM_HTTP_READ_PART, /* the same, and the handler shows each what he may see */
	RM_HTTP_CHANGE,    /* POST */
};

typedef void rm_http_handler(struct rm_http_request *request, void *arg);

int rm_http_server_new(struct rm_loop *loop, struct rm_http_server **ret);
void rm_http_server_free(struct rm_http_server *server);

/* More than once is fine; TCP or Unix ("unix:..." is unlinked first if it is a
 * socket, mode 0600, unlinked again at the end). */
int rm_http_server_listen(
    struct rm_http_server *server, const struct rm_address *address);

/* HTTPS; more than once is fine, but with one tls only (-EINVAL). tls: borrowed,
 * outlives the server. */
int rm_http_server_listen_tls(struct rm_http_server *server,
    const struct rm_address *address, struct rm_tls *tls);
/* Called for each request over TLS: is it allowed? False: reason is filled and sent
 * with 403. Without this function nothing is allowed. reason is empty at the call. */
void rm_http_server_authorise(struct rm_http_server *server,
    bool (*allows)(const char *identity, enum rm_http_verb verb, char *reason,
	size_t len, void *arg),
    void *arg);

/* Called over TLS for a client with a token and no certificate: fills the URI of the
 * token's owner and returns 0. -ENOENT: the token is unknown (401); other errors: not
 * known now (503). Without this function no token is accepted. */
void rm_http_server_tokens(struct rm_http_server *server,
    int (*finds)(const char *token, char identity[RM_TLS_MAX_IDENTITY], void *arg),
    void *arg);

/* Of the first TCP (TLS) listener, for an address with port 0; negative: there is none.
 */
int rm_http_server_port(const struct rm_http_server *server);
int rm_http_server_tls_port(const struct rm_http_server *server);

/* Sets the limit on bodies of requests over a Unix socket, or over TLS with a
 * certificate.
 */
void rm_http_server_max_body(struct rm_http_server *server, size_t bytes);

/* How often accepting had to stop, because all connections or all file descriptors were
 * in use. New connections then wait in the kernel's queue. Borrowed by a metric. */
const uint64_t *rm_http_server_full(const struct rm_http_server *server);
/* Connections that took too long for a request or its answer. As above. */
const uint64_t *rm_http_server_late(const struct rm_http_server *server);

/* Names, besides this host's own, that requests to plain HTTP on loopback may have as
 * Host, for example behind a proxy. Borrowed for the server's life. */
void rm_http_server_names(struct rm_http_server *server, const struct rm_list *names);
/* Requests whose Host was no name of this host. As above. */
const uint64_t *rm_http_server_misdirected(const struct rm_http_server *server);

/*
 * path: copied; exact ("/v1/rnics"), or ending in '/' for everything below it
 * ("/v1/drill/"). Exactly one rm_http_reply* per request, at once. Unknown paths
 * get 404, a wrong verb 405, both as JSON {"error": ...}.
 */
int rm_http_route(struct rm_http_server *server, enum rm_http_verb verb,
    const char *path, rm_http_handler *handler, void *arg);
/* The path of the i-th route, to list all routes; NULL: no more. */
const char *rm_http_route_at(const struct rm_http_server *server, size_t i);

/* /metrics from the registry; /healthz 200 while the loop turns; /readyz 200 or
 * 503 with the sentence that ready() writes. All borrowed. */
int rm_http_serve_health(struct rm_http_server *server,
    const struct rm_metrics *metrics,
    bool (*ready)(char *sentence, size_t len, void *arg), void *arg);

/* NULL: the request has been answered, or its client has disconnected. A reply to NULL
 * does nothing.
 */
struct rm_http_request *rm_http_deferred(struct rm_http_server *server, uint64_t token);

#endif
