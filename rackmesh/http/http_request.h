/*
 * http_request - one request between http_server and its handlers; private to
 * the two.
 */
#ifndef RACKMESH_HTTP_HTTP_REQUEST_H
#define RACKMESH_HTTP_HTTP_REQUEST_H

#include <event2/keyvalq_struct.h>
#include <stdbool.h>

#include "rackmesh/http/http_handler.h"

struct evbuffer;
struct evhttp_request;
struct rm_http_defers;
struct rm_loop;

/* Lives on the stack for the one call of its handler; a deferred one among its
 * server's, until it is answered. */
struct rm_http_request {
	struct evhttp_request *req; /* libevent's; frees itself once answered */
	struct rm_http_defers *defers;
	char *path;           /* decoded */
	const char *rest;     /* of path, below the route */
	const char *identity; /* the server's; NULL: a deferred one, or no TLS */
	struct evkeyvalq query;
	const char *body; /* terminated; lives in req */
	size_t body_len;
	bool answered;
};

/* Fills *ret from req, or answers 400 or 500 itself and returns < 0. */
int rm_http_request_open(struct rm_http_request *ret, struct evhttp_request *req,
    struct rm_http_defers *defers);
/* Answers 500 when the handler did not answer. */
void rm_http_request_close(struct rm_http_request *request);

/* body: emptied; NULL: it could not be built, answered with 500. A deferred request is
 * gone afterwards. */
void rm_http_reply_buffer(struct rm_http_request *request, int status,
    const char *content_type, struct evbuffer *body);

/* The requests that are answered later. Each one is answered in any case: by its owner,
 * at its time-out, or when the server ends. */
int rm_http_defers_new(struct rm_loop *loop, struct rm_http_defers **ret);
void rm_http_defers_free(struct rm_http_defers *defers); /* answers 503 to the rest */

/* NULL: unknown, answered already, or its client has disconnected. */
struct rm_http_request *rm_http_defers_find(
    struct rm_http_defers *defers, uint64_t token);

#endif
