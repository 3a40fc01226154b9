/* Peers whose RNIC is not known yet, or that are listed twice. */
#include "host-agent/reflector/reflector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/packet/probe_format.h"
#include "host-agent/packet/stamp.h"
#include "host-agent/reflector/reflector_roster.h"
#include "tests/support/fake_port.h"

static const struct wire_address service_peer = { 4, { 10, 0, 0, 1 }, 40001 };

static void
of_two_entries_for_an_address_the_known_one_counts(void **state)
{
	const struct wire_peer peers[] = {
		{ { 0, 0 }, { 4, { 10, 0, 0, 1 }, 0 } },
		{ { 7, 1 }, { 4, { 10, 0, 0, 1 }, 4791 } },
		{ { 0, 0 }, { 4, { 10, 0, 0, 1 }, 0 } },
		{ { 0, 0 }, { 4, { 10, 0, 0, 2 }, 0 } },
	};
	struct reflector_roster roster = { 0 };

	assert_int_equal(reflector_roster_set(&roster, peers, 4), 0);
	assert_int_equal(roster.count, 2);
	assert_int_equal(reflector_roster_find(&roster, &service_peer)->id.guid, 7);
	assert_int_equal(reflector_roster_find(&roster, &peers[3].address)->id.guid, 0);
	reflector_roster_clear(&roster);
}

static void
probe(struct fake_port *fake, uint32_t seq)
{
	struct probe_ask ask = { .seq = seq,
		.timestamp = stamp_time_write(INT64_C(1700000000000000000)),
		.error_estimate = STAMP_ERROR_ESTIMATE,
		.ssid = 5,
		.dscp = 26,
		.tx_count = seq };
	uint8_t data[STAMP_MAX_BYTES] = { 0 };
	size_t len = stamp_format.size(256);

	stamp_format.write_probe(&ask, len, data);
	fake_port_arrive(fake, PORT_REFLECTOR, &service_peer, data, len, 26);
}

/* A restarted count would look like probes lost on the path to the reflector. */
static void
a_peer_that_becomes_known_keeps_its_counts(void **state)
{
	struct wire_peer peer = { .address = service_peer };
	struct reflector *reflector;
	struct wire_count rows[4];
	struct fake_port fake;

	fake_port_init(&fake);
	assert_int_equal(
	    reflector_new(&fake.port, (struct wire_rnic_id){ 2, 1 }, 0, &reflector), 0);
	assert_int_equal(reflector_set_roster(reflector, &peer, 1), 0);
	probe(&fake, 1);
	probe(&fake, 2);
	peer.id = (struct wire_rnic_id){ 7, 1 };
	assert_int_equal(reflector_set_roster(reflector, &peer, 1), 0);
	reflector_changed_counts(reflector, rows, 4);
	probe(&fake, 3);
	assert_int_equal(reflector_changed_counts(reflector, rows, 4), 1);
	assert_int_equal(rows[0].prober_guid, 7);
	assert_int_equal(rows[0].received, 1);
	peer.id = (struct wire_rnic_id){ 8, 1 }; /* another RNIC at the same address */
	assert_int_equal(reflector_set_roster(reflector, &peer, 1), 0);
	reflector_free(reflector);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_two_entries_for_an_address_the_known_one_counts),
		cmocka_unit_test(a_peer_that_becomes_known_keeps_its_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
