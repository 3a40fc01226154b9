/* The peers that the reflectors answer because they have connections with this host. */
#include "host-agent/services/services.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "services_fixture.h"

#define KEPT_S 60

static const struct services_options options = { .max_probed = 4,
	.interval_us = 400000,
	.turn_ns = 10 * RM_NS_PER_S,
	.random_seed = 7 };

static int
setup(void **state)
{
	struct services *services;

	if (services_new(&options, &services) < 0)
		return -1;
	services_own(services, 0, NULL, 0);
	services_own(services, 1, NULL, 0);
	*state = services;
	return 0;
}

static int
teardown(void **state)
{
	services_free(*state);
	return 0;
}

static void
receive(struct services *services, struct qp_event event)
{
	assert_int_equal(services_event(services, &event, services_at(0)), 0);
}

static uint64_t
turn(struct services *services, int64_t second)
{
	return services_turn(
	    services, services_no_path, NULL, services_at(second * 1000));
}

static struct wire_peer
only_peer(const struct services *services, size_t owner)
{
	struct wire_peer peers[4] = { 0 };

	assert_int_equal(services_peers(services, owner, peers, 4), 1);
	return peers[0];
}

static void
a_peer_is_a_service_peer_at_once_and_of_that_rnic_only(void **state)
{
	struct services *services = *state;
	struct wire_peer peer;

	turn(services, 0);
	receive(services, services_qp(1, 17, 2, 0xc123, 5));
	/* Bit 1: the plan of RNIC 1 has changed. */
	assert_int_equal(turn(services, 1), 2);
	peer = only_peer(services, 1);
	assert_int_equal(peer.id.guid, 0);
	assert_int_equal(peer.address.family, 4);
	assert_memory_equal(peer.address.bytes, "\x0a\0\x01\x02", 4);
	assert_int_equal(services_peers(services, 0, &peer, 1), 0);
	assert_int_equal(turn(services, 2), 0);

	/* Another flow with a known peer changes nothing for the reflectors. The
	 * answer that names the peer's RNIC does. */
	receive(services, services_qp(1, 18, 2, 0xc124, 6));
	assert_int_equal(turn(services, 3), 0);
	services_answer_all(services, services_at(3000));
	turn(services, 3);
	assert_int_equal(only_peer(services, 1).id.guid, PEER_GUID + 2);
	assert_int_equal(services_counts(services).service_peers, 1);
}

static void
an_unknown_peer_is_a_service_peer_too(void **state)
{
	struct services *services = *state;

	receive(services, services_qp(1, 17, 200, 0xc123, 5));
	services_answer_all(services, services_at(0));
	turn(services, 1);
	assert_int_equal(services_counts(services).unresolved, 1);
	assert_int_equal(only_peer(services, 1).address.bytes[3], 200);
}

static void
service_peers_stay_a_while_after_their_last_flow(void **state)
{
	struct services *services = *state;
	struct wire_peer peer;

	receive(services, services_qp(1, 17, 2, 0xc123, 5));
	services_answer_all(services, services_at(0));
	turn(services, 100);
	receive(services, services_end(1, 17));
	turn(services, 100 + KEPT_S - 1); /* the peer's end of the QP may still exist */
	assert_int_equal(only_peer(services, 1).id.guid, PEER_GUID + 2);
	assert_int_equal(turn(services, 100 + KEPT_S), 2);
	assert_int_equal(services_peers(services, 1, &peer, 1), 0);

	receive(services, services_qp(1, 17, 2, 0xc123, 5));
	turn(services, 200);
	services_set_rnic(services, 1, NULL);
	turn(services, 201);
	assert_int_equal(services_counts(services).service_peers, 0);
}

static struct qp_event
qp_to_peer(uint32_t n)
{
	struct qp_event event = services_qp(1, n, 2, 0xc123, 5);

	memcpy(event.dgid + 12, &n, sizeof(n));
	return event;
}

static void
service_peers_are_bounded_and_those_with_flows_have_priority(void **state)
{
	struct services *services = *state;
	static struct wire_peer peers[SERVICES_MAX_PEERS + 1];
	size_t count;

	for (uint32_t round = 0; round < 5; round++) {
		for (uint32_t n = 1; n <= SERVICES_MAX_FLOWS; n++)
			receive(services, qp_to_peer(round << 16 | n));
		turn(services, round);
		for (uint32_t n = 1; n <= SERVICES_MAX_FLOWS; n++)
			receive(services, services_end(1, round << 16 | n));
	}
	receive(services, services_qp(1, 17, 2, 0xc123, 5));
	turn(services, 6);
	count = services_peers(services, 1, peers, SERVICES_MAX_PEERS + 1);
	assert_in_range(count, 1, SERVICES_MAX_PEERS);
	for (size_t i = 0; i < count; i++)
		if (memcmp(peers[i].address.bytes, "\x0a\0\x01\x02", 4) == 0)
			return;
	fail_msg("the peer with a flow is no service peer");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    a_peer_is_a_service_peer_at_once_and_of_that_rnic_only, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(
		    an_unknown_peer_is_a_service_peer_too, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    service_peers_stay_a_while_after_their_last_flow, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    service_peers_are_bounded_and_those_with_flows_have_priority, setup,
		    teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
