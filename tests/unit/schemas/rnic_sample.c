#include "rnic_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

const struct wire_rnic rnic_samples[RNIC_SAMPLES] = {
	{
	    .id = { 0x0102030405060708, 1 },
	    .host = "node-a",
	    .device = "mlx5_0",
	    .driver = "mlx5_core",
	    .tors = { "tor-1", "tor-2" },
	    .tor_count = 2,
	    .plane = "rail-0",
	    .addresses = { { 4, { 10, 1, 2, 3 }, 862 },
		{ 6, { 0xfd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
		    4791 } },
	    .address_count = 2,
	    .qpn = 0xabcdef,
	    .mtu_bytes = 4096,
	    .incarnation = 0x1122334455667788,
	},
	{
	    .id = { UINT64_MAX, 255 },
	    .host = "node-b",
	    .device = "eth1",
	    .driver = "veth",
	    .tors = { "tor-3", "" },
	    .tor_count = 1,
	    .plane = "",
	    .addresses = { { 4, { 255, 254, 253, 252 }, 65535 }, { 4, { 1 }, 1 },
		{ 4, { 2 }, 2 }, { 4, { 3 }, 3 } },
	    .address_count = 4,
	    .qpn = 1,
	    .mtu_bytes = 1500,
	    .incarnation = 1,
	},
};

const struct wire_rnic rnic_roce = {
	.id = { 0x020406fffe080a0c, 2 },
	.host = "node-c",
	.device = "mlx5_1",
	.driver = "mlx5_core",
	.tors = { "tor-2", "" },
	.tor_count = 1,
	.plane = "rail-1",
	.addresses = { { 4, { 10, 1, 2, 4 }, WIRE_ROCE_PORT } },
	.address_count = 1,
	.qpn = 0xffffff,
	.mtu_bytes = 4096,
	.incarnation = 0x2122232425262728,
	.large_qpn = 0xfffffe,
	.lid = 0xbeef,
	.link = WIRE_LINK_DOWN,
};

void
rnic_expect(const struct wire_rnic *got, const struct wire_rnic *want)
{
	assert_int_equal(got->id.guid, want->id.guid);
	assert_int_equal(got->id.port, want->id.port);
	assert_string_equal(got->host, want->host);
	assert_string_equal(got->device, want->device);
	assert_string_equal(got->driver, want->driver);
	assert_int_equal(got->tor_count, want->tor_count);
	for (size_t i = 0; i < WIRE_MAX_ATTACHMENTS; i++)
		assert_string_equal(got->tors[i], want->tors[i]);
	assert_string_equal(got->plane, want->plane);
	assert_int_equal(got->address_count, want->address_count);
	for (size_t i = 0; i < got->address_count; i++) {
		assert_int_equal(got->addresses[i].family, want->addresses[i].family);
		assert_int_equal(got->addresses[i].port, want->addresses[i].port);
		assert_memory_equal(
		    got->addresses[i].bytes, want->addresses[i].bytes, 16);
	}
	assert_int_equal(got->qpn, want->qpn);
	assert_int_equal(got->mtu_bytes, want->mtu_bytes);
	assert_int_equal(got->incarnation, want->incarnation);
	assert_int_equal(got->large_qpn, want->large_qpn);
	assert_int_equal(got->lid, want->lid);
	assert_int_equal(got->link, want->link);
}

size_t
rnic_forge(struct forge *forge)
{
	size_t rnic = forge_table(forge, RNIC_FIELDS);

	memset(forge_struct(forge, rnic, RNIC_ID), 7, 9);
	return rnic;
}
