#include "tor-aggregator/controller/brake_store.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"
#include "tests/support/loopback.h"

struct world {
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct brake_store *store;
	char folder[64], path[128];
};

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	snprintf(w->folder, sizeof(w->folder), "/tmp/rm-brake-XXXXXX");
	if (mkdtemp(w->folder) == NULL || rm_loop_new(&w->loop) < 0 ||
	    rm_worker_new(w->loop, 4, &w->worker) < 0)
		return -1;
	snprintf(w->path, sizeof(w->path), "%s/brake.json", w->folder);
	return brake_store_new(w->worker, w->folder, &w->store);
}

static int
teardown(void **state)
{
	struct world *w = *state;

	rm_worker_free(w->worker);
	brake_store_free(w->store);
	rm_loop_free(w->loop);
	unlink(w->path);
	rmdir(w->folder);
	free(w);
	return 0;
}

static int
take(struct world *w, uint64_t version, uint32_t rate)
{
	const struct wire_brake brake = { version, rate };

	return brake_store_take(w->store, &brake);
}

static void
only_newer_brakes_count(void **state)
{
	struct world *w = *state;

	assert_int_equal(brake_store_get(w->store)->version, 0);
	assert_int_equal(brake_store_get(w->store)->rate_permille, 1000);
	assert_int_equal(take(w, 2, 0), 1);
	assert_int_equal(take(w, 1, 1000), 0);
	assert_int_equal(take(w, 2, 500), 0);
	assert_int_equal(brake_store_get(w->store)->rate_permille, 0);
	assert_int_equal(take(w, 3, 500), 1);
	assert_int_equal(brake_store_get(w->store)->rate_permille, 500);
	assert_int_equal(brake_store_counts(w->store)->stale, 2);
}

static void
an_invalid_brake_changes_nothing(void **state)
{
	struct world *w = *state;

	assert_int_equal(take(w, 2, 1001), -EBADMSG);
	assert_int_equal(take(w, UINT64_MAX, 0), -EBADMSG);
	assert_int_equal(brake_store_get(w->store)->version, 0);
	assert_int_equal(brake_store_counts(w->store)->refused, 2);
}

static void
the_brake_survives_a_restart(void **state)
{
	struct rm_error error = { 0 };
	struct world *w = *state;

	take(w, 7, 250);
	brake_store_save(w->store);
	LOOPBACK_WAIT(w->loop, brake_store_counts(w->store)->written == 1);
	brake_store_free(w->store);
	assert_int_equal(brake_store_new(w->worker, w->folder, &w->store), 0);
	assert_int_equal(brake_store_load(w->store, &error), 0);
	assert_int_equal(brake_store_get(w->store)->version, 7);
	assert_int_equal(brake_store_get(w->store)->rate_permille, 250);
}

static void
a_missing_file_is_no_error_and_a_damaged_one_is_reported(void **state)
{
	static const char *const damaged[] = { "", "{", "[]", "{\"version\": 1}",
		"{\"version\": 0, \"rate_permille\": 0}",
		"{\"version\": 1, \"rate_permille\": 1001}",
		"{\"version\": 1, \"rate_permille\": -1}",
		"{\"version\": \"1\", \"rate_permille\": 0}" };
	struct rm_error error = { 0 };
	struct world *w = *state;

	assert_int_equal(brake_store_load(w->store, &error), 0);
	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		rm_file_replace(
		    w->path, (const uint8_t *)damaged[i], strlen(damaged[i]));
		assert_int_equal(brake_store_load(w->store, &error), -EBADMSG);
		assert_non_null(strstr(error.text, "brake.json"));
		assert_int_equal(brake_store_get(w->store)->version, 0);
		assert_int_equal(brake_store_get(w->store)->rate_permille, 1000);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_newer_brakes_count),
		TEST(an_invalid_brake_changes_nothing),
		TEST(the_brake_survives_a_restart),
		TEST(a_missing_file_is_no_error_and_a_damaged_one_is_reported),
	};

	return cmocka_run_group_tests_name("brake_store", tests, NULL, NULL);
}
