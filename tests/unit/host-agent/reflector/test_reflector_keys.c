/* A reflector with keys: which peers it answers, and what it refuses. */
#include "host-agent/reflector/reflector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/packet/probe_format.h"
#include "host-agent/packet/stamp.h"
#include "host-agent/reflector/reflector_roster.h"
#include "host-agent/reflector/replay_window.h"
#include "tests/support/arrivals.h"
#include "tests/support/fake_port.h"
#include "tests/unit/host-agent/keys_fixture.h"

static const struct wire_rnic_id own = { 1, 1 };
static const struct wire_rnic_id prober = { 2, 1 }, other = { 3, 1 };

struct fixture {
	struct fake_port fake;
	struct key_ring *ring;
	struct reflector *reflector;
	const struct probe_format *format; /* with a MAC */
	uint8_t data[512];
	size_t len;
};

static struct wire_address
address_of(struct wire_rnic_id id)
{
	return (struct wire_address){
		.family = 4, .bytes = { 10, 0, 0, (uint8_t)id.guid }, .port = 40001
	};
}

static int
plan(struct fixture *f)
{
	struct wire_peer roster[KEYS_RNICS];

	for (uint64_t i = 0; i < KEYS_RNICS; i++) {
		roster[i].id = (struct wire_rnic_id){ i + 1, 1 };
		roster[i].address = address_of(roster[i].id);
	}
	return reflector_set_roster(f->reflector, roster, KEYS_RNICS);
}

static int
setup_over(void **state, bool roce, int64_t grace_ns)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (f == NULL)
		return -1;
	keys_fixture_secret(0);
	if (roce)
		fake_port_init_roce(&f->fake, PORT_FLOWS_LABEL);
	else
		fake_port_init(&f->fake);
	f->format = port_format(&f->fake.port)->keyed;
	f->ring = keys_fixture_ring(5, 10);
	if (reflector_new(&f->fake.port, own, 0, &f->reflector) < 0)
		return -1;
	reflector_set_keys(f->reflector, f->ring, grace_ns);
	return plan(f);
}

static int
setup(void **state)
{
	return setup_over(state, false, REFLECTOR_GRACE_NS);
}

static int
setup_roce(void **state)
{
	return setup_over(state, true, REFLECTOR_GRACE_NS);
}

static int
setup_without_grace(void **state)
{
	return setup_over(state, false, 0);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	reflector_free(f->reflector);
	key_ring_free(f->ring);
	free(f);
	return 0;
}

static const struct reflector_counts *
counts(const struct fixture *f)
{
	return reflector_counts(f->reflector);
}

static void
build(struct fixture *f, const struct probe_format *format, uint16_t ssid, uint32_t seq)
{
	struct probe_ask ask = { .seq = seq,
		.timestamp = stamp_time_write(INT64_C(1700000000000000000)),
		.error_estimate = STAMP_ERROR_ESTIMATE,
		.ssid = ssid,
		.dscp = 26,
		.tx_count = 1 };

	f->len = format->size(0);
	memset(f->data, 0, sizeof(f->data));
	format->write_probe(&ask, f->len, f->data);
}

static void
sign(struct fixture *f, uint32_t epoch, struct wire_rnic_id as, struct wire_rnic_id to)
{
	struct probe_macs macs;

	keys_fixture_macs(epoch, as, to, &macs);
	f->format->sign(f->data, &macs.probe);
}

/* True: the probe was answered. */
static bool
arrive(struct fixture *f, struct wire_rnic_id from)
{
	const struct wire_address address = address_of(from);
	size_t before = f->fake.sent_count;

	fake_port_arrive(&f->fake, PORT_REFLECTOR, &address, f->data, f->len, 26);
	assert_true(f->fake.sent_count <= before + 1);
	return f->fake.sent_count > before;
}

static bool
keyed(struct fixture *f, struct wire_rnic_id from, uint32_t epoch, uint16_t ssid,
    uint32_t seq)
{
	build(f, f->format, ssid, seq);
	sign(f, epoch, from, own);
	return arrive(f, from);
}

static bool
plain(struct fixture *f, struct wire_rnic_id from, uint16_t ssid, uint32_t seq)
{
	build(f, port_format(&f->fake.port), ssid, seq);
	return arrive(f, from);
}

static void
the_right_mac_is_answered_with_the_reply_key(void **state)
{
	struct fixture *f = *state;
	struct probe_reply reply;
	struct probe_macs macs;

	assert_int_equal(reflector_key_epoch(f->reflector), 5);
	assert_true(keyed(f, prober, 5, 7, 100));
	assert_int_equal(f->fake.sent[0].len, f->len);
	keys_fixture_macs(5, prober, own, &macs);
	assert_int_equal(f->format->read_reply(f->data, f->len, &reply), 0);
	assert_true(f->format->verify(f->data, f->len, &macs.reply));
	assert_false(f->format->verify(f->data, f->len, &macs.probe));
	assert_int_equal(reply.sender_seq, 100);
	assert_int_equal(reply.rx_count, 1);
	assert_int_equal(counts(f)->authenticated, 1);
}

static void
other_keys_are_refused(void **state)
{
	struct fixture *f = *state;
	struct wire_count rows[4];

	build(f, f->format, 7, 1);
	assert_false(arrive(f, prober)); /* no MAC where it should be */
	build(f, f->format, 7, 1);
	sign(f, 5, other, own);
	assert_false(arrive(f, prober)); /* signed by another prober */
	build(f, f->format, 7, 1);
	sign(f, 5, prober, other);
	assert_false(arrive(f, prober)); /* signed for another responder */
	build(f, f->format, 7, 1);
	sign(f, 5, own, prober);
	assert_false(arrive(f, prober)); /* signed for the opposite direction */
	assert_int_equal(counts(f)->refused_mac, 4);
	assert_int_equal(counts(f)->authenticated, 0);
	/* A refused probe leaves no state. */
	assert_int_equal(reflector_changed_counts(f->reflector, rows, 4), 0);
}

static void
a_packet_with_a_changed_bit_is_refused(void **state)
{
	struct fixture *f = *state;
	uint8_t kept[sizeof(f->data)];

	assert_true(keyed(f, prober, 5, 7, 1));
	build(f, f->format, 7, 2);
	sign(f, 5, prober, own);
	memcpy(kept, f->data, sizeof(kept));
	for (size_t bit = 0; bit < 8 * f->len; bit++) {
		memcpy(f->data, kept, sizeof(kept));
		f->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(arrive(f, prober));
	}
	memcpy(f->data, kept, sizeof(kept));
	assert_true(arrive(f, prober));
}

static void
a_reply_is_never_answered(void **state)
{
	struct fixture *f = *state;

	assert_true(keyed(f, prober, 5, 7, 1));
	assert_false(arrive(f, prober)); /* after the answer data contains the reply */
	assert_false(arrive(f, other));
	assert_true(plain(f, other, 7, 1));
	assert_false(arrive(f, other));
}

static void
a_repeated_packet_is_not_answered(void **state)
{
	struct fixture *f = *state;
	uint8_t kept[sizeof(f->data)];

	for (uint32_t seq = 0; seq < 2000; seq++)
		assert_true(keyed(f, prober, 5, 7, UINT32_MAX - 900 + seq));
	build(f, f->format, 7, UINT32_MAX - 900 + 1999);
	sign(f, 5, prober, own);
	memcpy(kept, f->data, sizeof(kept));
	for (size_t i = 0; i < 100000; i++) {
		memcpy(f->data, kept, sizeof(kept));
		assert_false(arrive(f, prober));
	}
	for (uint32_t seq = 0; seq < 2000; seq++)
		assert_false(keyed(f, prober, 5, 7, UINT32_MAX - 900 + seq));
	assert_int_equal(counts(f)->refused_replayed, 102000);
	assert_int_equal(counts(f)->replied, 2000);
}

static void
a_late_packet_is_answered_within_the_window(void **state)
{
	struct fixture *f = *state;

	for (uint32_t block = 0; block < 3; block++)
		for (uint32_t i = REPLAY_WINDOW; i-- > 0;)
			assert_true(keyed(f, prober, 5, 7, block * REPLAY_WINDOW + i));
	assert_int_equal(counts(f)->refused_replayed, 0);
	assert_false(keyed(f, prober, 5, 7, 3 * REPLAY_WINDOW - 1 - REPLAY_WINDOW));
}

static void
another_session_has_a_window_of_its_own(void **state)
{
	struct fixture *f = *state;

	assert_true(keyed(f, prober, 5, 7, 1));
	assert_true(keyed(f, prober, 5, 8, 1));
	assert_true(keyed(f, other, 5, 7, 1));
	assert_false(keyed(f, prober, 5, 7, 1));
	build(f, f->format, 7, 2);
	sign(f, 5, prober, own);
	f->data[27] ^= 0x0f; /* the signed bytes, in another session */
	assert_false(arrive(f, prober));
	assert_int_equal(counts(f)->refused_mac, 1);
}

static void
neighbouring_epochs_are_accepted(void **state)
{
	struct fixture *f = *state;

	assert_false(keyed(f, prober, 3, 7, 1));
	assert_false(keyed(f, prober, 7, 7, 1));
	for (uint32_t i = 0; i < 30; i++)
		assert_true(keyed(f, prober, 4 + i % 3, 7, 1 + i));
	assert_int_equal(counts(f)->refused_mac, 2);
}

static void
a_past_epoch_is_refused(void **state)
{
	struct fixture *f = *state;

	assert_true(keyed(f, prober, 5, 7, 1));
	keys_fixture_report(f->ring, &(struct keys_send){ .epoch = 6, .version = 11 });
	assert_int_equal(plan(f), 0);
	assert_true(keyed(f, prober, 5, 7, 2));
	keys_fixture_report(f->ring, &(struct keys_send){ .epoch = 7, .version = 12 });
	assert_int_equal(plan(f), 0);
	assert_false(keyed(f, prober, 5, 7, 3));
	assert_true(keyed(f, prober, 7, 7, 3));
	/* The replay window continues when keys change. */
	assert_false(keyed(f, prober, 7, 7, 2));
	assert_int_equal(counts(f)->refused_replayed, 1);
}

static void
another_secret_is_taken_at_once(void **state)
{
	struct fixture *f = *state;

	assert_true(keyed(f, prober, 5, 7, 1));
	keys_fixture_secret(1);
	keys_fixture_report(f->ring, &(struct keys_send){ .epoch = 5, .version = 11 });
	assert_int_equal(plan(f), 0);
	keys_fixture_secret(0);
	/* A prober that does not have the new key yet. */
	assert_true(keyed(f, prober, 5, 7, 2));
	keys_fixture_secret(1);
	assert_true(keyed(f, prober, 5, 7, 3));
	keys_fixture_secret(0);
	assert_false(keyed(f, prober, 5, 7, 4));
	assert_false(keyed(f, other, 5, 7, 1));
}

static void
a_peer_that_has_authenticated_needs_a_mac(void **state)
{
	struct fixture *f = *state;

	assert_true(plain(f, prober, 7, 1));
	assert_true(keyed(f, prober, 5, 7, 2));
	assert_false(plain(f, prober, 7, 3));
	assert_false(plain(f, prober, 8, 3));
	assert_int_equal(plan(f), 0);
	assert_false(plain(f, prober, 7, 3));
	assert_true(plain(f, other, 7, 1));
	assert_int_equal(counts(f)->refused_plain, 3);
}

static void
after_the_grace_time_a_peer_with_keys_needs_a_mac(void **state)
{
	struct fixture *f = *state;
	struct reflector_peer peer = { .demand = KEY_DEMANDED, .since = { 1000 } };

	assert_false(plain(f, prober, 7, 1));
	keys_fixture_report(
	    f->ring, &(struct keys_send){ .epoch = 5, .version = 11, .plain = prober });
	assert_int_equal(plan(f), 0);
	assert_true(plain(f, prober, 7, 1));
	assert_false(plain(f, other, 7, 1));
	assert_true(reflector_peer_may_be_plain(&peer, 10, (rm_mono_t){ 1009 }));
	assert_false(reflector_peer_may_be_plain(&peer, 10, (rm_mono_t){ 1010 }));
}

static void
an_agent_that_has_become_older_is_answered_again(void **state)
{
	struct fixture *f = *state;

	assert_true(keyed(f, prober, 5, 7, 1));
	assert_false(plain(f, prober, 7, 2));
	keys_fixture_report(
	    f->ring, &(struct keys_send){ .epoch = 5, .version = 11, .plain = prober });
	assert_int_equal(plan(f), 0);
	assert_true(plain(f, prober, 7, 2));
}

static void
without_own_keys_a_reflector_requires_none(void **state)
{
	struct fixture *f = *state;

	keys_fixture_report(f->ring,
	    &(struct keys_send){ .epoch = 5, .version = 11, .no_responders = true });
	assert_int_equal(plan(f), 0);
	assert_int_equal(reflector_key_epoch(f->reflector), 0);
	assert_true(plain(f, prober, 7, 1));
	assert_false(keyed(f, prober, 5, 7, 2));
}

/* The aggregator of another ToR lost its controllers after a leader whose clock was
 * ahead. Its epoch must not apply to the RNICs of this ToR. */
static void
an_epoch_of_another_tor_is_not_used(void **state)
{
	const struct wire_responder_key unknown = {
		.guid = 99, .port = 1, .epoch = 50
	};
	const struct wire_keys keys = { .tor = "tor2",
		.epoch = 50,
		.version = 1,
		.responders = &unknown,
		.responder_count = 1 };
	struct wire_writer *writer = wire_writer_new();
	struct fixture *f = *state;
	struct wire_bytes bytes;
	const char *tor;
	int r;

	assert_int_equal(key_ring_add_tor(f->ring, "tor2"), 0);
	assert_int_equal(wire_write_keys(writer, &keys, &bytes), 0);
	assert_true(keys_arrival(f->ring, bytes.data, bytes.len, &tor, &r));
	assert_int_equal(plan(f), 0);
	assert_int_equal(reflector_key_epoch(f->reflector), 5);
	assert_true(keyed(f, prober, 5, 7, 1));
	assert_true(keyed(f, prober, 6, 7, 2));
	wire_writer_free(writer);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
#define TEST_BOTH(fn)                                         \
	cmocka_unit_test_setup_teardown(fn, setup, teardown), \
	    cmocka_unit_test_setup_teardown(fn, setup_roce, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_BOTH(the_right_mac_is_answered_with_the_reply_key),
		TEST_BOTH(other_keys_are_refused),
		TEST_BOTH(a_packet_with_a_changed_bit_is_refused),
		TEST_BOTH(a_reply_is_never_answered),
		TEST(a_repeated_packet_is_not_answered),
		TEST_BOTH(a_late_packet_is_answered_within_the_window),
		TEST(another_session_has_a_window_of_its_own),
		TEST_BOTH(neighbouring_epochs_are_accepted),
		TEST_BOTH(a_past_epoch_is_refused),
		TEST_BOTH(another_secret_is_taken_at_once),
		TEST_BOTH(a_peer_that_has_authenticated_needs_a_mac),
		cmocka_unit_test_setup_teardown(
		    after_the_grace_time_a_peer_with_keys_needs_a_mac,
		    setup_without_grace, teardown),
		TEST(an_agent_that_has_become_older_is_answered_again),
		TEST(without_own_keys_a_reflector_requires_none),
		TEST(an_epoch_of_another_tor_is_not_used),
	};

	return cmocka_run_group_tests_name("reflector_keys", tests, NULL, NULL);
}
