#include "tor-aggregator/switch/switch_neighbor.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static int
read_text(const char *text, char ret[SWITCH_NEIGHBOR_BYTES])
{
	return switch_neighbor_read(text, strlen(text), ret);
}

static void
texts_are_plain_and_bounded(void **state)
{
	char text[SWITCH_NEIGHBOR_BYTES], longest[SWITCH_NEIGHBOR_BYTES + 1];

	assert_int_equal(read_text("  port 5 of leaf1 ", text), 0);
	assert_string_equal(text, "port 5 of leaf1");
	assert_int_equal(read_text("not advertised", text), -ENODATA);
	assert_int_equal(read_text("   ", text), -ENODATA);
	assert_int_equal(read_text("a\x1b[2J", text), -EBADMSG);
	assert_int_equal(read_text("\xc3\xa4", text), -EBADMSG);
	assert_int_equal(switch_neighbor_read("a\0b", 3, text), -EBADMSG);
	assert_string_equal(text, "");
	memset(longest, 'x', SWITCH_NEIGHBOR_BYTES);
	longest[SWITCH_NEIGHBOR_BYTES] = '\0';
	assert_int_equal(read_text(longest, text), -EBADMSG);
	assert_int_equal(read_text(longest + 1, text), 0);
}

static void
a_name_is_the_same_with_and_without_its_domain(void **state)
{
	assert_true(switch_name_is_same("Leaf1.lab.example", "leaf1"));
	assert_true(switch_name_is_same("leaf1", "leaf1.lab.example"));
	assert_true(switch_name_is_same("leaf1.lab", "LEAF1.lab"));
	assert_false(switch_name_is_same("leaf1.lab", "leaf1.example"));
	assert_false(switch_name_is_same("leaf1", "leaf11"));
	assert_false(switch_name_is_same("", ""));
}

static void
a_port_is_the_same_in_its_short_form(void **state)
{
	const struct switch_neighbor neighbor = { "h1", "02:00:00:00:00:01", "ens1f0" };

	assert_true(switch_port_is_same("Eth1/1", "Ethernet1/1"));
	assert_true(switch_port_is_same("ethernet1/1", "Ethernet1/1"));
	assert_false(switch_port_is_same("Eth1/1", "Ethernet1/11"));
	assert_false(switch_port_is_same("Ethernet", "Eth"));
	assert_false(switch_port_is_same("et1", "Ethernet1"));
	assert_false(switch_port_is_same("", ""));
	assert_true(switch_neighbor_is_at(&neighbor, "ens1f0"));
	assert_false(switch_neighbor_is_at(&neighbor, "ens1f1"));
}

static void
a_mac_is_found_in_the_id_of_an_rnic(void **state)
{
	static const char *const macs[] = { "54:A2:74:cc:7f:42", "54a2.74cc.7f42",
		"54-a2-74-cc-7f-42", "54a274cc7f42" };
	static const char *const others[] = { "", "Ethernet1/1", "5:4a:27:4c:c7:f4:2",
		"54:a2:74:cc:7f", "54:a2:74:cc:7f:42:00" };
	struct switch_neighbor neighbor = { .name = "" };
	uint64_t mac = 0;

	for (size_t i = 0; i < sizeof(macs) / sizeof(macs[0]); i++) {
		strcpy(neighbor.port, macs[i]);
		assert_true(switch_neighbor_mac(&neighbor, &mac));
		assert_int_equal(mac, 0x54a274cc7f42);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		strcpy(neighbor.port, others[i]);
		assert_false(switch_neighbor_mac(&neighbor, &mac));
	}
	assert_true(switch_mac_is_of_guid(mac, 0x54a274cc7f42));
	assert_true(switch_mac_is_of_guid(mac, 0x54a2740300cc7f42));
	assert_true(switch_mac_is_of_guid(mac, 0x56a274fffecc7f42));
	assert_false(switch_mac_is_of_guid(mac, 0x54a2740300cc7f43));
	assert_false(switch_mac_is_of_guid(mac, 0x54a2741234cc7f42));
	assert_false(switch_mac_is_of_guid(mac, 0));
}

#define TEST(f) cmocka_unit_test(f)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(texts_are_plain_and_bounded),
		TEST(a_name_is_the_same_with_and_without_its_domain),
		TEST(a_port_is_the_same_in_its_short_form),
		TEST(a_mac_is_found_in_the_id_of_an_rnic),
	};

	return cmocka_run_group_tests_name("switch_neighbor", tests, NULL, NULL);
}
