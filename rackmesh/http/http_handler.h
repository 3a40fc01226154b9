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

/* The URI in the client's certificate, good until the handler returns; "" where there
 * is no TLS. */
const char *rm_http_identity(const struct rm_http_request *request);
const char *rm_http_path_rest(
    const struct rm_http_request *request); /* decoded, below the route */
const char *rm_http_query(
    const struct rm_http_request *request, const char *key); /* or NULL */
/* Does not change *value when the key is missing; false: out of range, and 400 was
 * sent. */
bool rm_http_query_number(struct rm_http_request *request, const char *key,
    uint64_t least, uint64_t most, uint64_t *value);
const char *rm_http_body(const struct rm_http_request *request, size_t *len);

/*
 * For a late answer: the handler returns without a reply, and the owner of the token
 * replies later, once, from the loop; this frees the request. After timeout_ns the
 * server itself answers 504, and 503 when the server ends. At most 32 requests wait at
 * once: -EAGAIN. Path, query and body are valid only until the handler returns.
 */
int rm_http_defer(struct rm_http_request *request, int64_t timeout_ns, uint64_t *token);

/* Sends text that is JSON already; copied. */
void rm_http_reply_text(
    struct rm_http_request *request, int status, const char *json, size_t len);
/* Sends text that is not JSON; copied. */
void rm_http_reply_plain(
    struct rm_http_request *request, int status, const char *text, size_t len);
/* Sends a file of a web page, with headers that restrict it to this server: it may load
 * nothing from elsewhere, use no inline script or style, and be in no frame. A browser
 * that has the file with this tag gets 304. All borrowed, data for the server's
 * life. */
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
