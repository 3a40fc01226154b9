#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>

#include "spool_fixture.h"

static void
records_come_out_in_order_until_done(void **state)
{
	struct fixture *f = *state;
	struct rm_spool_item item;
	uint64_t first = 0, last = 0;

	assert_int_equal(start(f), 0);
	assert_int_equal(rm_spool_get(f->spool, 0, &item), -ENOENT);
	for (int i = 1; i <= 50; i++)
		append(f, (size_t)i);
	assert_int_equal(walk(f, &first, &last), 50);
	assert_int_equal(first, 1);
	assert_int_equal(last, 50);
	assert_int_equal(rm_spool_waiting_bytes(f->spool), 50 * 51 / 2);
	rm_spool_done(f->spool, 20);
	balance(f);
	assert_int_equal(walk(f, &first, NULL), 30);
	assert_int_equal(first, 21);
	assert_true(take(f, 40, &item));
	assert_int_equal(item.seq, 40);
	settle(f);
	rm_spool_done(f->spool, 1000);
	balance(f);
	assert_int_equal(rm_spool_waiting(f->spool), 0);
	assert_int_equal(rm_spool_waiting_bytes(f->spool), 0);
	assert_int_equal(rm_spool_counts(f->spool)->done, 50);
	append(f, 9);
	assert_int_equal(walk(f, &first, NULL), 1);
	assert_int_equal(first, 51);
}

static void
one_sync_makes_many_records_durable(void **state)
{
	struct fixture *f = *state;
	const struct rm_spool_counts *counts;

	assert_int_equal(start(f), 0);
	counts = rm_spool_counts(f->spool);
	for (int i = 0; i < 1000; i++)
		append(f, 100);
	/* The loop has not run: whatever is on the disk, no promise was made. */
	assert_int_equal(f->durable, 0);
	settle(f);
	assert_true(counts->syncs >= 2);
	assert_true(counts->syncs < 20);
	assert_int_equal(f->promises, counts->syncs);
	assert_int_equal(counts->durable, 1);
	assert_true(counts->written_bytes >= 1000 * (100 + 16));
}

static void
an_acknowledged_record_is_in_a_file(void **state)
{
	struct fixture *f = *state;
	unsigned count;

	assert_int_equal(start(f), 0);
	for (int i = 0; i < 100; i++) {
		append(f, 77);
		settle(f);
		assert_true(on_disk(f->folder, ".spool", &count) >=
			    (uint64_t)(i + 1) * (77 + 16));
	}
}

static void
a_restart_finds_records_that_were_not_done(void **state)
{
	struct fixture *f = *state;
	uint64_t identity, first = 0, last = 0;

	f->options.max_bytes = 1 << 18;
	assert_int_equal(start(f), 0);
	identity = rm_spool_identity(f->spool);
	assert_int_equal(identity, 0x5eed);
	f->options.identity = 0; /* random, and only for a new spool */
	for (int life = 0; life < 5; life++) {
		for (int i = 0; i < 100; i++)
			append(f, 500);
		settle(f);
		rm_spool_done(f->spool, (uint64_t)life * 100 + 60);
		stop(f);
		assert_int_equal(start(f), 0);
		assert_true(rm_spool_identity(f->spool) == identity);
		assert_int_equal(rm_spool_next(f->spool), (uint64_t)life * 100 + 101);
		assert_int_equal(rm_spool_counts(f->spool)->found, 40);
		assert_int_equal(walk(f, &first, &last), 40);
		assert_int_equal(first, life * 100 + 61);
		assert_int_equal(last, life * 100 + 100);
	}
}

static void
waiting_records_are_written_at_the_end(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(start(f), 0);
	for (int i = 0; i < 1000; i++)
		append(f, 200);
	stop(f); /* the loop has not run once */
	assert_int_equal(start(f), 0);
	assert_int_equal(walk(f, NULL, NULL), 1000);
	assert_int_equal(rm_spool_next(f->spool), 1001);
}

static void
numbers_continue_when_no_record_is_left(void **state)
{
	struct fixture *f = *state;
	unsigned count;

	f->options.max_bytes = 8192;
	assert_int_equal(start(f), 0);
	for (int i = 0; i < 30; i++) {
		append(f, 300);
		settle(f);
		rm_spool_done(f->spool, f->durable);
	}
	stop(f);
	assert_int_equal(start(f), 0);
	assert_int_equal(rm_spool_next(f->spool), 31);
	assert_int_equal(rm_spool_counts(f->spool)->found, 0);
	LOOPBACK_WAIT(f->loop, (on_disk(f->folder, ".spool", &count), count == 0));
	stop(f);
	assert_int_equal(start(f), 0);
	assert_int_equal(rm_spool_next(f->spool), 31);
}

/* The same limit for any size of records, measured on the disk. */
static void
a_full_spool_drops_its_oldest_and_never_exceeds_its_bytes(void **state)
{
	static const size_t sizes[] = { 1, 700, 33, 900, 4000, 17 };
	struct fixture *f = *state;
	const struct rm_spool_counts *counts;
	uint64_t most = 0, first = 0, last = 0;
	unsigned count;

	f->options.max_bytes = 16384;
	f->options.segment_bytes = 2048;
	assert_int_equal(start(f), 0);
	counts = rm_spool_counts(f->spool);
	for (unsigned i = 0; i < 2000; i++) {
		uint64_t bytes;

		append(f, sizes[i % 6]);
		if (i % 3 == 0)
			event_base_loop(rm_loop_base(f->loop), EVLOOP_NONBLOCK);
		balance(f);
		if (i % 10 != 0)
			continue;
		settle(f); /* no file is created while the sizes are added up */
		bytes = on_disk(f->folder, "", &count);
		assert_true(bytes <= 16384);
		if (bytes > most)
			most = bytes;
	}
	settle(f);
	assert_true(most > 12000);
	assert_true(counts->dropped_full > 1000);
	walk(f, &first, &last);
	assert_int_equal(last, 2000);
	assert_int_equal(last - first + 1, rm_spool_waiting(f->spool));
}

static void
records_that_left_memory_are_read_back(void **state)
{
	struct fixture *f = *state;
	uint64_t first = 0;

	f->options.memory_bytes = 8000;
	f->options.segment_bytes = 20000;
	assert_int_equal(start(f), 0);
	for (int i = 0; i < 600; i++)
		append(f, 1000);
	settle(f);
	for (int round = 0; round < 2; round++)
		assert_int_equal(walk(f, NULL, NULL), 600);
	assert_true(f->fetches > 200);
	rm_spool_done(f->spool, 300);
	assert_int_equal(walk(f, &first, NULL), 300);
	assert_int_equal(first, 301);
}

static void
a_record_damaged_while_the_daemon_runs_is_not_returned(void **state)
{
	struct fixture *f = *state;
	char path[128];
	int fd;

	f->options.memory_bytes = 1;
	assert_int_equal(start(f), 0);
	for (int i = 0; i < 10; i++)
		append(f, 100);
	settle(f);
	snprintf(path, sizeof(path), "%s/%016x.spool", f->folder, 1);
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	/* The second record. The first is the next to be read and therefore in
	 * memory. */
	assert_int_equal(pwrite(fd, "?", 1, 32 + 116 + 16 + 50), 1);
	close(fd);
	walk(f, NULL, NULL);
	assert_int_equal(rm_spool_waiting(f->spool), 9);
	assert_int_equal(rm_spool_counts(f->spool)->quarantined, 1);
	assert_int_equal(rm_spool_counts(f->spool)->lost_corrupt_bytes, 116);
}

static void
a_record_that_can_never_fit_is_refused(void **state)
{
	struct fixture *f = *state;
	static uint8_t big[2048];
	uint64_t seq = 77;

	f->options.max_bytes = 2048;
	assert_int_equal(start(f), 0);
	assert_int_equal(rm_spool_append(f->spool, big, sizeof(big), &seq), -EMSGSIZE);
	assert_int_equal(rm_spool_append(f->spool, big, 0, &seq), -EMSGSIZE);
	assert_int_equal(seq, 77);
	assert_int_equal(rm_spool_counts(f->spool)->refused, 2);
	assert_int_equal(rm_spool_next(f->spool), 1);
	balance(f);
}

static void
without_a_disk_records_are_bounded_and_not_acknowledged(void **state)
{
	struct fixture *f = *state;
	uint64_t first = 0;

	f->options.folder = NULL;
	f->options.max_bytes = 1000;
	assert_int_equal(start(f), 0);
	for (int i = 0; i < 25; i++)
		append(f, 100);
	assert_int_equal(f->durable, 0);
	settle(f);
	assert_int_equal(walk(f, &first, NULL), 10);
	assert_int_equal(first, 16);
	assert_int_equal(rm_spool_counts(f->spool)->dropped_full, 15);
	assert_int_equal(rm_spool_counts(f->spool)->durable, 0);
}

static void
a_folder_that_cannot_be_made_is_reported(void **state)
{
	struct fixture *f = *state;
	FILE *file = fopen(f->folder, "w");

	assert_non_null(file);
	fclose(file);
	assert_int_equal(start(f), -ENOTDIR);
	stop(f);
	unlink(f->folder);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(records_come_out_in_order_until_done),
		TEST(one_sync_makes_many_records_durable),
		TEST(an_acknowledged_record_is_in_a_file),
		TEST(a_restart_finds_records_that_were_not_done),
		TEST(waiting_records_are_written_at_the_end),
		TEST(numbers_continue_when_no_record_is_left),
		TEST(a_full_spool_drops_its_oldest_and_never_exceeds_its_bytes),
		TEST(records_that_left_memory_are_read_back),
		TEST(a_record_damaged_while_the_daemon_runs_is_not_returned),
		TEST(a_record_that_can_never_fit_is_refused),
		TEST(without_a_disk_records_are_bounded_and_not_acknowledged),
		TEST(a_folder_that_cannot_be_made_is_reported),
	};

	return cmocka_run_group_tests_name("spool", tests, NULL, NULL);
}
