#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/resource.h>

#include "rackmesh/net/listener.h"
#include "tests/support/loopback.h"

struct fixture {
	struct rm_loop *loop;
	struct rm_listener *listener;
	unsigned accepted;
	int last_fd;
	struct rm_address last_peer;
};

static int
on_accept(int fd, const struct rm_address *peer, void *arg)
{
	struct fixture *f = arg;

	f->accepted++;
	if (f->last_fd >= 0)
		close(f->last_fd);
	f->last_fd = fd;
	f->last_peer = *peer;
	return 0;
}

static int
setup(void **state)
{
	static struct fixture fixture;
	struct rm_address address = loopback_address(0);

	fixture = (struct fixture){ .last_fd = -1 };
	*state = &fixture;
	if (rm_loop_new(&fixture.loop) < 0)
		return -1;
	return rm_listener_new(
	    fixture.loop, &address, on_accept, &fixture, &fixture.listener);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	if (f->last_fd >= 0)
		close(f->last_fd);
	rm_listener_free(f->listener);
	rm_loop_free(f->loop);
	return 0;
}

static void
port_zero_becomes_a_real_port_that_accepts(void **state)
{
	struct fixture *f = *state;
	struct rm_address own = { .len = sizeof(own.storage) };
	int fd;

	assert_in_range(rm_listener_port(f->listener), 1, 65535);
	fd = loopback_connect(rm_listener_port(f->listener));
	LOOPBACK_WAIT(f->loop, f->accepted == 1);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&own.storage, &own.len), 0);
	assert_true(rm_address_equal(&own, &f->last_peer));
	close(fd);
}

static void
an_accepted_socket_neither_blocks_nor_leaks_into_children(void **state)
{
	struct fixture *f = *state;
	int fd = loopback_connect(rm_listener_port(f->listener));

	LOOPBACK_WAIT(f->loop, f->accepted == 1);
	assert_true(fcntl(f->last_fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(f->last_fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

static void
all_of_many_connections_are_accepted(void **state)
{
	struct fixture *f = *state;
	int fds[100];

	for (size_t i = 0; i < 100; i++)
		fds[i] = loopback_connect(rm_listener_port(f->listener));
	LOOPBACK_WAIT(f->loop, f->accepted == 100);
	for (size_t i = 0; i < 100; i++)
		close(fds[i]);
}

static void
a_port_in_use_is_an_error_at_once(void **state)
{
	struct fixture *f = *state;
	struct rm_address address = loopback_address(rm_listener_port(f->listener));
	struct rm_listener *second = NULL;

	assert_int_equal(
	    rm_listener_new(f->loop, &address, on_accept, f, &second), -EADDRINUSE);
	assert_null(second);
}

static void
a_listener_out_of_descriptors_pauses_and_resumes(void **state)
{
	struct fixture *f = *state;
	struct rlimit was, none;
	int fds[50], spare;
	rm_mono_t begun;
	unsigned turns;

	for (size_t i = 0; i < 50; i++)
		fds[i] = loopback_connect(rm_listener_port(f->listener));
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	spare = dup(fds[0]);
	close(spare);
	none = was;
	none.rlim_cur = (rlim_t)spare;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	turns = loopback_run(f->loop, RM_NS_PER_S);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(f->accepted, 0);
	/* A spinning loop would make tens of thousands. */
	assert_in_range(turns, 0, 1000);
	begun = rm_mono_now();
	LOOPBACK_WAIT(f->loop, f->accepted == 50);
	assert_in_range(rm_mono_since(rm_mono_now(), begun), 0, RM_NS_PER_S);
	for (size_t i = 0; i < 50; i++)
		close(fds[i]);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(port_zero_becomes_a_real_port_that_accepts),
		TEST(an_accepted_socket_neither_blocks_nor_leaks_into_children),
		TEST(all_of_many_connections_are_accepted),
		TEST(a_port_in_use_is_an_error_at_once),
		TEST(a_listener_out_of_descriptors_pauses_and_resumes),
	};

	return cmocka_run_group_tests_name("listener", tests, NULL, NULL);
}
