#include "rackmesh/http/http_request.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/http.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "rackmesh/config/yaml.h"
#include "rackmesh/loop/loop.h"

static int rm_http_defers_add(struct rm_http_defers *defers,
    struct rm_http_request *request, int64_t timeout_ns, uint64_t *token);
static void rm_http_defers_remove(
    struct rm_http_defers *defers, struct rm_http_request *request);

static int
request_refuse(struct rm_http_request *request, int status, int r, const char *sentence)
{
	rm_http_reply_error(request, status, "%s", sentence);
	rm_http_request_close(request);
	return r;
}

int
rm_http_request_open(struct rm_http_request *ret, struct evhttp_request *req,
    struct rm_http_defers *defers)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(req);
	const char *path = evhttp_uri_get_path(uri), *query = evhttp_uri_get_query(uri);
	struct evbuffer *input = evhttp_request_get_input_buffer(req);
	size_t len = 0;

	*ret = (struct rm_http_request){ .req = req, .defers = defers, .rest = "" };
	TAILQ_INIT(&ret->query);
	ret->path = evhttp_uridecode(path != NULL ? path : "", 0, &len);
	if (ret->path == NULL)
		return request_refuse(ret, 500, -ENOMEM, "out of memory");
	if (strlen(ret->path) != len)
		return request_refuse(ret, 400, -EINVAL, "a zero byte in the path");
	if (query != NULL && query[0] != 0 &&
	    evhttp_parse_query_str(query, &ret->query) < 0) {
		/* libevent has freed what it had parsed. */
		TAILQ_INIT(&ret->query);
		return request_refuse(ret, 400, -EINVAL,
		    "the query cannot be read; write ?name=value&name=value");
	}
	ret->body_len = evbuffer_get_length(input);
	if (evbuffer_add(input, "", 1) == 0)
		ret->body = (const char *)evbuffer_pullup(input, -1);
	if (ret->body == NULL)
		return request_refuse(ret, 500, -ENOMEM, "out of memory");
	return 0;
}

void
rm_http_request_close(struct rm_http_request *request)
{
	if (!request->answered)
		rm_http_reply_error(request, 500, "no answer to this request");
	evhttp_clear_headers(&request->query);
	free(request->path);
	*request = (struct rm_http_request){ .answered = true };
}

const char *
rm_http_identity(const struct rm_http_request *request)
{
	return request->identity != NULL ? request->identity : "";
}

const char *
rm_http_path_rest(const struct rm_http_request *request)
{
	return request->rest;
}

const char *
rm_http_query(const struct rm_http_request *request, const char *key)
{
	return evhttp_find_header(&request->query, key);
}

bool
rm_http_query_number(struct rm_http_request *request, const char *key, uint64_t least,
    uint64_t most, uint64_t *value)
{
	const char *text = rm_http_query(request, key);
	uint64_t number;

	if (text == NULL)
		return true;
	if (rm_yaml_number(text, &number) && number >= least && number <= most) {
		*value = number;
		return true;
	}
	rm_http_reply_error(request, 400,
	    "%s: expected a whole number between %" PRIu64 " and %" PRIu64, key, least,
	    most);
	return false;
}

const char *
rm_http_body(const struct rm_http_request *request, size_t *len)
{
	*len = request->body_len;
	return request->body;
}

/* An answer to HEAD has the length of the body, without the body (RFC 9110, 9.3.2).
 * evhttp would send the body, and the client would take it for the next answer. */
static bool
strip_for_head(struct evhttp_request *req, struct evbuffer *body)
{
	const size_t bytes = evbuffer_get_length(body);
	char length[24];

	if (evhttp_request_get_command(req) != EVHTTP_REQ_HEAD || bytes == 0)
		return true;
	snprintf(length, sizeof(length), "%zu", bytes);
	return evbuffer_drain(body, bytes) == 0 &&
	       evhttp_add_header(evhttp_request_get_output_headers(req),
		   "Content-Length", length) == 0;
}

void
rm_http_reply_buffer(struct rm_http_request *request, int status,
    const char *content_type, struct evbuffer *body)
{
	struct evkeyvalq *headers;

	if (request == NULL || request->answered)
		return;
	request->answered = true;
	headers = evhttp_request_get_output_headers(request->req);
	if (body != NULL &&
	    evhttp_add_header(headers, "Content-Type", content_type) == 0 &&
	    strip_for_head(request->req, body))
		evhttp_send_reply(request->req, status, NULL, body);
	else
		evhttp_send_reply(request->req, 500, NULL, NULL);
	rm_http_defers_remove(request->defers, request); /* may free the request */
}

int
rm_http_defer(struct rm_http_request *request, int64_t timeout_ns, uint64_t *token)
{
	if (request->answered)
		return -EALREADY;
	return rm_http_defers_add(request->defers, request, timeout_ns, token);
}

static int
append(const char *data, size_t len, void *arg)
{
	return evbuffer_add(arg, data, len);
}

void
rm_http_reply_json(struct rm_http_request *request, int status, json_t *takes)
{
	struct evbuffer *body = evbuffer_new();
	bool built = body != NULL && takes != NULL &&
		     json_dump_callback(
			 takes, append, body, JSON_COMPACT | JSON_ENCODE_ANY) == 0 &&
		     evbuffer_add(body, "\n", 1) == 0;

	rm_http_reply_buffer(request, status, "application/json", built ? body : NULL);
	if (body != NULL)
		evbuffer_free(body);
	json_decref(takes);
}

static void
reply_copy(struct rm_http_request *request, int status, const char *content_type,
    const char *text, size_t len)
{
	struct evbuffer *body = evbuffer_new();
	bool built = body != NULL && evbuffer_add(body, text, len) == 0;

	rm_http_reply_buffer(request, status, content_type, built ? body : NULL);
	if (body != NULL)
		evbuffer_free(body);
}

void
rm_http_reply_text(
    struct rm_http_request *request, int status, const char *json, size_t len)
{
	reply_copy(request, status, "application/json", json, len);
}

void
rm_http_reply_plain(
    struct rm_http_request *request, int status, const char *text, size_t len)
{
	reply_copy(request, status, "text/plain; charset=utf-8", text, len);
}

/* ---- static files of a page ---- */

static const char *const file_headers[][2] = {
	{ "Content-Security-Policy",
	    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
	    "connect-src 'self'; base-uri 'none'; form-action 'none'; "
	    "frame-ancestors 'none'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cache-Control", "no-cache" },
};

static bool
add_file_headers(struct evkeyvalq *headers, const char *tag)
{
	bool added = evhttp_add_header(headers, "ETag", tag) == 0;

	for (size_t i = 0; i < sizeof(file_headers) / sizeof(file_headers[0]); i++)
		added = added && evhttp_add_header(headers, file_headers[i][0],
				     file_headers[i][1]) == 0;
	return added;
}

void
rm_http_reply_file(struct rm_http_request *request, const struct rm_http_file *file)
{
	struct evkeyvalq *in = evhttp_request_get_input_headers(request->req);
	const char *held = evhttp_find_header(in, "If-None-Match");
	bool is_held = held != NULL && strcmp(held, file->tag) == 0;
	struct evbuffer *body = evbuffer_new();
	bool built = body != NULL &&
		     add_file_headers(
			 evhttp_request_get_output_headers(request->req), file->tag) &&
		     (is_held || evbuffer_add_reference(
				     body, file->data, file->len, NULL, NULL) == 0);

	rm_http_reply_buffer(
	    request, is_held ? 304 : 200, file->content_type, built ? body : NULL);
	if (body != NULL)
		evbuffer_free(body);
}

static bool
is_utf8(const char *text, size_t len)
{
	json_t *string = json_stringn(text, len);

	json_decref(string);
	return string != NULL;
}

/* Replaces bytes that are not UTF-8: a peer's text in the message may have any bytes,
 * or may be cut within a character. */
static void
mend_utf8(char *text)
{
	while (!is_utf8(text, strlen(text))) {
		const size_t most = strnlen(text, 4);
		size_t len = 1;

		while (len <= most && !is_utf8(text, len))
			len++;
		if (len > most) {
			*text = '?';
			len = 1;
		}
		text += len;
	}
}

void
rm_http_reply_error(
    struct rm_http_request *request, int status, const char *format, ...)
{
	char text[512];
	json_t *sentence;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	mend_utf8(text);
	sentence = json_string(text);
	rm_http_reply_json(request, status, json_pack("{s:o}", "error", sentence));
}

/* ---- requests that are answered later ---- */

#define DEFER_MAX_REQUESTS 32

struct deferred {
	struct rm_http_request
	    request; /* first member: rm_http_defers_remove casts to it */
	struct rm_timer *timer;
	uint64_t token;
};

struct rm_http_defers {
	struct rm_loop *loop;
	struct deferred *requests[DEFER_MAX_REQUESTS]; /* NULL: a free slot */
	uint64_t last_token;
};

int
rm_http_defers_new(struct rm_loop *loop, struct rm_http_defers **ret)
{
	struct rm_http_defers *defers = calloc(1, sizeof(*defers));

	if (defers == NULL)
		return -ENOMEM;
	defers->loop = loop;
	*ret = defers;
	return 0;
}

void
rm_http_defers_free(struct rm_http_defers *defers)
{
	if (defers == NULL)
		return;
	for (size_t i = 0; i < DEFER_MAX_REQUESTS; i++) {
		if (defers->requests[i] != NULL)
			rm_http_reply_error(
			    &defers->requests[i]->request, 503, "shutting down");
	}
	free(defers);
}

static void
deferred_on_timeout(void *arg)
{
	struct deferred *deferred = arg;

	rm_http_reply_error(&deferred->request, 504, "no answer in time");
}

/* Copies the request, and makes the copy the owner of libevent's request; the caller's
 * copy counts as answered. */
static int
rm_http_defers_add(struct rm_http_defers *defers, struct rm_http_request *request,
    int64_t timeout_ns, uint64_t *token)
{
	struct deferred *deferred;
	size_t i = 0;
	int r;

	while (i < DEFER_MAX_REQUESTS && defers->requests[i] != NULL)
		i++;
	if (i == DEFER_MAX_REQUESTS)
		return -EAGAIN;
	deferred = calloc(1, sizeof(*deferred));
	if (deferred == NULL)
		return -ENOMEM;
	r = rm_timer_new(defers->loop, deferred_on_timeout, deferred, &deferred->timer);
	if (r < 0) {
		free(deferred);
		return r;
	}
	rm_timer_after(deferred->timer, timeout_ns);
	deferred->request.req = request->req;
	deferred->request.rest = "";
	deferred->request.defers = defers;
	TAILQ_INIT(&deferred->request.query);
	deferred->token = ++defers->last_token;
	request->answered = true;
	defers->requests[i] = deferred;
	*token = deferred->token;
	return 0;
}

struct rm_http_request *
rm_http_defers_find(struct rm_http_defers *defers, uint64_t token)
{
	for (size_t i = 0; i < DEFER_MAX_REQUESTS; i++) {
		struct deferred *deferred = defers->requests[i];

		if (deferred == NULL || deferred->token != token)
			continue;
		if (evhttp_request_get_connection(deferred->request.req) != NULL)
			return &deferred->request;
		/* libevent keeps the request of a closed connection until it is
		 * answered. */
		rm_http_reply_error(&deferred->request, 503, "the client has left");
		return NULL;
	}
	return NULL;
}

/* Called when the request has been answered. */
static void
rm_http_defers_remove(struct rm_http_defers *defers, struct rm_http_request *request)
{
	struct deferred *deferred = (struct deferred *)request;

	for (size_t i = 0; i < DEFER_MAX_REQUESTS; i++) {
		if (defers->requests[i] != deferred)
			continue;
		defers->requests[i] = NULL;
		rm_timer_free(deferred->timer);
		free(deferred);
		return;
	}
}
