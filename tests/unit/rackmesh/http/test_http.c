/* http_server and http_client on one loop, over loopback TCP and a Unix socket, and
 * each of them against a faulty peer. */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "rackmesh/core/address.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/metrics/metrics.h"

#define DEADLINE_NS (60 * RM_NS_PER_S)
#define TEXT_MAX (65 << 10)
#define SERVER_CONNECTIONS 64

struct fixture {
	struct rm_loop *loop;
	struct rm_http_server *server;
	struct rm_http_client *client;
	struct rm_metrics *metrics;
	struct rm_timer *deadline;
	char folder[32], socket[64];
	uint64_t counter;
	bool ready;
	unsigned waiting, done;
	/* the last answer */
	int r;
	long status;
	int64_t retry_after_s, date_s;
	size_t body_len;
	char body[TEXT_MAX];
};

static void
on_deadline(void *arg)
{
	struct fixture *f = arg;

	rm_loop_stop(f->loop);
}

static void
on_done(const struct rm_http_answer *answer, void *arg)
{
	struct fixture *f = arg;

	f->r = answer->r;
	f->status = answer->status;
	f->retry_after_s = answer->retry_after_s;
	f->date_s = answer->date_s;
	f->body_len = answer->body_len;
	memcpy(f->body, answer->body, answer->body_len + 1);
	f->done++;
	if (--f->waiting == 0)
		rm_loop_stop(f->loop);
}

static void
run(struct fixture *f)
{
	rm_timer_after(f->deadline, DEADLINE_NS);
	assert_int_equal(rm_loop_run(f->loop), 0);
	rm_timer_stop(f->deadline);
}

static void
start(struct fixture *f, const char *url, const char *body, size_t len, int64_t timeout)
{
	f->waiting++;
	assert_int_equal(rm_http_client_send(f->client, url, "application/json", body,
			     len, timeout, on_done, f),
	    0);
}

/* Sends one request and waits for its end. */
static void
exchange(struct fixture *f, const char *url, const char *body)
{
	f->done = 0;
	start(f, url, body, body != NULL ? strlen(body) : 0, DEADLINE_NS / 2);
	assert_int_equal(f->done, 0); /* no callback from inside the call */
	run(f);
	assert_int_equal(f->done, 1);
}

static const char *
tcp(const struct fixture *f, const char *path)
{
	static char url[256];

	snprintf(url, sizeof(url), "http://127.0.0.1:%d%s",
	    rm_http_server_port(f->server), path);
	return url;
}

static const char *
local(const struct fixture *f, const char *path)
{
	static char url[256];

	snprintf(url, sizeof(url), "unix:%s:%s", f->socket, path);
	return url;
}

static void
serve_echo(struct rm_http_request *request, void *arg)
{
	const char *who = rm_http_query(request, "who");
	size_t len;
	const char *body = rm_http_body(request, &len);

	rm_http_reply_json(request, 200,
	    json_pack("{s:s, s:s*, s:s%, s:i}", "rest", rm_http_path_rest(request),
		"who", who, "body", body, len, "len", (int)len));
}

static void
serve_silence(struct rm_http_request *request, void *arg)
{
}

static void
serve_twice(struct rm_http_request *request, void *arg)
{
	rm_http_reply_error(request, 429, "too \"many\" %d", 7);
	rm_http_reply_error(request, 500, "never seen");
}

static void
serve_large(struct rm_http_request *request, void *arg)
{
	static char text[3 * TEXT_MAX];

	memset(text, 'x', sizeof(text) - 1);
	rm_http_reply_json(request, 200, json_string(text));
}

static bool
is_ready(char *sentence, size_t len, void *arg)
{
	const struct fixture *f = arg;

	snprintf(sentence, len, "%s", f->ready ? "all there" : "no pinglist yet");
	return f->ready;
}

static void
listen_on(struct fixture *f, const char *text)
{
	struct rm_address address;

	assert_int_equal(rm_address_parse(text, -1, &address), 0);
	assert_int_equal(rm_http_server_listen(f->server, &address), 0);
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char text[80];

	assert_non_null(f);
	strcpy(f->folder, "/tmp/test_http_XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->socket, sizeof(f->socket), "%s/s", f->folder);
	snprintf(text, sizeof(text), "unix:%s", f->socket);
	assert_int_equal(rm_loop_new(&f->loop), 0);
	assert_int_equal(rm_timer_new(f->loop, on_deadline, f, &f->deadline), 0);
	assert_int_equal(rm_metrics_new(&f->metrics), 0);
	assert_int_equal(rm_http_client_new(f->loop, &f->client), 0);
	assert_int_equal(rm_http_server_new(f->loop, &f->server), 0);
	assert_int_equal(rm_http_server_port(f->server), -ENOTCONN);
	listen_on(f, text);
	listen_on(f, "127.0.0.1:0");
	f->counter = 41;
	assert_int_equal(rm_metrics_counter(f->metrics, f, "rackmesh_test_total", "",
			     "a test", &f->counter),
	    0);
	assert_int_equal(rm_http_serve_health(f->server, f->metrics, is_ready, f), 0);
	assert_int_equal(
	    rm_http_route(f->server, RM_HTTP_READ, "/v1/echo", serve_echo, f), 0);
	assert_int_equal(
	    rm_http_route(f->server, RM_HTTP_READ, "/v1/below/", serve_echo, f), 0);
	assert_int_equal(
	    rm_http_route(f->server, RM_HTTP_CHANGE, "/v1/change", serve_echo, f), 0);
	assert_int_equal(
	    rm_http_route(f->server, RM_HTTP_READ, "/v1/silence", serve_silence, f), 0);
	assert_int_equal(
	    rm_http_route(f->server, RM_HTTP_READ, "/v1/twice", serve_twice, f), 0);
	assert_int_equal(
	    rm_http_route(f->server, RM_HTTP_READ, "/v1/large", serve_large, f), 0);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_http_client_free(f->client);
	rm_http_server_free(f->server);
	rm_metrics_free(f->metrics);
	rm_timer_free(f->deadline);
	rm_loop_free(f->loop);
	rmdir(f->folder);
	free(f);
	return 0;
}

static void
a_read_is_answered_over_tcp_and_unix(void **state)
{
	struct fixture *f = *state;

	exchange(f, tcp(f, "/v1/echo?who=me%20you"), NULL);
	assert_int_equal(f->r, 0);
	assert_int_equal(f->status, 200);
	assert_int_equal(f->retry_after_s, -1);
	assert_string_equal(
	    f->body, "{\"rest\":\"\",\"who\":\"me you\",\"body\":\"\",\"len\":0}\n");
	exchange(f, local(f, "/v1/below/a%2Fb/c"), NULL);
	assert_int_equal(f->status, 200);
	assert_string_equal(f->body, "{\"rest\":\"a/b/c\",\"body\":\"\",\"len\":0}\n");
}

static void
a_change_is_taken_on_the_unix_socket_only(void **state)
{
	struct fixture *f = *state;
	char expected[256];

	exchange(f, local(f, "/v1/change"), "{\"a\":1}");
	assert_int_equal(f->status, 200);
	assert_string_equal(
	    f->body, "{\"rest\":\"\",\"body\":\"{\\\"a\\\":1}\",\"len\":7}\n");
	exchange(f, tcp(f, "/v1/change"), "{}");
	assert_int_equal(f->status, 403);
	snprintf(expected, sizeof(expected),
	    "{\"error\":\"changes are accepted on the Unix socket only, unix:%s\"}\n",
	    f->socket);
	assert_string_equal(f->body, expected);
}

static void
wrong_paths_and_methods_are_reported(void **state)
{
	struct fixture *f = *state;

	exchange(f, tcp(f, "/v1/nothing"), NULL);
	assert_int_equal(f->status, 404);
	assert_string_equal(f->body, "{\"error\":\"nothing at this path\"}\n");
	exchange(f, tcp(f, "/v1/echo/more"), NULL);
	assert_int_equal(f->status, 404);
	exchange(f, tcp(f, "/v1/echo"), "body");
	assert_int_equal(f->status, 405);
	assert_string_equal(f->body, "{\"error\":\"this path takes GET only\"}\n");
	exchange(f, local(f, "/v1/change"), NULL);
	assert_int_equal(f->status, 405);
	assert_string_equal(f->body, "{\"error\":\"this path takes POST only\"}\n");
	exchange(f, tcp(f, "/v1/echo%00"), NULL);
	assert_int_equal(f->status, 400);
	exchange(f, tcp(f, "/v1/echo?&&=&"), NULL);
	assert_int_equal(f->status, 400);
}

static void
a_handler_is_answered_for_exactly_once(void **state)
{
	struct fixture *f = *state;

	exchange(f, tcp(f, "/v1/silence"), NULL);
	assert_int_equal(f->status, 500);
	exchange(f, tcp(f, "/v1/twice"), NULL);
	assert_int_equal(f->status, 429);
	assert_string_equal(f->body, "{\"error\":\"too \\\"many\\\" 7\"}\n");
}

static void
health_and_metrics_are_served(void **state)
{
	struct fixture *f = *state;

	exchange(f, tcp(f, "/healthz"), NULL);
	assert_int_equal(f->status, 200);
	exchange(f, tcp(f, "/readyz"), NULL);
	assert_int_equal(f->status, 503);
	assert_string_equal(
	    f->body, "{\"ready\":false,\"reason\":\"no pinglist yet\"}\n");
	f->ready = true;
	exchange(f, tcp(f, "/readyz"), NULL);
	assert_int_equal(f->status, 200);
	exchange(f, tcp(f, "/metrics"), NULL);
	assert_int_equal(f->status, 200);
	assert_non_null(strstr(f->body, "\nrackmesh_test_total 41\n"));
}

static void
after_an_oversized_body_the_server_still_answers(void **state)
{
	struct fixture *f = *state;
	char *text = malloc(TEXT_MAX + 1);

	assert_non_null(text);
	memset(text, 'x', TEXT_MAX);
	text[TEXT_MAX] = 0;
	exchange(f, local(f, "/v1/change"), text);
	assert_true(f->r < 0 || f->status == 413);
	text[64 << 10] = 0;
	exchange(f, local(f, "/v1/change"), text);
	assert_int_equal(f->status, 200);
	free(text);
}

static void
after_oversized_headers_the_server_still_answers(void **state)
{
	struct fixture *f = *state;
	char path[10 << 10];
	char url[sizeof(path) + 256];

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	snprintf(url, sizeof(url), "%s%s", tcp(f, "/v1/below/"), path);
	exchange(f, url, NULL);
	assert_true(f->r < 0 || f->status >= 400);
	exchange(f, tcp(f, "/healthz"), NULL);
	assert_int_equal(f->status, 200);
}

static void
a_large_answer_is_cut_and_its_status_kept(void **state)
{
	struct fixture *f = *state;

	exchange(f, tcp(f, "/v1/large"), NULL);
	assert_int_equal(f->r, 0);
	assert_int_equal(f->status, 200);
	assert_int_equal(f->body_len, 64 << 10);
	assert_int_equal(f->body[f->body_len], 0);
}

static void
no_more_exchanges_than_the_bound_run_at_once(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < RM_HTTP_MAX_CALLS; i++)
		start(f, tcp(f, "/healthz"), NULL, 0, 2 * RM_NS_PER_S);
	assert_int_equal(rm_http_client_send(f->client, tcp(f, "/healthz"), NULL, NULL,
			     0, RM_NS_PER_S, on_done, f),
	    -EAGAIN);
	run(f);
	assert_int_equal(f->done, RM_HTTP_MAX_CALLS);
	/* Some may have waited too long: the server accepts 64 connections. */
	exchange(f, tcp(f, "/healthz"), NULL);
	assert_int_equal(f->status, 200);
}

/* Connects without running the loop; the server accepts in its next turn. */
static int
connect_unix(const struct fixture *f, const char *own_path)
{
	struct sockaddr_un own = { .sun_family = AF_UNIX };
	struct sockaddr_un peer = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	strncpy(peer.sun_path, f->socket, sizeof(peer.sun_path) - 1);
	if (own_path != NULL) {
		strncpy(own.sun_path, own_path, sizeof(own.sun_path) - 1);
		assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof(own)), 0);
	}
	assert_int_equal(connect(fd, (struct sockaddr *)&peer, sizeof(peer)), 0);
	return fd;
}

static void
a_flood_on_one_socket_waits_and_leaves_the_other_usable(void **state)
{
	struct fixture *f = *state;
	int fds[SERVER_CONNECTIONS];

	for (unsigned i = 0; i < SERVER_CONNECTIONS; i++)
		fds[i] = connect_unix(f, NULL);
	exchange(f, tcp(f, "/healthz"), NULL);
	assert_int_equal(f->status, 200);
	assert_int_equal(*rm_http_server_full(f->server), 1);

	start(f, local(f, "/healthz"), NULL, 0, 100 * RM_NS_PER_MS);
	run(f);
	assert_int_equal(f->r, -ETIMEDOUT);

	close(fds[0]);
	exchange(f, local(f, "/healthz"), NULL);
	assert_int_equal(f->status, 200);
	for (unsigned i = 1; i < SERVER_CONNECTIONS; i++)
		close(fds[i]);
	exchange(f, local(f, "/healthz"), NULL);
	assert_int_equal(f->status, 200);
}

static void
an_answer_to_head_has_the_length_of_the_body_without_the_body(void **state)
{
	static const char sent[] =
	    "HEAD /v1/below/a HTTP/1.1\r\nHost: localhost\r\n\r\n"
	    "GET /v1/below/b HTTP/1.1\r\nHost: localhost\r\n"
	    "Connection: close\r\n\r\n";
	struct fixture *f = *state;
	int fd = connect_unix(f, NULL);
	char answers[4096] = "", length[64];
	const char *second;
	ssize_t n, len = 0;

	exchange(f, tcp(f, "/v1/below/a"), NULL);
	snprintf(length, sizeof(length), "\r\nContent-Length: %zu\r\n", f->body_len);
	assert_int_equal(
	    send(fd, sent, sizeof(sent) - 1, MSG_NOSIGNAL), sizeof(sent) - 1);
	do {
		exchange(f, tcp(f, "/healthz"), NULL);
		n = recv(fd, answers + len, sizeof(answers) - 1 - (size_t)len, 0);
		len += n > 0 ? n : 0;
	} while (n > 0 || (n < 0 && errno == EAGAIN));
	close(fd);

	assert_int_equal(n, 0);
	assert_int_equal(strncmp(answers, "HTTP/1.1 200 ", 13), 0);
	second = strstr(answers + 1, "HTTP/1.1 200 ");
	assert_non_null(second);
	assert_true(strstr(answers, length) < second);
	assert_int_equal(strncmp(second - 4, "\r\n\r\n", 4), 0);
	assert_null(strstr(answers, "\"rest\":\"a\""));
	assert_non_null(strstr(second, "\"rest\":\"b\""));
}

/* A connection must free its place, however it ends. */
static void
every_kind_of_end_frees_a_connection(void **state)
{
	static const char *const sent[] = {
		"",
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		"GET /healthz HTTP/1.0\r\n\r\n",
		"GET /healthz HTTP/1.1\r\nHos",
		"POST /v1/change HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
		"9\r\n\r\nx",
		"POST /v1/change HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
		"99999\r\n\r\n",
		"FOO /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"DELETE /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"\x16\x03\x01\x02\xff\r\n\r\n",
		"CONNECT x:1 HTTP/1.1\r\n\r\n",
		"GET * HTTP/9.9\r\n\r\n",
	};
	static const size_t kinds = sizeof(sent) / sizeof(sent[0]);
	struct fixture *f = *state;

	for (size_t i = 0; i < 8 * SERVER_CONNECTIONS; i++) {
		const char *text = sent[i % kinds];
		int fd = connect_unix(f, NULL);

		assert_int_equal(
		    send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
		if (i / kinds % 3 == 0) /* answered, or waiting; then closed */
			exchange(f, local(f, "/healthz"), NULL);
		else if (i / kinds % 3 == 1)
			shutdown(fd, SHUT_WR);
		exchange(f, tcp(f, "/healthz"), NULL);
		assert_int_equal(f->status, 200);
		close(fd);
	}
	exchange(f, local(f, "/healthz"), NULL);
	assert_int_equal(f->status, 200);
	assert_int_equal(*rm_http_server_full(f->server), 0);
}

/* libevent aborts the process if a peer's name is longer than its buffer. */
static void
a_long_host_name_of_a_peer_is_handled(void **state)
{
	struct fixture *f = *state;
	char path[100];
	int fd;

	snprintf(path, sizeof(path), "%s/%050d", f->folder, 0);
	fd = connect_unix(f, path);
	exchange(f, local(f, "/healthz"), NULL);
	assert_int_equal(f->status, 200);
	close(fd);
	unlink(path);
}

static void
the_unix_socket_has_mode_0600_and_replaces_a_stale_one(void **state)
{
	struct fixture *f = *state;
	struct rm_address address;
	char text[96], path[80];
	struct stat st;
	FILE *file;

	assert_int_equal(stat(f->socket, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	snprintf(text, sizeof(text), "unix:%s", f->socket);
	listen_on(f, text);
	exchange(f, local(f, "/healthz"), NULL);
	assert_int_equal(f->status, 200);

	snprintf(path, sizeof(path), "%s/file", f->folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	snprintf(text, sizeof(text), "unix:%s", path);
	assert_int_equal(rm_address_parse(text, -1, &address), 0);
	assert_int_equal(rm_http_server_listen(f->server, &address), -EEXIST);
	assert_int_equal(stat(path, &st), 0);
	unlink(path);
}

/* Listens on a free port of loopback and writes its address as a URL. */
static int
silent_listener(char url[64])
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t len = sizeof(in);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &len), 0);
	snprintf(url, 64, "http://127.0.0.1:%d/", ntohs(in.sin_port));
	return fd;
}

static void
a_peer_that_never_answers_times_out(void **state)
{
	struct fixture *f = *state;
	rm_mono_t began = rm_mono_now();
	char url[64];
	int fd = silent_listener(url);

	start(f, url, "x", 1, 50 * RM_NS_PER_MS);
	run(f);
	assert_int_equal(f->done, 1);
	assert_int_equal(f->r, -ETIMEDOUT);
	assert_true(rm_mono_since(rm_mono_now(), began) >= 50 * RM_NS_PER_MS);
	close(fd);
}

static void
a_closed_port_is_refused(void **state)
{
	struct fixture *f = *state;
	char url[64];

	close(silent_listener(url));
	exchange(f, url, NULL);
	assert_int_equal(f->r, -ECONNREFUSED);
	assert_int_equal(f->status, 0);
	exchange(f, "unix:/nowhere/s:/", NULL);
	assert_true(f->r < 0);
}

static void
retry_after_and_date_are_read(void **state)
{
	static const char answer[] = "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n"
				     "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n"
				     "Content-Length: 2\r\n\r\nno";
	struct fixture *f = *state;
	char url[64];
	int fd = silent_listener(url), peer;

	/* The request is made, then accepted here, then waited for. */
	start(f, url, NULL, 0, DEADLINE_NS / 2);
	f->waiting++;
	rm_timer_after(f->deadline, RM_NS_PER_MS);
	/* Waits until the client has connected. */
	assert_int_equal(rm_loop_run(f->loop), 0);
	peer = accept(fd, NULL, NULL);
	assert_true(peer >= 0);
	f->waiting--;
	assert_int_equal(write(peer, answer, sizeof(answer) - 1), sizeof(answer) - 1);
	run(f);
	assert_int_equal(f->r, 0);
	assert_int_equal(f->status, 503);
	assert_int_equal(f->retry_after_s, 7);
	assert_int_equal(f->date_s, 1700000000);
	assert_string_equal(f->body, "no");
	close(peer);
	close(fd);
}

static void
a_bad_url_or_time_out_is_refused(void **state)
{
	static const char *const local_urls[] = { "unix:", "unix:/x", "unix::/v1" };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(local_urls) / sizeof(local_urls[0]); i++)
		assert_int_equal(rm_http_client_send(f->client, local_urls[i], NULL,
				     NULL, 0, RM_NS_PER_S, on_done, f),
		    -EINVAL);
	assert_int_equal(
	    rm_http_client_send(f->client, tcp(f, "/"), NULL, NULL, 0, 0, on_done, f),
	    -EINVAL);
	exchange(f, "file:///etc/hostname", NULL);
	assert_int_equal(f->r, -EINVAL);
}

static void
calls_are_canceled_when_the_client_is_freed(void **state)
{
	struct fixture *f = *state;
	char url[64];
	int fd = silent_listener(url);

	start(f, url, NULL, 0, DEADLINE_NS / 2);
	start(f, url, "x", 1, DEADLINE_NS / 2);
	rm_http_client_free(f->client);
	f->client = NULL;
	assert_int_equal(f->done, 2);
	assert_int_equal(f->r, -ECANCELED);
	close(fd);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

/* The peer reads nothing, so much of the body is still in the kernel when the client
 * gives up. When the peer reads later, that part must not be there. */
static void
a_request_that_timed_out_does_not_arrive_later(void **state)
{
	struct fixture *f = *state;
	const size_t len = 64u << 20;
	char url[64], *body = malloc(len), piece[4096];
	int listener = silent_listener(url), peer;
	ssize_t n;

	assert_non_null(body);
	memset(body, 'x', len);
	start(f, url, body, len, RM_NS_PER_S / 5);
	free(body);
	run(f);
	assert_int_equal(f->r, -ETIMEDOUT);
	peer = accept(listener, NULL, NULL);
	do
		n = read(peer, piece, sizeof(piece));
	while (n > 0);
	assert_int_equal(n, -1);
	assert_int_equal(errno, ECONNRESET);
	close(peer);
	close(listener);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_read_is_answered_over_tcp_and_unix),
		TEST(a_change_is_taken_on_the_unix_socket_only),
		TEST(wrong_paths_and_methods_are_reported),
		TEST(a_handler_is_answered_for_exactly_once),
		TEST(health_and_metrics_are_served),
		TEST(after_an_oversized_body_the_server_still_answers),
		TEST(after_oversized_headers_the_server_still_answers),
		TEST(a_large_answer_is_cut_and_its_status_kept),
		TEST(no_more_exchanges_than_the_bound_run_at_once),
		TEST(a_flood_on_one_socket_waits_and_leaves_the_other_usable),
		TEST(an_answer_to_head_has_the_length_of_the_body_without_the_body),
		TEST(every_kind_of_end_frees_a_connection),
		TEST(a_long_host_name_of_a_peer_is_handled),
		TEST(the_unix_socket_has_mode_0600_and_replaces_a_stale_one),
		TEST(a_peer_that_never_answers_times_out),
		TEST(a_request_that_timed_out_does_not_arrive_later),
		TEST(a_closed_port_is_refused),
		TEST(retry_after_and_date_are_read),
		TEST(a_bad_url_or_time_out_is_refused),
		TEST(calls_are_canceled_when_the_client_is_freed),
	};

	return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
