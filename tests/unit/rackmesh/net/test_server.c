#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <event2/buffer.h>
#include <stdio.h>

#include "rackmesh/core/log.h"
#include "rackmesh/net/frame.h"
#include "rackmesh/net/listener.h"
#include "rackmesh/net/server.h"
#include "tests/support/loopback.h"

struct fixture {
	struct rm_loop *loop;
	struct rm_listener *listener;
	struct rm_server server;
	unsigned closed, freed;
	char line[256];
};

struct session { /* not the first member, so that a wrong cast fails */
	struct fixture *fixture;
	char *text;
	struct rm_conn conn;
	bool has_hello;
};

static void
on_accept(void *arg, const struct rm_address *peer, void *owner)
{
	struct session *session = arg;

	assert_int_equal(peer->storage.ss_family, AF_INET);
	assert_null(session->text);
	session->fixture = owner;
	session->text = strdup("freed by on_free");
}

static int
on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct session *session = arg;

	assert_ptr_equal(link, session->conn.link);
	if (data[0] == 'x')
		return -EBADMSG;
	session->has_hello = true;
	rm_server_settled(&session->conn);
	return 0;
}

static void
on_close(struct rm_link *link, int reason, void *arg)
{
	struct session *session = arg;
	struct rm_address peer = loopback_address(7);

	session->fixture->closed++;
	rm_server_log_end(link, &peer, reason, session->has_hello ? "tor1" : NULL);
}

static void
on_free(void *arg)
{
	struct session *session = arg;

	free(session->text);
	session->fixture->freed++;
}

static void
keep_line(enum rm_log_level level, const char *line, void *arg)
{
	snprintf(arg, 256, "%d %s", (int)level, line);
}

static int
setup(void **state)
{
	static struct fixture f;
	struct rm_address address = loopback_address(0);

	f = (struct fixture){ 0 };
	*state = &f;
	if (rm_loop_new(&f.loop) < 0)
		return -1;
	rm_server_init(&f.server,
	    &(struct rm_server_options){
		.loop = f.loop,
		.limits = { .max_frame_bytes = 1024, .max_output_bytes = 1024 },
		.max_conns = 2,
		.session_bytes = sizeof(struct session),
		.conn_offset = offsetof(struct session, conn),
		.user_timeout_ms = 15000,
		.on_accept = on_accept,
		.on_frame = on_frame,
		.on_close = on_close,
		.on_free = on_free,
		.arg = &f,
	    });
	rm_log_set_sink(keep_line, f.line);
	return rm_listener_new(
	    f.loop, &address, rm_server_accept, &f.server, &f.listener);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_log_set_sink(NULL, NULL);
	rm_listener_free(f->listener);
	rm_server_clear(&f->server);
	rm_loop_free(f->loop);
	return f->freed == f->server.accepted ? 0 : -1;
}

static void
write_frame(int fd, char byte)
{
	struct evbuffer *bytes = evbuffer_new();

	assert_int_equal(rm_frame_put(bytes, (const uint8_t *)&byte, 1), 0);
	while (evbuffer_get_length(bytes) > 0)
		assert_true(evbuffer_write(bytes, fd) > 0);
	evbuffer_free(bytes);
}

static void
no_more_connections_are_accepted_than_the_limit(void **state)
{
	struct fixture *f = *state;
	int port = rm_listener_port(f->listener), fds[3];

	for (size_t i = 0; i < 3; i++)
		fds[i] = loopback_connect(port);
	LOOPBACK_WAIT(f->loop, f->server.accepted == 2 && f->server.refused == 1);
	assert_int_equal(f->server.count, 2);
	close(fds[0]);
	LOOPBACK_WAIT(f->loop, f->server.count == 1);
	assert_int_equal(f->closed, 1);
	assert_non_null(strstr(f->line, "127.0.0.1:7: disconnected before a hello"));
	close(fds[1]);
	close(fds[2]);
}

static void
an_accepted_connection_is_not_closed_with_pending_ones(void **state)
{
	struct fixture *f = *state;
	int port = rm_listener_port(f->listener);
	int settled = loopback_connect(port), pending = loopback_connect(port);
	const struct session *session;

	write_frame(settled, 'h');
	LOOPBACK_WAIT(
	    f->loop, f->server.accepted == 2 && f->server.pending_conns.count == 1);
	rm_server_sweep(
	    &f->server, rm_mono_add(rm_mono_now(), RM_PENDING_CONNS_PATIENCE_NS + 1));
	LOOPBACK_WAIT(f->loop, f->server.count == 1);
	assert_int_equal(f->server.pending_conns.timed_out, 1);
	session = rm_server_first(&f->server);
	assert_true(session->has_hello);
	assert_null(rm_server_next(&f->server, &session->conn));

	/* The frames of connections that have ended still count. */
	write_frame(settled, 'x');
	LOOPBACK_WAIT(f->loop, f->server.count == 0);
	assert_int_equal(rm_server_traffic(&f->server).frames_in, 2);
	assert_non_null(strstr(f->line, "4 "));
	assert_non_null(strstr(f->line, "tor1 (127.0.0.1:7): disconnected"));
	close(settled);
	close(pending);
}

static void
a_connection_that_the_daemon_ends_is_freed_without_on_close(void **state)
{
	struct fixture *f = *state;
	int fd = loopback_connect(rm_listener_port(f->listener));
	struct session *session;

	LOOPBACK_WAIT(f->loop, f->server.count == 1);
	session = rm_server_first(&f->server);
	rm_server_end(&session->conn);
	assert_int_equal(f->closed, 0);
	assert_int_equal(f->freed, 1);
	assert_null(rm_server_first(&f->server));
	close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    no_more_connections_are_accepted_than_the_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    an_accepted_connection_is_not_closed_with_pending_ones, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(
		    a_connection_that_the_daemon_ends_is_freed_without_on_close, setup,
		    teardown),
	};

	return cmocka_run_group_tests_name("server", tests, NULL, NULL);
}
