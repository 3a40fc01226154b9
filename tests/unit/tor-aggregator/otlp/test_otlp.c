/* Against a simulated collector whose answers the test sets. */
#include "tor-aggregator/otlp/otlp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/loop/loop.h"
#include "tests/support/loopback.h"
#include "tor-aggregator/otlp/otlp_config.h"

#define MS RM_NS_PER_MS

struct world {
	struct rm_loop *loop;
	struct rm_http_client *http;
	struct otlp *otlp;
	struct otlp_config config;
	char url[64], headers[64], log[4096];
	struct rm_timer *deadline;
	/* The simulated collector. */
	struct evhttp *server;
	int status;
	const char *answer, *retry_after;
	bool mute; /* accepts the request, and never answers */
	unsigned requests, wanted, filled;
	rm_mono_t asked[16]; /* the times of the first requests */
	char path[64], type[64], key[64], body[64];
};

static void
on_post(struct evhttp_request *request, void *arg)
{
	struct world *w = arg;
	struct evkeyvalq *in = evhttp_request_get_input_headers(request);
	struct evbuffer *body = evhttp_request_get_input_buffer(request);
	const char *key = evhttp_find_header(in, "api-key");
	struct evbuffer *out = evbuffer_new();
	ev_ssize_t len = evbuffer_copyout(body, w->body, sizeof(w->body) - 1);

	w->body[len] = '\0';
	snprintf(w->path, sizeof(w->path), "%s", evhttp_request_get_uri(request));
	snprintf(
	    w->type, sizeof(w->type), "%s", evhttp_find_header(in, "Content-Type"));
	snprintf(w->key, sizeof(w->key), "%s", key != NULL ? key : "");
	if (w->requests < 16)
		w->asked[w->requests] = rm_mono_now();
	w->requests++;
	if (w->retry_after != NULL)
		evhttp_add_header(evhttp_request_get_output_headers(request),
		    "Retry-After", w->retry_after);
	if (w->answer != NULL)
		evbuffer_add_printf(out, "%s", w->answer);
	if (!w->mute)
		evhttp_send_reply(request, w->status, "x", out);
	evbuffer_free(out);
}

static int
fill(struct evbuffer *body, void *arg)
{
	struct world *w = arg;

	evbuffer_add_printf(body, "{\"n\":%u}", ++w->filled);
	return 0;
}

static void
keep_log(enum rm_log_level level, const char *line, void *arg)
{
	struct world *w = arg;
	size_t used = strlen(w->log);

	snprintf(w->log + used, sizeof(w->log) - used, "%s\n", line);
}

static void
on_deadline(void *arg)
{
	fail_msg("not within a minute");
}

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	int port, fd = loopback_listen(&port);

	assert_int_equal(rm_loop_new(&w->loop), 0);
	assert_int_equal(rm_http_client_new(w->loop, &w->http), 0);
	assert_int_equal(rm_timer_new(w->loop, on_deadline, w, &w->deadline), 0);
	w->server = evhttp_new(rm_loop_base(w->loop));
	assert_int_equal(evutil_make_socket_nonblocking(fd), 0);
	assert_int_equal(evhttp_accept_socket(w->server, fd), 0);
	evhttp_set_gencb(w->server, on_post, w);
	w->status = 200;
	snprintf(w->url, sizeof(w->url), "http://127.0.0.1:%d/x", port);
	w->config = (struct otlp_config){ .url = w->url, .headers_file = w->headers };
	rm_log_set_sink(keep_log, w);
	*state = w;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	otlp_free(w->otlp);
	rm_http_client_free(w->http);
	evhttp_free(w->server);
	rm_timer_free(w->deadline);
	rm_loop_free(w->loop);
	rm_log_set_sink(NULL, NULL);
	if (w->headers[0] != '\0')
		unlink(w->headers);
	free(w);
	return 0;
}

static void
start(struct world *w, int64_t interval_ns)
{
	const struct otlp_options options = { .loop = w->loop,
		.http = w->http,
		.config = &w->config,
		.fill = fill,
		.arg = w,
		.interval_ns = interval_ns,
		.retry_base_ns = MS };

	assert_int_equal(otlp_new(&options, &w->otlp), 0);
	rm_timer_after(w->deadline, LOOPBACK_PATIENCE_NS);
}

#define RUN_UNTIL(w, condition) \
	while (!(condition))    \
	assert_int_equal(event_base_loop(rm_loop_base((w)->loop), EVLOOP_ONCE), 0)

static void
every_interval_has_its_message(void **state)
{
	struct world *w = *state;

	start(w, 5 * MS);
	RUN_UNTIL(w, otlp_counts(w->otlp)->sent == 3);
	assert_string_equal(w->path, "/x/v1/metrics");
	assert_string_equal(w->type, "application/json");
	assert_string_equal(w->body, "{\"n\":3}");
	assert_int_equal(otlp_counts(w->otlp)->failed_attempts, 0);
	assert_string_equal(w->log, "");
}

static void
headers_of_the_file_go_along_and_are_read_each_time(void **state)
{
	static const char first[] = "api-key: s3cret\r\n\nX-Tenant: 1\n";
	static const char second[] = "api-key: other\n";
	struct world *w = *state;

	snprintf(
	    w->headers, sizeof(w->headers), "/tmp/rackmesh-otlp-%d", (int)getpid());
	assert_int_equal(rm_file_replace_secret(
			     w->headers, (const uint8_t *)first, sizeof(first) - 1),
	    0);
	start(w, 5 * MS);
	RUN_UNTIL(w, w->requests > 0);
	assert_string_equal(w->key, "s3cret");
	assert_int_equal(rm_file_replace_secret(
			     w->headers, (const uint8_t *)second, sizeof(second) - 1),
	    0);
	RUN_UNTIL(w, strcmp(w->key, "other") == 0);
	/* If others may read the file of the secret, nothing is sent, and the secret is
	 * not logged. */
	assert_int_equal(chmod(w->headers, 0644), 0);
	RUN_UNTIL(w, otlp_counts(w->otlp)->failed_attempts > 0);
	assert_non_null(strstr(w->log, w->headers));
	assert_null(strstr(w->log, "other"));
}

static void
an_invalid_header_is_refused_without_being_printed(void **state)
{
	static const char *const wrong[] = { "s3cret\n", ": s3cret\n", "a b: s3cret\n",
		"a: s3cret\001\n",
		"a: 1\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\ng: 7\nh: 8\ni: 9" };
	struct world *w = *state;
	struct otlp_headers headers;
	struct rm_error error;

	snprintf(
	    w->headers, sizeof(w->headers), "/tmp/rackmesh-otlp-%d", (int)getpid());
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(rm_file_replace_secret(w->headers,
				     (const uint8_t *)wrong[i], strlen(wrong[i])),
		    0);
		assert_int_equal(
		    otlp_headers_read(w->headers, &headers, &error), -EINVAL);
		assert_non_null(strstr(error.text, w->headers));
		assert_null(strstr(error.text, "s3cret"));
	}
}

static void
a_busy_collector_gets_the_current_values_at_the_retry(void **state)
{
	struct world *w = *state;

	w->status = 503;
	start(w, 50 * MS);
	RUN_UNTIL(w, w->requests == 3);
	w->status = 200;
	RUN_UNTIL(w, otlp_counts(w->otlp)->sent == 1);
	assert_true(w->filled >= 4);
	assert_true(otlp_counts(w->otlp)->failed_attempts >= 3);
	/* The failure is logged once when it begins, and once when it ends. */
	assert_non_null(strstr(w->log, "otlp: collector failed: http://127.0.0.1:"));
	assert_null(strstr(strstr(w->log, "collector failed") + 1, "collector failed"));
	assert_non_null(strstr(w->log, "otlp: collector recovered: "));
}

static void
the_retry_waits_for_the_time_that_the_collector_requests(void **state)
{
	struct world *w = *state;

	w->status = 429;
	w->retry_after = "1";
	start(w, 20 * MS);
	RUN_UNTIL(w, w->requests == 2);
	assert_true(rm_mono_since(w->asked[1], w->asked[0]) >= 900 * MS);
	/* Intervals without a message of their own count as dropped. */
	assert_true(otlp_counts(w->otlp)->dropped > 0);
}

static void
a_refused_message_is_not_sent_again(void **state)
{
	struct world *w = *state;

	w->status = 400;
	w->answer = "{\"code\":3,\"message\":\"bad data\"}";
	start(w, 5 * MS);
	RUN_UNTIL(w, otlp_counts(w->otlp)->failed_attempts == 3);
	/* So does an interval that ends while a request is under way. */
	assert_true(otlp_counts(w->otlp)->dropped >= 3);
	assert_true(w->filled <= 3 + 1);
	assert_non_null(strstr(w->log, "status 400: bad data"));
}

static void
rejected_values_are_counted_and_the_first_reason_is_reported(void **state)
{
	struct world *w = *state;

	w->answer = "{\"partialSuccess\":{\"rejectedDataPoints\":\"7\","
		    "\"errorMessage\":\"too old\"}}";
	start(w, 5 * MS);
	RUN_UNTIL(w, otlp_counts(w->otlp)->sent == 3);
	assert_int_equal(otlp_counts(w->otlp)->rejected_points, 21);
	assert_non_null(strstr(w->log, "rejected 7 values: "));
	assert_null(strstr(strstr(w->log, "rejected") + 1, "rejected"));
}

static void
only_one_request_runs_at_a_time(void **state)
{
	struct world *w = *state;

	w->mute = true;
	start(w, 2 * MS);
	RUN_UNTIL(w, otlp_counts(w->otlp)->dropped == 20);
	assert_int_equal(w->requests, 1);
	assert_int_equal(w->filled, 1);
}

static void
without_a_url_nothing_is_sent(void **state)
{
	struct world *w = *state;
	char none[] = "";

	w->config.url = none;
	start(w, MS);
	assert_int_equal(event_base_loop(rm_loop_base(w->loop), EVLOOP_NONBLOCK), 0);
	assert_int_equal(w->filled, 0);
}

static void
all_forms_of_the_url_have_the_same_base(void **state)
{
	static const char *const urls[] = { "http://c:4318", "http://c:4318/",
		"http://c:4318/v1/metrics", "http://c:4318/v1/metrics//" };
	char url[64], none[] = "";
	struct otlp_config config = { .url = url, .headers_file = none };
	struct rm_error error;

	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		snprintf(url, sizeof(url), "%s", urls[i]);
		assert_int_equal(otlp_config_check(&config, "x.yaml", &error), 0);
		assert_string_equal(url, "http://c:4318");
	}
	snprintf(url, sizeof(url), "c:4318");
	assert_int_equal(otlp_config_check(&config, "x.yaml", &error), -EINVAL);
	snprintf(url, sizeof(url), "http://c:4318/?token=1");
	assert_int_equal(otlp_config_check(&config, "x.yaml", &error), -EINVAL);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_interval_has_its_message),
		TEST(headers_of_the_file_go_along_and_are_read_each_time),
		TEST(an_invalid_header_is_refused_without_being_printed),
		TEST(a_busy_collector_gets_the_current_values_at_the_retry),
		TEST(the_retry_waits_for_the_time_that_the_collector_requests),
		TEST(a_refused_message_is_not_sent_again),
		TEST(rejected_values_are_counted_and_the_first_reason_is_reported),
		TEST(only_one_request_runs_at_a_time),
		TEST(without_a_url_nothing_is_sent),
		TEST(all_forms_of_the_url_have_the_same_base),
	};

	return cmocka_run_group_tests_name("otlp", tests, NULL, NULL);
}
