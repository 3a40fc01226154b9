/*
 * Requests to a daemon's HTTP server on its Unix socket: any bytes, or requests built
 * from parts, in pieces, one after the other, then the end of the connection. Each
 * answer is valid HTTP, each handler gets what the header promises, and the server
 * still works afterwards.
 *
 * Input: mode, size of the pieces; then bytes, or requests.
 */
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "rackmesh/core/address.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/metrics/metrics.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define TEXT_BYTES 8192
#define TURNS 40

static char folder[FUZZ_FOLDER_BYTES], path[64];
static struct rm_loop *loop;
static struct rm_http_server *server;
static struct rm_metrics *metrics;
static uint64_t token; /* token of the last request that is answered later */

/* ---- the daemon ---- */

static void
look_at(struct rm_http_request *request)
{
	const char *rest = rm_http_path_rest(request), *body;
	size_t len;

	body = rm_http_body(request, &len);
	if (rest == NULL || body == NULL || body[len] != 0 || len > 64 << 10 ||
	    rm_http_identity(request)[0] != 0)
		abort();
}

static void
on_numbers(struct rm_http_request *request, void *arg)
{
	uint64_t number = 5;
	const char *text = rm_http_query(request, "n");

	look_at(request);
	if (!rm_http_query_number(request, "n", 3, 1000, &number))
		return;
	if (number < 3 || number > 1000 || (text == NULL && number != 5))
		abort();
	rm_http_reply_json(request, 200, json_pack("{s:I}", "n", (json_int_t)number));
}

static void
on_below(struct rm_http_request *request, void *arg)
{
	const char *rest = rm_http_path_rest(request);

	look_at(request);
	if (strcmp(rest, "nothing") == 0)
		return; /* libevent has answered */
	if (strcmp(rest, "twice") == 0)
		rm_http_reply_error(request, 404, "no %s", rest);
	rm_http_reply_plain(request, 200, rest, strlen(rest));
}

static void
on_change(struct rm_http_request *request, void *arg)
{
	size_t len;
	const char *body = rm_http_body(request, &len);

	look_at(request);
	rm_http_reply_text(request, 200, body, len);
}

static void
on_later(struct rm_http_request *request, void *arg)
{
	uint64_t fresh;

	look_at(request);
	if (rm_http_defer(request, RM_NS_PER_S, &fresh) < 0)
		rm_http_reply_error(request, 503, "too many wait");
	else
		token = fresh;
}

static bool
is_ready(char *sentence, size_t len, void *arg)
{
	snprintf(sentence, len, "not yet");
	return false;
}

static void
leave(void)
{
	rm_http_server_free(server);
	rm_metrics_free(metrics);
	rm_loop_free(loop);
	fuzz_folder_remove(folder);
}

static void
start(void)
{
	struct rm_address address;
	char text[80];

	fuzz_folder_make(folder);
	snprintf(path, sizeof(path), "%s/http", folder);
	snprintf(text, sizeof(text), "unix:%s", path);
	if (rm_loop_new(&loop) < 0 || rm_metrics_new(&metrics) < 0 ||
	    rm_http_server_new(loop, &server) < 0 ||
	    rm_http_route(server, RM_HTTP_READ, "/v1/numbers", on_numbers, NULL) < 0 ||
	    rm_http_route(server, RM_HTTP_READ, "/v1/below/", on_below, NULL) < 0 ||
	    rm_http_route(server, RM_HTTP_READ, "/v1/later", on_later, NULL) < 0 ||
	    rm_http_route(server, RM_HTTP_CHANGE, "/v1/change", on_change, NULL) < 0 ||
	    rm_http_serve_health(server, metrics, is_ready, NULL) < 0 ||
	    rm_address_parse(text, -1, &address) < 0 ||
	    rm_http_server_listen(server, &address) < 0)
		abort();
	atexit(leave);
}

/* ---- the client ---- */

static size_t
add(char *text, size_t at, const char *fragment, size_t len)
{
	len = len < TEXT_BYTES - at ? len : TEXT_BYTES - at;
	if (len > 0)
		memcpy(text + at, fragment, len);
	return at + len;
}

static size_t
add_fragment(char *text, size_t at, const char *fragment)
{
	return add(text, at, fragment, strlen(fragment));
}

/* The i-th of these values, or bytes of the input. */
static size_t
add_one(struct fuzz_bytes *bytes, char *text, size_t at, const char *const *fragments,
    size_t count)
{
	uint8_t which = fuzz_u8(bytes);
	struct fuzz_bytes part;

	if (which < 0xf0)
		return add_fragment(text, at, fragments[which % count]);
	part = fuzz_part(bytes, 200);
	return add(text, at, (const char *)part.at, part.left);
}

#define ADD_ONE(fragments) \
	at = add_one(      \
	    bytes, text, at, fragments, sizeof(fragments) / sizeof(*(fragments)))

static size_t
make_request(struct fuzz_bytes *bytes, char *text, size_t at)
{
	static const char *const methods[] = { "GET", "POST", "HEAD", "PUT", "DELETE",
		"OPTIONS", "TRACE", "CONNECT", "PATCH", "get", "" };
	static const char *const paths[] = { "/v1/numbers", "/v1/below/x", "/v1/later",
		"/v1/change", "/metrics", "/healthz", "/readyz", "/v1/below/nothing",
		"/v1/below/twice", "/v1/below/%41%2f", "/v1/below/%00", "/", "*",
		"http://a/v1/numbers", "/v1/none", "//" };
	static const char *const queries[] = { "", "?n=7", "?n=2000", "?n=x", "?", "?n",
		"?=&", "?n=7&n=8", "?%zz=%", "?n=18446744073709551616", "#f" };
	static const char *const versions[] = { " HTTP/1.1\r\n", " HTTP/1.0\r\n",
		" HTTP/9.9\r\n", "\r\n", " HTTP/1.1\n" };
	static const char *const headers[] = { "", "Host: localhost\r\n",
		"Connection: close\r\n", "Connection: keep-alive\r\n",
		"Expect: 100-continue\r\n", "Transfer-Encoding: chunked\r\n",
		"Content-Length: 5\r\n", "Content-Length: 99999999\r\n",
		"Content-Length: -1\r\n", "Content-Length: 18446744073709551615\r\n",
		" folded\r\n", ": x\r\n" };
	static const char *const bodies[] = { "", "hello", "5\r\nhello\r\n0\r\n\r\n",
		"ffffffffffffffff\r\n", "-1\r\n", "0\r\n\r\n" };

	ADD_ONE(methods);
	at = add_fragment(text, at, " ");
	ADD_ONE(paths);
	ADD_ONE(queries);
	ADD_ONE(versions);
	for (unsigned n = fuzz_below(bytes, 4); n > 0; n--)
		ADD_ONE(headers);
	at = add_fragment(text, at, "\r\n");
	ADD_ONE(bodies);
	return at;
}

static void
turn(void)
{
	if (event_base_loop(rm_loop_base(loop), EVLOOP_NONBLOCK) < 0)
		abort();
	if (token != 0) {
		rm_http_reply_plain(rm_http_deferred(server, token), 200, "late", 4);
		token = 0;
	}
}

static int
dial(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	strcpy(to.sun_path, path);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0)
		abort();
	return fd;
}

/* False: the connection has ended. */
static bool
receive(int fd, char *answer, size_t *len)
{
	ssize_t n = recv(fd, answer + *len, TEXT_BYTES - *len, 0);

	if (n > 0)
		*len += (size_t)n;
	return n > 0 || (n < 0 && errno == EAGAIN);
}

static void
talk(const char *text, size_t len, size_t piece)
{
	static char answer[TEXT_BYTES];
	size_t reported = 0, seen = 0;
	int fd = dial();

	for (int i = 0; i < TURNS; i++) {
		size_t some = len - reported < piece ? len - reported : piece;
		ssize_t n =
		    some > 0 ? send(fd, text + reported, some, MSG_NOSIGNAL) : 0;

		if (n > 0)
			reported += (size_t)n;
		if (reported == len)
			shutdown(fd, SHUT_WR);
		turn();
		if (seen < TEXT_BYTES && !receive(fd, answer, &seen))
			break;
	}
	close(fd);
	turn();
	turn();
	if (seen > 0 && (seen < 12 || memcmp(answer, "HTTP/", 5) != 0))
		abort();
}

static void
still_serves(void)
{
	static const char ask[] = "GET /healthz HTTP/1.0\r\n\r\n";
	char answer[TEXT_BYTES];
	size_t len = 0;
	int fd = dial();

	if (send(fd, ask, sizeof(ask) - 1, MSG_NOSIGNAL) != (ssize_t)(sizeof(ask) - 1))
		abort();
	for (int i = 0; i < TURNS && len == 0; i++) {
		turn();
		(void)receive(fd, answer, &len);
	}
	close(fd);
	turn();
	if (len < 15 || memcmp(answer + 8, " 200 ", 5) != 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_bytes bytes = { data, len };
	uint8_t mode = fuzz_u8(&bytes), piece = fuzz_u8(&bytes);
	static char text[TEXT_BYTES];
	size_t at = 0;

	if (loop == NULL)
		start();
	if (mode & 1) {
		at = add(text, 0, (const char *)bytes.at, bytes.left);
	} else {
		for (int i = 0; i < 4 && bytes.left > 0; i++)
			at = make_request(&bytes, text, at);
	}
	talk(text, at, piece == 0 ? TEXT_BYTES : 64u * piece);
	if (mode % 16 == 2)
		still_serves();
	if (*rm_http_server_full(server) > 0)
		abort();
	return 0;
}
