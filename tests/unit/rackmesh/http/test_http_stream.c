/* Further features of http_client: headers, login, streams, cancelling. */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/http/http_client.h"
#include "rackmesh/loop/loop.h"

#define DEADLINE_NS (60 * RM_NS_PER_S)
#define PIECE (100u << 10)
#define STREAMS 8

struct fixture {
	struct rm_loop *loop;
	struct rm_http_client *client;
	struct rm_timer *deadline;
	struct evhttp *server;
	int port;
	struct evhttp_request *open[STREAMS]; /* the server keeps it */
	unsigned opened;
	unsigned requests;
	char seen[512]; /* headers of the last request */
	struct rm_http_call *calls[2];
	size_t streamed, largest;
	unsigned pieces, dones;
	/* 1: cancel this call, 2: cancel the other, 3: start another one. */
	int on_data_status;
	int r;
	long status;
	size_t body_len;
	char body[64];
};

static void
on_deadline(void *arg)
{
	struct fixture *f = arg;

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
on_done(const struct rm_http_answer *answer, void *arg)
{
	struct fixture *f = arg;

	f->r = answer->r;
	f->status = answer->status;
	f->body_len = answer->body_len;
	snprintf(f->body, sizeof(f->body), "%s", answer->body);
	f->dones++;
	rm_loop_stop(f->loop);
}

static void
note(struct fixture *f, struct evhttp_request *req, const char *name)
{
	const char *value =
	    evhttp_find_header(evhttp_request_get_input_headers(req), name);
	size_t len = strlen(f->seen);

	snprintf(f->seen + len, sizeof(f->seen) - len, "%s=%s;", name,
	    value != NULL ? value : "-");
}

static void
on_request(struct evhttp_request *req, void *arg)
{
	const char *path = evhttp_request_get_uri(req);
	struct evbuffer *body = evbuffer_new();
	struct fixture *f = arg;

	f->requests++;
	f->seen[0] = 0;
	note(f, req, "Authorization");
	note(f, req, "Content-Type");
	note(f, req, "Expect");
	note(f, req, "X-Own");
	if (strcmp(path, "/stream") == 0 || strcmp(path, "/no-stream") == 0) {
		f->open[f->opened++] = req;
		evhttp_send_reply_start(req, path[1] == 's' ? 200 : 503, "x");
		evbuffer_add(body, "first\n", 6);
		evhttp_send_reply_chunk(req, body);
	} else {
		for (unsigned i = 0; i < PIECE; i++)
			evbuffer_add(body, "x", 1);
		evhttp_send_reply(req, 200, "x", body);
	}
	evbuffer_free(body);
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct sockaddr_in address;
	socklen_t len = sizeof(address);
	struct evhttp_bound_socket *bound;

	assert_non_null(f);
	assert_int_equal(rm_loop_new(&f->loop), 0);
	assert_int_equal(rm_timer_new(f->loop, on_deadline, f, &f->deadline), 0);
	assert_int_equal(rm_http_client_new(f->loop, &f->client), 0);
	f->server = evhttp_new(rm_loop_base(f->loop));
	assert_non_null(f->server);
	evhttp_set_gencb(f->server, on_request, f);
	bound = evhttp_bind_socket_with_handle(f->server, "127.0.0.1", 0);
	assert_non_null(bound);
	assert_int_equal(
	    getsockname(evhttp_bound_socket_get_fd(bound), (void *)&address, &len), 0);
	f->port = ntohs(address.sin_port);
	*state = f;
	return 0;
}

/* Returns the server's end of the stream that was opened last. */
static void
end_stream(struct fixture *f)
{
	evhttp_send_reply_end(f->open[--f->opened]);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_http_client_free(f->client);
	while (f->opened > 0)
		end_stream(f);
	evhttp_free(f->server);
	rm_timer_free(f->deadline);
	rm_loop_free(f->loop);
	free(f);
	return 0;
}

static void
start(struct fixture *f, const char *path, struct rm_http_exchange exchange,
    struct rm_http_call **call)
{
	char url[80];

	snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", f->port, path);
	exchange.url = url;
	exchange.done = on_done;
	exchange.arg = f;
	assert_int_equal(rm_http_client_start(f->client, &exchange, call), 0);
}

static int
on_data(const char *data, size_t len, void *arg)
{
	struct fixture *f = arg;

	f->pieces++;
	f->streamed += len;
	if (len > f->largest)
		f->largest = len;
	switch (f->on_data_status) {
	case 1:
		rm_http_call_cancel(f->calls[0]);
		break;
	case 2:
		rm_http_call_cancel(f->calls[1]);
		break;
	case 3:
		f->on_data_status = 0;
		start(f, "/plain",
		    (struct rm_http_exchange){ .timeout_ns = DEADLINE_NS }, NULL);
		return 0;
	default:
		break;
	}
	rm_loop_stop(f->loop);
	return f->on_data_status < 0 ? f->on_data_status : 0;
}

static const struct rm_http_exchange stream = {
	.body = "{}", .body_len = 2, .on_data = on_data
};

static void
headers_and_login_are_sent(void **state)
{
	static const char *const headers[] = { "X-Own: yes", "Content-Type: text/x",
		NULL };
	struct fixture *f = *state;

	start(f, "/plain",
	    (struct rm_http_exchange){ .body = "b",
		.body_len = 1,
		.headers = headers,
		.user = "me",
		.password = "it is",
		.timeout_ns = DEADLINE_NS },
	    NULL);
	run(f);
	assert_int_equal(f->status, 200);
	assert_string_equal(f->seen,
	    "Authorization=Basic bWU6aXQgaXM=;Content-Type=text/x;Expect=-;X-Own=yes;");
	start(
	    f, "/plain", (struct rm_http_exchange){ .body = "b", .body_len = 1 }, NULL);
	run(f);
	assert_string_equal(
	    f->seen, "Authorization=-;Content-Type=-;Expect=-;X-Own=-;");
}

static void
a_header_with_a_line_break_is_refused(void **state)
{
	static const char *const headers[] = { "X-Own: yes\r\nX-More: no", NULL };
	struct fixture *f = *state;
	struct rm_http_exchange exchange = {
		.url = "http://127.0.0.1:1/",
		.headers = headers,
		.done = on_done,
		.arg = f,
	};

	assert_int_equal(rm_http_client_start(f->client, &exchange, NULL), -EINVAL);
}

static void
an_answer_is_cut_at_the_callers_limit(void **state)
{
	struct fixture *f = *state;

	start(f, "/plain", (struct rm_http_exchange){ .max_body_bytes = 10 }, NULL);
	run(f);
	assert_int_equal(f->status, 200);
	assert_int_equal(f->body_len, 10);
	start(
	    f, "/plain", (struct rm_http_exchange){ .max_body_bytes = 1 << 20 }, NULL);
	run(f);
	assert_int_equal(f->body_len, PIECE);
	/* Or sends no header at all. */
	start(f, "/plain",
	    (struct rm_http_exchange){ .max_body_bytes = PIECE, .whole = true }, NULL);
	run(f);
	assert_int_equal(f->r, 0);
	start(f, "/plain",
	    (struct rm_http_exchange){ .max_body_bytes = PIECE - 1, .whole = true },
	    NULL);
	run(f);
	assert_int_equal(f->r, -EMSGSIZE);
}

static void
a_stream_is_handed_over_as_it_comes(void **state)
{
	struct fixture *f = *state;
	struct evbuffer *more = evbuffer_new();

	start(f, "/stream", stream, &f->calls[0]);
	run(f);
	assert_int_equal(f->streamed, 6);
	assert_int_equal(f->dones, 0);
	evbuffer_add(more, "second", 6);
	evhttp_send_reply_chunk(f->open[0], more);
	run(f);
	assert_int_equal(f->streamed, 12);
	assert_int_equal(f->pieces, 2);
	end_stream(f);
	run(f);
	assert_int_equal(f->dones, 1);
	assert_int_equal(f->r, 0);
	assert_int_equal(f->status, 200);
	assert_int_equal(f->body_len, 0);
	evbuffer_free(more);
}

static void
the_body_of_an_error_is_not_streamed(void **state)
{
	struct fixture *f = *state;

	start(f, "/no-stream", stream, NULL);
	while (f->opened == 0)
		assert_true(event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE) >= 0);
	end_stream(f);
	run(f);
	assert_int_equal(f->pieces, 0);
	assert_int_equal(f->status, 503);
	assert_string_equal(f->body, "first\n");
}

static void
the_reader_of_a_stream_can_end_it(void **state)
{
	struct fixture *f = *state;

	f->on_data_status = -EBADMSG;
	start(f, "/stream", stream, NULL);
	run(f);
	assert_int_equal(f->dones, 1);
	assert_int_equal(f->r, -EBADMSG);
}

static void
a_canceled_call_reports_nothing_more(void **state)
{
	struct fixture *f = *state;

	start(f, "/stream", stream, &f->calls[0]);
	rm_http_call_cancel(f->calls[0]); /* cancelled before the first piece */
	start(f, "/stream", stream, &f->calls[0]);
	run(f);
	assert_int_equal(f->pieces, 1);
	rm_http_call_cancel(f->calls[0]); /* cancelled between two pieces */
	f->on_data_status = 1;
	start(f, "/stream", stream, &f->calls[0]);
	run(f); /* cancelled in the callback of a piece */
	assert_int_equal(f->pieces, 2);
	start(
	    f, "/plain", (struct rm_http_exchange){ .timeout_ns = DEADLINE_NS }, NULL);
	run(f);
	assert_int_equal(f->dones, 1); /* only the last call ends with a callback */
	assert_int_equal(f->pieces, 2);
}

static void
a_stream_may_cancel_and_start_others(void **state)
{
	struct fixture *f = *state;

	f->on_data_status = 2;
	start(f, "/stream", stream, &f->calls[0]);
	start(f, "/silent-for-long", stream, &f->calls[1]);
	run(f);
	assert_int_equal(f->dones, 0);
	rm_http_call_cancel(f->calls[0]);
	f->on_data_status = 3;
	start(f, "/stream", stream, &f->calls[0]);
	run(f);
	assert_int_equal(f->dones, 1);
	assert_int_equal(f->status, 200);
}

static void
connections_are_used_again(void **state)
{
	struct fixture *f = *state;
	uint16_t port = 0, from;
	char *host;

	for (unsigned i = 0; i < 3; i++) {
		start(f, "/stream", stream, NULL);
		run(f);
		evhttp_connection_get_peer(
		    evhttp_request_get_connection(f->open[0]), &host, &from);
		assert_true(port == 0 || from == port);
		port = from;
		end_stream(f);
		run(f);
	}
	assert_int_equal(f->dones, 3);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(headers_and_login_are_sent),
		TEST(a_header_with_a_line_break_is_refused),
		TEST(an_answer_is_cut_at_the_callers_limit),
		TEST(a_stream_is_handed_over_as_it_comes),
		TEST(the_body_of_an_error_is_not_streamed),
		TEST(the_reader_of_a_stream_can_end_it),
		TEST(a_canceled_call_reports_nothing_more),
		TEST(a_stream_may_cancel_and_start_others),
		TEST(connections_are_used_again),
	};

	return cmocka_run_group_tests_name("http_stream", tests, NULL, NULL);
}
