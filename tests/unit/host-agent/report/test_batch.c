#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>

#include "host-agent/report/batch.h"

#define AGE_NS (200 * RM_NS_PER_MS)

struct fixture {
	struct batch *batch;
	struct wire_writer *writer;
};

static struct fixture fixture;

static int
setup(void **state)
{
	fixture.writer = wire_writer_new();
	*state = &fixture;
	return fixture.writer == NULL || batch_new(4, AGE_NS, &fixture.batch) < 0;
}

static int
teardown(void **state)
{
	batch_free(fixture.batch);
	wire_writer_free(fixture.writer);
	return 0;
}

static rm_mono_t
at_ms(int64_t ms)
{
	return (rm_mono_t){ ms * RM_NS_PER_MS };
}

static bool
add(struct fixture *f, uint32_t seq, int64_t sent_ms, int64_t known_ms)
{
	struct wire_result result = { .seq = seq, .outcome = WIRE_NO_REPLY };

	return batch_add(f->batch, &result, at_ms(sent_ms), at_ms(known_ms));
}

static struct wire_batch_view
make(struct fixture *f, int64_t now_ms)
{
	struct wire_batch_head head = {
		.host = "h1",
		.incarnation = 77,
		.seq = 5,
		.dropped_batches = 2,
		.dropped_results = 9,
	};
	struct wire_batch_view view;
	struct wire_bytes bytes;

	assert_int_equal(
	    batch_make(f->batch, f->writer, &head, at_ms(now_ms), &bytes), 0);
	assert_int_equal(wire_open_batch(&view, bytes.data, bytes.len), 0);
	return view;
}

static void
ages_are_relative_to_the_time_of_the_batch(void **state)
{
	struct wire_batch_view view;

	assert_true(add(*state, 1, 1000, 1001));
	assert_true(add(*state, 2, 600, 1100));
	view = make(*state, 1150);
	assert_int_equal(view.count, 2);
	assert_int_equal(view.head.now_ns, 1150 * RM_NS_PER_MS);
	assert_int_equal(view.results[0].seq, 1);
	assert_int_equal(view.results[0].sent_age_ns, 150 * RM_NS_PER_MS);
	assert_int_equal(view.results[1].sent_age_ns, 550 * RM_NS_PER_MS);
}

static void
the_head_has_the_host_and_the_dropped_counts(void **state)
{
	struct wire_batch_view view;

	add(*state, 1, 1000, 1001);
	view = make(*state, 1002);
	assert_string_equal(view.head.host, "h1");
	assert_int_equal(view.head.incarnation, 77);
	assert_int_equal(view.head.seq, 5);
	assert_int_equal(view.head.dropped_batches, 2);
	assert_int_equal(view.head.dropped_results, 9);
}

static void
the_next_batch_starts_empty(void **state)
{
	struct fixture *f = *state;

	add(f, 1, 1000, 1001);
	make(f, 1002);
	assert_int_equal(batch_count(f->batch), 0);
	add(f, 2, 1000, 1300);
	assert_int_equal(batch_deadline(f->batch).ns, 1500 * RM_NS_PER_MS);
	assert_int_equal(make(f, 1400).results[0].seq, 2);
}

static void
the_oldest_result_sets_the_deadline(void **state)
{
	struct fixture *f = *state;

	add(f, 1, 0, 1000);
	add(f, 2, 0, 1100);
	assert_int_equal(batch_deadline(f->batch).ns, 1200 * RM_NS_PER_MS);
}

static void
a_full_batch_takes_nothing_more(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 4; i++) {
		assert_false(batch_full(f->batch));
		assert_true(add(f, i, 0, 1));
	}
	assert_true(batch_full(f->batch));
	assert_false(add(f, 9, 0, 1));
	assert_int_equal(make(f, 2).count, 4);
}

static void
a_result_from_the_future_has_no_age(void **state)
{
	add(*state, 1, 2000, 1000);
	assert_int_equal(make(*state, 1001).results[0].sent_age_ns, 0);
}

static void
impossible_sizes_are_refused(void **state)
{
	struct batch *batch = NULL;

	assert_int_equal(batch_new(0, AGE_NS, &batch), -EINVAL);
	assert_int_equal(batch_new(1 << 20, AGE_NS, &batch), -EINVAL);
	assert_null(batch);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ages_are_relative_to_the_time_of_the_batch),
		TEST(the_head_has_the_host_and_the_dropped_counts),
		TEST(the_next_batch_starts_empty),
		TEST(the_oldest_result_sets_the_deadline),
		TEST(a_full_batch_takes_nothing_more),
		TEST(a_result_from_the_future_has_no_age),
		TEST(impossible_sizes_are_refused),
	};

	return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
