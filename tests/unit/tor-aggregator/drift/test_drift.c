#include "tor-aggregator/drift/drift.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/core/error.h"
#include "tor-aggregator/drift/drift_groups.h"

/* Only this option of the aggregator's config. */
struct config {
	struct rm_list expected;
};

static const struct rm_option options[] = { DRIFT_OPTION(struct config, expected),
	{ 0 } };

struct world {
	struct drift *drift;
	struct drift_groups *groups;
	struct rm_error error;
};

static int
read_groups(struct world *w, const char *text)
{
	struct drift_groups *groups = NULL;
	struct config config = { 0 };
	int r;

	r = rm_config_parse(options, "test", text, strlen(text), &config, &w->error);
	if (r < 0)
		return r;
	r = drift_groups_check(&config.expected, "test", &w->error);
	if (r == 0)
		r = drift_groups_new(&config.expected, &groups);
	rm_config_clear(options, &config);
	if (r < 0)
		return r;
	drift_groups_free(w->groups);
	w->groups = groups;
	return 0;
}

static void
expects(struct world *w, const char *text)
{
	if (read_groups(w, text) < 0)
		fail_msg("%s", w->error.text);
}

static struct wire_rnic
rnic_of(const char *host, const char *device, uint64_t guid)
{
	return (struct wire_rnic){ .id = { guid, 1 }, .host = host, .device = device };
}

/* Reports an RNIC with this MTU; 0: the MTU could not be read. */
static int
report(struct world *w, const struct wire_rnic *rnic, uint32_t mtu, int64_t now)
{
	const struct wire_settings settings = {
		.known = mtu == 0 ? 0 : 1 << WIRE_SETTING_MTU,
		.numbers = { [WIRE_SETTING_MTU] = mtu },
		.firmware = "",
	};

	return drift_report(w->drift, w->groups, rnic, &settings, (rm_wall_t){ now });
}

static const struct drift_rnic *
only(const struct world *w)
{
	assert_int_equal(drift_count(w->drift), 1);
	return drift_get(w->drift, 0);
}

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	if (w == NULL || drift_new(&w->drift) < 0)
		return -1;
	expects(w, "expected: [{ rnics: [\"*\"], mtu_bytes: 9000 }]");
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	drift_free(w->drift);
	drift_groups_free(w->groups);
	free(w);
	return 0;
}

static void
ports_of_a_switch_are_compared_only_with_groups_of_ports(void **state)
{
	const struct wire_settings settings = {
		.known = 1 << WIRE_SETTING_MTU | 1 << WIRE_SETTING_PFC,
		.numbers = { [WIRE_SETTING_MTU] = 9100, [WIRE_SETTING_PFC] = 1 << 3 },
		.firmware = "",
	};
	struct world *w = *state;
	const struct wire_rnic host = rnic_of("tor1", "Ethernet0", 7);
	const struct drift_rnic *port;
	struct drift_sums sums;

	/* "*" are RNICs, and a host has the name of the switch. */
	expects(w, "expected:\n"
		   "- { rnics: [\"*\"], mtu_bytes: 9000 }\n"
		   "- { ports: [\"tor*/Ethernet[0-9]\"], pfc: \"3,4\", fec: rs }\n");
	assert_int_equal(drift_report_port(w->drift, w->groups, "tor1", "Ethernet48",
			     &settings, (rm_wall_t){ 1 }),
	    0);
	assert_int_equal(drift_count(w->drift), 0); /* nothing is expected of it */
	assert_int_equal(drift_report_port(w->drift, w->groups, "tor1", "Ethernet0",
			     &settings, (rm_wall_t){ 1 }),
	    0);
	port = only(w);
	assert_true(port->is_port && port->there);
	assert_int_equal(port->states[WIRE_SETTING_PFC], DRIFT_DIFFERENT);
	assert_int_equal(port->states[WIRE_SETTING_FEC], DRIFT_UNKNOWN);
	assert_int_equal(port->states[WIRE_SETTING_MTU], DRIFT_UNDECLARED);
	assert_int_equal(report(w, &host, 9000, 1), 0);
	assert_int_equal(drift_count(w->drift), 2);
	drift_report_again(w->drift, "tor1");
	sums = drift_sums(w->drift);
	assert_int_equal(sums.rnics, 0);
	assert_int_equal(sums.ports, 1);
	assert_int_equal(sums.ports_different, 1);

	drift_ports_again(w->drift, "tor1");
	assert_int_equal(drift_sums(w->drift).ports, 0);
	expects(w, "expected: [{ ports: [tor1], mtu_bytes: 9100 }]");
	assert_int_equal(drift_report_port(w->drift, w->groups, "tor1", "Ethernet0",
			     &settings, (rm_wall_t){ 2 }),
	    0);
	assert_int_equal(drift_get(w->drift, 0)->states[WIRE_SETTING_MTU], DRIFT_SAME);
	assert_int_equal(
	    drift_report_port(w->drift, w->groups, "tor1", "", NULL, (rm_wall_t){ 2 }),
	    -EINVAL);
	assert_int_equal(read_groups(w, "expected: [{ mtu_bytes: 9100 }]"), -EINVAL);
	assert_int_equal(
	    read_groups(w, "expected: [{ ports: [a/b/c/], pfc: 3 }]"), -EINVAL);
}

static void
the_first_group_that_declares_a_setting_counts(void **state)
{
	struct world *w = *state;
	struct drift_settings of;

	expects(w, "expected:\n"
		   "- { rnics: [gpu1/eth0, \"odd*\"], mtu_bytes: 1500 }\n"
		   "- { rnics: [\"gpu[1-4]/eth*\"], mtu_bytes: 9000, speed_gbps: 400,"
		   " pfc: 3, traffic_class: 106, trust: pcp,"
		   " fec: rs, gid_types: v2, dscp: \"26:3\" }\n"
		   "- { rnics: [\"*\"], pfc: none, firmware: \"28.*\" }\n");
	assert_int_equal(drift_groups_count(w->groups), 3);
	drift_groups_find(w->groups, false, "gpu1", "eth0", &of);
	assert_int_equal(of.numbers[WIRE_SETTING_MTU], 1500);
	assert_int_equal(of.numbers[WIRE_SETTING_SPEED], 400000);
	assert_int_equal(of.numbers[WIRE_SETTING_PFC], 1 << 3);
	assert_int_equal(of.numbers[WIRE_SETTING_TRAFFIC_CLASS], 106);
	assert_true(of.known & 1 << WIRE_SETTING_TRUST);
	assert_int_equal(of.numbers[WIRE_SETTING_TRUST], WIRE_TRUST_PCP);
	assert_int_equal(of.numbers[WIRE_SETTING_FEC], WIRE_FEC_RS);
	assert_int_equal(of.numbers[WIRE_SETTING_GID_TYPES], WIRE_GID_ROCE_V2);
	assert_int_equal(of.dscps[26], 3);
	assert_string_equal(of.firmware, "28.*");
	drift_groups_find(w->groups, false, "gpu1", "ib0", &of);
	assert_int_equal(of.known, 1 << WIRE_SETTING_PFC | 1 << WIRE_SETTING_FIRMWARE);
	assert_int_equal(of.numbers[WIRE_SETTING_PFC], 0);
	drift_groups_find(w->groups, false, "odd7", "eth5", &of);
	assert_int_equal(of.numbers[WIRE_SETTING_MTU], 1500);
	expects(w, "expected: []");
	drift_groups_find(w->groups, false, "gpu1", "eth0", &of);
	assert_int_equal(of.known, 0);
}

static void
a_group_that_makes_no_sense_is_refused_by_its_place(void **state)
{
	static const struct {
		const char *text, *reports;
	} wrong[] = {
		{ "expected: [{ mtu_bytes: 9000 }]", "rnics" },
		{ "expected: [{ rnics: [\"a b\"] }]", "expected[0].rnics[0]" },
		{ "expected: [{ rnics: [a, b/] }]", "expected[0].rnics[1]" },
		{ "expected: [{ rnics: [a], pfc: 9 }]", "expected[0].pfc" },
		{ "expected: [{ rnics: [a], traffic_class: 300 }]",
		    "expected[0].traffic_class" },
		{ "expected: [{ rnics: [a], dscp: \"26\" }]", "expected[0].dscp" },
		{ "expected: [{ rnics: [a], fec: yes }]", "fec" },
		{ "expected: [{ rnics: [a], trust: vlan }]", "trust" },
		{ "expected: [{ rnics: [a], roce_mtu_bytes: 4000 }]",
		    "expected[0].roce_mtu_bytes" },
		{ "expected: [{ rnics: [a] }, { rnics: [a], firmware: \"a/b\" }]",
		    "expected[1].firmware" },
		{ "expected: [{ rnics: [a], mtu: 9000 }]", "mtu" },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_true(read_groups(w, wrong[i].text) < 0);
		assert_non_null(strstr(w->error.text, wrong[i].reports));
	}
}

static void
a_difference_has_its_start_time(void **state)
{
	const struct wire_rnic rnic = rnic_of("h1", "eth0", 1);
	struct world *w = *state;

	assert_int_equal(report(w, &rnic, 9000, 10), 0);
	assert_int_equal(only(w)->states[WIRE_SETTING_MTU], DRIFT_SAME);
	assert_int_equal(report(w, &rnic, 1500, 20), 0);
	assert_int_equal(report(w, &rnic, 1400, 30), 0);
	assert_int_equal(only(w)->states[WIRE_SETTING_MTU], DRIFT_DIFFERENT);
	assert_int_equal(only(w)->since[WIRE_SETTING_MTU].ns, 20);
	assert_int_equal(report(w, &rnic, 0, 40), 0);
	assert_int_equal(only(w)->states[WIRE_SETTING_MTU], DRIFT_UNKNOWN);
	assert_int_equal(report(w, &rnic, 9000, 50), 0);
	assert_int_equal(only(w)->states[WIRE_SETTING_MTU], DRIFT_SAME);
	assert_int_equal(only(w)->since[WIRE_SETTING_MTU].ns, 50);
}

static void
an_agent_too_old_to_report_leaves_all_unknown(void **state)
{
	const struct wire_rnic rnic = rnic_of("h1", "eth0", 1);
	struct world *w = *state;

	assert_int_equal(
	    drift_report(w->drift, w->groups, &rnic, NULL, (rm_wall_t){ 1 }), 0);
	assert_int_equal(only(w)->states[WIRE_SETTING_MTU], DRIFT_UNKNOWN);
	assert_int_equal(only(w)->states[WIRE_SETTING_SPEED], DRIFT_UNDECLARED);
	assert_int_equal(drift_sums(w->drift).states[DRIFT_UNKNOWN], 1);
	assert_int_equal(drift_sums(w->drift).rnics_different, 0);
}

static void
a_reconnected_agent_keeps_the_start_times_of_differences(void **state)
{
	const struct wire_rnic rnic = rnic_of("h1", "eth0", 1);
	struct world *w = *state;

	assert_int_equal(report(w, &rnic, 1500, 10), 0);
	assert_int_equal(drift_sums(w->drift).rnics_different, 1);
	drift_report_again(w->drift, "h1"); /* h1 has no RNICs any more */
	assert_false(only(w)->there);
	assert_int_equal(drift_sums(w->drift).rnics, 0);
	assert_int_equal(drift_sums(w->drift).rnics_different, 0);
	assert_int_equal(report(w, &rnic, 1500, 99), 0);
	assert_int_equal(only(w)->since[WIRE_SETTING_MTU].ns, 10);
	assert_int_equal(drift_sums(w->drift).rnics_different, 1);
}

/* A new agent registers before it has read the settings: all are unknown for a moment.
 */
static void
a_difference_that_was_unknown_meanwhile_keeps_its_start_time(void **state)
{
	const struct wire_rnic rnic = rnic_of("h1", "eth0", 1);
	struct world *w = *state;

	assert_int_equal(report(w, &rnic, 1500, 10), 0);
	drift_report_again(w->drift, "h1");
	assert_int_equal(report(w, &rnic, 0, 20), 0);
	assert_int_equal(only(w)->states[WIRE_SETTING_MTU], DRIFT_UNKNOWN);
	assert_int_equal(only(w)->since[WIRE_SETTING_MTU].ns, 20);
	assert_int_equal(report(w, &rnic, 0, 30), 0);
	assert_int_equal(report(w, &rnic, 1500, 40), 0);
	assert_int_equal(only(w)->states[WIRE_SETTING_MTU], DRIFT_DIFFERENT);
	assert_int_equal(only(w)->since[WIRE_SETTING_MTU].ns, 10);

	assert_int_equal(report(w, &rnic, 9000, 50), 0);
	assert_int_equal(report(w, &rnic, 1500, 60), 0); /* a new difference */
	assert_int_equal(only(w)->since[WIRE_SETTING_MTU].ns, 60);
}

/* A new agent registers before it has found its RNICs. */
static void
a_host_that_reports_of_no_rnic_for_a_while_has_its_differences_since_before(
    void **state)
{
	const struct wire_rnic first = rnic_of("h1", "eth0", 1);
	const struct wire_rnic second = rnic_of("h1", "eth1", 2);
	struct world *w = *state;

	assert_int_equal(report(w, &first, 1500, 10), 0);
	assert_int_equal(report(w, &second, 1500, 11), 0);
	drift_report_again(w->drift, "h1"); /* the agent stops */
	drift_report_again(w->drift, "h1"); /* it is back, but has found no RNIC yet */
	assert_int_equal(drift_sums(w->drift).rnics, 0);
	drift_report_again(w->drift, "h1");
	assert_int_equal(report(w, &second, 1500, 20), 0);
	assert_int_equal(
	    drift_sums(w->drift).rnics, 1); /* the first RNIC is not counted */
	assert_false(drift_get(w->drift, 0)->there);
	assert_int_equal(drift_get(w->drift, 1)->since[WIRE_SETTING_MTU].ns, 11);
	assert_int_equal(report(w, &first, 1500, 30), 0);
	assert_int_equal(drift_get(w->drift, 0)->since[WIRE_SETTING_MTU].ns, 10);
	assert_int_equal(drift_sums(w->drift).rnics_different, 2);
}

static void
a_changed_expectation_applies_at_once(void **state)
{
	const struct wire_rnic rnic = rnic_of("h1", "eth0", 1);
	struct world *w = *state;

	assert_int_equal(report(w, &rnic, 1500, 10), 0);
	expects(w, "expected: [{ rnics: [h1], mtu_bytes: 1500 }]");
	drift_regroup(w->drift, w->groups, (rm_wall_t){ 20 });
	assert_int_equal(only(w)->states[WIRE_SETTING_MTU], DRIFT_SAME);
	assert_int_equal(only(w)->since[WIRE_SETTING_MTU].ns, 20);
	expects(w, "expected: [{ rnics: [h2], mtu_bytes: 1500 }]");
	drift_regroup(w->drift, w->groups, (rm_wall_t){ 30 });
	assert_int_equal(only(w)->states[WIRE_SETTING_MTU], DRIFT_UNDECLARED);
}

static void
more_rnics_than_a_rack_has_are_refused_and_counted(void **state)
{
	struct wire_rnic rnic = rnic_of("h1", "eth0", 0);
	struct world *w = *state;

	for (; rnic.id.guid < DRIFT_MAX_RNICS; rnic.id.guid++)
		assert_int_equal(report(w, &rnic, 9000, 1), 0);
	rnic.host = "h2";
	assert_int_equal(report(w, &rnic, 9000, 1), -ENOSPC);
	assert_int_equal(*drift_refused(w->drift), 1);
	drift_report_again(
	    w->drift, "h1"); /* the RNICs of h1 are gone, which makes room */
	assert_int_equal(report(w, &rnic, 9000, 1), 0);
	assert_int_equal(drift_count(w->drift), DRIFT_MAX_RNICS);
	rnic.host = "a b";
	assert_int_equal(report(w, &rnic, 9000, 1), -EINVAL);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ports_of_a_switch_are_compared_only_with_groups_of_ports),
		TEST(the_first_group_that_declares_a_setting_counts),
		TEST(a_group_that_makes_no_sense_is_refused_by_its_place),
		TEST(a_difference_has_its_start_time),
		TEST(an_agent_too_old_to_report_leaves_all_unknown),
		TEST(a_reconnected_agent_keeps_the_start_times_of_differences),
		TEST(a_difference_that_was_unknown_meanwhile_keeps_its_start_time),
		TEST(
		    a_host_that_reports_of_no_rnic_for_a_while_has_its_differences_since_before),
		TEST(a_changed_expectation_applies_at_once),
		TEST(more_rnics_than_a_rack_has_are_refused_and_counted),
	};

	return cmocka_run_group_tests_name("drift", tests, NULL, NULL);
}
