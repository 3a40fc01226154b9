#include "analyzer/blind/blind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define S RM_NS_PER_S

static const struct blind_options options = { 3 * S, 15 * S, 86400 * S };
static const struct wire_rack_state fine = {
	.rnics = 8, .rnics_good = 8, .hosts = 4, .hosts_ok = 4
};
static const struct wire_rack_state empty = { .rnics = 8, .hosts = 4 };
static const char *const tors[] = { "tor1", "tor2", "tor3" };

static rm_mono_t
at(double s)
{
	return (rm_mono_t){ (int64_t)(s * 1e9) };
}

/* One region of three aggregators with one rack each; tor3 has a second aggregator. */
static struct blind *
new_blind(void)
{
	struct blind *blind;

	assert_int_equal(blind_new(&options, at(0), &blind), 0);
	blind_connected(blind, "r1", "a1", &tors[0], 1, at(1));
	blind_connected(blind, "r1", "a2", &tors[1], 1, at(1));
	blind_connected(blind, "r1", "a3", &tors[2], 1, at(1));
	return blind;
}

static void
receive(struct blind *blind, const char *aggregator, const char *tor, double s)
{
	blind_rack(blind, "r1", aggregator, tor, &fine, 0, at(s));
}

static void
receive_all(struct blind *blind, double s)
{
	receive(blind, "a1", "tor1", s);
	receive(blind, "a2", "tor2", s);
	receive(blind, "a3", "tor3", s);
}

static int
judge(struct blind *blind, double s, const struct rm_verdict **ret)
{
	return blind_judge(blind, at(s), (rm_wall_t){ (int64_t)(s * 1e9) + S }, ret);
}

static void
silence_before_the_start_of_the_analyzer_does_not_count(void **state)
{
	const struct rm_verdict *v;
	struct blind *blind = new_blind();

	assert_int_equal(judge(blind, 14, &v), 0);
	assert_int_equal(judge(blind, 16, &v), 1);
	assert_int_equal(v[0].kind, RM_KIND_REGION_BLIND);
	blind_free(blind);
}

static void
a_removed_aggregator_ends_its_incident(void **state)
{
	const struct rm_verdict *v;
	struct blind *blind = new_blind();
	struct rm_verdict rack = { .part = { .type = RM_PART_RACK, .name = "tor1" } };
	struct rm_verdict silent = { .part = {
					 .type = RM_PART_AGGREGATOR, .name = "a1" } };

	receive_all(blind, 16);
	blind_disconnected(blind, "r1", "a1", at(16));
	for (double day = 1; day <= 2; day++) {
		receive(blind, "a2", "tor2", day * 86400);
		receive(blind, "a3", "tor3", day * 86400);
		judge(blind, day * 86400, &v);
		assert_int_equal(blind_health(blind, &silent, at(day * 86400)),
		    day == 1 ? RM_HEALTH_UNKNOWN : RM_HEALTH_GOOD);
		assert_int_equal(blind_health(blind, &rack, at(day * 86400)),
		    day == 1 ? RM_HEALTH_UNKNOWN : RM_HEALTH_GOOD);
	}
	blind_free(blind);
	/* An analyzer that has just started does not know all aggregators yet. */
	assert_int_equal(blind_new(&options, at(0), &blind), 0);
	assert_int_equal(blind_health(blind, &silent, at(14)), RM_HEALTH_UNKNOWN);
	assert_int_equal(blind_health(blind, &rack, at(14)), RM_HEALTH_UNKNOWN);
	blind_free(blind);
}

static void
a_restart_within_the_grace_time_opens_no_incident(void **state)
{
	const struct rm_verdict *v;
	struct blind *blind = new_blind();

	receive_all(blind, 20);
	blind_disconnected(blind, "r1", "a1", at(20));
	receive(blind, "a2", "tor2", 22.5);
	receive(blind, "a3", "tor3", 22.5);
	assert_int_equal(judge(blind, 22.5, &v), 0);
	blind_connected(blind, "r1", "a1", &tors[0], 1, at(22.8));
	receive_all(blind, 23.5);
	assert_int_equal(judge(blind, 24, &v), 0);
	blind_free(blind);
}

static void
a_silent_aggregator_is_one_alert_that_lists_its_racks(void **state)
{
	const struct rm_verdict *v;
	struct rm_verdict down;
	struct blind *blind = new_blind();

	receive_all(blind, 20);
	blind_disconnected(blind, "r1", "a1", at(20));
	receive(blind, "a2", "tor2", 24);
	receive(blind, "a3", "tor3", 24);
	assert_int_equal(judge(blind, 24, &v), 1);
	assert_int_equal(v[0].kind, RM_KIND_AGGREGATOR_DOWN);
	assert_string_equal(v[0].part.name, "a1");
	assert_non_null(strstr(v[0].evidence.observed, "1: tor1"));
	down = v[0];
	assert_false(blind_rack_is_seen(blind, "r1", "tor1", at(24)));
	assert_true(blind_rack_is_seen(blind, "r1", "tor2", at(24)));
	assert_int_equal(blind_health(blind, &down, at(24)), RM_HEALTH_UNKNOWN);
	blind_connected(blind, "r1", "a1", &tors[0], 1, at(25));
	receive_all(blind, 25);
	assert_int_equal(judge(blind, 25, &v), 0);
	assert_int_equal(blind_health(blind, &down, at(25)), RM_HEALTH_GOOD);
	blind_free(blind);
}

static void
aggregators_of_a_lost_region_are_not_named_one_by_one(void **state)
{
	const struct rm_verdict *v;
	struct blind *blind = new_blind();

	receive_all(blind, 20);
	receive(blind, "a2", "tor2", 20.3);
	receive(blind, "a3", "tor3", 20.5);
	assert_int_equal(judge(blind, 23.2, &v), 0);
	assert_int_equal(judge(blind, 23.4, &v), 0);
	assert_int_equal(judge(blind, 23.6, &v), 1);
	assert_int_equal(v[0].kind, RM_KIND_REGION_BLIND);
	/* One of two aggregators comes back, and the other does not. */
	receive(blind, "a2", "tor2", 24);
	assert_int_equal(judge(blind, 24, &v), 2);
	assert_int_equal(v[0].kind, RM_KIND_AGGREGATOR_DOWN);
	blind_free(blind);
}

static void
a_connected_but_silent_aggregator_is_down(void **state)
{
	const struct rm_verdict *v;
	struct blind *blind = new_blind();

	receive_all(blind, 20);
	receive(blind, "a2", "tor2", 24);
	receive(blind, "a3", "tor3", 24);
	assert_int_equal(judge(blind, 24, &v), 1);
	assert_non_null(strstr(v[0].evidence.observed, "connected, but"));
	blind_free(blind);
}

static void
a_rack_with_a_second_aggregator_is_not_blind(void **state)
{
	const struct rm_verdict *v;
	struct blind *blind = new_blind();

	blind_connected(blind, "r1", "b1", &tors[0], 1, at(19));
	receive_all(blind, 20);
	blind_disconnected(blind, "r1", "a1", at(20));
	receive(blind, "b1", "tor1", 24);
	receive(blind, "a2", "tor2", 24);
	receive(blind, "a3", "tor3", 24);
	assert_int_equal(judge(blind, 24, &v), 1);
	assert_non_null(
	    strstr(v[0].evidence.observed, "no aggregator monitors now: 0"));
	assert_true(blind_rack_is_seen(blind, "r1", "tor1", at(24)));
	blind_free(blind);
}

static void
agents_have_time_to_reconnect_to_a_restarted_aggregator(void **state)
{
	struct rm_verdict rack = { .part = { .type = RM_PART_RACK, .name = "tor1" } };
	const struct rm_verdict *v;
	struct blind *blind = new_blind();

	receive_all(blind, 20);
	blind_disconnected(blind, "r1", "a1", at(21));
	blind_connected(blind, "r1", "a1", &tors[0], 1, at(22));
	assert_int_equal(blind_health(blind, &rack, at(22)), RM_HEALTH_UNKNOWN);
	for (int s = 25; s < 37; s++) {
		receive(blind, "a2", "tor2", s);
		receive(blind, "a3", "tor3", s);
		blind_rack(blind, "r1", "a1", "tor1", &empty, 0, at(s));
		assert_int_equal(judge(blind, s, &v), 0);
		assert_int_equal(blind_health(blind, &rack, at(s)), RM_HEALTH_UNKNOWN);
	}
	receive(blind, "a2", "tor2", 37);
	receive(blind, "a3", "tor3", 37);
	blind_seen(blind, "r1", "a1", at(37));
	assert_int_equal(judge(blind, 37, &v), 1); /* no aggregator comes back */
	blind_free(blind);
}

static void
a_rack_that_was_reported_not_to_probe_is_not_blind(void **state)
{
	const struct wire_rack_state paused = {
		.rnics = 8, .hosts = 4, .hosts_paused = 3
	};
	const struct rm_verdict *v;
	struct blind *blind = new_blind();

	for (int s = 20; s < 25; s++) {
		receive_all(blind, s);
		blind_rack(blind, "r1", "a1", "tor1", &paused, 0, at(s));
		assert_int_equal(judge(blind, s, &v), 0);
	}
	/* The connection alone does not show that the aggregator's agents are back. */
	for (int s = 25; s < 29; s++) {
		receive(blind, "a2", "tor2", s);
		receive(blind, "a3", "tor3", s);
		blind_rack(blind, "r1", "a1", "tor1", &empty, 0, at(s));
	}
	assert_int_equal(judge(blind, 28, &v), 1);
	assert_int_equal(v[0].kind, RM_KIND_RACK_BLIND);
	blind_free(blind);
}

static void
a_rack_whose_agents_are_all_gone_is_blind(void **state)
{
	const struct rm_verdict *v;
	struct rm_verdict rack;
	struct blind *blind = new_blind();

	receive_all(blind, 20);
	blind_rack(blind, "r1", "a1", "tor1", &empty, 0, at(21));
	receive(blind, "a2", "tor2", 21);
	receive(blind, "a3", "tor3", 21);
	assert_int_equal(
	    judge(blind, 21, &v), 0); /* one summary without hosts may be chance */
	blind_rack(blind, "r1", "a1", "tor1", &empty, 0, at(22));
	receive(blind, "a2", "tor2", 24);
	receive(blind, "a3", "tor3", 24);
	blind_seen(blind, "r1", "a1", at(23.9));
	assert_int_equal(judge(blind, 23.9, &v), 0);
	assert_int_equal(judge(blind, 24, &v), 1);
	assert_int_equal(v[0].kind, RM_KIND_RACK_BLIND);
	assert_string_equal(v[0].part.name, "tor1");
	rack = v[0];
	/* When the aggregator is gone as well, the alert is on the aggregator. The rack
	 * stays blind. */
	receive(blind, "a2", "tor2", 28);
	receive(blind, "a3", "tor3", 28);
	assert_int_equal(judge(blind, 28, &v), 1);
	assert_int_equal(v[0].kind, RM_KIND_AGGREGATOR_DOWN);
	assert_int_equal(blind_health(blind, &rack, at(28)), RM_HEALTH_UNKNOWN);
	receive_all(blind, 29);
	assert_int_equal(blind_health(blind, &rack, at(29)), RM_HEALTH_GOOD);
	blind_free(blind);
}

/* tor1 has two aggregators: a1 is active, b1 is standby. */
static struct blind *
new_pair(void)
{
	static const struct blind_options pair = { 3 * S, 15 * S, 86400 * S, 10 * S };
	struct blind *blind;

	assert_int_equal(blind_new(&pair, at(0), &blind), 0);
	blind_connected(blind, "r1", "a1", &tors[0], 1, at(1));
	blind_connected(blind, "r1", "b1", &tors[0], 1, at(1));
	return blind;
}

static void
the_loss_of_one_aggregator_of_two_is_one_alert_and_no_blind_rack(void **state)
{
	const struct rm_verdict *v;
	struct blind *blind = new_pair();

	for (int s = 2; s < 20; s++) {
		receive(blind, "a1", "tor1", s);
		blind_seen(blind, "r1", "b1", at(s));
	}
	assert_int_equal(
	    judge(blind, 20, &v), 0); /* b1 reports nothing, but is connected */
	for (int s = 20; s < 26; s++)
		blind_seen(blind, "r1", "b1", at(s));
	assert_int_equal(judge(blind, 25.5, &v), 1);
	assert_int_equal(v[0].kind, RM_KIND_AGGREGATOR_DOWN);
	assert_string_equal(v[0].part.name, "a1");
	assert_non_null(
	    strstr(v[0].evidence.observed, "no aggregator monitors now: 0"));
	assert_true(blind_rack_is_seen(blind, "r1", "tor1", at(25.5)));
	blind_free(blind);
}

static void
the_aggregator_with_the_latest_report_decides_whether_the_rack_is_blind(void **state)
{
	const struct rm_verdict *v;
	struct rm_verdict rack;
	struct blind *blind = new_pair();

	receive(blind, "a1", "tor1", 19);
	for (int s = 20; s < 60; s++) {
		/* From here on b1 is active and has no hosts; the last summary of a1
		 * becomes old. */
		blind_rack(blind, "r1", "b1", "tor1", &empty, 0, at(s));
		blind_seen(blind, "r1", "a1", at(s));
		if (s == 45)
			assert_int_equal(judge(blind, s, &v), 0);
	}
	assert_int_equal(judge(blind, 60, &v), 1);
	assert_int_equal(v[0].kind, RM_KIND_RACK_BLIND);
	assert_non_null(strstr(v[0].evidence.observed, "aggregator b1"));
	rack = v[0];
	assert_int_equal(blind_health(blind, &rack, at(60)), RM_HEALTH_UNKNOWN);
	receive(blind, "b1", "tor1", 61);
	blind_seen(blind, "r1", "a1", at(61));
	assert_int_equal(judge(blind, 61, &v), 0);
	assert_int_equal(blind_health(blind, &rack, at(61)), RM_HEALTH_GOOD);
	blind_free(blind);
}

static void
the_state_of_a_rack_expires_by_its_aggregators_interval(void **state)
{
	const struct rm_verdict *v;
	struct blind *blind = new_pair();

	blind_row_interval(blind, "r1", "a1", 20 * S);
	receive(blind, "a1", "tor1", 19);
	for (int s = 20; s < 90; s++) {
		blind_rack(blind, "r1", "b1", "tor1", &empty, 0, at(s));
		blind_seen(blind, "r1", "a1", at(s));
		if (s == 79)
			assert_int_equal(judge(blind, s, &v), 0);
	}
	assert_int_equal(judge(blind, 89, &v), 1);
	assert_int_equal(v[0].kind, RM_KIND_RACK_BLIND);
	/* A longer row interval that is reported later holds for earlier summaries,
	 * too. */
	blind_row_interval(blind, "r1", "a1", 30 * S);
	assert_int_equal(judge(blind, 89, &v), 0);
	blind_free(blind);
}

static void
the_longest_interval_of_aggregators_with_usable_rows_counts(void **state)
{
	struct blind *blind = new_pair();

	assert_int_equal(blind_longest_row_interval(blind, at(1)), 10 * S);
	blind_row_interval(blind, "r1", "a1", 60 * S);
	blind_row_interval(blind, "r1", "b1", 5 * S);
	assert_int_equal(blind_longest_row_interval(blind, at(1)), 60 * S);
	/* A restart of the aggregator does not change the interval; a long absence
	 * does. */
	blind_disconnected(blind, "r1", "a1", at(1));
	assert_int_equal(blind_longest_row_interval(blind, at(1 + 720)), 60 * S);
	assert_int_equal(blind_longest_row_interval(blind, at(2 + 720)), 5 * S);
	blind_left(blind, "r1", "b1");
	assert_int_equal(blind_longest_row_interval(blind, at(2 + 720)), 10 * S);
	blind_free(blind);
}

static void
an_aggregator_that_moves_to_another_analyzer_is_not_reported_missing(void **state)
{
	const struct rm_verdict *v;
	struct blind *blind = new_blind();

	receive_all(blind, 20);
	blind_left(blind, "r1", "a1");
	blind_disconnected(blind, "r1", "a1", at(20));
	blind_left(blind, "r1", "nobody");
	receive(blind, "a2", "tor2", 26);
	receive(blind, "a3", "tor3", 26);
	assert_int_equal(judge(blind, 26, &v), 0);
	assert_true(blind_is_connected(blind));
	blind_clear(blind);
	assert_false(blind_is_connected(blind));
	assert_int_equal(judge(blind, 60, &v), 0);
	blind_free(blind);
}

/* An analyzer returns after a minute, and reads the summaries that waited. They are
 * from the start of the rack, which had no hosts then. */
static void
a_backlog_without_hosts_does_not_make_a_rack_blind(void **state)
{
	const struct rm_verdict *v;
	struct blind *blind = new_blind();

	for (int s = 16; s < 30; s++) {
		receive(blind, "a2", "tor2", s);
		receive(blind, "a3", "tor3", s);
		/* The backlog is read ten times as fast as it was written; then nothing
		 * more comes. */
		if (s < 20)
			blind_rack(blind, "r1", "a1", "tor1", &empty,
			    (60 - 9 * (s - 16)) * S, at(s));
		blind_seen(blind, "r1", "a1", at(s));
		assert_int_equal(judge(blind, s, &v), 0);
	}
	blind_free(blind);
}

static void
an_aggregator_whose_clock_is_wrong_is_accepted_nevertheless(void **state)
{
	const struct rm_verdict *v;
	struct blind *blind = new_blind();

	for (int s = 16; s < 30; s++) {
		receive(blind, "a2", "tor2", s);
		receive(blind, "a3", "tor3", s);
		blind_rack(blind, "r1", "a1", "tor1", &empty, -3600 * S, at(s));
	}
	assert_int_equal(judge(blind, 29, &v), 1);
	assert_int_equal(v[0].kind, RM_KIND_RACK_BLIND);
	blind_free(blind);
}

static void
unread_summaries_do_not_make_a_rack_blind(void **state)
{
	const struct rm_verdict *v;
	struct blind *blind = new_blind();

	for (int s = 16; s < 40; s++) {
		receive(blind, "a2", "tor2", s);
		receive(blind, "a3", "tor3", s);
		if (s == 16)
			blind_rack(blind, "r1", "a1", "tor1", &empty, 0, at(s));
		if (s < 30)
			blind_held(blind, "r1", "a1", at(s));
		else
			blind_seen(blind, "r1", "a1", at(s));
		assert_int_equal(judge(blind, s, &v), s >= 32);
	}
	blind_free(blind);
}

/* A summary without hosts counts only for the session in which it was sent. */
static void
the_state_of_an_earlier_session_does_not_count(void **state)
{
	const struct rm_verdict *v;
	struct blind *blind = new_blind();

	receive_all(blind, 20);
	blind_rack(blind, "r1", "a1", "tor1", &empty, 0, at(20));
	blind_disconnected(blind, "r1", "a1", at(21));
	blind_connected(blind, "r1", "a1", &tors[0], 1, at(22));
	for (int s = 22; s < 45; s++) {
		receive(blind, "a2", "tor2", s);
		receive(blind, "a3", "tor3", s);
		blind_seen(blind, "r1", "a1", at(s));
		assert_int_equal(judge(blind, s, &v), 0);
	}
	blind_free(blind);
}

static void
a_rack_without_hosts_is_not_blind(void **state)
{
	const struct wire_rack_state none = { .rnics = 0 };
	const struct rm_verdict *v;
	struct blind *blind = new_blind();

	for (int i = 20; i < 25; i++) {
		receive_all(blind, i);
		blind_rack(blind, "r1", "a1", "tor1", &none, 0, at(i));
	}
	assert_int_equal(judge(blind, 25, &v), 0);
	blind_free(blind);
}

static void
a_silent_region_is_one_alert(void **state)
{
	const struct rm_verdict *v;
	struct rm_verdict down = { .part = {
				       .type = RM_PART_AGGREGATOR, .name = "a1" } };
	struct blind *blind = new_blind();

	blind_connected(blind, "r2", "z1", &tors[0], 1, at(20));
	receive_all(blind, 20);
	blind_seen(blind, "r2", "z1", at(24));
	assert_int_equal(judge(blind, 24, &v), 1);
	assert_int_equal(v[0].kind, RM_KIND_REGION_BLIND);
	assert_string_equal(v[0].part.name, "r1");
	assert_int_equal(blind_health(blind, &down, at(24)), RM_HEALTH_UNKNOWN);
	blind_free(blind);
}

static void
a_stall_of_the_analyzer_makes_no_aggregator_silent(void **state)
{
	const struct rm_verdict *v;
	struct blind *blind = new_blind();

	receive_all(blind, 20);
	blind_stalled(blind, at(30));
	assert_int_equal(judge(blind, 32, &v), 0);
	assert_int_equal(judge(blind, 33.5, &v), 1);
	blind_free(blind);
}

static void
an_aggregator_that_is_silent_for_a_day_is_removed(void **state)
{
	const struct rm_verdict *v;
	struct blind *blind = new_blind();

	receive_all(blind, 20);
	for (double s = 3600; s <= 86000; s += 3600) {
		receive(blind, "a2", "tor2", s);
		receive(blind, "a3", "tor3", s);
		assert_int_equal(judge(blind, s, &v), 1);
	}
	receive(blind, "a2", "tor2", 86500);
	receive(blind, "a3", "tor3", 86500);
	assert_int_equal(judge(blind, 86500, &v), 0);
	assert_false(blind_rack_is_seen(blind, "r1", "tor1", at(86500)));
	blind_free(blind);
}

/* 2026-11-20 04:10 UTC */
#define ENDS_S 1795147800

static void
a_certificate_that_ends_is_one_incident_per_daemon(void **state)
{
	struct rm_verdict of_a1 = { .part = {
					.type = RM_PART_AGGREGATOR, .name = "a1" } };
	struct rm_verdict of_c1 = { .part = {
					.type = RM_PART_CONTROLLER, .name = "c1" } };
	struct rm_verdict ours = { .part = { .type = RM_PART_ANALYZER, .name = "x" } };
	struct blind *blind = new_blind();
	char sentence[RM_SENTENCE_BYTES];
	const struct rm_verdict *v;

	receive_all(blind, 20);
	blind_certificates(blind, "r1", "a1", ENDS_S, "c1", ENDS_S + 60);
	blind_certificates(blind, "r1", "a2", 0, "c1", ENDS_S + 60);
	blind_certificates(blind, "r1", "a3", 0, "no name", ENDS_S);
	blind_certificates(blind, "r1", "nobody", ENDS_S, "c2", ENDS_S);
	blind_own_certificate(blind, "x", ENDS_S);
	assert_int_equal(judge(blind, 20, &v), 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(v[i].kind, RM_KIND_CERTIFICATE_ENDING);
	assert_true(rm_part_equal(&v[0].part, &ours.part));
	assert_true(rm_part_equal(&v[1].part, &of_a1.part));
	assert_true(rm_part_equal(&v[2].part, &of_c1.part));
	assert_string_equal(v[1].evidence.observed, "ends 2026-11-20 04:10 UTC");
	assert_string_equal(v[2].evidence.observed, "ends 2026-11-20 04:11 UTC");
	rm_verdict_sentence(&v[2], sentence, sizeof(sentence));
	assert_non_null(strstr(sentence, "Controller c1 "));

	/* a1 connects with a new certificate, and reports another controller; a2 still
	 * reports c1. */
	blind_connected(blind, "r1", "a1", &tors[0], 1, at(21));
	blind_own_certificate(blind, "x", 0);
	receive_all(blind, 21);
	assert_int_equal(judge(blind, 21, &v), 1);
	assert_true(rm_part_equal(&v[0].part, &of_c1.part));
	assert_int_equal(blind_health(blind, &of_a1, at(21)), RM_HEALTH_GOOD);
	assert_int_equal(blind_health(blind, &ours, at(21)), RM_HEALTH_GOOD);
	blind_certificates(blind, "r1", "a2", 0, "", 0);
	assert_int_equal(judge(blind, 21, &v), 0);
	assert_int_equal(blind_health(blind, &of_c1, at(21)), RM_HEALTH_GOOD);
	/* No aggregator reports, so the health of the controller's certificate is
	 * unknown. */
	assert_int_equal(blind_health(blind, &of_c1, at(40)), RM_HEALTH_UNKNOWN);
	blind_free(blind);
}

/* A silent aggregator is named as down already. */
static void
certificates_of_a_silent_aggregator_are_not_reported(void **state)
{
	struct blind *blind = new_blind();
	const struct rm_verdict *v;

	receive_all(blind, 20);
	blind_certificates(blind, "r1", "a1", ENDS_S, "c1", ENDS_S);
	blind_disconnected(blind, "r1", "a1", at(20));
	receive(blind, "a2", "tor2", 24);
	receive(blind, "a3", "tor3", 24);
	assert_int_equal(judge(blind, 24, &v), 1);
	assert_int_equal(v[0].kind, RM_KIND_AGGREGATOR_DOWN);
	blind_free(blind);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    silence_before_the_start_of_the_analyzer_does_not_count),
		cmocka_unit_test(a_removed_aggregator_ends_its_incident),
		cmocka_unit_test(a_restart_within_the_grace_time_opens_no_incident),
		cmocka_unit_test(a_silent_aggregator_is_one_alert_that_lists_its_racks),
		cmocka_unit_test(aggregators_of_a_lost_region_are_not_named_one_by_one),
		cmocka_unit_test(a_connected_but_silent_aggregator_is_down),
		cmocka_unit_test(a_rack_with_a_second_aggregator_is_not_blind),
		cmocka_unit_test(
		    agents_have_time_to_reconnect_to_a_restarted_aggregator),
		cmocka_unit_test(a_rack_that_was_reported_not_to_probe_is_not_blind),
		cmocka_unit_test(a_rack_whose_agents_are_all_gone_is_blind),
		cmocka_unit_test(
		    the_loss_of_one_aggregator_of_two_is_one_alert_and_no_blind_rack),
		cmocka_unit_test(
		    the_aggregator_with_the_latest_report_decides_whether_the_rack_is_blind),
		cmocka_unit_test(
		    the_state_of_a_rack_expires_by_its_aggregators_interval),
		cmocka_unit_test(
		    the_longest_interval_of_aggregators_with_usable_rows_counts),
		cmocka_unit_test(
		    an_aggregator_that_moves_to_another_analyzer_is_not_reported_missing),
		cmocka_unit_test(a_backlog_without_hosts_does_not_make_a_rack_blind),
		cmocka_unit_test(
		    an_aggregator_whose_clock_is_wrong_is_accepted_nevertheless),
		cmocka_unit_test(unread_summaries_do_not_make_a_rack_blind),
		cmocka_unit_test(the_state_of_an_earlier_session_does_not_count),
		cmocka_unit_test(a_rack_without_hosts_is_not_blind),
		cmocka_unit_test(a_silent_region_is_one_alert),
		cmocka_unit_test(a_stall_of_the_analyzer_makes_no_aggregator_silent),
		cmocka_unit_test(an_aggregator_that_is_silent_for_a_day_is_removed),
		cmocka_unit_test(a_certificate_that_ends_is_one_incident_per_daemon),
		cmocka_unit_test(certificates_of_a_silent_aggregator_are_not_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
