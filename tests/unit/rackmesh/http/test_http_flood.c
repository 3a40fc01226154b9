/* Servers that send to the client of http_client without end. */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/loop/loop.h"

#define TIMEOUT_NS (2 * RM_NS_PER_S)
#define MOST_BYTES (64u << 20)

struct fixture {
	struct rm_loop *loop;
	struct rm_http_client *client;
	struct evconnlistener *listener;
	struct bufferevent *peer;
	const char *first; /* sent once to each connection */
	const char *again; /* sent after it, again and again */
	size_t again_len, sent;
	int port, r;
	bool whole;
	char reason[256];
};

static void
on_sent(struct bufferevent *peer, void *arg)
{
	struct fixture *f = arg;

	/* without the limit a client that takes all would fill the memory */
	if (f->sent >= MOST_BYTES)
		return;
	bufferevent_write(peer, f->again, f->again_len);
	f->sent += f->again_len;
}

static void
on_gone(struct bufferevent *peer, short what, void *arg)
{
	struct fixture *f = arg;

	f->peer = NULL;
	bufferevent_free(peer);
}

static void
on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address,
    int len, void *arg)
{
	struct fixture *f = arg;

	f->peer =
	    bufferevent_socket_new(rm_loop_base(f->loop), fd, BEV_OPT_CLOSE_ON_FREE);
	assert_non_null(f->peer);
	bufferevent_setcb(f->peer, NULL, on_sent, on_gone, f);
	bufferevent_enable(f->peer, EV_READ | EV_WRITE);
	bufferevent_write(f->peer, f->first, strlen(f->first));
	on_sent(f->peer, f);
}

static void
on_done(const struct rm_http_answer *answer, void *arg)
{
	struct fixture *f = arg;

	f->r = answer->r;
	snprintf(f->reason, sizeof(f->reason), "%s", answer->reason);
	rm_loop_stop(f->loop);
}

static int
setup(void **state)
{
	static struct fixture f;
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);

	f = (struct fixture){ .first = "" };
	assert_int_equal(rm_loop_new(&f.loop), 0);
	assert_int_equal(rm_http_client_new(f.loop, &f.client), 0);
	f.listener = evconnlistener_new_bind(rm_loop_base(f.loop), on_accept, &f,
	    LEV_OPT_CLOSE_ON_FREE, 16, (struct sockaddr *)&address, sizeof(address));
	assert_non_null(f.listener);
	assert_int_equal(getsockname(evconnlistener_get_fd(f.listener),
			     (struct sockaddr *)&address, &len),
	    0);
	f.port = ntohs(address.sin_port);
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_http_client_free(f->client);
	if (f->peer != NULL)
		bufferevent_free(f->peer);
	evconnlistener_free(f->listener);
	rm_loop_free(f->loop);
	return 0;
}

/* Returns how the exchange ended. */
static int
ask(struct fixture *f, const char *scheme)
{
	char url[64];
	const struct rm_http_exchange exchange = {
		.url = url,
		.whole = f->whole,
		.timeout_ns = TIMEOUT_NS,
		.done = on_done,
		.arg = f,
	};

	snprintf(url, sizeof(url), "%s://127.0.0.1:%d/", scheme, f->port);
	assert_int_equal(rm_http_client_start(f->client, &exchange, NULL), 0);
	assert_int_equal(rm_loop_run(f->loop), 0);
	return f->r;
}

/* libcurl itself limits headers, but no trailers, which it keeps in memory. */
static void
trailers_without_end_are_refused(void **state)
{
	static char trailers[16384];
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(trailers); i += 8)
		memcpy(trailers + i, "X-A: y\r\n", 8);
	f->first = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		   "1\r\nx\r\n0\r\n";
	f->again = trailers;
	f->again_len = sizeof(trailers);
	assert_int_equal(ask(f, "http"), -EMSGSIZE);
	assert_string_equal(
	    f->reason, "the headers of its answer are larger than 256 KiB");
}

static void
headers_without_end_are_refused(void **state)
{
	static char headers[16384];
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(headers); i += 8)
		memcpy(headers + i, "X-A: y\r\n", 8);
	f->first = "HTTP/1.1 200 OK\r\n";
	f->again = headers;
	f->again_len = sizeof(headers);
	f->whole = true;
	assert_int_equal(ask(f, "http"), -EMSGSIZE);
	assert_string_equal(
	    f->reason, "the headers of its answer are larger than 256 KiB");
}

/* libcurl limits a line itself, and calls it a lack of memory. */
static void
a_header_without_end_is_refused(void **state)
{
	static char header[16384];
	struct fixture *f = *state;

	memset(header, 'a', sizeof(header));
	f->first = "HTTP/1.1 200 OK\r\nX-A: ";
	f->again = header;
	f->again_len = sizeof(header);
	assert_int_not_equal(ask(f, "http"), 0);
	assert_non_null(
	    strstr(f->reason, "a header of its answer is larger than 100 KiB"));
}

static void
a_body_without_end_is_refused_if_it_must_be_whole(void **state)
{
	static char body[16384];
	struct fixture *f = *state;

	f->first = "HTTP/1.1 200 OK\r\n\r\n";
	f->again = body;
	f->again_len = sizeof(body);
	f->whole = true;
	assert_int_equal(ask(f, "http"), -EMSGSIZE);
	assert_string_equal(f->reason, "its answer is larger than 64 KiB");
}

/* OpenSSL skips each HelloRequest while it waits for the server's hello. A server that
 * sends them faster than they are read would keep it, and the loop, in one call. */
static void
tls_messages_without_end_are_refused(void **state)
{
	/* one record with as many messages as fit: type 0, length 0 */
	static char record[5 + 16384] = { 22, 3, 3, 0x40, 0 };
	struct fixture *f = *state;

	f->again = record;
	f->again_len = sizeof(record);
	assert_int_not_equal(ask(f, "https"), -ETIMEDOUT);
	assert_int_not_equal(f->r, 0);
	assert_non_null(
	    strstr(f->reason, "the server has sent 1000 TLS messages on a connection"));
	assert_true(f->sent < MOST_BYTES);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(trailers_without_end_are_refused),
		TEST(headers_without_end_are_refused),
		TEST(a_header_without_end_is_refused),
		TEST(a_body_without_end_is_refused_if_it_must_be_whole),
		TEST(tls_messages_without_end_are_refused),
	};

	return cmocka_run_group_tests_name("http_flood", tests, NULL, NULL);
}
