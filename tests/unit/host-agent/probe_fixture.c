#include "probe_fixture.h"

#include <arpa/inet.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "host-agent/udp/port_udp.h"
#include "rackmesh/loop/loop.h"

#define GIVE_UP_NS (60 * RM_NS_PER_S)
#define QUICK_NS (30 * RM_NS_PER_S)
#define LOOK_EVERY_NS RM_NS_PER_MS
#define STALL_NS (2 * RM_NS_PER_MS) /* a longer delay of the loop counts as a stall */

static bool root;

int
probe_fixture_enter(void **state)
{
	root = geteuid() == 0 && unshare(CLONE_NEWNET) == 0;
	if (!root)
		return 0;
	/* Probes of 3000 bytes exceed the MTU; the firewall drops packets to
	 * 127.0.0.66. */
	return system("ip link set lo up mtu 1500 && nft add table inet t && "
		      "nft add chain inet t out "
		      "'{ type filter hook output priority 0; }' && "
		      "nft add rule inet t out ip daddr 127.0.0.66 drop") == 0
		   ? 0
		   : -1;
}

bool
probe_fixture_root(void)
{
	return root;
}

int
probe_fixture_main(int failed)
{
	return root || failed != 0 ? failed : 77;
}

struct wire_address
probe_fixture_address(const char *text, uint16_t port)
{
	struct wire_address address = { .port = port,
		.family = strchr(text, ':') != NULL ? 6 : 4 };

	assert_int_equal(
	    inet_pton(address.family == 6 ? AF_INET6 : AF_INET, text, address.bytes),
	    1);
	return address;
}

struct port *
probe_fixture_port(struct probe_fixture *fixture, const char *ipv4, const char *ipv6,
    uint16_t reflector_port, int receive_bytes)
{
	struct port_udp_options options = { .device = "lo",
		.reflector_port = reflector_port,
		.receive_buffer_bytes = receive_bytes };
	struct port *port = NULL;

	options.addresses[0] = probe_fixture_address(ipv4, 0);
	if (ipv6 != NULL)
		options.addresses[1] = probe_fixture_address(ipv6, 0);
	assert_int_equal(port_udp_new(fixture->loop, &options, &port), 0);
	return port;
}

void
probe_fixture_on_result(const struct wire_result *result, rm_mono_t sent, void *arg)
{
	struct probe_fixture *fixture = arg;

	if (fixture->count == FIXTURE_MAX_RESULTS)
		return;
	fixture->results[fixture->count] = *result;
	fixture->sent[fixture->count++] = sent;
}

int
probe_fixture_setup(void **state)
{
	struct prober_options options = { .timeout_ns = FIXTURE_TIMEOUT_NS,
		.random_seed = 1 };
	struct probe_fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (fixture == NULL || rm_loop_new(&fixture->loop) < 0)
		return -1;
	if (!root)
		return 0;
	fixture->near = probe_fixture_port(fixture, "127.0.0.1", "::1", 0, 0);
	fixture->far =
	    probe_fixture_port(fixture, "127.0.0.2", "::1", FIXTURE_REFLECTOR_PORT, 0);
	return prober_new(fixture->loop, fixture->near, &options,
		   probe_fixture_on_result, fixture, &fixture->prober) < 0
		   ? -1
		   : 0;
}

int
probe_fixture_teardown(void **state)
{
	struct probe_fixture *fixture = *state;

	prober_free(fixture->prober);
	reflector_free(fixture->reflector);
	port_free(fixture->near);
	port_free(fixture->far);
	rm_loop_free(fixture->loop);
	free(fixture);
	return 0;
}

static struct reflector *
fixture_reflector(struct port *port)
{
	struct wire_peer roster[] = {
		{ .id = { 1, 1 }, .address = probe_fixture_address("127.0.0.1", 0) },
		{ .id = { 1, 1 }, .address = probe_fixture_address("::1", 0) },
	};

	struct reflector *reflector = NULL;

	assert_int_equal(
	    reflector_new(port, (struct wire_rnic_id){ 2, 1 }, 0, &reflector), 0);
	assert_int_equal(reflector_set_roster(reflector, roster, 2), 0);
	return reflector;
}

void
probe_fixture_reflect(struct probe_fixture *fixture)
{
	fixture->reflector = fixture_reflector(fixture->far);
}

pid_t
probe_fixture_reflect_apart(struct probe_fixture *fixture)
{
	int ready[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct probe_fixture own = { 0 };

		/* The process must end with the test. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);

		if (rm_loop_new(&own.loop) < 0)
			_exit(1);
		fixture_reflector(probe_fixture_port(
		    &own, "127.0.0.3", NULL, FIXTURE_REFLECTOR_PORT, 0));
		if (write(ready[1], &byte, 1) == 1)
			rm_loop_run(own.loop);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

void
probe_fixture_end_apart(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

struct wire_target
probe_fixture_target(const char *address, uint32_t interval_us)
{
	static const uint16_t flows[] = { 40001 };
	static const uint16_t sizes[] = { 88 };
	static const uint8_t dscps[] = { 26 };

	return (struct wire_target){ .src = { 1, 1 },
		.dst = { 2, 1 },
		.address = probe_fixture_address(address, FIXTURE_REFLECTOR_PORT),
		.interval_us = interval_us,
		.flows = flows,
		.flow_count = 1,
		.dscps = dscps,
		.dscp_count = 1,
		.sizes = sizes,
		.size_count = 1 };
}

struct run {
	struct probe_fixture *fixture;
	bool (*done)(struct probe_fixture *fixture);
	struct rm_timer *timer;
	rm_mono_t deadline;
	bool gave_up;
};

/* After too many stalls no further result is evaluated. */
static void
fixture_look(struct probe_fixture *fixture, rm_mono_t now)
{
	int64_t late_ns = rm_mono_since(now, fixture->look);

	if (late_ns >= STALL_NS && fixture->look.ns != 0) {
		fixture->stalled_ns += late_ns;
		if (fixture->stall_count < FIXTURE_MAX_STALLS)
			fixture->stalls[fixture->stall_count++] =
			    (struct probe_stall){ fixture->look, now };
	}
	fixture->look = rm_mono_add(now, LOOK_EVERY_NS);
}

/* Returns the first stall that ends after this time. */
static size_t
fixture_first_stall(const struct probe_fixture *fixture, rm_mono_t from)
{
	size_t low = 0, high = fixture->stall_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rm_mono_since(fixture->stalls[middle].to, from) > 0)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static int64_t
fixture_stalled_ns(const struct probe_fixture *fixture, rm_mono_t from, rm_mono_t to)
{
	int64_t sum = 0;

	for (size_t i = fixture_first_stall(fixture, from); i < fixture->stall_count;
	     i++) {
		struct probe_stall stall = fixture->stalls[i];

		if (rm_mono_since(to, stall.from) <= 0)
			break;
		if (rm_mono_since(from, stall.from) > 0)
			stall.from = from;
		if (rm_mono_since(stall.to, to) > 0)
			stall.to = to;
		sum += rm_mono_since(stall.to, stall.from);
	}
	return sum;
}

bool
probe_fixture_ran(const struct probe_fixture *fixture, rm_mono_t from, rm_mono_t to)
{
	return fixture->stall_count < FIXTURE_MAX_STALLS &&
	       rm_mono_since(to, fixture->look) <= 0 &&
	       fixture_stalled_ns(fixture, from, to) == 0;
}

bool
probe_fixture_judges(const struct probe_fixture *fixture, size_t i)
{
	rm_mono_t sent = fixture->sent[i];

	return fixture->stall_count < FIXTURE_MAX_STALLS &&
	       fixture_stalled_ns(fixture, rm_mono_add(sent, -FIXTURE_TIMEOUT_NS),
		   rm_mono_add(sent, FIXTURE_TIMEOUT_NS)) < FIXTURE_TIMEOUT_NS / 4;
}

void
probe_fixture_expect(const struct probe_fixture *fixture, enum wire_outcome outcome)
{
	size_t judged = 0;

	for (size_t i = 0; i < fixture->count; i++) {
		if (fixture->results[i].outcome == outcome) {
			judged++;
			continue;
		}
		if (probe_fixture_judges(fixture, i))
			fail_msg("result %zu of %zu is %d instead of %d", i,
			    fixture->count, fixture->results[i].outcome, outcome);
	}
	if (judged < fixture->count)
		print_message("%zu of %zu results were affected by a stalled loop\n",
		    fixture->count - judged, fixture->count);
}

static void
run_on_timer(void *arg)
{
	struct run *run = arg;

	fixture_look(run->fixture, rm_mono_now());
	if (run->done != NULL && run->done(run->fixture)) {
		rm_loop_stop(run->fixture->loop);
		return;
	}
	if (rm_mono_since(rm_mono_now(), run->deadline) >= 0) {
		run->gave_up = true;
		rm_loop_stop(run->fixture->loop);
		return;
	}
	rm_timer_at(run->timer, run->fixture->look);
}

static bool
fixture_run(struct probe_fixture *fixture, bool (*done)(struct probe_fixture *fixture),
    int64_t ns)
{
	struct run run = { .fixture = fixture,
		.done = done,
		.deadline = rm_mono_add(rm_mono_now(), ns) };

	assert_int_equal(
	    rm_timer_new(fixture->loop, run_on_timer, &run, &run.timer), 0);
	rm_timer_after(run.timer, 0);
	rm_loop_run(fixture->loop);
	rm_timer_free(run.timer);
	return !run.gave_up;
}

void
probe_fixture_run(
    struct probe_fixture *fixture, bool (*done)(struct probe_fixture *fixture))
{
	assert_true(fixture_run(fixture, done, GIVE_UP_NS));
}

void
probe_fixture_run_if_quick(
    struct probe_fixture *fixture, bool (*done)(struct probe_fixture *fixture))
{
	if (!fixture_run(fixture, done, QUICK_NS))
		print_message("the host was not quick enough\n");
}

void
probe_fixture_run_for(struct probe_fixture *fixture, int64_t ns)
{
	(void)fixture_run(fixture, NULL, ns);
}

size_t
probe_fixture_outcomes(const struct probe_fixture *fixture, enum wire_outcome outcome)
{
	size_t n = 0;

	for (size_t i = 0; i < fixture->count; i++)
		n += fixture->results[i].outcome == outcome;
	return n;
}
