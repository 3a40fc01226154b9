#include "tor-aggregator/hypervisor/hypervisor_nics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

struct world {
	struct hypervisor_nics *nics;
	struct hypervisor_on_metrics on_metrics;
};

static int
setup(void **state)
{
	static struct world w;

	w = (struct world){ .nics = hypervisor_nics_new() };
	assert_non_null(w.nics);
	*state = &w;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	hypervisor_nics_free(w->nics);
	return 0;
}

/* A reading of `count` NICs, each with two values of its own, and two of the priorities
 * 3 and 4. */
static void
read_nics(struct world *w, int count, const char *pauses)
{
	struct hypervisor_nics_counts counts = { 0 };

	hypervisor_nics_begin(w->nics);
	for (int i = 0; i < count; i++) {
		struct hypervisor_nic *nic;
		char name[HYPERVISOR_NIC_BYTES];

		snprintf(name, sizeof(name), "vmnic%d", i);
		nic = hypervisor_nics_report(w->nics, name, &counts);
		assert_non_null(nic);
		hypervisor_nic_take(nic, HYPERVISOR_LIST, "MTU", "9000", &counts);
		hypervisor_nic_take(
		    nic, HYPERVISOR_DRIVER, "rx_global_pause", "0", &counts);
		hypervisor_nic_take(
		    nic, HYPERVISOR_DRIVER, "rx_prio3_pause", pauses, &counts);
		hypervisor_nic_take(
		    nic, HYPERVISOR_DRIVER, "rx_prio4_pause", "0", &counts);
	}
	hypervisor_nics_close(w->nics, &counts);
	assert_int_equal(counts.values, 4 * count);
}

static size_t
on_metrics(struct world *w, uint64_t limit)
{
	size_t count = 0;

	hypervisor_nics_choose(w->nics, limit, &w->on_metrics);
	for (size_t i = 0; i < hypervisor_nics_count(w->nics); i++)
		count += hypervisor_nics_get(w->nics, i)->on_metrics;
	return count;
}

static void
priorities_that_carry_nothing_are_left_out_and_counted(void **state)
{
	struct world *w = *state;

	read_nics(w, 2, "0");
	assert_int_equal(on_metrics(w, 100), 2);
	assert_int_equal(w->on_metrics.exported, 4);
	assert_int_equal(w->on_metrics.unused, 4);
	assert_int_equal(w->on_metrics.refused, 0);
	read_nics(w, 2, "7");
	on_metrics(w, 100);
	assert_int_equal(w->on_metrics.exported, 6);
	assert_int_equal(w->on_metrics.unused, 2);
}

static void
nics_beyond_the_limit_are_left_out_whole_and_counted(void **state)
{
	struct world *w = *state;

	read_nics(w, 3, "7");
	assert_int_equal(on_metrics(w, 8), 2);
	assert_true(hypervisor_nics_get(w->nics, 1)->on_metrics);
	assert_false(hypervisor_nics_get(w->nics, 2)->on_metrics);
	assert_int_equal(w->on_metrics.exported, 6);
	assert_int_equal(w->on_metrics.refused, 3);
	assert_int_equal(w->on_metrics.unused, 3);
}

static void
a_missing_nic_takes_no_room(void **state)
{
	struct world *w = *state;

	read_nics(w, 3, "7");
	read_nics(w, 1, "7");
	assert_int_equal(hypervisor_nics_count(w->nics), 3);
	assert_int_equal(on_metrics(w, 100), 1);
	assert_int_equal(w->on_metrics.exported, 3);
	assert_int_equal(w->on_metrics.refused, 0);
}

static void
a_host_of_a_dozen_nics_is_never_cut(void **state)
{
	assert_true(12 * hypervisor_values() <= HYPERVISOR_METRICS_MAX);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(priorities_that_carry_nothing_are_left_out_and_counted),
		TEST(nics_beyond_the_limit_are_left_out_whole_and_counted),
		TEST(a_missing_nic_takes_no_room),
		TEST(a_host_of_a_dozen_nics_is_never_cut),
	};

	return cmocka_run_group_tests_name("hypervisor_nics", tests, NULL, NULL);
}
