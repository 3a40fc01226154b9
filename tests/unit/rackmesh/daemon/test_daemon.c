#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rackmesh/config/config.h"
#include "rackmesh/core/log.h"
#include "rackmesh/daemon/daemon.h"
#include "rackmesh/loop/loop.h"

struct config {
	const char *path;
	char *name;
	int log_level;
};

static const struct rm_option options[] = {
	{ "name", RM_STRING, offsetof(struct config, name), "a", 1, 63, 0, "its name",
	    NULL, NULL, 0 },
	RM_LOG_LEVEL_OPTION(struct config, log_level),
	{ 0 },
};

static int
check_config(void *config, struct rm_error *error)
{
	return 0;
}

static const struct rm_config_type type = {
	.options = options,
	.bytes = sizeof(struct config),
	.path = offsetof(struct config, path),
	.name = offsetof(struct config, name),
	.log_level = offsetof(struct config, log_level),
	.name_option = "name",
	.check = check_config,
};

/* What the fake daemon of this test did, and what it shall do. */
static struct {
	int starts, reloads, frees;
	int refuse_start, again;
	struct rm_loop *loop;
} seen;

static int
start(struct rm_loop *loop, void *config, void **ret)
{
	assert_string_equal(((struct config *)config)->name, "a");
	seen.starts++;
	seen.loop = loop;
	if (seen.refuse_start < 0)
		return seen.refuse_start;
	*ret = &seen;
	raise(SIGHUP);
	return 0;
}

static void
reload(void *daemon)
{
	assert_ptr_equal(daemon, &seen);
	seen.reloads++;
	if (seen.starts <= seen.again)
		rm_loop_again(seen.loop);
	else
		raise(SIGTERM);
}

static void
end(void *daemon)
{
	assert_ptr_equal(daemon, &seen);
	seen.frees++;
}

static unsigned
check(const void *config, bool connect)
{
	return 2;
}

static const struct rm_daemon daemon_table = {
	.name = "test",
	.what = "tests",
	.config = &type,
	.check = check,
	.start = start,
	.reload = reload,
	.free = end,
};

static int
run(const char *argument)
{
	char *argv[] = { (char[]){ "test" }, (char *)argument, NULL };

	return rm_daemon_main(&daemon_table, argument != NULL ? 2 : 1, argv);
}

static int
setup(void **state)
{
	seen = (typeof(seen)){ 0 };
	return 0;
}

static void
a_daemon_runs_until_sigterm_and_reloads_on_sighup(void **state)
{
	assert_int_equal(run(NULL), EXIT_SUCCESS);
	assert_int_equal(seen.starts, 1);
	assert_int_equal(seen.reloads, 1);
	assert_int_equal(seen.frees, 1);
}

static void
a_daemon_that_asks_for_it_is_started_again_from_its_config(void **state)
{
	seen.again = 2;
	assert_int_equal(run(NULL), EXIT_SUCCESS);
	assert_int_equal(seen.starts, 3);
	assert_int_equal(seen.frees, 3);
}

static void
a_daemon_that_cannot_start_fails(void **state)
{
	seen.refuse_start = -EADDRINUSE;
	assert_int_equal(run(NULL), EXIT_FAILURE);
	assert_int_equal(seen.frees, 0);
}

static void
arguments_that_only_ask_start_nothing(void **state)
{
	assert_int_equal(run("--version"), EXIT_SUCCESS);
	assert_int_equal(run("--help-config"), EXIT_SUCCESS);
	assert_int_equal(run("--check"), EXIT_FAILURE); /* the check finds 2 errors */
	assert_int_equal(run("--chekc"), EXIT_FAILURE);
	assert_int_equal(seen.starts, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
		    a_daemon_runs_until_sigterm_and_reloads_on_sighup, setup),
		cmocka_unit_test_setup(
		    a_daemon_that_asks_for_it_is_started_again_from_its_config, setup),
		cmocka_unit_test_setup(a_daemon_that_cannot_start_fails, setup),
		cmocka_unit_test_setup(arguments_that_only_ask_start_nothing, setup),
	};

	return cmocka_run_group_tests_name("daemon", tests, NULL, NULL);
}
