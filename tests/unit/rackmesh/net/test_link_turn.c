/* New connections cause costly TLS work, while known connections share the same
 * loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <event2/buffer.h>

#include "rackmesh/http/http_server.h"
#include "rackmesh/loop/turn.h"
#include "rackmesh/net/frame.h"
#include "tests/support/tls_fixture.h"

#define NEWCOMERS 20
#define GREETING_BYTES 517
#define FRAMES 3

struct known {
	struct rm_link *link;
	int peer;
	unsigned frames, steps_at_last;
};

struct flood {
	struct ends *ends;
	struct known known;
	struct rm_link *links[NEWCOMERS];
	int peers[NEWCOMERS];
	int reason; /* reason why the last link was closed */
	/* Handshake steps, or ends: each is the last step of its link. */
	unsigned steps;
	bool answers;   /* a known link sends a frame after every step */
	unsigned leave; /* how many of the last newcomers to free after the first end */
};

static void
known_reports(struct known *known)
{
	struct evbuffer *bytes = evbuffer_new();

	assert_non_null(bytes);
	assert_int_equal(rm_frame_put(bytes, (const uint8_t *)"hello", 5), 0);
	assert_true(evbuffer_write(bytes, known->peer) > 0);
	assert_int_equal(evbuffer_get_length(bytes), 0);
	evbuffer_free(bytes);
}

static int
on_known_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct flood *flood = arg;

	flood->known.frames++;
	flood->known.steps_at_last = flood->steps;
	return 0;
}

static void
on_known_close(struct rm_link *link, int reason, void *arg)
{
	fail_msg("it is closed: %d", reason);
}

static int
on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	fail_msg("a frame of a newcomer");
	return 0;
}

static void
on_close(struct rm_link *link, int reason, void *arg)
{
	struct flood *flood = arg;

	flood->reason = reason;
	if (flood->answers) {
		assert_int_equal(flood->known.frames, flood->steps);
		known_reports(&flood->known);
	}
	flood->steps++;
	for (; flood->leave > 0; flood->leave--) {
		rm_link_free(flood->links[NEWCOMERS - flood->leave]);
		flood->links[NEWCOMERS - flood->leave] = NULL;
	}
}

/* Begins like a client's greeting; that it is invalid shows only when it is read. */
static const uint8_t greeting[GREETING_BYTES] = { 0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3,
	3 };

static void
newcomer_comes(struct flood *flood, size_t i)
{
	static const struct rm_link_callbacks callbacks = { on_frame, on_close };
	const struct rm_link_limits limits = { ENDS_FRAME, ENDS_OUTPUT,
		flood->ends->accepting.tls, true };
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(write(fds[0], greeting, sizeof(greeting)), sizeof(greeting));
	flood->peers[i] = fds[0];
	assert_int_equal(rm_link_new(flood->ends->loop, fds[1], &limits, &callbacks,
			     flood, &flood->links[i]),
	    0);
}

/* The bytes of the new connections are there first. */
static void
flood_comes(struct flood *flood, struct ends *ends)
{
	static const struct rm_link_callbacks callbacks = { on_known_frame,
		on_known_close };
	static const struct rm_link_limits limits = { ENDS_FRAME, ENDS_OUTPUT };
	int fds[2];

	*flood = (struct flood){ .ends = ends };
	for (size_t i = 0; i < NEWCOMERS; i++)
		newcomer_comes(flood, i);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	flood->known.peer = fds[0];
	assert_int_equal(rm_link_new(ends->loop, fds[1], &limits, &callbacks, flood,
			     &flood->known.link),
	    0);
}

static void
flood_goes(struct flood *flood)
{
	for (size_t i = 0; i < NEWCOMERS; i++) {
		rm_link_free(flood->links[i]);
		close(flood->peers[i]);
	}
	rm_link_free(flood->known.link);
	close(flood->known.peer);
}

static void
frames_of_established_links_come_before_handshakes(void **state)
{
	struct ends *ends = *state;
	struct flood flood;

	flood_comes(&flood, ends);
	for (size_t i = 0; i < FRAMES; i++)
		known_reports(&flood.known);
	LOOPBACK_WAIT(ends->loop, flood.steps == NEWCOMERS);
	assert_int_equal(flood.known.frames, FRAMES);
	assert_int_equal(flood.known.steps_at_last, 0);
	assert_int_equal(rm_tls_counts(ends->accepting.tls)->garbled, NEWCOMERS);
	assert_int_equal(flood.reason, -EPROTO);
	flood_goes(&flood);
}

static void
frames_of_established_links_come_between_any_two_handshakes(void **state)
{
	struct ends *ends = *state;
	struct flood flood;

	flood_comes(&flood, ends);
	flood.answers = true;
	LOOPBACK_WAIT(ends->loop, flood.known.frames == NEWCOMERS);
	flood_goes(&flood);
}

static void
a_link_closed_while_it_waits_gets_no_turn(void **state)
{
	struct ends *ends = *state;
	struct flood flood;

	flood_comes(&flood, ends);
	flood.leave = NEWCOMERS / 2;
	LOOPBACK_WAIT(ends->loop, flood.steps == NEWCOMERS / 2);
	loopback_run(ends->loop, 2 * RM_TURN_NS);
	assert_int_equal(flood.steps, NEWCOMERS / 2);
	flood_goes(&flood);
}

static void
no_step_runs_for_a_closed_connection(void **state)
{
	struct ends *ends = *state;
	struct flood flood;

	flood_comes(&flood, ends);
	for (size_t i = 0; i < NEWCOMERS; i++)
		shutdown(flood.peers[i], SHUT_RDWR);
	LOOPBACK_WAIT(ends->loop, flood.steps == NEWCOMERS);
	assert_int_equal(flood.reason, -ECONNRESET);
	flood_goes(&flood);
}

struct watch {
	struct rm_tls *tls;
	uint64_t handshakes, most; /* between two checks */
};

static void
on_look(evutil_socket_t fd, short what, void *arg)
{
	struct watch *watch = arg;
	uint64_t now = rm_tls_counts(watch->tls)->garbled;

	if (now - watch->handshakes > watch->most)
		watch->most = now - watch->handshakes;
	watch->handshakes = now;
}

static void
https_connections_are_accepted_one_per_turn(void **state)
{
	struct ends *ends = *state;
	struct rm_address address = loopback_address(0);
	struct watch watch = { .tls = ends->accepting.tls };
	struct rm_http_server *server;
	int peers[NEWCOMERS], always[2];
	struct event *look;

	assert_int_equal(rm_http_server_new(ends->loop, &server), 0);
	assert_int_equal(rm_http_server_listen_tls(server, &address, watch.tls), 0);
	for (size_t i = 0; i < NEWCOMERS; i++) {
		peers[i] = loopback_connect(rm_http_server_tls_port(server));
		assert_int_equal(
		    write(peers[i], greeting, sizeof(greeting)), sizeof(greeting));
	}
	assert_int_equal(pipe(always), 0);
	assert_int_equal(write(always[1], "x", 1), 1); /* never read */
	look = event_new(
	    rm_loop_base(ends->loop), always[0], EV_READ | EV_PERSIST, on_look, &watch);
	assert_int_equal(event_add(look, NULL), 0);
	LOOPBACK_WAIT(ends->loop, watch.handshakes == NEWCOMERS);
	assert_int_equal(watch.most, 1);
	event_free(look);
	rm_http_server_free(server);
	for (size_t i = 0; i < NEWCOMERS; i++)
		close(peers[i]);
	close(always[0]);
	close(always[1]);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, ends_setup, ends_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(frames_of_established_links_come_before_handshakes),
		TEST(frames_of_established_links_come_between_any_two_handshakes),
		TEST(a_link_closed_while_it_waits_gets_no_turn),
		TEST(no_step_runs_for_a_closed_connection),
		TEST(https_connections_are_accepted_one_per_turn),
	};

	return cmocka_run_group_tests_name("link_turn", tests, NULL, NULL);
}
