/*
 * http_handler - what a handler of http_server asks of its request, and how it answers:
 * exactly once.
 */
#ifndef RACKMESH_HTTP_HTTP_HANDLER_H
#define RACKMESH_HTTP_HTTP_HANDLER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rm_http_request;

/* The URI in the client's certificate, good until the handler returns; "" where there
 * is no TLS. */
const char *rm_http_identity(const struct rm_http_request *request);
const char *rm_http_path_rest(
    const struct rm_http_request *request); /* decoded, below the route */
const char *rm_http_query(
    const struct rm_http_request *request, const char *key); /* or NULL */
/* Leaves *value alone without the key; false: out of range, 400 has been answered. */
bool rm_http_query_number(struct rm_http_request *request, const char *key,
    uint64_t least, uint64_t most, uint64_t *value);
const char *rm_http_body(const struct rm_http_request *request, size_t *len);

/*
 * For an answer that takes a while: the handler returns without a reply, and whoever
 * has the token replies later, once, from the loop; the request is gone then. After
 * timeout_ns the server itself answers 504, at its end 503. At most 32 wait at once:
 * -EAGAIN. Path, query and body are good until the handler returns, as ever.
 */
int rm_http_defer(struct rm_http_request *request, int64_t timeout_ns, uint64_t *token);

/* A body that is JSON already; copied. */
void rm_http_reply_text(
    struct rm_http_request *request, int status, const char *json, size_t len);
/* Text that is no JSON; copied. */
void rm_http_reply_plain(
    struct rm_http_request *request, int status, const char *text, size_t len);
/* A file of a page that a browser shows, with headers that keep it to this server:
 * nothing from elsewhere, no inline script or style, in no frame. A browser that has
 * the one with this tag gets 304. All borrowed, data as long as the server. */
struct rm_http_file {
	const char *content_type, *tag;
	const char *data;
	size_t len;
};
void rm_http_reply_file(
    struct rm_http_request *request, const struct rm_http_file *file);
void rm_http_reply_json(struct rm_http_request *request, int status, json_t *takes);
void rm_http_reply_error(struct rm_http_request *request, int status,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
