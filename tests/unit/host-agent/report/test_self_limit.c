#include "host-agent/report/self_limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MIB (1u << 20)

struct host {
	struct self_limit limit;
	struct self_sample sample;
	rm_mono_t now;
	unsigned changes;
};

static void
host_init(struct host *host, uint64_t cpu_percent, uint64_t memory_bytes)
{
	const struct self_limit_options options = { cpu_percent, memory_bytes };

	*host = (struct host){ .now = { 77 * RM_NS_PER_S },
		.sample = { 5 * RM_NS_PER_S, 20 * MIB } };
	self_limit_init(&host->limit, &options);
	self_limit_take(&host->limit, &host->sample, host->now);
}

/* Lets this number of seconds pass with this CPU and memory use. */
static void
pass(struct host *host, unsigned seconds, double cpu_percent, uint64_t memory_bytes)
{
	for (unsigned i = 0; i < seconds; i++) {
		host->now = rm_mono_add(host->now, SELF_LIMIT_INTERVAL_NS);
		host->sample.cpu_ns += (int64_t)(cpu_percent * 1e7);
		host->sample.memory_bytes = memory_bytes;
		host->changes +=
		    self_limit_take(&host->limit, &host->sample, host->now);
	}
}

static void
within_its_limits_it_is_not_slowed(void **state)
{
	struct host host;

	host_init(&host, 5, 100 * MIB);
	pass(&host, 3600, 4.9, 99 * MIB);
	assert_int_equal(host.limit.permille, 1000);
	assert_int_equal(host.limit.reason, WIRE_SLOW_NOT);
	assert_int_equal(host.changes, 0);
	assert_true(host.limit.cpu_percent > 4.89 && host.limit.cpu_percent < 4.91);
}

static void
a_short_burst_costs_nothing(void **state)
{
	struct host host;

	host_init(&host, 5, 0);
	for (int i = 0; i < 100; i++) {
		pass(&host, SELF_LIMIT_OVER_SAMPLES - 1, 60, 20 * MIB);
		pass(&host, 1, 1, 20 * MIB);
	}
	assert_int_equal(host.changes, 0);
}

static void
too_much_cpu_slows_probing_down_to_a_minimum_above_zero(void **state)
{
	struct host host;

	host_init(&host, 5, 0);
	pass(&host, SELF_LIMIT_OVER_SAMPLES, 6, 20 * MIB);
	assert_int_equal(host.limit.permille, 500);
	assert_int_equal(host.limit.reason, WIRE_SLOW_CPU);
	pass(&host, SELF_LIMIT_OVER_SAMPLES, 6, 20 * MIB);
	assert_int_equal(host.limit.permille, 250);
	pass(&host, SELF_LIMIT_OVER_SAMPLES, 6, 20 * MIB);
	assert_int_equal(host.limit.permille, 100);
	pass(&host, 24 * 3600, 100, 20 * MIB);
	assert_int_equal(host.limit.permille, SELF_LIMIT_FLOOR);
	assert_int_equal(host.limit.reason, WIRE_SLOW_CPU);
	assert_int_equal(host.changes, 3);
}

static void
too_much_memory_slows_probing_with_its_own_reason(void **state)
{
	struct host host;

	host_init(&host, 5, 64 * MIB);
	pass(&host, 3 * SELF_LIMIT_OVER_SAMPLES, 1, 65 * MIB);
	assert_int_equal(host.limit.permille, SELF_LIMIT_FLOOR);
	assert_int_equal(host.limit.reason, WIRE_SLOW_MEMORY);
	/* Use just below the limit does not raise the rate again: it would
	 * oscillate. */
	pass(&host, 3600, 1, 60 * MIB);
	assert_int_equal(host.limit.permille, SELF_LIMIT_FLOOR);
	pass(&host, 11, 1, 50 * MIB);
	assert_int_equal(host.limit.permille, 250);
}

static void
the_rate_rises_step_by_step(void **state)
{
	struct host host;

	host_init(&host, 5, 0);
	pass(&host, 3 * SELF_LIMIT_OVER_SAMPLES, 50, 20 * MIB);
	assert_int_equal(host.limit.permille, 100);
	pass(&host, 9, 1, 20 * MIB);
	assert_int_equal(host.limit.permille, 100);
	pass(&host, 2, 1, 20 * MIB);
	assert_int_equal(host.limit.permille, 250);
	pass(&host, 10, 1, 20 * MIB);
	assert_int_equal(host.limit.permille, 500);
	assert_int_equal(host.limit.reason, WIRE_SLOW_CPU);
	pass(&host, 10, 1, 20 * MIB);
	assert_int_equal(host.limit.permille, 1000);
	assert_int_equal(host.limit.reason, WIRE_SLOW_NOT);
}

/* At full rate the load costs 8 % CPU, and less in proportion to the rate. */
static void
a_constant_overload_does_not_make_the_rate_oscillate(void **state)
{
	struct host host;

	host_init(&host, 5, 0);
	for (unsigned i = 0; i < 24 * 3600; i++)
		pass(&host, 1, 8.0 * host.limit.permille / 1000 - 0.5, 20 * MIB);
	/* Each try at the full rate lasts three seconds; there is one in five
	 * minutes. */
	assert_in_range(host.limit.falls, 10, 24 * 3600 / 320 + 10);
	assert_true(host.limit.permille >= 500);
}

static void
without_limits_probing_is_never_slowed(void **state)
{
	struct host host;

	host_init(&host, 0, 0);
	pass(&host, 100, 800, UINT64_MAX / 2);
	assert_int_equal(host.limit.permille, 1000);
}

static void
a_removed_limit_ends_the_slowdown(void **state)
{
	const struct self_limit_options lifted = { 50, 0 };
	struct host host;

	host_init(&host, 5, 0);
	pass(&host, 9, 20, 20 * MIB);
	assert_int_equal(host.limit.permille, 100);
	self_limit_tune(&host.limit, &lifted);
	pass(&host, 32, 20, 20 * MIB);
	assert_int_equal(host.limit.permille, 1000);
}

/* Two samples at the same moment would cause a division by zero. */
static void
samples_too_close_together_are_left_out(void **state)
{
	struct host host;

	host_init(&host, 5, 0);
	for (int i = 0; i < 1000; i++) {
		host.sample.cpu_ns += RM_NS_PER_MS;
		assert_false(self_limit_take(&host.limit, &host.sample, host.now));
	}
	assert_int_equal(host.limit.permille, 1000);
	/* After an hour without a sample the use is averaged over that hour. */
	host.now = rm_mono_add(host.now, 3600 * RM_NS_PER_S);
	self_limit_take(&host.limit, &host.sample, host.now);
	assert_true(host.limit.cpu_percent < 0.1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(within_its_limits_it_is_not_slowed),
		cmocka_unit_test(a_short_burst_costs_nothing),
		cmocka_unit_test(
		    too_much_cpu_slows_probing_down_to_a_minimum_above_zero),
		cmocka_unit_test(too_much_memory_slows_probing_with_its_own_reason),
		cmocka_unit_test(the_rate_rises_step_by_step),
		cmocka_unit_test(a_constant_overload_does_not_make_the_rate_oscillate),
		cmocka_unit_test(without_limits_probing_is_never_slowed),
		cmocka_unit_test(a_removed_limit_ends_the_slowdown),
		cmocka_unit_test(samples_too_close_together_are_left_out),
	};

	return cmocka_run_group_tests_name("self_limit", tests, NULL, NULL);
}
