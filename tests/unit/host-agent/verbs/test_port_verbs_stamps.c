#include <stdio.h>
#include <string.h>

#include "host-agent/verbs/port_verbs_state.h"
#include "port_verbs_fixture.h"
#include "rackmesh/core/log.h"

#define LINE_BYTES 256

/* Two sides with NIC stamps: 156.25 MHz, counters of 48 bits. */
static void
open_both(struct verbs_fixture *fixture)
{
	for (int i = 0; i < 2; i++) {
		fixture->sides[i].device->cycle_stamps = true;
		side_open(fixture, i);
		assert_int_equal(fixture->sides[i].facts.stamps, WIRE_STAMP_NIC);
	}
}

static void
probe(struct verbs_fixture *fixture)
{
	struct verbs_side *from = &fixture->sides[0];
	size_t before = from->arrived[PORT_PROBER];
	struct port_packet packet = side_packet(fixture, 1, 6, 64);

	fixture->sides[1].answer = true;
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	UNTIL(fixture, from->arrived[PORT_PROBER] == before + 1);
}

static void
the_nic_stamps_departures_and_arrivals(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *from = &fixture->sides[0];
	int64_t round_trip, answering;

	open_both(fixture);
	probe(fixture);
	UNTIL(fixture, fixture->sides[1].departed[PORT_REFLECTOR] == 1);
	assert_int_equal(from->departed[PORT_PROBER], 1);
	assert_int_equal(from->departures[PORT_PROBER][0].token, 6);
	assert_int_equal(from->arrivals[PORT_PROBER][0].source, WIRE_STAMP_NIC);
	round_trip = from->arrivals[PORT_PROBER][0].stamp_ns -
		     from->departures[PORT_PROBER][0].stamp_ns;
	answering = fixture->sides[1].departures[PORT_REFLECTOR][0].stamp_ns -
		    fixture->sides[1].arrivals[PORT_REFLECTOR][0].stamp_ns;
	assert_true(round_trip > 0 && round_trip < 5 * RM_NS_PER_S);
	assert_true(answering >= 0 && answering < 5 * RM_NS_PER_S);
}

static void
a_send_stamp_of_the_nic_comes_with_its_completion(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *from = &fixture->sides[0];
	struct port_packet packet;

	open_both(fixture);
	from->device->hold_sends = true;
	packet = side_packet(fixture, 1, 6, 64);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	turn_for(fixture, 10 * RM_NS_PER_MS);
	assert_int_equal(from->departed[PORT_PROBER], 0);
	from->device->hold_sends = false;
	fake_verbs_release(from->device); /* the completion itself must wake the loop */
	UNTIL(fixture, from->departed[PORT_PROBER] == 1);
}

static void
wall_clock_stamps_are_taken_where_there_are_no_cycles(void **state)
{
	struct verbs_fixture *fixture = *state;
	int64_t off;

	fixture->sides[0].device->wall_stamps = true;
	side_open(fixture, 0);
	side_open(fixture, 1);
	assert_int_equal(fixture->sides[0].facts.stamps, WIRE_STAMP_WALLCLOCK);
	assert_int_equal(fixture->sides[1].facts.stamps, WIRE_STAMP_USER);
	probe(fixture);
	UNTIL(fixture, fixture->sides[0].departed[PORT_PROBER] == 1);
	off = rm_wall_now().ns - fixture->sides[0].arrivals[PORT_PROBER][0].stamp_ns;
	assert_true(off >= 0 && off < 5 * RM_NS_PER_S);
}

static void
software_stamps_can_be_asked_for(void **state)
{
	struct verbs_fixture *fixture = *state;

	fixture->sides[0].device->cycle_stamps = true;
	fixture->sides[0].device->wall_stamps = true;
	fixture->sides[0].options.software_stamps = true;
	side_open(fixture, 0);
	assert_int_equal(fixture->sides[0].facts.stamps, WIRE_STAMP_USER);
}

static uint64_t
no_clock(const struct fake_device *device)
{
	return 0;
}

static void
a_zero_is_no_stamp(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *from = &fixture->sides[0];

	open_both(fixture);
	from->device->clock = no_clock;
	probe(fixture);
	assert_int_equal(from->arrivals[PORT_PROBER][0].source, 0);
	assert_int_equal(from->arrivals[PORT_PROBER][0].stamp_ns, 0);
	UNTIL(fixture, port_counts(from->port)->stamps_missing == 2);
	assert_int_equal(from->departed[PORT_PROBER], 0);
}

static void
a_failed_completion_has_no_stamp(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *from = &fixture->sides[0];
	struct port_packet packet;

	open_both(fixture);
	probe(fixture);
	UNTIL(fixture, from->departed[PORT_PROBER] == 1);
	from->device->hold_sends = true;
	packet = side_packet(fixture, 1, 6, 64);
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	fake_verbs_break(from->device, from->device->last_qpn);
	UNTIL(fixture, port_counts(from->port)->reset == 1);
	assert_int_equal(from->departed[PORT_PROBER], 1);
	from->device->hold_sends = false;
	probe(fixture);
}

static uint64_t
random_clock(const struct fake_device *device)
{
	static uint64_t value;

	return value = value * UINT64_C(6364136223846793005) + 1442695040888963407;
}

static void
keep_line(enum rm_log_level level, const char *line, void *arg)
{
	snprintf(arg, LINE_BYTES, "%s", line);
}

static void
an_untrusted_clock_is_replaced_by_software_stamps(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *from = &fixture->sides[0];
	char logged[LINE_BYTES] = "";
	struct port_verbs *port;
	struct port_verbs_facts facts;
	size_t departed;

	open_both(fixture);
	port = (struct port_verbs *)from->port;
	from->device->clock = random_clock;
	probe(fixture);
	rm_log_set_sink(keep_line, logged);
	for (int seconds = 0; seconds < 12; seconds++) {
		probe(fixture);
		port_verbs_watch_clock(port);
	}
	rm_log_set_sink(NULL, NULL);
	assert_non_null(strstr(logged, "fake0, port 1: NIC clock rejected"));
	port_verbs_facts(from->port, &facts);
	assert_int_equal(facts.stamps, WIRE_STAMP_USER);
	/* The stamp of a packet in flight is from the other clock: the two must not
	 * be mixed. */
	departed = from->departed[PORT_PROBER];
	probe(fixture);
	assert_int_equal(from->departed[PORT_PROBER], departed);
	assert_int_equal(
	    from->arrivals[PORT_PROBER][from->arrived[PORT_PROBER] - 1].source, 0);
	port->settled = rm_mono_now();
	probe(fixture);
	assert_int_equal(from->departed[PORT_PROBER], departed + 1);
	assert_int_equal(
	    from->arrivals[PORT_PROBER][from->arrived[PORT_PROBER] - 1].source,
	    WIRE_STAMP_USER);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_nic_stamps_departures_and_arrivals),
		TEST(a_send_stamp_of_the_nic_comes_with_its_completion),
		TEST(wall_clock_stamps_are_taken_where_there_are_no_cycles),
		TEST(software_stamps_can_be_asked_for),
		TEST(a_zero_is_no_stamp),
		TEST(an_untrusted_clock_is_replaced_by_software_stamps),
		TEST(a_failed_completion_has_no_stamp),
	};

	return cmocka_run_group_tests_name("port_verbs_stamps", tests, NULL, NULL);
}
