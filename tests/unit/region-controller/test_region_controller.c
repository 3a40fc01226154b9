#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "controller_fixture.h"

static void
a_registered_rnic_is_planned_at_once(void **state)
{
	struct fixture *f = *state;

	start_four_racks(f);
	report_four_racks(f);
	LOOPBACK_WAIT(f->loop,
	    /* the plans are there at once, without the wait of NEVER_SETTLES_MS */
	    f->agg.plans == 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(f->agg.members[i], 4);
}

static void
a_change_is_only_sent_to_aggregators_that_need_it(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic;

	/* Two planes: no path leads from tor1 to tor3 or tor4. */
	write_file(f->topology,
	    "region: lab\nplanes: [p, q]\nswitches:\n"
	    "- {name: tor1, role: tor, plane: p}\n- {name: tor2, role: tor, plane: p}\n"
	    "- {name: tor3, role: tor, plane: q}\n- {name: tor4, role: tor, plane: "
	    "q}\n");
	start(f, NEVER_SETTLES_MS);
	agg_serves(&f->agg, "tor1");
	agg_serves(&f->agg, "tor2");
	agg_serves(&f->agg, "tor3");
	agg_serves(&f->agg, "tor4");
	report_four_racks(f);
	LOOPBACK_WAIT(f->loop, f->agg.plans == 4);
	rnic = region_rnic(100, "tor1-h1", "tor1", REGION_V4);
	rnic.addresses[0].bytes[1] = 77;
	agg_register(&f->agg, &rnic);
	LOOPBACK_WAIT(f->loop, f->agg.plans == 6);
	loopback_run(f->loop, 300 * RM_NS_PER_MS);
	assert_int_equal(f->agg.taken[0], 2);
	assert_int_equal(f->agg.taken[1], 2);
	assert_int_equal(f->agg.taken[2], 1);
	assert_int_equal(f->agg.taken[3], 1);
}

static void
a_repeated_registration_sends_nothing(void **state)
{
	struct fixture *f = *state;

	start_four_racks(f);
	report_four_racks(f);
	LOOPBACK_WAIT(f->loop, f->agg.plans == 4);
	report_four_racks(f); /* as after a reconnect */
	loopback_run(f->loop, 500 * RM_NS_PER_MS);
	assert_int_equal(f->agg.plans, 4);
}

static void
a_restart_of_the_controller_sends_nothing(void **state)
{
	struct fixture *f = *state;
	uint64_t versions[4];

	start_four_racks(f);
	report_four_racks(f);
	LOOPBACK_WAIT(f->loop, f->agg.plans == 4);
	for (size_t i = 0; i < 4; i++)
		versions[i] = f->agg.held[i].plan_version;
	stop(f);
	LOOPBACK_WAIT(f->loop, f->agg.closed);
	start(f, NEVER_SETTLES_MS);
	report_four_racks(f);
	loopback_run(f->loop, 600 * RM_NS_PER_MS);
	assert_int_equal(f->agg.plans, 4);

	/* The controller works, and numbers above the versions that it found. */
	agg_register_rack(&f->agg, "tor1", 150, 5);
	LOOPBACK_WAIT(f->loop, f->agg.taken[0] == 2);
	assert_int_equal(f->agg.members[0], 9);
	assert_true(f->agg.held[0].plan_version > versions[0]);
}

static void
a_restart_does_not_shrink_plans_before_all_have_registered(void **state)
{
	struct fixture *f = *state;

	start_four_racks(f);
	agg_hello(f, &f->agg);
	agg_register_rack(&f->agg, "tor1", 100, 4);
	agg_register_rack(&f->agg, "tor2", 200, 4);
	loopback_run(f->loop, 500 * RM_NS_PER_MS);
	assert_int_equal(f->agg.plans, 0);
	agg_register_rack(&f->agg, "tor3", 300, 4);
	agg_register_rack(&f->agg, "tor4", 400, 4);
	LOOPBACK_WAIT(f->loop, f->agg.plans == 4);
}

static void
after_the_settle_time_it_plans_with_the_known_rnics(void **state)
{
	struct fixture *f = *state;

	write_clos(f, 4);
	start(f, 300);
	agg_serves(&f->agg, "tor1");
	agg_serves(&f->agg, "tor2");
	agg_hello(f, &f->agg);
	agg_register_rack(&f->agg, "tor1", 100, 2);
	LOOPBACK_WAIT(f->loop, f->agg.plans == 1);
	assert_int_equal(f->agg.members[0], 2);
	/* No RNIC of the other rack has registered: an aggregator with a plan for that
	 * rack keeps it. */
	assert_int_equal(f->agg.taken[1], 0);
}

static void
both_aggregators_of_a_tor_get_its_plan(void **state)
{
	struct fixture *f = *state;
	struct aggregator other = { .loop = f->loop, .name = "agg2", .region = "lab" };

	start_four_racks(f);
	report_four_racks(f);
	LOOPBACK_WAIT(f->loop, f->agg.plans == 4);
	other.writer = wire_writer_new();
	assert_non_null(other.writer);
	agg_serves(&other, "tor2");
	agg_hello(f, &other);
	LOOPBACK_WAIT(f->loop, other.plans == 1);
	assert_true(other.held[0].plan_digest == f->agg.held[1].plan_digest);
	assert_true(other.held[0].plan_version == f->agg.held[1].plan_version);
	rm_link_free(other.link);
	wire_writer_free(other.writer);
}

static void
an_aggregator_reports_for_its_own_tors_only(void **state)
{
	struct fixture *f = *state;

	write_clos(f, 2);
	start(f, 300);
	agg_serves(&f->agg, "tor1");
	agg_hello(f, &f->agg);
	agg_register_rack(&f->agg, "tor2", 200, 4);
	agg_register_rack(&f->agg, "tor1", 100, 1);
	LOOPBACK_WAIT(f->loop, f->agg.plans == 1);
	loopback_run(f->loop, 300 * RM_NS_PER_MS);
	assert_int_equal(f->agg.members[0], 1);
}

static void
refused_with(struct fixture *f, const char *sentence)
{
	agg_hello(f, &f->agg);
	assert_false(f->agg.welcome);
	assert_string_equal(f->agg.refused, sentence);
	LOOPBACK_WAIT(f->loop, f->agg.closed);
}

static void
an_unknown_peer_is_refused_with_a_reason(void **state)
{
	struct fixture *f = *state;

	write_clos(f, 2);
	start(f, 300);
	f->agg.region = "elsewhere";
	refused_with(f, "the region is not this controller's");
	f->agg.region = "lab";
	f->agg.name = "no name";
	refused_with(f, "the name is not valid");
	f->agg.name = "agg1";
	f->agg.newer = 2;
	refused_with(f, "versions more than one apart do not work together; upgrade "
			"the older side");
}

static void
peers_one_version_apart_work_together(void **state)
{
	struct fixture *f = *state;

	write_clos(f, 2);
	start(f, 300);
	f->agg.newer = 1;
	agg_hello(f, &f->agg);
	assert_true(f->agg.welcome);
}

static void
a_registration_before_a_hello_is_refused(void **state)
{
	struct fixture *f = *state;

	write_clos(f, 2);
	start(f, 300);
	agg_connect(f, &f->agg);
	agg_register_rack(&f->agg, "tor1", 100, 1);
	LOOPBACK_WAIT(f->loop, f->agg.closed);
}

static void
connections_are_bounded(void **state)
{
	struct fixture *f = *state;
	int fds[2];
	char byte;

	write_clos(f, 2);
	start(f, 300);
	for (int i = 0; i < 2; i++)
		fds[i] = loopback_connect(region_controller_port(f->controller));
	loopback_run(f->loop, 50 * RM_NS_PER_MS);
	agg_connect(f, &f->agg);
	LOOPBACK_WAIT(f->loop, f->agg.closed);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(recv(fds[i], &byte, 1, MSG_DONTWAIT), -1);
		assert_int_equal(errno, EAGAIN);
		close(fds[i]);
	}
}

static void
keep_reconnect(enum rm_log_level level, const char *line, void *arg)
{
	if (level == RM_LOG_WARNING && strstr(line, "reconnected") != NULL)
		snprintf(arg, 256, "%s", line);
}

/* Both addresses are in the log, since two aggregators may have the same name. */
static void
a_reconnecting_aggregator_replaces_its_older_session(void **state)
{
	struct fixture *f = *state;
	struct aggregator again = { .loop = f->loop, .name = "agg1", .region = "lab" };
	char line[256] = "";

	write_clos(f, 2);
	start(f, 300);
	agg_serves(&f->agg, "tor1");
	agg_hello(f, &f->agg);
	again.writer = wire_writer_new();
	assert_non_null(again.writer);
	agg_serves(&again, "tor1");
	rm_log_set_sink(keep_reconnect, line);
	agg_hello(f, &again);
	assert_true(again.welcome);
	LOOPBACK_WAIT(f->loop, f->agg.closed);
	assert_non_null(strstr(line, "agg1: reconnected from 127.0.0.1:"));
	assert_non_null(strstr(line, ", closed its older session from 127.0.0.1:"));
	rm_link_free(again.link);
	wire_writer_free(again.writer);
}

static void
a_new_topology_is_planned_and_a_bad_one_changes_nothing(void **state)
{
	struct fixture *f = *state;

	write_clos(f, 2);
	start(f, 300);
	agg_serves(&f->agg, "tor1");
	agg_serves(&f->agg, "tor3");
	agg_hello(f, &f->agg);
	agg_register_rack(&f->agg, "tor1", 100, 4);
	agg_register_rack(&f->agg, "tor3", 300, 4); /* not in the topology yet */
	LOOPBACK_WAIT(f->loop, f->agg.plans == 1);
	write_file(f->topology, "region: lab\nswitches: nonsense\n");
	region_controller_reload(f->controller);
	loopback_run(f->loop, 300 * RM_NS_PER_MS);
	assert_int_equal(f->agg.plans, 1);
	write_clos(f, 3);
	region_controller_reload(f->controller);
	LOOPBACK_WAIT(f->loop, f->agg.taken[1] == 1 && f->agg.taken[0] == 2);
	assert_int_equal(f->agg.members[1], 4);
}

static void
keep_moves(enum rm_log_level level, const char *line, void *arg)
{
	if (level == RM_LOG_WARNING && strstr(line, "was at ToR") != NULL)
		snprintf(arg, 512, "%s", line);
}

/* One aggregator can move an RNIC out of another's rack, so the log names the
 * aggregator. */
static void
a_moved_rnic_is_logged_with_the_reporting_aggregator(void **state)
{
	struct fixture *f = *state;
	struct aggregator other = { .loop = f->loop, .name = "agg2", .region = "lab" };
	struct wire_rnic rnic = region_rnic(100, "tor1-h1", "tor2", REGION_V4);
	char line[512] = "";

	write_clos(f, 2);
	start(f, 300);
	rm_log_set_sink(keep_moves, line);
	agg_serves(&f->agg, "tor1");
	agg_hello(f, &f->agg);
	agg_register_rack(&f->agg, "tor1", 100, 2);
	agg_register_rack(&f->agg, "tor1", 100, 2);
	LOOPBACK_WAIT(f->loop, f->agg.plans == 1);
	assert_string_equal(line, "");
	other.writer = wire_writer_new();
	assert_non_null(other.writer);
	agg_serves(&other, "tor2");
	agg_hello(f, &other);
	rnic.incarnation = 8;
	agg_register(&other, &rnic);
	LOOPBACK_WAIT(f->loop, line[0] != '\0');
	assert_non_null(
	    strstr(line, "agg2: RNIC 00:00:00:00:00:64 of host tor1-h1 moved to "
			 "ToR tor2: it was at ToR tor1, which agg1 reported"));
	rm_link_free(other.link);
	wire_writer_free(other.writer);
}

static void
ask_place(struct fixture *f, struct aggregator *agent, const char *host)
{
	const struct wire_place place = { 78, host };
	struct wire_bytes bytes;

	agent->placed = false;
	agg_send(agent, wire_write_place(agent->writer, &place, &bytes), &bytes);
	LOOPBACK_WAIT(f->loop, agent->placed || agent->closed);
}

static void
an_agent_is_reported_where_its_host_belongs(void **state)
{
	struct fixture *f = *state;

	write_file(f->topology,
	    "region: lab\n"
	    "switches: [{name: tor1, role: tor}, {name: tor2, role: tor}]\n"
	    "racks:\n"
	    "  - tor: tor1\n"
	    "    aggregators: ['agg1.example:7471', '192.0.2.1:7471']\n"
	    "    members: ['gpu*']\n"
	    "  - {tor: tor2, members: ['gpu17/eth[23]'], aggregators: "
	    "['[fd00::2]:7471']}\n");
	start(f, 300);
	f->agg.agent = true;
	f->agg.name = "gpu17";
	agg_hello(f, &f->agg);
	assert_true(f->agg.welcome);
	ask_place(f, &f->agg, "gpu17");
	assert_string_equal(f->agg.place,
	    "->tor1 eth[23]->tor2 tor1:agg1.example:7471 tor1:192.0.2.1:7471 "
	    "tor2:[fd00::2]:7471 ");
	f->agg.name = "cpu1";
	agg_hello(f, &f->agg);
	ask_place(f, &f->agg, "cpu1");
	assert_string_equal(f->agg.place,
	    "no rack of the topology has cpu1 among its members: add it there");
}

static void
an_agent_asks_for_itself_and_nothing_else(void **state)
{
	struct fixture *f = *state;

	write_clos(f, 2);
	start(f, 300);
	f->agg.agent = true;
	f->agg.name = "h1";
	agg_hello(f, &f->agg);
	ask_place(f, &f->agg, "h2");
	assert_true(f->agg.closed);
	agg_hello(f, &f->agg);
	agg_register_rack(&f->agg, "tor1", 100, 1);
	LOOPBACK_WAIT(f->loop, f->agg.closed);
	/* Nor may an aggregator request a place, as agents do. */
	f->agg.agent = false;
	agg_serves(&f->agg, "tor1");
	agg_hello(f, &f->agg);
	assert_true(f->agg.welcome);
	ask_place(f, &f->agg, "h1");
	assert_true(f->agg.closed);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_registered_rnic_is_planned_at_once),
		TEST(a_change_is_only_sent_to_aggregators_that_need_it),
		TEST(a_repeated_registration_sends_nothing),
		TEST(a_restart_of_the_controller_sends_nothing),
		TEST(a_restart_does_not_shrink_plans_before_all_have_registered),
		TEST(after_the_settle_time_it_plans_with_the_known_rnics),
		TEST(both_aggregators_of_a_tor_get_its_plan),
		TEST(an_aggregator_reports_for_its_own_tors_only),
		TEST(an_unknown_peer_is_refused_with_a_reason),
		TEST(peers_one_version_apart_work_together),
		TEST(a_registration_before_a_hello_is_refused),
		TEST(connections_are_bounded),
		TEST(a_reconnecting_aggregator_replaces_its_older_session),
		TEST(a_moved_rnic_is_logged_with_the_reporting_aggregator),
		TEST(an_agent_is_reported_where_its_host_belongs),
		TEST(an_agent_asks_for_itself_and_nothing_else),
		TEST(a_new_topology_is_planned_and_a_bad_one_changes_nothing),
	};

	return cmocka_run_group_tests_name("region_controller", tests, NULL, NULL);
}
