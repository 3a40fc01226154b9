/*
 * http_seal - TLS on the connections of an http_face; private to it and to http_server.
 */
#ifndef RACKMESH_HTTP_HTTP_SEAL_H
#define RACKMESH_HTTP_HTTP_SEAL_H

#include <stdbool.h>

#include "rackmesh/tls/tls.h"

struct bufferevent;
struct event_base;
struct evhttp_request;

/* For a connection that is about to be accepted; NULL: no memory. */
struct bufferevent *http_seal_new(struct event_base *base, struct rm_tls *tls);
bool http_seal_shakes_hands(struct bufferevent *bev); /* still */
/* The handshake is over, or is to be: counts how it went. */
void http_seal_count(struct rm_tls *tls, struct bufferevent *bev, bool late);

/* Who sends this request? -EACCES: nobody who may be here now. */
int http_seal_identity(const struct rm_tls *tls, struct evhttp_request *req,
    char identity[RM_TLS_MAX_IDENTITY]);

#endif
