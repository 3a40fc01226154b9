#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tor-aggregator/judge/rack_hosts.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

/* one RNIC each */
#define HOSTS 3

struct table {
	struct rack_member members[HOSTS];
	struct rack_host hosts[HOSTS];
	struct rack_host_memory memories[HOSTS];
	struct rack rack;
	struct window_pair pairs[HOSTS * HOSTS];
	struct window_closed closed;
	bool blamed[HOSTS];
	struct rm_verdict verdicts[HOSTS];
	bool found[HOSTS];
};

static int
setup(void **state)
{
	static struct table table;
	static const char *const names[] = { "h0", "h1", "h2" };

	memset(&table, 0, sizeof table);
	for (size_t i = 0; i < HOSTS; i++) {
		table.members[i] = (struct rack_member){ { 0x020000000000 + i, 0 },
			names[i], "r0", i };
		table.hosts[i] = (struct rack_host){ names[i], HOST_OK };
	}
	table.rack = (struct rack){ .tor = "tor1",
		.members = table.members,
		.member_count = HOSTS,
		.hosts = table.hosts,
		.host_count = HOSTS };
	table.closed.pairs = table.pairs;
	*state = &table;
	return 0;
}

static void
unreachable(struct table *table, size_t host)
{
	table->hosts[host].state = HOST_UNREACHABLE;
	table->hosts[host].silence.ns = 20 * RM_NS_PER_S;
}

/* Hosts in state OK probe all others; a host that is down does not answer. */
static void
probe_all(struct table *table, int down)
{
	table->closed.pair_count = 0;
	for (uint32_t src = 0; src < HOSTS; src++)
		for (uint32_t dst = 0; dst < HOSTS; dst++)
			if (src != dst && table->hosts[src].state == HOST_OK)
				table->pairs[table->closed.pair_count++] =
				    (struct window_pair){ .src = src,
					    .dst = dst,
					    .newest_sent = 5,
					    .newest_lost = (int)dst == down ? 5 : 0 };
}

static size_t
judge(struct table *table, int windows)
{
	size_t found = 0;

	while (windows-- > 0) {
		found = 0;
		rack_hosts_count(
		    &table->rack, &table->closed, table->blamed, table->memories);
		for (size_t i = 0; i < HOSTS; i++) {
			table->found[i] =
			    rack_host_judge(&table->rack, i, (rm_wall_t){ 1 },
				RM_NS_PER_S, &table->memories[i], &table->verdicts[i]);
			found += table->found[i];
		}
	}
	return found;
}

static void
a_host_whose_rnics_do_not_answer_either_is_down(void **state)
{
	struct table *table = *state;

	unreachable(table, 1);
	probe_all(table, 1);
	assert_int_equal(judge(table, 4), 1);
	assert_true(table->found[1]);
	assert_int_equal(table->verdicts[1].kind, RM_KIND_HOST_DOWN);
}

static void
a_host_that_answers_probes_has_lost_its_management_path(void **state)
{
	struct table *table = *state;

	unreachable(table, 1);
	probe_all(table, -1);
	assert_int_equal(judge(table, 6), 1);
	assert_int_equal(table->verdicts[1].kind, RM_KIND_MANAGEMENT_DOWN);
}

static void
when_all_hosts_are_unreachable_the_aggregator_is_cut_off(void **state)
{
	struct table *table = *state;

	for (size_t i = 0; i < HOSTS; i++)
		unreachable(table, i);
	assert_int_equal(judge(table, 100), 0);
}

static void
a_host_that_reconnects_later_than_others_is_not_named(void **state)
{
	struct table *table = *state;

	for (size_t i = 0; i < HOSTS; i++)
		unreachable(table, i);
	judge(table, 20);
	table->hosts[0].state = HOST_OK;
	probe_all(table, -1);
	assert_int_equal(judge(table, 60), 0);
}

static void
a_host_that_died_during_a_cut_is_named_by_its_silence(void **state)
{
	struct table *table = *state;

	for (size_t i = 0; i < HOSTS; i++)
		unreachable(table, i);
	judge(table, 20);
	table->hosts[0].state = table->hosts[1].state = HOST_OK;
	probe_all(table, 2);
	assert_int_equal(judge(table, 4), 1);
	assert_true(table->found[2]);
	assert_int_equal(table->verdicts[2].kind, RM_KIND_HOST_DOWN);
}

static void
a_single_unprobed_host_is_suspected_in_the_end(void **state)
{
	struct table *table = *state;

	table->rack.host_count = 1;
	table->rack.member_count = 1;
	unreachable(table, 0);
	table->hosts[1].state = table->hosts[2].state = HOST_OK;
	rack_hosts_count(&table->rack, &table->closed, table->blamed, table->memories);
	assert_false(rack_host_judge(&table->rack, 0, (rm_wall_t){ 1 }, RM_NS_PER_S,
	    &table->memories[0], &table->verdicts[0]));
	for (int i = 0; i < 8; i++) {
		rack_hosts_count(
		    &table->rack, &table->closed, table->blamed, table->memories);
		table->found[0] = rack_host_judge(&table->rack, 0, (rm_wall_t){ 1 },
		    RM_NS_PER_S, &table->memories[0], &table->verdicts[0]);
	}
	assert_true(table->found[0]);
	assert_true(table->verdicts[0].confidence <= 0.5);
}

static void
stands_still(struct table *table, size_t host)
{
	table->hosts[host].state = HOST_STALLED;
	table->hosts[host].silence = (struct host_silence){ .ns = RM_NS_PER_S,
		.stops = 5,
		.recent_stops = 5,
		.stopped_ns = 6500 * RM_NS_PER_MS,
		.stops_ns = 8200 * RM_NS_PER_MS };
}

static void
an_agent_that_is_mostly_stopped_is_reported_as_frozen(void **state)
{
	struct table *table = *state;

	stands_still(table, 1);
	assert_int_equal(judge(table, 8), 1);
	assert_true(table->found[1]);
	assert_int_equal(table->verdicts[1].kind, RM_KIND_AGENT_FROZEN);
	assert_int_equal(table->verdicts[1].part.type, RM_PART_AGENT);
	assert_string_equal(table->verdicts[1].evidence.observed,
	    "it stopped 5 times in the last 8.2 s, for longer than a second each "
	    "and 6.5 s in all");
	/* It stays one incident if the agent runs for a whole window in between. */
	table->hosts[1].state = HOST_OK;
	assert_int_equal(judge(table, 1), 1);
	table->hosts[1].silence.stops = 0;
	assert_int_equal(judge(table, 1), 0);
}

/* One agent is reported as stalled before the others. */
static void
when_most_agents_stand_still_none_of_them_is_frozen(void **state)
{
	struct table *table = *state;

	for (size_t i = 0; i < HOSTS; i++) {
		stands_still(table, i);
		assert_int_equal(judge(table, 7), 0);
	}
	assert_int_equal(judge(table, 100), 0);
	/* The stall has ended; the host that stalled longest stays in that state
	 * longest. */
	for (size_t i = 1; i < HOSTS; i++) {
		table->hosts[i].state = HOST_OK;
		table->hosts[i].silence.stops = 0;
	}
	assert_int_equal(judge(table, 100), 0);
	for (size_t i = 1; i < HOSTS; i++)
		table->hosts[i].silence.recent_stops = 1;
	assert_int_equal(judge(table, 8), 1);
	assert_true(table->found[0]);
}

/* Two of four hosts are down, and the other two are stalled. */
static void
hosts_that_are_down_do_not_count_as_running_agents(void **state)
{
	struct table *table = *state;

	for (size_t i = 0; i < HOSTS; i++)
		if (i < HOSTS / 2)
			stands_still(table, i);
		else
			table->hosts[i].state = HOST_UNKNOWN;
	assert_int_equal(judge(table, 100), 0);
}

#define TEST(fn) cmocka_unit_test_setup(fn, setup)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_host_whose_rnics_do_not_answer_either_is_down),
		TEST(a_host_that_answers_probes_has_lost_its_management_path),
		TEST(when_all_hosts_are_unreachable_the_aggregator_is_cut_off),
		TEST(a_host_that_reconnects_later_than_others_is_not_named),
		TEST(a_host_that_died_during_a_cut_is_named_by_its_silence),
		TEST(a_single_unprobed_host_is_suspected_in_the_end),
		TEST(an_agent_that_is_mostly_stopped_is_reported_as_frozen),
		TEST(when_most_agents_stand_still_none_of_them_is_frozen),
		TEST(hosts_that_are_down_do_not_count_as_running_agents),
	};

	return cmocka_run_group_tests_name("rack_hosts", tests, NULL, NULL);
}
