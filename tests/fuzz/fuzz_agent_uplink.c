/*
 * The link of an agent to its aggregator, by a script: connected or not, welcomed or
 * not, with any message that an aggregator can send, with batches in its outbox, a full
 * link, and time that passes. No result is lost without being counted, and the batches
 * of a session are sent in the order of their numbers.
 *
 * Input: events, each a byte and its parameters.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/packet/key_ring.h"
#include "host-agent/pinglist/pinglist_store.h"
#include "host-agent/report/aggregator_link.h"
#include "host-agent/report/heartbeat.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/loop/loop.h"
#include "tests/support/arrivals.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/fake_world.h"
#include "tests/support/wire_make.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INCARNATION 7
#define MAX_EVENTS 200

struct run {
	struct fuzz_bytes bytes;
	struct rm_loop *loop;
	struct pinglist_store *pinglists;
	struct key_ring *ring;
	struct aggregator_link *aggregator_link;
	struct wire_writer *writer;
	uint64_t last_seq; /* number of the last batch in this session */
	uint64_t results, known;
	bool refuses_peer;
};

static void
on_welcome(struct aggregator_link *aggregator_link, void *arg)
{
	struct wire_rnic rnic = { .id = { .guid = 1 },
		.host = "h1",
		.device = "eth1",
		.tors = { "tor-a" },
		.tor_count = 1 };
	struct run *run = arg;

	if (!aggregator_link_has_session(aggregator_link) ||
	    aggregator_link_peer(aggregator_link)[0] != '"')
		abort();
	run->last_seq = 0;
	aggregator_link_register(aggregator_link, &rnic, NULL, 1);
}

static int
on_pinglist(
    struct aggregator_link *aggregator_link, const uint8_t *data, size_t len, void *arg)
{
	struct run *run = arg;
	const char *tor;
	int r;

	pinglist_store_arrival(
	    run->pinglists, data, len, rm_wall_now(), rm_mono_now(), &tor, &r);
	return r;
}

static int
on_keys(
    struct aggregator_link *aggregator_link, const uint8_t *data, size_t len, void *arg)
{
	struct run *run = arg;
	const char *tor;
	int r;

	keys_arrival(run->ring, data, len, &tor, &r);
	return r;
}

static void
on_focus(
    struct aggregator_link *aggregator_link, const struct wire_focus *focus, void *arg)
{
}

static void
on_refused(struct aggregator_link *aggregator_link, const char *reason, void *arg)
{
	if (reason[0] != '"')
		abort();
}

static void
on_caught_up(struct aggregator_link *aggregator_link, void *arg)
{
	if (!aggregator_link_has_session(aggregator_link))
		abort();
}

static void
on_down(
    struct aggregator_link *aggregator_link, int reason, bool had_session, void *arg)
{
	if (aggregator_link_has_session(aggregator_link) ||
	    aggregator_link_live(aggregator_link, rm_mono_now()) != NULL)
		abort();
	(void)aggregator_link_error(aggregator_link);
}

static void
on_brake(
    struct aggregator_link *aggregator_link, const struct wire_brake *brake, void *arg)
{
	if (brake->rate_permille > 1000)
		abort();
}

static void
on_resolved(struct aggregator_link *aggregator_link,
    const struct wire_resolve_answer *answer, void *arg)
{
	if (!answer->found && answer->rnic.id.guid != 0)
		abort();
}

static int
on_peer(struct aggregator_link *aggregator_link, const char *identity, void *arg)
{
	struct run *run = arg;

	return run->refuses_peer ? -EACCES : 0;
}

static void
on_sent(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	enum wire_kind kind = wire_kind_of(data, len);
	struct wire_batch_view view;
	struct run *run = arg;

	if (kind == WIRE_HELLO)
		return;
	if (!aggregator_link_has_session(run->aggregator_link))
		abort();
	if (kind != WIRE_BATCH)
		return;
	if (wire_open_batch(&view, data, len) < 0 || view.head.seq <= run->last_seq ||
	    view.head.incarnation != INCARNATION)
		abort();
	run->last_seq = view.head.seq;
}

static void
check(const struct run *run)
{
	const struct outbox *outbox = aggregator_link_outbox(run->aggregator_link);
	const struct outbox_counts *counts = outbox_counts(outbox);

	if (counts->made.batches !=
		counts->acked.batches + outbox_dropped(outbox).batches +
		    counts->waiting.batches + counts->doubtful.batches ||
	    counts->made.results !=
		counts->acked.results + outbox_dropped(outbox).results +
		    counts->waiting.results + counts->doubtful.results ||
	    counts->made.results > run->results)
		abort();
	if (aggregator_link_wants_all_counts(run->aggregator_link) &&
	    !aggregator_link_has_session(run->aggregator_link))
		abort();
	if (aggregator_link_counts(run->aggregator_link)->sessions == 0 &&
	    (counts->acked.batches > 0 || counts->sent.batches > 0))
		abort();
}

static void
receive(struct run *run, const struct wire_bytes *message)
{
	struct rm_link *link = fake_world_dialed(0);
	uint8_t damage = fuzz_u8(&run->bytes);
	uint8_t *copy;

	if (link == NULL)
		return;
	copy = malloc(message->len);
	if (copy == NULL)
		abort();
	memcpy(copy, message->data, message->len);
	if (damage >= 0xf0)
		copy[fuzz_number(&run->bytes) % message->len] ^= fuzz_u8(&run->bytes);
	fake_link_receives(link, copy, message->len);
	free(copy);
}

static void
receive_any(struct run *run)
{
	static const enum wire_kind kinds[] = { WIRE_PINGLIST, WIRE_KEYS, WIRE_FOCUS,
		WIRE_PING, WIRE_BRAKE, WIRE_RESOLVE_ANSWER, WIRE_WELCOME, WIRE_ACK,
		WIRE_HELLO };
	enum wire_kind kind =
	    kinds[fuzz_below(&run->bytes, sizeof(kinds) / sizeof(*kinds))];
	struct wire_bytes message;

	if (wire_make(kind, &run->bytes, run->writer, &message) == 0)
		receive(run, &message);
}

static void
receive_welcome(struct run *run)
{
	struct wire_welcome welcome = { .version = WIRE_VERSION, .id = "agg-1" };
	struct wire_bytes message;

	welcome.counted_seq = fuzz_below(&run->bytes, 4);
	if (wire_write_welcome(run->writer, &welcome, &message) < 0)
		abort();
	receive(run, &message);
}

static void
receive_ack(struct run *run)
{
	struct wire_ack ack = { WIRE_LANE_BATCH, INCARNATION, 0 };
	struct wire_bytes message;

	/* Mostly near the number of the batch that was sent last. */
	ack.seq = run->last_seq + fuzz_below(&run->bytes, 4) - 2;
	if (wire_write_ack(run->writer, &ack, &message) < 0)
		abort();
	receive(run, &message);
}

static void
find_out(struct run *run)
{
	for (unsigned n = fuzz_below(&run->bytes, 32); n > 0; n--) {
		struct wire_result result = { .seq = (uint32_t)run->results++ };

		aggregator_link_result(
		    run->aggregator_link, &result, (rm_mono_t){ 1 }, rm_mono_now());
	}
}

static void
report(struct run *run)
{
	static const struct wire_count rows[3] = { { .own_guid = 1 } };
	static const char *const live[] = { "agg-1", "agg-2" };
	uint8_t what = fuzz_u8(&run->bytes);
	struct aggregator_link_report report = { .rows = what & 1 ? rows : NULL,
		.row_count = what & 1 ? 3 : 0,
		.paused = what & 2,
		.self_loss = what,
		.live = live,
		.live_count = what >> 2 & 1,
		.known_through = rm_mono_now() };
	struct loop_turn turn = { .lag_ns = what,
		.stalled = what & 8,
		.slowed_permille = what & 0x10 ? 500 : 0 };

	aggregator_link_note(run->aggregator_link, &turn);
	aggregator_link_report(run->aggregator_link, &report, rm_mono_now());
}

static void
send_message(struct run *run)
{
	struct wire_path path = { .family = 4 };
	struct wire_services services = { .missing = "" };
	struct wire_resolve resolve = { .address = { .family = 4 } };
	struct wire_join join = { .qp_type = WIRE_QP_RC };
	bool session = aggregator_link_has_session(run->aggregator_link);
	int r = 0;

	switch (fuzz_below(&run->bytes, 4)) {
	case 0:
		r = aggregator_link_paths(
		    run->aggregator_link, &path, 1, rm_mono_now());
		break;
	case 1:
		r = aggregator_link_services(
		    run->aggregator_link, &services, rm_mono_now());
		break;
	case 2:
		r = aggregator_link_resolve(run->aggregator_link, &resolve);
		break;
	default:
		r = aggregator_link_join(run->aggregator_link, &join);
	}
	if (r == 0 && !session)
		abort();
}

static void
event(struct run *run)
{
	static const char *const identities[] = { "", "spiffe://x/agg-1" };
	struct rm_link *link = fake_world_dialed(0);
	uint8_t what = fuzz_u8(&run->bytes);

	switch (what % 13) {
	case 0:
		run->refuses_peer = what == 0xf7;
		fake_world_answer(0, 0, identities[what >> 7]);
		break;
	case 1:
		fake_world_unreachable(0);
		break;
	case 2:
	case 3:
		receive_any(run);
		break;
	case 4:
		receive_welcome(run);
		break;
	case 5:
		receive_ack(run);
		break;
	case 6:
		find_out(run);
		break;
	case 7:
		aggregator_link_flush(run->aggregator_link, rm_mono_now());
		break;
	case 8:
		report(run);
		break;
	case 9:
		if (link != NULL)
			fake_link_ends(link, what & 0x80 ? -ECONNRESET : 0);
		break;
	case 10:
		if (link != NULL)
			fake_link_blocks(link, what & 0x80);
		break;
	case 11:
		send_message(run);
		break;
	default:
		fake_world_pass((int64_t)fuzz_number(&run->bytes) %
				(20 * RM_NS_PER_S / RM_NS_PER_MS) * RM_NS_PER_MS);
	}
}

static int
start(struct run *run, unsigned fails)
{
	static const struct aggregator_link_callbacks callbacks = { .on_welcome =
									on_welcome,
		.on_pinglist = on_pinglist,
		.on_focus = on_focus,
		.on_refused = on_refused,
		.on_caught_up = on_caught_up,
		.on_down = on_down,
		.on_brake = on_brake,
		.on_resolved = on_resolved,
		.on_peer = on_peer,
		.on_keys = on_keys };
	struct rm_endpoint endpoint;
	struct aggregator_link_options options = {
		.aggregator = &endpoint,
		.host = "h1",
		.region = "default",
		.incarnation = INCARNATION,
		.batch_max_results = 8,
		.batch_max_age_ns = RM_NS_PER_S,
		.outbox = { 4, 1 << 12, 5 * RM_NS_PER_S },
	};
	int r;

	if (rm_endpoint_parse("127.0.0.1:1", &endpoint) < 0)
		abort();
	failing_malloc_arm(fails);
	r = aggregator_link_new(
	    run->loop, &options, &callbacks, run, &run->aggregator_link);
	if ((r < 0) != (!failing_malloc_disarm() && fails > 0))
		abort();
	return r;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run run = { .bytes = { data, size } };

	fake_world_begin();
	fake_world_on_sent(on_sent, &run);
	run.writer = wire_writer_new();
	if (run.writer == NULL || rm_loop_new(&run.loop) < 0 ||
	    pinglist_store_new("", NULL, &run.pinglists) < 0 ||
	    pinglist_store_add_tor(run.pinglists, "tor-a") < 0 ||
	    key_ring_new(&run.ring) < 0 || key_ring_add_tor(run.ring, "tor-a") < 0)
		abort();
	if (start(&run, fuzz_below(&run.bytes, 16)) == 0) {
		if (strcmp(aggregator_link_address(run.aggregator_link),
			"127.0.0.1:1") != 0)
			abort();
		for (int i = 0; i < MAX_EVENTS && run.bytes.left > 0; i++) {
			event(&run);
			check(&run);
		}
	}
	aggregator_link_free(run.aggregator_link);
	key_ring_free(run.ring);
	pinglist_store_free(run.pinglists);
	wire_writer_free(run.writer);
	rm_loop_free(run.loop);
	fake_world_end();
	return 0;
}
