/* The client with URLs by name, and a server's own names, while no name server
 * answers: see tests/support/resolver.h. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "rackmesh/http/http_client.h"
#include "rackmesh/http/http_server.h"
#include "tests/support/loopback.h"
#include "tests/support/resolver.h"

#define SHORT_NS (100 * RM_NS_PER_MS)

struct fixture {
	struct rm_loop *loop;
	struct rm_http_client *client;
	int server;
	unsigned answers;
	int r;
	long status;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (f == NULL || rm_loop_new(&f->loop) < 0)
		return -1;
	f->server = resolver_silent();
	return rm_http_client_new(f->loop, &f->client);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_http_client_free(f->client);
	rm_loop_free(f->loop);
	close(f->server);
	free(f);
	return 0;
}

static void
on_done(const struct rm_http_answer *answer, void *arg)
{
	struct fixture *f = arg;

	f->answers++;
	f->r = answer->r;
	f->status = answer->status;
}

/* Requests that wait for the name server end after half a minute. */
static size_t
threads(void)
{
	DIR *folder = opendir("/proc/self/task");
	size_t count = 0;

	assert_non_null(folder);
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count;
}

static void
get(struct fixture *f, int64_t timeout_ns)
{
	assert_int_equal(rm_http_client_send(f->client, "http://sink.invalid/", NULL,
			     NULL, 0, timeout_ns, on_done, f),
	    0);
}

static void
a_timeout_does_not_wait_for_the_name(void **state)
{
	struct fixture *f = *state;
	const size_t before = threads();

	get(f, SHORT_NS);
	LOOPBACK_WAIT(f->loop, f->answers == 1);
	assert_int_equal(f->r, -ETIMEDOUT);
	assert_int_equal(threads(), before + 1);
}

static void
the_end_of_the_client_does_not_wait_for_the_name(void **state)
{
	struct fixture *f = *state;
	const size_t before = threads();

	get(f, 60 * RM_NS_PER_S);
	LOOPBACK_WAIT(f->loop, resolver_asked(f->server));
	rm_http_client_free(f->client);
	f->client = NULL;
	assert_int_equal(f->r, -ECANCELED);
	assert_int_equal(threads(), before + 1);
}

static void
the_last_request_does_not_wait_for_the_name(void **state)
{
	struct fixture *f = *state;
	const struct rm_http_exchange exchange = {
		.url = "http://sink.invalid/",
		.timeout_ns = SHORT_NS,
	};
	const size_t before = threads();

	assert_int_equal(rm_http_client_now(f->client, &exchange), -ETIMEDOUT);
	assert_int_equal(threads(), before + 1);
}

static void
serve(struct rm_http_request *request, void *arg)
{
	(void)arg;
	rm_http_reply_text(request, 200, "{}", 2);
}

/* Sends a request as a Prometheus on this host does that scrapes by name. */
static long
ask_as(struct fixture *f, int port, const char *name)
{
	char url[64], host[300];
	const char *const headers[] = { host, NULL };
	const struct rm_http_exchange exchange = {
		.url = url,
		.headers = headers,
		.timeout_ns = LOOPBACK_PATIENCE_NS,
		.done = on_done,
		.arg = f,
	};
	const unsigned before = f->answers;

	snprintf(url, sizeof(url), "http://127.0.0.1:%d/v1/read", port);
	snprintf(host, sizeof(host), "Host: %s:%d", name, port);
	assert_int_equal(rm_http_client_start(f->client, &exchange, NULL), 0);
	LOOPBACK_WAIT(f->loop, f->answers > before);
	return f->r == 0 ? f->status : f->r;
}

static void
a_server_knows_its_own_names_without_a_name_server(void **state)
{
	struct fixture *f = *state;
	struct rm_http_server *server;
	const struct rm_address any = loopback_address(0);
	char own[256], text[600];
	int port;

	assert_int_equal(gethostname(own, sizeof(own) - 1), 0);
	own[sizeof(own) - 1] = '\0';
	snprintf(text, sizeof(text),
	    "127.0.0.1 localhost\n::1 ip6-loopback\n127.0.1.1 %.*s.dc.example %s\n"
	    "10.9.9.9 db1.dc.example\n",
	    (int)strcspn(own, "."), own, own);
	resolver_hosts(text);
	assert_int_equal(rm_http_server_new(f->loop, &server), 0);
	assert_int_equal(
	    rm_http_route(server, RM_HTTP_READ, "/v1/read", serve, NULL), 0);
	assert_int_equal(rm_http_server_listen(server, &any), 0);
	port = rm_http_server_port(server);
	assert_int_equal(ask_as(f, port, own), 200);
	snprintf(text, sizeof(text), "%.*s.dc.example", (int)strcspn(own, "."), own);
	assert_int_equal(ask_as(f, port, text), 200);
	assert_int_equal(ask_as(f, port, "ip6-loopback"), 200);
	assert_int_equal(ask_as(f, port, "db1.dc.example"), 421);
	assert_int_equal(ask_as(f, port, "rebound.example"), 421);
	assert_false(resolver_asked(f->server));
	rm_http_server_free(server);
	resolver_hosts("127.0.0.1 localhost\n");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_timeout_does_not_wait_for_the_name),
		TEST(the_end_of_the_client_does_not_wait_for_the_name),
		TEST(the_last_request_does_not_wait_for_the_name),
		TEST(a_server_knows_its_own_names_without_a_name_server),
	};

	return resolver_own()
		   ? cmocka_run_group_tests_name("http_names", tests, NULL, NULL)
		   : 77;
}
