#include "tor-aggregator/paths/path_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/plan_fixture.h"
#include "tor-aggregator/paths/lossy_ends.h"
#include "tor-aggregator/paths/path_ends.h"
#include "tor-aggregator/paths/path_table.h"
#include "tor-aggregator/window/roster.h"
#include "tor-aggregator/window/window.h"

#define S RM_NS_PER_S
#define MS RM_NS_PER_MS
#define MEMBERS 4
#define REMOTES 6 /* 0, 2 and 4 behind t2; 1, 3 and 5 behind t3 */
#define START (1000 * S)
#define WALL INT64_C(1700000000000000000)
#define ROWS 64

struct world {
	struct plan_fixture *plan;
	struct roster *roster;
	struct path_table *table;
	struct path_rows *rows;
	bool witnesses[MEMBERS], partial;
	int64_t now; /* the start of the open second */
	uint32_t received[MEMBERS][REMOTES];
	/* The last message: */
	unsigned messages;
	uint64_t sent;
	int64_t start_ns, end_ns; /* times of the message, by the aggregator's clock */
	struct wire_path_row row[ROWS];
	char samples[ROWS][2048];
	size_t row_count;
	struct wire_path_row inside; /* of the last message; all 0: it has none */
};

/* Flow 50000 crosses spine 1, 50001 spine 2; other flows are not traced. */
static void
learn_at(struct world *w, uint16_t src_port, uint8_t spine, int64_t at)
{
	struct wire_path path = { .src_port = src_port,
		.src_port_num = 1,
		.dst_port_num = 1,
		.family = 4,
		.flags = WIRE_PATH_COMPLETE,
		.hop_count = 3 };

	for (uint64_t s = 0; s < MEMBERS; s++)
		for (uint64_t d = 0; d < REMOTES; d++) {
			path.src_guid = 0x100 + s;
			path.dst_guid = FIXTURE_REMOTE + d;
			memcpy(path.hops[0], (uint8_t[]){ 10, 1, 0, 1 }, 4);
			memcpy(path.hops[1], (uint8_t[]){ 10, 2, 0, spine }, 4);
			memcpy(path.hops[2],
			    (uint8_t[]){ 10, 3, (uint8_t)(d % 2), spine }, 4);
			assert_int_equal(
			    path_table_learn(w->table, &path, d % 2 ? "t3" : "t2",
				(rm_mono_t){ at }, (rm_mono_t){ at }),
			    0);
		}
}

static void
learn(struct world *w, uint16_t src_port, uint8_t spine)
{
	learn_at(w, src_port, spine, START);
}

static int
setup(void **state)
{
	const struct path_table_options table = { "t1", 1024, 64 };
	const struct path_rows_options rows = { 10 * S, 12, 1024 };
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	w->plan = calloc(1, sizeof(*w->plan));
	fixture_plan(w->plan, 1, MEMBERS, REMOTES);
	assert_int_equal(roster_new("t1", &w->roster), 0);
	assert_true(roster_plan(w->roster, &w->plan->view) >= 0);
	assert_int_equal(path_table_new(&table, &w->table), 0);
	learn(w, 50000, 1);
	learn(w, 50001, 2);
	memset(w->witnesses, true, sizeof(w->witnesses));
	w->now = START;
	return path_rows_new(&rows, (rm_mono_t){ START }, &w->rows);
}

static int
teardown(void **state)
{
	struct world *w = *state;

	path_rows_free(w->rows);
	path_table_free(w->table);
	roster_free(w->roster);
	fixture_free(w->plan);
	free(w);
	return 0;
}

static void
emit(struct wire_summary *summary, void *arg)
{
	struct world *w = arg;

	w->messages++;
	w->row_count = summary->path_count;
	w->start_ns = (int64_t)summary->paths_start_wall_ns - WALL;
	w->end_ns = (int64_t)summary->end_wall_ns - WALL;
	assert_int_equal(summary->end_ns, w->end_ns);
	assert_string_equal(summary->tor, "t1");
	assert_true(summary->path_count <= ROWS);
	assert_true(summary->inside_count <= 1);
	w->inside = summary->inside_count > 0 ? summary->inside[0]
					      : (struct wire_path_row){ 0 };
	for (size_t i = 0; i < summary->path_count; i++) {
		w->row[i] = summary->paths[i];
		w->sent += w->row[i].sent;
		snprintf(w->samples[i], sizeof(w->samples[i]), "%s",
		    summary->paths[i].samples);
	}
}

/* Closes the open second. */
static void
tick(struct world *w)
{
	const struct path_rows_second second = {
		.end = { w->now + S },
		.witnesses = w->witnesses,
		.partial = w->partial,
		.roster = w->roster,
		.paths = w->table,
		.now = { w->now + 2 * S },
		.wall = { WALL + w->now + 2 * S },
		.emit = emit,
		.arg = w,
	};

	path_rows_close(w->rows, &second);
	w->now += S;
}

static void
result(struct world *w, int64_t at, uint32_t src, uint32_t dst, uint16_t src_port,
    uint8_t outcome)
{
	const struct wire_result out = { .src_port = src_port,
		.dscp = 26,
		.kind = WIRE_INTER_TOR,
		.outcome = outcome,
		.responder_count = w->received[src][dst],
		.flags = outcome == WIRE_OK ? WIRE_COUNTED : 0 };
	const struct roster_rnic *rnic = roster_remote(w->roster, dst);

	path_rows_add(w->rows, (rm_mono_t){ w->now + at }, &out, src, rnic->index,
	    rnic->tor_number);
}

typedef bool is_lost(uint32_t src, uint32_t dst, uint16_t src_port);

static bool
nothing(uint32_t src, uint32_t dst, uint16_t src_port)
{
	return false;
}

/* One second in which all members probe all remote RNICs with both flows, four times
 * each. Losses happen before the probe arrives, from time `from` on. */
static void
probe(struct world *w, is_lost *lost, int64_t from)
{
	for (int64_t at = 0; at < S; at += 250 * MS)
		for (uint32_t s = 0; s < MEMBERS; s++)
			for (uint32_t d = 0; d < REMOTES; d++)
				for (uint16_t f = 50000; f <= 50001; f++) {
					const int64_t when =
					    at + f % 2 * 20 * MS + s * MS;
					bool gone = lost(s, d, f) && when >= from;

					w->received[s][d] += !gone;
					result(w, when, s, d, f,
					    gone ? WIRE_NO_REPLY : WIRE_OK);
				}
	tick(w);
}

static const struct wire_path_row *
row(const struct world *w, const char *dst_tor, const char *spine)
{
	for (size_t i = 0; i < w->row_count; i++)
		if (strcmp(w->row[i].dst_tor, dst_tor) == 0 &&
		    strstr(w->row[i].path, spine) != NULL)
			return &w->row[i];
	fail_msg("no row to %s by %s", dst_tor, spine);
	return NULL;
}

static uint64_t
lost_in(const struct world *w)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < w->row_count; i++)
		lost += w->row[i].lost_forward + w->row[i].lost_reverse +
			w->row[i].lost_unknown;
	return lost;
}

static void
clean_paths_are_reported_every_interval(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 25; i++)
		probe(w, nothing, 0);
	assert_int_equal(w->messages, 2);
	assert_int_equal(w->row_count, 4);
	assert_int_equal(w->start_ns, START + 10 * S);
	assert_int_equal(w->end_ns, START + 20 * S);
	assert_int_equal(w->sent, 20 * MEMBERS * REMOTES * 2 * 4);
	assert_int_equal(row(w, "t2", "10.2.0.1")->flows, MEMBERS * REMOTES / 2);
	assert_int_equal(lost_in(w), 0);
}

static bool
by_spine_1_to_t2(uint32_t src, uint32_t dst, uint16_t src_port)
{
	return src_port == 50000 && dst % 2 == 0;
}

static void
losses_are_reported_at_once_and_their_end_once(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 3; i++)
		probe(w, nothing, 0);
	assert_int_equal(w->messages, 0);
	probe(w, by_spine_1_to_t2, 0);
	assert_int_equal(
	    w->messages, 2); /* the seconds without losses, then this one */
	assert_int_equal(w->start_ns, START + 3 * S);
	assert_int_equal(w->end_ns, START + 4 * S);
	assert_int_equal(w->row_count, 4); /* also rows without losses */
	assert_int_equal(row(w, "t2", "10.2.0.1")->sent, 48);
	assert_int_equal(row(w, "t2", "10.2.0.1")->lost_forward, 48);
	assert_int_equal(row(w, "t2", "10.2.0.1")->flows_dead, 12);
	assert_int_equal(row(w, "t2", "10.2.0.1")->flows_silent, 12);
	assert_int_equal(row(w, "t2", "10.2.0.1")->flows_partial, 0);
	assert_int_equal(lost_in(w), 48);
	probe(w, by_spine_1_to_t2, 0);
	assert_int_equal(w->messages, 3);
	probe(w, nothing, 0);
	assert_int_equal(w->messages, 4);
	assert_int_equal(lost_in(w), 0);
	for (int i = 0; i < 9; i++)
		probe(w, nothing, 0);
	assert_int_equal(w->messages, 4);
	probe(w, nothing, 0);
	assert_int_equal(w->messages, 5);
	/* Every probe is in exactly one message. */
	assert_int_equal(w->sent, 16 * MEMBERS * REMOTES * 2 * 4);
}

static void
a_row_names_some_of_its_lost_flows(void **state)
{
	struct world *w = *state;
	const char *samples;
	size_t count = 1;

	probe(w, by_spine_1_to_t2, 0);
	samples = row(w, "t2", "10.2.0.1")->samples;
	assert_true(samples[0] != 0);
	samples = w->samples[row(w, "t2", "10.2.0.1") - w->row];
	assert_non_null(strstr(samples, "h0/r0>x0/r0:50000"));
	for (; *samples != 0; samples++)
		count += *samples == ' ';
	assert_int_equal(count, 8);
	assert_string_equal(w->samples[row(w, "t3", "10.2.0.2") - w->row], "");
}

static bool
half_of_spine_1(uint32_t src, uint32_t dst, uint16_t src_port)
{
	return src_port == 50000 && (src + dst / 2) % 2 == 0;
}

static void
a_path_that_loses_some_flows_is_reported(void **state)
{
	struct world *w = *state;

	probe(w, nothing, 0);
	probe(w, half_of_spine_1, 0);
	assert_int_equal(lost_in(w), 12 * 4);
	assert_int_equal(path_rows_ends(w->rows)->remote_dead, 0);
	assert_int_equal(path_rows_ends(w->rows)->own_dead, 0);
}

static bool
to_remote_2(uint32_t src, uint32_t dst, uint16_t src_port)
{
	return dst == 2;
}

static void
a_dead_rnic_elsewhere_is_no_fault_of_a_path(void **state)
{
	struct world *w = *state;

	probe(w, nothing, 0);
	probe(w, to_remote_2, 0);
	assert_int_equal(w->messages, 0);
	assert_int_equal(path_rows_ends(w->rows)->remote_dead, MEMBERS * 2 * 4);
	for (int i = 0; i < 8; i++)
		probe(w, to_remote_2, 0);
	assert_int_equal(w->messages, 1);
	assert_int_equal(lost_in(w), 0);
}

static void
an_rnic_that_dies_within_the_second_is_no_fault_of_a_path(void **state)
{
	struct world *w = *state;

	probe(w, nothing, 0);
	probe(w, to_remote_2, 500 * MS);
	assert_int_equal(w->messages, 0);
	assert_true(path_rows_ends(w->rows)->remote_dead > 0);
}

static unsigned turn; /* counts calls, for the functions that lose a share */

static bool
some_to_remote_2(uint32_t src, uint32_t dst, uint16_t src_port)
{
	return dst == 2 && turn++ % 7 == 0;
}

static bool
some_from_member_1(uint32_t src, uint32_t dst, uint16_t src_port)
{
	return src == 1 && turn++ % 7 == 0;
}

static bool
some_by_spine_1(uint32_t src, uint32_t dst, uint16_t src_port)
{
	return src_port == 50000 && turn++ % 7 == 0;
}

static bool
some_to_t2(uint32_t src, uint32_t dst, uint16_t src_port)
{
	return dst % 2 == 0 && turn++ % 7 == 0;
}

static bool
one_flow_to_remote_2(uint32_t src, uint32_t dst, uint16_t src_port)
{
	return src == 1 && dst == 2 && src_port == 50000;
}

/* The first seconds are not enough evidence yet. */
static uint64_t
lost_after_a_while(struct world *w, is_lost *lost)
{
	for (int i = 0; i < 4; i++)
		probe(w, lost, 0);
	w->messages = 0;
	w->row_count = 0;
	for (int i = 0; i < 3; i++)
		probe(w, lost, 0);
	return lost_in(w);
}

static void
a_lossy_rnic_is_no_fault_of_a_path_either(void **state)
{
	struct world *w = *state;

	probe(w, nothing, 0);
	assert_int_equal(lost_after_a_while(w, some_to_remote_2), 0);
	assert_true(path_rows_lossy_ends(w->rows)->remote > 0);
	assert_int_equal(path_rows_lossy_ends(w->rows)->own, 0);
}

static void
a_lossy_member_is_no_fault_of_a_path_either(void **state)
{
	struct world *w = *state;

	probe(w, nothing, 0);
	assert_int_equal(lost_after_a_while(w, some_from_member_1), 0);
	assert_true(path_rows_lossy_ends(w->rows)->own > 0);
	assert_int_equal(path_rows_lossy_ends(w->rows)->remote, 0);
}

static void
a_lossy_path_is_reported_for_as_long_as_it_loses(void **state)
{
	static is_lost *const faults[] = { some_by_spine_1, some_to_t2,
		one_flow_to_remote_2, half_of_spine_1 };
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		for (int k = 0; k < 60; k++)
			probe(w, nothing, 0);
		assert_true(lost_after_a_while(w, faults[i]) > 0);
	}
	assert_int_equal(path_rows_lossy_ends(w->rows)->remote, 0);
	assert_int_equal(path_rows_lossy_ends(w->rows)->own, 0);
}

/* No other RNIC is probed behind that ToR: one faulty RNIC is more probable than two
 * faulty paths. */
static void
a_single_target_that_loses_on_all_paths_is_left_out(void **state)
{
	struct world *w = *state;

	for (int k = 0; k < 8; k++) {
		w->row_count = 0;
		for (int64_t at = 0; at < S; at += 100 * MS)
			for (uint16_t f = 50000; f <= 50001; f++) {
				bool lost = at / (100 * MS) % 4 == f % 2;

				result(w, at + f % 2, 0, 0, f,
				    lost ? WIRE_NO_REPLY : WIRE_OK);
				result(w, at + f % 2, 0, 1, f, WIRE_OK);
			}
		tick(w);
	}
	assert_int_equal(lost_in(w), 0);
	assert_true(path_rows_lossy_ends(w->rows)->remote > 0);
}

static bool
to_t2(uint32_t src, uint32_t dst, uint16_t src_port)
{
	return dst % 2 == 0;
}

static void
a_dead_tor_elsewhere_is_reported(void **state)
{
	struct world *w = *state;

	probe(w, nothing, 0);
	probe(w, to_t2, 500 * MS);
	assert_int_equal(lost_in(w), 3 * MEMBERS * 2 * 2);
	probe(w, to_t2, 0);
	assert_int_equal(lost_in(w), 3 * MEMBERS * 2 * 4);
	assert_int_equal(row(w, "t2", "10.2.0.1")->flows_dead, 12);
	assert_int_equal(path_rows_ends(w->rows)->remote_dead, 0);
	assert_int_equal(path_rows_ends(w->rows)->own_dead, 0);
}

static bool
from_member_1(uint32_t src, uint32_t dst, uint16_t src_port)
{
	return src == 1;
}

static void
a_member_whose_probes_all_fail_is_left_out(void **state)
{
	struct world *w = *state;

	probe(w, nothing, 0);
	probe(w, from_member_1, 500 * MS);
	assert_int_equal(w->messages, 0);
	assert_true(path_rows_ends(w->rows)->own_dead > 0);
}

/* All probes of this source to t2 fail, but no other source probes t2. */
static void
a_dead_tor_with_a_single_prober_is_reported(void **state)
{
	struct world *w = *state;

	for (int64_t at = 0; at < S; at += 100 * MS) {
		result(w, at, 0, 0, 50000, WIRE_NO_REPLY);
		result(w, at, 0, 2, 50001, WIRE_NO_REPLY);
		result(w, at, 1, 1, 50000, WIRE_OK);
		result(w, at, 1, 1, 50001, WIRE_OK);
	}
	tick(w);
	assert_int_equal(lost_in(w), 20);
}

/* Each of these RNICs is probed over one path only, and spine 1 loses packets of all of
 * them. */
static void
a_path_is_not_excused_by_rnics_without_another_path(void **state)
{
	struct world *w = *state;

	for (int64_t at = 0; at < S; at += 100 * MS) {
		result(w, at, 0, 0, 50000, WIRE_NO_REPLY);
		result(w, at, 1, 2, 50000, WIRE_NO_REPLY);
		result(w, at + MS, 2, 4, 50001, WIRE_OK);
		result(w, at + MS, 3, 4, 50001, WIRE_OK);
	}
	tick(w);
	assert_int_equal(row(w, "t2", "10.2.0.1")->sent, 20);
	assert_int_equal(lost_in(w), 20);
}

/* Spine 1 drops some flows: both flows of one RNIC, half of those of another. */
static void
a_path_is_not_excused_by_an_rnic_with_all_flows_on_it(void **state)
{
	struct world *w = *state;

	for (int64_t at = 0; at < S; at += 100 * MS) {
		result(w, at, 0, 0, 50000, WIRE_NO_REPLY);
		result(w, at, 1, 0, 50000, WIRE_NO_REPLY);
		result(w, at, 2, 2, 50000, WIRE_NO_REPLY);
		result(w, at + MS, 3, 2, 50000, WIRE_OK);
		result(w, at + MS, 2, 4, 50000, WIRE_OK);
		result(w, at + MS, 0, 4, 50000, WIRE_OK);
		result(w, at + MS, 1, 4, 50000, WIRE_OK);
	}
	tick(w);
	assert_int_equal(lost_in(w), 30);
}

static void
members_that_are_no_witnesses_do_not_count(void **state)
{
	struct world *w = *state;

	w->witnesses[1] = false;
	probe(w, from_member_1, 0);
	assert_int_equal(w->messages, 0);
	assert_int_equal(path_rows_counts(w->rows)->not_a_witness, REMOTES * 2 * 4);
}

static void
only_answers_and_losses_count(void **state)
{
	struct world *w = *state;

	for (uint8_t outcome = 0; outcome < WIRE_OUTCOMES; outcome++)
		result(w, outcome * MS, 0, 0, 50000, outcome);
	tick(w);
	assert_int_equal(w->row_count, 1);
	/* OK, NO_REPLY, LATE_REPLY and SENT_LATE count. An answer to a probe that was
	 * sent late counts, so its loss must: else the path of a host that stutters
	 * would seem to lose less than it does. */
	assert_int_equal(w->row[0].sent, 4);
	assert_int_equal(lost_in(w), 2);
}

static void
late_answers_are_reported_at_once_and_replies_when_they_come(void **state)
{
	struct world *w = *state;
	struct wire_result slow = { .src_port = 50000,
		.dscp = 26,
		.kind = WIRE_INTER_TOR,
		.outcome = WIRE_OK,
		.rtt_ns = 400 * MS,
		.round_trip_ns = 900 * MS,
		.stamp_source = WIRE_STAMP_KERNEL,
		.flags = WIRE_SPLIT };
	const struct roster_rnic *dst = roster_remote(w->roster, 0);

	path_rows_add(
	    w->rows, (rm_mono_t){ w->now }, &slow, 0, dst->index, dst->tor_number);
	slow.stamp_source =
	    WIRE_STAMP_USER; /* user-space stamps include delays of the host */
	path_rows_add(
	    w->rows, (rm_mono_t){ w->now + MS }, &slow, 0, dst->index, dst->tor_number);
	tick(w);
	assert_int_equal(w->messages, 1);
	assert_int_equal(w->row_count, 1);
	assert_int_equal(w->row[0].sent, 2);
	assert_int_equal(w->row[0].timed, 1);
	assert_int_equal(w->row[0].slow, 1);
	assert_int_equal(w->row[0].slow_ns, 400 * MS);
	assert_int_equal(lost_in(w), 0);
	/* Late probes count in the second in which they become overdue, whenever they
	 * were sent. */
	slow.outcome = WIRE_OVERDUE;
	slow.stamp_source = WIRE_STAMP_KERNEL;
	wire_result_overdue(&slow, 1500 * MS);
	path_rows_overdue(w->rows, (rm_mono_t){ w->now - 1500 * MS }, &slow, 0,
	    dst->index, dst->tor_number);
	tick(w);
	assert_int_equal(w->messages, 2);
	assert_int_equal(w->row_count, 1);
	assert_int_equal(w->row[0].sent, 0);
	assert_int_equal(w->row[0].overdue, 1);
	assert_int_equal(w->row[0].slow_ns, 1500 * MS);
	wire_result_overdue(&slow, UINT64_C(6000) * MS); /* the time exceeds 32 bits */
	path_rows_overdue(w->rows, (rm_mono_t){ w->now - 6000 * MS }, &slow, 0,
	    dst->index, dst->tor_number);
	tick(w);
	assert_int_equal(w->row[0].slow_ns, UINT64_C(6000) * MS);
	tick(w);
	assert_int_equal(w->messages, 3); /* no further message */
}

/* A reply that took `took`, to a probe sent `age` before the start of the open second.
 */
static void
answer(struct world *w, uint16_t src_port, int64_t age, int64_t took)
{
	struct wire_result result = { .src_port = src_port,
		.dscp = 26,
		.kind = WIRE_INTER_TOR,
		.outcome = WIRE_OK,
		.rtt_ns = (uint32_t)took,
		.stamp_source = WIRE_STAMP_KERNEL,
		.flags = WIRE_SPLIT };
	const struct roster_rnic *dst = roster_remote(w->roster, 0);
	const rm_mono_t sent = { w->now - age };

	if (age <= 0) {
		path_rows_add(w->rows, sent, &result, 0, dst->index, dst->tor_number);
		return;
	}
	result.outcome = WIRE_OVERDUE;
	wire_result_overdue(&result, (uint64_t)took);
	path_rows_overdue(w->rows, sent, &result, 0, dst->index, dst->tor_number);
}

/* For example, packets waited for a link to come back. */
static void
replies_released_at_one_moment_are_not_slow(void **state)
{
	struct world *w = *state;

	for (int64_t age = 1800 * MS; age > 0; age -= 200 * MS)
		answer(w, 50000, age, age + 300 * MS);
	answer(w, 50000, -100 * MS, 200 * MS);
	answer(w, 50000, -150 * MS, 151 * MS);
	answer(w, 50000, -400 * MS, MS / 10);
	/* The only reply over its path. */
	answer(w, 50001, -190 * MS, 115 * MS);
	tick(w);
	assert_int_equal(w->row_count, 2);
	for (size_t i = 0; i < w->row_count; i++) {
		/* Nor do they prove that the path is fast. */
		assert_int_equal(w->row[i].timed, i == 0 ? 1 : 0);
		assert_int_equal(w->row[i].slow, 0);
		assert_int_equal(w->row[i].overdue, 0);
		assert_int_equal(w->row[i].slow_ns, 0);
	}
}

/* A late link delays all packets by the same time, whatever it is. */
static void
replies_that_come_as_they_were_sent_are_slow(void **state)
{
	struct world *w = *state;

	for (int64_t age = 1000 * MS; age > 0; age -= 200 * MS)
		answer(w, 50000, age, 1400 * MS + age % (300 * MS) / 20);
	for (int64_t age = 0; age > -1000 * MS; age -= 200 * MS)
		answer(w, 50001, age, 400 * MS);
	tick(w);
	assert_int_equal(w->row_count, 2);
	assert_int_equal(w->row[0].overdue + w->row[1].overdue, 5);
	assert_int_equal(w->row[0].slow + w->row[1].slow, 5);
}

static void
slow_flows_are_named_only_in_a_row_without_losses(void **state)
{
	struct world *w = *state;

	answer(w, 50000, 0, 400 * MS);
	result(w, MS, 1, 0, 50000, WIRE_NO_REPLY);
	answer(w, 50001, 0, 400 * MS);
	tick(w);
	assert_string_equal(
	    w->samples[row(w, "t2", "10.2.0.1") - w->row], "h1/r0>x0/r0:50000");
	assert_string_equal(
	    w->samples[row(w, "t2", "10.2.0.2") - w->row], "h0/r0>x0/r0:50001");
}

/* An answer to a probe that waited at the responder's host. */
static void
waited(struct world *w, int64_t at, uint32_t src, uint32_t dst, uint32_t waited_ns)
{
	const struct wire_result out = { .src_port = 50000 + src % 2,
		.dscp = 26,
		.kind = WIRE_INTER_TOR,
		.outcome = WIRE_OK,
		.responder_delay_ns = waited_ns,
		.flags = WIRE_SPLIT };
	const struct roster_rnic *rnic = roster_remote(w->roster, dst);

	path_rows_add(w->rows, (rm_mono_t){ w->now + at }, &out, src, rnic->index,
	    rnic->tor_number);
}

/* The hosts of remote RNIC 0 and of no other one stand still from `from` on, for 600
 * ms. Probes that waited for more than 400 ms are lost. */
static void
stop(struct world *w, int64_t from, int64_t waited_ns)
{
	const int64_t until = from + 600 * MS;

	for (int64_t at = 0; at < 2 * S; at += 20 * MS) {
		const uint32_t src = (uint32_t)(at / (20 * MS)) % MEMBERS;

		result(w, at, src, 2, 50000 + src % 2, WIRE_OK);
		if (at < from || at >= until)
			result(w, at, src, 0, 50000 + src % 2, WIRE_OK);
		else if (at < until - 400 * MS)
			result(w, at, src, 0, 50000 + src % 2, WIRE_NO_REPLY);
		else
			waited(
			    w, at, src, 0, (uint32_t)(waited_ns > 0 ? until - at : 0));
	}
}

static void
losses_while_the_targets_host_stands_still_are_left_out(void **state)
{
	struct world *w = *state;

	stop(w, 300 * MS, 1);
	tick(w);
	assert_int_equal(w->messages, 0); /* a loss would be reported at once */
	assert_int_equal(path_rows_counts(w->rows)->remote_stopped, 50);
	tick(w);
	assert_int_equal(path_rows_counts(w->rows)->remote_stopped, 50);
}

static void
a_stop_may_be_seen_only_in_the_next_second(void **state)
{
	struct world *w = *state;

	stop(w, 800 * MS, 1);
	tick(w);
	assert_int_equal(w->messages, 0);
	assert_int_equal(path_rows_counts(w->rows)->remote_stopped, 50);
}

static void
losses_before_prompt_answers_count(void **state)
{
	struct world *w = *state;

	stop(w, 300 * MS, 0);
	tick(w);
	assert_int_equal(lost_in(w), 10);
	assert_int_equal(path_rows_counts(w->rows)->remote_stopped, 0);
}

static void
sized(struct world *w, uint16_t bytes, uint8_t outcome)
{
	const struct wire_result out = { .src_port = 50000,
		.dscp = 26,
		.kind = WIRE_INTER_TOR,
		.size_bytes = bytes,
		.outcome = outcome };
	const struct roster_rnic *dst = roster_remote(w->roster, 0);

	path_rows_add(
	    w->rows, (rm_mono_t){ w->now }, &out, 0, dst->index, dst->tor_number);
}

static void
large_probes_are_counted_apart_with_the_smallest_that_was_lost(void **state)
{
	struct world *w = *state;

	sized(w, 64, WIRE_OK);
	sized(w, WIRE_ROCE_SMALL_BYTES, WIRE_NO_REPLY);
	sized(w, 1000, WIRE_OK);
	sized(w, 8000, WIRE_NO_REPLY);
	sized(w, 4000, WIRE_NO_REPLY);
	tick(w);
	assert_int_equal(w->row_count, 1);
	assert_int_equal(w->row[0].sent, 5);
	assert_int_equal(lost_in(w), 3);
	assert_int_equal(w->row[0].large_sent, 3);
	assert_int_equal(w->row[0].large_lost, 2);
	assert_int_equal(w->row[0].large_bytes, 4000);
}

static void
arriving(struct world *w, uint16_t src_port, uint8_t dscp, uint8_t ecn)
{
	const struct wire_result out = { .src_port = src_port,
		.dscp = 26,
		.kind = WIRE_INTER_TOR,
		.outcome = WIRE_OK,
		.arrived_dscp = dscp,
		.arrived_ecn = ecn,
		.flags = WIRE_ARRIVAL };
	const struct roster_rnic *dst = roster_remote(w->roster, 0);

	path_rows_add(
	    w->rows, (rm_mono_t){ w->now }, &out, 0, dst->index, dst->tor_number);
}

static void
marks_of_arriving_probes_are_counted_for_their_path(void **state)
{
	struct world *w = *state;
	const struct wire_path_row *marked, *other;

	for (int second = 0; second < 2; second++) {
		for (int i = 0; i < 10; i++) {
			arriving(w, 50000, 26, i < 3 ? WIRE_ECN_CE : WIRE_ECN_ECT_0);
			arriving(w, 50001, i < 2 ? 0 : 26,
			    i < 4 ? WIRE_ECN_NOT_ECT : WIRE_ECN_ECT_0);
		}
		result(w, 0, 0, 0, 50000, WIRE_OK); /* its marks are not known */
		tick(w);
	}
	for (int i = 0; i < 8; i++)
		tick(w);
	assert_int_equal(w->messages, 1);
	marked = row(w, "t2", "10.2.0.1");
	other = row(w, "t2", "10.2.0.2");
	assert_int_equal(marked->sent, 22);
	assert_int_equal(marked->arrived, 20);
	assert_int_equal(marked->congested, 6);
	assert_int_equal(marked->rewritten + marked->not_ect, 0);
	assert_int_equal(other->arrived, 20);
	assert_int_equal(other->congested, 0);
	assert_int_equal(other->rewritten, 4);
	assert_int_equal(other->not_ect, 8);
}

static void
untraced_flows_have_a_row_of_their_own(void **state)
{
	struct world *w = *state;

	result(w, 0, 0, 0, 40000, WIRE_OK);
	result(w, 1, 0, 1, 40001, WIRE_NO_REPLY);
	tick(w);
	assert_int_equal(w->row_count, 2);
	assert_string_equal(w->row[0].path, "");
	assert_string_equal(w->row[0].dst_tor, "t2");
	assert_string_equal(w->row[1].path, "");
	assert_string_equal(w->row[1].dst_tor, "t3");
	assert_int_equal(path_rows_counts(w->rows)->untraced, 2);
}

/* A trace shows where the lossy flows lead now, but not since when. */
static void
losses_before_a_trace_of_another_path_are_left_out(void **state)
{
	struct world *w = *state;

	probe(w, nothing, 0);
	learn_at(w, 50000, 3, w->now + 900 * MS);
	probe(w, by_spine_1_to_t2, 0);
	assert_int_equal(w->messages, 0); /* no loss counts */
	assert_int_equal(path_rows_counts(w->rows)->doubtful, MEMBERS * REMOTES * 4);
	probe(w, by_spine_1_to_t2, 0);
	assert_int_equal(w->messages, 2);
	assert_int_equal(lost_in(w), 48);
	assert_int_equal(row(w, "t2", "10.2.0.3")->lost_forward, 48);
	assert_int_equal(path_rows_counts(w->rows)->doubtful, MEMBERS * REMOTES * 4);
}

static void
a_missed_second_gives_no_row(void **state)
{
	struct world *w = *state;

	probe(w, nothing, 0);
	w->partial = true;
	probe(w, by_spine_1_to_t2, 0);
	assert_int_equal(w->messages, 1);
	assert_int_equal(w->end_ns, START + S);
	w->partial = false;
	for (int i = 0; i < 10; i++)
		probe(w, nothing, 0);
	assert_int_equal(w->messages, 2);
	assert_int_equal(w->start_ns, START + 2 * S);
	assert_int_equal(path_rows_counts(w->rows)->skipped, 1);
	/* Every probe is in a row, or counted as left out. */
	assert_int_equal(path_rows_counts(w->rows)->forgotten, w->sent / 11);
}

static void
renumbering_forgets_open_seconds(void **state)
{
	struct world *w = *state;

	probe(w, nothing, 0);
	result(w, 0, 0, 0, 50000, WIRE_NO_REPLY);
	path_rows_renumber(w->rows);
	tick(w);
	assert_int_equal(w->messages, 0);
	assert_true(path_rows_empty(w->rows));
	assert_int_equal(
	    path_rows_counts(w->rows)->forgotten, MEMBERS * REMOTES * 2 * 4 + 1);
}

/* Each member probes each other one ten times, and loses the first `lost` of these. */
static void
probe_inside(struct world *w, unsigned lost)
{
	struct wire_result out = {
		.src_port = 50000, .dscp = 26, .kind = WIRE_TOR_MESH
	};

	for (uint32_t src = 0; src < MEMBERS; src++)
		for (uint32_t dst = 0; dst < MEMBERS; dst++)
			for (unsigned i = 0; src != dst && i < 10; i++) {
				out.outcome = i < lost ? WIRE_NO_REPLY : WIRE_OK;
				path_rows_add_inside(
				    w->rows, (rm_mono_t){ w->now }, &out, src, dst);
			}
}

static void
probes_inside_the_rack_are_reported_beside_the_paths(void **state)
{
	struct world *w = *state;

	for (int second = 0; second < 3; second++) {
		probe_inside(w, 2);
		result(w, 0, 0, 0, 50000, WIRE_NO_REPLY);
		result(w, 0, 0, 0, 50000, WIRE_OK);
		tick(w);
	}
	/* without the member that lost most, and in the last second only */
	assert_int_equal(w->inside.sent, 3 * 2 * 10);
	assert_int_equal(w->inside.lost_unknown, 3 * 2 * 2);
	assert_int_equal(w->inside.flows_partial, 3 * 2);
	assert_int_equal(w->row_count, 1);
	assert_int_equal(w->row[0].sent, 2);
}

static void
flows_and_times_beyond_the_bounds_are_refused(void **state)
{
	struct world *w = *state;

	for (uint16_t f = 0; f < 1030; f++)
		result(w, 0, 0, 0, f, WIRE_OK);
	assert_int_equal(path_rows_counts(w->rows)->refused_flows, 6);
	result(w, -1, 0, 0, 1, WIRE_OK);
	result(w, 12 * S, 0, 0, 1, WIRE_OK);
	assert_int_equal(path_rows_counts(w->rows)->refused_flows, 8);
	result(w, 12 * S - 1, 0, 0, 1, WIRE_OK);
	assert_int_equal(path_rows_counts(w->rows)->refused_flows, 8);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(clean_paths_are_reported_every_interval),
		TEST(losses_are_reported_at_once_and_their_end_once),
		TEST(a_row_names_some_of_its_lost_flows),
		TEST(a_path_that_loses_some_flows_is_reported),
		TEST(a_dead_rnic_elsewhere_is_no_fault_of_a_path),
		TEST(an_rnic_that_dies_within_the_second_is_no_fault_of_a_path),
		TEST(a_lossy_rnic_is_no_fault_of_a_path_either),
		TEST(a_lossy_member_is_no_fault_of_a_path_either),
		TEST(a_lossy_path_is_reported_for_as_long_as_it_loses),
		TEST(a_single_target_that_loses_on_all_paths_is_left_out),
		TEST(a_dead_tor_elsewhere_is_reported),
		TEST(a_member_whose_probes_all_fail_is_left_out),
		TEST(a_dead_tor_with_a_single_prober_is_reported),
		TEST(a_path_is_not_excused_by_rnics_without_another_path),
		TEST(a_path_is_not_excused_by_an_rnic_with_all_flows_on_it),
		TEST(members_that_are_no_witnesses_do_not_count),
		TEST(only_answers_and_losses_count),
		TEST(late_answers_are_reported_at_once_and_replies_when_they_come),
		TEST(replies_released_at_one_moment_are_not_slow),
		TEST(replies_that_come_as_they_were_sent_are_slow),
		TEST(slow_flows_are_named_only_in_a_row_without_losses),
		TEST(losses_while_the_targets_host_stands_still_are_left_out),
		TEST(a_stop_may_be_seen_only_in_the_next_second),
		TEST(losses_before_prompt_answers_count),
		TEST(large_probes_are_counted_apart_with_the_smallest_that_was_lost),
		TEST(marks_of_arriving_probes_are_counted_for_their_path),
		TEST(untraced_flows_have_a_row_of_their_own),
		TEST(losses_before_a_trace_of_another_path_are_left_out),
		TEST(a_missed_second_gives_no_row),
		TEST(renumbering_forgets_open_seconds),
		TEST(probes_inside_the_rack_are_reported_beside_the_paths),
		TEST(flows_and_times_beyond_the_bounds_are_refused),
	};

	return cmocka_run_group_tests_name("path_rows", tests, NULL, NULL);
}
