/*
 * http_handler - how a handler of http_server reads its request and answers it, exactly
 * once.
 */
#ifndef RACKMESH_HTTP_HTTP_HANDLER_H
#define RACKMESH_HTTP_HTTP_HANDLER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rm_http_request;

/* The URI in the client's certificate, valid until the handler returns; "" without
 * TLS. */
const char *rm_http_identity(const struct rm_http_request *request);
const char *rm_http_path_rest(
    const struct rm_http_request *request); /* decoded, below the route */
const char *rm_http_query(
    const struct rm_http_request *request, const char *key); /* or NULL */
/* Leaves *value unchanged if the key is missing. False: the value is not a number in
 * the range, and 400 was sent. */
bool rm_http_query_number(struct rm_http_request *request, const char *key,
    uint64_t least, uint64_t most, uint64_t *value);
const char *rm_http_body(const struct rm_http_request *request, size_t *len);

/*
 * For a late answer: the handler returns without a reply, and later the owner of the
 * token replies once, from the loop, which frees the request. If there is no reply
 * after timeout_ns, the server answers 504; at the end of the server, 503. Path, query
 * and body are valid only until the handler returns. -EAGAIN: 32 requests are waiting
 * already.
 */
int rm_http_defer(struct rm_http_request *request, int64_t timeout_ns, uint64_t *token);

/* Sends a text that is JSON; it is copied. */
void rm_http_reply_text(
    struct rm_http_request *request, int status, const char *json, size_t len);
/* Sends a text that is not JSON; it is copied. */
void rm_http_reply_plain(
    struct rm_http_request *request, int status, const char *text, size_t len);
/* Sends a file of a web page. Its headers forbid the page to load anything from
 * elsewhere, to run inline scripts or styles, and to be in a frame. A browser that has
 * the file with this tag gets 304. All is borrowed, data for the server's life. */
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
