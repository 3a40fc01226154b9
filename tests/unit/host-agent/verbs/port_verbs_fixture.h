/*
 * port_verbs_fixture - two verbs ports on two fake devices, with the events of each.
 */
#ifndef TESTS_PORT_VERBS_FIXTURE_H
#define TESTS_PORT_VERBS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host-agent/probe/port.h"
#include "host-agent/verbs/port_verbs.h"
#include "rackmesh/core/clock.h"
#include "tests/support/fake_verbs.h"

#define KEPT 256
#define KEPT_BYTES 64

struct verbs_side {
	struct fake_device *device;
	struct port_verbs_options options;
	struct wire_address address;
	struct port *port;
	struct port_verbs_facts facts; /* the facts at the time of opening */

	struct port_arrival arrivals[PORT_ROLES][KEPT];
	uint8_t bytes[PORT_ROLES][KEPT][KEPT_BYTES]; /* first bytes of each arrival */
	size_t arrived[PORT_ROLES];
	struct port_departure departures[PORT_ROLES][KEPT];
	size_t departed[PORT_ROLES];
	bool answer;    /* answers arrivals at the reflector in place */
	uint32_t label; /* flow label of the answers */
	size_t answered, refused;

	int links, renumbered, gone; /* number of these events */
	bool link_up;
	int gone_reason;
	bool free_on_signal; /* frees the port in its own callback */
};

struct verbs_fixture {
	struct rm_loop *loop;
	struct priority_pool *pool;
	struct rm_timer *deadline;
	bool late;
	struct verbs_side sides[2];
};

int verbs_setup(void **state);
int verbs_teardown(void **state); /* fails after a leak or a violation */

/* Opens the port with side->options; a failure fails the test. */
void side_open(struct verbs_fixture *fixture, int side);
void side_close(struct verbs_side *side);

/* Returns a packet from one side to the other: len bytes, of which token is the
 * first. */
struct port_packet side_packet(
    struct verbs_fixture *fixture, int to, uint32_t token, uint16_t len);
/* Sends until the address handle exists. Returns the error. */
int side_send(struct verbs_fixture *fixture, int from, enum port_role role,
    struct port_packet *packet);

void turn(struct verbs_fixture *fixture); /* one turn of the loop, at most 1 ms */
bool in_time(struct verbs_fixture *fixture);
void start_waiting(struct verbs_fixture *fixture);

/* Runs the loop until the condition holds; fails the test after a minute. */
#define UNTIL(fixture, condition)                        \
	do {                                             \
		start_waiting(fixture);                  \
		while (!(condition) && in_time(fixture)) \
			turn(fixture);                   \
		assert_true(condition);                  \
	} while (0)

/* Runs the loop for this time. */
void turn_for(struct verbs_fixture *fixture, int64_t ns);

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, verbs_setup, verbs_teardown)

#endif
