#include "tor-aggregator/plan/plan_store.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "tests/unit/tor-aggregator/plan_fixture.h"

static const char *const tors[] = { "t9", "t1" };

struct world {
	struct plan_store *store;
	struct plan_fixture *plan;
};

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	*state = world;
	world->plan = calloc(1, sizeof(*world->plan));
	return plan_store_new(NULL, "lab", NULL, tors, 2, &world->store);
}

static int
teardown(void **state)
{
	struct world *world = *state;

	plan_store_free(world->store);
	fixture_free(world->plan);
	free(world);
	return 0;
}

static int
take(struct world *world, uint64_t version, size_t *tor)
{
	fixture_plan(world->plan, version, 3, 1);
	return plan_store_take(
	    world->store, world->plan->bytes.data, world->plan->bytes.len, tor);
}

static void
only_newer_plans_are_taken(void **state)
{
	struct world *world = *state;
	size_t tor = 77;

	assert_null(plan_store_view(world->store, 1));
	assert_int_equal(take(world, 5, &tor), 1);
	assert_int_equal(tor, 1);
	assert_int_equal(plan_store_view(world->store, 1)->plan.version, 5);
	assert_int_equal(take(world, 5, &tor), 0);
	assert_int_equal(take(world, 4, &tor), 0);
	assert_int_equal(take(world, 6, &tor), 1);
	assert_int_equal(plan_store_view(world->store, 1)->plan.version, 6);
	assert_null(plan_store_view(world->store, 0));
	assert_int_equal(plan_store_counts(world->store)->taken, 2);
	assert_int_equal(plan_store_counts(world->store)->stale, 2);
}

static void
malformed_and_unrelated_plans_are_refused_and_counted(void **state)
{
	static const char *const others[] = { "t2" };
	struct world *world = *state;
	struct plan_store *other = NULL;
	size_t tor = 77;

	assert_true(
	    plan_store_take(world->store, (const uint8_t *)"rubbish!", 8, &tor) < 0);
	assert_int_equal(plan_store_counts(world->store)->refused, 1);
	fixture_plan(world->plan, 1, 2, 0);
	assert_int_equal(plan_store_new(NULL, "lab", NULL, others, 1, &other), 0);
	assert_int_equal(plan_store_take(other, world->plan->bytes.data,
			     world->plan->bytes.len, &tor),
	    -ENOENT);
	plan_store_free(other);
	assert_int_equal(plan_store_new(NULL, "mars", NULL, tors, 2, &other), 0);
	assert_int_equal(plan_store_take(other, world->plan->bytes.data,
			     world->plan->bytes.len, &tor),
	    -EINVAL);
	plan_store_free(other);
	assert_int_equal(tor, 77);
}

static void
a_plan_file_is_the_same_bytes(void **state)
{
	struct world *world = *state;
	char path[] = "/tmp/rm-plan-XXXXXX";
	struct rm_error error = { 0 };
	size_t tor = 77;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	fixture_plan(world->plan, 8, 2, 0);
	rm_file_replace(path, world->plan->bytes.data, world->plan->bytes.len);
	assert_int_equal(plan_store_load_file(world->store, path, &tor, &error), 1);
	assert_int_equal(tor, 1);
	rm_file_replace(path, world->plan->bytes.data, world->plan->bytes.len / 2);
	assert_true(plan_store_load_file(world->store, path, &tor, &error) < 0);
	assert_non_null(strstr(error.text, path));
	assert_int_equal(plan_store_view(world->store, 1)->plan.version, 8);
	remove(path);
	assert_true(plan_store_load_file(world->store, path, &tor, &error) < 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_newer_plans_are_taken),
		TEST(malformed_and_unrelated_plans_are_refused_and_counted),
		TEST(a_plan_file_is_the_same_bytes),
	};

	return cmocka_run_group_tests_name("plan_store", tests, NULL, NULL);
}
