#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "host-agent/report/self_limit.h"

#define HEAP (64u << 20)

static volatile unsigned work; /* Work that no compiler removes. */

static void
cpu_and_memory_use_are_measured(void **state)
{
	struct self_sample before, after;
	char *heap;

	assert_int_equal(self_sample_read(&before), 0);
	assert_true(before.cpu_ns > 0);
	assert_true(before.memory_bytes > 1 << 20);
	heap = malloc(HEAP);
	assert_non_null(heap);
	memset(heap, 7, HEAP);
	do {
		for (unsigned i = 0; i < 1000000; i++)
			work += i;
		assert_int_equal(self_sample_read(&after), 0);
	} while (after.cpu_ns - before.cpu_ns < 50 * RM_NS_PER_MS);
	assert_in_range(
	    after.memory_bytes - before.memory_bytes, HEAP * 9ul / 10, HEAP * 2ul);
	free(heap);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpu_and_memory_use_are_measured),
	};

	return cmocka_run_group_tests_name("self_sample", tests, NULL, NULL);
}
