/* A prober and a reflector with keys, over a real network. */
#include "host-agent/probe/prober.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "host-agent/packet/probe_format.h"
#include "host-agent/packet/stamp.h"
#include "rackmesh/loop/loop.h"
#include "tests/unit/host-agent/keys_fixture.h"
#include "tests/unit/host-agent/probe_fixture.h"

#define NEED_ROOT()                        \
	do {                               \
		if (!probe_fixture_root()) \
			skip();            \
	} while (0)

static struct wire_target target;

static int
setup(void **state)
{
	int r = probe_fixture_setup(state);

	if (r == 0 && probe_fixture_root())
		target = probe_fixture_target("127.0.0.2", 1000);
	return r;
}

static void
answer_with(struct probe_fixture *fixture, const struct key_ring *ring)
{
	struct wire_peer roster[] = {
		{ .id = { 1, 1 }, .address = probe_fixture_address("127.0.0.1", 0) },
		{ .id = { 1, 1 }, .address = probe_fixture_address("::1", 0) },
	};

	if (fixture->reflector == NULL)
		probe_fixture_reflect(fixture);
	reflector_set_keys(fixture->reflector, ring, 0);
	assert_int_equal(reflector_set_roster(fixture->reflector, roster, 2), 0);
}

static void
probe_with(struct probe_fixture *fixture, const struct key_ring *ring)
{
	prober_set_keys(fixture->prober, ring);
	assert_int_equal(prober_set_targets(fixture->prober, &target, 1), 0);
}

static bool
hundreds(struct probe_fixture *fixture)
{
	return fixture->count >= 300;
}

static bool
hundreds_and_most_split(struct probe_fixture *fixture)
{
	return hundreds(fixture) && prober_counts(fixture->prober)->split_replies > 200;
}

static void
both_ends_authenticate(void **state)
{
	struct probe_fixture *fixture = *state;
	struct key_ring *ring;

	NEED_ROOT();
	ring = keys_fixture_ring(5, 1);
	answer_with(fixture, ring);
	probe_with(fixture, ring);
	assert_int_equal(prober_keyed_targets(fixture->prober), 1);
	probe_fixture_run(fixture, hundreds_and_most_split);
	probe_fixture_expect(fixture, WIRE_OK);
	assert_int_equal(fixture->results[0].size_bytes, STAMP_AUTH_PROBE_BYTES);
	assert_true(reflector_counts(fixture->reflector)->authenticated >= 300);
	prober_set_keys(fixture->prober, NULL);
	key_ring_free(ring);
}

struct rotation {
	struct probe_fixture *fixture;
	struct key_ring *near, *far;
	struct rm_timer *timer;
	uint32_t turns;
};

/* The new keys reach either end first, alternately. */
static void
rotate(void *arg)
{
	struct rotation *rotation = arg;
	uint32_t turn = rotation->turns++;
	const struct keys_send report = { .epoch = 5 + turn / 2, .version = 2 + turn };

	if ((turn / 2 + turn) % 2 == 0) {
		keys_fixture_report(rotation->near, &report);
		probe_with(rotation->fixture, rotation->near);
	} else {
		keys_fixture_report(rotation->far, &report);
		answer_with(rotation->fixture, rotation->far);
	}
	rm_timer_after(rotation->timer, 5 * RM_NS_PER_MS);
}

#define TURNS 40

static const struct rotation *rotating;

static bool
thousand_and_many_turns(struct probe_fixture *fixture)
{
	return fixture->count >= 1500 && rotating->turns > TURNS;
}

static void
no_probe_is_lost_while_keys_rotate(void **state)
{
	struct probe_fixture *fixture = *state;
	struct rotation rotation = { .fixture = fixture };
	const struct reflector_counts *counts;

	NEED_ROOT();
	rotation.near = keys_fixture_ring(5, 1);
	rotation.far = keys_fixture_ring(5, 1);
	answer_with(fixture, rotation.far);
	probe_with(fixture, rotation.near);
	assert_int_equal(
	    rm_timer_new(fixture->loop, rotate, &rotation, &rotation.timer), 0);
	rm_timer_after(rotation.timer, 0);
	rotating = &rotation;
	probe_fixture_run(fixture, thousand_and_many_turns);
	rm_timer_free(rotation.timer);

	counts = reflector_counts(fixture->reflector);
	assert_true(rotation.turns > TURNS);
	probe_fixture_expect(fixture, WIRE_OK);
	assert_int_equal(counts->refused_mac, 0);
	assert_int_equal(counts->refused_plain, 0);
	assert_int_equal(counts->refused_replayed, 0);
	assert_int_equal(prober_counts(fixture->prober)->unverified_replies, 0);
	prober_set_keys(fixture->prober, NULL);
	reflector_set_keys(fixture->reflector, NULL, 0);
	key_ring_free(rotation.near);
	key_ring_free(rotation.far);
}

static bool
dozens(struct probe_fixture *fixture)
{
	return fixture->count >= 30;
}

static void
a_prober_without_a_key_is_refused(void **state)
{
	struct probe_fixture *fixture = *state;
	struct key_ring *ring;

	NEED_ROOT();
	ring = keys_fixture_ring(5, 1);
	answer_with(fixture, ring);
	probe_with(fixture, NULL);
	probe_fixture_run(fixture, dozens);
	assert_int_equal(probe_fixture_outcomes(fixture, WIRE_OK), 0);
	assert_true(reflector_counts(fixture->reflector)->refused_plain >= 30);
	assert_int_equal(reflector_counts(fixture->reflector)->replied, 0);
	reflector_set_keys(fixture->reflector, NULL, 0);
	key_ring_free(ring);
}

/* ---- a reflector that forges replies ---- */

struct forger {
	struct port *port;
	int how;
};

static void
forge(struct port_arrival *arrivals, size_t count, void *arg)
{
	static const struct probe_answer answer = { .receive_timestamp = 1,
		.rx_count = 1 };
	const struct probe_format *format = &stamp_auth_format;
	struct forger *forger = arg;

	for (size_t i = 0; i < count; i++) {
		struct port_arrival *arrival = &arrivals[i];
		struct port_packet packet = { .to = &arrival->from,
			.data = arrival->data,
			.len = (uint16_t)arrival->len };
		const struct wire_rnic_id other = { 3, 1 };
		struct probe_macs macs;
		struct probe_ask ask;

		assert_int_equal(
		    format->read_probe(arrival->data, arrival->len, &ask), 0);
		switch (forger->how++ % 5) {
		case 0: /* the probe, unchanged */
			break;
		case 1: /* without a MAC */
			stamp_format.write_probe(
			    &ask, STAMP_PROBE_BYTES, arrival->data);
			packet.len = STAMP_PROBE_BYTES;
			stamp_format.write_reply(
			    arrival->data, packet.len, &ask, &answer);
			break;
		case 2: /* with the MACs of the probe */
			format->write_reply(arrival->data, arrival->len, &ask, &answer);
			break;
		case 3: /* with another pair's key */
			format->write_reply(arrival->data, arrival->len, &ask, &answer);
			keys_fixture_macs(
			    5, (struct wire_rnic_id){ 1, 1 }, other, &macs);
			format->sign(arrival->data, &macs.reply);
			break;
		default: /* with the pair's key for probes, not the one for replies */
			format->write_reply(arrival->data, arrival->len, &ask, &answer);
			keys_fixture_macs(5, (struct wire_rnic_id){ 1, 1 },
			    (struct wire_rnic_id){ 2, 1 }, &macs);
			format->sign(arrival->data, &macs.probe);
			break;
		}
		port_send(forger->port, PORT_REFLECTOR, &packet, 1);
	}
}

static void
forget(const struct port_departure *departures, size_t count, void *arg)
{
}

static void
forged_replies_are_ignored(void **state)
{
	struct probe_fixture *fixture = *state;
	struct forger forger = { .port = fixture->far };
	const struct prober_counts *counts;
	struct key_ring *ring;

	NEED_ROOT();
	ring = keys_fixture_ring(5, 1);
	port_listen(fixture->far, PORT_REFLECTOR,
	    &(struct port_events){
		.on_arrivals = forge, .on_departures = forget, .arg = &forger });
	probe_with(fixture, ring);
	probe_fixture_run(fixture, hundreds);
	counts = prober_counts(fixture->prober);
	assert_int_equal(probe_fixture_outcomes(fixture, WIRE_OK), 0);
	assert_true(forger.how >= 300);
	/* One in five forgeries is not recognizable as a reply. */
	assert_true(counts->unverified_replies >= 200);
	port_listen(fixture->far, PORT_REFLECTOR, NULL);
	prober_set_keys(fixture->prober, NULL);
	key_ring_free(ring);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, probe_fixture_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(both_ends_authenticate),
		TEST(no_probe_is_lost_while_keys_rotate),
		TEST(a_prober_without_a_key_is_refused),
		TEST(forged_replies_are_ignored),
	};

	return probe_fixture_main(cmocka_run_group_tests_name(
	    "prober_keys", tests, probe_fixture_enter, NULL));
}
