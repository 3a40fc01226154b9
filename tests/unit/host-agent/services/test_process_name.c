#include "host-agent/services/process_name.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];

static void
make_process(const char *cgroup, const char *comm)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc", root);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/proc/4711", root);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/proc/4711/cgroup", root);
	file = fopen(path, "w");
	fputs(cgroup, file);
	fclose(file);
	snprintf(path, sizeof(path), "%s/proc/4711/comm", root);
	file = fopen(path, "w");
	fputs(comm, file);
	fclose(file);
}

static int
setup(void **state)
{
	strcpy(root, "/tmp/test_process_name.XXXXXX");
	return mkdtemp(root) == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	static const char *const names[] = { "/proc/self/ns/pid", "/proc/self/ns",
		"/proc/self", "/proc/4711/cgroup", "/proc/4711/comm", "/proc/4711",
		"/proc", "" };
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", root, names[i]);
		remove(path);
	}
	return 0;
}

static void
a_living_process_is_named_by_its_cgroup(void **state)
{
	struct process_name name = { .comm = "nccl-thread" };

	make_process("0::/system.slice/trainer.service\n", "python3\n");
	process_name_read(root, 4711, 0, &name);
	assert_string_equal(name.service, "unit:trainer.service");
	assert_string_equal(name.comm, "python3");
}

static void
without_a_telling_cgroup_the_command_is_the_name(void **state)
{
	struct process_name name = { .comm = "" };

	make_process("0::/\n", "rping\n");
	process_name_read(root, 4711, 0, &name);
	assert_string_equal(name.service, "comm:rping");
	assert_string_equal(name.comm, "rping");
}

static void
for_an_ended_process_the_events_command_is_used(void **state)
{
	struct process_name name = { .comm = "ib_send_bw" };

	process_name_read(root, 4711, 12345, &name);
	assert_string_equal(name.service, "comm:ib_send_bw");
	assert_string_equal(name.comm, "ib_send_bw");

	name.comm[0] = 0;
	process_name_read(root, 4711, 0, &name);
	assert_string_equal(name.service, "comm:?");
}

/* The event's pid belongs to the host's namespace; here 4711 is another process. */
static void
a_pid_of_another_namespace_is_not_looked_up(void **state)
{
	struct process_name name = { .comm = "nccl-thread" };

	make_process("0::/system.slice/another.service\n", "another\n");
	process_name_read(root, 0, 0, &name);
	assert_string_equal(name.comm, "nccl-thread");
	assert_string_equal(name.service, "comm:nccl-thread");
}

static void
an_own_pid_namespace_of_the_agent_is_noticed(void **state)
{
	char path[128];

	/* A kernel without pid namespaces. */
	assert_true(process_name_sees_events_pids(root));
	/* A pid namespace other than the initial one has another inode. */
	make_process("", "");
	snprintf(path, sizeof(path), "%s/proc/self", root);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/proc/self/ns", root);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/proc/self/ns/pid", root);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_false(process_name_sees_events_pids(root));
}

static void
control_characters_in_a_process_name_are_replaced(void **state)
{
	struct process_name name = { .comm = "" };

	make_process("", "a\x1b[31mb\n");
	process_name_read(root, 4711, 0, &name);
	assert_string_equal(name.comm, "a?[31mb");
	assert_string_equal(name.service, "comm:a?[31mb");
}

/* The number of a cgroup is its inode in the v2 hierarchy. */
static void
a_cgroup_outlives_its_process(void **state)
{
	static const char *const mounts[] = { "/sys/fs/cgroup/unified",
		"/sys/fs/cgroup" };
	struct process_name name = { .comm = "rping" };
	char path[128] = "";
	struct stat stat_of;
	int made = -1;

	for (size_t i = 0; i < 2 && made < 0; i++) {
		snprintf(path, sizeof(path), "%s/cgroup.procs", mounts[i]);
		if (access(path, F_OK) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/test_process_name_%d.service",
		    mounts[i], (int)getpid());
		made = mkdir(path, 0700);
	}
	if (made < 0)
		skip(); /* no such hierarchy, or not root */
	assert_int_equal(stat(path, &stat_of), 0);
	process_name_read("", 4194304, stat_of.st_ino, &name);
	rmdir(path);
	assert_memory_equal(name.service, "unit:test_process_name_", 23);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_living_process_is_named_by_its_cgroup),
		TEST(without_a_telling_cgroup_the_command_is_the_name),
		TEST(for_an_ended_process_the_events_command_is_used),
		TEST(a_pid_of_another_namespace_is_not_looked_up),
		TEST(an_own_pid_namespace_of_the_agent_is_noticed),
		TEST(control_characters_in_a_process_name_are_replaced),
		TEST(a_cgroup_outlives_its_process),
	};

	return cmocka_run_group_tests_name("process_name", tests, NULL, NULL);
}
