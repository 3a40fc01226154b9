#include "tor-aggregator/judge/evidence_flows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schemas/wire.h"
#include "tor-aggregator/window/ring.h"

#define MS RM_NS_PER_MS
#define SECONDS 5
#define END (100 * RM_NS_PER_S)
#define RNICS 3
#define FLOWS 4
#define PROBES 8 /* probes of a flow in a second */

struct probe {
	unsigned src, dst, flow, number;
};

typedef bool is_lost(const struct probe *probe);

static int
setup(void **state)
{
	return ring_new(1 << 20, (struct ring **)state);
}

static int
teardown(void **state)
{
	ring_free(*state);
	return 0;
}

static void
put_of(struct ring *ring, const struct probe *probe, int64_t sent_ns, bool lost,
    enum wire_probe_kind kind)
{
	const struct wire_result result = { .src_guid = probe->src,
		.src_port_num = 1,
		.dst_guid = probe->dst,
		.dst_port_num = 1,
		.src_port = (uint16_t)(50000 + probe->flow),
		.outcome = lost ? WIRE_NO_REPLY : WIRE_OK,
		.dscp = probe->number % 2 ? 26 : 0,
		.kind = kind };

	ring_put(ring, (rm_mono_t){ sent_ns }, false, &result);
}

static void
put(struct ring *ring, const struct probe *probe, int64_t sent_ns, bool lost)
{
	put_of(ring, probe, sent_ns, lost, WIRE_TOR_MESH);
}

/* All RNICs probe each other. Returns whether RNIC 0 lost flows. */
static bool
run(struct ring *ring, is_lost *lost)
{
	struct probe p = { 0 };

	for (int64_t at = END - SECONDS * RM_NS_PER_S; at < END;
	     at += RM_NS_PER_S / PROBES, p.number++)
		for (p.src = 0; p.src < RNICS; p.src++)
			for (p.dst = 0; p.dst < RNICS; p.dst++)
				for (p.flow = 0; p.flow < FLOWS && p.src != p.dst;
				     p.flow++)
					put(ring, &p, at, lost(&p));
	return evidence_flows_are_lost(ring, (struct wire_rnic_id){ 0, 1 },
	    (rm_mono_t){ END - SECONDS * RM_NS_PER_S }, (rm_mono_t){ END });
}

static bool
some_flows(const struct probe *p)
{
	return (p->src + 2 * p->dst + p->flow) % 3 == 0;
}

static void
flows_that_all_rnics_lose_are_found(void **state)
{
	assert_true(run(*state, some_flows));
}

/* The first two and a half seconds are without a loss. */
static bool
some_flows_later(const struct probe *p)
{
	return p->number >= 5 * PROBES / 2 && some_flows(p);
}

static void
a_fault_that_begins_within_a_second_is_found(void **state)
{
	assert_true(run(*state, some_flows_later));
}

static bool
is_at_0(const struct probe *p)
{
	return p->src == 0 || p->dst == 0;
}

/* A number that looks random. */
static unsigned
roll(const struct probe *p)
{
	unsigned x =
	    p->number * 7919 + p->src * 104729 + p->dst * 1299709 + p->flow * 15485863;

	x ^= x >> 13;
	x *= 0x5bd1e995;
	return (x ^ x >> 15) % 100;
}

static bool
some_packets_of_0_and_1(const struct probe *p)
{
	return (is_at_0(p) || p->src == 1 || p->dst == 1) && roll(p) < 40;
}

static void
packets_that_two_lossy_rnics_lose_are_no_flows(void **state)
{
	assert_false(run(*state, some_packets_of_0_and_1));
}

static bool
some_flows_of_0(const struct probe *p)
{
	return is_at_0(p) && some_flows(p);
}

static void
flows_that_one_rnic_alone_loses_are_its_own(void **state)
{
	assert_false(run(*state, some_flows_of_0));
}

static bool
some_packets_of_0_beside_a_dead_rnic(const struct probe *p)
{
	return p->src == 2 || p->dst == 2 || (is_at_0(p) && roll(p) < 20);
}

static void
flows_to_a_dead_rnic_do_not_count(void **state)
{
	assert_false(run(*state, some_packets_of_0_beside_a_dead_rnic));
}

static bool
one_class(const struct probe *p)
{
	return p->number % 2 == 0;
}

static void
a_class_that_is_lost_is_no_flow(void **state)
{
	assert_false(run(*state, one_class));
}

/* RNICs 0 and 1 are the rack. They probe each other and two RNICs of other racks. */
static bool
run_rack_of_two(struct ring *ring, is_lost *lost)
{
	struct probe p = { 0 };

	for (int64_t at = END - SECONDS * RM_NS_PER_S; at < END;
	     at += RM_NS_PER_S / PROBES, p.number++)
		for (p.src = 0; p.src <= 1; p.src++)
			for (p.dst = 0; p.dst <= 3; p.dst++)
				for (p.flow = 0; p.flow < FLOWS && p.src != p.dst;
				     p.flow++)
					put_of(ring, &p, at, lost(&p),
					    p.dst <= 1 ? WIRE_TOR_MESH
						       : WIRE_INTER_TOR);
	return evidence_flows_are_lost(ring, (struct wire_rnic_id){ 0, 1 },
	    (rm_mono_t){ END - SECONDS * RM_NS_PER_S }, (rm_mono_t){ END });
}

static void
in_a_rack_of_two_flows_to_other_racks_decide(void **state)
{
	assert_true(run_rack_of_two(*state, some_flows));
}

static void
in_a_rack_of_two_lost_packets_are_no_flows(void **state)
{
	assert_false(run_rack_of_two(*state, some_packets_of_0_beside_a_dead_rnic));
	assert_false(run_rack_of_two(*state, some_packets_of_0_and_1));
}

/* RNIC 0 loses all packets of two of its flows to other racks. */
static bool
two_flows_of_0(const struct probe *p)
{
	return p->src == 0 && p->dst >= 2 && p->flow == 0;
}

static bool
two_flows_of_0_and_packets_of_both(const struct probe *p)
{
	return two_flows_of_0(p) || roll(p) < 20;
}

static bool
two_flows_and_packets_of_0(const struct probe *p)
{
	return two_flows_of_0(p) || (is_at_0(p) && roll(p) < 20);
}

static void
beside_lost_flows_packets_that_both_rnics_of_a_rack_lose_are_not_those_of_one(
    void **state)
{
	assert_true(run_rack_of_two(*state, two_flows_of_0_and_packets_of_both));
}

static void
beside_lost_flows_packets_that_one_rnic_of_two_loses_are_its_own(void **state)
{
	assert_false(run_rack_of_two(*state, two_flows_and_packets_of_0));
}

static bool
nothing(const struct probe *p)
{
	return false;
}

static bool
everything(const struct probe *p)
{
	return true;
}

static void
without_losses_or_without_answers_no_flow_stands_out(void **state)
{
	assert_false(run(*state, nothing));
	assert_false(run(*state, everything));
}

/* Each remote RNIC is in a rack of its own, and flows cross two spines in turn. */
static struct evidence_path
two_racks_two_spines(const void *arg, struct wire_rnic_id src, struct wire_rnic_id dst,
    uint16_t src_port, rm_mono_t sent)
{
	return (struct evidence_path){ (uint16_t)dst.guid, 1U << src_port % 2 };
}

/* Each flow crosses a spine of its own. */
static struct evidence_path
two_racks_eight_spines(const void *arg, struct wire_rnic_id src,
    struct wire_rnic_id dst, uint16_t src_port, rm_mono_t sent)
{
	return (struct evidence_path){ (uint16_t)dst.guid,
		1U << (src_port % FLOWS + FLOWS * (dst.guid - 1)) };
}

static struct evidence_path
one_rack(const void *arg, struct wire_rnic_id src, struct wire_rnic_id dst,
    uint16_t src_port, rm_mono_t sent)
{
	return (struct evidence_path){ 1, 1U << src_port % 2 };
}

static struct evidence_path
one_spine(const void *arg, struct wire_rnic_id src, struct wire_rnic_id dst,
    uint16_t src_port, rm_mono_t sent)
{
	return (struct evidence_path){ (uint16_t)dst.guid, 4 };
}

static struct evidence_path
untraced(const void *arg, struct wire_rnic_id src, struct wire_rnic_id dst,
    uint16_t src_port, rm_mono_t sent)
{
	return (struct evidence_path){ (uint16_t)dst.guid, UINT64_MAX };
}

static enum rack_flows
compare(struct ring *ring, evidence_path_of *path_of)
{
	return evidence_flows_lose_alike(ring, (struct wire_rnic_id){ 0, 1 },
	    (rm_mono_t){ END - 3 * SECONDS * RM_NS_PER_S }, (rm_mono_t){ END }, path_of,
	    NULL);
}

/* RNIC 0 probes two RNICs of other racks. Returns how their losses
 * compare. */
static enum rack_flows
run_over(struct ring *ring, is_lost *lost, evidence_path_of *path_of)
{
	struct probe p = { 0 };

	for (int64_t at = END - 3 * SECONDS * RM_NS_PER_S; at < END;
	     at += RM_NS_PER_S / PROBES, p.number++)
		for (p.dst = 1; p.dst < RNICS; p.dst++)
			for (p.flow = 0; p.flow < FLOWS; p.flow++) {
				const struct wire_result result = { .src_guid = p.src,
					.src_port_num = 1,
					.dst_guid = p.dst,
					.dst_port_num = 1,
					.src_port = (uint16_t)(50000 + p.flow),
					.outcome = lost(&p) ? WIRE_NO_REPLY : WIRE_OK,
					.kind = WIRE_WITNESS };

				ring_put(ring, (rm_mono_t){ at }, false, &result);
			}
	return compare(ring, path_of);
}

static enum rack_flows
run_outside(struct ring *ring, is_lost *lost)
{
	return run_over(ring, lost, two_racks_two_spines);
}

static bool
a_tenth_of_all(const struct probe *p)
{
	return roll(p) < 10;
}

static bool
a_tenth_of_most_flows(const struct probe *p)
{
	return p->flow % 4 != 0 && roll(p) < 10;
}

static bool
a_tenth_to_one_rack(const struct probe *p)
{
	return p->dst == 1 && roll(p) < 20;
}

/* A link loses packets in both directions, and half of the replies cross it, whatever
 * the probe crossed. */
static bool
more_over_one_spine(const struct probe *p)
{
	return roll(p) < (p->flow % 2 == 0 ? 16 : 8);
}

static bool
more_of_one_flow(const struct probe *p)
{
	return roll(p) < (p->dst == 1 && p->flow == 1 ? 20 : 12);
}

static bool
some_of_all_flows_but_one(const struct probe *p)
{
	return (p->dst != 1 || p->flow != 0) && roll(p) < 6;
}

static bool
a_few(const struct probe *p)
{
	return roll(p) < 1;
}

static void
losses_of_all_flows_are_alike(void **state)
{
	assert_int_equal(run_outside(*state, a_tenth_of_all), RACK_FLOWS_ALIKE);
}

static void
losses_of_some_flows_or_racks_are_not_alike(void **state)
{
	assert_int_equal(
	    run_outside(*state, a_tenth_of_most_flows), RACK_FLOWS_DIFFERENT);
	assert_int_equal(
	    run_outside(*state, a_tenth_to_one_rack), RACK_FLOWS_DIFFERENT);
}

static void
losses_at_two_rates_over_two_spines_are_not_alike(void **state)
{
	assert_int_equal(
	    run_outside(*state, more_over_one_spine), RACK_FLOWS_DIFFERENT);
}

/* One of many switches has more losses than the others by chance. */
static void
somewhat_more_losses_over_one_of_many_spines_are_alike(void **state)
{
	assert_int_equal(run_over(*state, more_of_one_flow, two_racks_eight_spines),
	    RACK_FLOWS_ALIKE);
}

static void
losses_of_all_flows_but_one_are_not_alike(void **state)
{
	assert_int_equal(
	    run_outside(*state, some_of_all_flows_but_one), RACK_FLOWS_DIFFERENT);
}

static void
losses_of_all_flows_may_be_those_of_a_part_that_all_cross(void **state)
{
	assert_int_equal(
	    run_over(*state, a_tenth_of_all, one_rack), RACK_FLOWS_TOO_FEW);
	assert_int_equal(
	    run_over(*state, a_tenth_of_all, one_spine), RACK_FLOWS_TOO_FEW);
	assert_int_equal(
	    run_over(*state, a_tenth_of_all, untraced), RACK_FLOWS_TOO_FEW);
}

static void
few_losses_do_not_show_whether_flows_lose_alike(void **state)
{
	assert_int_equal(run_outside(*state, a_few), RACK_FLOWS_TOO_FEW);
	assert_int_equal(run_outside(*state, nothing), RACK_FLOWS_TOO_FEW);
}

/* The others of a large rack probe each other, too. */
static void
many_results_of_other_rnics_do_not_hide_the_flows(void **state)
{
	const struct wire_result other = { .src_guid = 8,
		.src_port_num = 1,
		.dst_guid = 9,
		.dst_port_num = 1,
		.outcome = WIRE_OK,
		.kind = WIRE_TOR_MESH };
	struct ring *ring;

	(void)state;
	assert_int_equal(ring_new(100000 * sizeof(struct ring_result), &ring), 0);
	run_outside(ring, a_tenth_of_all);
	for (int i = 0; i < 70000; i++)
		ring_put(ring, (rm_mono_t){ END - 1 }, false, &other);
	assert_int_equal(compare(ring, two_racks_two_spines), RACK_FLOWS_ALIKE);
	ring_free(ring);
}

static void
a_ring_that_holds_too_little_shows_nothing(void **state)
{
	struct ring *ring;

	(void)state;
	assert_int_equal(ring_new(100 * sizeof(struct ring_result), &ring), 0);
	assert_int_equal(run_outside(ring, a_tenth_of_all), RACK_FLOWS_TOO_FEW);
	ring_free(ring);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(flows_that_all_rnics_lose_are_found),
		TEST(a_fault_that_begins_within_a_second_is_found),
		TEST(packets_that_two_lossy_rnics_lose_are_no_flows),
		TEST(flows_that_one_rnic_alone_loses_are_its_own),
		TEST(flows_to_a_dead_rnic_do_not_count),
		TEST(in_a_rack_of_two_flows_to_other_racks_decide),
		TEST(in_a_rack_of_two_lost_packets_are_no_flows),
		TEST(
		    beside_lost_flows_packets_that_both_rnics_of_a_rack_lose_are_not_those_of_one),
		TEST(beside_lost_flows_packets_that_one_rnic_of_two_loses_are_its_own),
		TEST(a_class_that_is_lost_is_no_flow),
		TEST(without_losses_or_without_answers_no_flow_stands_out),
		TEST(losses_of_all_flows_are_alike),
		TEST(losses_of_some_flows_or_racks_are_not_alike),
		TEST(losses_at_two_rates_over_two_spines_are_not_alike),
		TEST(somewhat_more_losses_over_one_of_many_spines_are_alike),
		TEST(losses_of_all_flows_but_one_are_not_alike),
		TEST(losses_of_all_flows_may_be_those_of_a_part_that_all_cross),
		TEST(few_losses_do_not_show_whether_flows_lose_alike),
		TEST(many_results_of_other_rnics_do_not_hide_the_flows),
		TEST(a_ring_that_holds_too_little_shows_nothing),
	};

	return cmocka_run_group_tests_name("evidence_flows", tests, NULL, NULL);
}
