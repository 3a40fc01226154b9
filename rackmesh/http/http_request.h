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

/* On the stack during its handler's call; a deferred request is a copy that its server
 * owns until it is answered. */
struct rm_http_request {
	/* libevent's request, which frees itself once it is answered */
	struct evhttp_request *req;
	struct rm_http_defers *defers;
	char *path;       /* decoded */
	const char *rest; /* rest of the path, behind the route */
	/* borrowed from the server; NULL: a deferred request, or no TLS */
	const char *identity;
	struct evkeyvalq query;
	const char *body; /* terminated; owned by req */
	size_t body_len;
	bool answered;
};

/* Fills *ret from req; on failure it has answered 400 or 500, and returns < 0. */
int rm_http_request_open(struct rm_http_request *ret, struct evhttp_request *req,
    struct rm_http_defers *defers);
/* Answers 500 if the handler has not answered. */
void rm_http_request_close(struct rm_http_request *request);

/* body: emptied; NULL: it could not be built, so the answer is 500. A deferred request
 * is freed. */
void rm_http_reply_buffer(struct rm_http_request *request, int status,
    const char *content_type, struct evbuffer *body);

/* The deferred requests. Each one is answered: by its owner, at its time-out, or at the
 * end of the server. */
int rm_http_defers_new(struct rm_loop *loop, struct rm_http_defers **ret);
/* answers the waiting requests with status 503 */
void rm_http_defers_free(struct rm_http_defers *defers);

/* NULL: the token is unknown, the request was answered already, or the client has
 * disconnected. */
struct rm_http_request *rm_http_defers_find(
    struct rm_http_defers *defers, uint64_t token);

#endif
