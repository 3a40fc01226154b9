#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "host-agent/report/aggregator_link.h"
#include "host-agent/report/heartbeat.h"
#include "rackmesh/judge/part.h"
#include "rackmesh/net/link.h"
#include "rackmesh/net/listener.h"
#include "tests/support/loopback.h"
#include "tests/support/pinglist_fixture.h"

#define INCARNATION 4711
#define MAX_SEEN 64

/* An aggregator that records all messages, as one string of letters. */
struct fixture {
	struct rm_loop *loop;
	struct rm_listener *listener;
	struct rm_link *link; /* to send to the agent; NULL: none */
	struct wire_writer *writer;
	struct rm_endpoint endpoint;
	struct aggregator_link *aggregator_link;

	/* how the aggregator behaves */
	bool silent; /* accepts connections, and sends nothing */
	bool knows_overdue;
	const char *refuses;
	uint64_t counted_seq;

	/* the messages received: H hello, R register, B batch, C counts, T
	 * heartbeat, X paths, U services, V resolve, O join */
	char seen[MAX_SEEN + 1];
	size_t seen_count;
	uint64_t seqs[MAX_SEEN]; /* numbers of the received batches */
	size_t batches;
	size_t overdue; /* results with the outcome WIRE_OVERDUE */
	size_t results; /* all other results */
	struct wire_batch_head last_head;
	uint64_t last_beat_ns, vouched_ns, beats, stalls;
	size_t rows;
	bool paused;
	char live[256];
	size_t flows; /* number of flows in the last report of services */
	/* the last report of counters: its interval, and the sum of its values */
	uint64_t counted_ns, counted;

	/* how often the aggregator link called each callback */
	unsigned welcomes, downs, refusals, pinglists, focuses, brakes, catch_ups;
	unsigned answers;
	uint64_t token;
	char answered[RM_NAME_BYTES]; /* host named in the last answer */
	int reason;
	bool had_session;
	char cause[256];
};

static void
aggregator_send_welcome(struct fixture *f)
{
	struct wire_welcome welcome = {
		.version = WIRE_VERSION,
		.id = "agg-1",
		.incarnation = 1,
		.counted_seq = f->counted_seq,
		.refused = f->refuses == NULL ? "" : f->refuses,
		.knows_overdue = f->knows_overdue,
	};
	struct wire_bytes bytes;

	assert_int_equal(wire_write_welcome(f->writer, &welcome, &bytes), 0);
	assert_int_equal(rm_link_send(f->link, bytes.data, bytes.len), 0);
}

static void
aggregator_take_batch(struct fixture *f, const uint8_t *data, size_t len)
{
	struct wire_batch_view view;

	assert_int_equal(wire_open_batch(&view, data, len), 0);
	assert_true(f->batches < MAX_SEEN);
	assert_string_equal(view.head.host, "h1");
	assert_int_equal(view.head.incarnation, INCARNATION);
	f->seqs[f->batches++] = view.head.seq;
	for (size_t i = 0; i < view.count; i++)
		if (view.results[i].outcome == WIRE_OVERDUE)
			f->overdue++;
		else
			f->results++;
	f->last_head = view.head;
	f->last_head.host = NULL;
}

static void
aggregator_take_beat(struct fixture *f, const uint8_t *data, size_t len)
{
	struct wire_heartbeat beat;

	assert_int_equal(wire_open_heartbeat(&beat, data, len), 0);
	f->beats++;
	assert_int_equal(beat.seq, f->beats);
	f->last_beat_ns = beat.now_ns;
	f->vouched_ns = beat.results_through_ns;
	f->stalls += beat.stall_count;
	f->paused = beat.paused;
	f->live[0] = 0;
	for (size_t i = 0; i < beat.live_count; i++) {
		strcat(f->live, wire_heartbeat_live(&beat, i));
		strcat(f->live, " ");
	}
}

static void
aggregator_take_counters(struct fixture *f, const uint8_t *data, size_t len)
{
	struct wire_counter_report view;
	struct wire_rnic_counters rnic;

	assert_int_equal(wire_open_counter_report(&view, data, len), 0);
	assert_int_equal(view.rnic_count, 1);
	wire_counter_report_rnic(&view, 0, &rnic);
	f->counted_ns = rnic.interval_ns;
	f->counted = 0;
	for (size_t i = 0; i < rnic.value_count; i++)
		f->counted += rnic.values[i].value;
}

static void
aggregator_take_services(struct fixture *f, const uint8_t *data, size_t len)
{
	struct wire_services_view view;

	assert_int_equal(wire_open_services(&view, data, len), 0);
	assert_string_equal(view.services.host, "h1");
	assert_int_equal(view.services.incarnation, INCARNATION);
	assert_int_equal(view.services.now_ns, 12345);
	f->flows = view.services.flow_count;
}

/* Resolves every RNIC requested by address, and none requested by QP number. */
static void
aggregator_answer(
    struct fixture *f, enum wire_kind kind, const uint8_t *data, size_t len)
{
	struct wire_resolve_answer answer = { .found = kind == WIRE_RESOLVE };
	struct wire_resolve resolve;
	struct wire_bytes bytes;
	struct wire_join join;

	if (kind == WIRE_RESOLVE) {
		assert_int_equal(wire_open_resolve(&resolve, data, len), 0);
		answer.token = resolve.token;
		answer.rnic.host = "h2";
	} else {
		assert_int_equal(wire_open_join(&join, data, len), 0);
		answer.token = join.token;
	}
	assert_int_equal(wire_write_resolved(f->writer, &answer, &bytes), 0);
	assert_int_equal(rm_link_send(f->link, bytes.data, bytes.len), 0);
}

static int
aggregator_on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	static const char letters[] = { [WIRE_HELLO] = 'H',
		[WIRE_REGISTER] = 'R',
		[WIRE_BATCH] = 'B',
		[WIRE_HEARTBEAT] = 'T',
		[WIRE_COUNTS] = 'C',
		[WIRE_PATHS] = 'X',
		[WIRE_SERVICES] = 'U',
		[WIRE_COUNTER_REPORT] = 'N',
		[WIRE_RESOLVE] = 'V',
		[WIRE_JOIN] = 'O' };
	enum wire_kind kind = wire_kind_of(data, len);
	struct wire_counts counts;
	struct fixture *f = arg;

	assert_true(kind < sizeof(letters) && letters[kind] != 0);
	if (f->seen_count < MAX_SEEN)
		f->seen[f->seen_count++] = letters[kind];
	if (kind == WIRE_HELLO && !f->silent)
		aggregator_send_welcome(f);
	if (kind == WIRE_BATCH)
		aggregator_take_batch(f, data, len);
	if (kind == WIRE_HEARTBEAT)
		aggregator_take_beat(f, data, len);
	if (kind == WIRE_COUNTS) {
		assert_int_equal(wire_open_counts(&counts, data, len), 0);
		f->rows += counts.row_count;
	}
	if (kind == WIRE_COUNTER_REPORT)
		aggregator_take_counters(f, data, len);
	if (kind == WIRE_SERVICES)
		aggregator_take_services(f, data, len);
	if (kind == WIRE_RESOLVE || kind == WIRE_JOIN)
		aggregator_answer(f, kind, data, len);
	return f->refuses != NULL ? -EACCES : 0;
}

static void
aggregator_on_close(struct rm_link *link, int reason, void *arg)
{
	struct fixture *f = arg;

	rm_link_free(link);
	f->link = NULL;
}

static int
aggregator_on_accept(int fd, const struct rm_address *peer, void *arg)
{
	static const struct rm_link_limits limits = { 1 << 20, 16 << 20 };
	static const struct rm_link_callbacks callbacks = { aggregator_on_frame,
		aggregator_on_close, NULL };
	struct fixture *f = arg;

	rm_link_free(f->link);
	return rm_link_new(f->loop, fd, &limits, &callbacks, f, &f->link);
}

static void
aggregator_hang_up(struct fixture *f)
{
	rm_link_free(f->link);
	f->link = NULL;
}

static void
aggregator_ack(struct fixture *f, uint64_t incarnation, uint64_t seq)
{
	struct wire_ack ack = { WIRE_LANE_BATCH, incarnation, seq };
	struct wire_bytes bytes;

	assert_int_equal(wire_write_ack(f->writer, &ack, &bytes), 0);
	assert_int_equal(rm_link_send(f->link, bytes.data, bytes.len), 0);
}

static void
on_welcome(struct aggregator_link *aggregator_link, void *arg)
{
	struct wire_rnic rnic = { .id = rnic_number(1),
		.host = "h1",
		.device = "eth1",
		.driver = "",
		.plane = "",
		.tors = { "tor-a" },
		.tor_count = 1 };
	struct fixture *f = arg;

	f->welcomes++;
	assert_int_equal(aggregator_link_register(aggregator_link, &rnic, NULL, 1), 0);
}

static int
on_pinglist(
    struct aggregator_link *aggregator_link, const uint8_t *data, size_t len, void *arg)
{
	struct wire_pinglist_view view;
	struct fixture *f = arg;

	f->pinglists++;
	return wire_open_pinglist(&view, data, len);
}

static void
on_focus(
    struct aggregator_link *aggregator_link, const struct wire_focus *focus, void *arg)
{
	struct fixture *f = arg;

	assert_int_equal(focus->interval_us, 500);
	f->focuses++;
}

static void
on_brake(
    struct aggregator_link *aggregator_link, const struct wire_brake *brake, void *arg)
{
	struct fixture *f = arg;

	assert_int_equal(brake->rate_permille, 250);
	f->brakes++;
}

static void
on_resolved(struct aggregator_link *aggregator_link,
    const struct wire_resolve_answer *answer, void *arg)
{
	struct fixture *f = arg;

	f->answers++;
	f->token = answer->token;
	snprintf(f->answered, sizeof(f->answered), "%s", answer->rnic.host);
	assert_int_equal(answer->found, answer->rnic.host[0] != 0);
}

static void
on_refused(struct aggregator_link *aggregator_link, const char *reason, void *arg)
{
	struct fixture *f = arg;

	f->refusals++;
	strncpy(f->cause, reason, sizeof(f->cause) - 1);
}

static void
on_caught_up(struct aggregator_link *aggregator_link, void *arg)
{
	struct fixture *f = arg;

	f->catch_ups++;
}

static void
on_down(
    struct aggregator_link *aggregator_link, int reason, bool had_session, void *arg)
{
	struct fixture *f = arg;

	f->downs++;
	f->reason = reason;
	f->had_session = had_session;
}

static void
aggregator_link_start(struct fixture *f, size_t max_items)
{
	static const struct aggregator_link_callbacks callbacks = { on_welcome,
		on_pinglist, on_focus, on_refused, on_caught_up, on_down, on_brake,
		on_resolved };
	struct aggregator_link_options options = {
		.aggregator = &f->endpoint,
		.host = "h1",
		.region = "default",
		.incarnation = INCARNATION,
		.batch_max_results = 2,
		.batch_max_age_ns = 50 * RM_NS_PER_MS,
		.outbox = { .max_items = max_items,
		    .max_bytes = 1 << 20,
		    .max_age_ns = 60 * RM_NS_PER_S },
		.backoff_base_ns = RM_NS_PER_MS,
		.backoff_cap_ns = 5 * RM_NS_PER_MS,
	};

	assert_int_equal(
	    aggregator_link_new(f->loop, &options, &callbacks, f, &f->aggregator_link),
	    0);
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct rm_address any = loopback_address(0);

	if (f == NULL || rm_loop_new(&f->loop) < 0 ||
	    rm_listener_new(f->loop, &any, aggregator_on_accept, f, &f->listener) < 0)
		return -1;
	f->endpoint = loopback_endpoint(rm_listener_port(f->listener));
	f->writer = wire_writer_new();
	*state = f;
	return f->writer == NULL;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	aggregator_link_free(f->aggregator_link);
	rm_link_free(f->link);
	rm_listener_free(f->listener);
	wire_writer_free(f->writer);
	rm_loop_free(f->loop);
	free(f);
	return 0;
}

static void
results(struct fixture *f, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct wire_result result = { .seq = i };
		rm_mono_t now = rm_mono_now();

		aggregator_link_result(f->aggregator_link, &result, now, now);
	}
}

static void
report(struct fixture *f, const struct wire_count *rows, size_t row_count)
{
	rm_mono_t now = rm_mono_now();
	struct aggregator_link_report report = {
		.rows = rows, .row_count = row_count, .known_through = now
	};

	aggregator_link_report(f->aggregator_link, &report, now);
}

static void
connect_aggregator_link(struct fixture *f)
{
	aggregator_link_start(f, 4);
	LOOPBACK_WAIT(f->loop, aggregator_link_has_session(f->aggregator_link));
}

static const struct outbox_counts *
counts_of(struct fixture *f)
{
	return outbox_counts(aggregator_link_outbox(f->aggregator_link));
}

static void
a_session_begins_with_hello_and_registration(void **state)
{
	struct fixture *f = *state;

	connect_aggregator_link(f);
	LOOPBACK_WAIT(f->loop, f->seen_count >= 2);
	assert_string_equal(f->seen, "HR");
	assert_string_equal(aggregator_link_peer(f->aggregator_link), "\"agg-1\"");
}

static void
a_full_batch_leaves_at_once_and_an_old_one_by_itself(void **state)
{
	struct fixture *f = *state;
	rm_mono_t begun;

	connect_aggregator_link(f);
	begun = rm_mono_now();
	results(f, 2);
	LOOPBACK_WAIT(f->loop, f->batches == 1);
	results(f, 1);
	LOOPBACK_WAIT(f->loop, f->batches == 2);
	assert_true(rm_mono_since(rm_mono_now(), begun) >= 50 * RM_NS_PER_MS);
	assert_int_equal(f->seqs[1], 2);
}

static void
batches_and_counts_go_before_the_heartbeat(void **state)
{
	struct fixture *f = *state;
	struct wire_count row = { .own_guid = 1, .prober_guid = 2, .received = 3 };

	connect_aggregator_link(f);
	assert_true(aggregator_link_wants_all_counts(f->aggregator_link));
	results(f, 3); /* one full batch; one result remains */
	report(f, &row, 1);
	LOOPBACK_WAIT(f->loop, f->beats == 1);
	assert_string_equal(f->seen, "HRBBCT");
	assert_int_equal(f->rows, 1);
	assert_false(aggregator_link_wants_all_counts(f->aggregator_link));
	/* The heartbeat covers only results that were made before it. */
	assert_true(f->last_beat_ns <= f->last_head.now_ns);
}

static void
a_count_report_without_rows_is_still_sent(void **state)
{
	struct fixture *f = *state;

	connect_aggregator_link(f);
	report(f, NULL, 0);
	LOOPBACK_WAIT(f->loop, f->beats == 1);
	assert_string_equal(f->seen, "HRCT");
}

static void
many_rows_go_in_several_frames(void **state)
{
	struct fixture *f = *state;
	struct wire_count *rows = calloc(20000, sizeof(*rows));

	connect_aggregator_link(f);
	report(f, rows, 20000);
	LOOPBACK_WAIT(f->loop, f->beats == 1);
	assert_string_equal(f->seen, "HRCCCT");
	assert_int_equal(f->rows, 20000);
	free(rows);
}

static void
a_stall_is_reported_when_the_session_is_back(void **state)
{
	struct loop_turn turn = {
		.lag_ns = RM_NS_PER_S, .stalled = true, .stall = { 1, 1 + RM_NS_PER_S }
	};
	struct fixture *f = *state;

	connect_aggregator_link(f);
	aggregator_hang_up(f);
	LOOPBACK_WAIT(f->loop, !aggregator_link_has_session(f->aggregator_link));
	aggregator_link_note(f->aggregator_link, &turn);
	report(f, NULL, 0); /* not connected */
	LOOPBACK_WAIT(f->loop, aggregator_link_has_session(f->aggregator_link));
	assert_true(aggregator_link_wants_all_counts(f->aggregator_link));
	report(f, NULL, 0);
	LOOPBACK_WAIT(f->loop, f->beats == 1);
	assert_int_equal(f->stalls, 1);
}

static void
a_heartbeat_covers_only_batches_that_were_sent(void **state)
{
	struct fixture *f = *state;
	rm_mono_t later = rm_mono_add(rm_mono_now(), 2 * OUTBOX_PATIENCE_NS);
	struct aggregator_link_report before = { .known_through = { 1000 } };
	struct aggregator_link_report nothing = { .known_through = later };

	connect_aggregator_link(f);
	results(f, 2);
	LOOPBACK_WAIT(f->loop, f->batches == 1);
	aggregator_link_report(f->aggregator_link, &before, rm_mono_now());
	LOOPBACK_WAIT(f->loop, f->beats == 1);
	assert_int_equal(f->vouched_ns, 1000);
	results(f, 1);
	/* Half a second later batch 1 is still not acknowledged. Batch 2 is not
	 * sent, and the heartbeat, which is sent, does not cover it. */
	aggregator_link_report(f->aggregator_link, &nothing, later);
	assert_int_equal(counts_of(f)->sent.batches, 1);
	assert_int_equal(
	    aggregator_link_counts(f->aggregator_link)->heartbeats_behind, 1);
	LOOPBACK_WAIT(f->loop, f->beats == 2);
	assert_int_equal(f->vouched_ns, 1000);
	aggregator_ack(f, INCARNATION, 1);
	LOOPBACK_WAIT(f->loop, f->catch_ups == 1 && f->batches == 2);
	report(f, NULL, 0);
	LOOPBACK_WAIT(f->loop, f->beats == 3);
	assert_string_equal(f->seen, "HRBCTTBCT");
}

static void
a_new_session_has_no_backlog_of_the_ended_one(void **state)
{
	struct fixture *f = *state;
	struct aggregator_link_report nothing = { 0 };
	rm_mono_t sent;

	connect_aggregator_link(f);
	results(f, 2);
	sent = rm_mono_now();
	LOOPBACK_WAIT(f->loop, f->batches == 1);
	/* Wait in real time: the link tries again whenever it has room. */
	LOOPBACK_WAIT(f->loop, rm_mono_since(rm_mono_now(), sent) > OUTBOX_PATIENCE_NS);
	results(f, 1);
	aggregator_link_report(f->aggregator_link, &nothing, rm_mono_now());
	assert_int_equal(
	    aggregator_link_counts(f->aggregator_link)->heartbeats_behind, 1);
	LOOPBACK_WAIT(f->loop, f->beats == 1);
	f->silent = true;
	aggregator_hang_up(f);
	/* The second hello was sent, and no batch follows it. */
	LOOPBACK_WAIT(f->loop, f->downs == 1 && f->seen[f->seen_count - 1] == 'H');
	assert_false(aggregator_link_has_session(f->aggregator_link));
	assert_int_equal(f->catch_ups, 0);
}

/* An older aggregator would count such results as invalid. */
static void
overdue_replies_are_sent_only_to_peers_that_support_them(void **state)
{
	const struct wire_result overdue = { .outcome = WIRE_OVERDUE };
	struct fixture *f = *state;
	const rm_mono_t now = rm_mono_now();

	connect_aggregator_link(f);
	aggregator_link_result(f->aggregator_link, &overdue, now, now);
	results(f, 2);
	LOOPBACK_WAIT(f->loop, f->batches == 1);
	assert_int_equal(f->overdue, 0);
	assert_int_equal(counts_of(f)->made.results, 2);
	assert_int_equal(aggregator_link_counts(f->aggregator_link)->overdue_unsent, 1);

	f->counted_seq = 1;
	f->knows_overdue = true;
	aggregator_hang_up(f);
	LOOPBACK_WAIT(f->loop, f->welcomes == 2);
	aggregator_link_result(f->aggregator_link, &overdue, now, now);
	results(f, 1);
	LOOPBACK_WAIT(f->loop, f->batches == 2);
	assert_int_equal(f->overdue, 1);
	assert_int_equal(aggregator_link_counts(f->aggregator_link)->overdue_unsent, 1);
}

static void
waiting_overdue_replies_are_not_sent_to_an_older_peer(void **state)
{
	const struct wire_result overdue = { .outcome = WIRE_OVERDUE };
	struct fixture *f = *state;
	const rm_mono_t now = rm_mono_now();

	f->knows_overdue = true;
	connect_aggregator_link(f);
	aggregator_link_result(f->aggregator_link, &overdue, now, now);
	results(f, 1); /* sent in a batch that is not acknowledged */
	LOOPBACK_WAIT(f->loop, f->overdue == 1);
	aggregator_link_result(
	    f->aggregator_link, &overdue, now, now); /* waits for another one */
	/* The aggregator was rolled back to an older version. */
	f->knows_overdue = false;
	aggregator_hang_up(f);
	LOOPBACK_WAIT(f->loop, f->downs == 1);
	aggregator_link_result(f->aggregator_link, &overdue, now,
	    now); /* the version of the next peer is not known */
	LOOPBACK_WAIT(f->loop, f->welcomes == 2);
	results(f, 1);
	LOOPBACK_WAIT(f->loop, f->batches == 3);
	assert_int_equal(f->seqs[1], 1);
	assert_int_equal(f->seqs[2], 2);
	assert_int_equal(f->overdue, 1); /* unchanged */
	assert_int_equal(f->results, 3); /* the first result arrives twice */
	assert_int_equal(aggregator_link_counts(f->aggregator_link)->overdue_unsent, 3);
}

static void
an_acknowledged_batch_is_forgotten(void **state)
{
	struct fixture *f = *state;

	connect_aggregator_link(f);
	results(f, 4);
	LOOPBACK_WAIT(f->loop, f->batches == 2);
	aggregator_ack(f, INCARNATION, 2);
	LOOPBACK_WAIT(f->loop, counts_of(f)->acked.batches == 2);
	assert_int_equal(counts_of(f)->waiting.batches, 0);
	assert_int_equal(counts_of(f)->acked.results, 4);
}

static void
a_reconnect_sends_exactly_what_was_not_counted(void **state)
{
	struct fixture *f = *state;

	connect_aggregator_link(f);
	results(f, 8); /* batches 1 to 4 */
	LOOPBACK_WAIT(f->loop, f->batches == 4);
	aggregator_ack(f, INCARNATION, 1);
	LOOPBACK_WAIT(f->loop, counts_of(f)->acked.batches == 1);
	f->counted_seq = 2; /* the acknowledgement of batch 2 gets lost */
	f->batches = 0;
	aggregator_hang_up(f);
	LOOPBACK_WAIT(f->loop, f->welcomes == 2 && f->batches == 2);
	assert_int_equal(f->seqs[0], 3);
	assert_int_equal(f->seqs[1], 4);
	assert_true(f->had_session);
	assert_int_equal(counts_of(f)->resent.batches, 2);
	results(f, 2);
	LOOPBACK_WAIT(f->loop, f->batches == 3);
	assert_int_equal(f->seqs[2], 5);
}

static void
without_an_aggregator_the_oldest_are_dropped_and_reported(void **state)
{
	struct fixture *f = *state;

	aggregator_link_start(f, 4);
	results(f, 12); /* 6 batches before a connection: 1 and 2 are dropped */
	assert_int_equal(counts_of(f)->dropped[OUTBOX_DROP_FULL].batches, 2);
	assert_int_equal(counts_of(f)->dropped[OUTBOX_DROP_FULL].results, 4);
	LOOPBACK_WAIT(f->loop, f->batches == 4);
	assert_int_equal(f->seqs[0], 3);
	/* Evicts 3, which is sent but not acknowledged: it does not count as dropped
	 * yet. */
	results(f, 2);
	LOOPBACK_WAIT(f->loop, f->batches == 5);
	assert_int_equal(f->last_head.seq, 7);
	assert_int_equal(f->last_head.dropped_batches, 2);
	assert_int_equal(f->last_head.dropped_results, 4);
	assert_int_equal(counts_of(f)->doubtful.batches, 1);
}

static void
a_refusal_is_quoted_and_the_dialer_tries_again(void **state)
{
	struct fixture *f = *state;

	f->refuses = "not\nyours";
	aggregator_link_start(f, 4);
	LOOPBACK_WAIT(f->loop, f->refusals >= 2);
	assert_string_equal(f->cause, "\"not\\x0ayours\"");
	assert_int_equal(f->welcomes, 0);
	assert_false(f->had_session);
	f->refuses = NULL;
	LOOPBACK_WAIT(f->loop, aggregator_link_has_session(f->aggregator_link));
}

static void
pinglists_brake_focus_and_pings_are_passed_on(void **state)
{
	static const struct pinglist_pair pairs[] = { { 1, 2, 1000 } };
	struct wire_focus focus = { rnic_number(1), rnic_number(2), 500, 1000 };
	struct wire_brake brake = { 1, 250 };
	struct fixture *f = *state;
	struct wire_bytes bytes;

	connect_aggregator_link(f);
	bytes = pinglist_write(f->writer, "tor-a", 1, 0, pairs, 1);
	rm_link_send(f->link, bytes.data, bytes.len);
	assert_int_equal(wire_write_brake(f->writer, &brake, &bytes), 0);
	assert_int_equal(rm_link_send(f->link, bytes.data, bytes.len), 0);
	assert_int_equal(wire_write_focus(f->writer, &focus, &bytes), 0);
	rm_link_send(f->link, bytes.data, bytes.len);
	assert_int_equal(wire_write_ping(f->writer, 5, &bytes), 0);
	rm_link_send(f->link, bytes.data, bytes.len);
	LOOPBACK_WAIT(f->loop, aggregator_link_counts(f->aggregator_link)->pings == 1);
	assert_int_equal(f->pinglists, 1);
	assert_int_equal(f->focuses, 1);
	assert_int_equal(f->brakes, 1);
	assert_int_equal(f->downs, 0);
}

static void
an_aggregator_is_mute_while_it_reports_so_in_this_session(void **state)
{
	const struct wire_ping ping = { .now_ns = 5, .ending = "", .mute = true };
	struct fixture *f = *state;
	struct wire_bytes bytes;

	connect_aggregator_link(f);
	assert_false(aggregator_link_is_mute(f->aggregator_link));
	assert_int_equal(wire_write_ping_ending(f->writer, &ping, &bytes), 0);
	rm_link_send(f->link, bytes.data, bytes.len);
	LOOPBACK_WAIT(f->loop, aggregator_link_is_mute(f->aggregator_link));
	assert_int_equal(wire_write_ping(f->writer, 6, &bytes), 0);
	rm_link_send(f->link, bytes.data, bytes.len);
	LOOPBACK_WAIT(f->loop, !aggregator_link_is_mute(f->aggregator_link));
	assert_int_equal(wire_write_ping_ending(f->writer, &ping, &bytes), 0);
	rm_link_send(f->link, bytes.data, bytes.len);
	LOOPBACK_WAIT(f->loop, aggregator_link_is_mute(f->aggregator_link));
	aggregator_hang_up(f);
	LOOPBACK_WAIT(f->loop, f->welcomes == 2);
	assert_false(aggregator_link_is_mute(f->aggregator_link));
}

static void
malformed_frames_end_the_session_and_are_counted(void **state)
{
	struct fixture *f = *state;
	static const uint8_t nonsense[16] = { 1, 2, 3 };

	connect_aggregator_link(f);
	rm_link_send(f->link, nonsense, sizeof(nonsense));
	LOOPBACK_WAIT(f->loop, f->downs == 1);
	assert_int_equal(f->reason, -EBADMSG);
	assert_int_equal(aggregator_link_counts(f->aggregator_link)->refused_frames, 1);
	LOOPBACK_WAIT(f->loop, f->welcomes == 2);
	/* Acknowledges a batch that was never sent. */
	aggregator_ack(f, INCARNATION, 9);
	LOOPBACK_WAIT(f->loop, f->welcomes == 3);
	/* Acknowledges a batch of another incarnation. */
	aggregator_ack(f, INCARNATION + 1, 0);
	LOOPBACK_WAIT(f->loop, f->welcomes == 4);
	aggregator_send_welcome(f); /* a second welcome */
	LOOPBACK_WAIT(f->loop, f->welcomes == 5);
	assert_int_equal(aggregator_link_counts(f->aggregator_link)->refused_frames, 4);
}

static void
messages_unknown_to_this_release_are_ignored(void **state)
{
	static const uint8_t newer[16] = { 12, 0, 0, 0, 4, 0, 0, 0, 'R', 'M', 'Z',
		'9' };
	struct fixture *f = *state;
	struct wire_bytes bytes;

	connect_aggregator_link(f);
	rm_link_send(f->link, newer, sizeof(newer));
	assert_int_equal(wire_write_ping(f->writer, 5, &bytes), 0);
	rm_link_send(f->link, bytes.data, bytes.len);
	LOOPBACK_WAIT(f->loop, aggregator_link_counts(f->aggregator_link)->pings == 1);
	assert_int_equal(aggregator_link_counts(f->aggregator_link)->refused_frames, 1);
	assert_int_equal(f->downs, 0);
}

static void
a_peer_that_counts_what_was_never_sent_gets_no_session(void **state)
{
	struct fixture *f = *state;

	f->counted_seq = 3;
	aggregator_link_start(f, 4);
	LOOPBACK_WAIT(f->loop, f->downs == 1);
	assert_int_equal(f->reason, -EBADMSG);
	assert_int_equal(f->welcomes, 0);
}

static void
a_peer_that_accepts_but_sends_nothing_is_disconnected(void **state)
{
	struct fixture *f = *state;
	rm_mono_t later = rm_mono_add(rm_mono_now(), 4 * RM_NS_PER_S);
	struct aggregator_link_report nothing = { .known_through = later };

	f->silent = true;
	aggregator_link_start(f, 4);
	LOOPBACK_WAIT(f->loop, f->seen_count == 1);
	report(f, NULL, 0);
	assert_int_equal(f->downs, 0);
	aggregator_link_report(f->aggregator_link, &nothing, later); /* 4 s later */
	LOOPBACK_WAIT(f->loop, f->downs == 1);
	assert_int_equal(f->reason, -ETIMEDOUT);
}

static void
paths_leave_during_a_session_only(void **state)
{
	const struct wire_path paths[] = { { .src_guid = 1, .family = 4 } };
	struct fixture *f = *state;

	connect_aggregator_link(f);
	assert_int_equal(
	    aggregator_link_paths(f->aggregator_link, paths, 1, rm_mono_now()), 0);
	LOOPBACK_WAIT(f->loop, strchr(f->seen, 'X') != NULL);
	aggregator_hang_up(f);
	LOOPBACK_WAIT(f->loop, f->downs == 1);
	assert_int_equal(
	    aggregator_link_paths(f->aggregator_link, paths, 1, rm_mono_now()),
	    -ENOTCONN);
	assert_int_equal(aggregator_link_counts(f->aggregator_link)->paths, 1);
}

static void
services_leave_during_a_session_only(void **state)
{
	const struct wire_service_flow flow = { .src = rnic_number(1),
		.peer = { .family = 4 },
		.qp_type = WIRE_QP_RC,
		.state = WIRE_SERVICE_RESOLVING };
	const struct wire_services services = { .flows = &flow, .flow_count = 1 };
	const rm_mono_t now = { 12345 };
	struct fixture *f = *state;

	connect_aggregator_link(f);
	assert_int_equal(
	    aggregator_link_services(f->aggregator_link, &services, now), 0);
	LOOPBACK_WAIT(f->loop, strchr(f->seen, 'U') != NULL);
	assert_int_equal(f->flows, 1);
	aggregator_hang_up(f);
	LOOPBACK_WAIT(f->loop, f->downs == 1);
	assert_int_equal(
	    aggregator_link_services(f->aggregator_link, &services, now), -ENOTCONN);
	assert_int_equal(aggregator_link_counts(f->aggregator_link)->services, 1);
}

static int
report_flap(struct fixture *f, uint64_t interval_ns)
{
	const struct wire_counter_value flap = { .counter = WIRE_COUNTER_LINK_DOWN,
		.value = 1 };
	const struct wire_rnic_counters rnic = { .id = rnic_number(1),
		.interval_ns = interval_ns,
		.values = &flap,
		.value_count = 1 };
	const struct wire_counter_report report = { .rnics = &rnic, .rnic_count = 1 };

	return aggregator_link_counter_report(f->aggregator_link, &report);
}

static void
counters_of_a_time_without_session_are_in_the_next_report(void **state)
{
	struct fixture *f = *state;

	connect_aggregator_link(f);
	assert_int_equal(report_flap(f, 5), 0);
	results(f, 2); /* a batch that is sent after the counters */
	LOOPBACK_WAIT(f->loop, f->batches == 1);
	assert_int_equal(f->counted_ns, 5);
	assert_int_equal(f->counted, 1);
	aggregator_ack(f, INCARNATION, 1);
	LOOPBACK_WAIT(f->loop, aggregator_link_counts(f->aggregator_link)->acks == 1);
	f->counted_seq = 1;
	aggregator_hang_up(f);
	LOOPBACK_WAIT(f->loop, !aggregator_link_has_session(f->aggregator_link));
	assert_int_equal(report_flap(f, 6), -ENOTCONN);
	assert_int_equal(report_flap(f, 7), -ENOTCONN);
	LOOPBACK_WAIT(f->loop, aggregator_link_has_session(f->aggregator_link));
	assert_int_equal(report_flap(f, 8), 0);
	LOOPBACK_WAIT(f->loop, f->counted_ns == 6 + 7 + 8);
	assert_int_equal(f->counted, 3);
	assert_int_equal(report_flap(f, 9), 0); /* reported once */
	LOOPBACK_WAIT(f->loop, f->counted_ns == 9);
	assert_int_equal(f->counted, 1);
	assert_int_equal(
	    aggregator_link_counts(f->aggregator_link)->counter_reports, 3);
}

static void
counters_that_may_not_have_arrived_are_in_the_next_report(void **state)
{
	struct fixture *f = *state;

	connect_aggregator_link(f);
	assert_int_equal(report_flap(f, 5), 0);
	aggregator_hang_up(f);
	LOOPBACK_WAIT(f->loop, !aggregator_link_has_session(f->aggregator_link));
	assert_int_equal(report_flap(f, 6), -ENOTCONN);
	LOOPBACK_WAIT(f->loop, aggregator_link_has_session(f->aggregator_link));
	assert_int_equal(report_flap(f, 7), 0);
	LOOPBACK_WAIT(f->loop, f->counted_ns == 5 + 6 + 7);
	assert_int_equal(f->counted, 3);
}

/* The acknowledgement of the batch is lost with the session. */
static void
counters_before_a_batch_that_was_counted_are_not_reported_again(void **state)
{
	struct fixture *f = *state;

	connect_aggregator_link(f);
	assert_int_equal(report_flap(f, 5), 0);
	results(f, 2);
	LOOPBACK_WAIT(f->loop, f->batches == 1);
	f->counted_seq = 1;
	aggregator_hang_up(f);
	LOOPBACK_WAIT(f->loop, f->welcomes == 2);
	assert_int_equal(report_flap(f, 6), 0);
	LOOPBACK_WAIT(f->loop, f->counted_ns == 6);
	assert_int_equal(f->counted, 1);
}

/* Without results there is no acknowledgement. */
static void
counters_that_the_peers_kernel_has_are_not_reported_again(void **state)
{
	struct fixture *f = *state;
	struct wire_bytes bytes;

	connect_aggregator_link(f);
	assert_int_equal(report_flap(f, 5), 0);
	LOOPBACK_WAIT(f->loop, f->counted_ns == 5);
	/* Its kernel acknowledges the counters at the latest with this message. */
	assert_int_equal(wire_write_ping(f->writer, 12345, &bytes), 0);
	assert_int_equal(rm_link_send(f->link, bytes.data, bytes.len), 0);
	LOOPBACK_WAIT(f->loop, aggregator_link_counts(f->aggregator_link)->pings == 1);
	report(f, NULL, 0);
	aggregator_hang_up(f);
	LOOPBACK_WAIT(f->loop, f->welcomes == 2);
	assert_int_equal(report_flap(f, 6), 0);
	LOOPBACK_WAIT(f->loop, f->counted_ns == 6);
	assert_int_equal(f->counted, 1);
}

static void
a_request_is_answered_with_its_token(void **state)
{
	const struct wire_resolve resolve = { 7, { 4, { 10, 0, 0, 2 }, 0 } };
	const struct wire_join join = { 8, rnic_number(1), 17, 18, WIRE_QP_RC };
	struct fixture *f = *state;

	connect_aggregator_link(f);
	assert_int_equal(aggregator_link_resolve(f->aggregator_link, &resolve), 0);
	LOOPBACK_WAIT(f->loop, f->answers == 1);
	assert_int_equal(f->token, 7);
	assert_string_equal(f->answered, "h2");
	assert_int_equal(aggregator_link_join(f->aggregator_link, &join), 0);
	LOOPBACK_WAIT(f->loop, f->answers == 2);
	assert_int_equal(f->token, 8);
	assert_string_equal(f->answered, "");
	assert_int_equal(aggregator_link_counts(f->aggregator_link)->asked, 2);
	assert_int_equal(aggregator_link_counts(f->aggregator_link)->resolved, 1);
	aggregator_hang_up(f);
	LOOPBACK_WAIT(f->loop, f->downs == 1);
	assert_int_equal(
	    aggregator_link_resolve(f->aggregator_link, &resolve), -ENOTCONN);
	assert_int_equal(aggregator_link_join(f->aggregator_link, &join), -ENOTCONN);
}

static void
an_aggregator_is_live_while_it_sends_messages(void **state)
{
	struct fixture *f = *state;
	rm_mono_t now;

	aggregator_link_start(f, 4);
	assert_null(aggregator_link_live(f->aggregator_link, rm_mono_now()));
	LOOPBACK_WAIT(f->loop, aggregator_link_has_session(f->aggregator_link));
	now = rm_mono_now();
	assert_string_equal(aggregator_link_live(f->aggregator_link, now), "agg-1");
	assert_non_null(aggregator_link_live(
	    f->aggregator_link, rm_mono_add(now, 2 * RM_NS_PER_S)));
	assert_null(aggregator_link_live(
	    f->aggregator_link, rm_mono_add(now, 3 * RM_NS_PER_S)));
	aggregator_hang_up(f);
	LOOPBACK_WAIT(f->loop, f->downs == 1);
	assert_null(aggregator_link_live(f->aggregator_link, now));
}

static void
a_heartbeat_lists_the_live_aggregators(void **state)
{
	const char *const live[] = { "agg-1", "agg-2" };
	struct aggregator_link_report reported = { .live = live, .live_count = 2 };
	struct fixture *f = *state;

	connect_aggregator_link(f);
	reported.known_through = rm_mono_now();
	aggregator_link_report(f->aggregator_link, &reported, reported.known_through);
	LOOPBACK_WAIT(f->loop, f->beats == 1);
	assert_string_equal(f->live, "agg-1 agg-2 ");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_session_begins_with_hello_and_registration),
		TEST(a_full_batch_leaves_at_once_and_an_old_one_by_itself),
		TEST(batches_and_counts_go_before_the_heartbeat),
		TEST(a_count_report_without_rows_is_still_sent),
		TEST(many_rows_go_in_several_frames),
		TEST(a_stall_is_reported_when_the_session_is_back),
		TEST(a_heartbeat_covers_only_batches_that_were_sent),
		TEST(a_new_session_has_no_backlog_of_the_ended_one),
		TEST(overdue_replies_are_sent_only_to_peers_that_support_them),
		TEST(waiting_overdue_replies_are_not_sent_to_an_older_peer),
		TEST(an_acknowledged_batch_is_forgotten),
		TEST(a_reconnect_sends_exactly_what_was_not_counted),
		TEST(without_an_aggregator_the_oldest_are_dropped_and_reported),
		TEST(a_refusal_is_quoted_and_the_dialer_tries_again),
		TEST(paths_leave_during_a_session_only),
		TEST(services_leave_during_a_session_only),
		TEST(counters_of_a_time_without_session_are_in_the_next_report),
		TEST(counters_that_may_not_have_arrived_are_in_the_next_report),
		TEST(counters_before_a_batch_that_was_counted_are_not_reported_again),
		TEST(counters_that_the_peers_kernel_has_are_not_reported_again),
		TEST(a_request_is_answered_with_its_token),
		TEST(an_aggregator_is_live_while_it_sends_messages),
		TEST(a_heartbeat_lists_the_live_aggregators),
		TEST(pinglists_brake_focus_and_pings_are_passed_on),
		TEST(an_aggregator_is_mute_while_it_reports_so_in_this_session),
		TEST(malformed_frames_end_the_session_and_are_counted),
		TEST(messages_unknown_to_this_release_are_ignored),
		TEST(a_peer_that_counts_what_was_never_sent_gets_no_session),
		TEST(a_peer_that_accepts_but_sends_nothing_is_disconnected),
	};

	return cmocka_run_group_tests_name("aggregator_link", tests, NULL, NULL);
}
