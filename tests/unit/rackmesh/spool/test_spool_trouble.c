#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "rackmesh/core/file.h"
#define FIXTURE_ROOT "/dev/shm" /* in memory: the tests make thousands of starts */
#include "spool_fixture.h"
#include "tests/support/trials.h"

#define RECORDS 5

struct saved { /* copies of a folder's files, to be restored */
	char names[4][32];
	uint8_t *data[4];
	size_t len[4], count;
};

static void
path_in(const struct fixture *f, const char *name, char path[256])
{
	assert_true(snprintf(path, 256, "%s/%s", f->folder, name) < 256);
}

static void
write_file(const struct fixture *f, const char *name, const uint8_t *data, size_t len)
{
	char path[256];
	int fd;

	path_in(f, name, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	close(fd);
}

static void
save(const struct fixture *f, struct saved *saved)
{
	DIR *dir = opendir(f->folder);
	struct dirent *entry;

	memset(saved, 0, sizeof(*saved));
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		char path[256];

		if (entry->d_name[0] == '.')
			continue;
		assert_true(saved->count < 4);
		path_in(f, entry->d_name, path);
		snprintf(saved->names[saved->count], sizeof(saved->names[0]), "%.31s",
		    entry->d_name);
		assert_int_equal(rm_file_read(path, 1 << 20, &saved->data[saved->count],
				     &saved->len[saved->count]),
		    0);
		saved->count++;
	}
	closedir(dir);
}

static void
put_back(const struct fixture *f, const struct saved *saved)
{
	empty_folder(f->folder);
	for (size_t i = 0; i < saved->count; i++)
		write_file(f, saved->names[i], saved->data[i], saved->len[i]);
}

static void
free_saved(struct saved *saved)
{
	for (size_t i = 0; i < saved->count; i++)
		free(saved->data[i]);
}

static size_t
segment_of(const struct saved *saved)
{
	for (size_t i = 0; i < saved->count; i++)
		if (strstr(saved->names[i], ".spool") != NULL)
			return i;
	fail_msg("no segment");
	return 0;
}

/* Five records of 7 to 35 bytes in one file, and `done` at 1. */
static void
small_spool(struct fixture *f, struct saved *saved)
{
	assert_int_equal(start(f), 0);
	for (size_t i = 1; i <= RECORDS; i++)
		append(f, i * 7);
	settle(f);
	rm_spool_done(f->spool, 1);
	stop(f);
	save(f, saved);
	assert_int_equal(saved->count, 2);
}

static void
the_spool_starts_with_a_tail_cut_at_any_byte(void **state)
{
	struct fixture *f = *state;
	struct saved saved;
	size_t segment, whole = 32, length = 16 + 7;
	uint64_t records = 0, last = 0;

	small_spool(f, &saved);
	segment = segment_of(&saved);
	for (size_t cut = 0; cut <= saved.len[segment]; cut++) {
		if (cut == whole + length) {
			whole = cut;
			records++;
			length += 7;
		}
		put_back(f, &saved);
		write_file(f, saved.names[segment], saved.data[segment], cut);
		assert_int_equal(start(f), 0);
		/* The first record is done. */
		assert_int_equal(walk(f, NULL, &last), records > 0 ? records - 1 : 0);
		assert_int_equal(rm_spool_counts(f->spool)->quarantined, 0);
		append(f, 20); /* and the spool goes on */
		settle(f);
		stop(f);
		assert_int_equal(start(f), 0);
		assert_int_equal(
		    rm_spool_waiting(f->spool), (records > 0 ? records - 1 : 0) + 1);
		stop(f);
	}
	assert_int_equal(records, RECORDS);
	free_saved(&saved);
}

static void
flip_every_bit(struct fixture *f, struct saved *saved, size_t file)
{
	/* The gate flips one byte of five, each in another bit. crash_damage tests
	 * all bits. */
	const size_t step = trials_are_all() ? 1 : 5;

	for (size_t bit = 0; bit < saved->len[file] * 8; bit += step) {
		const struct rm_spool_counts *counts;
		uint64_t records;
		unsigned aside;

		put_back(f, saved);
		saved->data[file][bit / 8] ^= (uint8_t)(1 << bit % 8);
		write_file(f, saved->names[file], saved->data[file], saved->len[file]);
		saved->data[file][bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(start(f), 0);
		counts = rm_spool_counts(f->spool);
		records = walk(f, NULL, NULL); /* reads every byte */
		on_disk(f->folder, ".corrupt", &aside);
		/* Except for a spare byte of `done`, each damage is found. The damage
		 * costs one record, or the file, or the position in `done`: in the last
		 * case the first record is delivered again. */
		assert_int_equal(counts->quarantined, 1);
		assert_int_equal(aside, 1);
		assert_true(counts->lost_corrupt_bytes > 0);
		if (strcmp(saved->names[file], "done") == 0)
			assert_int_equal(records, RECORDS);
		else if (bit / 8 < 32)
			assert_int_equal(records, 0);
		else
			assert_int_equal(
			    records, RECORDS - (bit / 8 < 32 + 16 + 7 ? 1 : 2));
		append(f, 20);
		settle(f);
		stop(f);
		assert_int_equal(start(f), 0);
		/* The file stays set aside. */
		assert_int_equal(rm_spool_counts(f->spool)->quarantined, 0);
		assert_int_equal(walk(f, NULL, NULL), records + 1);
		stop(f);
	}
}

static void
the_spool_starts_with_any_flipped_bit_and_returns_no_damaged_record(void **state)
{
	struct fixture *f = *state;
	struct saved saved;

	small_spool(f, &saved);
	for (size_t i = 0; i < saved.count; i++)
		flip_every_bit(f, &saved, i);
	free_saved(&saved);
}

/* Limits the size of files, so that new data fails with EFBIG; SIGXFSZ is ignored. */
static void
limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void
a_full_disk_ends_durability_until_there_is_room_again(void **state)
{
	struct fixture *f = *state;
	const struct rm_spool_counts *counts;

	assert_int_equal(start(f), 0);
	counts = rm_spool_counts(f->spool);
	for (int i = 0; i < 10; i++)
		append(f, 400);
	settle(f);
	limit_files(4100); /* a part of one more record fits */
	for (int i = 0; i < 30; i++) {
		append(f, 400);
		settle(f); /* the disk is full: kept in memory */
	}
	assert_int_equal(counts->durable, 0);
	assert_true(counts->failed_writes > 0);
	assert_int_equal(walk(f, NULL, NULL), 40);
	limit_files(RLIM_INFINITY);
	LOOPBACK_WAIT(f->loop, counts->durable == 1);
	append(f, 400);
	settle(f);
	stop(f);
	assert_int_equal(start(f), 0);
	assert_int_equal(walk(f, NULL, NULL), 41);
	assert_int_equal(rm_spool_next(f->spool), 42);
	assert_int_equal(rm_spool_counts(f->spool)->quarantined, 0);
}

static void
memory_is_bounded_while_the_disk_fails(void **state)
{
	struct fixture *f = *state;
	const struct rm_spool_counts *counts;
	uint64_t first = 0, last = 0;

	f->options.memory_bytes = 4160;
	assert_int_equal(start(f), 0);
	counts = rm_spool_counts(f->spool);
	for (int i = 0; i < 5; i++)
		append(f, 400);
	settle(f);
	limit_files(0);
	append(f, 400);
	LOOPBACK_WAIT(f->loop, counts->durable == 0);
	for (int i = 0; i < 50; i++)
		append(f, 400);
	settle(f);
	limit_files(RLIM_INFINITY);
	/* Records on disk stay; of the others the newest ten stay. */
	assert_int_equal(counts->dropped_full, 41);
	assert_int_equal(walk(f, &first, &last), 15);
	assert_int_equal(first, 1);
	assert_int_equal(last, 56);
	LOOPBACK_WAIT(f->loop, counts->durable == 1);
	rm_spool_done(f->spool, 3);
	balance(f);
	stop(f);
	assert_int_equal(start(f), 0);
	assert_int_equal(walk(f, &first, &last), 12);
	assert_int_equal(first, 4);
	assert_int_equal(last, 56);
}

static void
a_deleted_folder_counts_as_a_failing_disk(void **state)
{
	struct fixture *f = *state;
	const struct rm_spool_counts *counts;
	char away[96];

	snprintf(away, sizeof(away), "%s/away", f->root);
	assert_int_equal(start(f), 0);
	counts = rm_spool_counts(f->spool);
	append(f, 100);
	settle(f);
	assert_int_equal(rename(f->folder, away), 0);
	assert_int_equal(close(open(f->folder, O_CREAT | O_WRONLY, 0600)), 0);
	append(f, 100);
	settle(f);
	assert_int_equal(counts->durable, 0);
	assert_int_equal(walk(f, NULL, NULL), 2);
	assert_int_equal(unlink(f->folder), 0);
	assert_int_equal(rename(away, f->folder), 0);
	LOOPBACK_WAIT(f->loop, counts->durable == 1);
	stop(f);
	assert_int_equal(start(f), 0);
	assert_int_equal(walk(f, NULL, NULL), 2);
}

static void
numbers_that_never_reached_the_disk_are_not_used_again(void **state)
{
	struct fixture *f = *state;
	struct saved crashed;

	assert_int_equal(start(f), 0);
	append(f, 100);
	settle(f);
	limit_files(100);
	append(f, 100);
	settle(f);
	assert_int_equal(f->durable, 2); /* record 2 was promised */
	limit_files(RLIM_INFINITY);
	save(f, &crashed); /* as kill -9 would leave the folder */
	stop(f);
	put_back(f, &crashed);
	assert_int_equal(start(f), 0);
	assert_int_equal(rm_spool_waiting(f->spool), 1);
	assert_true(rm_spool_next(f->spool) > 1000000);
	free_saved(&crashed);
}

/* It would use the same numbers as we do, and remove records that we have promised. */
static void
a_folder_that_another_process_uses_is_refused(void **state)
{
	struct fixture *f = *state;
	const struct rm_spool_callbacks callbacks = { on_durable, on_fetched, f };
	struct rm_spool *second = NULL;
	struct rm_error error = { 0 };

	assert_int_equal(start(f), 0);
	append(f, 100);
	settle(f);
	assert_int_equal(
	    rm_spool_new(f->loop, f->worker, &f->options, &callbacks, &second, &error),
	    -EBUSY);
	assert_null(second);
	assert_non_null(strstr(error.text, f->folder));
	append(f, 100);
	settle(f);
	stop(f);
	assert_int_equal(start(f), 0);
	assert_int_equal(rm_spool_waiting(f->spool), 2);
}

static void
numbers_are_not_reused_when_done_is_unknown(void **state)
{
	struct fixture *f = *state;
	char path[256];

	assert_int_equal(start(f), 0);
	append(f, 100);
	settle(f);
	stop(f);
	path_in(f, "done", path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(start(f), 0);
	assert_int_equal(rm_spool_waiting(f->spool), 1);
	assert_true(rm_spool_next(f->spool) > 1000000);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_spool_starts_with_a_tail_cut_at_any_byte),
		TEST(
		    the_spool_starts_with_any_flipped_bit_and_returns_no_damaged_record),
		TEST(a_full_disk_ends_durability_until_there_is_room_again),
		TEST(memory_is_bounded_while_the_disk_fails),
		TEST(a_deleted_folder_counts_as_a_failing_disk),
		TEST(numbers_that_never_reached_the_disk_are_not_used_again),
		TEST(a_folder_that_another_process_uses_is_refused),
		TEST(numbers_are_not_reused_when_done_is_unknown),
	};

	return cmocka_run_group_tests_name("spool_trouble", tests, NULL, NULL);
}
