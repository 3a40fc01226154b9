/* Reads folders with files like those of RDMA ports in sysfs, in a new network
 * namespace. Needs root; skipped (exit 77) without it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sched.h>
#include <unistd.h>

#include "host-agent/rnic/rdma_index.h"
#include "host-agent/rnic/rnic_find.h"
#include "rdma_fixture.h"

#define V2 "RoCE v2"
#define PORT "class/infiniband/%s/ports/1"

static struct rdma_fixture fixture;
static struct rnic_find find;
static char lldp_file[96];

static bool
is_cable(const char *netdev, const void *arg)
{
	return strncmp(netdev, "cable", 5) == 0;
}

static int
setup(void **state)
{
	rdma_fixture_make(&fixture);
	snprintf(lldp_file, sizeof(lldp_file), "%s/lldp", fixture.root);
	find = (struct rnic_find){ .sysfs = fixture.root,
		.rdma = true,
		.wants = is_cable,
		.lldp_file = lldp_file };
	return rdma_index_new(fixture.root, &find.index) < 0 ? -1 : 0;
}

static int
teardown(void **state)
{
	rnic_find_clear(&find);
	rdma_index_free(find.index);
	rdma_fixture_free(&fixture);
	return 0;
}

static void
put_port(const char *device, const char *netdev, const char *link, const char *gid,
    const char *type)
{
	rdma_fixture_put(&fixture, RDMA_GUID, "class/infiniband/%s/node_guid", device);
	rdma_fixture_put(&fixture, link, PORT "/link_layer", device);
	rdma_fixture_put(&fixture, gid, PORT "/gids/0", device);
	rdma_fixture_put(&fixture, type, PORT "/gid_attrs/types/0", device);
	rdma_fixture_put(&fixture, netdev, PORT "/gid_attrs/ndevs/0", device);
}

static void
put_neighbors(const char *text)
{
	rdma_fixture_put(&fixture, text, "lldp");
}

static void
each_rdma_port_is_found_with_its_missing_part(void **state)
{
	put_port("mlx5_0", "ens1", "Ethernet", RDMA_V4, V2);
	put_port("mlx5_1", "ens2", "Ethernet", RDMA_V4, "IB/RoCE v1");
	put_port("mlx5_2", "ens3", "Ethernet", RDMA_LINK_LOCAL, V2);
	put_port("mlx5_3", "ib0", "InfiniBand", RDMA_LINK_LOCAL, "IB/RoCE v1");
	rnic_find_run(&find);
	assert_int_equal(find.error, 0);
	assert_int_equal(find.lldp_error, -ENOENT);
	assert_int_equal(find.count, 3); /* an InfiniBand port does not support RoCE */
	assert_string_equal(find.list[0].device, "mlx5_0");
	assert_string_equal(find.list[0].netdev, "ens1");
	assert_int_equal(find.list[0].port, 1);
	assert_int_equal(find.list[0].error, 0);
	assert_int_equal(find.list[1].error, -ENOTSUP);
	assert_int_equal(find.list[2].error, -ENETUNREACH);
}

static void
a_device_that_comes_is_found_after_an_event(void **state)
{
	rnic_find_run(&find);
	assert_int_equal(find.error, 0);
	assert_int_equal(find.count, 0);
	put_port("mlx5_0", "ens1", "Ethernet", RDMA_V4, V2);
	rdma_index_expire(find.index);
	rnic_find_run(&find);
	assert_int_equal(find.count, 1);
}

static void
only_wanted_network_devices_are_found(void **state)
{
	assert_int_equal(
	    system("ip link add cable2 type veth peer name cable1 && "
		   "ip link add x1 type veth peer name x2 && ip link set cable1 up && "
		   "ip link set cable2 up && ip addr add 10.0.0.1/24 dev cable1"),
	    0);
	rnic_find_run(&find);
	assert_int_equal(find.count, 2);
	assert_string_equal(find.list[0].device, "cable1");
	assert_int_equal(find.list[0].transport, RNIC_UDP);
	assert_int_equal(find.list[0].error, 0);
	assert_string_equal(find.list[0].driver, "veth");
	assert_string_equal(find.list[1].device, "cable2");
	assert_int_equal(find.list[1].error, -EADDRNOTAVAIL);
	assert_int_equal(system("ip link delete cable1"), 0);
}

static void
the_switch_is_that_of_the_cables_below(void **state)
{
	put_port("mlx5_0", "ens1", "Ethernet", RDMA_V4, V2);
	put_port("mlx5_1", "ens1v0", "Ethernet", RDMA_V4, V2); /* a virtual function */
	put_port("mlx5_bond_0", "bond0", "Ethernet", RDMA_V4, V2);
	rdma_fixture_put(
	    &fixture, "", "class/net/ens1v0/device/physfn/net/ens1/ifindex");
	rdma_fixture_put(&fixture, "", "class/net/bond0/lower_ens1/ifindex");
	rdma_fixture_put(&fixture, "", "class/net/bond0/lower_ens2/ifindex");
	put_neighbors("{\"lldp\": [{\"interface\": ["
		      "{\"name\": \"ens1\", \"chassis\": [{\"name\": [{\"value\": "
		      "\"sw-1.example\"}]}]},"
		      "{\"name\": \"ens2\", \"chassis\": [{\"name\": [{\"value\": "
		      "\"sw-2.example\"}]}]}]}]}");
	rnic_find_run(&find);
	assert_int_equal(find.lldp_error, 0);
	assert_int_equal(find.count, 3);
	assert_int_equal(find.list[0].switch_count, 1);
	assert_string_equal(find.list[0].switches[0], "sw-1.example");
	assert_int_equal(find.list[1].switch_count, 1);
	assert_string_equal(find.list[1].switches[0], "sw-1.example");
	assert_int_equal(find.list[2].switch_count, 2);
}

/* A device that is its own ancestor; no kernel has one. */
static void
a_circle_of_stacked_devices_is_not_followed_for_ever(void **state)
{
	put_port("mlx5_0", "ens1", "Ethernet", RDMA_V4, V2);
	rdma_fixture_put(&fixture, "", "class/net/ens1/lower_ens1/ifindex");
	put_neighbors("{\"lldp\": [{}]}");
	rnic_find_run(&find);
	assert_int_equal(find.list[0].switch_count, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_rdma_port_is_found_with_its_missing_part),
		TEST(a_device_that_comes_is_found_after_an_event),
		TEST(only_wanted_network_devices_are_found),
		TEST(the_switch_is_that_of_the_cables_below),
		TEST(a_circle_of_stacked_devices_is_not_followed_for_ever),
	};

	if (geteuid() != 0 || unshare(CLONE_NEWNET) < 0)
		return 77;
	return cmocka_run_group_tests_name("rnic_find", tests, NULL, NULL);
}
