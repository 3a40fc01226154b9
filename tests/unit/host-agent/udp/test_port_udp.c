#include "host-agent/udp/port_udp.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "host-agent/packet/stamp.h"
#include "tests/unit/host-agent/probe_fixture.h"

#define MS RM_NS_PER_MS
#define SENDS 40

/* For each token: the times before and after its send, and the stamp received for
 * it. */
static struct log {
	int64_t before[SENDS], after[SENDS], stamp[SENDS];
	unsigned stamps, arrivals;
	struct port_arrival last;
} seen;

static void
on_arrivals(struct port_arrival *arrivals, size_t count, void *arg)
{
	seen.arrivals += (unsigned)count;
	seen.last = arrivals[count - 1];
}

static void
on_departures(const struct port_departure *departures, size_t count, void *arg)
{
	for (size_t i = 0; i < count; i++) {
		seen.stamp[departures[i].token] = departures[i].stamp_ns;
		seen.stamps++;
	}
}

static void
listen_to(struct port *port, enum port_role role)
{
	memset(&seen, 0, sizeof(seen));
	port_listen(port, role,
	    &(struct port_events){
		.on_arrivals = on_arrivals, .on_departures = on_departures });
}

static int
send_one(struct port *port, const char *to, uint16_t src_port, uint64_t token,
    uint16_t zeros)
{
	struct wire_address address = probe_fixture_address(to, FIXTURE_REFLECTOR_PORT);
	uint8_t data[44] = { 0 };
	struct port_packet packet = { .to = &address,
		.data = data,
		.len = sizeof(data),
		.zeros = zeros,
		.src_port = src_port,
		.dscp = 10,
		.token = token };

	memcpy(data, &token, sizeof(token));
	data[15] = 1;
	seen.before[token] = rm_wall_now().ns;
	port_send(port, PORT_PROBER, &packet, 1);
	seen.after[token] = rm_wall_now().ns;
	return packet.error;
}

static bool
all_stamps(struct probe_fixture *fixture)
{
	return seen.stamps >= SENDS / 2;
}

static void
a_failed_send_shifts_no_stamp(void **state)
{
	struct probe_fixture *fixture = *state;

	if (!probe_fixture_root())
		skip();
	listen_to(fixture->near, PORT_PROBER);
	for (uint64_t i = 0; i < SENDS; i++) {
		/* One send fails before the kernel has numbered the packet, one
		 * after it. */
		int expected = i % 2 == 0 ? 0 : i % 4 == 1 ? -EPERM : -EMSGSIZE;
		const char *to = expected == -EPERM ? "127.0.0.66" : "127.0.0.2";
		uint16_t zeros = expected == -EMSGSIZE ? 3000 : 0;

		assert_int_equal(
		    send_one(fixture->near, to, 40001, i, zeros), expected);
		probe_fixture_run_for(fixture, MS);
	}
	probe_fixture_run(fixture, all_stamps);
	for (size_t i = 0; i < SENDS; i += 2)
		assert_in_range(seen.stamp[i], seen.before[i], seen.after[i]);
	for (size_t i = 1; i < SENDS; i += 2)
		assert_int_equal(seen.stamp[i], 0);
	assert_int_equal(port_counts(fixture->near)->stamps_unmatched, 0);
	assert_true(port_counts(fixture->near)->stamps_resynced > 0);
}

/*
 * The kernel's worker enables stamping some time after the request. Packets that arrive
 * before have the process's own stamp; in that case another one is sent.
 */
static bool
one_stamped_arrival(struct probe_fixture *fixture)
{
	static unsigned answered;

	if (seen.arrivals > 0 && seen.last.source == WIRE_STAMP_KERNEL)
		return true;
	if (seen.arrivals != answered) {
		answered = seen.arrivals;
		send_one(fixture->near, "127.0.0.2", 40007, 1, 100);
	}
	return false;
}

static void
a_packet_arrives_with_class_ttl_and_time(void **state)
{
	struct probe_fixture *fixture = *state;

	if (!probe_fixture_root())
		skip();
	listen_to(fixture->far, PORT_REFLECTOR);
	assert_int_equal(send_one(fixture->near, "127.0.0.2", 40007, 1, 100), 0);
	probe_fixture_run(fixture, one_stamped_arrival);
	assert_int_equal(seen.last.len, 144);
	assert_int_equal(seen.last.from.port, 40007);
	assert_int_equal(seen.last.local_port, FIXTURE_REFLECTOR_PORT);
	assert_int_equal(seen.last.dscp, 10);
	assert_int_equal(seen.last.ecn, 2);
	assert_int_equal(seen.last.ttl, 255);
	assert_int_equal(seen.last.source, WIRE_STAMP_KERNEL);
	assert_in_range(seen.last.stamp_ns, seen.before[1], rm_wall_now().ns);
}

/* Otherwise all probes of a service would take one path, whatever path its flows
 * take. */
static void
a_flow_is_the_source_port_that_was_asked_for(void **state)
{
	const struct probe_fixture *fixture = *state;

	if (!probe_fixture_root())
		skip();
	for (uint16_t wanted = 40000; wanted < 40010; wanted++)
		assert_int_equal(port_flow(fixture->near, wanted), wanted);
}

static void
flows_are_bounded_and_refusals_counted(void **state)
{
	struct probe_fixture *fixture = *state;
	struct port_udp_options options = {
		.device = "lo", .sport_min = 40000, .sport_max = 40009, .max_flows = 2
	};
	struct port *port;

	if (!probe_fixture_root())
		skip();
	options.addresses[1] = probe_fixture_address("127.0.0.1", 0);
	assert_int_equal(port_udp_new(fixture->loop, &options, &port), 0);
	listen_to(port, PORT_PROBER);
	assert_int_equal(send_one(port, "127.0.0.2", 40000, 0, 0), 0);
	assert_int_equal(send_one(port, "127.0.0.2", 40001, 1, 0), 0);
	assert_int_equal(send_one(port, "127.0.0.2", 40002, 2, 0), -EMFILE);
	assert_int_equal(send_one(port, "127.0.0.2", 40010, 3, 0), -ERANGE);
	assert_int_equal(send_one(port, "::1", 40001, 4, 0), -EAFNOSUPPORT);
	assert_int_equal(send_one(port, "127.0.0.2", 40001, 5, 0), 0);
	assert_int_equal(port_counts(port)->refused_flows, 3);
	port_free(port);
}

/* Plans change: an old flow must not occupy a socket for ever. */
static void
an_idle_flow_makes_room(void **state)
{
	struct probe_fixture *fixture = *state;
	struct port_udp_options options = {
		.device = "lo", .max_flows = 2, .flow_idle_ns = 50 * MS
	};
	struct port *port;

	if (!probe_fixture_root())
		skip();
	options.addresses[0] = probe_fixture_address("127.0.0.1", 0);
	assert_int_equal(port_udp_new(fixture->loop, &options, &port), 0);
	listen_to(port, PORT_PROBER);
	assert_int_equal(send_one(port, "127.0.0.2", 40000, 0, 0), 0);
	probe_fixture_run_for(fixture, 60 * MS);
	assert_int_equal(send_one(port, "127.0.0.2", 40001, 1, 0), 0);
	assert_int_equal(send_one(port, "127.0.0.2", 40002, 2, 0), 0);
	port_free(port);
}

static void
opening_a_port_returns_its_error(void **state)
{
	struct probe_fixture *fixture = *state;
	struct port_udp_options options = { .device = "lo", .reflector_port = 18000 };
	struct port *port = NULL;

	if (!probe_fixture_root())
		skip();
	assert_int_equal(port_udp_new(fixture->loop, &options, &port), -EINVAL);
	options.addresses[0] = probe_fixture_address("192.0.2.1", 0);
	assert_int_equal(port_udp_new(fixture->loop, &options, &port), -EADDRNOTAVAIL);
	options.addresses[0] = probe_fixture_address("127.0.0.1", 0);
	options.device = "none0";
	assert_int_equal(port_udp_new(fixture->loop, &options, &port), -ENODEV);
	options.device = "lo";
	options.netns = "no-such-namespace";
	assert_int_equal(port_udp_new(fixture->loop, &options, &port), -ENOENT);
	assert_null(port);
}

static void
a_port_can_be_in_another_namespace(void **state)
{
	struct probe_fixture *fixture = *state;
	struct port_udp_options options = { .device = "lo", .reflector_port = 18000 };
	char path[64], byte = 0;
	struct port *port;
	int ready[2];
	pid_t pid;

	if (!probe_fixture_root())
		skip();
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	/* A process in another namespace, with an address that only this namespace
	 * has. */
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (unshare(CLONE_NEWNET) == 0 &&
		    system("ip link set lo up && ip addr add 192.0.2.1/32 dev lo") ==
			0 &&
		    write(ready[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	options.addresses[0] = probe_fixture_address("192.0.2.1", 0);
	assert_int_equal(port_udp_new(fixture->loop, &options, &port), -EADDRNOTAVAIL);
	options.netns = path;
	assert_int_equal(port_udp_new(fixture->loop, &options, &port), 0);
	listen_to(port, PORT_REFLECTOR);
	assert_int_equal(send_one(port, "192.0.2.1", 40001, 1, 0),
	    0); /* opened in the other namespace */
	port_free(port);
	probe_fixture_end_apart(pid);
}

#define TEST(fn) \
	cmocka_unit_test_setup_teardown(fn, probe_fixture_setup, probe_fixture_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_failed_send_shifts_no_stamp),
		TEST(a_packet_arrives_with_class_ttl_and_time),
		TEST(a_flow_is_the_source_port_that_was_asked_for),
		TEST(flows_are_bounded_and_refusals_counted),
		TEST(an_idle_flow_makes_room),
		TEST(opening_a_port_returns_its_error),
		TEST(a_port_can_be_in_another_namespace),
	};

	return probe_fixture_main(
	    cmocka_run_group_tests_name("port_udp", tests, probe_fixture_enter, NULL));
}
