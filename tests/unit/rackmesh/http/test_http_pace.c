/* Clients that send a request, or read its answer, as slowly as they can. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "rackmesh/http/http_server.h"
#include "tests/support/loopback.h"

#define CONNECTIONS 64
#define BYTE_NS (50 * RM_NS_PER_MS)

struct fixture {
	struct rm_loop *loop;
	struct rm_http_server *server;
	struct rm_timer *timer;
	int fds[CONNECTIONS]; /* each client sends one byte at a time */
	size_t count, sent;
};

/* 100 bytes: 5 s at this pace. */
static const char request[] = "GET /quick HTTP/1.1\r\nHost: localhost\r\nX-A: "
			      "12345678901234567890123456789012345678901234567890"
			      "1234567890\r\n\r\n";

static void
quick(struct rm_http_request *asked, void *arg)
{
	rm_http_reply_plain(asked, 200, "here", 4);
}

/* Requests that are never answered. */
static void
deferred(struct rm_http_request *asked, void *arg)
{
	uint64_t token;

	assert_int_equal(rm_http_defer(asked, 3 * RM_NS_PER_S, &token), 0);
}

static void
on_timer(void *arg)
{
	struct fixture *f = arg;
	/* No request is ever complete. */
	char byte = request[f->sent++ % (sizeof(request) - 5)];

	for (size_t i = 0; i < f->count; i++)
		send(f->fds[i], &byte, 1, MSG_NOSIGNAL);
	rm_timer_after(f->timer, BYTE_NS);
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct rm_address address = loopback_address(0);

	if (f == NULL || rm_loop_new(&f->loop) < 0 ||
	    rm_http_server_new(f->loop, &f->server) < 0 ||
	    rm_http_server_listen(f->server, &address) < 0 ||
	    rm_http_route(f->server, RM_HTTP_READ, "/quick", quick, f) < 0 ||
	    rm_http_route(f->server, RM_HTTP_READ, "/deferred", deferred, f) < 0 ||
	    rm_timer_new(f->loop, on_timer, f, &f->timer) < 0)
		return -1;
	rm_timer_after(f->timer, BYTE_NS);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < f->count; i++)
		close(f->fds[i]);
	rm_timer_free(f->timer);
	rm_http_server_free(f->server);
	rm_loop_free(f->loop);
	free(f);
	return 0;
}

static int
connects(struct fixture *f)
{
	int fd = loopback_connect(rm_http_server_port(f->server));

	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

/* Reads what has arrived. Returns false while the connection is open. */
static bool
has_ended(int fd, char text[512])
{
	ssize_t n = recv(fd, text, 511, 0);

	if (n > 0)
		text[n] = '\0';
	return n == 0 || (n < 0 && errno != EAGAIN);
}

static bool
is_answered(int fd, const char *bytes)
{
	char text[512] = "";

	assert_false(has_ended(fd, text));
	return strstr(text, bytes) != NULL;
}

static void
asks(int fd, const char *bytes)
{
	assert_int_equal(send(fd, bytes, strlen(bytes), MSG_NOSIGNAL), strlen(bytes));
}

static void
a_request_that_arrives_too_slowly_is_closed(void **state)
{
	struct fixture *f = *state;
	rm_mono_t begun = rm_mono_now();
	char text[512];

	f->fds[f->count++] = connects(f);
	LOOPBACK_WAIT(f->loop, has_ended(f->fds[0], text));
	assert_in_range(
	    rm_mono_since(rm_mono_now(), begun), 10 * RM_NS_PER_S, 20 * RM_NS_PER_S);
	assert_int_equal(*rm_http_server_late(f->server), 1);
}

static void
a_slow_request_that_is_complete_in_time_is_answered(void **state)
{
	struct fixture *f = *state;
	int fd = connects(f);

	for (int turn = 0; turn < 3; turn++) {
		asks(fd, "GET /quick HTTP/1.1\r\n");
		loopback_run(f->loop, RM_NS_PER_S);
		asks(fd, "Host: localhost\r\n\r\n");
		LOOPBACK_WAIT(f->loop, is_answered(fd, "200"));
	}
	assert_int_equal(*rm_http_server_late(f->server), 0);
	close(fd);
}

static void
many_slow_requests_make_room_within_seconds(void **state)
{
	struct fixture *f = *state;
	int waits = connects(f), fd;
	rm_mono_t begun;

	asks(waits, "GET /deferred HTTP/1.1\r\nHost: localhost\r\n\r\n");
	loopback_run(f->loop, 50 * RM_NS_PER_MS);
	while (f->count < CONNECTIONS - 1)
		f->fds[f->count++] = connects(f);
	LOOPBACK_WAIT(f->loop, *rm_http_server_full(f->server) == 1);
	begun = rm_mono_now();
	fd = connects(f);
	asks(fd, "GET /quick HTTP/1.1\r\nHost: localhost\r\n\r\n");
	LOOPBACK_WAIT(f->loop, is_answered(fd, "200"));
	assert_in_range(rm_mono_since(rm_mono_now(), begun), 0, 5 * RM_NS_PER_S);
	assert_in_range(*rm_http_server_late(f->server), 1, CONNECTIONS - 1);
	/* A client that has sent its request is not closed to make room for others. */
	LOOPBACK_WAIT(f->loop, is_answered(waits, "504"));
	close(waits);
	close(fd);
}

static void
a_listener_out_of_descriptors_pauses_and_resumes(void **state)
{
	struct fixture *f = *state;
	int fd = connects(f), spare = dup(fd);
	struct rlimit was, none;
	rm_mono_t begun;
	unsigned turns;

	close(spare);
	asks(fd, "GET /quick HTTP/1.1\r\nHost: localhost\r\n\r\n");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = was;
	none.rlim_cur = (rlim_t)spare;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	turns = loopback_run(f->loop, RM_NS_PER_S);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	/* A loop that never sleeps would make tens of thousands of turns. */
	assert_in_range(turns, 0, 1000);
	begun = rm_mono_now();
	LOOPBACK_WAIT(f->loop, is_answered(fd, "200"));
	assert_in_range(rm_mono_since(rm_mono_now(), begun), 0, RM_NS_PER_S);
	close(fd);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_request_that_arrives_too_slowly_is_closed),
		TEST(a_slow_request_that_is_complete_in_time_is_answered),
		TEST(many_slow_requests_make_room_within_seconds),
		TEST(a_listener_out_of_descriptors_pauses_and_resumes),
	};

	return cmocka_run_group_tests_name("http_pace", tests, NULL, NULL);
}
