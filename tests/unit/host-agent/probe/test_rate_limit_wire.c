/* A plan that requests far too many probes. The packets are counted on the wire in
 * two ways: as raw packets with the kernel's times, and by nftables. */
#include "host-agent/probe/rate_limit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "host-agent/probe/prober.h"
#include "rackmesh/loop/loop.h"
#include "tests/unit/host-agent/probe_fixture.h"

#define MANY 200000 /* targets: far more than a pinglist may contain */
#define MOST_SEEN 400000
#define RUN_NS (2 * RM_NS_PER_S)
#define MS RM_NS_PER_MS

struct seen {
	int64_t at_ns;
	uint32_t bytes; /* size of the IP packet */
};

struct onlooker {
	int fd;
	pthread_t thread;
	atomic_bool done;
	struct seen *seen;
	size_t count;
	bool strange; /* packets to addresses that no plan may contain */
};

static void
onlooker_take(
    struct onlooker *o, const uint8_t *data, size_t len, uint32_t whole, int64_t at_ns)
{
	struct iphdr ip;
	struct udphdr udp;

	if (len < sizeof(ip) + sizeof(udp))
		return;
	memcpy(&ip, data, sizeof(ip));
	memcpy(&udp, data + sizeof(ip), sizeof(udp));
	if (ip.protocol != IPPROTO_UDP || ntohs(udp.dest) != FIXTURE_REFLECTOR_PORT)
		return;
	o->strange |= ntohl(ip.daddr) >> 24 != 127 || ip.daddr == htonl(0x7fffffff);
	if (o->count < MOST_SEEN)
		o->seen[o->count++] = (struct seen){ at_ns, whole };
}

static void *
onlooker_run(void *arg)
{
	struct onlooker *o = arg;

	while (true) {
		struct sockaddr_ll from;
		uint8_t data[64], control[128];
		struct iovec iov = { data, sizeof(data) };
		struct msghdr msg = { .msg_name = &from,
			.msg_namelen = sizeof(from),
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = control,
			.msg_controllen = sizeof(control) };
		/* Read the flag first: once it is set, all packets are in the queue. */
		const bool done = o->done;
		ssize_t n = recvmsg(o->fd, &msg, MSG_TRUNC);
		struct timespec at = { 0 };

		if (n < 0) { /* no packets for a while, or this process was stopped */
			if (done && errno == EAGAIN)
				return NULL;
			continue;
		}
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c != NULL;
		     c = CMSG_NXTHDR(&msg, c))
			if (c->cmsg_type == SCM_TIMESTAMPNS)
				memcpy(&at, CMSG_DATA(c), sizeof(at));
		if (from.sll_pkttype == PACKET_OUTGOING)
			onlooker_take(o, data,
			    (size_t)n < sizeof(data) ? (size_t)n : sizeof(data),
			    (uint32_t)n, at.tv_sec * RM_NS_PER_S + at.tv_nsec);
	}
}

static void
onlooker_start(struct onlooker *o)
{
	struct sockaddr_ll lo = { .sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex("lo") };
	struct timeval patience = { .tv_usec = 100000 };
	int bytes = 256 << 20, on = 1;

	assert_int_equal(
	    system(
		"nft add chain inet t in '{ type filter hook input priority 0; }' && "
		"nft flush chain inet t in && nft add rule inet t in udp dport 18862 "
		"counter drop"),
	    0);
	*o = (struct onlooker){ .seen = calloc(MOST_SEEN, sizeof(struct seen)) };
	assert_non_null(o->seen);
	/* Without the link-layer header. Only ETH_P_ALL shows outgoing packets. */
	o->fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_ALL));
	assert_true(o->fd >= 0);
	assert_int_equal(bind(o->fd, (struct sockaddr *)&lo, sizeof(lo)), 0);
	setsockopt(o->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	setsockopt(o->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
	setsockopt(o->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	assert_int_equal(pthread_create(&o->thread, NULL, onlooker_run, o), 0);
}

/* Returns the number of the same packets as counted by the firewall. */
static unsigned long
firewall_count(void)
{
	unsigned long packets = 0;
	char line[256];
	FILE *in = popen("nft list chain inet t in", "r");

	assert_non_null(in);
	while (fgets(line, sizeof(line), in) != NULL) {
		const char *at = strstr(line, "counter packets ");

		if (at != NULL)
			packets = strtoul(at + 16, NULL, 10);
	}
	pclose(in);
	return packets;
}

static void
onlooker_stop(struct onlooker *o)
{
	struct tpacket_stats stats = { 0 };
	socklen_t len = sizeof(stats);

	o->done = true;
	pthread_join(o->thread, NULL);
	assert_int_equal(
	    getsockopt(o->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len), 0);
	close(o->fd);
	assert_int_equal(stats.tp_drops, 0);
	assert_int_equal(o->count, firewall_count());
	assert_false(o->strange);
}

static void
most_within(
    const struct onlooker *o, int64_t window_ns, uint64_t *packets, uint64_t *bytes)
{
	uint64_t inside = 0;
	size_t first = 0;

	*packets = *bytes = 0;
	for (size_t i = 0; i < o->count; i++) {
		inside += o->seen[i].bytes;
		while (o->seen[first].at_ns <= o->seen[i].at_ns - window_ns)
			inside -= o->seen[first++].bytes;
		if (i - first + 1 > *packets)
			*packets = i - first + 1;
		if (inside > *bytes)
			*bytes = inside;
	}
}

static void
expect_below(const struct onlooker *o, uint64_t packets_per_s, uint64_t bytes_per_s)
{
	uint64_t packets, bytes;

	most_within(o, RM_NS_PER_S, &packets, &bytes);
	print_message("most in 1 s: %lu packets, %lu bytes\n", packets, bytes);
	assert_true(packets <= packets_per_s);
	assert_true(bytes <= bytes_per_s);
	assert_true(packets > 0); /* packets were sent */
	most_within(o, RATE_LIMIT_WINDOW_NS, &packets, &bytes);
	print_message("most in 10 ms: %lu packets, %lu bytes\n", packets, bytes);
	assert_true(packets * RATE_LIMIT_WINDOWS_PER_RATE <= packets_per_s);
	assert_true(bytes * RATE_LIMIT_WINDOWS_PER_RATE <= bytes_per_s);
}

/* ---- the plan ---- */

/* Every fourth target is valid; the others have forbidden addresses, rates or sizes. */
static struct wire_target *
hostile_plan(const uint16_t *size, uint64_t first)
{
	static const char *const places[] = { "224.0.0.1", "127.255.255.255",
		"255.255.255.255", "127.0.0.0", "0.0.0.0", "169.254.0.9", "239.1.1.1",
		"127.0.0.1" };
	static const uint16_t huge[] = { 65535 };
	struct wire_target *wires = calloc(MANY, sizeof(*wires));

	assert_non_null(wires);
	for (size_t i = 0; i < MANY; i++) {
		char text[INET_ADDRSTRLEN];

		snprintf(text, sizeof(text), "127.1.%zu.%zu", i / 4 / 250 % 250,
		    i / 4 % 250 + 1);
		wires[i] = probe_fixture_target(
		    i % 4 == 0 ? places[i / 4 % 8] : text, PROBER_MIN_INTERVAL_US);
		wires[i].dst.guid = first + i;
		wires[i].sizes = i % 4 == 1 ? huge : size;
		if (i % 4 == 2)
			wires[i].interval_us = 0;
	}
	return wires;
}

static void
on_hold_up(void *arg)
{
	struct rm_timer **timer = arg;
	const struct timespec hold_up = { .tv_nsec = 40 * MS };

	nanosleep(&hold_up, NULL);
	rm_timer_after(*timer, 150 * MS);
}

static bool
are_held(struct prober *const *probers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (prober_counts(probers[i])->held > 0)
			return true;
	return false;
}

/* Lets one or several probers send as much as they can, while the loop is stalled
 * repeatedly and then catches up. */
static void
send_as_much_as_possible(struct probe_fixture *fixture, struct prober *const *probers,
    size_t count, const uint16_t *size)
{
	struct wire_target *plan = hostile_plan(size, 1000);
	struct rm_timer *timer;

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(prober_set_targets(probers[i], plan, MANY), 0);
		for (size_t k = 0; k < 1000; k++)
			prober_focus(probers[i], plan[4 * k + 3].dst, 0, UINT32_MAX);
	}
	free(plan);
	assert_int_equal(rm_timer_new(fixture->loop, on_hold_up, &timer, &timer), 0);
	rm_timer_after(timer, 500 * MS);
	probe_fixture_run_for(fixture, RUN_NS);
	/* A slow host needs more time to reach the limits. */
	for (int i = 0; i < 30 && !are_held(probers, count); i++)
		probe_fixture_run_for(fixture, RUN_NS);
	rm_timer_free(timer);
	for (size_t i = 0; i < count; i++)
		prober_pause(probers[i], true);
}

static const struct own_rnic own_rnic = { .id = { 1, 1 },
	.addresses = { { .family = 4, .bytes = { 127, 0, 0, 1 } } },
	.prefix_bits = { 8 } };

static struct prober *
hostile_prober(
    struct probe_fixture *fixture, struct port *port, struct rate_limit *host)
{
	const struct prober_options options = { .timeout_ns = FIXTURE_TIMEOUT_NS,
		.random_seed = 1,
		.own_rnic = own_rnic,
		.host_rate_limit = host };
	struct prober *prober = NULL;

	assert_int_equal(prober_new(fixture->loop, port, &options,
			     probe_fixture_on_result, fixture, &prober),
	    0);
	return prober;
}

static void
one_rnic(void **state, uint16_t size)
{
	struct probe_fixture *fixture = *state;
	const struct prober_counts *counts;
	struct onlooker onlooker;
	struct prober *prober;

	prober = hostile_prober(fixture, fixture->far, NULL);
	counts = prober_counts(prober);
	onlooker_start(&onlooker);
	send_as_much_as_possible(fixture, &prober, 1, &size);
	onlooker_stop(&onlooker);
	/* The prober probes as many of the valid targets as its limit allows. */
	assert_int_equal(prober_targets(prober), PROBER_MAX_TARGETS);
	assert_true(counts->refused_targets[TARGET_MULTICAST] > 0);
	assert_true(counts->refused_targets[TARGET_BROADCAST] > 0);
	assert_true(counts->refused_targets[TARGET_UNSPECIFIED] > 0);
	assert_true(counts->refused_targets[TARGET_SELF] > 0);
	assert_true(counts->refused_targets[TARGET_LINK_LOCAL] > 0);
	assert_true(counts->refused_targets[TARGET_TOO_LARGE] > 0);
	assert_true(counts->refused_targets[TARGET_TOO_FAST] > 0);
	assert_true(counts->refused_targets[TARGET_TOO_MANY] > MANY / 2);
	assert_true(counts->held > 0);
	assert_true(onlooker.count <= counts->sent);
	expect_below(
	    &onlooker, RATE_LIMIT_RNIC_PACKETS_PER_S, RATE_LIMIT_RNIC_BYTES_PER_S);
	free(onlooker.seen);
	prober_free(prober);
}

static void
small_probes_of_one_rnic_stay_below_the_rate_limit(void **state)
{
	if (!probe_fixture_root())
		skip();
	one_rnic(state, 44);
}

static void
large_probes_of_one_rnic_stay_below_the_rate_limit(void **state)
{
	if (!probe_fixture_root())
		skip();
	one_rnic(state, 1400);
}

/* The limit is lower than the default, so that a slow machine reaches it too. */
static void
all_rnics_of_a_host_share_one_rate_limit(void **state)
{
	enum { RNICS = 4, PACKETS = 6000, BYTES = 1000000 };
	struct probe_fixture *fixture = *state;
	struct port *ports[RNICS];
	struct prober *probers[RNICS];
	struct onlooker onlooker;
	struct rate_limit host;
	uint64_t held = 0;

	if (!probe_fixture_root())
		skip();
	rate_limit_init(&host, PACKETS, BYTES);
	for (size_t i = 0; i < RNICS; i++) {
		char own[INET_ADDRSTRLEN];

		snprintf(own, sizeof(own), "127.0.1.%zu", i + 1);
		ports[i] = probe_fixture_port(fixture, own, NULL, 0, 0);
		probers[i] = hostile_prober(fixture, ports[i], &host);
	}
	onlooker_start(&onlooker);
	send_as_much_as_possible(fixture, probers, RNICS, &(uint16_t){ 44 });
	onlooker_stop(&onlooker);
	expect_below(&onlooker, PACKETS, BYTES);
	/* The limit held back no packet before the permitted number was sent. */
	assert_true(onlooker.count >= PACKETS / RATE_LIMIT_WINDOWS_PER_RATE / 2);
	for (size_t i = 0; i < RNICS; i++) {
		held += prober_counts(probers[i])->held;
		prober_free(probers[i]);
		port_free(ports[i]);
	}
	assert_true(held > 0);
	free(onlooker.seen);
}

#define TEST(fn) \
	cmocka_unit_test_setup_teardown(fn, probe_fixture_setup, probe_fixture_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(small_probes_of_one_rnic_stay_below_the_rate_limit),
		TEST(large_probes_of_one_rnic_stay_below_the_rate_limit),
		TEST(all_rnics_of_a_host_share_one_rate_limit),
	};

	return probe_fixture_main(cmocka_run_group_tests_name(
	    "rate_limit_wire", tests, probe_fixture_enter, NULL));
}
