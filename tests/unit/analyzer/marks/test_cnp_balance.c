#include "analyzer/marks/cnp_balance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S RM_NS_PER_S
#define RACKS 3

struct world {
	struct cnp_balance *balance;
	rm_mono_t now;
	rm_wall_t wall;
	int64_t age_ns; /* of the summaries */
	struct wire_rack_state racks[RACKS];
	const char *uncounted[RACKS];
	unsigned silent; /* a bit for each rack that sends no summaries */
};

/* Two racks send to the third, whose RNICs answer marked packets with CNPs. */
static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->balance = cnp_balance_new();
	w->now.ns = 100 * S;
	w->wall.ns = 5000 * S;
	for (int i = 0; i < RACKS; i++)
		w->racks[i] = (struct wire_rack_state){ .rnics = 8,
			.rnics_counting = 8,
			.rdma_sent = i < 2 ? 500000000 : 10000000,
			.rdma_received = i < 2 ? 5000000 : 995000000,
			.cnps_sent = i < 2 ? 0 : 400000,
			.cnps_received = i < 2 ? 198000 : 0 };
	*state = w;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	cnp_balance_free(w->balance);
	free(w);
	return 0;
}

/* A summary of each rack and a judgement every 10 s. */
static const struct cnp_finding *
pass(struct world *w, unsigned seconds)
{
	for (unsigned at = 0; at <= seconds; at += 10) {
		for (unsigned i = 0; i < RACKS; i++) {
			char tor[16];
			const struct wire_summary summary = { .tor = tor,
				.has_state = true,
				.state = w->racks[i],
				.uncounted = w->uncounted[i] };

			snprintf(tor, sizeof(tor), "tor%u", i + 1);
			if ((w->silent >> i & 1) == 0)
				cnp_balance_summary(
				    w->balance, &summary, w->age_ns, w->now);
		}
		w->now.ns += 10 * S;
		w->wall.ns += 10 * S;
		cnp_balance_judge(w->balance, w->now, w->wall);
	}
	return cnp_balance_finding(w->balance);
}

static void
assert_state(const struct cnp_finding *finding, enum cnp_state state, const char *part)
{
	if (finding->state != state || strstr(finding->sentence, part) == NULL)
		fail_msg("%s: %s", cnp_state_str(finding->state), finding->sentence);
}

static void
cnps_that_arrive_anywhere_in_the_region_are_not_lost(void **state)
{
	struct world *w = *state;

	assert_state(pass(w, 600), CNP_WORKING, "99 % arrived");
}

static void
summaries_that_waited_for_a_minute_are_ignored(void **state)
{
	struct world *w = *state;

	w->age_ns = CNP_FRESH_NS + 1;
	assert_state(pass(w, 60), CNP_NOT_KNOWN, "No rack has reported yet");
	w->age_ns = CNP_FRESH_NS;
	assert_state(pass(w, 60), CNP_WORKING, "");
}

static void
cnps_that_arrive_nowhere_are_lost(void **state)
{
	struct world *w = *state;
	const rm_wall_t began = { w->wall.ns + 10 * S };

	w->racks[0].cnps_received = 1000;
	assert_state(pass(w, 120), CNP_NOT_KNOWN, "too short for a verdict");
	assert_state(pass(w, 120), CNP_LOST,
	    "of 400000 that RNICs of the region sent in a minute, 49.8 % arrived");
	assert_int_equal(cnp_balance_finding(w->balance)->since.ns, began.ns);
	w->racks[0].cnps_received = 198000;
	assert_state(pass(w, 0), CNP_WORKING, "");
}

/* The minutes of racks begin at different times: some show a new load before others do.
 */
static void
a_minute_without_cnps_is_no_loss(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 10; i++) {
		w->racks[0].cnps_received = 1000;
		assert_state(pass(w, 60), CNP_NOT_KNOWN, "too short for a verdict");
		w->racks[0].cnps_received = 198000;
		assert_state(pass(w, 60), CNP_WORKING, "");
	}
}

/* Half of the CNPs may have gone to 2 of 24 RNICs without counters, but not to 1 of
 * 240. */
static void
rnics_without_counters_hide_no_larger_loss(void **state)
{
	struct world *w = *state;

	w->racks[0].cnps_received = 1000;
	w->racks[1].rnics_counting = 6;
	w->uncounted[1] = "h1/mlx5_0";
	assert_state(pass(w, 600), CNP_NOT_KNOWN,
	    "49.8 % arrived: the others may have gone to RNICs that do not count them. "
	    "(22 of 24 RNICs have these counters; without: tor2: h1/mlx5_0, ...)");
	for (int i = 0; i < RACKS; i++)
		w->racks[i].rnics = w->racks[i].rnics_counting = 80;
	w->racks[1].rnics_counting = 79;
	assert_state(pass(w, 0), CNP_NOT_KNOWN, "too short for a verdict");
	assert_state(pass(w, 200), CNP_LOST,
	    "49.8 % arrived at the senders, for 3 min now. Otherwise 1 RNIC that "
	    "reports no packets received 97 times as many as an average RNIC. (239 of "
	    "240 RNICs have these counters; without: tor2: h1/mlx5_0)");
	assert_int_equal(cnp_balance_finding(w->balance)->rnics, 240);
	assert_int_equal(cnp_balance_finding(w->balance)->rnics_counting, 239);
	/* RNICs that have just left one rack do not fill gaps of another rack. */
	w->racks[2].rnics_counting = 90;
	assert_state(pass(w, 0), CNP_LOST, "239 of 240");
}

/* For example a virtual function: it counts its packets, but has no counters of CNPs.
 */
static void
an_rnic_receives_no_more_cnps_than_it_sends_packets(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < RACKS; i++)
		w->racks[i].rnics = w->racks[i].rnics_counting = 80;
	w->racks[0].cnps_received = 1000;
	w->racks[1].rnics_counting = 79;
	w->racks[1].rnics_packets_only = 1;
	w->uncounted[1] = "h1/mlx5_0";
	/* A single hot sender: 100 times the CNPs of an average RNIC. */
	w->racks[1].packets_only_sent = 170000;
	assert_state(pass(w, 600), CNP_NOT_KNOWN,
	    "49.8 % arrived: the others may have gone to RNICs that do not count them. "
	    "(239 of 240 RNICs have these counters; without: tor2: h1/mlx5_0)");
	/* An RNIC that sends fewer packets cannot have received them. */
	w->racks[1].packets_only_sent = 150000;
	assert_state(pass(w, 200), CNP_LOST,
	    "49.8 % arrived at the senders, for 3 min now. (239 of 240");
	/* Neither can 1 of 24 RNICs that has sent few packets. */
	for (int i = 0; i < RACKS; i++)
		w->racks[i].rnics = w->racks[i].rnics_counting = 8;
	w->racks[1].rnics_counting = 7;
	assert_state(pass(w, 0), CNP_LOST, "now. (23 of 24");
	w->racks[1].packets_only_sent = UINT64_MAX;
	assert_state(pass(w, 0), CNP_NOT_KNOWN, "may have gone to RNICs");
}

/* One of three RNICs without counters of CNPs counts its packets. */
static void
rnics_that_report_no_packets_are_doubted(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < RACKS; i++)
		w->racks[i].rnics = w->racks[i].rnics_counting = 80;
	w->racks[0].cnps_received = 1000;
	w->racks[1].rnics_counting = 77;
	w->racks[1].rnics_packets_only = 1;
	w->racks[1].packets_only_sent = 1000;
	assert_state(pass(w, 200), CNP_LOST,
	    "Otherwise 2 RNICs that report no packets each received 48 times as many "
	    "as an average RNIC. (237 of 240");
	w->racks[1].rnics_packets_only =
	    4; /* an invalid value, as a faulty peer may send it */
	assert_state(pass(w, 0), CNP_LOST, "3 min now. (237 of 240");
}

static void
most_rnics_must_count(void **state)
{
	struct world *w = *state;

	w->racks[1].rnics_counting = 6;
	assert_state(pass(w, 0), CNP_WORKING, "99 % arrived at the senders. (22 of 24");
	w->racks[1].rnics_counting = 5;
	w->uncounted[1] = "h1/mlx5_0, h2/mlx5_0, h3/mlx5_0";
	w->racks[2].rnics_counting = 7;
	assert_state(pass(w, 0), CNP_NOT_KNOWN,
	    "Too few RNICs count CNPs and RDMA packets for a verdict. (20 of 24 RNICs "
	    "have these counters; without: tor2: h1/mlx5_0, h2/mlx5_0, h3/mlx5_0; tor3 "
	    "(1))");
	w->racks[1].rnics_counting = 0; /* an older aggregator, or a faulty peer */
	w->uncounted[1] = "h1\n";
	assert_state(pass(w, 0), CNP_NOT_KNOWN, "without: tor2 (8); tor3 (1))");
}

/* There are many RNICs, with long names. */
static void
as_many_rnics_without_counters_are_named_as_fit(void **state)
{
	struct world *w = *state;
	char names[WIRE_UNCOUNTED_BYTES];

	memset(names, 'x', sizeof(names) - 1);
	names[sizeof(names) - 1] = '\0';
	for (int i = 0; i < RACKS; i++) {
		w->uncounted[i] = names;
		w->racks[i].rnics_counting = 0;
	}
	names[sizeof(names) - 40] = '\0';
	assert_state(pass(w, 0), CNP_NOT_KNOWN, "xxx, ..., ...)");
	assert_state(pass(w, 0), CNP_NOT_KNOWN, "without: tor1: xxx");
}

/* The RNICs of such racks may be the senders. */
static void
racks_that_do_not_report_do_not_count(void **state)
{
	struct world *w = *state;

	assert_state(pass(w, 0), CNP_WORKING, "");
	w->silent = 1 << 1;
	assert_state(pass(w, 100), CNP_NOT_KNOWN,
	    "16 of 24 RNICs have these counters; without: tor2 (8))");
	w->silent = 0;
	assert_state(pass(w, 0), CNP_WORKING, "");
}

static void
a_rack_without_room_counts_for_a_minute_after_it_is_gone(void **state)
{
	struct world *w = *state;
	struct wire_summary summary = { .has_state = true };
	char tor[16];

	summary.tor = tor;
	for (unsigned i = 0; i < CNP_MAX_RACKS; i++) {
		snprintf(tor, sizeof(tor), "other%u", i);
		cnp_balance_summary(w->balance, &summary, 0, w->now);
	}
	assert_state(pass(w, 0), CNP_NOT_KNOWN, "more than 16384 racks");
	for (int i = 0; i < 6; i++) { /* the other racks are forgotten */
		w->now.ns += CNP_FORGET_NS / 6;
		w->wall.ns += CNP_FORGET_NS / 6;
		(void)pass(w, 0);
	}
	assert_state(pass(w, 60), CNP_WORKING, "99 %");
}

/* A storage rack without agents: the receivers' CNPs go to RNICs whose counters are not
 * read. */
static void
cnps_to_senders_without_agents_are_no_loss(void **state)
{
	struct world *w = *state;

	w->racks[0] = (struct wire_rack_state){ .rnics = 8, .rnics_counting = 8 };
	assert_state(pass(w, 600), CNP_NOT_KNOWN, "RNICs whose counters are not read");
	/* Racks that are receivers themselves add CNPs of their own. */
	w->racks[0] = (struct wire_rack_state){ .rnics = 8,
		.rnics_counting = 8,
		.rdma_sent = 900000000,
		.cnps_received = 900000 };
	assert_state(pass(w, 600), CNP_NOT_KNOWN, "RNICs whose counters are not read");
}

/* They answer marks, too, and their CNPs arrive: those of others may be lost. */
static void
cnps_of_receivers_without_counters_do_not_make_up_for_lost_ones(void **state)
{
	struct world *w = *state;

	w->racks[0].cnps_received = 238000; /* 109 % */
	assert_state(pass(w, 600), CNP_WORKING, "100 % arrived");
	w->racks[0].cnps_received = 250000;
	assert_state(pass(w, 600), CNP_NOT_KNOWN,
	    "sent 400000 CNPs in a minute and received 448000: RNICs whose counters "
	    "are "
	    "not read send some, which may hide a loss of others.");
}

static void
few_cnps_are_not_compared(void **state)
{
	struct world *w = *state;

	w->racks[2].cnps_sent = CNP_FEW - 1;
	w->racks[0].cnps_received = w->racks[1].cnps_received = 0;
	assert_state(pass(w, 600), CNP_NOT_NEEDED, "too few");
}

static void
a_rack_that_is_gone_is_not_waited_for(void **state)
{
	struct world *w = *state;

	(void)pass(w, 0);
	w->silent = 1 << 1;
	w->racks[0].rdma_sent = 1000000000;
	w->racks[0].cnps_received = 396000;
	assert_state(pass(w, 100), CNP_NOT_KNOWN, "without: tor2 (8)");
	assert_state(pass(w, 600), CNP_WORKING, "99 %");
}

/* A peer may report any number. */
static void
absurd_counts_are_handled(void **state)
{
	struct world *w = *state;

	memset(w->racks, 0xff, sizeof(w->racks));
	(void)pass(w, 600);
	memset(w->racks, 0, sizeof(w->racks));
	assert_state(pass(w, 600), CNP_NOT_NEEDED, "");
	w->racks[0].rnics_counting = 9; /* more than the rack has */
	(void)pass(w, 600);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(cnps_that_arrive_anywhere_in_the_region_are_not_lost),
		TEST(summaries_that_waited_for_a_minute_are_ignored),
		TEST(cnps_that_arrive_nowhere_are_lost),
		TEST(a_minute_without_cnps_is_no_loss),
		TEST(rnics_without_counters_hide_no_larger_loss),
		TEST(an_rnic_receives_no_more_cnps_than_it_sends_packets),
		TEST(rnics_that_report_no_packets_are_doubted),
		TEST(most_rnics_must_count),
		TEST(as_many_rnics_without_counters_are_named_as_fit),
		TEST(racks_that_do_not_report_do_not_count),
		TEST(a_rack_without_room_counts_for_a_minute_after_it_is_gone),
		TEST(cnps_to_senders_without_agents_are_no_loss),
		TEST(cnps_of_receivers_without_counters_do_not_make_up_for_lost_ones),
		TEST(few_cnps_are_not_compared),
		TEST(a_rack_that_is_gone_is_not_waited_for),
		TEST(absurd_counts_are_handled),
	};

	return cmocka_run_group_tests_name("cnp_balance", tests, NULL, NULL);
}
