#include "tor-aggregator/tor_aggregator_neighbors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/plan_fixture.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/switch/switch_collector.h"
#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/switch/switch_neighbor.h"
#include "tor-aggregator/tor_aggregator_state.h"
#include "tor-aggregator/window/roster.h"

#define MAC(last) (0x54a274cc7f00 + (last))

static struct tor_aggregator aggregator;
static struct roster *roster;
static struct switch_list *list;
static struct agent agent; /* of host gpu1, if its name is set */

const struct roster *__wrap_tor_rack_roster(const struct tor_rack *rack);
struct switch_collector_shown __wrap_switch_collector_shown(
    const struct switch_collector *device);

const struct roster *
__wrap_tor_rack_roster(const struct tor_rack *rack)
{
	(void)rack;
	return roster;
}

struct switch_collector_shown
__wrap_switch_collector_shown(const struct switch_collector *device)
{
	(void)device;
	return (struct switch_collector_shown){ .list = list };
}

struct agent *__wrap_agents_find(const struct agents *agents, const char *host);

struct agent *
__wrap_agents_find(const struct agents *agents, const char *host)
{
	(void)agents;
	return strcmp(host, agent.host) == 0 ? &agent : NULL;
}

static int
setup(void **state)
{
	(void)state;
	aggregator.rack_count = 1;
	aggregator.read_switch_count = 1;
	aggregator.read_switches[0] =
	    (struct read_switch){ .name = "t1", .system_name = "" };
	aggregator.agents =
	    (struct agents *)&agent; /* only a wrapped function reads it */
	agent = (struct agent){ .host = "" };
	list = NULL;
	return roster_new("t1", &roster);
}

static int
teardown(void **state)
{
	(void)state;
	switch_list_free(list);
	roster_free(roster);
	return 0;
}

static void
rnic(uint64_t guid, const char *host, const char *device)
{
	struct wire_rnic rnic = fixture_rnic(guid, host, "t1");

	rnic.device = device;
	assert_int_equal(roster_register(roster, &rnic), 0);
}

/* The neighbour as "rnic HOST/DEVICE", "host HOST", "switch NUMBER", or only its kind.
 */
static const char *
is_behind(const struct switch_neighbor *lldp)
{
	static char text[160];
	const struct neighbor found =
	    tor_aggregator_neighbor(&aggregator, 0, lldp, NULL);

	if (found.kind == NEIGHBOR_SWITCH)
		snprintf(text, sizeof(text), "switch %zu", found.at);
	else if (found.kind == NEIGHBOR_NOT_KNOWN)
		snprintf(text, sizeof(text), "not known");
	else
		snprintf(text, sizeof(text), "%s %s%s%s", neighbor_kind_str(found.kind),
		    found.rnic->host, found.kind == NEIGHBOR_RNIC ? "/" : "",
		    found.kind == NEIGHBOR_RNIC ? found.rnic->device : "");
	return text;
}

static const char *
behind(const char *name, const char *port, const char *description)
{
	struct switch_neighbor neighbor = { .name = "" };

	snprintf(neighbor.name, sizeof(neighbor.name), "%s", name);
	snprintf(neighbor.port, sizeof(neighbor.port), "%s", port);
	snprintf(neighbor.description, sizeof(neighbor.description), "%s", description);
	return is_behind(&neighbor);
}

/* The switch has a port with each of these neighbours. */
static void
fill_list(const struct switch_neighbor *cables, size_t count)
{
	uint64_t forgotten;

	list = switch_list_new();
	assert_non_null(list);
	for (unsigned i = 0; i < count; i++) {
		struct switch_object port = { .part = SWITCH_PORT };

		snprintf(port.port, sizeof(port.port), "Ethernet%u", i);
		snprintf(port.id, sizeof(port.id), "%u", i);
		assert_int_equal(switch_list_add(list, &port), 0);
	}
	assert_int_equal(switch_list_close(list, NULL, &forgotten), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(switch_list_set_neighbor(list, i, &cables[i]), 0);
}

static void
another_nic_of_the_host_is_not_its_only_rnic(void **state)
{
	(void)state;
	rnic(MAC(1), "gpu1", "mlx5_0");
	assert_string_equal(behind("gpu1", "", ""), "rnic gpu1/mlx5_0");
	assert_string_equal(behind("gpu1.lab", "7", ""), "rnic gpu1/mlx5_0");
	assert_string_equal(behind("gpu1", "mlx5_0", ""), "rnic gpu1/mlx5_0");
	assert_string_equal(
	    behind("gpu1", "54:a2:74:cc:7f:01", "ens1"), "rnic gpu1/mlx5_0");
	assert_string_equal(behind("", "54a2.74cc.7f01", ""), "rnic gpu1/mlx5_0");
	assert_string_equal(behind("gpu1", "54:a2:74:cc:7f:02", "ens2"), "host gpu1");
	assert_string_equal(behind("gpu1", "ens2", ""), "host gpu1");
	assert_string_equal(behind("gpu2", "ens2", ""), "not known");

	rnic(MAC(3), "gpu1", "mlx5_1");
	assert_string_equal(behind("gpu1", "", ""), "host gpu1");
	assert_string_equal(behind("gpu1", "mlx5_1", ""), "rnic gpu1/mlx5_1");
	assert_string_equal(
	    behind("gpu1", "54:a2:74:cc:7f:01", ""), "rnic gpu1/mlx5_0");
}

static void
all_cables_of_a_bond_lead_to_its_rnic(void **state)
{
	static const struct switch_neighbor cables[] = {
		/* of the first port the MAC is known, and both have names */
		{ "gpu1", "54:a2:74:cc:7f:01", "ens1f0np0" },
		{ "gpu1", "54:a2:74:cc:7f:02", "ens1f1np1" },
		{ "gpu1", "54:a2:74:cc:7f:09", "eno1" }, /* another NIC */
		{ "gpu2", "54:a2:74:cc:7f:02", "ens1f1np1" },
	};
	static const char *const expected[] = { "rnic gpu1/bond0", "rnic gpu1/bond0",
		"host gpu1", "not known" };

	(void)state;
	rnic(MAC(1), "gpu1", "bond0");
	strcpy(agent.host, "gpu1");
	agent.rnic_count = 1;
	agent.rnics[0] = (struct agent_rnic){ .id = { MAC(1), 1 },
		.bond_ports = "ens1f0np0 ens1f1np1" };
	fill_list(cables, sizeof(cables) / sizeof(cables[0]));
	for (size_t i = 0; i < sizeof(cables) / sizeof(cables[0]); i++)
		assert_string_equal(
		    is_behind(switch_list_neighbor(list, i)), expected[i]);
	/* The same port of the bond at two ports of the switch: one is outdated. */
	assert_string_equal(behind("gpu1", "ens1f1np1", ""), "host gpu1");
	strcpy(agent.rnics[0].bond_ports, "");
	assert_string_equal(is_behind(switch_list_neighbor(list, 1)), "host gpu1");
}

static void
of_two_ports_that_claim_an_rnic_the_naming_one_has_it(void **state)
{
	static const struct switch_neighbor cables[] = {
		{ "gpu1", "", "" },
		{ "gpu1", "mlx5_0", "" }, /* the second row names the device */
		{ "gpu2", "", "" },
		{ "gpu2", "1", "" }, /* neither row names a device */
		{ "gpu3", "mlx5_0", "" },
		{ "gpu3", "mlx5_0", "" }, /* both rows name the device */
		{ "gpu4", "", "" }, { "gpu4", "ens9", "" }, /* an unknown device */
	};
	static const char *const expected[] = { "host gpu1", "rnic gpu1/mlx5_0",
		"host gpu2", "host gpu2", "host gpu3", "host gpu3", "rnic gpu4/mlx5_0",
		"host gpu4" };
	const size_t count = sizeof(cables) / sizeof(cables[0]);

	(void)state;
	rnic(MAC(1), "gpu1", "mlx5_0");
	rnic(MAC(2), "gpu2", "mlx5_0");
	rnic(MAC(3), "gpu3", "mlx5_0");
	rnic(MAC(4), "gpu4", "mlx5_0");
	fill_list(cables, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(
		    is_behind(switch_list_neighbor(list, i)), expected[i]);
}

static void
a_name_that_several_have_is_not_known(void **state)
{
	(void)state;
	rnic(MAC(1), "gpu1.a", "mlx5_0");
	rnic(MAC(2), "gpu1.b", "mlx5_0");
	rnic(MAC(3), "gpu2.a", "mlx5_0");
	rnic(MAC(4), "gpu2", "mlx5_0");
	assert_string_equal(behind("gpu1", "", ""), "not known");
	assert_string_equal(behind("gpu1", "mlx5_0", ""), "not known");
	assert_string_equal(behind("gpu1.a", "", ""), "rnic gpu1.a/mlx5_0");
	assert_string_equal(
	    behind("gpu1", "54:a2:74:cc:7f:02", ""), "rnic gpu1.b/mlx5_0");
	assert_string_equal(behind("gpu2", "", ""), "rnic gpu2/mlx5_0");

	aggregator.read_switches[1] =
	    (struct read_switch){ .name = "spine1.dc-a", .system_name = "" };
	aggregator.read_switches[2] =
	    (struct read_switch){ .name = "s", .system_name = "spine1.dc-b" };
	aggregator.read_switch_count = 3;
	assert_string_equal(behind("spine1", "Eth1/1", ""), "not known");
	assert_string_equal(behind("spine1.dc-b", "Eth1/1", ""), "switch 2");
	aggregator.read_switches[2].system_name = "Spine1";
	assert_string_equal(behind("spine1", "Eth1/1", ""), "switch 2");
	aggregator.read_switch_count = 2;
	assert_string_equal(behind("spine1", "Eth1/1", ""), "switch 1");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* ---- RNICs at the ToRs of other aggregators ---- */

#define REMOTES 2000
#define PORTS 64
#define SWITCHES 4

static struct neighbors_elsewhere elsewhere;

/* The last remote RNICs of the roster are behind the switches, one at each port. */
static int
setup_elsewhere(void **state)
{
	static char names[SWITCHES][8];

	assert_int_equal(setup(state), 0);
	for (unsigned i = 0; i < REMOTES; i++) {
		const unsigned left = REMOTES - 1 - i;
		char host[16], tor[16];
		struct wire_rnic rnic;

		snprintf(host, sizeof(host), "h%u", left);
		snprintf(tor, sizeof(tor), "s%u", left / PORTS);
		rnic = fixture_rnic(0x5000 + i, host, tor);
		assert_true(roster_learn(roster, &rnic, (rm_mono_t){ 1 }) >= 0);
	}
	for (size_t i = 0; i < SWITCHES; i++) {
		snprintf(names[i], sizeof(names[i]), "s%zu", i);
		aggregator.read_switches[i] = (struct read_switch){ .name = names[i],
			.system_name = "",
			.role = SWITCH_ROLE_TOR,
			.rack = SIZE_MAX };
	}
	aggregator.read_switch_count = SWITCHES;
	elsewhere = (struct neighbors_elsewhere){ .budget = NEIGHBORS_BUDGET };
	return 0;
}

static struct neighbor
find(size_t at, const char *host)
{
	struct switch_neighbor lldp = { .port = "r0" };

	snprintf(lldp.name, sizeof(lldp.name), "%s", host);
	return tor_aggregator_neighbor(&aggregator, at, &lldp, &elsewhere);
}

static void
rnics_of_other_tors_do_not_replace_those_of_this_one(void **state)
{
	(void)state;
	for (size_t at = 0; at < SWITCHES; at++)
		for (size_t port = 0; port < PORTS; port++) {
			char host[16];
			struct neighbor found;

			snprintf(host, sizeof(host), "h%zu", at * PORTS + port);
			found = find(at, host);
			assert_int_equal(found.kind, NEIGHBOR_RNIC);
			assert_string_equal(found.rnic->host, host);
		}
	assert_int_equal(find(0, "h70").kind,
	    NEIGHBOR_NOT_KNOWN); /* the host is at a port of another switch */
	/* The RNICs of each switch are collected once; then only those are compared. */
	assert_true(NEIGHBORS_BUDGET - elsewhere.budget <=
		    (SWITCHES + 1) * REMOTES + (SWITCHES * PORTS + 1) * PORTS);
}

static void
an_rnic_that_two_plans_name_is_one(void **state)
{
	const struct switch_neighbor lldp = { "h100", "", "" };
	struct neighbor found;

	(void)state;
	aggregator.rack_count = 2;
	found = tor_aggregator_neighbor(&aggregator, 1, &lldp, &elsewhere);
	assert_int_equal(found.kind, NEIGHBOR_RNIC);
	assert_string_equal(found.rnic->host, "h100");
}

static void
a_neighbour_not_found_in_a_cut_search_is_left_out(void **state)
{
	(void)state;
	elsewhere.budget = REMOTES - 1;
	assert_int_equal(find(0, "h0").kind, NEIGHBOR_LEFT_OUT);
	elsewhere = (struct neighbors_elsewhere){ .budget = REMOTES + PORTS };
	assert_int_equal(find(0, "h0").kind, NEIGHBOR_RNIC);
	assert_int_equal(find(0, "h1").kind, NEIGHBOR_LEFT_OUT);
}

#define TEST_ELSEWHERE(f) cmocka_unit_test_setup_teardown(f, setup_elsewhere, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(another_nic_of_the_host_is_not_its_only_rnic),
		TEST(of_two_ports_that_claim_an_rnic_the_naming_one_has_it),
		TEST(all_cables_of_a_bond_lead_to_its_rnic),
		TEST(a_name_that_several_have_is_not_known),
		TEST_ELSEWHERE(rnics_of_other_tors_do_not_replace_those_of_this_one),
		TEST_ELSEWHERE(an_rnic_that_two_plans_name_is_one),
		TEST_ELSEWHERE(a_neighbour_not_found_in_a_cut_search_is_left_out),
	};

	return cmocka_run_group_tests_name("neighbors", tests, NULL, NULL);
}
