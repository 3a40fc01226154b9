#include "host-agent/counters/counter_settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/counters/counter_table.h"
#include "host-agent/counters/counters.h"

#define PORTS 3 /* a bond and its two ports */

static struct counters_port bond, port1, port2;
static struct wire_settings settings;

static int
setup(void **state)
{
	struct counters_port *const ports[PORTS] = { &bond, &port1, &port2 };

	for (size_t i = 0; i < PORTS; i++) {
		*ports[i] = (struct counters_port){ .reading = { .traffic_class = -1,
							.trusts_dscp = -1 } };
		ports[i]->states = calloc(counter_values(), sizeof(*ports[i]->states));
		memset(ports[i]->reading.dscps, DCB_NO_PRIORITY,
		    sizeof(ports[i]->reading.dscps));
	}
	settings = (struct wire_settings){ 0 };
	return 0;
}

static int
teardown(void **state)
{
	free((void *)bond.states);
	free((void *)port1.states);
	free((void *)port2.states);
	return 0;
}

/* Sets a value that all indexes of a gauge share, or a bit mask of them. */
static void
put(struct counters_port *port, const char *name, uint64_t value, bool is_mask)
{
	struct counter_state *states = (struct counter_state *)port->states;

	for (const struct counter_row *row = counter_rows; row->name != NULL; row++) {
		const size_t count = counter_row_values(row);

		for (size_t i = 0; i < count && strcmp(row->name, name) == 0; i++)
			states[i] = (struct counter_state){ .there = true,
				.total = is_mask ? value >> i & 1 : value };
		states += count;
	}
}

/* Sets PFC, FEC and priorities as a network device with a cable has them. */
static void
put_link(struct counters_port *port, unsigned pfc, unsigned fec, int trusts_dscp)
{
	put(port, "pfc_enabled", pfc, true);
	port->reading.fec = fec;
	port->reading.trusts_dscp = trusts_dscp;
	port->reading.dscps[26] = 3;
	port->reading.dscps[48] = 6;
}

static void
fill_bond(const struct counters_port *one, const struct counters_port *other)
{
	const struct counters_port *const lowers[] = { one, other };

	settings = (struct wire_settings){ 0 };
	counter_settings_fill(&bond, lowers, 2, &settings);
}

static bool
has(enum wire_setting setting)
{
	return (settings.known & UINT32_C(1) << setting) != 0;
}

static void
the_settings_of_an_rnic_are_those_of_its_reading(void **state)
{
	put_link(&port1, 1 << 3, WIRE_FEC_RS, 1);
	put(&port1, "port_rate_mbps", 400000, false);
	port1.reading.traffic_class = 106;
	port1.reading.gid_types = WIRE_GID_ROCE_V2;
	strcpy(port1.reading.firmware, "28.39.1002");
	counter_settings_fill(&port1, NULL, 0, &settings);
	assert_int_equal(settings.numbers[WIRE_SETTING_PFC], 1 << 3);
	assert_int_equal(settings.numbers[WIRE_SETTING_FEC], WIRE_FEC_RS);
	assert_int_equal(settings.numbers[WIRE_SETTING_TRUST], WIRE_TRUST_DSCP);
	assert_int_equal(settings.numbers[WIRE_SETTING_SPEED], 400000);
	assert_int_equal(settings.numbers[WIRE_SETTING_TRAFFIC_CLASS], 106);
	assert_int_equal(settings.numbers[WIRE_SETTING_GID_TYPES], WIRE_GID_ROCE_V2);
	assert_int_equal(settings.dscps[26], 3);
	assert_string_equal(settings.firmware, "28.39.1002");
	assert_true(has(WIRE_SETTING_DSCPS) && has(WIRE_SETTING_FIRMWARE));
}

static void
settings_that_were_not_read_are_not_known(void **state)
{
	counter_settings_fill(&port1, NULL, 0, &settings);
	assert_int_equal(settings.known, 0);
}

/* Linux has no DCB and no FEC for a bond. */
static void
a_bond_has_the_settings_of_its_ports(void **state)
{
	put(&bond, "port_rate_mbps", 800000, false);
	put_link(&port1, 1 << 3, WIRE_FEC_RS, 1);
	put_link(&port2, 1 << 3, WIRE_FEC_RS, 1);
	fill_bond(&port1, &port2);
	assert_int_equal(settings.numbers[WIRE_SETTING_SPEED], 800000);
	assert_int_equal(settings.numbers[WIRE_SETTING_PFC], 1 << 3);
	assert_int_equal(settings.numbers[WIRE_SETTING_FEC], WIRE_FEC_RS);
	assert_int_equal(settings.numbers[WIRE_SETTING_TRUST], WIRE_TRUST_DSCP);
	assert_true(has(WIRE_SETTING_DSCPS));
	assert_int_equal(settings.dscps[26], 3);
	assert_int_equal(settings.dscps[48], 6);
	assert_int_equal(settings.dscps[0], WIRE_NO_PRIORITY);
}

static void
a_setting_in_which_the_ports_of_a_bond_differ_is_not_that_of_one_port(void **state)
{
	put_link(&port1, 1 << 3, WIRE_FEC_RS, 1);
	put_link(&port2, 0, WIRE_FEC_OFF, 0);
	port2.reading.dscps[26] = 0;
	for (int i = 0; i < 2; i++) {
		fill_bond(i == 0 ? &port1 : &port2, i == 0 ? &port2 : &port1);
		assert_true(has(WIRE_SETTING_PFC) && has(WIRE_SETTING_TRUST) &&
			    has(WIRE_SETTING_FEC) && has(WIRE_SETTING_DSCPS));
		assert_int_equal(settings.numbers[WIRE_SETTING_PFC], WIRE_PORTS_DIFFER);
		assert_int_equal(
		    settings.numbers[WIRE_SETTING_TRUST], WIRE_PORTS_DIFFER);
		assert_int_equal(settings.numbers[WIRE_SETTING_FEC], WIRE_PORTS_DIFFER);
		assert_int_equal(settings.dscps[26], WIRE_PRIORITIES_DIFFER);
		assert_int_equal(settings.dscps[48], 6);
	}
}

static void
a_bond_with_a_port_that_was_not_read_has_unknown_settings(void **state)
{
	put_link(&port1, 1 << 3, WIRE_FEC_RS, 1);
	fill_bond(&port1, NULL);
	assert_int_equal(settings.known, 0);
	fill_bond(NULL, &port1);
	assert_int_equal(settings.known, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

static void
the_network_devices_of_a_bond_are_named(void **state)
{
	const struct counters_port *const lowers[] = { &port1, &port2 };

	(void)state;
	counter_settings_fill(&port1, NULL, 0, &settings);
	assert_string_equal(settings.bond_ports, "");
	strcpy(bond.reading.lowers[0], "ens1f0np0");
	strcpy(bond.reading.lowers[1], "ens1f1np1");
	bond.reading.lower_count = 2;
	counter_settings_fill(&bond, lowers, 2, &settings);
	assert_string_equal(settings.bond_ports, "ens1f0np0 ens1f1np1");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_settings_of_an_rnic_are_those_of_its_reading),
		TEST(settings_that_were_not_read_are_not_known),
		TEST(a_bond_has_the_settings_of_its_ports),
		TEST(
		    a_setting_in_which_the_ports_of_a_bond_differ_is_not_that_of_one_port),
		TEST(a_bond_with_a_port_that_was_not_read_has_unknown_settings),
		TEST(the_network_devices_of_a_bond_are_named),
	};

	return cmocka_run_group_tests_name("counter_settings", tests, NULL, NULL);
}
