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
	struct wire_rack_state racks[RACKS];
	unsigned silent; /* racks that send no summaries, as bits */
};

/* Two racks send to the third, whose RNICs answer marks with CNPs. */
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

/* Summaries and judgements every 10 s. */
static const struct cnp_finding *
pass(struct world *w, unsigned seconds)
{
	for (unsigned at = 0; at <= seconds; at += 10) {
		for (unsigned i = 0; i < RACKS; i++) {
			char tor[16];
			const struct wire_summary summary = { .tor = tor,
				.end_wall_ns = (uint64_t)w->wall.ns,
				.has_state = true,
				.state = w->racks[i] };

			snprintf(tor, sizeof(tor), "tor%u", i + 1);
			if ((w->silent >> i & 1) == 0)
				cnp_balance_summary(
				    w->balance, &summary, w->now, w->wall);
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

/* Racks' minutes begin at different times: a new load shows in some of them first. */
static void
a_minute_without_is_no_loss(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 10; i++) {
		w->racks[0].cnps_received = 1000;
		assert_state(pass(w, 60), CNP_NOT_KNOWN, "too short for a verdict");
		w->racks[0].cnps_received = 198000;
		assert_state(pass(w, 60), CNP_WORKING, "");
	}
}

/* These RNICs may be the senders that the CNPs are addressed to. */
static void
rnics_without_counters_hide_a_loss(void **state)
{
	struct world *w = *state;

	w->racks[0].cnps_received = 1000;
	w->racks[1].rnics_counting = 7;
	assert_state(pass(w, 600), CNP_NOT_KNOWN, "1 of 24 RNICs do not count");
	/* An RNIC that has just left a rack does not make up for one of another rack.
	 */
	w->racks[2].rnics_counting = 10;
	assert_state(pass(w, 10), CNP_NOT_KNOWN, "1 of 24 RNICs do not count");
	w->racks[1].rnics_counting = 0; /* an older aggregator */
	assert_state(pass(w, 600), CNP_NOT_KNOWN, "for example in tor2");
	w->racks[1].rnics_counting = 8;
	w->silent = 1 << 1;
	assert_state(pass(w, 500), CNP_NOT_KNOWN, "1 of 3 racks do not report");
	w->silent = 0;
	assert_state(pass(w, 0), CNP_NOT_KNOWN, "too short for a verdict");
}

/* A storage rack without agents: the receivers' CNPs go there. */
static void
cnps_to_senders_without_agents_are_no_loss(void **state)
{
	struct world *w = *state;

	w->racks[0] = (struct wire_rack_state){ .rnics = 8, .rnics_counting = 8 };
	assert_state(pass(w, 600), CNP_NOT_KNOWN, "RNICs whose counters are not read");
	/* Nor are receivers, whose CNPs would come besides. */
	w->racks[0] = (struct wire_rack_state){ .rnics = 8,
		.rnics_counting = 8,
		.rdma_sent = 900000000,
		.cnps_received = 900000 };
	assert_state(pass(w, 600), CNP_NOT_KNOWN, "RNICs whose counters are not read");
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
	assert_state(pass(w, 100), CNP_NOT_KNOWN, "for example tor2");
	assert_state(pass(w, 600), CNP_WORKING, "99 %");
}

/* A peer may report any number. */
static void
absurd_numbers_do_no_harm(void **state)
{
	struct world *w = *state;

	memset(w->racks, 0xff, sizeof(w->racks));
	(void)pass(w, 600);
	memset(w->racks, 0, sizeof(w->racks));
	assert_state(pass(w, 600), CNP_NOT_NEEDED, "");
	w->racks[0].rnics_counting = 9; /* more than there are */
	(void)pass(w, 600);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(cnps_that_arrive_anywhere_in_the_region_are_not_lost),
		TEST(cnps_that_arrive_nowhere_are_lost),
		TEST(a_minute_without_is_no_loss),
		TEST(rnics_without_counters_hide_a_loss),
		TEST(cnps_to_senders_without_agents_are_no_loss),
		TEST(few_cnps_are_not_compared),
		TEST(a_rack_that_is_gone_is_not_waited_for),
		TEST(absurd_numbers_do_no_harm),
	};

	return cmocka_run_group_tests_name("cnp_balance", tests, NULL, NULL);
}
