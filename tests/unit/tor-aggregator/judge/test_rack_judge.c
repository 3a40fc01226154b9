#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tor-aggregator/judge/rack_judge.h"
#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/suspect/rack_loss.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

/* Three RNICs on three hosts, and two remote RNICs; the tests write the windows. */
#define MEMBERS 3
#define FAR(i) (WINDOW_REMOTE_BASE + (i))
#define MAX_PAIRS 32

struct table {
	struct rack_judge *judge;
	struct rack_member members[MEMBERS], remotes[2];
	struct rack_host hosts[MEMBERS];
	struct rack rack;
	struct window_pair pairs[MAX_PAIRS];
	struct window_closed closed;
	struct rack_judgement judgement;
};

static int
setup(void **state)
{
	static struct table table;
	static const char *const names[] = { "h0", "h1", "h2" };

	memset(&table, 0, sizeof table);
	for (size_t i = 0; i < MEMBERS; i++) {
		table.members[i] = (struct rack_member){ { 0x020000000000 + i, 0 },
			names[i], "r0", i };
		table.hosts[i] = (struct rack_host){ names[i], HOST_OK };
	}
	for (size_t i = 0; i < 2; i++)
		table.remotes[i] =
		    (struct rack_member){ { 0x030000000000 + i, 0 }, "far", "r0", 0 };
	table.rack = (struct rack){ "tor1", table.members, MEMBERS, table.remotes, 2,
		table.hosts, MEMBERS };
	table.closed = (struct window_closed){ .start = { RM_NS_PER_S },
		.end = { 2 * RM_NS_PER_S },
		.pairs = table.pairs };
	*state = &table;
	return rack_judge_new(&table.judge);
}

static int
teardown(void **state)
{
	struct table *table = *state;

	rack_judge_free(table->judge);
	return 0;
}

/* The window's newest half has half of everything. */
static struct window_pair *
pair(struct table *table, uint32_t src, uint32_t dst, uint32_t answered, uint32_t lost,
    uint32_t arrived)
{
	struct window_pair *p = &table->pairs[table->closed.pair_count++];

	*p = (struct window_pair){ .src = src,
		.dst = dst,
		.kind = dst >= WINDOW_REMOTE_BASE ? WIRE_WITNESS : WIRE_TOR_MESH,
		.newest_sent = (answered + lost) / 2,
		.newest_lost = lost / 2,
		.arrived = arrived,
		.counted = dst < WINDOW_REMOTE_BASE };
	p->outcomes[WIRE_OK] = answered;
	p->outcomes[WIRE_NO_REPLY] = lost;
	return p;
}

static void
judge(struct table *table)
{
	table->closed.start.ns += 250 * RM_NS_PER_MS;
	table->closed.end.ns += 250 * RM_NS_PER_MS;
	assert_int_equal(rack_judge_window(table->judge, &table->rack, &table->closed,
			     (rm_wall_t){ table->closed.start.ns }, &table->judgement),
	    0);
}

enum sides { NEITHER, SENDS = 1, RECEIVES = 2, BOTH = 3 };

/* A window in which member 0 cannot send, receive, or both, as `dead` says. */
static void
fill(struct table *table, enum sides dead)
{
	const uint32_t out = dead & SENDS ? 0 : 10, in = dead & RECEIVES ? 0 : 10;
	const uint32_t answered = dead == NEITHER ? 10 : 0;

	table->closed.pair_count = 0;
	for (uint32_t i = 1; i < MEMBERS; i++) {
		pair(table, 0, i, answered, 10 - answered, out);
		pair(table, i, 0, answered, 10 - answered, in);
		pair(table, i, MEMBERS - i, 10, 0, 10);
		pair(table, i, FAR(0), 10, 0, 0);
	}
	pair(table, 0, FAR(0), answered, 10 - answered, 0);
	pair(table, 0, FAR(1), answered, 10 - answered, 0);
}

static void
a_healthy_rack_is_known_to_be_well(void **state)
{
	struct table *table = *state;

	fill(table, NEITHER);
	judge(table);
	assert_int_equal(table->judgement.verdict_count, 0);
	assert_int_equal(table->judgement.unexplained_lost, 0);
	for (size_t i = 0; i < MEMBERS; i++) {
		assert_int_equal(table->judgement.members[i], RM_HEALTH_GOOD);
		assert_int_equal(table->judgement.hosts[i], RM_HEALTH_GOOD);
	}
}

/* Otherwise losses to one remote RNIC would count for the RNIC that has its index now.
 */
static void
other_remote_rnics_in_the_same_number_restart_the_judge(void **state)
{
	struct table *table = *state;
	const struct rm_rnic_id first = table->remotes[0].id;
	int64_t since_ns;

	fill(table, SENDS);
	judge(table);
	since_ns = table->closed.start.ns;
	judge(table);
	assert_int_equal(table->judgement.verdict_count, 1);
	assert_int_equal(
	    table->judgement.verdicts[0].evidence.window_start.ns, since_ns);
	table->remotes[0].id = table->remotes[1].id;
	table->remotes[1].id = first;
	judge(table);
	assert_int_equal(table->judgement.verdict_count, 1);
	assert_int_equal(table->judgement.verdicts[0].evidence.window_start.ns,
	    table->closed.start.ns);
}

static void
a_verdict_has_evidence_that_others_can_check(void **state)
{
	struct table *table = *state;
	const struct rm_verdict *verdict;
	char sentence[RM_SENTENCE_BYTES];

	fill(table, SENDS);
	judge(table);
	assert_int_equal(table->judgement.verdict_count, 1);
	verdict = &table->judgement.verdicts[0];
	assert_true(verdict->confidence >= 0.99);
	assert_true(rm_rnic_id_equal(verdict->rnic, table->members[0].id));
	assert_int_equal(verdict->evidence.window_start.ns, table->closed.start.ns);
	assert_int_equal(verdict->evidence.peers, 2);
	assert_int_equal(verdict->evidence.from_part.sent, 40);
	assert_int_equal(verdict->evidence.from_part.arrived, 0);
	assert_int_equal(verdict->evidence.to_part.sent, 20);
	assert_int_equal(verdict->evidence.to_part.arrived, 20);
	rm_verdict_sentence(verdict, sentence, sizeof sentence);
	assert_string_equal(sentence,
	    "RNIC h0/r0 at tor1 receives packets, but those "
	    "that it sends do not arrive: in 1.0 s, as 2 peers "
	    "saw it, all 20 packets to it and none of 40 "
	    "from it arrived, none of 20 of its "
	    "probes out of the rack were answered, while all "
	    "40 between the others arrived. "
	    "Ruled out: its receive side: 20 of 20 packets "
	    "to it arrived; h1/r0: 10 of 10 of "
	    "its probes to other racks were answered; h2/r0: "
	    "10 of 10 of its probes to other "
	    "racks were answered.");
	assert_int_equal(table->judgement.members[0], RM_HEALTH_BAD);
	assert_int_equal(table->judgement.members[1], RM_HEALTH_GOOD);
}

/* A third of each 30 probes is large; all large ones to and from member 0 are lost. */
static void
fill_mtu(struct table *table)
{
	table->closed.pair_count = 0;
	for (uint32_t i = 0; i < MEMBERS; i++)
		for (uint32_t k = 0; k < MEMBERS; k++) {
			const uint32_t lost = i == 0 || k == 0 ? 10 : 0;
			struct window_pair *p;

			if (i == k)
				continue;
			/* Large probes to member 0 do not arrive; its own do, but their
			 * replies do not. */
			p = pair(table, i, k, 30 - lost, lost, k == 0 ? 20 : 30);
			p->large = (struct window_large){ .answered = 10 - lost,
				.lost = lost,
				.newest_sent = 5,
				.newest_lost = lost / 2,
				.bytes = 4096,
				.small_bytes = 88 };
		}
}

static void
an_mtu_is_reported_with_sizes_and_counts(void **state)
{
	struct table *table = *state;
	const struct rm_verdict *verdict;
	char sentence[RM_SENTENCE_BYTES];

	for (int i = 0; i < 2; i++) {
		fill_mtu(table);
		judge(table);
	}
	assert_int_equal(table->judgement.verdict_count, 1);
	verdict = &table->judgement.verdicts[0];
	assert_int_equal(verdict->kind, RM_KIND_RNIC_MTU);
	assert_int_equal(verdict->evidence.direction, RM_DIRECTION_RECEIVE);
	rm_verdict_sentence(verdict, sentence, sizeof sentence);
	assert_string_equal(sentence,
	    "RNIC h0/r0 at tor1 loses large packets that are sent to it, probably "
	    "because an MTU is too small: 0 of 40 probes of 4096 bytes were answered, "
	    "and 80 of 80 of up to 88 bytes; in 1.0 s, as 2 peers saw it, 80 of 120 "
	    "packets "
	    "to "
	    "it and all 100 from it arrived, all 120 between the others arrived. Ruled "
	    "out: h1/r0: 60 of 60 of its probes with the others were answered; h2/r0: "
	    "60 of 60 of its probes with the others were answered.");
	assert_int_equal(table->judgement.members[0], RM_HEALTH_BAD);
	assert_int_equal(table->judgement.members[1], RM_HEALTH_GOOD);
}

/* Only large probes to one RNIC of another rack are lost. */
static void
an_mtu_fault_of_another_rack_blames_no_member(void **state)
{
	struct table *table = *state;

	for (int i = 0; i < 12; i++) {
		fill(table, NEITHER);
		for (size_t p = 0; p < table->closed.pair_count; p++) {
			struct window_pair *one = &table->pairs[p];
			const bool far = one->dst == FAR(0);

			one->outcomes[WIRE_OK] = far ? 20 : 30;
			one->outcomes[WIRE_NO_REPLY] = far ? 10 : 0;
			one->newest_sent = 15;
			one->newest_lost = far ? 5 : 0;
			one->arrived = 30;
			one->kind = far ? WIRE_SERVICE : one->kind;
			one->large = (struct window_large){ .answered = far ? 0 : 10,
				.lost = far ? 10 : 0,
				.newest_sent = 5,
				.newest_lost = far ? 5 : 0,
				.bytes = 4096,
				.small_bytes = 88 };
		}
		judge(table);
		assert_int_equal(table->judgement.verdict_count, 0);
		for (size_t m = 0; m < MEMBERS; m++)
			assert_int_equal(table->judgement.members[m], RM_HEALTH_GOOD);
	}
}

/* Sizes and targets alternate in step, so hardly any large probe stays in the rack. */
static void
large_probes_lost_to_one_remote_rnic_blame_no_member(void **state)
{
	struct table *table = *state;

	for (int i = 0; i < 12; i++) {
		fill(table, NEITHER);
		for (size_t p = 0; p < table->closed.pair_count; p++) {
			struct window_pair *one = &table->pairs[p];
			const bool far = one->src == 0 && one->dst == FAR(0);

			one->outcomes[WIRE_OK] = far ? 17 : 30;
			one->outcomes[WIRE_NO_REPLY] = far ? 15 : 0;
			one->newest_sent = 15;
			one->newest_lost = far ? 7 : 0;
			one->arrived = 30;
			if (one->src != 0 && one->dst != 0)
				one->large = (struct window_large){ .answered = 10,
					.newest_sent = 5,
					.bytes = 4096,
					.small_bytes = 88 };
			if (far)
				one->large = (struct window_large){ .lost = 15,
					.newest_sent = 7,
					.newest_lost = 7,
					.bytes = 4096,
					.small_bytes = 88 };
		}
		judge(table);
		assert_int_equal(table->judgement.verdict_count, 0);
	}
}

static void
a_host_that_cannot_send_any_probe_is_reported(void **state)
{
	struct table *table = *state;
	const struct rm_verdict *verdict;

	for (int i = 0; i < 2; i++) {
		fill(table, NEITHER);
		for (size_t p = 0; p < table->closed.pair_count; p++) {
			struct window_pair *one = &table->pairs[p];

			if (one->src != 0)
				continue;
			*one = (struct window_pair){ .dst = one->dst };
			one->outcomes[WIRE_SEND_FAILED] = 10;
		}
		judge(table);
	}
	assert_int_equal(table->judgement.verdict_count, 1);
	verdict = &table->judgement.verdicts[0];
	assert_int_equal(verdict->kind, RM_KIND_RNIC_SEND_FAILED);
	assert_string_equal(verdict->part.name, "h0/r0");
	assert_string_equal(verdict->evidence.observed,
	    "send-failed: its own host could not send 40 of 40 probes through it");
	assert_int_equal(verdict->evidence.direction, RM_DIRECTION_SEND);
	/* A changed QPN is no fault. */
	for (int i = 0; i < 12; i++) {
		fill(table, NEITHER);
		for (size_t p = 0; p < table->closed.pair_count; p++)
			if (table->pairs[p].src == 0) {
				table->pairs[p].outcomes[WIRE_OK] = 0;
				table->pairs[p].outcomes[WIRE_STALE_QPN] = 10;
			}
		judge(table);
	}
	assert_int_equal(table->judgement.verdict_count, 0);
}

/* If its own probes are too few to show a loss, it may also lose what it sends. */
static void
a_path_that_was_not_tried_is_not_cleared(void **state)
{
	const struct rack_probe_loss few = { 1, 1, 1, 4 }, none = { 20, 0, 0, 4 };
	const struct rack_probe_loss all = { 20, 20, 20, 4 }, back = { 20, 20, 0, 4 };
	struct rack_tally tally = { .large_own = few, .large_peers = all };

	(void)state;
	assert_int_equal(
	    rack_loss_direction(&tally, RM_KIND_RNIC_MTU), RM_DIRECTION_UNKNOWN);
	tally.large_own = back; /* its large probes arrived, but the replies did not */
	assert_int_equal(
	    rack_loss_direction(&tally, RM_KIND_RNIC_MTU), RM_DIRECTION_RECEIVE);
	tally.large_own = all;
	assert_int_equal(
	    rack_loss_direction(&tally, RM_KIND_RNIC_MTU), RM_DIRECTION_BOTH);
	tally.large_peers = back;
	assert_int_equal(
	    rack_loss_direction(&tally, RM_KIND_RNIC_MTU), RM_DIRECTION_SEND);
	tally.large_own = none;
	tally.large_peers = none;
	assert_int_equal(
	    rack_loss_direction(&tally, RM_KIND_RNIC_MTU), RM_DIRECTION_UNKNOWN);
}

static void
each_direction_has_its_kind(void **state)
{
	struct table *table = *state;

	fill(table, BOTH);
	judge(table);
	assert_int_equal(table->judgement.verdicts[0].kind, RM_KIND_RNIC_DOWN);
	for (int i = 0; i < 12; i++) { /* healthy for long enough to be forgotten */
		fill(table, NEITHER);
		judge(table);
	}
	fill(table, RECEIVES);
	judge(table);
	assert_int_equal(table->judgement.verdict_count, 1);
	assert_int_equal(table->judgement.verdicts[0].kind, RM_KIND_RNIC_RECEIVE_DEAD);
}

static void
a_named_kind_changes_only_when_the_new_one_lasts(void **state)
{
	struct table *table = *state;

	fill(table, BOTH);
	judge(table);
	fill(table, SENDS);
	for (int i = 0; i < 3; i++) {
		judge(table);
		assert_int_equal(table->judgement.verdicts[0].kind, RM_KIND_RNIC_DOWN);
	}
	judge(table);
	assert_int_equal(table->judgement.verdicts[0].kind, RM_KIND_RNIC_SEND_DEAD);
	/* Without receive counts nothing contradicts the known direction. */
	for (size_t i = 0; i < table->closed.pair_count; i++)
		table->pairs[i].counted = false;
	for (int i = 0; i < 10; i++) {
		judge(table);
		assert_int_equal(table->judgement.verdict_count, 1);
		assert_int_equal(
		    table->judgement.verdicts[0].kind, RM_KIND_RNIC_SEND_DEAD);
	}
}

static void
a_partial_window_proves_nothing(void **state)
{
	struct table *table = *state;

	table->closed.partial = true;
	fill(table, BOTH);
	table->hosts[1].state = HOST_UNREACHABLE;
	for (int i = 0; i < 10; i++)
		judge(table);
	assert_int_equal(table->judgement.verdict_count, 0);
	for (size_t i = 0; i < MEMBERS; i++)
		assert_int_equal(table->judgement.members[i], RM_HEALTH_UNKNOWN);
}

static void
a_host_that_is_no_witness_neither_blames_nor_is_blamed(void **state)
{
	static const enum host_state states[] = { HOST_STALLED, HOST_RESTARTING,
		HOST_PAUSED, HOST_UNKNOWN };
	struct table *table = *state;

	for (size_t s = 0; s < sizeof states / sizeof *states; s++) {
		table->hosts[0].state = states[s];
		for (int i = 0; i < 10; i++) {
			fill(table, BOTH);
			judge(table);
			assert_int_equal(table->judgement.verdict_count, 0);
			assert_int_equal(
			    table->judgement.members[0], RM_HEALTH_UNKNOWN);
			assert_int_equal(table->judgement.members[1], RM_HEALTH_GOOD);
		}
	}
}

/* Judges ten seconds in which member 0 loses `lost` of 100 probes of each pair, while
 * the hosts are in this state. Returns the number of windows with a verdict. */
static unsigned
lossy_windows(struct table *table, enum host_state state, uint32_t lost)
{
	unsigned named = 0;

	for (size_t i = 0; i < MEMBERS; i++)
		table->hosts[i].state = state;
	for (int i = 0; i < 40; i++) {
		fill(table, NEITHER);
		for (size_t p = 0; p < table->closed.pair_count; p++) {
			struct window_pair *each = &table->pairs[p];

			each->outcomes[WIRE_OK] = each->arrived = 100;
			each->newest_sent = 50;
			if (each->src != 0 && each->dst != 0)
				continue;
			each->outcomes[WIRE_OK] = 100 - lost;
			each->outcomes[WIRE_NO_REPLY] = lost;
			each->newest_lost = lost / 2;
		}
		judge(table);
		named += table->judgement.verdict_count > 0;
		for (size_t v = 0; v < table->judgement.verdict_count; v++) {
			const struct rm_verdict *verdict =
			    &table->judgement.verdicts[v];

			assert_int_equal(verdict->kind, RM_KIND_RNIC_LOSSY);
			assert_true(
			    rm_rnic_id_equal(verdict->rnic, table->members[0].id));
		}
	}
	return named;
}

static void
a_host_that_stutters_shows_what_is_dead(void **state)
{
	struct table *table = *state;

	for (size_t i = 0; i < MEMBERS; i++)
		table->hosts[i].state = HOST_STUTTERED;
	fill(table, BOTH);
	judge(table);
	assert_int_equal(table->judgement.verdict_count, 1);
	assert_int_equal(table->judgement.verdicts[0].kind, RM_KIND_RNIC_DOWN);
	assert_true(
	    rm_rnic_id_equal(table->judgement.verdicts[0].rnic, table->members[0].id));
	assert_int_equal(table->judgement.members[1], RM_HEALTH_GOOD);
}

static void
hosts_that_stutter_show_an_rnic_that_loses_many_packets(void **state)
{
	assert_true(lossy_windows(*state, HOST_STUTTERED, 10) > 0);
}

/* A host that stutters may itself have lost single packets. */
static void
hosts_that_stutter_do_not_show_a_little_loss(void **state)
{
	assert_int_equal(lossy_windows(*state, HOST_STUTTERED, 4), 0);
	assert_true(lossy_windows(*state, HOST_OK, 4) > 0);
}

static void
losses_caused_by_own_hosts_are_no_network_loss(void **state)
{
	static const enum wire_outcome own[] = { WIRE_SENT_LATE, WIRE_STALE_QPN,
		WIRE_SELF_LOSS, WIRE_SEND_FAILED };
	struct table *table = *state;

	for (size_t o = 0; o < sizeof own / sizeof *own; o++)
		for (int i = 0; i < 10; i++) {
			fill(table, NEITHER);
			for (size_t p = 0; p < table->closed.pair_count; p++)
				table->pairs[p].outcomes[own[o]] = 20;
			judge(table);
			assert_int_equal(table->judgement.verdict_count, 0);
		}
}

static void
late_and_invalid_replies_arrived(void **state)
{
	struct table *table = *state;

	for (int i = 0; i < 10; i++) {
		fill(table, NEITHER);
		for (size_t p = 0; p < table->closed.pair_count; p++) {
			uint32_t *outcomes = table->pairs[p].outcomes;

			outcomes[p % 2 == 0 ? WIRE_LATE_REPLY : WIRE_INVALID] =
			    outcomes[WIRE_OK];
			outcomes[WIRE_OK] = 0;
		}
		judge(table);
		assert_int_equal(table->judgement.verdict_count, 0);
		assert_int_equal(table->judgement.members[0], RM_HEALTH_GOOD);
	}
}

static void
a_lone_witness_names_itself_or_its_tor(void **state)
{
	struct table *table = *state;

	table->hosts[1].state = HOST_PAUSED;
	table->hosts[2].state = HOST_PAUSED;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(table->judgement.verdict_count, 0);
		fill(table, BOTH);
		judge(table);
	}
	assert_int_equal(table->judgement.verdict_count, 1);
	assert_string_equal(table->judgement.verdicts[0].part.name, "h0/r0 or tor1");
	assert_int_equal(table->judgement.verdicts[0].rnic.guid, 0);
}

static bool
are_lost(void *arg, size_t member, int64_t window_ns)
{
	return *(bool *)arg;
}

/* Raw results show whether an RNIC lost packets, or a common part lost flows. */
static void
an_rnic_that_lost_whole_flows_with_others_is_not_named(void **state)
{
	struct table *table = *state;
	bool flows = true;

	table->rack.flows_are_lost = are_lost;
	table->rack.flows_arg = &flows;
	for (int i = 0; i < 40; i++) {
		flows = i < 30;
		table->closed.pair_count = 0;
		for (uint32_t k = 1; k < MEMBERS; k++) {
			pair(table, 0, k, 20, 20, 28);
			pair(table, k, 0, 20, 20, 28);
			pair(table, k, MEMBERS - k, 40, 0, 40);
			pair(table, k, FAR(0), 40, 0, 0);
		}
		pair(table, 0, FAR(0), 20, 20, 0);
		pair(table, 0, FAR(1), 20, 20, 0);
		judge(table);
		if (flows)
			assert_int_equal(table->judgement.verdict_count, 0);
	}
	assert_int_equal(table->judgement.verdict_count, 1);
	assert_int_equal(table->judgement.verdicts[0].kind, RM_KIND_RNIC_LOSSY);
	assert_string_equal(table->judgement.verdicts[0].part.name, "h0/r0");
}

/* Removes the results of a member: its host is stalled and has not sent them yet. */
static void
leave_out(struct table *table, uint32_t src)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->closed.pair_count; i++)
		if (table->pairs[i].src != src)
			table->pairs[kept++] = table->pairs[i];
	table->closed.pair_count = kept;
}

/* On an overloaded machine hosts stall in turn. */
static void
a_member_alone_for_a_moment_waits_for_the_others(void **state)
{
	static const enum host_state states[] = { HOST_STALLED, HOST_RESTARTING };
	struct table *table = *state;

	for (int i = 0; i < 20; i++) {
		table->hosts[1].state = states[i / 2 % 2];
		table->hosts[2].state = i < 10 ? HOST_AGENT_DOWN : states[i % 2];
		fill(table, BOTH);
		leave_out(table, 1);
		leave_out(table, 2);
		judge(table);
		for (size_t v = 0; v < table->judgement.verdict_count; v++)
			assert_int_not_equal(
			    table->judgement.verdicts[v].part.type, RM_PART_RNIC);
	}
	table->hosts[1].state = HOST_OK;
	fill(table, BOTH);
	judge(table);
	for (size_t v = 0; v < table->judgement.verdict_count; v++)
		if (table->judgement.verdicts[v].part.type == RM_PART_RNIC)
			assert_string_equal(
			    table->judgement.verdicts[v].part.name, "h0/r0");
	assert_int_equal(table->judgement.members[0], RM_HEALTH_BAD);
}

/* The name of the RNIC that is reported in the last of `windows` windows; NULL: none.
 */
static const char *
rnic_after(struct table *table, int windows, void (*fill_window)(struct table *))
{
	const char *name = NULL;

	for (int i = 0; i < windows; i++) {
		name = NULL;
		fill_window(table);
		judge(table);
		for (size_t v = 0; v < table->judgement.verdict_count; v++)
			if (table->judgement.verdicts[v].part.type == RM_PART_RNIC)
				name = table->judgement.verdicts[v].part.name;
	}
	return name;
}

static void
fill_dead(struct table *table)
{
	fill(table, BOTH);
}

static void
probes_of_a_stalled_host_show_that_the_tor_works(void **state)
{
	struct table *table = *state;
	const char *name;

	table->hosts[1].state = HOST_STALLED;
	table->hosts[2].state = HOST_AGENT_DOWN;
	name = rnic_after(table, 10, fill_dead);
	assert_non_null(name);
	assert_string_equal(name, "h0/r0");
}

/* h0 loses a third of its probes to other racks; h1 loses none of these. */
static void
fill_lossy(struct table *table, uint32_t lost_inside)
{
	table->closed.pair_count = 0;
	pair(table, 0, FAR(0), 20, 10, 0);
	pair(table, 0, FAR(1), 20, 10, 0);
	pair(table, 1, FAR(0), 30, 0, 0);
	pair(table, 1, FAR(1), 30, 0, 0);
	pair(table, 1, 0, 15 - lost_inside, lost_inside, 15);
	pair(table, 0, 1, 5, 10, 5);
}

static void
fill_lossy_rnic(struct table *table)
{
	fill_lossy(table, 5);
}

static void
fill_lossy_paths(struct table *table)
{
	fill_lossy(table, 0);
}

static void
a_lossy_rnic_is_named_by_the_probes_of_a_stalled_host(void **state)
{
	struct table *table = *state;
	const char *name;

	table->hosts[1].state = HOST_STALLED;
	table->hosts[2].state = HOST_AGENT_DOWN;
	name = rnic_after(table, 12, fill_lossy_rnic);
	assert_non_null(name);
	assert_string_equal(name, "h0/r0");
}

static void
an_rnic_that_loses_no_probe_of_a_stalled_host_is_not_named(void **state)
{
	struct table *table = *state;

	table->hosts[1].state = HOST_STALLED;
	table->hosts[2].state = HOST_AGENT_DOWN;
	assert_null(rnic_after(table, 30, fill_lossy_paths));
}

/* If a host is always overloaded, it does not excuse others for ever. */
static void
a_member_that_stays_alone_is_named_in_the_end(void **state)
{
	struct table *table = *state;
	bool named = false;

	table->hosts[1].state = HOST_STALLED;
	table->hosts[2].state = HOST_AGENT_DOWN;
	for (int i = 0; i < 60 && !named; i++) {
		fill(table, BOTH);
		judge(table);
		for (size_t v = 0; v < table->judgement.verdict_count; v++)
			named |= table->judgement.verdicts[v].part.type == RM_PART_RNIC;
	}
	assert_true(named);
}

/* No probe within the rack is answered any more, but the ToR still forwards packets of
 * the third RNIC. */
static void
a_tor_that_forwards_for_one_rnic_is_not_blamed(void **state)
{
	struct table *table = *state;

	for (uint32_t i = 0; i < MEMBERS; i++) {
		pair(table, i, (i + 1) % MEMBERS, 0, 10, 0);
		pair(table, i, (i + 2) % MEMBERS, 0, 10, 0);
	}
	pair(table, 0, FAR(0), 0, 2, 0);
	pair(table, 1, FAR(0), 0, 2, 0);
	pair(table, 2, FAR(0), 4, 0, 0);
	for (int i = 0; i < 4; i++)
		judge(table);
	assert_int_equal(table->judgement.verdict_count, 2);
	assert_string_equal(table->judgement.verdicts[0].part.name, "h0/r0");
	assert_string_equal(table->judgement.verdicts[1].part.name, "h1/r0");
}

/* Two of three witnesses are dead as well; the third answers one RNIC of the rack. */
static void
a_rack_of_two_needs_only_one_working_witness(void **state)
{
	struct table *table = *state;

	table->rack.member_count = table->rack.host_count = 2;
	pair(table, 0, 1, 0, 10, 0);
	pair(table, 1, 0, 0, 10, 0);
	pair(table, 0, FAR(0), 0, 24, 0);
	pair(table, 0, FAR(1), 0, 10, 0);
	pair(table, 1, FAR(0), 0, 24, 0);
	pair(table, 1, FAR(1), 10, 0, 0);
	for (int i = 0; i < 4; i++)
		judge(table);
	assert_int_equal(table->judgement.verdict_count, 1);
	assert_string_equal(table->judgement.verdicts[0].part.name, "h0/r0");
}

static void
an_agent_fault_is_named_by_the_kernels_acknowledgements(void **state)
{
	struct table *table = *state;
	char sentence[RM_SENTENCE_BYTES];

	fill(table, BOTH);
	table->hosts[0].state = HOST_AGENT_FROZEN;
	table->hosts[0].silence.ns = 1300 * RM_NS_PER_MS;
	table->hosts[1].state = HOST_AGENT_DOWN;
	judge(table);
	assert_int_equal(table->judgement.verdict_count, 2);
	rm_verdict_sentence(&table->judgement.verdicts[0], sentence, sizeof sentence);
	assert_string_equal(sentence, "The agent of host h0 is frozen: no heartbeat "
				      "for 1.3 s, while its kernel still "
				      "acknowledges.");
	assert_string_equal(table->judgement.verdicts[0].part.place, "");
	assert_int_equal(table->judgement.verdicts[1].part.type, RM_PART_AGENT);
	assert_int_equal(table->judgement.verdicts[1].kind, RM_KIND_AGENT_DOWN);
	assert_string_equal(table->judgement.verdicts[1].part.name, "h1");
	assert_int_equal(table->judgement.hosts[0], RM_HEALTH_BAD);
	assert_int_equal(table->judgement.hosts[2], RM_HEALTH_GOOD);
}

/* 2026-11-21 04:10 UTC. The agent has a verdict, but no RNIC or host becomes less
 * healthy. */
static void
an_expiring_certificate_is_reported_for_the_agent_only(void **state)
{
	struct table *table = *state;
	const struct rm_verdict *verdict;
	char sentence[RM_SENTENCE_BYTES];

	fill(table, NEITHER);
	table->hosts[1].certificate_ends_s = 1795234200;
	judge(table);
	assert_int_equal(table->judgement.verdict_count, 1);
	verdict = &table->judgement.verdicts[0];
	assert_int_equal(verdict->kind, RM_KIND_CERTIFICATE_ENDING);
	assert_int_equal(verdict->part.type, RM_PART_AGENT);
	assert_int_equal(verdict->evidence.impact, RM_IMPACT_P2);
	assert_true(verdict->confidence == 1);
	rm_verdict_sentence(verdict, sentence, sizeof sentence);
	assert_string_equal(sentence, "The agent of host h1 has a certificate that "
				      "ends soon: ends 2026-11-21 04:10 UTC.");
	for (size_t i = 0; i < MEMBERS; i++) {
		assert_int_equal(table->judgement.hosts[i], RM_HEALTH_GOOD);
		assert_int_equal(table->judgement.members[i], RM_HEALTH_GOOD);
	}
	table->hosts[1].certificate_ends_s = 0;
	judge(table);
	assert_int_equal(table->judgement.verdict_count, 0);
}

static void
an_expiring_certificate_is_not_reported_beside_a_worse_fault(void **state)
{
	struct table *table = *state;

	fill(table, NEITHER);
	for (size_t i = 0; i < MEMBERS; i++)
		table->hosts[i].certificate_ends_s = 1795234200;
	table->hosts[0].state = HOST_AGENT_DOWN;
	table->hosts[2].state = HOST_UNKNOWN;
	judge(table);
	assert_int_equal(table->judgement.verdict_count, 2);
	assert_int_equal(table->judgement.verdicts[0].kind, RM_KIND_AGENT_DOWN);
	assert_int_equal(table->judgement.verdicts[1].kind, RM_KIND_CERTIFICATE_ENDING);
	assert_string_equal(table->judgement.verdicts[1].part.name, "h1");
}

static void
an_unreachable_unprobed_host_is_only_suspected(void **state)
{
	struct table *table = *state;

	table->hosts[0].state = HOST_UNREACHABLE;
	table->hosts[0].silence.ns = 2 * RM_NS_PER_S;
	for (int i = 0; i < 10; i++) {
		judge(table);
		assert_int_equal(table->judgement.verdict_count, 0);
	}
	table->hosts[0].silence.ns = 5 * RM_NS_PER_S;
	judge(table);
	assert_int_equal(table->judgement.verdict_count, 1);
	assert_int_equal(table->judgement.verdicts[0].kind, RM_KIND_HOST_DOWN);
	assert_true(table->judgement.verdicts[0].confidence <= 0.5);
}

static void
indexes_that_are_not_of_the_rack_are_ignored(void **state)
{
	struct table *table = *state;

	fill(table, NEITHER);
	pair(table, MEMBERS, 0, 0, 100, 0);
	pair(table, 0, MEMBERS, 0, 100, 0);
	pair(table, 0, FAR(2), 0, 100, 0);
	pair(table, FAR(0), 0, 0, 100, 0);
	pair(table, 1, 1, 0, 100, 0);
	judge(table);
	assert_int_equal(table->judgement.verdict_count, 0);
	assert_int_equal(table->judgement.members[0], RM_HEALTH_GOOD);
}

static void
a_changed_rack_restarts_the_judge(void **state)
{
	struct table *table = *state;

	fill(table, BOTH);
	judge(table);
	table->rack.member_count = 0;
	table->rack.host_count = 0;
	table->rack.remote_count = 0;
	judge(table);
	assert_int_equal(table->judgement.verdict_count, 0);
	table->rack.member_count = MEMBERS;
	table->rack.host_count = MEMBERS;
	table->rack.remote_count = 2;
	table->members[0].id.guid++;
	fill(table, RECEIVES);
	judge(table);
	assert_int_equal(table->judgement.verdicts[0].kind, RM_KIND_RNIC_RECEIVE_DEAD);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_healthy_rack_is_known_to_be_well),
		TEST(other_remote_rnics_in_the_same_number_restart_the_judge),
		TEST(a_verdict_has_evidence_that_others_can_check),
		TEST(an_mtu_is_reported_with_sizes_and_counts),
		TEST(an_mtu_fault_of_another_rack_blames_no_member),
		TEST(large_probes_lost_to_one_remote_rnic_blame_no_member),
		TEST(a_host_that_cannot_send_any_probe_is_reported),
		TEST(a_path_that_was_not_tried_is_not_cleared),
		TEST(each_direction_has_its_kind),
		TEST(a_named_kind_changes_only_when_the_new_one_lasts),
		TEST(a_partial_window_proves_nothing),
		TEST(a_host_that_is_no_witness_neither_blames_nor_is_blamed),
		TEST(a_host_that_stutters_shows_what_is_dead),
		TEST(hosts_that_stutter_show_an_rnic_that_loses_many_packets),
		TEST(hosts_that_stutter_do_not_show_a_little_loss),
		TEST(losses_caused_by_own_hosts_are_no_network_loss),
		TEST(late_and_invalid_replies_arrived),
		TEST(a_lone_witness_names_itself_or_its_tor),
		TEST(an_rnic_that_lost_whole_flows_with_others_is_not_named),
		TEST(a_member_alone_for_a_moment_waits_for_the_others),
		TEST(probes_of_a_stalled_host_show_that_the_tor_works),
		TEST(a_lossy_rnic_is_named_by_the_probes_of_a_stalled_host),
		TEST(an_rnic_that_loses_no_probe_of_a_stalled_host_is_not_named),
		TEST(a_member_that_stays_alone_is_named_in_the_end),
		TEST(a_tor_that_forwards_for_one_rnic_is_not_blamed),
		TEST(a_rack_of_two_needs_only_one_working_witness),
		TEST(an_agent_fault_is_named_by_the_kernels_acknowledgements),
		TEST(an_expiring_certificate_is_reported_for_the_agent_only),
		TEST(an_expiring_certificate_is_not_reported_beside_a_worse_fault),
		TEST(an_unreachable_unprobed_host_is_only_suspected),
		TEST(indexes_that_are_not_of_the_rack_are_ignored),
		TEST(a_changed_rack_restarts_the_judge),
	};

	return cmocka_run_group_tests_name("rack_judge", tests, NULL, NULL);
}
