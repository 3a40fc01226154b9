#include "host-agent/packet/key_ring.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/arrivals.h"
#include "tests/unit/host-agent/keys_fixture.h"

static const struct wire_rnic_id one = { 1, 1 }, two = { 2, 1 }, far = { 99, 1 };

static int
setup(void **state)
{
	*state = keys_fixture_ring(5, 10);
	return 0;
}

static int
teardown(void **state)
{
	key_ring_free(*state);
	return 0;
}

static void
a_ring_has_responder_keys_of_three_epochs(void **state)
{
	assert_int_equal(key_ring_epoch(*state), 5);
	assert_null(key_ring_responder(*state, one, 3));
	for (uint32_t epoch = 4; epoch <= 6; epoch++)
		assert_non_null(key_ring_responder(*state, one, epoch));
	assert_null(key_ring_responder(*state, one, 7));
	assert_null(key_ring_responder(*state, far, 5));
	assert_memory_not_equal(key_ring_responder(*state, one, 4),
	    key_ring_responder(*state, one, 5), WIRE_KEY_BYTES);
}

static void
a_ring_has_the_key_of_each_pair_by_direction(void **state)
{
	uint8_t there[PROBE_KEY_BYTES], back[PROBE_KEY_BYTES];

	keys_fixture_pair(5, one, two, there);
	keys_fixture_pair(5, two, one, back);
	assert_memory_equal(key_ring_pair(*state, one, two)->key, there, sizeof(there));
	assert_memory_equal(key_ring_pair(*state, two, one)->key, back, sizeof(back));
	assert_null(key_ring_pair(*state, one, far));
	assert_null(key_ring_pair(*state, far, one));
}

static void
a_newer_message_replaces_the_held_one_and_an_older_one_does_not(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_keys keys = { .tor = KEYS_TOR, .epoch = 4, .version = 9 };
	struct wire_bytes bytes;
	const char *tor;
	int r;

	keys_fixture_report(*state, &(struct keys_send){ .epoch = 6, .version = 11 });
	assert_int_equal(key_ring_epoch(*state), 6);
	assert_int_equal(key_ring_pair(*state, one, two)->epoch, 6);
	assert_int_equal(wire_write_keys(writer, &keys, &bytes), 0);
	assert_false(keys_arrival(*state, bytes.data, bytes.len, &tor, &r));
	assert_int_equal(r, 0);
	assert_int_equal(key_ring_epoch(*state), 6);
	assert_int_equal(key_ring_counts(*state)->old, 1);
	wire_writer_free(writer);
}

static void
malformed_messages_and_those_of_other_tors_change_nothing(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_keys keys = { .tor = "tor2", .epoch = 9, .version = 99 };
	struct wire_bytes bytes;
	const char *tor;
	int r;

	assert_int_equal(wire_write_keys(writer, &keys, &bytes), 0);
	assert_false(keys_arrival(*state, bytes.data, bytes.len, &tor, &r));
	assert_int_equal(r, -ENOENT);
	assert_false(keys_arrival(*state, bytes.data, bytes.len / 2, &tor, &r));
	assert_true(r < 0);
	assert_int_equal(key_ring_epoch(*state), 5);
	assert_int_equal(key_ring_counts(*state)->other_tor, 1);
	assert_int_equal(key_ring_counts(*state)->malformed, 1);
	wire_writer_free(writer);
}

static void
the_held_message_can_be_taken_again(void **state)
{
	struct wire_bytes bytes = key_ring_bytes(*state, KEYS_TOR);
	struct key_ring *other = NULL;
	const char *tor;
	int r;

	assert_true(bytes.len > 0);
	assert_int_equal(key_ring_bytes(*state, "tor9").len, 0);
	assert_int_equal(key_ring_new(&other), 0);
	assert_int_equal(key_ring_add_tor(other, KEYS_TOR), 0);
	assert_int_equal(key_ring_bytes(other, KEYS_TOR).len, 0);
	assert_true(keys_arrival(other, bytes.data, bytes.len, &tor, &r));
	assert_false(keys_arrival(other, bytes.data, bytes.len, &tor, &r));
	assert_int_equal(key_ring_counts(other)->same, 1);
	key_ring_free(other);
}

static void
peers_that_cannot_authenticate_are_not_required_to(void **state)
{
	assert_int_equal(key_ring_demand(*state, two), KEY_DEMANDED);
	assert_int_equal(
	    key_ring_demand(*state, (struct wire_rnic_id){ 0 }), KEY_NOT_DEMANDED);
	keys_fixture_report(
	    *state, &(struct keys_send){ .epoch = 5, .version = 11, .plain = two });
	assert_int_equal(key_ring_demand(*state, two), KEY_NOT_DEMANDED);
	assert_int_equal(key_ring_demand(*state, one), KEY_DEMANDED);
}

static void
a_services_peer_is_received_with_its_key(void **state)
{
	struct wire_rnic rnic = { .id = far, .authenticates = true };
	struct wire_pair_key key = { .src_guid = 1,
		.src_port = 1,
		.dst_guid = 99,
		.dst_port = 1,
		.epoch = 5,
		.key = { 1, 2, 3 } };
	struct wire_pair_key none = { .epoch = 0 };

	assert_true(key_ring_receive(*state, &rnic, &key));
	assert_false(key_ring_receive(*state, &rnic, &key));
	assert_memory_equal(key_ring_pair(*state, one, far)->key, key.key, 16);
	assert_int_equal(key_ring_demand(*state, far), KEY_NOT_BEFORE);
	/* Data that the peer itself sent contains no pair key. */
	assert_null(key_ring_pair(*state, (struct wire_rnic_id){ 0 }, far));
	rnic.authenticates = false;
	assert_true(key_ring_receive(*state, &rnic, &none));
	assert_int_equal(key_ring_demand(*state, far), KEY_NOT_DEMANDED);
}

/* A received key may be older or newer than the plan's, as clocks may be set back. */
static void
a_key_of_the_plan_has_priority_over_a_received_one(void **state)
{
	struct wire_rnic rnic = { .id = two, .authenticates = true };
	struct wire_pair_key key = { .src_guid = 1,
		.src_port = 1,
		.dst_guid = 2,
		.dst_port = 1,
		.epoch = 4,
		.key = { 1, 2, 3 } };

	assert_true(key_ring_receive(*state, &rnic, &key));
	assert_int_equal(key_ring_pair(*state, one, two)->epoch, 5);
	key.epoch = 50;
	assert_true(key_ring_receive(*state, &rnic, &key));
	assert_int_equal(key_ring_pair(*state, one, two)->epoch, 5);
}

static void
received_keys_are_bounded(void **state)
{
	struct wire_rnic rnic = { .id = { 1000, 1 }, .authenticates = true };
	struct wire_pair_key none = { .epoch = 0 };

	for (uint64_t i = 0; i < KEY_RING_MAX_RECEIVED + 10; i++) {
		rnic.id.guid = 1000 + i;
		(void)key_ring_receive(*state, &rnic, &none);
	}
	rnic.id.guid = 1000; /* the oldest entry was evicted */
	assert_int_equal(key_ring_demand(*state, rnic.id), KEY_DEMANDED);
	rnic.id.guid = 1010;
	assert_int_equal(key_ring_demand(*state, rnic.id), KEY_NOT_BEFORE);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_ring_has_responder_keys_of_three_epochs),
		TEST(a_ring_has_the_key_of_each_pair_by_direction),
		TEST(a_newer_message_replaces_the_held_one_and_an_older_one_does_not),
		TEST(malformed_messages_and_those_of_other_tors_change_nothing),
		TEST(the_held_message_can_be_taken_again),
		TEST(peers_that_cannot_authenticate_are_not_required_to),
		TEST(a_services_peer_is_received_with_its_key),
		TEST(a_key_of_the_plan_has_priority_over_a_received_one),
		TEST(received_keys_are_bounded),
	};

	return cmocka_run_group_tests_name("key_ring", tests, NULL, NULL);
}
