#include "tor-aggregator/diagnosis/proof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define S INT64_C(1000000000)
#define LOSSLESS 3

static struct proof proof;
static struct proof_round total;
static char text[PROOF_TEXT];

static int
setup(void **state)
{
	(void)state;
	memset(&proof, 0, sizeof(proof));
	return 0;
}

static struct evidence
rnic(const char *name)
{
	struct evidence evidence = { .host_ns = 5 * S };

	snprintf(evidence.name, sizeof(evidence.name), "%s", name);
	return evidence;
}

/* A receiver of 100000 packets with so many marks, which it answers with CNPs. */
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
	struct evidence evidence = { .switch_ns = 10 * S };

	snprintf(evidence.port, sizeof(evidence.port), "%s", name);
	return evidence;
}

static void
end_round(void)
{
	proof_end_round(&proof, 5 * S);
	proof_total(&proof, &total);
}

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
	const enum proof_state state = proof_answer(&total, question, text);

	if (state != expected || strstr(text, sentence) == NULL)
		fail_msg("%s: %s: %s", proof_question_word(question),
		    proof_state_word(state), text);
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
	proof_add_rnic(&proof, &to);
	proof_add_rnic(&proof, &from);
	proof_add_port(&proof, &ethernet0);
	proof_add_probes(&proof, 1000, 20);
	end_round();
	assert_ratio(PROOF_PROBE_CE, 2);
	assert_ratio(PROOF_SWITCH_CE, 2.5);
	assert_ratio(PROOF_HOST_CE, 2.5);
	assert_ratio(PROOF_CNP_PER_CE, 80);
	assert_ratio(PROOF_CNP_BALANCE, 95);
	assert_answer(PROOF_ECN, PROOF_WORKING, "5000 received by RNICs");
	assert_answer(PROOF_CNP, PROOF_WORKING, "sent 4000 CNPs and received 3800");
	assert_answer(PROOF_PFC, PROOF_NOT_KNOWN, "Neither an RNIC nor the switch");
}

static void
what_nobody_counts_is_unknown_and_says_why(void **state)
{
	const struct evidence none = rnic("h1/rxe0");
	double value = 7;

	(void)state;
	proof_add_rnic(&proof, &none);
	end_round();
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
zero_is_known_and_is_no_fault(void **state)
{
	struct evidence quiet = receiver("h1/mlx5_0", 0, 0);

	(void)state;
	evidence_set(&quiet, WIRE_COUNTER_PFC_RX_FRAMES, LOSSLESS, 0);
	proof_add_rnic(&proof, &quiet);
	end_round();
	assert_ratio(PROOF_HOST_CE, 0);
	assert_answer(PROOF_ECN, PROOF_NOT_NEEDED, "no congestion");
	assert_answer(PROOF_CNP, PROOF_NOT_NEEDED, "No mark");
	assert_answer(PROOF_PFC, PROOF_NOT_NEEDED, "Nobody pauses");
	assert_int_equal(
	    proof_read(&total, PROOF_CNP_PER_CE, &(double){ 0 }, text), PROOF_IDLE);
}

/* Packets of an RNIC that counts no marks would make the share too small. */
static void
a_ratio_is_of_those_that_count_both_sides(void **state)
{
	const struct evidence good = receiver("h1/mlx5_0", 5000, 4000);
	struct evidence half = rnic("h2/bnxt0");

	(void)state;
	evidence_set(&half, WIRE_COUNTER_RDMA_RX_PKTS, 0, 900000);
	proof_add_rnic(&proof, &good);
	proof_add_rnic(&proof, &half);
	end_round();
	assert_ratio(PROOF_HOST_CE, 5);
	assert_string_equal(text, "1 of 2 do not count it");
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
	proof_add_rnic(&proof, &storming);
	proof_add_port(&proof, &ethernet4);
	end_round();
	assert_int_equal(total.pauses[PROOF_HOST][LOSSLESS].sent, 40000);
	assert_float_equal(total.pauses[PROOF_HOST][LOSSLESS].pausing_pct, 40, 1e-6);
	assert_string_equal(total.pauses[PROOF_HOST][LOSSLESS].pausing, "h1/mlx5_0");
	assert_int_equal(total.pauses[PROOF_SWITCH][LOSSLESS].received, 39000);
	assert_true(total.pauses[PROOF_SWITCH][LOSSLESS].knows_received);
	assert_false(total.pauses[PROOF_SWITCH][LOSSLESS].knows_sent);
	assert_false(total.pauses[PROOF_SWITCH][LOSSLESS].knows_paused);
	assert_false(total.pauses[PROOF_HOST][0].knows_sent);
	assert_answer(PROOF_PFC, PROOF_FAILING, "steady state");
}

static void
pauses_without_marks_mean_that_ecn_does_not_work(void **state)
{
	struct evidence paused = receiver("h1/mlx5_0", 0, 0);

	(void)state;
	evidence_set(&paused, WIRE_COUNTER_PFC_RX_PAUSE_US, LOSSLESS, 1000000);
	proof_add_rnic(&proof, &paused);
	end_round();
	assert_answer(PROOF_ECN, PROOF_FAILING, "above that of PFC");
	evidence_set(&paused, WIRE_COUNTER_PFC_RX_PAUSE_US, LOSSLESS, 100000);
	setup(NULL);
	proof_add_rnic(&proof, &paused);
	end_round();
	assert_answer(PROOF_ECN, PROOF_NOT_NEEDED, "no congestion");
	assert_answer(PROOF_PFC, PROOF_WORKING, "the backstop: at most 2 %");
}

static void
marks_without_cnps_and_cnps_without_effect_are_failures(void **state)
{
	struct evidence deaf = receiver("h1/mlx5_0", 50000, 0);

	(void)state;
	proof_add_rnic(&proof, &deaf);
	end_round();
	assert_answer(PROOF_CNP, PROOF_FAILING, "50000 marks with 0 CNPs");
	setup(NULL);
	evidence_set(&deaf, WIRE_COUNTER_CNP_TX, 0, 9000);
	evidence_set(&deaf, WIRE_COUNTER_CNP_RX_HANDLED, 0, 100);
	evidence_set(&deaf, WIRE_COUNTER_CNP_RX_IGNORED, 0, 900);
	proof_add_rnic(&proof, &deaf);
	end_round();
	assert_answer(PROOF_CNP, PROOF_FAILING, "ignore 90 %");
}

static void
the_last_minute_is_kept_and_no_more(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PROOF_ROUNDS + 3; i++) {
		const struct evidence one = receiver("h1/mlx5_0", i < 3 ? 90000 : 0, 0);

		proof_add_rnic(&proof, &one);
		end_round();
		assert_int_equal(total.ratios[PROOF_HOST_CE].counted, 1);
	}
	assert_int_equal(total.ns, PROOF_ROUNDS * 5 * S);
	assert_ratio(PROOF_HOST_CE, 0);
	assert_int_equal(total.ratios[PROOF_HOST_CE].per, PROOF_ROUNDS * 100000);
}

#define TEST(fn) cmocka_unit_test_setup(fn, setup)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_chain_from_switch_to_receiver_to_sender_is_shown),
		TEST(what_nobody_counts_is_unknown_and_says_why),
		TEST(zero_is_known_and_is_no_fault),
		TEST(a_ratio_is_of_those_that_count_both_sides),
		TEST(pauses_stand_side_by_side_for_each_priority),
		TEST(pauses_without_marks_mean_that_ecn_does_not_work),
		TEST(marks_without_cnps_and_cnps_without_effect_are_failures),
		TEST(the_last_minute_is_kept_and_no_more),
	};

	return cmocka_run_group_tests_name("proof", tests, NULL, NULL);
}
