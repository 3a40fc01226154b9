/*
 * http_listener - an evhttp with a bound on its connections and its own listeners;
 * private to http_server, which has one for TCP, one for TLS and one for Unix sockets.
 *
 * When all connections are in use, no more are accepted: new ones wait in the kernel's
 * queue, which is bounded, too, and connections that have had no request for a second
 * are closed. The time limits are for whole requests and whole answers.
 */
#ifndef RACKMESH_HTTP_HTTP_LISTENER_H
#define RACKMESH_HTTP_HTTP_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/tls/tls.h"

struct evhttp_request;
struct rm_address;
struct rm_http_listener;
struct rm_loop;
struct rm_tls;

struct http_listener_counts {
	/* times that accepting stopped because all connections were in use */
	uint64_t full;
	/* connections that were closed because a request or an answer took too long */
	uint64_t late;
};

/* tls: borrowed; NULL: none. The listener adds to *counts as long as it lives. */
int rm_http_listener_new(struct rm_loop *loop, struct rm_tls *tls,
    void (*on_request)(struct evhttp_request *req, void *arg), void *arg,
    struct http_listener_counts *counts, struct rm_http_listener **ret);
void rm_http_listener_free(struct rm_http_listener *listener); /* NULL is fine */

void rm_http_listener_max_body(struct rm_http_listener *listener, size_t bytes);
int rm_http_listener_listen(
    struct rm_http_listener *listener, const struct rm_address *address);

struct rm_tls *rm_http_listener_tls(const struct rm_http_listener *listener);

/* The port of the first TCP listener; negative: there is none. */
int rm_http_listener_port(const struct rm_http_listener *listener);

/* TLS on the connections of an http_listener; private to it and to http_server. */

/* Writes the identity of the client. -EACCES: its certificate is not valid now;
 * -ENOENT: it has none. */
int http_tls_identity(const struct rm_tls *tls, struct evhttp_request *req,
    char identity[RM_TLS_MAX_IDENTITY]);

/* Call it before the answer to a client that is refused: the refusal is counted and
 * logged, and the connection closed after the answer. */
void http_tls_refuses(struct rm_tls *tls, struct evhttp_request *req);

#endif
