#include "host-agent/probe/flow_label.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A copy of the kernel's rdma_flow_label_to_udp_sport, which is the same function as
 * ibv_flow_label_to_udp_sport. */
static uint16_t
fold(uint32_t label)
{
	uint32_t low = label & 0x03fff, high = label & 0xfc000;

	low ^= high >> 14;
	return (uint16_t)(low | 0xc000);
}

static void
a_label_folds_to_fourteen_bits(void **state)
{
	assert_int_equal(flow_label_sport(1, 5, 9), 0xc001);
	assert_int_equal(flow_label_sport(0x3fff, 5, 9), 0xffff);
	assert_int_equal(flow_label_sport(0x4000, 5, 9), 0xc001);
	assert_int_equal(flow_label_sport(0xfffff, 5, 9), 0xffc0);
	for (uint32_t label = 1; label <= FLOW_LABEL_MAX; label++)
		if (flow_label_sport(label, 5, 9) != fold(label))
			fail_msg("label %x", label);
}

static void
without_a_label_both_ends_make_the_same_port_of_their_numbers(void **state)
{
	/* 0x11 * 0x12 = 0x132: nothing to fold. */
	assert_int_equal(flow_label_sport(0, 0x11, 0x12), 0xc132);
	/* The product 0xc379a59ba4a becomes 0xc379a9ac3ef, then 0xc379a9ac3e3. */
	assert_int_equal(flow_label_sport(0, 0xabcdef, 0x123456), fold(0xac3e3));
	assert_int_equal(flow_label_sport(0, 0xabcdef, 0x123456), 0xc3c8);
	for (uint32_t i = 1; i < 1000; i++) {
		uint32_t local = i * 7919, remote = i * 104729 & 0xffffff;
		uint64_t v = (uint64_t)local * remote;

		v ^= v >> 20;
		v ^= v >> 40;
		assert_int_equal(
		    flow_label_sport(0, local, remote), fold((uint32_t)(v & 0xfffff)));
		assert_int_equal(flow_label_sport(0, local, remote),
		    flow_label_sport(0, remote, local));
	}
}

static void
every_source_port_has_a_label_that_is_not_zero(void **state)
{
	for (uint32_t sport = 0xc000; sport <= 0xffff; sport++) {
		uint32_t label = flow_label_for_sport((uint16_t)sport);

		assert_true(label > 0 && label <= FLOW_LABEL_MAX);
		assert_int_equal(flow_label_sport(label, 1, 2), sport);
	}
}

static void
a_port_that_no_label_gives_becomes_one_with_the_same_low_bits(void **state)
{
	assert_int_equal(flow_label_sport(flow_label_for_sport(40001), 1, 2),
	    0xc000 | (40001 & 0x3fff));
}

static void
soft_roce_hashes_the_number_of_the_qp(void **state)
{
	assert_int_equal(flow_label_rxe_ud_sport(0), 0xc000);
	assert_int_equal(flow_label_rxe_ud_sport(1), 55410);
	assert_int_equal(flow_label_rxe_ud_sport(17), 57236);
	assert_int_equal(flow_label_rxe_ud_sport(18), 63494);
	for (uint32_t qpn = 0; qpn < 0x1000000; qpn += 4099)
		assert_true(flow_label_rxe_ud_sport(qpn) >= 0xc000);
}

static void
an_unknown_driver_has_one_flow(void **state)
{
	assert_int_equal(flow_label_driver("mlx5"), PORT_FLOWS_LABEL);
	assert_int_equal(flow_label_driver("mlx5_core"), PORT_FLOWS_LABEL);
	assert_int_equal(flow_label_driver("hns"), PORT_FLOWS_LABEL);
	assert_int_equal(flow_label_driver("rxe"), PORT_FLOWS_QP);
	assert_int_equal(flow_label_driver("rdma_rxe"), PORT_FLOWS_QP);
	for (const char *const *name = (const char *const[]){ "", "bnxt_re", "irdma",
		 "mlx4", "mlx4_core", "mana", "efa", "siw", "mlx", NULL };
	     *name != NULL; name++)
		assert_int_equal(flow_label_driver(*name), PORT_FLOWS_UNKNOWN);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_label_folds_to_fourteen_bits),
		cmocka_unit_test(
		    without_a_label_both_ends_make_the_same_port_of_their_numbers),
		cmocka_unit_test(every_source_port_has_a_label_that_is_not_zero),
		cmocka_unit_test(
		    a_port_that_no_label_gives_becomes_one_with_the_same_low_bits),
		cmocka_unit_test(soft_roce_hashes_the_number_of_the_qp),
		cmocka_unit_test(an_unknown_driver_has_one_flow),
	};

	return cmocka_run_group_tests_name("flow_label", tests, NULL, NULL);
}
