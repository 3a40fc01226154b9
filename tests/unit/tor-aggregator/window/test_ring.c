#include "tor-aggregator/window/ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct wire_result
result(uint32_t seq)
{
	return (struct wire_result){ .src_guid = 1,
		.src_port_num = 1,
		.dst_guid = 2,
		.dst_port_num = 1,
		.seq = seq,
		.outcome = WIRE_NO_REPLY,
		.dscp = 26,
		.arrived_ecn = 3,
		.arrived_dscp = 46 };
}

static void
the_newest_comes_first_and_the_oldest_goes_first(void **state)
{
	struct ring *ring = NULL;

	assert_int_equal(ring_new(4 * sizeof(struct ring_result), &ring), 0);
	assert_null(ring_get(ring, 0));
	for (uint32_t seq = 1; seq <= 6; seq++) {
		struct wire_result r = result(seq);

		ring_put(ring, (rm_mono_t){ seq }, false, &r);
	}
	assert_int_equal(ring_count(ring), 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(ring_get(ring, i)->seq, 6 - i);
	assert_null(ring_get(ring, 4));
	ring_free(ring);
}

static void
stored_results_are_returned(void **state)
{
	struct wire_result r = result(9);
	const struct ring_result *out;
	struct ring *ring = NULL;

	assert_int_equal(ring_new(0, &ring), 0); /* a ring has room for at least one */
	ring_put(ring, (rm_mono_t){ 77 }, true, &r);
	out = ring_get(ring, 0);
	assert_int_equal(out->sent.ns, 77);
	assert_true(out->late);
	assert_int_equal(out->outcome, WIRE_NO_REPLY);
	assert_int_equal(out->arrived_dscp, 46);
	assert_int_equal(out->arrived_ecn, 3);
	assert_true(ring_touches(out, (struct wire_rnic_id){ 1, 1 }));
	assert_true(ring_touches(out, (struct wire_rnic_id){ 2, 1 }));
	assert_false(ring_touches(out, (struct wire_rnic_id){ 2, 2 }));
	ring_free(ring);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_comes_first_and_the_oldest_goes_first),
		cmocka_unit_test(stored_results_are_returned),
	};

	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
