/* Reads folders with files like those of RDMA ports in sysfs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "host-agent/rnic/rdma_index.h"
#include "host-agent/rnic/rnic_facts.h"
#include "rdma_fixture.h"

#define V2 "RoCE v2"

static struct rdma_fixture fixture;
static struct rdma_index *rdma;

static int
setup(void **state)
{
	rdma_fixture_make(&fixture);
	return rdma_index_new(fixture.root, &rdma);
}

static int
teardown(void **state)
{
	rdma_index_free(rdma);
	rdma_fixture_free(&fixture);
	return 0;
}

static void
own(unsigned n, const char *netdev)
{
	rdma_fixture_put(
	    &fixture, netdev, "class/infiniband/mlx5_%u/ports/1/gid_attrs/ndevs/0", n);
}

/* Makes port 1 of mlx5_N, with an address. */
static void
put_device(unsigned n, const char *netdev)
{
	const char *port = "class/infiniband/mlx5_";

	own(n, netdev);
	rdma_fixture_put(&fixture, "Ethernet", "%s%u/ports/1/link_layer", port, n);
	rdma_fixture_put(&fixture, RDMA_GUID, "%s%u/node_guid", port, n);
	rdma_fixture_put(&fixture, RDMA_V4, "%s%u/ports/1/gids/0", port, n);
	rdma_fixture_put(&fixture, V2, "%s%u/ports/1/gid_attrs/types/0", port, n);
}

static int
find(const char *netdev, char device[RDMA_DEVICE_BYTES])
{
	uint8_t port;

	return rdma_index_find(rdma, netdev, device, &port);
}

static void
all_of_300_devices_are_found(void **state)
{
	char device[RDMA_DEVICE_BYTES], netdev[RDMA_NETDEV_BYTES], expected[32];
	const struct rdma_port *ports;
	size_t count;

	for (unsigned i = 0; i < 300; i++) {
		snprintf(netdev, sizeof(netdev), "ens%u", i);
		own(i, netdev);
	}
	for (unsigned i = 0; i < 300; i++) {
		snprintf(netdev, sizeof(netdev), "ens%u", i);
		snprintf(expected, sizeof(expected), "mlx5_%u", i);
		assert_int_equal(find(netdev, device), 0);
		assert_string_equal(device, expected);
	}
	assert_int_equal(rdma_index_ports(rdma, &ports, &count), 0);
	assert_int_equal(count, 300);
	assert_int_equal(rdma_index_searches(rdma), 1);
}

static void
a_missing_device_is_not_searched_for_at_every_look(void **state)
{
	char device[RDMA_DEVICE_BYTES];

	put_device(0, "ens0");
	for (unsigned i = 0; i < 1000; i++) {
		assert_int_equal(find("ens1", device), -ENODEV);
		assert_int_equal(find("ens0", device), 0);
	}
	/* True even if it took seconds. */
	assert_in_range(rdma_index_searches(rdma), 1, 5);
}

static void
a_new_device_is_found_at_once_after_an_event(void **state)
{
	char device[RDMA_DEVICE_BYTES];

	put_device(0, "ens0");
	assert_int_equal(find("ens1", device), -ENODEV);
	put_device(1, "ens1");
	rdma_index_expire(rdma);
	assert_int_equal(find("ens1", device), 0);
	assert_string_equal(device, "mlx5_1");
}

static void
too_many_devices_are_reported_as_an_error(void **state)
{
	const struct rnic_place place = { .transport = RNIC_AUTO,
		.device = "lo",
		.rdma_port = 1,
		.gid_index = -1,
		.sysfs = fixture.root,
		.index = rdma };
	struct rnic_facts facts;

	rdma_fixture_run(&fixture,
	    "mkdir -p class/infiniband && cd class/infiniband && seq -f d%g 4097 | "
	    "xargs mkdir");
	assert_int_equal(rnic_facts_find(&place, &facts), -E2BIG);
	assert_non_null(strstr(rdma_facts_error(-E2BIG), "4096"));
}

/* No event reports this change: the found port is checked before it is used. */
static void
a_netdev_that_has_gone_to_another_device_is_followed(void **state)
{
	const struct rnic_place place = { .transport = RNIC_AUTO,
		.device = "ens0",
		.rdma_port = 1,
		.gid_index = -1,
		.sysfs = fixture.root,
		.index = rdma };
	struct rnic_facts facts;

	put_device(0, "ens0");
	put_device(1, "ens1");
	assert_int_equal(rnic_facts_find(&place, &facts), 0);
	assert_string_equal(facts.rdma_device, "mlx5_0");
	own(0, "ens1");
	own(1, "ens0");
	assert_int_equal(rnic_facts_find(&place, &facts), 0);
	assert_string_equal(facts.rdma_device, "mlx5_1");
}

#define COST_NS (280 * RM_NS_PER_MS)

/* For an hour an event causes a search every half second. */
static void
searches_cost_a_quarter_percent_at_most(void **state)
{
	struct rdma_budget budget = { 0 };
	const int64_t hour_ns = 3600 * RM_NS_PER_S;
	rm_mono_t now = { 1 };
	int64_t spent = 0;

	for (; now.ns < hour_ns; now.ns += RM_NS_PER_S / 2) {
		if (!rdma_budget_allows(&budget, true, now))
			continue;
		rdma_budget_spend(&budget, COST_NS);
		spent += COST_NS;
	}
	assert_in_range(spent, hour_ns / 500, hour_ns / 400 + 5 * COST_NS);
}

static void
half_of_the_budget_is_kept_for_events(void **state)
{
	struct rdma_budget budget = { 0 };
	rm_mono_t now = { 1 };

	while (rdma_budget_allows(&budget, false, now))
		rdma_budget_spend(&budget, COST_NS);
	assert_true(rdma_budget_allows(&budget, true, now));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_of_300_devices_are_found),
		TEST(a_missing_device_is_not_searched_for_at_every_look),
		TEST(a_new_device_is_found_at_once_after_an_event),
		TEST(too_many_devices_are_reported_as_an_error),
		TEST(a_netdev_that_has_gone_to_another_device_is_followed),
		cmocka_unit_test(searches_cost_a_quarter_percent_at_most),
		cmocka_unit_test(half_of_the_budget_is_kept_for_events),
	};

	return cmocka_run_group_tests_name("rdma_index", tests, NULL, NULL);
}
