/*
 * http_client - HTTP requests (POST and GET) on the event loop, by libcurl's multi
 * interface.
 *
 * For https, TLS 1.2 is accepted as well as 1.3, because other servers may not
 * have 1.3. The server's certificate and name are always checked. Certificate files are
 * read for every new connection, and no connection is used for longer than an hour, so
 * that files can be rotated. An answer is not yet a success: the caller checks the
 * status. Connections are kept alive and used again.
 */
#ifndef RACKMESH_HTTP_HTTP_CLIENT_H
#define RACKMESH_HTTP_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/http/http_exchange.h"

/* maximum number of calls at a time, streams included */
#define RM_HTTP_MAX_CALLS 512

struct rm_http_client;
struct rm_http_origin;
struct rm_loop;

int rm_http_client_new(struct rm_loop *loop, struct rm_http_client **ret);
/* Calls done with -ECANCELED for all running exchanges. */
void rm_http_client_free(struct rm_http_client *client);

/*
 * Starts a request. url: http, https, or "unix:SOCKET:/path" for HTTP over a Unix
 * socket; proxies of the environment are ignored. body: copied; NULL for GET.
 * content_type: borrowed for the call. done is called exactly once, from the loop,
 * never from inside this function. More than RM_HTTP_MAX_CALLS at once: -EAGAIN.
 * timeout covers the whole exchange.
 */
int rm_http_client_send(struct rm_http_client *client, const char *url,
    const char *content_type, const char *body, size_t body_len, int64_t timeout_ns,
    void (*done)(const struct rm_http_answer *answer, void *arg), void *arg);

/* Sets the certificates and logins for all URLs that begin with base: see
 * http_origin.h. All is copied. A base that is set already keeps its values. -ENOSPC:
 * too many bases. */
int rm_http_client_origin(struct rm_http_client *client, const char *base,
    const struct rm_http_origin *origin);

/* True: the answer is a web page for people (a login or a front page), so it is
 * probably from a proxy, or from another server than the intended one. */
bool rm_http_answer_is_page(const struct rm_http_answer *answer);

/* Writes to out, as a text for a person, why the answer cannot be from the intended
 * server, with the option that has its URL: there was no answer, it is a redirect, or
 * it is a web page. False: the answer may be from that server; out is unchanged. */
bool rm_http_answer_misses(
    const struct rm_http_answer *answer, const char *option, char *out, size_t len);

struct rm_http_call;

/* As rm_http_client_send. *call (may be NULL) is valid until done is called. */
int rm_http_client_start(struct rm_http_client *client,
    const struct rm_http_exchange *exchange, struct rm_http_call **call);
/* Cancels the exchange: on_data and done are not called any more. Do not call it from
 * inside done. */
void rm_http_call_cancel(struct rm_http_call *call);

/* Sends a request on a connection of its own and waits for the answer: for the last
 * request of a program whose loop has ended. No callback is called. Returns 0: there
 * was an answer; else -errno. */
int rm_http_client_now(
    struct rm_http_client *client, const struct rm_http_exchange *exchange);

#endif
