/* Requests that http_server answers in time, too late, or never. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/core/address.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/loop/loop.h"

#define DEADLINE_NS (60 * RM_NS_PER_S)
#define MOST 32

struct fixture {
	struct rm_loop *loop;
	struct rm_http_server *server;
	struct rm_http_client *client;
	struct rm_timer *deadline;
	int64_t timeout_ns;
	uint64_t tokens[MOST];
	unsigned deferred, expected; /* the loop stops when both are equal */
	/* Status of the last rm_http_defer, beyond the limit. */
	int refused;
	unsigned waiting;
	int r;
	long status;
	char body[256];
	char query[32]; /* the request's query, read after the deferral */
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
	snprintf(f->body, sizeof(f->body), "%s", answer->body);
	if (--f->waiting == 0)
		rm_loop_stop(f->loop);
}

static void
serve_later(struct rm_http_request *request, void *arg)
{
	struct fixture *f = arg;
	const char *query;
	uint64_t token;
	int r;

	r = rm_http_defer(request, f->timeout_ns, &token);
	if (r < 0) {
		f->refused = r;
		rm_http_reply_error(request, 503, "too many");
		return;
	}
	assert_int_equal(rm_http_defer(request, f->timeout_ns, &token), -EALREADY);
	query = rm_http_query(request, "q");
	snprintf(f->query, sizeof(f->query), "%s", query != NULL ? query : "");
	f->tokens[f->deferred++] = token;
	if (f->deferred == f->expected)
		rm_loop_stop(f->loop);
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct rm_address address;

	assert_non_null(f);
	f->timeout_ns = DEADLINE_NS;
	assert_int_equal(rm_loop_new(&f->loop), 0);
	assert_int_equal(rm_timer_new(f->loop, on_deadline, f, &f->deadline), 0);
	assert_int_equal(rm_http_client_new(f->loop, &f->client), 0);
	assert_int_equal(rm_http_server_new(f->loop, &f->server), 0);
	assert_int_equal(rm_address_parse("127.0.0.1:0", -1, &address), 0);
	assert_int_equal(rm_http_server_listen(f->server, &address), 0);
	assert_int_equal(
	    rm_http_route(f->server, RM_HTTP_READ, "/v1/later", serve_later, f), 0);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_http_client_free(f->client);
	rm_http_server_free(f->server);
	rm_timer_free(f->deadline);
	rm_loop_free(f->loop);
	free(f);
	return 0;
}

static void
ask(struct fixture *f, int64_t timeout_ns)
{
	char url[80];

	snprintf(url, sizeof(url), "http://127.0.0.1:%d/v1/later?q=7",
	    rm_http_server_port(f->server));
	f->waiting++;
	assert_int_equal(
	    rm_http_client_send(f->client, url, NULL, NULL, 0, timeout_ns, on_done, f),
	    0);
}

static void
an_answer_may_come_later(void **state)
{
	struct fixture *f = *state;
	struct rm_http_request *request;

	f->expected = 1;
	ask(f, DEADLINE_NS);
	run(f);
	assert_int_equal(f->deferred, 1);
	assert_string_equal(f->query, "7");
	assert_null(rm_http_deferred(f->server, f->tokens[0] + 1));
	request = rm_http_deferred(f->server, f->tokens[0]);
	assert_non_null(request);
	rm_http_reply_text(request, 200, "{\"late\":1}", 10);
	assert_null(rm_http_deferred(f->server, f->tokens[0]));
	run(f);
	assert_int_equal(f->status, 200);
	assert_string_equal(f->body, "{\"late\":1}");
}

static void
replies_of_every_kind_end_a_deferral(void **state)
{
	struct fixture *f = *state;

	f->expected = 2;
	ask(f, DEADLINE_NS);
	ask(f, DEADLINE_NS);
	run(f);
	rm_http_reply_json(
	    rm_http_deferred(f->server, f->tokens[0]), 200, json_pack("{s:i}", "a", 1));
	rm_http_reply_error(rm_http_deferred(f->server, f->tokens[1]), 404, "gone");
	for (unsigned i = 0; i < 2; i++) {
		assert_null(rm_http_deferred(f->server, f->tokens[i]));
		rm_http_reply_json(rm_http_deferred(f->server, f->tokens[i]), 200,
		    json_pack("{s:i}", "a", 1));
	}
	run(f);
	assert_int_equal(f->waiting, 0);
}

static void
the_server_answers_deferred_requests_after_their_time_out(void **state)
{
	struct fixture *f = *state;

	f->timeout_ns = 50 * RM_NS_PER_MS;
	ask(f, DEADLINE_NS);
	run(f);
	assert_int_equal(f->status, 504);
	assert_null(rm_http_deferred(f->server, f->tokens[0]));
}

static void
the_request_of_a_disconnected_client_is_freed(void **state)
{
	struct fixture *f = *state;
	struct rm_http_request *request;

	ask(f, 100 * RM_NS_PER_MS);
	run(f);
	assert_int_equal(f->r, -ETIMEDOUT);
	assert_int_equal(f->deferred, 1);
	/* NULL once libevent has noticed the closed connection; before, the reply is
	 * discarded. */
	request = rm_http_deferred(f->server, f->tokens[0]);
	rm_http_reply_text(request, 200, "{}", 2);
	assert_null(rm_http_deferred(f->server, f->tokens[0]));
	f->expected = 2;
	ask(f, DEADLINE_NS);
	run(f);
	rm_http_reply_text(
	    rm_http_deferred(f->server, f->tokens[1]), 200, "{\"b\":2}", 7);
	run(f);
	assert_string_equal(f->body, "{\"b\":2}");
}

static void
the_number_of_deferred_requests_is_limited(void **state)
{
	struct fixture *f = *state;

	f->expected = MOST;
	for (unsigned i = 0; i < MOST; i++)
		ask(f, DEADLINE_NS);
	run(f);
	assert_int_equal(f->deferred, MOST);
	assert_int_equal(f->refused, 0);
	f->waiting = 0;
	ask(f, DEADLINE_NS);
	run(f);
	assert_int_equal(f->refused, -EAGAIN);
	assert_int_equal(f->status, 503);
	f->waiting = MOST;
	for (unsigned i = 0; i < MOST; i++)
		rm_http_reply_text(
		    rm_http_deferred(f->server, f->tokens[i]), 200, "{}", 2);
	run(f);
	assert_int_equal(f->waiting, 0);
	assert_int_equal(f->status, 200);
}

static void
deferred_requests_end_with_the_server(void **state)
{
	struct fixture *f = *state;

	f->expected = 1;
	ask(f, DEADLINE_NS);
	run(f);
	rm_http_server_free(f->server);
	f->server = NULL;
	run(f); /* its connection is closed */
	assert_int_equal(f->waiting, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_answer_may_come_later),
		TEST(replies_of_every_kind_end_a_deferral),
		TEST(the_server_answers_deferred_requests_after_their_time_out),
		TEST(the_request_of_a_disconnected_client_is_freed),
		TEST(the_number_of_deferred_requests_is_limited),
		TEST(deferred_requests_end_with_the_server),
	};

	return cmocka_run_group_tests_name("http_defer", tests, NULL, NULL);
}
