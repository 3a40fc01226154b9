#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/metrics/sketch.h"

#define SAMPLES 10000
#define MAX_VALUE (UINT64_C(1) << 40)

static uint64_t samples[SAMPLES];
static uint8_t bytes[RM_SKETCH_MAX_BYTES];

/* xorshift64*: the same numbers in each run. */
static double
uniform(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	return ((double)((x * UINT64_C(2685821657736338717)) >> 11) + 0.5) /
	       9007199254740992.0;
}

static double
normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* A few us, right-skewed, with a second mode from a queue. */
static uint64_t
latency(void)
{
	return (uint64_t)(exp(0.25 * normal()) * (uniform() < 0.9 ? 8000 : 40000));
}

static uint64_t
any_magnitude(void)
{
	return (uint64_t)exp2(uniform() * 40);
}

static uint64_t
small(void)
{
	return (uint64_t)(uniform() * 300);
}

static uint64_t
constant(void)
{
	return 123456;
}

static uint64_t
mostly_zero(void)
{
	return uniform() < 0.8 ? 0 : latency();
}

static int
compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static struct rm_sketch *
new_sketch(void)
{
	struct rm_sketch *sketch = rm_sketch_new();

	assert_non_null(sketch);
	return sketch;
}

/* The error bound of the paper, plus half a nanosecond because results are integers. */
static void
assert_near(uint64_t got, uint64_t exact, const char *what, double q)
{
	double error = fabs((double)got - (double)exact);

	if (error > RM_SKETCH_RELATIVE_ERROR * (double)exact + 0.5)
		fail_msg("%s q=%g: got %llu, exact %llu", what, q,
		    (unsigned long long)got, (unsigned long long)exact);
}

static void
assert_quantiles(const struct rm_sketch *sketch, size_t count, const char *what)
{
	const double qs[] = { 0.0001, 0.01, 0.1, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1 };

	qsort(samples, count, sizeof(samples[0]), compare);
	assert_int_equal(rm_sketch_count(sketch), count);
	assert_int_equal(rm_sketch_max_ns(sketch), samples[count - 1]);
	for (size_t i = 0; i < sizeof(qs) / sizeof(qs[0]); i++) {
		size_t rank = (size_t)ceil(qs[i] * (double)count - 1e-9);

		assert_near(rm_sketch_quantile_ns(sketch, qs[i]),
		    samples[rank == 0 ? 0 : rank - 1], what, qs[i]);
	}
}

static void
quantiles_are_within_one_percent_of_the_exact_ones(void **state)
{
	static const struct {
		const char *name;
		uint64_t (*draw)(void);
	} all[] = { { "latency", latency }, { "any magnitude", any_magnitude },
		{ "small", small }, { "constant", constant },
		{ "mostly zero", mostly_zero } };
	struct rm_sketch *sketch = new_sketch();

	for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
		rm_sketch_reset(sketch);
		for (size_t i = 0; i < SAMPLES; i++) {
			samples[i] = all[k].draw();
			rm_sketch_add(sketch, samples[i]);
		}
		assert_quantiles(sketch, SAMPLES, all[k].name);
	}
	rm_sketch_free(sketch);
}

/* All values up to 5000, and those near each power of two and of gamma. */
static void
every_value_is_within_the_bound(void **state)
{
	struct rm_sketch *sketch = new_sketch();
	const double gamma = 1.01 / 0.99;

	for (uint64_t i = 0; i < 5000 + 41 * 3 + 1388 * 3; i++) {
		uint64_t value = i;

		if (i >= 5000 + 41 * 3)
			value = (uint64_t)pow(gamma, (double)((i - 5123) / 3)) + i % 3;
		else if (i >= 5000)
			value = (UINT64_C(1) << (i - 5000) / 3) + i % 3 - 1;
		if (value > MAX_VALUE)
			continue;
		rm_sketch_reset(sketch);
		/* The second value is larger, so that the first is not the maximum. */
		rm_sketch_add(sketch, value);
		rm_sketch_add(sketch, MAX_VALUE);
		assert_near(rm_sketch_quantile_ns(sketch, 0.5), value, "single", 0.5);
	}
	rm_sketch_free(sketch);
}

static void
an_empty_sketch_reports_zero(void **state)
{
	struct rm_sketch *sketch = new_sketch();

	assert_int_equal(rm_sketch_count(sketch), 0);
	assert_int_equal(rm_sketch_max_ns(sketch), 0);
	assert_int_equal(rm_sketch_quantile_ns(sketch, 0.5), 0);
	assert_int_equal(rm_sketch_quantile_ns(sketch, 1), 0);
	rm_sketch_free(sketch);
}

static void
the_rank_is_the_nearest_one(void **state)
{
	struct rm_sketch *sketch = new_sketch();

	for (uint64_t i = 1; i <= 100; i++)
		rm_sketch_add(sketch, i < 50 ? i : i * 1000);
	/* 0.07 * 100 is 7.000000000000001 as a double. */
	assert_int_equal(rm_sketch_quantile_ns(sketch, 0.07), 7);
	assert_int_equal(rm_sketch_quantile_ns(sketch, 0.071), 8);
	assert_int_equal(rm_sketch_quantile_ns(sketch, 0.49), 49);
	assert_near(rm_sketch_quantile_ns(sketch, 0.5), 50000, "rank", 0.5);
	assert_int_equal(rm_sketch_quantile_ns(sketch, 1), 100000);
	rm_sketch_free(sketch);
}

static void
values_past_the_range_count_as_its_end(void **state)
{
	struct rm_sketch *sketch = new_sketch();

	rm_sketch_add(sketch, UINT64_MAX);
	rm_sketch_add(sketch, MAX_VALUE + 1);
	rm_sketch_add(sketch, MAX_VALUE);
	assert_int_equal(rm_sketch_count(sketch), 3);
	assert_int_equal(rm_sketch_max_ns(sketch), MAX_VALUE);
	assert_near(rm_sketch_quantile_ns(sketch, 0.3), MAX_VALUE, "end", 0.3);
	rm_sketch_free(sketch);
}

static void
merging_is_the_same_as_adding_to_one(void **state)
{
	struct rm_sketch *parts[3], *whole = new_sketch();
	uint8_t merged[RM_SKETCH_MAX_BYTES];
	int len;

	for (int i = 0; i < 3; i++)
		parts[i] = new_sketch();
	for (size_t i = 0; i < SAMPLES; i++) {
		samples[i] = i % 3 == 0 ? mostly_zero() : any_magnitude();
		rm_sketch_add(parts[i % 3], samples[i]);
		rm_sketch_add(whole, samples[i]);
	}
	rm_sketch_merge(parts[0], parts[1]);
	rm_sketch_merge(parts[0], parts[2]);
	assert_quantiles(parts[0], SAMPLES, "merged");
	len = rm_sketch_encode(whole, bytes, sizeof(bytes));
	assert_true(len > 0);
	assert_int_equal(rm_sketch_encode(parts[0], merged, sizeof(merged)), len);
	assert_memory_equal(merged, bytes, (size_t)len);
	for (int i = 0; i < 3; i++)
		rm_sketch_free(parts[i]);
	rm_sketch_free(whole);
}

static void
an_encoding_is_compact_and_decodes_to_the_same(void **state)
{
	struct rm_sketch *sketch = new_sketch(), *copy = new_sketch();
	uint8_t again[RM_SKETCH_MAX_BYTES];
	int len;

	for (size_t i = 0; i < SAMPLES; i++) {
		samples[i] = latency();
		rm_sketch_add(sketch, samples[i]);
	}
	len = rm_sketch_encode(sketch, bytes, sizeof(bytes));
	print_message("10,000 latencies in %d bytes\n", len);
	assert_in_range(len, 20, 699);
	rm_sketch_add(copy, 77); /* its content is replaced */
	assert_int_equal(rm_sketch_decode(copy, bytes, (size_t)len), 0);
	assert_quantiles(copy, SAMPLES, "decoded");
	assert_int_equal(rm_sketch_encode(copy, again, sizeof(again)), len);
	assert_memory_equal(again, bytes, (size_t)len);

	rm_sketch_reset(sketch);
	len = rm_sketch_encode(sketch, bytes, sizeof(bytes));
	assert_int_equal(len, 3);
	assert_int_equal(rm_sketch_decode(copy, bytes, 3), 0);
	assert_int_equal(rm_sketch_count(copy), 0);
	rm_sketch_free(sketch);
	rm_sketch_free(copy);
}

static void
the_largest_encoding_fits_its_bound(void **state)
{
	struct rm_sketch *sketch = new_sketch(), *copy = new_sketch();
	const double gamma = 1.01 / 0.99;
	int len;

	for (unsigned i = 0; i < 1388; i++)
		rm_sketch_add(sketch, (uint64_t)pow(gamma, i));
	rm_sketch_add(sketch, MAX_VALUE);
	for (unsigned i = 0; i < 33; i++)
		rm_sketch_merge(sketch, sketch);
	len = rm_sketch_encode(sketch, bytes, sizeof(bytes));
	print_message("the largest: %d bytes\n", len);
	assert_true(len > 0);
	assert_int_equal(rm_sketch_decode(copy, bytes, (size_t)len), 0);
	assert_int_equal(rm_sketch_count(copy), rm_sketch_count(sketch));
	assert_int_equal(
	    rm_sketch_quantile_ns(copy, 0.5), rm_sketch_quantile_ns(sketch, 0.5));
	/* After one more doubling it could not be decoded: the merge is refused. */
	rm_sketch_merge(sketch, sketch);
	assert_int_equal(rm_sketch_encode(sketch, bytes, sizeof(bytes)), -ENOSPC);
	rm_sketch_free(sketch);
	rm_sketch_free(copy);
}

static void
an_encoding_without_room_writes_nothing_past_it(void **state)
{
	struct rm_sketch *sketch = new_sketch();
	int len;

	for (uint64_t i = 0; i < 100; i++)
		rm_sketch_add(sketch, i * i * i);
	len = rm_sketch_encode(sketch, bytes, sizeof(bytes));
	assert_true(len > 0);
	for (int room = 0; room < len; room++) {
		bytes[room] = 0xee;
		assert_int_equal(
		    rm_sketch_encode(sketch, bytes, (size_t)room), -ENOSPC);
		assert_int_equal(bytes[room], 0xee);
	}
	assert_int_equal(rm_sketch_encode(sketch, bytes, (size_t)len), len);
	rm_sketch_free(sketch);
}

static void
damaged_bytes_are_refused_and_leave_it_empty(void **state)
{
#define BAD(...)                                                    \
	{                                                           \
		{ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }) \
	}
	static const struct {
		uint8_t data[16];
		size_t len;
	} all[] = {
		BAD(1),                         /* cut off */
		BAD(2, 0, 0),                   /* another version */
		BAD(0x81, 0, 0, 0),             /* a number longer than necessary */
		BAD(1, 0, 1),                   /* a maximum without a value */
		BAD(1, 0, 0, 0, 1, 1),          /* a bin, but no maximum */
		BAD(1, 0, 1, 0, 0),             /* an empty run */
		BAD(1, 0, 1, 0, 1, 0),          /* an empty bin */
		BAD(1, 0, 1, 0, 1),             /* a count is missing */
		BAD(1, 0, 2, 0, 1, 1),          /* the maximum belongs to another bin */
		BAD(1, 0, 1, 0xec, 0x0a, 1, 1), /* a bin beyond the last one */
		BAD(1, 0, 1, 0, 0xed, 0x0a, 1), /* a run beyond the last bin */
		BAD(1, 0, 2, 0, 1, 1, 0, 1, 1), /* two adjacent runs */
		BAD(1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0),
		BAD(1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x04, 1, 0, 1, 1), /* sum */
	};
	const uint8_t good[] = { 1, 5, 1, 0, 1, 9 };
	struct rm_sketch *sketch = new_sketch();

	assert_int_equal(rm_sketch_decode(sketch, good, sizeof(good)), 0);
	assert_int_equal(rm_sketch_count(sketch), 14);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		rm_sketch_add(sketch, 1000);
		if (rm_sketch_decode(sketch, all[i].data, all[i].len) != -EBADMSG)
			fail_msg("damage %zu was taken", i);
		assert_int_equal(rm_sketch_count(sketch), 0);
		assert_int_equal(rm_sketch_quantile_ns(sketch, 0.5), 0);
	}
	assert_int_equal(rm_sketch_decode(sketch, NULL, 0), -EBADMSG);
	rm_sketch_free(sketch);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_within_one_percent_of_the_exact_ones),
		cmocka_unit_test(every_value_is_within_the_bound),
		cmocka_unit_test(an_empty_sketch_reports_zero),
		cmocka_unit_test(the_rank_is_the_nearest_one),
		cmocka_unit_test(values_past_the_range_count_as_its_end),
		cmocka_unit_test(merging_is_the_same_as_adding_to_one),
		cmocka_unit_test(an_encoding_is_compact_and_decodes_to_the_same),
		cmocka_unit_test(the_largest_encoding_fits_its_bound),
		cmocka_unit_test(an_encoding_without_room_writes_nothing_past_it),
		cmocka_unit_test(damaged_bytes_are_refused_and_leave_it_empty),
	};

	return cmocka_run_group_tests_name("sketch", tests, NULL, NULL);
}
