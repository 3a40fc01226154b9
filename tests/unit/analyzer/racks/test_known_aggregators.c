#include "analyzer/racks/known_aggregators.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rackmesh/core/file.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"

#define DAY_NS (86400 * RM_NS_PER_S)
#define NOW_NS (INT64_C(1700000000) * RM_NS_PER_S)

struct fixture {
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct known *known;
	char path[64];
};

static void
begin(struct fixture *f)
{
	assert_int_equal(rm_worker_new(f->loop, 16, &f->worker), 0);
	assert_int_equal(known_new(f->worker, f->path, &f->known), 0);
}

/* Finishes a write that is under way. */
static void
end(struct fixture *f)
{
	rm_worker_free(f->worker);
	known_free(f->known);
	f->worker = NULL;
	f->known = NULL;
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_int_equal(rm_loop_new(&f->loop), 0);
	snprintf(f->path, sizeof(f->path), "/tmp/rackmesh-known-%d", (int)getpid());
	unlink(f->path);
	begin(f);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;
	char corrupt[96];

	end(f);
	rm_loop_free(f->loop);
	unlink(f->path);
	snprintf(corrupt, sizeof(corrupt), "%s.corrupt", f->path);
	unlink(corrupt);
	free(f);
	return 0;
}

static rm_wall_t
at(int64_t after_ns)
{
	return (rm_wall_t){ NOW_NS + after_ns };
}

static void
receive(struct fixture *f, const char *name, int64_t after_ns)
{
	char tors[][RM_NAME_BYTES] = { "tor1", "tor2" };

	assert_int_equal(known_seen(f->known, "lab", name, tors, 2, at(after_ns)), 0);
}

static void
known_aggregators_are_kept_over_a_restart(void **state)
{
	struct fixture *f = *state;
	const struct known_aggregator *aggregator;

	receive(f, "agg1", 0);
	receive(f, "agg1", RM_NS_PER_S);
	receive(f, "agg2", 0);
	known_keep(f->known, at(0), DAY_NS);
	end(f);
	begin(f);
	known_load(f->known, at(DAY_NS / 2), DAY_NS);
	assert_int_equal(known_count(f->known), 2);
	aggregator = known_get(f->known, 0);
	assert_string_equal(aggregator->region, "lab");
	assert_string_equal(aggregator->name, "agg1");
	assert_int_equal(aggregator->tor_count, 2);
	assert_string_equal(aggregator->tors[1], "tor2");
	assert_true(aggregator->last_seen.ns == NOW_NS + RM_NS_PER_S);
}

static void
a_removed_aggregator_is_forgotten_after_a_day(void **state)
{
	struct fixture *f = *state;

	receive(f, "agg1", 0);
	receive(f, "agg2", DAY_NS);
	known_keep(f->known, at(DAY_NS), DAY_NS);
	assert_int_equal(known_count(f->known), 2);
	known_keep(f->known, at(DAY_NS + 1), DAY_NS);
	assert_int_equal(known_count(f->known), 1);
	assert_string_equal(known_get(f->known, 0)->name, "agg2");
	end(f);
	begin(f);
	known_load(f->known, at(2 * DAY_NS + 1), DAY_NS);
	assert_int_equal(known_count(f->known), 0);
}

static void
entries_without_sense_are_left_out(void **state)
{
	static const char text[] =
	    "{\"aggregators\":[7,{},{\"region\":\"lab\",\"aggregator\":\"a b\"},"
	    "{\"region\":\"lab\",\"aggregator\":\"agg1\",\"tors\":[1]},"
	    "{\"region\":\"lab\",\"aggregator\":\"agg2\",\"tors\":[\"\"]},"
	    "{\"region\":\"lab\",\"aggregator\":\"agg3\",\"tors\":[],\"heard_s\":-1},"
	    "{\"region\":\"lab\",\"aggregator\":\"agg4\",\"tors\":[],"
	    "\"heard_s\":9223372036854775807},"
	    "{\"region\":\"lab\",\"aggregator\":\"good\",\"tors\":[\"tor1\"],"
	    "\"heard_s\":1700000000}]}";
	struct fixture *f = *state;

	assert_int_equal(
	    rm_file_replace(f->path, (const uint8_t *)text, strlen(text)), 0);
	known_load(f->known, at(0), DAY_NS);
	assert_int_equal(known_count(f->known), 1);
	assert_string_equal(known_get(f->known, 0)->name, "good");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(known_aggregators_are_kept_over_a_restart),
		TEST(a_removed_aggregator_is_forgotten_after_a_day),
		TEST(entries_without_sense_are_left_out),
	};

	return cmocka_run_group_tests_name("known", tests, NULL, NULL);
}
