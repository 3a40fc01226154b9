/* Reads folders with files like those of RDMA ports in sysfs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host-agent/rnic/rdma_facts.h"
#include "host-agent/rnic/rdma_index.h"

#define LINK_LOCAL "fe80:0000:0000:0000:0a00:27ff:fe00:0001"
#define V4 "0000:0000:0000:0000:0000:ffff:0a09:0001"
#define V4_VLAN "0000:0000:0000:0000:0000:ffff:0a0a:0001"
#define V6 "fd00:0009:0000:0000:0000:0000:0000:0001"
#define EMPTY "0000:0000:0000:0000:0000:0000:0000:0000"

#define V1 "IB/RoCE v1"
#define V2 "RoCE v2"

static char root[64];

static void
make_folders(const char *path)
{
	char part[512];

	snprintf(part, sizeof(part), "%s", path);
	for (char *at = part + strlen(root) + 1; *at != '\0'; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		assert_true(mkdir(part, 0755) == 0 || errno == EEXIST);
		*at = '/';
	}
}

static void
put(const char *text, const char *format, ...)
{
	char path[512];
	va_list arguments;
	FILE *file;
	int n = snprintf(path, sizeof(path), "%s/", root);

	va_start(arguments, format);
	vsnprintf(path + n, sizeof(path) - (size_t)n, format, arguments);
	va_end(arguments);
	make_folders(path);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "%s\n", text);
	assert_int_equal(fclose(file), 0);
}

/* Makes the device's hardware folder, as in sysfs. driver NULL: no driver. */
static void
put_hardware(const char *device, const char *driver)
{
	char path[512], target[512];

	put(device, "devices/of-%s/infiniband/%s/name", device, device);
	snprintf(path, sizeof(path), "%s/class/infiniband/%s/device", root, device);
	snprintf(target, sizeof(target), "%s/devices/of-%s", root, device);
	assert_int_equal(symlink(target, path), 0);
	snprintf(path, sizeof(path), "%s/devices/of-%s/driver", root, device);
	snprintf(target, sizeof(target), "../../bus/pci/drivers/%s", driver);
	if (driver != NULL)
		assert_int_equal(symlink(target, path), 0);
}

static void
put_device(const char *device, const char *guid, const char *link)
{
	put(guid, "class/infiniband/%s/node_guid", device);
	put("1: CA", "class/infiniband/%s/node_type", device);
	put("4: ACTIVE", "class/infiniband/%s/ports/1/state", device);
	put(link, "class/infiniband/%s/ports/1/link_layer", device);
	put("0x0", "class/infiniband/%s/ports/1/lid", device);
	put("0x0", "class/infiniband/%s/ports/1/sm_lid", device);
}

/* type NULL: an empty entry, whose attributes cannot be read. */
static void
put_gid(const char *device, unsigned index, const char *gid, const char *type,
    const char *netdev)
{
	put(gid, "class/infiniband/%s/ports/1/gids/%u", device, index);
	if (type == NULL) {
		put("", "class/infiniband/%s/ports/1/gid_attrs/types/%u/x", device,
		    index);
		put("", "class/infiniband/%s/ports/1/gid_attrs/ndevs/%u/x", device,
		    index);
		return;
	}
	put(type, "class/infiniband/%s/ports/1/gid_attrs/types/%u", device, index);
	put(netdev, "class/infiniband/%s/ports/1/gid_attrs/ndevs/%u", device, index);
}

static void
put_mlx5(void)
{
	put_device("mlx5_0", "b859:9f03:00a1:2b3c", "Ethernet");
	put_hardware("mlx5_0", "mlx5_core");
	put_gid("mlx5_0", 0, LINK_LOCAL, V1, "ens1");
	put_gid("mlx5_0", 1, LINK_LOCAL, V2, "ens1");
	put_gid("mlx5_0", 2, V4_VLAN, V1, "ens1.100");
	put_gid("mlx5_0", 3, V4_VLAN, V2, "ens1.100");
	put_gid("mlx5_0", 4, EMPTY, NULL, NULL);
	put_gid("mlx5_0", 5, V4, V1, "ens1");
	put_gid("mlx5_0", 6, V4, V2, "ens1");
	put_gid("mlx5_0", 7, V6, V1, "ens1");
	put_gid("mlx5_0", 8, V6, V2, "ens1");
}

static void
put_rxe(void)
{
	put_device("rxe0", "0a00:27ff:fe00:0001", "Ethernet");
	put("eth0", "class/infiniband/rxe0/parent");
	put("host7 rxe0", "class/infiniband/rxe0/node_desc");
	put_gid("rxe0", 0, LINK_LOCAL, V2, "eth0");
	put_gid("rxe0", 1, V4, V2, "eth0");
}

static struct rdma_facts
read_facts(const char *device)
{
	struct rdma_facts facts;

	assert_int_equal(rdma_facts_read(root, device, 1, &facts), 0);
	return facts;
}

static int
pick(const struct rdma_facts *facts, uint8_t family, int index, const char *netdev,
    struct rdma_gid *ret)
{
	const struct rdma_gid_wish wish = { family, index, netdev };

	return rdma_facts_pick_gid(facts, &wish, ret);
}

static void
an_mlx5_port_reports_all_about_itself(void **state)
{
	struct rdma_facts facts;

	put_mlx5();
	facts = read_facts("mlx5_0");
	assert_string_equal(facts.device, "mlx5_0");
	assert_int_equal(facts.port, 1);
	assert_true(facts.node_guid == UINT64_C(0xb8599f0300a12b3c));
	assert_string_equal(facts.driver, "mlx5");
	assert_int_equal(facts.link, RDMA_LINK_ETHERNET);
	assert_int_equal(facts.state, 4);
	assert_int_equal(facts.lid, 0);
	assert_int_equal(facts.gid_count, 8); /* the empty entry is left out */
	assert_int_equal(facts.gids[4].index, 5);
	assert_int_equal(facts.gids[4].type, RDMA_GID_ROCE_V1);
	assert_int_equal(facts.gids[5].type, RDMA_GID_ROCE_V2);
	assert_memory_equal(facts.gids[5].bytes + 12, "\x0a\x09\x00\x01", 4);
	assert_string_equal(facts.gids[3].netdev, "ens1.100");
	assert_int_equal(facts.netdev_count, 2);
	assert_string_equal(facts.netdevs[0], "ens1");
	assert_string_equal(facts.netdevs[1], "ens1.100");
	assert_false(facts.gids_unseen);
}

static void
other_drivers_are_known_by_their_family(void **state)
{
	put_device("bnxt_re0", "0000:0000:0000:0001", "Ethernet");
	put_hardware("bnxt_re0", "bnxt_en");
	assert_string_equal(read_facts("bnxt_re0").driver, "bnxt_re");
	/* The parent of an irdma device is the PCI device, or in newer kernels an
	 * auxiliary device of it. */
	put_device("irdma0", "0000:0000:0000:0002", "Ethernet");
	put_hardware("irdma0", "ice");
	assert_string_equal(read_facts("irdma0").driver, "irdma");
	put_device("irdma1", "0000:0000:0000:0003", "Ethernet");
	put_hardware("irdma1", "irdma.gen_2");
	assert_string_equal(read_facts("irdma1").driver, "irdma");
	put_device("mlx5_9", "0000:0000:0000:0004", "Ethernet");
	put_hardware("mlx5_9", "mlx5_core.sf");
	assert_string_equal(read_facts("mlx5_9").driver, "mlx5");
	put_device("new0", "0000:0000:0000:0005", "Ethernet");
	put_hardware("new0", "newcomer");
	assert_string_equal(read_facts("new0").driver, "newcomer");
	put_device("new1", "0000:0000:0000:0006", "Ethernet");
	put_hardware("new1", NULL);
	assert_string_equal(read_facts("new1").driver, "");
}

static void
soft_devices_are_known_without_a_driver(void **state)
{
	put_rxe();
	/* Renamed: found by its parent device. */
	assert_string_equal(read_facts("rxe0").driver, "rxe");
	put_device("roce5", "0000:0000:0000:0001", "Ethernet");
	put("rxe", "class/infiniband/roce5/node_desc");
	assert_string_equal(read_facts("roce5").driver, "rxe");
	put_device("rxe8", "0000:0000:0000:0001", "Ethernet");
	assert_string_equal(read_facts("rxe8").driver, "rxe"); /* found by its name */
	put_device("iwarp", "0000:0000:0000:0001", "Ethernet");
	put("Software iWARP stack", "class/infiniband/iwarp/node_desc");
	assert_string_equal(read_facts("iwarp").driver, "siw");
	put_device("what", "0000:0000:0000:0001", "Ethernet");
	assert_string_equal(read_facts("what").driver, "");
}

static void
the_missing_part_is_named(void **state)
{
	struct rdma_facts facts = { .port = 77 };

	assert_int_equal(rdma_facts_read(root, "mlx5_0", 1, &facts), -ENODEV);
	put_mlx5();
	assert_int_equal(rdma_facts_read(root, "mlx5_1", 1, &facts), -ENODEV);
	assert_int_equal(rdma_facts_read(root, "mlx5_0", 2, &facts), -ENOENT);
	assert_int_equal(rdma_facts_read(root, "mlx5_0", 0, &facts), -ENOENT);
	assert_int_equal(facts.port, 77); /* the output is unchanged */
	put("", "class/infiniband/mlx5_0/node_guid");
	assert_true(read_facts("mlx5_0").node_guid == 0);
	put("0000:0000:0000:0000", "class/infiniband/mlx5_0/node_guid");
	assert_true(read_facts("mlx5_0").node_guid == 0);
}

static void
a_name_does_not_lead_out_of_the_folder(void **state)
{
	struct rdma_facts facts;
	char device[RDMA_DEVICE_BYTES], name[RDMA_DEVICE_BYTES + 1];
	uint8_t port;

	put_mlx5();
	assert_int_equal(rdma_facts_read(root, "", 1, &facts), -ENODEV);
	assert_int_equal(rdma_facts_read(root, "..", 1, &facts), -ENODEV);
	assert_int_equal(
	    rdma_facts_read(root, "../infiniband/mlx5_0", 1, &facts), -ENODEV);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(rdma_facts_read(root, name, 1, &facts), -ENODEV);
	assert_int_equal(rdma_index_find_now(root, "..", device, &port), -ENODEV);
	assert_int_equal(rdma_index_find_now(root, "", device, &port), -ENODEV);
}

static void
a_port_that_is_down_still_has_its_identity(void **state)
{
	struct rdma_facts facts;

	put_device("mlx5_0", "b859:9f03:00a1:2b3c", "Ethernet");
	put("1: DOWN", "class/infiniband/mlx5_0/ports/1/state");
	facts = read_facts("mlx5_0");
	assert_int_equal(facts.state, 1);
	assert_int_equal(facts.gid_count, 0);
	assert_int_equal(facts.netdev_count, 0);
}

static void
garbage_in_a_file_is_handled(void **state)
{
	struct rdma_facts facts;

	put_mlx5();
	put("four", "class/infiniband/mlx5_0/ports/1/state");
	put("0xfffff", "class/infiniband/mlx5_0/ports/1/lid");
	put("Token Ring", "class/infiniband/mlx5_0/ports/1/link_layer");
	put("fe80::1", "class/infiniband/mlx5_0/ports/1/gids/0");
	put(V4 ":0000", "class/infiniband/mlx5_0/ports/1/gids/1");
	put("a-netdev-name-far-too-long",
	    "class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/3");
	facts = read_facts("mlx5_0");
	assert_int_equal(facts.state, 0);
	assert_int_equal(facts.lid, 0);
	assert_int_equal(facts.link, RDMA_LINK_UNKNOWN);
	assert_int_equal(facts.gid_count, 6);
	assert_string_equal(facts.gids[1].netdev, "");
}

static void
a_long_gid_table_is_cut_and_that_is_reported(void **state)
{
	struct rdma_facts facts;

	put_device("mlx5_0", "b859:9f03:00a1:2b3c", "Ethernet");
	for (unsigned i = 0; i < RDMA_MAX_GIDS + 1; i++) {
		char netdev[RDMA_NETDEV_BYTES];

		snprintf(netdev, sizeof(netdev), "v%u", i);
		put_gid("mlx5_0", i, V4, V2, netdev);
	}
	facts = read_facts("mlx5_0");
	assert_int_equal(facts.gid_count, RDMA_MAX_GIDS);
	assert_int_equal(facts.netdev_count, RDMA_MAX_NETDEVS);
	assert_true(facts.gids_unseen);
}

static void
an_infiniband_port_has_lids_and_one_kind_of_gid(void **state)
{
	struct rdma_facts facts;
	struct rdma_gid gid;

	put_device("mlx5_0", "b859:9f03:00a1:2b3c", "InfiniBand");
	put_hardware("mlx5_0", "mlx5_core");
	put("0x11", "class/infiniband/mlx5_0/ports/1/lid");
	put("0x2", "class/infiniband/mlx5_0/ports/1/sm_lid");
	put("fe80:0000:0000:0000:b859:9f03:00a1:2b3c",
	    "class/infiniband/mlx5_0/ports/1/gids/0");
	facts = read_facts("mlx5_0");
	assert_int_equal(facts.link, RDMA_LINK_INFINIBAND);
	assert_int_equal(facts.lid, 0x11);
	assert_int_equal(facts.sm_lid, 2);
	/* The GID contains the subnet's prefix; the addresses are not IP addresses. */
	assert_int_equal(pick(&facts, 4, -1, NULL, &gid), 0);
	assert_int_equal(gid.index, 0);
	assert_int_equal(gid.type, RDMA_GID_IB);
}

static void
a_device_is_found_by_the_owner_of_its_gids(void **state)
{
	char device[RDMA_DEVICE_BYTES];
	uint8_t port;

	assert_int_equal(rdma_index_find_now(root, "ens1", device, &port), -ENOENT);
	put_rxe();
	put_mlx5();
	assert_int_equal(rdma_index_find_now(root, "ens1", device, &port), 0);
	assert_string_equal(device, "mlx5_0");
	assert_int_equal(port, 1);
	assert_int_equal(rdma_index_find_now(root, "ens1.100", device, &port), 0);
	assert_string_equal(device, "mlx5_0");
	assert_int_equal(rdma_index_find_now(root, "eth0", device, &port), 0);
	assert_string_equal(device, "rxe0");
	assert_int_equal(rdma_index_find_now(root, "eth1", device, &port), -ENODEV);
}

static void
of_two_devices_on_a_netdev_the_one_with_hardware_is_found(void **state)
{
	char device[RDMA_DEVICE_BYTES];
	uint8_t port;

	put_device("a_rxe", "0000:0000:0000:0001", "Ethernet");
	put("ens1", "class/infiniband/a_rxe/parent");
	put_gid("a_rxe", 0, V4, V2, "ens1");
	put_device("z_rxe", "0000:0000:0000:0001", "Ethernet");
	put_gid("z_rxe", 0, V4, V2, "ens1");
	assert_int_equal(rdma_index_find_now(root, "ens1", device, &port), 0);
	assert_string_equal(device, "a_rxe");
	put_mlx5();
	assert_int_equal(rdma_index_find_now(root, "ens1", device, &port), 0);
	assert_string_equal(device, "mlx5_0");
}

/* The network device has no GID of its own, for example while it is down. */
static void
a_device_that_is_down_is_found_by_its_hardware(void **state)
{
	char device[RDMA_DEVICE_BYTES], path[512], target[512];
	uint8_t port;

	put_device("rxe0", "0a00:27ff:fe00:0001", "Ethernet");
	put("eth0", "class/infiniband/rxe0/parent");
	put_device("mlx4_0", "b859:9f03:00a1:2b3c", "Ethernet");
	put("1: DOWN", "class/infiniband/mlx4_0/ports/2/state");
	put_hardware("mlx4_0", "mlx4_core");
	put("1", "class/net/ens2/dev_port");
	snprintf(path, sizeof(path), "%s/class/net/ens2/device", root);
	snprintf(target, sizeof(target), "%s/devices/of-mlx4_0", root);
	assert_int_equal(symlink(target, path), 0);

	assert_int_equal(rdma_index_find_now(root, "eth0", device, &port), 0);
	assert_string_equal(device, "rxe0");
	assert_int_equal(rdma_index_find_now(root, "ens2", device, &port), 0);
	assert_string_equal(device, "mlx4_0");
	assert_int_equal(port, 2);
	/* The owner of a GID takes precedence over a device of the same hardware. */
	put_device("mlx5_bond_0", "0000:0000:0000:0001", "Ethernet");
	put_gid("mlx5_bond_0", 0, V4, V2, "ens2");
	assert_int_equal(rdma_index_find_now(root, "ens2", device, &port), 0);
	assert_string_equal(device, "mlx5_bond_0");
}

static void
the_gid_is_roce_v2_of_the_family_and_the_ports_own(void **state)
{
	struct rdma_facts facts;
	struct rdma_gid gid;

	put_mlx5();
	facts = read_facts("mlx5_0");
	assert_int_equal(pick(&facts, 4, -1, NULL, &gid), 0);
	assert_int_equal(gid.index, 6); /* not 3, which belongs to the VLAN */
	assert_int_equal(pick(&facts, 6, -1, NULL, &gid), 0);
	assert_int_equal(gid.index, 8); /* not 1, which is link-local */
	assert_int_equal(pick(&facts, 5, -1, NULL, &gid), -EINVAL);
}

static void
a_vlan_or_bond_may_own_the_gid(void **state)
{
	struct rdma_facts facts;
	struct rdma_gid gid;

	put_mlx5();
	facts = read_facts("mlx5_0");
	assert_int_equal(pick(&facts, 4, -1, "ens1.100", &gid), 0);
	assert_int_equal(gid.index, 3);
	/* The VLAN has no IPv6 GID: the port's GID is used. */
	assert_int_equal(pick(&facts, 6, -1, "ens1.100", &gid), 0);
	assert_int_equal(gid.index, 8);
}

static void
the_config_overrides_the_index(void **state)
{
	struct rdma_facts facts;
	struct rdma_gid gid = { .index = 77 };

	put_mlx5();
	facts = read_facts("mlx5_0");
	assert_int_equal(pick(&facts, 4, 5, NULL, &gid), -EPROTONOSUPPORT);
	assert_int_equal(pick(&facts, 6, 1, NULL, &gid), -ENETUNREACH);
	/* An empty entry of the GID table. */
	assert_int_equal(pick(&facts, 4, 4, NULL, &gid), -ENXIO);
	assert_int_equal(pick(&facts, 4, 1000, NULL, &gid), -ENXIO);
	assert_int_equal(pick(&facts, 4, 8, NULL, &gid), -EAFNOSUPPORT);
	assert_int_equal(gid.index, 77); /* the output is unchanged */
	assert_int_equal(pick(&facts, 4, 3, NULL, &gid), 0);
	assert_int_equal(gid.index, 3);
}

static void
without_a_usable_gid_the_nearest_miss_is_named(void **state)
{
	struct rdma_facts facts;
	struct rdma_gid gid;

	put_device("mlx5_0", "b859:9f03:00a1:2b3c", "Ethernet");
	facts = read_facts("mlx5_0");
	assert_int_equal(pick(&facts, 4, -1, NULL, &gid), -EADDRNOTAVAIL);
	put_gid("mlx5_0", 0, V6, V1, "ens1");
	facts = read_facts("mlx5_0");
	assert_int_equal(pick(&facts, 4, -1, NULL, &gid), -EADDRNOTAVAIL);
	assert_int_equal(pick(&facts, 6, -1, NULL, &gid), -EPROTONOSUPPORT);
	put_gid("mlx5_0", 1, LINK_LOCAL, V2, "ens1");
	facts = read_facts("mlx5_0");
	assert_int_equal(pick(&facts, 6, -1, NULL, &gid), -ENETUNREACH);
	put_gid("mlx5_0", 2, V6, V2, "ens1");
	facts = read_facts("mlx5_0");
	assert_int_equal(pick(&facts, 6, -1, NULL, &gid), 0);
	assert_int_equal(gid.index, 2);
}

static void
every_error_has_its_sentence(void **state)
{
	const int errors[] = { ENODEV, ENOENT, ENXIO, EADDRNOTAVAIL, EPROTONOSUPPORT,
		ENETUNREACH, EAFNOSUPPORT };

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		assert_string_not_equal(
		    rdma_facts_error(-errors[i]), strerror(errors[i]));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(
			    rdma_facts_error(-errors[i]), rdma_facts_error(-errors[k]));
	}
	assert_string_equal(rdma_facts_error(-ENOMEM), strerror(ENOMEM));
}

static int
setup(void **state)
{
	snprintf(root, sizeof(root), "/tmp/rdma-facts-XXXXXX");
	return mkdtemp(root) == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_mlx5_port_reports_all_about_itself),
		TEST(other_drivers_are_known_by_their_family),
		TEST(soft_devices_are_known_without_a_driver),
		TEST(the_missing_part_is_named),
		TEST(a_name_does_not_lead_out_of_the_folder),
		TEST(a_port_that_is_down_still_has_its_identity),
		TEST(garbage_in_a_file_is_handled),
		TEST(a_long_gid_table_is_cut_and_that_is_reported),
		TEST(an_infiniband_port_has_lids_and_one_kind_of_gid),
		TEST(a_device_is_found_by_the_owner_of_its_gids),
		TEST(of_two_devices_on_a_netdev_the_one_with_hardware_is_found),
		TEST(a_device_that_is_down_is_found_by_its_hardware),
		TEST(the_gid_is_roce_v2_of_the_family_and_the_ports_own),
		TEST(a_vlan_or_bond_may_own_the_gid),
		TEST(the_config_overrides_the_index),
		TEST(without_a_usable_gid_the_nearest_miss_is_named),
		TEST(every_error_has_its_sentence),
	};

	return cmocka_run_group_tests_name("rdma_facts", tests, NULL, NULL);
}
