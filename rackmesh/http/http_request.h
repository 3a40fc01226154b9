/*
 * http_request - one request between http_server and its handlers; private to
 * the two.
 */
#ifndef RACKMESH_HTTP_HTTP_REQUEST_H
#define RACKMESH_HTTP_HTTP_REQUEST_H

#include <event2/keyvalq_struct.h>
#include <stdbool.h>

#include "rackmesh/http/http_server.h"

struct evbuffer;
struct evhttp_request;
struct rm_http_defers;

/* Lives on the stack for the one call of its handler; a deferred one in http_defer,
 * until it is answered. */
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

#endif
