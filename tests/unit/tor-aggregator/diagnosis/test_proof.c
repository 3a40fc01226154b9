#include "tor-aggregator/diagnosis/proof_judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define S INT64_C(1000000000)
#define LOSSLESS 3
#define MINUTE 12 /* in rounds */

static struct proof *proof;
static struct proof_total total;
static rm_mono_t now;
static char text[PROOF_TEXT];

static int
setup(void **state)
{
	(void)state;
	proof = proof_new();
	now.ns = 1000 * S;
	return proof == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	(void)state;
	proof_free(proof);
	return 0;
}

static void
start_again(void)
{
	teardown(NULL);
	assert_int_equal(setup(NULL), 0);
}

static struct evidence
rnic(const char *name)
{
	struct evidence evidence = { .host_ns = 5 * S };

	snprintf(evidence.name, sizeof(evidence.name), "%s", name);
	return evidence;
}

/* A receiver of 100000 packets, so many of them marked, which it answers with so many
 * CNPs. */
static struct evidence
receiver(const char *name, uint64_t marks, uint64_t cnps)
{
	struct evidence evidence = rnic(name);

	evidence_set(&evidence, WIRE_COUNTER_RDMA_RX_PKTS, 0, 100000);
	evidence_set(&evidence, WIRE_COUNTER_ECN_CE_RX, 0, marks);
	evidence_set(&evidence, WIRE_COUNTER_CNP_TX, 0, cnps);
	evidence_set(&evidence, WIRE_COUNTER_CNP_RX_HANDLED, 0, 0);
	evidence_set(&evidence, WIRE_COUNTER_CNP_RX_IGNORED, 0, 0);
	return evidence;
}

static struct evidence
port(const char *name)
{
	struct evidence evidence = { .switch_ns = 5 * S };

	snprintf(evidence.port, sizeof(evidence.port), "%s", name);
	return evidence;
}

/* Reports the evidence of all parts in each of so many rounds. */
static void
rounds(const struct evidence *const *all, size_t count, int how_many)
{
	for (int round = 0; round < how_many; round++) {
		now = rm_mono_add(now, 5 * S);
		for (size_t i = 0; i < count; i++)
			if (all[i]->port[0] != '\0')
				proof_add_port(proof, all[i], now);
			else
				proof_add_rnic(proof, all[i], now);
	}
	proof_sum_up(proof, now, &total);
}

#define ROUNDS(how_many, ...)                                         \
	rounds((const struct evidence *const[]){ __VA_ARGS__ },       \
	    sizeof((const struct evidence *const[]){ __VA_ARGS__ }) / \
		sizeof(const struct evidence *),                      \
	    how_many)

static void
assert_ratio(enum proof_ratio ratio, double expected)
{
	double value = 0;

	assert_int_equal(proof_read(&total, ratio, &value, text), PROOF_KNOWN);
	assert_float_equal(value, expected, 1e-6);
}

static void
assert_answer(
    enum proof_question question, enum proof_state expected, const char *sentence)
{
	const enum proof_state state = proof_judge(&total, question, text);

	if (state != expected || strstr(text, sentence) == NULL)
		fail_msg("%s: %s: %s", proof_question_str(question),
		    proof_state_str(state), text);
}

static void
the_chain_from_switch_to_receiver_to_sender_is_shown(void **state)
{
	struct evidence to = receiver("h1/mlx5_0", 5000, 4000);
	struct evidence from = receiver("h2/mlx5_0", 0, 0);
	struct evidence ethernet0 = port("Ethernet0");

	(void)state;
	evidence_set(&from, WIRE_COUNTER_CNP_RX_HANDLED, 0, 3600);
	evidence_set(&from, WIRE_COUNTER_CNP_RX_IGNORED, 0, 200);
	evidence_set(&ethernet0, SWITCH_TX_PKTS, 0, 200000);
	evidence_set(&ethernet0, SWITCH_ECN_MARKED, 0, 5000);
	proof_add_probes(proof, 1000, 20, 5 * S, now);
	ROUNDS(1, &to, &from, &ethernet0);
	assert_ratio(PROOF_PROBE_CE, 2);
	assert_ratio(PROOF_SWITCH_CE, 2.5);
	assert_ratio(PROOF_HOST_CE, 2.5);
	assert_ratio(PROOF_CNP_PER_CE, 80);
	assert_ratio(PROOF_CNP_BALANCE, 95);
	assert_answer(PROOF_ECN, PROOF_WORKING, "RNICs received 5000 marked packets");
	assert_answer(PROOF_CNP, PROOF_WORKING,
	    "sent 4000 CNPs for 5000 marks and received 3800");
	assert_answer(PROOF_PFC, PROOF_NOT_KNOWN, "Neither an RNIC nor the switch");
}

static void
uncounted_figures_are_unknown_with_a_reason(void **state)
{
	const struct evidence none = rnic("h1/rxe0"), ethernet0 = port("Ethernet0");
	double value = 7;

	(void)state;
	ROUNDS(2, &none, &ethernet0);
	for (int i = 0; i < PROOF_RATIOS; i++) {
		assert_int_equal(proof_read(&total, (enum proof_ratio)i, &value, text),
		    PROOF_UNKNOWN);
		assert_true(text[0] != '\0');
	}
	assert_float_equal(value, 7, 0);
	assert_answer(PROOF_ECN, PROOF_NOT_KNOWN, "no RNIC counts ecn_ce_rx");
	assert_answer(PROOF_CNP, PROOF_NOT_KNOWN, "No RNIC counts CNPs");
	assert_answer(PROOF_PFC, PROOF_NOT_KNOWN, "counts pauses");
}

static void
zero_is_a_known_value_and_no_fault(void **state)
{
	struct evidence quiet = receiver("h1/mlx5_0", 0, 0);

	(void)state;
	evidence_set(&quiet, WIRE_COUNTER_PFC_RX_FRAMES, LOSSLESS, 0);
	ROUNDS(1, &quiet);
	assert_ratio(PROOF_HOST_CE, 0);
	assert_answer(PROOF_ECN, PROOF_NOT_NEEDED, "no congestion");
	assert_answer(PROOF_CNP, PROOF_NOT_NEEDED, "No packet was marked");
	assert_answer(PROOF_PFC, PROOF_NOT_NEEDED, "No port was paused");
	assert_int_equal(
	    proof_read(&total, PROOF_CNP_PER_CE, &(double){ 0 }, text), PROOF_IDLE);
}

/* An RNIC that does not count marks would lower the share if its packets counted. */
static void
a_ratio_uses_only_parts_that_count_both_sides(void **state)
{
	const struct evidence good = receiver("h1/mlx5_0", 5000, 4000);
	struct evidence half = rnic("h2/bnxt0");

	(void)state;
	evidence_set(&half, WIRE_COUNTER_RDMA_RX_PKTS, 0, 900000);
	ROUNDS(2, &good, &half);
	assert_ratio(PROOF_HOST_CE, 5);
	assert_string_equal(text, "1 of 2 do not count it");
}

/* The first reading of a part, and the first one after a reset, only set the base. */
static void
new_and_reset_parts_are_not_parts_without_counters(void **state)
{
	const struct evidence good = receiver("h1/mlx5_0", 5000, 4000);
	const struct evidence fresh = rnic("h2/mlx5_0");

	(void)state;
	ROUNDS(1, &good, &fresh);
	assert_ratio(PROOF_HOST_CE, 5);
	assert_string_equal(text, "");
	start_again();
	ROUNDS(3, &good);
	ROUNDS(1, &fresh);
	assert_ratio(PROOF_HOST_CE, 5);
	assert_string_equal(text, "");
}

static void
pauses_stand_side_by_side_for_each_priority(void **state)
{
	struct evidence storming = rnic("h1/mlx5_0");
	struct evidence ethernet4 = port("Ethernet4");

	(void)state;
	evidence_set(&storming, WIRE_COUNTER_PFC_TX_FRAMES, LOSSLESS, 40000);
	evidence_set(&storming, WIRE_COUNTER_PFC_TX_PAUSE_US, LOSSLESS, 2000000);
	evidence_set(&ethernet4, SWITCH_PFC_RX_FRAMES, LOSSLESS, 39000);
	ROUNDS(1, &storming, &ethernet4);
	assert_int_equal(total.pauses[PROOF_HOST][LOSSLESS].sent, 40000);
	assert_float_equal(total.pauses[PROOF_HOST][LOSSLESS].pausing.pct, 40, 1e-6);
	assert_string_equal(
	    total.pauses[PROOF_HOST][LOSSLESS].pausing.who, "h1/mlx5_0");
	assert_int_equal(total.pauses[PROOF_SWITCH][LOSSLESS].received, 39000);
	assert_true(total.pauses[PROOF_SWITCH][LOSSLESS].knows_received);
	assert_false(total.pauses[PROOF_SWITCH][LOSSLESS].knows_sent);
	assert_false(total.pauses[PROOF_SWITCH][LOSSLESS].paused.known);
	assert_false(total.pauses[PROOF_HOST][0].knows_sent);
	assert_answer(PROOF_PFC, PROOF_NOT_KNOWN, "counted for 5 s only");
	ROUNDS(MINUTE, &storming, &ethernet4);
	assert_answer(PROOF_PFC, PROOF_FAILING, "40 % of the time (h1/mlx5_0");
}

static struct evidence
paused(const char *name, uint64_t marks, uint64_t us)
{
	struct evidence evidence = receiver(name, marks, marks);

	evidence_set(&evidence, WIRE_COUNTER_PFC_RX_FRAMES, LOSSLESS, us / 100);
	evidence_set(&evidence, WIRE_COUNTER_PFC_RX_PAUSE_US, LOSSLESS, us);
	return evidence;
}

static void
steady_pauses_without_marks_and_cnps_mean_that_ecn_does_not_work(void **state)
{
	const struct evidence much = paused("h1/mlx5_0", 0, 1000000);
	const struct evidence some = paused("h1/mlx5_0", 0, 100000);
	const struct evidence little = paused("h1/mlx5_0", 0, 10000);

	(void)state;
	ROUNDS(MINUTE, &much);
	assert_answer(PROOF_ECN, PROOF_FAILING, "above that of PFC");
	assert_answer(PROOF_PFC, PROOF_FAILING, "pauses all the time");
	start_again();
	ROUNDS(MINUTE, &some);
	assert_answer(PROOF_ECN, PROOF_NOT_KNOWN, "(h1/mlx5_0): too little");
	assert_answer(PROOF_PFC, PROOF_WORKING, "rarely: for at most 2 %");
	start_again();
	ROUNDS(MINUTE, &little);
	assert_answer(PROOF_ECN, PROOF_NOT_NEEDED, "at most 0.2 %");
}

/* One mark is no proof: a spine may have set it, or the packet was a probe. */
static void
a_stray_mark_does_not_make_ecn_work_beside_steady_pauses(void **state)
{
	const struct evidence much = paused("h1/mlx5_0", 0, 4000000);
	const struct evidence one = paused("h1/mlx5_0", 1, 4000000);

	(void)state;
	ROUNDS(MINUTE - 1, &much);
	ROUNDS(1, &one);
	assert_answer(PROOF_ECN, PROOF_FAILING, "1 marks with 1200000 packets");
}

/* Its packets are marked on their way to other racks, whose receivers send the CNPs. */
static void
marks_of_other_racks_do_not_give_a_failure(void **state)
{
	struct evidence sender = paused("h1/mlx5_0", 0, 1000000);
	struct evidence ethernet0 = port("Ethernet0");

	(void)state;
	evidence_set(&sender, WIRE_COUNTER_CNP_RX_HANDLED, 0, 3000);
	ROUNDS(MINUTE, &sender);
	assert_answer(PROOF_ECN, PROOF_NOT_KNOWN, "may go to other racks");
	/* If the switch itself counts no marks, ECN is off. */
	evidence_set(&ethernet0, SWITCH_TX_PKTS, 0, 200000);
	evidence_set(&ethernet0, SWITCH_ECN_MARKED, 0, 0);
	start_again();
	ROUNDS(MINUTE, &sender, &ethernet0);
	assert_answer(PROOF_ECN, PROOF_FAILING, "marks 0 of 2400000 packets");
	assert_non_null(strstr(text, "ECN is off, or its threshold"));
	/* The switch marks some packets, so ECN is on. */
	evidence_set(&ethernet0, SWITCH_ECN_MARKED, 0, 50);
	start_again();
	ROUNDS(MINUTE, &sender, &ethernet0);
	assert_answer(PROOF_ECN, PROOF_FAILING, "): the threshold of ECN lies above");
	evidence_set(&ethernet0, SWITCH_ECN_MARKED, 0, 5000);
	start_again();
	ROUNDS(MINUTE, &sender, &ethernet0);
	assert_answer(PROOF_ECN, PROOF_WORKING, "20 % of the time (h1/mlx5_0) never");
}

/* The marks of the congested port are 0.05 % of all packets of the switch. */
static void
marks_of_one_congested_port_do_not_vanish_among_the_others(void **state)
{
	struct evidence sender = paused("h1/mlx5_0", 0, 1000000);
	struct evidence hot = port("Ethernet0"), cold = port("Ethernet4");

	(void)state;
	evidence_set(&hot, SWITCH_TX_PKTS, 0, 100000);
	evidence_set(&hot, SWITCH_ECN_MARKED, 0, 2000);
	evidence_set(&cold, SWITCH_TX_PKTS, 0, 3900000);
	evidence_set(&cold, SWITCH_ECN_MARKED, 0, 0);
	ROUNDS(MINUTE, &sender, &hot, &cold);
	assert_answer(PROOF_ECN, PROOF_WORKING, "marks 24000 of 48000000 packets");
}

/* As with bnxt, ice or a Nexus. */
static void
frames_of_unknown_duration_never_exclude_congestion(void **state)
{
	struct evidence many = receiver("h1/bnxt0", 0, 0), marked;

	(void)state;
	evidence_set(&many, WIRE_COUNTER_PFC_RX_FRAMES, LOSSLESS, 4000000);
	ROUNDS(1, &many);
	assert_answer(PROOF_ECN, PROOF_NOT_KNOWN, "4000000 PFC frames were sent");
	assert_answer(PROOF_PFC, PROOF_NOT_KNOWN, "up to 800000 a second");
	marked = many;
	evidence_set(&marked, WIRE_COUNTER_ECN_CE_RX, 0, 1);
	start_again();
	ROUNDS(1, &marked);
	assert_answer(PROOF_ECN, PROOF_NOT_KNOWN, "Few packets are marked, 1 received");
	evidence_set(&many, WIRE_COUNTER_PFC_RX_FRAMES, LOSSLESS, 20);
	start_again();
	ROUNDS(1, &many);
	assert_answer(PROOF_PFC, PROOF_WORKING, "20 frames, less than 10 a second");
}

/* The other end of the same link counts the time. */
static void
a_time_counted_by_the_other_end_is_known(void **state)
{
	struct evidence frames = receiver("h1/ice0", 0, 0);
	struct evidence ethernet0 = port("Ethernet0");

	(void)state;
	evidence_set(&frames, WIRE_COUNTER_PFC_RX_FRAMES, LOSSLESS, 4000);
	evidence_set(&ethernet0, SWITCH_PFC_TX_FRAMES, LOSSLESS, 4000);
	evidence_set(&ethernet0, SWITCH_PFC_TX_PAUSE_US, LOSSLESS, 10000);
	ROUNDS(MINUTE, &frames, &ethernet0);
	assert_answer(PROOF_PFC, PROOF_WORKING, "at most 0.2 % of the time (port Eth");
}

/* A packet that WRED drops was not marked. */
static void
a_switch_that_drops_has_congestion(void **state)
{
	struct evidence quiet = paused("h1/mlx5_0", 0, 0);
	struct evidence ethernet0 = port("Ethernet0");

	(void)state;
	evidence_set(&ethernet0, SWITCH_TX_PKTS, 0, 200000);
	evidence_set(&ethernet0, SWITCH_ECN_MARKED, 0, 0);
	evidence_set(&ethernet0, SWITCH_TX_DISCARDS, 0, 300);
	evidence_set(&ethernet0, SWITCH_QUEUE_DROP_PKTS, 3, 400);
	ROUNDS(2, &quiet, &ethernet0);
	assert_answer(PROOF_ECN, PROOF_NOT_KNOWN, "the switch dropped 800");
}

static void
a_few_counting_parts_do_not_decide_for_the_rack(void **state)
{
	const struct evidence one = receiver("h1/mlx5_0", 0, 0);
	struct evidence none[9];
	const struct evidence *all[10] = { &one };

	(void)state;
	for (int i = 0; i < 9; i++) {
		char name[16];

		snprintf(name, sizeof(name), "h%d/rxe0", i + 2);
		none[i] = rnic(name);
		all[i + 1] = &none[i];
	}
	rounds(all, 10, 2);
	assert_answer(PROOF_ECN, PROOF_NOT_KNOWN, "by 1 of 10 RNICs");
	assert_answer(PROOF_CNP, PROOF_NOT_KNOWN, "1 of 10 RNICs count");
	start_again();
	rounds(all, 2, 2);
	assert_answer(PROOF_ECN, PROOF_NOT_KNOWN, "pauses are not counted");
}

static void
a_storm_is_not_reported_as_failing_ecn(void **state)
{
	struct evidence victim = paused("h1/mlx5_0", 0, 3000000);
	struct evidence storming = receiver("h5/mlx5_0", 0, 0);

	(void)state;
	evidence_set(&storming, WIRE_COUNTER_PFC_TX_FRAMES, LOSSLESS, 60000);
	evidence_set(&storming, WIRE_COUNTER_PFC_TX_PAUSE_US, LOSSLESS, 3000000);
	ROUNDS(1, &storming);
	assert_answer(PROOF_ECN, PROOF_NOT_KNOWN, "too short");
	ROUNDS(MINUTE, &victim, &storming);
	assert_answer(PROOF_ECN, PROOF_NOT_KNOWN, "60 % of the time (h5/mlx5_0)");
	assert_answer(PROOF_PFC, PROOF_FAILING, "delays the switch for 60 %");
}

static void
a_short_pause_is_no_steady_state(void **state)
{
	const struct evidence quiet = paused("h1/mlx5_0", 0, 0);
	const struct evidence other = paused("h2/mlx5_0", 0, 600000);
	const struct evidence once = paused("h1/mlx5_0", 0, 300000);

	(void)state;
	ROUNDS(MINUTE - 1, &quiet);
	ROUNDS(1, &once);
	assert_answer(PROOF_PFC, PROOF_WORKING, "at most 0.5 % of the time (h1/mlx5_0");
	assert_answer(PROOF_ECN, PROOF_NOT_NEEDED, "no lasting congestion");
	ROUNDS(MINUTE / 2, &quiet, &other);
	assert_answer(PROOF_PFC, PROOF_FAILING, "12 % of the time (h2/mlx5_0");
	assert_int_equal(total.pauses[PROOF_HOST][LOSSLESS].paused.steady, 1);
}

/* A counter may grow by more time than has passed: here 5.1 s in 5 s. */
static void
a_share_of_pause_time_is_at_most_100_percent(void **state)
{
	const struct evidence all = paused("h1/mlx5_0", 0, 5100000);

	(void)state;
	ROUNDS(MINUTE, &all);
	assert_answer(PROOF_PFC, PROOF_FAILING, "for 100 % of the time");
}

static void
marks_without_cnps_and_cnps_without_effect_are_failures(void **state)
{
	struct evidence silent = receiver("h1/mlx5_0", 50000, 0);

	(void)state;
	ROUNDS(1, &silent);
	assert_answer(PROOF_CNP, PROOF_FAILING, "h1/mlx5_0 answers 50000 marks with 0");
	start_again();
	evidence_set(&silent, WIRE_COUNTER_CNP_TX, 0, 9000);
	evidence_set(&silent, WIRE_COUNTER_CNP_RX_HANDLED, 0, 100);
	evidence_set(&silent, WIRE_COUNTER_CNP_RX_IGNORED, 0, 900);
	ROUNDS(1, &silent);
	assert_answer(PROOF_CNP, PROOF_FAILING, "ignores 900 of the 1000");
}

/* In the rack's sum the missing CNPs would not show. */
static void
one_rnic_without_cnps_is_named_among_those_that_send_them(void **state)
{
	struct evidence parts[16];
	const struct evidence *all[16];

	(void)state;
	for (int i = 0; i < 16; i++) {
		char name[16];

		snprintf(name, sizeof(name), "h%d/mlx5_0", i);
		parts[i] = receiver(name, 10000, i == 7 ? 0 : 8000);
		evidence_set(&parts[i], WIRE_COUNTER_CNP_RX_HANDLED, 0, 7000);
		all[i] = &parts[i];
	}
	rounds(all, 16, 1);
	assert_answer(PROOF_CNP, PROOF_FAILING, "h7/mlx5_0 answers 10000 marks with 0");
	parts[9] = parts[7];
	snprintf(parts[9].name, sizeof(parts[9].name), "h9/mlx5_0");
	start_again();
	rounds(all, 16, 1);
	assert_answer(PROOF_CNP, PROOF_FAILING, "and 1 other answers");
}

static void
a_few_marks_without_cnps_give_no_failure(void **state)
{
	const struct evidence few = receiver("h1/mlx5_0", 900, 0);

	(void)state;
	ROUNDS(1, &few);
	assert_answer(PROOF_CNP, PROOF_NOT_KNOWN, "900 marks and sent no CNP");
}

static void
cnps_that_leave_the_rack_give_no_failure(void **state)
{
	const struct evidence to = receiver("h1/mlx5_0", 10000, 8000);
	struct evidence both = rnic("h2/irdma0");

	(void)state;
	ROUNDS(1, &to);
	assert_answer(PROOF_CNP, PROOF_NOT_KNOWN, "sent 8000 CNPs and received none");
	/* Without counters of marks; the CNPs are counted. */
	start_again();
	evidence_set(&both, WIRE_COUNTER_CNP_TX, 0, 5000);
	evidence_set(&both, WIRE_COUNTER_CNP_RX_HANDLED, 0, 4000);
	ROUNDS(1, &both);
	assert_answer(PROOF_CNP, PROOF_WORKING, "sent 5000 CNPs");
}

static void
only_the_last_minute_is_kept(void **state)
{
	const struct evidence marked = receiver("h1/mlx5_0", 90000, 0);
	const struct evidence quiet = receiver("h1/mlx5_0", 0, 0);

	(void)state;
	ROUNDS(3, &marked);
	ROUNDS(MINUTE, &quiet);
	assert_int_equal(total.ratios[PROOF_HOST_CE].counted, 1);
	assert_int_equal(total.parts[PROOF_HOST].ns, 60 * S);
	assert_ratio(PROOF_HOST_CE, 0);
	assert_int_equal(total.ratios[PROOF_HOST_CE].per, MINUTE * 100000);
}

static void
short_readings_are_merged(void **state)
{
	struct evidence ethernet0 = port("Ethernet0");

	(void)state;
	evidence_set(&ethernet0, SWITCH_TX_PKTS, 0, 1000);
	evidence_set(&ethernet0, SWITCH_ECN_MARKED, 0, 10);
	ethernet0.switch_ns = S;
	for (int i = 0; i < 200; i++) {
		now = rm_mono_add(now, S);
		proof_add_port(proof, &ethernet0, now);
	}
	proof_sum_up(proof, now, &total);
	assert_int_equal(total.ratios[PROOF_SWITCH_CE].per, 60000);
	assert_int_equal(total.parts[PROOF_SWITCH].ns, 60 * S);
}

/* switch.interval_s may be an hour, and a Nexus is not read for minutes after an error.
 */
static void
a_reading_counts_until_twice_its_interval(void **state)
{
	const struct evidence quiet = receiver("h1/mlx5_0", 0, 0);
	struct evidence ethernet0 = port("Ethernet0");
	double pct;

	(void)state;
	proof_sum_up(proof, now, &total);
	assert_int_equal(
	    proof_read(&total, PROOF_SWITCH_CE, &pct, text), PROOF_UNKNOWN);
	assert_string_equal(text, "the switch is not read, or was read only once");
	evidence_set(&ethernet0, SWITCH_TX_PKTS, 0, 200000);
	evidence_set(&ethernet0, SWITCH_ECN_MARKED, 0, 5000);
	ethernet0.switch_ns = 300 * S;
	ROUNDS(1, &ethernet0);
	ROUNDS(590 / 5, &quiet);
	assert_ratio(PROOF_SWITCH_CE, 2.5);
	assert_int_equal(total.parts[PROOF_SWITCH].age_ns, 590 * S);
	ROUNDS(4, &quiet);
	assert_int_equal(
	    proof_read(&total, PROOF_SWITCH_CE, &pct, text), PROOF_UNKNOWN);
	assert_string_equal(text, "the switch was last read 610 s ago");
	assert_int_equal(total.parts[PROOF_SWITCH].read, 0);
}

static void
a_removed_part_does_not_count_any_more(void **state)
{
	const struct evidence gone = rnic("h1/mlx5_0"), there = rnic("h2/mlx5_0");

	(void)state;
	ROUNDS(2, &gone, &there);
	assert_int_equal(total.parts[PROOF_HOST].read, 2);
	ROUNDS(MINUTE, &there);
	assert_int_equal(total.parts[PROOF_HOST].read, 1);
	assert_int_equal(total.ratios[PROOF_HOST_CE].missing, 1);
}

static struct evidence
counting_all(const char *name)
{
	struct evidence evidence = receiver(name, 5000, 4000);

	evidence_set(&evidence, WIRE_COUNTER_RDMA_TX_PKTS, 0, 70000);
	evidence_set(&evidence, WIRE_COUNTER_CNP_RX_HANDLED, 0, 300);
	evidence_set(&evidence, WIRE_COUNTER_CNP_RX_IGNORED, 0, 30);
	return evidence;
}

/* Each RNIC counts with one minute, however often it is read. */
static void
cnps_of_a_minute_are_those_of_rnics_that_count_them_all(void **state)
{
	struct evidence often = counting_all("h1/mlx5_0"),
			seldom = counting_all("h2/mlx5_0"), late, part;
	struct proof_cnps cnps;
	uint64_t sent;

	(void)state;
	part = receiver(
	    "h3/mlx5_0", 5000, 4000); /* it does not count CNPs that it sends */
	ROUNDS(5, &often, &part);
	assert_int_equal(proof_cnps(proof, now).rnics, 0); /* after 25 s */
	ROUNDS(7, &often, &part);
	seldom.host_ns = 120 * S;
	late = counting_all("h4/mlx5_0");
	ROUNDS(1, &often, &part, &seldom, &late);
	cnps = proof_cnps(proof, now);
	assert_int_equal(cnps.rnics, 2);
	assert_int_equal(
	    proof_cnp_counters(proof, "h1/mlx5_0", now, &sent), PROOF_COUNTS_CNPS);
	assert_int_equal(
	    proof_cnp_counters(proof, "h2/mlx5_0", now, &sent), PROOF_COUNTS_CNPS);
	assert_int_equal(
	    proof_cnp_counters(proof, "h3/mlx5_0", now, &sent), PROOF_COUNTS_NONE);
	assert_int_equal(
	    proof_cnp_counters(proof, "h4/mlx5_0", now, &sent), PROOF_COUNTS_NONE);
	assert_int_equal(
	    proof_cnp_counters(proof, "h5/mlx5_0", now, &sent), PROOF_COUNTS_NONE);
	assert_int_equal(sent, 0);
	assert_int_equal(cnps.rdma_sent, 12 * 70000 + 70000 / 2);
	assert_int_equal(cnps.rdma_received, 12 * 100000 + 100000 / 2);
	assert_int_equal(cnps.cnps_sent, 12 * 4000 + 4000 / 2);
	assert_int_equal(cnps.cnps_received, 12 * 330 + 330 / 2);
	now = rm_mono_add(now, 600 * S);
	assert_int_equal(proof_cnps(proof, now).rnics, 0);
}

/* A virtual function of mlx5 counts its packets, but no CNPs. */
static void
packets_of_an_rnic_without_counters_of_cnps_are_known(void **state)
{
	struct evidence all = counting_all("h1/mlx5_0"), vf = { .name = "h2/mlx5_0" };
	uint64_t sent;

	(void)state;
	vf.host_ns = all.host_ns;
	evidence_set(&vf, WIRE_COUNTER_RDMA_TX_PKTS, 0, 70000);
	ROUNDS(5, &all, &vf);
	assert_int_equal(proof_cnp_counters(proof, "h2/mlx5_0", now, &sent),
	    PROOF_COUNTS_NONE); /* after 25 s */
	ROUNDS(7, &all, &vf);
	assert_int_equal(
	    proof_cnp_counters(proof, "h2/mlx5_0", now, &sent), PROOF_COUNTS_SENT);
	assert_int_equal(sent, 12 * 70000);
	assert_int_equal(proof_cnps(proof, now).rnics, 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_chain_from_switch_to_receiver_to_sender_is_shown),
		TEST(uncounted_figures_are_unknown_with_a_reason),
		TEST(zero_is_a_known_value_and_no_fault),
		TEST(a_ratio_uses_only_parts_that_count_both_sides),
		TEST(new_and_reset_parts_are_not_parts_without_counters),
		TEST(pauses_stand_side_by_side_for_each_priority),
		TEST(steady_pauses_without_marks_and_cnps_mean_that_ecn_does_not_work),
		TEST(a_stray_mark_does_not_make_ecn_work_beside_steady_pauses),
		TEST(marks_of_other_racks_do_not_give_a_failure),
		TEST(marks_of_one_congested_port_do_not_vanish_among_the_others),
		TEST(frames_of_unknown_duration_never_exclude_congestion),
		TEST(a_time_counted_by_the_other_end_is_known),
		TEST(a_switch_that_drops_has_congestion),
		TEST(a_few_counting_parts_do_not_decide_for_the_rack),
		TEST(a_storm_is_not_reported_as_failing_ecn),
		TEST(a_short_pause_is_no_steady_state),
		TEST(a_share_of_pause_time_is_at_most_100_percent),
		TEST(marks_without_cnps_and_cnps_without_effect_are_failures),
		TEST(one_rnic_without_cnps_is_named_among_those_that_send_them),
		TEST(a_few_marks_without_cnps_give_no_failure),
		TEST(cnps_that_leave_the_rack_give_no_failure),
		TEST(only_the_last_minute_is_kept),
		TEST(short_readings_are_merged),
		TEST(a_reading_counts_until_twice_its_interval),
		TEST(a_removed_part_does_not_count_any_more),
		TEST(cnps_of_a_minute_are_those_of_rnics_that_count_them_all),
		TEST(packets_of_an_rnic_without_counters_of_cnps_are_known),
	};

	return cmocka_run_group_tests_name("proof", tests, NULL, NULL);
}
