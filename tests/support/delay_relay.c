/*
 * delay_relay - a cable with a length: forwards every packet between two veths of its
 * namespace. Each direction is delayed by a time that a test may change at any moment.
 *
 *     delay_relay NEAR FAR
 *
 * reads lines of two delays in microseconds from stdin, one for packets from NEAR and
 * one for packets from FAR; end of file ends it.
 *
 * Both veths, and their peers, need `ethtool -K <veth> tx off`: a packet that leaves a
 * packet socket no longer has the mark that its checksum must still be computed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Packets in flight per direction; further ones are dropped and counted. */
#define QUEUE_PACKETS 4096
#define PACKET_BYTES 10240
#define NS_PER_S 1000000000LL

struct packet {
	int64_t due_ns;
	size_t len;
	uint8_t bytes[PACKET_BYTES];
};

struct direction {
	int in, out;
	int64_t delay_ns;
	struct packet *ring;
	size_t head, count;
	unsigned long passed, dropped;
};

static int64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static int
open_wire(const char *name)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(name),
	};
	struct packet_mreq promiscuous = {
		.mr_ifindex = address.sll_ifindex,
		.mr_type = PACKET_MR_PROMISC,
	};
	int on = 1;
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);

	if (fd < 0 ||
	    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on)) < 0 ||
	    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)) < 0 ||
	    setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous,
		sizeof(promiscuous)) < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		fprintf(stderr, "delay_relay: %s: %s\n", name, strerror(errno));
		exit(EXIT_FAILURE);
	}
	return fd;
}

static void
take_in(struct direction *d)
{
	for (;;) {
		struct packet *packet = &d->ring[(d->head + d->count) % QUEUE_PACKETS];
		uint8_t refused[PACKET_BYTES];
		bool full = d->count == QUEUE_PACKETS;
		ssize_t n =
		    recv(d->in, full ? refused : packet->bytes, PACKET_BYTES, 0);

		if (n < 0)
			return;
		if (full) {
			d->dropped++;
			continue;
		}
		packet->len = (size_t)n;
		packet->due_ns = now_ns() + d->delay_ns;
		d->count++;
	}
}

/* Sends packets in their order: a packet never passes an earlier one that has a longer
 * delay. */
static void
let_out(struct direction *d)
{
	while (d->count > 0 && d->ring[d->head].due_ns <= now_ns()) {
		struct packet *packet = &d->ring[d->head];

		if (send(d->out, packet->bytes, packet->len, 0) < 0)
			d->dropped++;
		else
			d->passed++;
		d->head = (d->head + 1) % QUEUE_PACKETS;
		d->count--;
	}
}

static struct timespec
next_due(const struct direction *d)
{
	int64_t due = INT64_MAX, now = now_ns();

	for (int i = 0; i < 2; i++) {
		if (d[i].count > 0 && d[i].ring[d[i].head].due_ns < due)
			due = d[i].ring[d[i].head].due_ns;
	}
	due = due == INT64_MAX ? NS_PER_S : due > now ? due - now : 0;
	return (struct timespec){ due / NS_PER_S, due % NS_PER_S };
}

/* False: stdin has ended. */
static bool
take_command(struct direction *d)
{
	char line[128];
	long long first, second;

	if (fgets(line, sizeof(line), stdin) == NULL)
		return false;
	if (sscanf(line, "%lld %lld", &first, &second) != 2 || first < 0 ||
	    second < 0) {
		fprintf(stderr, "delay_relay: not a command: %s", line);
		return true;
	}
	d[0].delay_ns = first * 1000;
	d[1].delay_ns = second * 1000;
	printf("%lld %lld\n", first, second);
	return true;
}

int
main(int argc, char **argv)
{
	struct direction d[2] = { 0 };

	if (argc != 3) {
		fprintf(stderr, "usage: delay_relay INTERFACE INTERFACE\n");
		return EXIT_FAILURE;
	}
	/* Real-time priority, as a cable waits for no processor. Without the right
	 * to it packets are a little late. */
	sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 });
	/* Unbuffered, so that poll sees every line that is left. */
	setvbuf(stdin, NULL, _IONBF, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	d[0].in = d[1].out = open_wire(argv[1]);
	d[1].in = d[0].out = open_wire(argv[2]);
	for (int i = 0; i < 2; i++) {
		d[i].ring = calloc(QUEUE_PACKETS, sizeof(struct packet));
		if (d[i].ring == NULL)
			return EXIT_FAILURE;
	}
	printf("0 0\n");
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = d[0].in, .events = POLLIN },
			{ .fd = d[1].in, .events = POLLIN },
			{ .fd = STDIN_FILENO, .events = POLLIN },
		};
		struct timespec wait = next_due(d);

		if (ppoll(fds, 3, &wait, NULL) < 0 && errno != EINTR)
			break;
		for (int i = 0; i < 2; i++) {
			take_in(&d[i]);
			let_out(&d[i]);
		}
		if (fds[2].revents != 0 && !take_command(d))
			break;
	}
	fprintf(stderr, "delay_relay: passed %lu + %lu, dropped %lu + %lu\n",
	    d[0].passed, d[1].passed, d[0].dropped, d[1].dropped);
	return EXIT_SUCCESS;
}
