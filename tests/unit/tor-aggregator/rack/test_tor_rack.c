#include "tor-aggregator/rack/tor_rack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/rack_fixture.h"
#include "tor-aggregator/mesh/rack_mesh.h"
#include "tor-aggregator/window/roster.h"
#include "tor-aggregator/window/window.h"

#define MS RM_NS_PER_MS
#define NO_MEMBER SIZE_MAX

/* One tick of 50 ms: every member probes every other member and the witnesses twice,
 * and probes sent a time-out ago become results; `dead` neither sends nor receives.
 * Takes in the results, but does not judge. */
static void
probe_without_judging(struct rack_fixture *f, size_t members, size_t dead)
{
	struct wire_result results[2 * FIXTURE_MAX];

	f->now.ns += 50 * MS;
	for (size_t src = 0; src < members; src++) {
		size_t count = 0;

		for (size_t dst = 0; dst < members; dst++) {
			bool lost = src == dead || dst == dead;

			if (dst != src)
				results[count++] = fixture_result(f, src, 0x100 + dst,
				    500 * MS, lost ? WIRE_NO_REPLY : WIRE_OK);
		}
		for (size_t x = 0; x < 2; x++)
			results[count++] = fixture_result(f, src, FIXTURE_REMOTE + x,
			    500 * MS, src == dead ? WIRE_NO_REPLY : WIRE_OK);
		assert_int_equal(
		    fixture_batch(f, src, ++f->seq[src], results, count), 0);
	}
}

static void
probe(struct rack_fixture *f, size_t members, size_t dead)
{
	probe_without_judging(f, members, dead);
	fixture_tick(f);
}

static void
run(struct rack_fixture *f, size_t members, size_t dead, int64_t ns)
{
	for (int64_t t = 0; t < ns; t += 50 * MS)
		probe(f, members, dead);
}

static void
finish(struct rack_fixture *f)
{
	assert_true(fixture_conserves(&tor_rack_counts(f->rack)->raw));
	assert_int_equal(f->ingest.counts.raw.late, 0);
	assert_int_equal(f->ingest.counts.raw.invalid, 0);
	fixture_rack_free(f);
}

static void
one_dead_rnic_is_found_named_and_resolved(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);

	run(f, 4, NO_MEMBER, 6 * RM_NS_PER_S);
	assert_int_equal(f->opened, 0);
	assert_int_equal(tor_rack_member(f->rack, 2).health, RM_HEALTH_GOOD);
	run(f, 4, 2, 3 * RM_NS_PER_S);
	assert_int_equal(f->opened, 1);
	assert_string_equal(f->last_part, "h2/r0");
	assert_int_equal(f->last_kind, RM_KIND_RNIC_DOWN);
	assert_true(f->last_samples > 0);
	assert_int_equal(f->last_late_ns, 0);
	assert_int_equal(tor_rack_member(f->rack, 2).health, RM_HEALTH_BAD);
	run(f, 4, NO_MEMBER, 5 * RM_NS_PER_S);
	assert_int_equal(f->resolved, 1);
	assert_int_equal(f->opened, 1);
	finish(f);
}

/* One tick in which all probes are answered; round trips to and from `late` take 400
 * ms. */
static void
probe_late(struct rack_fixture *f, size_t members, size_t late)
{
	struct wire_result results[FIXTURE_MAX];

	f->now.ns += 50 * MS;
	for (size_t src = 0; src < members; src++) {
		size_t count = 0;

		for (size_t dst = 0; dst < members; dst++) {
			if (dst == src)
				continue;
			results[count] =
			    fixture_result(f, src, 0x100 + dst, 500 * MS, WIRE_OK);
			if (src == late || dst == late)
				results[count].rtt_ns = 400 * MS;
			count++;
		}
		assert_int_equal(
		    fixture_batch(f, src, ++f->seq[src], results, count), 0);
	}
	fixture_tick(f);
}

static void
a_late_rnic_is_shown_by_probes_that_took_long(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);

	run(f, 4, NO_MEMBER, 6 * RM_NS_PER_S);
	for (int i = 0; i < 60; i++)
		probe_late(f, 4, 2);
	assert_int_equal(f->opened, 1);
	assert_string_equal(f->last_part, "h2/r0");
	assert_int_equal(f->last_kind, RM_KIND_RNIC_LATE);
	assert_int_equal(f->last_evidence.peers, 3);
	assert_true(f->last_evidence.ruled_out_count > 0);
	assert_int_equal(f->last_samples, RM_EVIDENCE_SAMPLES);
	for (size_t i = 0; i < f->last_samples; i++) {
		const struct rm_evidence_sample *sample = &f->last_evidence.samples[i];

		assert_string_equal(sample->outcome, "ok, 400 ms");
		assert_true(strcmp(sample->from, "h2/r0") == 0 ||
			    strcmp(sample->to, "h2/r0") == 0);
	}
	finish(f);
}

static void
a_late_judgement_reports_its_delay(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);

	run(f, 4, NO_MEMBER, 6 * RM_NS_PER_S);
	for (int64_t t = 0; t < 4 * RM_NS_PER_S; t += 50 * MS)
		probe_without_judging(f, 4, 2);
	run(f, 4, 2, 50 * MS);
	assert_int_equal(f->opened, 1);
	assert_string_equal(f->last_part, "h2/r0");
	/* Four seconds of results are judged at once; the first of them would have been
	 * enough. */
	assert_in_range(f->last_late_ns, 1500 * MS, 3 * RM_NS_PER_S);
	finish(f);
}

/* 20 ticks a second; in each a member sends one probe to every other member and two to
 * witnesses. */
static void
traffic_counts_every_second_once(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);
	struct tor_rack_traffic before, after;
	struct wire_rack_state rack;

	assert_int_equal(tor_rack_traffic(f->rack, 1).probed.ns, 0);
	run(f, 4, NO_MEMBER, 6 * RM_NS_PER_S);
	before = tor_rack_traffic(f->rack, 1);
	assert_int_equal(before.lost, 0);
	run(f, 4, 2, 10 * RM_NS_PER_S);
	after = tor_rack_traffic(f->rack, 1);
	assert_int_equal(after.sent - before.sent, 10 * 20 * 5);
	assert_int_equal(after.to_sent - before.to_sent, 10 * 20 * 3);
	assert_in_range(after.lost, 9 * 20, 10 * 20);
	assert_int_equal(after.to_lost, after.lost);
	after = tor_rack_traffic(f->rack, 2);
	assert_in_range(after.lost, 9 * 20 * 5, 10 * 20 * 5);
	assert_in_range(after.to_lost, 9 * 20 * 3, 10 * 20 * 3);
	assert_in_range(f->now.ns - after.probed.ns, 1, 2 * RM_NS_PER_S);
	rack = tor_rack_state(f->rack);
	assert_int_equal(rack.rnics, 4);
	assert_int_equal(rack.rnics_bad, 1);
	assert_int_equal(rack.hosts_ok, 4);
	finish(f);
}

/* Losses before the dead member is named do count. */
static void
losses_to_a_dead_member_do_not_count_for_its_peers(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);
	struct tor_rack_traffic before, after;

	run(f, 4, NO_MEMBER, 6 * RM_NS_PER_S);
	before = tor_rack_traffic(f->rack, 1);
	assert_int_equal(before.sound_sent, before.sent + before.to_sent);
	run(f, 4, 2, 3 * RM_NS_PER_S);
	before = tor_rack_traffic(f->rack, 1);
	run(f, 4, 2, 10 * RM_NS_PER_S);
	after = tor_rack_traffic(f->rack, 1);
	assert_int_equal(after.sound_sent - before.sound_sent, 10 * 20 * (4 + 2));
	assert_int_equal(after.sound_lost, before.sound_lost);
	assert_true(after.lost > before.lost);
	assert_true(tor_rack_traffic(f->rack, 2).sound_lost > 9 * 20 * 3);
	finish(f);
}

static void
large_probes_are_counted_apart(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);
	struct tor_rack_traffic traffic;

	run(f, 4, NO_MEMBER, 6 * RM_NS_PER_S);
	traffic = tor_rack_traffic(f->rack, 1);
	assert_true(traffic.sound_sent > 0);
	assert_int_equal(traffic.sound_large_sent, 0);
	f->size_bytes = 4096;
	run(f, 4, 2, 10 * RM_NS_PER_S);
	traffic = tor_rack_traffic(f->rack, 1);
	assert_in_range(traffic.sound_large_sent, 7 * 20 * (4 + 2), 10 * 20 * (5 + 3));
	traffic = tor_rack_traffic(f->rack, 2);
	assert_in_range(traffic.sound_large_lost, 7 * 20 * 3, 10 * 20 * (5 + 3));
	assert_true(traffic.sound_large_lost <= traffic.sound_lost);
	finish(f);
}

static void
the_mesh_shows_which_pairs_lose(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);
	struct mesh_row row;
	size_t at = 0, rows = 0;

	run(f, 4, 2, 3 * RM_NS_PER_S);
	while (rack_mesh_next(tor_rack_pair_mesh(f->rack), MESH_MINUTE, &at, &row)) {
		const bool dead = row.src == 2 || row.dst == 2;

		rows++;
		assert_int_equal(row.counts[MESH_SENT], 3 * 20);
		assert_int_equal(row.counts[MESH_OK], dead ? 0 : 3 * 20);
		assert_int_equal(row.counts[MESH_NO_REPLY], dead ? 3 * 20 : 0);
	}
	assert_int_equal(rows, 4 * 3);
	assert_int_equal(*rack_mesh_refused(tor_rack_pair_mesh(f->rack)), 0);
	finish(f);
}

static void
a_certificate_that_ends_soon_is_an_incident_until_another_is_seen(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);

	run(f, 4, NO_MEMBER, 6 * RM_NS_PER_S);
	tor_rack_certificate(f->rack, 2, FIXTURE_WALL / RM_NS_PER_S + 3600);
	run(f, 4, NO_MEMBER, 6 * RM_NS_PER_S);
	assert_int_equal(f->opened, 1);
	assert_int_equal(f->resolved, 0);
	assert_string_equal(f->last_part, "h2");
	assert_int_equal(f->last_kind, RM_KIND_CERTIFICATE_ENDING);
	assert_int_equal(tor_rack_member(f->rack, 2).health, RM_HEALTH_GOOD);
	tor_rack_certificate(f->rack, 2, 0);
	run(f, 4, NO_MEMBER, 5 * RM_NS_PER_S);
	assert_int_equal(f->resolved, 1);
	assert_int_equal(f->opened, 1);
	finish(f);
}

/* The agent of member 2 registers with this state of the link. */
static void
report_link(struct rack_fixture *f, enum wire_link link)
{
	f->plan->members[2].link = (uint8_t)link;
	assert_int_equal(tor_rack_register(f->rack, &f->plan->members[2], f->now), 0);
}

static void
a_port_reported_down_by_its_agent_needs_no_window(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);

	run(f, 4, NO_MEMBER, 6 * RM_NS_PER_S);
	report_link(f, WIRE_LINK_UP);
	run(f, 4, NO_MEMBER, 1 * RM_NS_PER_S);
	assert_int_equal(f->opened, 0);
	report_link(f, WIRE_LINK_DOWN);
	run(f, 4, NO_MEMBER, 600 * MS); /* before any loss is known */
	assert_int_equal(f->opened, 1);
	assert_string_equal(f->last_part, "h2/r0");
	assert_int_equal(f->last_kind, RM_KIND_RNIC_DOWN);
	run(f, 4, 2, 3 * RM_NS_PER_S);
	report_link(f, WIRE_LINK_UP);
	run(f, 4, NO_MEMBER, 5 * RM_NS_PER_S);
	assert_int_equal(f->opened, 1);
	assert_int_equal(f->resolved, 1);
	finish(f);
}

static void
a_ports_state_ends_with_its_agent_though_the_host_is_paused(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);

	run(f, 4, NO_MEMBER, 6 * RM_NS_PER_S);
	report_link(f, WIRE_LINK_DOWN);
	tor_rack_leave(f->rack, "h2");
	f->states[2] = HOST_PAUSED;
	run(f, 4, 2, 3 * RM_NS_PER_S);
	assert_int_equal(f->opened, 0);
	/* The link is up again. */
	report_link(f, WIRE_LINK_DOWN);
	run(f, 4, 2, 600 * MS);
	assert_int_equal(f->opened, 1);
	/* The link goes down again, and the agent disconnects. */
	tor_rack_leave(f->rack, "h2");
	run(f, 4, 2, 600 * MS);
	assert_int_equal(tor_rack_member(f->rack, 2).health, RM_HEALTH_UNKNOWN);
	finish(f);
}

static void
in_a_rack_of_two_the_witnesses_report(void **state)
{
	struct rack_fixture *f = fixture_rack(2, 2);

	run(f, 2, NO_MEMBER, 6 * RM_NS_PER_S);
	run(f, 2, 1, 3 * RM_NS_PER_S);
	assert_int_equal(f->opened, 1);
	assert_string_equal(f->last_part, "h1/r0");
	finish(f);
}

static void
a_stalled_host_blames_no_rnic(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);

	run(f, 4, NO_MEMBER, 6 * RM_NS_PER_S);
	f->states[2] = HOST_STALLED;
	run(f, 4, 2, 3 * RM_NS_PER_S);
	assert_int_equal(f->opened, 0);
	finish(f);
}

static void
losses_are_focused_at_five_times_the_rate(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);

	run(f, 4, NO_MEMBER, 6 * RM_NS_PER_S);
	assert_int_equal(f->focuses, 0);
	run(f, 4, 2, 1 * RM_NS_PER_S);
	assert_true(f->focuses >= 6);
	assert_true(
	    f->last_focus.interval_us == 20000 || /* between members: usually 100 ms */
	    f->last_focus.interval_us == 10000);  /* to witnesses: usually 50 ms */
	assert_int_equal(f->last_focus.duration_ms, 2000);
	finish(f);
}

static void
summaries_add_up_to_what_was_windowed(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);

	run(f, 4, NO_MEMBER, 12 * RM_NS_PER_S);
	assert_int_equal(f->summary_lost, 0);
	assert_int_equal(f->summary_bad_rows, 0);
	run(f, 4, 2, 3 * RM_NS_PER_S);
	assert_true(
	    f->summary_bad_rows > 0); /* bad rows are sent at once, not after 10 s */
	run(f, 4, NO_MEMBER, 10 * RM_NS_PER_S);
	/* Results since the last summary, which is at most an interval old, are
	 * missing. */
	assert_true(f->summary_sent <= f->ingest.counts.raw.windowed);
	assert_true(f->summary_sent >= f->ingest.counts.raw.windowed - 10 * 20 * 4 * 5);
	/* In 60 ticks 3 members probe the dead one, which probes the 3 and 2 remote
	 * ones. */
	assert_int_equal(f->summary_lost, 60 * 8);
	finish(f);
}

static void
windows_of_an_own_start_or_stall_are_partial(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);
	uint64_t partial;

	for (size_t i = 0; i < 4; i++)
		f->states[i] = HOST_UNKNOWN;
	run(f, 4, NO_MEMBER, 2 * RM_NS_PER_S);
	assert_true(tor_rack_counts(f->rack)->partial > 0);
	memset(f->states, 0, sizeof(f->states));
	run(f, 4, NO_MEMBER, 4 * RM_NS_PER_S);
	partial = tor_rack_counts(f->rack)->partial;
	run(f, 4, NO_MEMBER, 2 * RM_NS_PER_S);
	assert_int_equal(tor_rack_counts(f->rack)->partial, partial);
	tor_rack_stalled(f->rack, TOR_RACK_MOMENT_NS, f->now);
	run(f, 4, NO_MEMBER, 2 * RM_NS_PER_S);
	assert_int_equal(tor_rack_counts(f->rack)->partial, partial);
	tor_rack_stalled(f->rack, TOR_RACK_MOMENT_NS + 1, f->now);
	run(f, 4, NO_MEMBER, 2 * RM_NS_PER_S);
	assert_true(tor_rack_counts(f->rack)->partial > partial);
	assert_int_equal(f->opened, 0);
	finish(f);
}

static void
services_are_reported_with_every_summary_of_all_rows(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);

	f->now.ns += 30 * MS;
	run(f, 4, NO_MEMBER,
	    12 * RM_NS_PER_S); /* a tick 30 ms after the rows are due */
	f->now.ns += 20 * MS;
	run(f, 4, NO_MEMBER, 12 * RM_NS_PER_S); /* a tick exactly when they are due */
	assert_int_equal(f->services_reported, 2);
	assert_int_equal(f->services_apart, 0);
	finish(f);
}

static void
results_to_racks_without_a_number_are_counted_apart(void **state)
{
	struct rack_fixture *f = fixture_rack(2, 1);
	const struct roster *roster = tor_rack_roster(f->rack);
	const struct roster_rnic *dst = NULL;
	struct wire_result result;

	(void)state;
	for (uint64_t i = 0; i < ROSTER_MAX_TORS; i++) {
		char tor[RM_NAME_BYTES];
		struct wire_rnic rnic;

		snprintf(tor, sizeof(tor), "far%d", (int)i);
		rnic = fixture_rnic(0x900000 + i, "x", tor);
		assert_int_equal(tor_rack_learn(f->rack, &rnic, f->now), 0);
		dst = roster_find(roster, rnic.id);
		assert_non_null(dst);
		result = fixture_result(f, 0, rnic.id.guid, 0, WIRE_NO_REPLY);
		assert_int_equal(
		    tor_rack_result(f->rack, f->now, &result, 0, dst), WINDOW_COUNTED);
	}
	/* t1, t2 and 1,021 of these 1,024 ToRs have a number of their own. */
	assert_int_equal(tor_rack_counts(f->rack)->without_tor, 3);
	fixture_rack_free(f);
}

static void
a_member_taken_out_of_the_plan_ends_its_incident(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);

	run(f, 4, NO_MEMBER, 6 * RM_NS_PER_S);
	run(f, 4, 3, 3 * RM_NS_PER_S);
	assert_int_equal(f->opened, 1);
	tor_rack_leave(f->rack, "h3");
	fixture_plan(f->plan, 2, 3, 2);
	tor_rack_plan(f->rack, &f->plan->view, f->now);
	for (size_t i = 0; i < 4; i++)
		agent_place(f->agent[i], &f->rack, 1);
	assert_int_equal(tor_rack_counts(f->rack)->renumbered, 1);
	run(f, 3, NO_MEMBER, 6 * RM_NS_PER_S);
	assert_int_equal(f->resolved, 1);
	finish(f);
}

/* The host's agent still runs, and registers the RNIC. */
static void
a_member_that_no_plan_names_ends_its_incident_though_registered(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);

	run(f, 4, NO_MEMBER, 6 * RM_NS_PER_S);
	run(f, 4, 3, 3 * RM_NS_PER_S);
	assert_int_equal(f->opened, 1);
	fixture_plan(f->plan, 2, 3, 2);
	tor_rack_plan(f->rack, &f->plan->view, f->now);
	assert_int_equal(roster_members(tor_rack_roster(f->rack)), 4);
	run(f, 3, NO_MEMBER, 6 * RM_NS_PER_S);
	assert_int_equal(f->resolved, 1);
	finish(f);
}

static void
a_flapping_member_that_no_plan_names_ends_its_incident_soon(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);

	run(f, 4, NO_MEMBER, 6 * RM_NS_PER_S);
	for (int i = 0; i < 3; i++) {
		run(f, 4, 3, 3 * RM_NS_PER_S);
		run(f, 4, NO_MEMBER, 12 * RM_NS_PER_S);
	}
	assert_int_equal(f->opened, 3);
	assert_int_equal(f->resolved, 2);
	fixture_plan(f->plan, 2, 3, 2);
	tor_rack_plan(f->rack, &f->plan->view, f->now);
	run(f, 3, NO_MEMBER, 3 * RM_NS_PER_S);
	assert_int_equal(f->resolved, 3);
	finish(f);
}

static void
a_host_that_no_plan_names_may_disappear(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);

	run(f, 4, NO_MEMBER, 6 * RM_NS_PER_S);
	fixture_plan(f->plan, 2, 3, 2);
	tor_rack_plan(f->rack, &f->plan->view, f->now);
	tor_rack_leave(f->rack, "h3");
	f->states[3] = HOST_AGENT_DOWN;
	run(f, 3, NO_MEMBER, 6 * RM_NS_PER_S);
	assert_int_equal(f->opened, 0);
	finish(f);
}

/* Answered probes are forgotten, but lost probes of the same time become results later.
 */
static void
windows_that_a_new_numbering_cuts_are_partial(void **state)
{
	struct rack_fixture *f = fixture_rack(4, 2);
	uint64_t partial;

	run(f, 4, NO_MEMBER, 6 * RM_NS_PER_S);
	partial = tor_rack_counts(f->rack)->partial;
	tor_rack_leave(f->rack, "h3");
	fixture_plan(f->plan, 2, 3, 2);
	tor_rack_plan(f->rack, &f->plan->view, f->now);
	for (size_t i = 0; i < 4; i++)
		agent_place(f->agent[i], &f->rack, 1);
	run(f, 3, NO_MEMBER, 3 * RM_NS_PER_S);
	assert_true(tor_rack_counts(f->rack)->partial > partial);
	assert_true(tor_rack_counts(f->rack)->partial <= partial + 12);
	finish(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_dead_rnic_is_found_named_and_resolved),
		cmocka_unit_test(losses_to_a_dead_member_do_not_count_for_its_peers),
		cmocka_unit_test(large_probes_are_counted_apart),
		cmocka_unit_test(the_mesh_shows_which_pairs_lose),
		cmocka_unit_test(a_late_rnic_is_shown_by_probes_that_took_long),
		cmocka_unit_test(a_late_judgement_reports_its_delay),
		cmocka_unit_test(traffic_counts_every_second_once),
		cmocka_unit_test(
		    a_certificate_that_ends_soon_is_an_incident_until_another_is_seen),
		cmocka_unit_test(a_port_reported_down_by_its_agent_needs_no_window),
		cmocka_unit_test(
		    a_ports_state_ends_with_its_agent_though_the_host_is_paused),
		cmocka_unit_test(in_a_rack_of_two_the_witnesses_report),
		cmocka_unit_test(a_stalled_host_blames_no_rnic),
		cmocka_unit_test(losses_are_focused_at_five_times_the_rate),
		cmocka_unit_test(services_are_reported_with_every_summary_of_all_rows),
		cmocka_unit_test(results_to_racks_without_a_number_are_counted_apart),
		cmocka_unit_test(summaries_add_up_to_what_was_windowed),
		cmocka_unit_test(windows_of_an_own_start_or_stall_are_partial),
		cmocka_unit_test(a_member_taken_out_of_the_plan_ends_its_incident),
		cmocka_unit_test(
		    a_member_that_no_plan_names_ends_its_incident_though_registered),
		cmocka_unit_test(
		    a_flapping_member_that_no_plan_names_ends_its_incident_soon),
		cmocka_unit_test(a_host_that_no_plan_names_may_disappear),
		cmocka_unit_test(windows_that_a_new_numbering_cuts_are_partial),
	};

	return cmocka_run_group_tests_name("tor_rack", tests, NULL, NULL);
}
