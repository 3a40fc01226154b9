/* A kernel without RDMA: which error is reported, and that nothing else is affected.
 * A lab with a kernel that has RDMA tests the receiving of events. */
#include "host-agent/services/qp_tracer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/qp_event.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"

#define DEADLINE_NS (60 * RM_NS_PER_S)

struct world {
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct qp_tracer *tracer;
	struct rm_timer *deadline;
	unsigned states;
	bool late;
};

static void
on_event(const struct qp_event *event, void *arg)
{
}

static void
on_state(void *arg)
{
	struct world *world = arg;

	world->states++;
	rm_loop_stop(world->loop);
}

static void
on_deadline(void *arg)
{
	struct world *world = arg;

	world->late = true;
	rm_loop_stop(world->loop);
}

static const struct qp_tracer_callbacks callbacks = { on_event, on_state };

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	*state = world;
	if (world == NULL || rm_loop_new(&world->loop) < 0 ||
	    rm_worker_new(world->loop, 4, &world->worker) < 0 ||
	    rm_timer_new(world->loop, on_deadline, world, &world->deadline) < 0)
		return -1;
	rm_timer_after(world->deadline, DEADLINE_NS);
	return 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;

	rm_worker_free(world->worker);
	qp_tracer_free(world->tracer);
	rm_timer_free(world->deadline);
	rm_loop_free(world->loop);
	free(world);
	return 0;
}

static void
a_missing_part_is_reported_and_the_agent_continues(void **state)
{
	struct world *world = *state;
	const struct qp_tracer_options options = { .root = "/nonexistent" };

	assert_int_equal(qp_tracer_new(world->loop, world->worker, &options, &callbacks,
			     world, &world->tracer),
	    0);
	assert_int_equal(rm_loop_run(world->loop), 0);
	assert_false(world->late);
	assert_int_equal(world->states, 1);
	assert_false(qp_tracer_is_attached(world->tracer));
	assert_string_equal(qp_tracer_method(world->tracer), "");
	assert_non_null(strstr(qp_tracer_missing(world->tracer), "BTF"));
	assert_int_equal(qp_tracer_counts(world->tracer).attempts, 1);
	assert_int_equal(qp_tracer_counts(world->tracer).events, 0);
}

static void
a_module_that_comes_later_is_looked_for_again(void **state)
{
	struct world *world = *state;
	char root[] = "/tmp/test_qp_tracer.XXXXXX";
	char path[128];
	struct qp_tracer_options options = { .root = root };

	assert_non_null(mkdtemp(root));
	for (const char *const *folder = (const char *const[]){ "/sys", "/sys/kernel",
		 "/sys/kernel/btf", "/sys/kernel/btf/vmlinux", NULL };
	     *folder != NULL; folder++) {
		snprintf(path, sizeof(path), "%s%s", root, *folder);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	assert_int_equal(qp_tracer_new(world->loop, world->worker, &options, &callbacks,
			     world, &world->tracer),
	    0);
	assert_int_equal(rm_loop_run(world->loop), 0);
	assert_non_null(strstr(qp_tracer_missing(world->tracer), "ib_core"));
	assert_int_equal(rm_loop_run(world->loop), 0); /* its timer tries again */
	assert_false(world->late);
	assert_int_equal(world->states, 2);
	assert_int_equal(qp_tracer_counts(world->tracer).attempts, 2);
	for (int cut = 0; cut < 4; cut++) {
		assert_int_equal(rmdir(path), 0);
		*strrchr(path, '/') = 0;
	}
	assert_int_equal(rmdir(root), 0);
}

static void
a_tracer_freed_at_once_leaves_nothing_behind(void **state)
{
	struct world *world = *state;
	const struct qp_tracer_options options = { .root = "/nonexistent" };

	assert_int_equal(qp_tracer_new(world->loop, world->worker, &options, &callbacks,
			     world, &world->tracer),
	    0);
}

/* This kernel may or may not have the hooks. If not, there is a reason. */
static void
hooks_either_open_or_give_the_reason(void **state)
{
	for (enum qp_hooks_method method = QP_HOOKS_ANY; method < QP_HOOKS_METHODS;
	     method++) {
		char reason[QP_HOOKS_TEXT];
		struct qp_hooks *hooks = NULL;
		int r = qp_hooks_open(method, &hooks, reason);

		if (r == 0) {
			assert_int_equal(qp_hooks_dropped(hooks), 0);
			qp_hooks_close(hooks);
			continue;
		}
		assert_true(r < 0);
		assert_null(hooks);
		assert_non_null(strchr(reason, ':'));
		if (method != QP_HOOKS_ANY)
			assert_memory_equal(reason, qp_hooks_method_name(method),
			    strlen(qp_hooks_method_name(method)));
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_missing_part_is_reported_and_the_agent_continues),
		TEST(a_module_that_comes_later_is_looked_for_again),
		TEST(a_tracer_freed_at_once_leaves_nothing_behind),
		TEST(hooks_either_open_or_give_the_reason),
	};

	return cmocka_run_group_tests_name("qp_tracer", tests, NULL, NULL);
}
