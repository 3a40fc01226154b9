/*
 * http_client - POST and GET by libcurl's multi interface on the event loop.
 *
 * https is TLS 1.2 or later (the engines are not ours), and the server's certificate
 * and name are always checked. Files are read again for every new connection, and none
 * is used for longer than an hour, so that they can be rotated.
 * A completed exchange is not a success: the caller classifies the status.
 * Connections are kept alive and used again.
 */
#ifndef RACKMESH_HTTP_HTTP_CLIENT_H
#define RACKMESH_HTTP_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RM_HTTP_MAX_CALLS 512 /* at once; streams count, too */

struct rm_http_client;
struct rm_http_site;
struct rm_loop;

struct rm_http_answer {
	int r;       /* 0: an answer came; else -ETIMEDOUT, -ECONNREFUSED, -EIO, ... */
	long status; /* HTTP's, when r is 0 */
	const char *body; /* terminated; cut at max_body_bytes; borrowed for the call */
	size_t body_len;
	const char *why;       /* libcurl's words, when r is not 0; "": none */
	int64_t retry_after_s; /* from Retry-After, at most a day; -1: none or 0 */
	int64_t date_s; /* the server's time of day, since the epoch; 0: unsaid */
};

int rm_http_client_new(struct rm_loop *loop, struct rm_http_client **ret);
/* Calls every pending done with -ECANCELED. */
void rm_http_client_free(struct rm_http_client *client);

/*
 * url: http, https, or "unix:SOCKET:/path" for HTTP over a Unix socket; proxies of
 * the environment are ignored. body: copied; NULL for GET. content_type: borrowed
 * for the call. done is called exactly once, from the loop, never from inside this
 * function. More than RM_HTTP_MAX_CALLS at once: -EAGAIN. timeout covers the
 * whole exchange.
 */
int rm_http_client_send(struct rm_http_client *client, const char *url,
    const char *content_type, const char *body, size_t body_len, int64_t timeout_ns,
    void (*done)(const struct rm_http_answer *answer, void *arg), void *arg);

/* How servers whose URLs begin with base are met, from now on: see http_site.h. All is
 * copied. -ENOSPC: too many. */
int rm_http_client_site(
    struct rm_http_client *client, const char *base, const struct rm_http_site *site);

struct rm_http_call;

struct rm_http_tls {
	const char *authorities; /* PEM; NULL: whom the system trusts */
	/* What we show, PEM; NULL: nothing. The key is 0600 or 0400, else -EACCES. */
	const char *certificate, *key;
};

struct rm_http_exchange { /* everything is borrowed for the call, the body copied */
	const char *url;
	const char *const *headers; /* "Name: value", ended by NULL; NULL: none */
	const char *body;           /* NULL: GET */
	size_t body_len;
	const char *user, *password;   /* basic authentication; NULL: none */
	const char *bearer;            /* a token instead; NULL: none */
	const struct rm_http_tls *tls; /* for https; NULL: whom the system trusts */
	size_t max_body_bytes;         /* of the answer; 0: 64 KiB */
	bool whole; /* a longer answer is no answer: -EMSGSIZE at once, not cut */
	int64_t timeout_ns; /* of the whole exchange; 0: none, for streams */
	/* For streams: each piece as it arrives, and then answer.body is "". < 0 ends
	 * the exchange, and done gets that as answer.r. Only of answers with status
	 * 200; of others the body goes to done as usual. NULL: no stream. Any call,
	 * its own too, may be started and canceled in it. */
	int (*on_data)(const char *data, size_t len, void *arg);
	void (*done)(const struct rm_http_answer *answer, void *arg);
	void *arg;
};

/* As rm_http_client_send; *call (may be NULL) is good until done is called. */
int rm_http_client_start(struct rm_http_client *client,
    const struct rm_http_exchange *exchange, struct rm_http_call **call);
/* Ends it without a word: neither function is called any more. Not from inside done. */
void rm_http_call_cancel(struct rm_http_call *call);

/* Waits for the end of it, on a connection of its own: for the last words of a program,
 * whose loop no longer turns. Calls nobody; 0: there was an answer. */
int rm_http_client_now(
    struct rm_http_client *client, const struct rm_http_exchange *exchange);

#endif
