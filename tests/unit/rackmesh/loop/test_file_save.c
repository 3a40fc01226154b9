#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/core/file.h"
#include "rackmesh/loop/file_save.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"

struct fixture {
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct rm_timer *guard;
	char folder[32], path[64];
	int done, r; /* number of calls, and the last result */
};

static void
on_guard(void *arg)
{
	struct fixture *f = arg;

	f->r = -ETIMEDOUT;
	rm_loop_stop(f->loop);
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (f == NULL || rm_loop_new(&f->loop) < 0 ||
	    rm_worker_new(f->loop, 1, &f->worker) < 0 ||
	    rm_timer_new(f->loop, on_guard, f, &f->guard) < 0)
		return -1;
	rm_timer_after(f->guard, 60 * RM_NS_PER_S);
	strcpy(f->folder, "/tmp/file_save.XXXXXX");
	if (mkdtemp(f->folder) == NULL)
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/state", f->folder);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_timer_free(f->guard);
	rm_worker_free(f->worker);
	rm_loop_free(f->loop);
	unlink(f->path);
	rmdir(f->folder);
	free(f);
	return 0;
}

static void
on_done(void *arg, int r)
{
	struct fixture *f = arg;

	f->done++;
	f->r = r;
	rm_loop_stop(f->loop);
}

static void
a_saved_file_has_the_bytes_of_the_call(void **state)
{
	struct fixture *f = *state;
	char bytes[] = "first";
	uint8_t *data;
	size_t len;

	assert_int_equal(rm_file_save(f->worker, f->path, bytes, 5, on_done, f), 0);
	memset(bytes, 'x', 5);
	assert_int_equal(rm_loop_run(f->loop), 0);
	assert_int_equal(f->done, 1);
	assert_int_equal(f->r, 0);
	assert_int_equal(rm_file_read(f->path, 16, &data, &len), 0);
	assert_int_equal(len, 5);
	assert_memory_equal(data, "first", 5);
	free(data);
}

static void
only_a_secret_file_has_mode_0600(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	umask(022);
	for (int secret = 0; secret < 2; secret++) {
		assert_int_equal((secret ? rm_file_save_secret : rm_file_save)(
				     f->worker, f->path, "s", 1, on_done, f),
		    0);
		assert_int_equal(rm_loop_run(f->loop), 0);
		assert_int_equal(f->r, 0);
		assert_int_equal(stat(f->path, &st), 0);
		assert_int_equal(st.st_mode & 0777, secret ? 0600 : 0644);
	}
}

static void
a_failed_write_is_reported(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(
	    rm_file_save(f->worker, "/no/such/folder", "s", 1, on_done, f), 0);
	assert_int_equal(rm_loop_run(f->loop), 0);
	assert_int_equal(f->done, 1);
	assert_int_equal(f->r, -ENOENT);
}

static void
a_refused_save_never_calls_done(void **state)
{
	struct fixture *f = *state;
	char path[PATH_MAX + 1];

	memset(path, 'p', PATH_MAX);
	path[PATH_MAX] = '\0';
	assert_int_equal(
	    rm_file_save(f->worker, path, "s", 1, on_done, f), -ENAMETOOLONG);
	assert_int_equal(rm_file_save(f->worker, f->path, "1", 1, on_done, f), 0);
	/* The worker runs one job at a time; the next waits until the loop has its
	 * result. */
	assert_int_equal(rm_file_save(f->worker, f->path, "2", 1, on_done, f), -EAGAIN);
	assert_int_equal(rm_loop_run(f->loop), 0);
	assert_int_equal(f->done, 1);
}

static void
a_save_ends_when_the_worker_is_freed(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(
	    rm_file_save_secret(f->worker, f->path, "s", 1, on_done, f), 0);
	rm_worker_free(f->worker);
	f->worker = NULL;
	assert_int_equal(f->done, 1);
	assert_true(f->r == 0 || f->r == -ECANCELED);
	assert_int_equal(access(f->path, F_OK), f->r == 0 ? 0 : -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    a_saved_file_has_the_bytes_of_the_call, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    only_a_secret_file_has_mode_0600, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    a_failed_write_is_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    a_refused_save_never_calls_done, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    a_save_ends_when_the_worker_is_freed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
