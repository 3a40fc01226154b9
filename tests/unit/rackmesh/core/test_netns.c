#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rackmesh/core/netns.h"

/* The inode number identifies the namespace. */
static ino_t
here(void)
{
	struct stat st;

	assert_int_equal(stat("/proc/thread-self/ns/net", &st), 0);
	return st.st_ino;
}

struct call {
	ino_t ino;
	int value;
};

static int
note_where(void *arg)
{
	struct call *call = arg;

	call->ino = here();
	return call->value;
}

static void
a_file_that_is_no_network_namespace_is_refused(void **state)
{
	int fd = -5;

	assert_int_equal(rm_netns_open("no-such-namespace-here", &fd), -ENOENT);
	assert_int_equal(rm_netns_open("/dev/null", &fd), -EINVAL);
	assert_int_equal(rm_netns_open("/proc/self/ns/mnt", &fd), -EINVAL);
	assert_int_equal(rm_netns_open("/tmp", &fd), -EINVAL);
	assert_int_equal(fd, -5);
}

static void
ones_own_namespace_needs_no_privilege(void **state)
{
	struct call call = { .value = 42 };
	int fd;

	assert_int_equal(rm_netns_open("", &fd), 0);
	close(fd);
	assert_int_equal(rm_netns_open(NULL, &fd), 0);
	assert_int_equal(rm_netns_call(fd, note_where, &call), 42);
	assert_int_equal(call.ino, here());
	close(fd);
}

static void
a_call_runs_in_the_other_namespace_and_comes_back(void **state)
{
	struct call call = { .value = -ENODEV };
	ino_t before = here();
	char path[64];
	int ends[2], fd;
	pid_t child;
	char byte;

	/* A child's new namespace, named by its path below /proc. */
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		byte = unshare(CLONE_NEWNET) == 0 ? 'y' : 'n';
		if (write(ends[1], &byte, 1) == 1)
			pause();
		_exit(0);
	}
	assert_int_equal(read(ends[0], &byte, 1), 1);
	if (byte == 'y') {
		snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)child);
		assert_int_equal(rm_netns_open(path, &fd), 0);
		assert_int_equal(rm_netns_call(fd, note_where, &call), -ENODEV);
		close(fd);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(ends[0]);
	close(ends[1]);
	if (byte != 'y')
		skip(); /* not running as root */
	assert_int_not_equal(call.ino, 0);
	assert_int_not_equal(call.ino, before);
	assert_int_equal(here(), before);
}

static void
a_descriptor_that_is_no_namespace_does_not_move_the_thread(void **state)
{
	struct call call = { 0 };
	ino_t before = here();
	int fd = open("/dev/null", O_RDONLY);

	assert_true(rm_netns_call(fd, note_where, &call) < 0);
	close(fd);
	assert_int_equal(rm_netns_call(-1, note_where, &call), -EBADF);
	assert_int_equal(call.ino, 0);
	assert_int_equal(here(), before);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_is_no_network_namespace_is_refused),
		cmocka_unit_test(ones_own_namespace_needs_no_privilege),
		cmocka_unit_test(a_call_runs_in_the_other_namespace_and_comes_back),
		cmocka_unit_test(
		    a_descriptor_that_is_no_namespace_does_not_move_the_thread),
	};

	return cmocka_run_group_tests_name("netns", tests, NULL, NULL);
}
