/*
 * A spool on real disks that are full or read-only: a small tmpfs in a new mount
 * namespace. Needs root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

#include "spool_fixture.h"

#define DISK_OPTIONS "size=256k,mode=0700"
#define NOBODY 65534

static int
mounted(void **state)
{
	struct fixture *f;

	if (setup(state) < 0)
		return -1;
	f = *state;
	return mount("none", f->root, "tmpfs", 0, DISK_OPTIONS);
}

static int
unmounted(void **state)
{
	struct fixture *f = *state;
	char root[sizeof(f->root)];

	memcpy(root, f->root, sizeof(root));
	stop(f);
	rm_loop_free(f->loop);
	umount2(root, MNT_DETACH);
	rmdir(root);
	free(f);
	return 0;
}

static void
read_only(const struct fixture *f, bool only)
{
	assert_int_equal(mount("none", f->root, "tmpfs",
			     MS_REMOUNT | (only ? MS_RDONLY : 0), DISK_OPTIONS),
	    0);
}

/* Leaves no free byte; files can still be created. */
static void
fill(const struct fixture *f, bool full)
{
	char path[96], page[4096] = { 1 };
	int fd;

	snprintf(path, sizeof(path), "%s/filler", f->root);
	if (!full) {
		assert_int_equal(unlink(path), 0);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	while (write(fd, page, sizeof(page)) > 0)
		;
	assert_int_equal(errno, ENOSPC);
	close(fd);
}

static void
takes_in_memory(struct fixture *f, unsigned records)
{
	for (unsigned i = 0; i < records; i++)
		append(f, 400);
	settle(f);
	assert_int_equal(rm_spool_counts(f->spool)->durable, 0);
}

static void
wait_until_durable(struct fixture *f)
{
	LOOPBACK_WAIT(f->loop, rm_spool_counts(f->spool)->durable == 1);
}

/* Ends as by kill -9, and starts again. */
static void
finds_after_a_restart(struct fixture *f, uint64_t records)
{
	stop(f);
	assert_int_equal(start(f), 0);
	assert_int_equal(walk(f, NULL, NULL), records);
	assert_int_equal(rm_spool_counts(f->spool)->durable, 1);
}

static void
on_a_read_only_disk_records_are_not_durable_until_it_is_writable(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(start(f), 0);
	append(f, 400);
	settle(f);
	read_only(f, true);
	takes_in_memory(f, 5);
	read_only(f, false);
	wait_until_durable(f);
	finds_after_a_restart(f, 6);
}

static void
on_a_full_disk_records_are_not_durable_until_there_is_room(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(start(f), 0);
	append(f, 400);
	settle(f);
	fill(f, true);
	takes_in_memory(f, 30);
	fill(f, false);
	wait_until_durable(f);
	finds_after_a_restart(f, 31);
}

static void
a_start_on_a_read_only_disk_reads_its_records(void **state)
{
	struct fixture *f = *state;
	uint64_t identity;

	assert_int_equal(start(f), 0);
	append(f, 400);
	append(f, 400);
	settle(f);
	identity = rm_spool_identity(f->spool);
	stop(f);
	read_only(f, true);
	assert_int_equal(start(f), 0);
	f->durable = rm_spool_next(f->spool) - 1;
	assert_int_equal(walk(f, NULL, NULL), 2);
	assert_true(rm_spool_identity(f->spool) == identity);
	/* The previous run may have used numbers that this disk does not contain. */
	assert_true(rm_spool_next(f->spool) > 1000000);
	takes_in_memory(f, 3);
	read_only(f, false);
	wait_until_durable(f);
	finds_after_a_restart(f, 5);
}

static void
without_a_folder_the_spool_starts_in_memory(void **state)
{
	struct fixture *f = *state;

	read_only(f, true);
	assert_int_equal(start(f), 0);
	takes_in_memory(f, 4);
	read_only(f, false);
	wait_until_durable(f);
	finds_after_a_restart(f, 4);
}

static void
on_a_full_disk_the_spool_starts_in_memory(void **state)
{
	struct fixture *f = *state;

	fill(f, true);
	assert_int_equal(start(f), 0);
	takes_in_memory(f, 4);
	fill(f, false);
	wait_until_durable(f);
	finds_after_a_restart(f, 4);
}

/* The records have another identity: they are neither renumbered nor overwritten. */
static void
records_that_cannot_be_read_wait_for_the_next_start(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(start(f), 0);
	append(f, 400);
	append(f, 400);
	settle(f);
	stop(f);
	assert_int_equal(chmod(f->root, 0755), 0);
	assert_int_equal(chown(f->folder, NOBODY, NOBODY), 0);
	assert_int_equal(chmod(f->folder, 0), 0);
	assert_int_equal(seteuid(NOBODY), 0);
	assert_int_equal(start(f), 0);
	takes_in_memory(f, 3);
	assert_int_equal(chmod(f->folder, 0700), 0);
	loopback_run(f->loop, 1500 * RM_NS_PER_MS); /* the spool has tried again */
	assert_int_equal(rm_spool_counts(f->spool)->durable, 0);
	assert_int_equal(seteuid(0), 0);
	finds_after_a_restart(f, 2);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, mounted, unmounted)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(on_a_read_only_disk_records_are_not_durable_until_it_is_writable),
		TEST(on_a_full_disk_records_are_not_durable_until_there_is_room),
		TEST(a_start_on_a_read_only_disk_reads_its_records),
		TEST(without_a_folder_the_spool_starts_in_memory),
		TEST(on_a_full_disk_the_spool_starts_in_memory),
		TEST(records_that_cannot_be_read_wait_for_the_next_start),
	};

	if (unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return 77;
	return cmocka_run_group_tests_name("spool_mount", tests, NULL, NULL);
}
