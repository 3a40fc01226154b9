#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "host-agent/rnic/rdma_facts.h"
#include "host-agent/rnic/rnic_facts.h"
#include "rdma_fixture.h"

#define V1 "IB/RoCE v1"
#define V2 "RoCE v2"

static struct rdma_fixture fixture;

static int
setup(void **state)
{
	rdma_fixture_make(&fixture);
	rdma_fixture_port(&fixture);
	return 0;
}

static int
teardown(void **state)
{
	rdma_fixture_free(&fixture);
	return 0;
}

static void
put_both_families(void)
{
	rdma_fixture_gid(&fixture, 0, RDMA_LINK_LOCAL, V2, "eth1");
	rdma_fixture_gid(&fixture, 1, RDMA_V4, V1, "eth1");
	rdma_fixture_gid(&fixture, 2, RDMA_V4, V2, "eth1");
	rdma_fixture_gid(&fixture, 3, RDMA_V6, V2, "eth1");
	rdma_fixture_gid(&fixture, 4, RDMA_V4_OTHER, V2, "eth1");
}

static struct rnic_place
place(enum rnic_transport transport, const char *device)
{
	return (struct rnic_place){ .transport = transport,
		.device = device,
		.rdma_port = 1,
		.gid_index = -1,
		.sysfs = fixture.root };
}

static int
find(const struct rnic_place *where, struct rnic_facts *facts)
{
	memset(facts, 0, sizeof(*facts));
	return rnic_facts_find(where, facts);
}

static void
check_both(const struct rnic_facts *facts)
{
	assert_int_equal(facts->transport, RNIC_ROCE);
	assert_true(facts->id.guid == RDMA_GUID_VALUE);
	assert_int_equal(facts->id.port, 1);
	assert_string_equal(facts->rdma_device, "rxe0");
	assert_string_equal(facts->netdev, "eth1");
	assert_string_equal(facts->driver, "rxe");
	assert_int_equal(facts->ifindex, 7);
	assert_int_equal(facts->mtu_bytes, 4200);
	assert_int_equal(facts->address_count, 2);
	assert_int_equal(facts->addresses[0].family, 4);
	assert_memory_equal(facts->addresses[0].bytes, "\x0a\x09\x00\x01", 4);
	assert_int_equal(facts->gid_index[0], 2);
	assert_memory_equal(facts->gids[0] + 10, "\xff\xff\x0a\x09\x00\x01", 6);
	assert_int_equal(facts->addresses[1].family, 6);
	assert_int_equal(facts->gid_index[1], 3);
}

static void
a_port_is_found_by_its_own_name_and_by_its_netdev(void **state)
{
	static const enum rnic_transport transports[] = { RNIC_AUTO, RNIC_ROCE };
	struct rnic_facts facts;

	put_both_families();
	for (size_t i = 0; i < 2; i++) {
		struct rnic_place by_port = place(transports[i], "rxe0");
		struct rnic_place by_netdev = place(transports[i], "eth1");

		assert_int_equal(find(&by_port, &facts), 0);
		check_both(&facts);
		assert_int_equal(find(&by_netdev, &facts), 0);
		check_both(&facts);
	}
}

static void
a_port_without_a_node_guid_is_known_by_its_mac(void **state)
{
	struct rnic_place where = place(RNIC_AUTO, "rxe0");
	struct rnic_facts facts;

	put_both_families();
	rdma_fixture_put(
	    &fixture, "0000:0000:0000:0000", "class/infiniband/rxe0/node_guid");
	assert_int_equal(find(&where, &facts), -ENOTUNIQ);
	assert_non_null(strstr(rdma_facts_error(-ENOTUNIQ), "node_guid"));
	rdma_fixture_put(&fixture, "00:00:00:00:00:00", "class/net/eth1/address");
	assert_int_equal(find(&where, &facts), -ENOTUNIQ);
	rdma_fixture_put(&fixture, "52:54:00:12:34:56", "class/net/eth1/address");
	assert_int_equal(find(&where, &facts), 0);
	assert_true(facts.id.guid == UINT64_C(0x505400fffe123456));
	assert_int_equal(facts.id.port, 1);
}

/* -ENXIO: as a network device "lo" has no MAC address. */
static void
a_device_without_roce_v2_is_left_to_udp(void **state)
{
	struct rnic_place where = place(RNIC_AUTO, "lo");
	struct rnic_facts facts;

	assert_int_equal(find(&where, &facts), -ENXIO);
	rdma_fixture_gid(&fixture, 0, RDMA_V4, V1, "lo");
	assert_int_equal(find(&where, &facts), -ENXIO);
	where.transport = RNIC_ROCE;
	assert_int_equal(find(&where, &facts), -ENOTSUP);
	/* A device that supports RoCE v2 and has no address yet is waited for. */
	where.transport = RNIC_AUTO;
	rdma_fixture_gid(&fixture, 1, RDMA_LINK_LOCAL, V2, "lo");
	assert_true(find(&where, &facts) < 0);
	assert_int_not_equal(find(&where, &facts), -ENXIO);
	/* The option netns applies to network devices only. */
	where.netns = "no-such-netns";
	assert_int_equal(find(&where, &facts), -ENOENT);
	where = place(RNIC_UDP, "lo");
	assert_int_equal(find(&where, &facts), -ENXIO);
}

/* "rxe0" is the name of an RDMA device; no network device has this name. */
static void
an_rdma_device_without_a_gid_is_there(void **state)
{
	struct rnic_place where = place(RNIC_AUTO, "rxe0");
	struct rnic_facts facts;

	assert_int_equal(find(&where, &facts), -ENOTSUP);
	rdma_fixture_gid(&fixture, 0, RDMA_V4, V1, "eth1");
	assert_int_equal(find(&where, &facts), -ENOTSUP);
	rdma_fixture_gid(&fixture, 1, RDMA_LINK_LOCAL, V2, "eth1");
	assert_int_equal(find(&where, &facts), -EPROTONOSUPPORT);
	where = place(RNIC_AUTO, "rxe9");
	assert_int_equal(find(&where, &facts), -ENODEV);
}

static void
a_missing_device_or_address_is_reported(void **state)
{
	struct rnic_place where = place(RNIC_ROCE, "rxe9");
	struct rnic_facts facts;

	assert_int_equal(find(&where, &facts), -ENODEV);
	where = place(RNIC_ROCE, "rxe0");
	where.rdma_port = 2;
	assert_int_equal(find(&where, &facts), -ENOENT);
	where.rdma_port = 1;
	rdma_fixture_gid(&fixture, 0, RDMA_LINK_LOCAL, V2, "eth1");
	assert_int_equal(find(&where, &facts), -ENETUNREACH);
}

static void
a_configured_address_or_index_is_the_only_one(void **state)
{
	struct rnic_place where = place(RNIC_ROCE, "rxe0");
	struct rnic_facts facts;

	put_both_families();
	where.address = "10.9.0.2";
	assert_int_equal(find(&where, &facts), 0);
	assert_int_equal(facts.address_count, 1);
	assert_int_equal(facts.gid_index[0], 4);
	where.address = "fd00:9:0::0:1";
	assert_int_equal(find(&where, &facts), 0);
	assert_int_equal(facts.gid_index[0], 3);
	where.address = "10.9.0.3";
	assert_int_equal(find(&where, &facts), -EADDRNOTAVAIL);
	where.address = NULL;
	where.gid_index = 4;
	assert_int_equal(find(&where, &facts), 0);
	assert_int_equal(facts.address_count, 1);
	assert_int_equal(facts.addresses[0].bytes[3], 2);
	where.gid_index = 3;
	assert_int_equal(find(&where, &facts), 0);
	assert_int_equal(facts.addresses[0].family, 6);
	where.gid_index = 1;
	assert_int_equal(find(&where, &facts), -EPROTONOSUPPORT);
	where.gid_index = 9;
	assert_int_equal(find(&where, &facts), -ENXIO);
}

static void
changes_that_affect_qps_make_another_place(void **state)
{
	struct rnic_place where = place(RNIC_ROCE, "rxe0");
	struct rnic_facts before, after;

	put_both_families();
	assert_int_equal(find(&where, &before), 0);
	assert_int_equal(find(&where, &after), 0);
	assert_true(rnic_facts_same(&before, &after));

	rdma_fixture_put(&fixture, "1500", "class/net/eth1/mtu");
	assert_int_equal(find(&where, &after), 0);
	assert_false(rnic_facts_same_place(&before, &after));
	rdma_fixture_put(&fixture, "4200", "class/net/eth1/mtu");

	rdma_fixture_gid(&fixture, 2, RDMA_V4, V1, "eth1");
	rdma_fixture_gid(&fixture, 5, RDMA_V4, V2, "eth1");
	where.address = "10.9.0.1";
	assert_int_equal(find(&where, &after), 0);
	assert_false(rnic_facts_same_place(&before, &after));
	where.address = NULL;
	put_both_families();

	rdma_fixture_run(&fixture,
	    "cp -r class/infiniband/rxe0 x && rm -r class/infiniband/rxe0 && "
	    "mv x class/infiniband/rxe0");
	assert_int_equal(find(&where, &after), 0);
	assert_false(rnic_facts_same_place(&before, &after));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_port_is_found_by_its_own_name_and_by_its_netdev),
		TEST(a_port_without_a_node_guid_is_known_by_its_mac),
		TEST(a_device_without_roce_v2_is_left_to_udp),
		TEST(an_rdma_device_without_a_gid_is_there),
		TEST(a_missing_device_or_address_is_reported),
		TEST(a_configured_address_or_index_is_the_only_one),
		TEST(changes_that_affect_qps_make_another_place),
	};

	return cmocka_run_group_tests_name("rnic_facts_roce", tests, NULL, NULL);
}
