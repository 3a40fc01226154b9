/*
 * http_defer - the requests of an http_server that are answered later; private to it
 * and to http_request.
 *
 * Whatever becomes of the one who wanted to answer, each request here is answered: at
 * its timeout, or when the server ends.
 */
#ifndef RACKMESH_HTTP_HTTP_DEFER_H
#define RACKMESH_HTTP_HTTP_DEFER_H

#include <stdint.h>

struct rm_http_defers;
struct rm_http_request;
struct rm_loop;

int rm_http_defers_new(struct rm_loop *loop, struct rm_http_defers **ret);
void rm_http_defers_free(struct rm_http_defers *defers); /* answers 503 to the rest */

/* Takes the request's place in libevent; the caller's is answered then. */
int rm_http_defers_add(struct rm_http_defers *defers, struct rm_http_request *request,
    int64_t timeout_ns, uint64_t *token);
/* NULL: unknown, answered already, or its client has left. */
struct rm_http_request *rm_http_defers_find(
    struct rm_http_defers *defers, uint64_t token);
/* It has been answered. */
void rm_http_defers_remove(
    struct rm_http_defers *defers, struct rm_http_request *request);

#endif
