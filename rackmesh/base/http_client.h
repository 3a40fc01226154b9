/*
 * http_client - POST and GET by libcurl's multi interface on the event loop.
 *
 * A completed exchange is not a success: the caller classifies the status.
 */
#ifndef RACKMESH_BASE_HTTP_CLIENT_H
#define RACKMESH_BASE_HTTP_CLIENT_H

#include <stddef.h>
#include <stdint.h>

struct rm_http_client;
struct rm_loop;

struct rm_http_answer {
	int r;       /* 0: an answer came; else -ETIMEDOUT, -ECONNREFUSED, -EIO, ... */
	long status; /* HTTP's, when r is 0 */
	const char *body; /* terminated; cut at 64 KiB; borrowed for the call */
	size_t body_len;
	int64_t retry_after_s; /* from Retry-After, at most a day; -1: none or 0 */
};

int rm_http_client_new(struct rm_loop *loop, struct rm_http_client **ret);
/* Calls every pending done with -ECANCELED. */
void rm_http_client_free(struct rm_http_client *client);

/*
 * url: http, https, or "unix:SOCKET:/path" for HTTP over a Unix socket; proxies of
 * the environment are ignored. body: copied; NULL for GET. content_type: borrowed
 * for the call. done is called exactly once, from the loop, never from inside this
 * function. At most 64 exchanges at once: -EAGAIN past that. timeout covers the
 * whole exchange.
 */
int rm_http_client_send(struct rm_http_client *client, const char *url,
    const char *content_type, const char *body, size_t body_len, int64_t timeout_ns,
    void (*done)(const struct rm_http_answer *answer, void *arg), void *arg);

#endif
