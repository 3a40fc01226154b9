#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host-agent/pinglist/pinglist_cache.h"
#include "rackmesh/core/file.h"
#include "rackmesh/loop/worker.h"
#include "tests/support/loopback.h"
#include "tests/support/pinglist_fixture.h"

#define DAY_NS (24 * 3600 * RM_NS_PER_S)

struct fixture {
	char folder[40];
	char path[256], aside[512];
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct pinglist_cache *cache;
	struct wire_writer *writer;
	struct wire_bytes pinglist;
};

static struct fixture fixture;
static const rm_wall_t now = { 1000 * DAY_NS };

static int
setup(void **state)
{
	static const struct pinglist_pair pairs[] = { { 1, 2, 1000 } };
	struct fixture *f = &fixture;

	snprintf(f->folder, sizeof(f->folder), "/tmp/test_pinglist_cache.XXXXXX");
	if (mkdtemp(f->folder) == NULL)
		return -1;
	snprintf(f->path, sizeof(f->path), "%.39s/pinglist-tor-a", f->folder);
	snprintf(f->aside, sizeof(f->aside), "%.255s.damaged", f->path);
	f->writer = wire_writer_new();
	f->pinglist = pinglist_write(f->writer, "tor-a", 3, 4, pairs, 1);
	*state = f;
	return rm_loop_new(&f->loop) < 0 || rm_worker_new(f->loop, 8, &f->worker) < 0 ||
	       pinglist_cache_new(f->folder, f->worker, &f->cache) < 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_worker_free(f->worker);
	pinglist_cache_free(f->cache);
	rm_loop_free(f->loop);
	wire_writer_free(f->writer);
	unlink(f->path);
	unlink(f->aside);
	return rmdir(f->folder);
}

/* Returns the bytes of a valid file, so that a test can damage them. */
static uint8_t *
sealed(struct fixture *f, size_t *len)
{
	uint8_t *data;

	assert_int_equal(pinglist_cache_seal(&f->pinglist, now, &data, len), 0);
	return data;
}

static void
write_file(struct fixture *f, const uint8_t *data, size_t len)
{
	assert_int_equal(rm_file_replace(f->path, data, len), 0);
}

static int
load_at(struct fixture *f, rm_wall_t when)
{
	struct wire_pinglist_view view;
	uint8_t *file = NULL;
	int64_t age_ns = -1;
	int r;

	r = pinglist_cache_load(f->cache, "tor-a", when, &file, &age_ns, &view);
	if (r == 0) {
		assert_int_equal(view.bytes.len, f->pinglist.len);
		assert_memory_equal(view.bytes.data, f->pinglist.data, view.bytes.len);
		assert_true(age_ns >= 0);
		free(file);
	}
	return r;
}

static void
what_is_saved_can_be_loaded(void **state)
{
	struct fixture *f = *state;

	pinglist_cache_save(f->cache, "tor-a", &f->pinglist, now);
	LOOPBACK_WAIT(f->loop, pinglist_cache_counts(f->cache)->saved == 1);
	assert_int_equal(load_at(f, now), 0);
	assert_int_equal(pinglist_cache_counts(f->cache)->loaded, 1);
}

static void
a_missing_file_is_not_counted_as_damaged(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load_at(f, now), -ENOENT);
	assert_int_equal(pinglist_cache_counts(f->cache)->damaged, 0);
}

static void
a_copy_is_used_for_its_lifetime(void **state)
{
	struct fixture *f = *state;
	size_t len;
	uint8_t *data = sealed(f, &len);

	write_file(f, data, len);
	assert_int_equal(load_at(f, (rm_wall_t){ now.ns + 7 * DAY_NS }), 0);
	assert_int_equal(load_at(f, (rm_wall_t){ now.ns + 90 * DAY_NS + 1 }), -ESTALE);
	assert_int_equal(pinglist_cache_counts(f->cache)->expired, 1);
	/* An expired file is not renamed as damaged. */
	assert_int_equal(access(f->path, F_OK), 0);
	free(data);
}

static void
a_clock_set_back_a_little_does_no_harm(void **state)
{
	struct fixture *f = *state;
	size_t len;
	uint8_t *data = sealed(f, &len);

	write_file(f, data, len);
	assert_int_equal(load_at(f, (rm_wall_t){ now.ns - DAY_NS }), 0);
	/* A file dated far in the future would never expire. */
	assert_int_equal(load_at(f, (rm_wall_t){ now.ns - 8 * DAY_NS }), -EBADMSG);
	free(data);
}

static void
every_flipped_bit_is_noticed(void **state)
{
	struct fixture *f = *state;
	struct wire_pinglist_view view;
	int64_t age_ns;
	size_t len;
	uint8_t *data = sealed(f, &len);

	for (size_t bit = 0; bit < len * 8; bit++) {
		data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(
		    pinglist_cache_open("tor-a", data, len, now, &age_ns, &view),
		    -EBADMSG);
		data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	assert_int_equal(
	    pinglist_cache_open("tor-a", data, len, now, &age_ns, &view), 0);
	free(data);
}

static void
every_truncation_is_noticed(void **state)
{
	struct fixture *f = *state;
	struct wire_pinglist_view view;
	int64_t age_ns;
	size_t len;
	uint8_t *data = sealed(f, &len);

	for (size_t i = 0; i < len; i++)
		assert_int_equal(
		    pinglist_cache_open("tor-a", data, i, now, &age_ns, &view),
		    -EBADMSG);
	free(data);
}

static void
a_damaged_file_is_put_aside_and_counted(void **state)
{
	struct fixture *f = *state;
	size_t len;
	uint8_t *data = sealed(f, &len);

	write_file(f, data, len - 1);
	assert_int_equal(load_at(f, now), -EBADMSG);
	assert_int_equal(pinglist_cache_counts(f->cache)->damaged, 1);
	assert_int_equal(access(f->path, F_OK), -1);
	assert_int_equal(access(f->aside, F_OK), 0);
	assert_int_equal(load_at(f, now), -ENOENT);
	free(data);
}

static void
a_pinglist_of_another_tor_is_refused(void **state)
{
	struct fixture *f = *state;
	struct wire_pinglist_view view;
	int64_t age_ns;
	size_t len;
	uint8_t *data = sealed(f, &len);

	assert_int_equal(
	    pinglist_cache_open("tor-b", data, len, now, &age_ns, &view), -EBADMSG);
	free(data);
}

static void
a_failed_write_is_counted(void **state)
{
	struct fixture *f = *state;

	pinglist_cache_save(f->cache, "no/such/folder", &f->pinglist, now);
	LOOPBACK_WAIT(f->loop, pinglist_cache_counts(f->cache)->save_failed == 1);
}

static void
a_busy_worker_means_a_skipped_save(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 20; i++)
		pinglist_cache_save(f->cache, "tor-a", &f->pinglist, now);
	assert_int_equal(pinglist_cache_counts(f->cache)->save_skipped, 12);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_saved_can_be_loaded),
		TEST(a_missing_file_is_not_counted_as_damaged),
		TEST(a_copy_is_used_for_its_lifetime),
		TEST(a_clock_set_back_a_little_does_no_harm),
		TEST(every_flipped_bit_is_noticed),
		TEST(every_truncation_is_noticed),
		TEST(a_damaged_file_is_put_aside_and_counted),
		TEST(a_pinglist_of_another_tor_is_refused),
		TEST(a_failed_write_is_counted),
		TEST(a_busy_worker_means_a_skipped_save),
	};

	return cmocka_run_group_tests_name("pinglist_cache", tests, NULL, NULL);
}
