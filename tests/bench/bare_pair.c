/*
 * bare_pair - the program with which the probe bench compares the agent: only
 * a sender and an echo.
 *
 * It does only what every prober on this kernel must do, so its CPU time is a lower
 * limit: it sends the same number of packets, of the same length and at the same pace,
 * by sendmmsg, takes the same kernel stamps (send and receive, numbered) for each,
 * drains the error queue, and reads replies when they arrive. It has no protocol, no
 * plan and no results.
 *
 *     bare_pair echo DEVICE ADDRESS:PORT
 *     bare_pair send DEVICE ADDRESS:PORT TO:PORT RATE SECONDS BYTES
 *
 * Both print one line of JSON at their end; SIGTERM ends the echo.
 */
#include <errno.h>
#include <linux/net_tstamp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/clock.h"
#include "tests/bench/figure.h"
#include "tests/bench/latency.h"

#define BURST 32
#define PACKET_BYTES 2048
#define CONTROL_BYTES 256
#define BUFFER_BYTES (4 << 20)
#define SETTLE_NS (600 * RM_NS_PER_MS) /* time to wait for the last replies */
/* The same pacing as host-agent/probe/prober.c has for the plans of result_sink. */
#define FAST_RATE 2000
#define FAST_WINDOW_NS (500 * RM_NS_PER_US)
#define WINDOW_NS (50 * RM_NS_PER_US)
#define STREAM_RATE 100
#define PERIOD_NS (RM_NS_PER_S / STREAM_RATE)
#define MAX_STREAMS 1000

struct bare {
	int fd;
	struct mmsghdr in[BURST], out[BURST], stamps[BURST];
	struct iovec in_data[BURST], out_data[BURST], stamps_data[BURST];
	struct sockaddr_storage from[BURST];
	uint8_t in_control[BURST][CONTROL_BYTES], stamps_control[BURST][CONTROL_BYTES];
	uint8_t in_bytes[BURST][PACKET_BYTES], out_bytes[BURST][PACKET_BYTES];
	uint8_t stamps_bytes[BURST][160];
	uint64_t sent, received, stamped;
};

static struct bare bare;
static volatile sig_atomic_t ended;

static void
on_signal(int number)
{
	ended = 1;
}

static int
bare_open(const char *device, const char *text)
{
	int stamping = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE |
		       SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_ID;
	int overflow = 1, bytes = BUFFER_BYTES, fd;
	struct rm_address address;

	if (rm_address_parse(text, -1, &address) < 0)
		return -EINVAL;
	fd = socket(address.storage.ss_family, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &stamping, sizeof(stamping)) <
		0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &overflow, sizeof(overflow)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device,
		(socklen_t)strlen(device)) < 0 ||
	    bind(fd, (struct sockaddr *)&address.storage, address.len) < 0)
		return -errno;
	for (size_t i = 0; i < BURST; i++) {
		bare.in_data[i] = (struct iovec){ bare.in_bytes[i], PACKET_BYTES };
		bare.in[i].msg_hdr.msg_iov = &bare.in_data[i];
		bare.in[i].msg_hdr.msg_iovlen = 1;
		bare.out[i].msg_hdr.msg_iov = &bare.out_data[i];
		bare.out[i].msg_hdr.msg_iovlen = 1;
		bare.stamps_data[i] = (struct iovec){ bare.stamps_bytes[i],
			sizeof(bare.stamps_bytes[i]) };
		bare.stamps[i].msg_hdr.msg_iov = &bare.stamps_data[i];
		bare.stamps[i].msg_hdr.msg_iovlen = 1;
	}
	bare.fd = fd;
	return 0;
}

static int
bare_receive(void)
{
	int n;

	for (size_t i = 0; i < BURST; i++) {
		struct msghdr *msg = &bare.in[i].msg_hdr;

		msg->msg_name = &bare.from[i];
		msg->msg_namelen = sizeof(bare.from[i]);
		msg->msg_control = bare.in_control[i];
		msg->msg_controllen = CONTROL_BYTES;
	}
	n = recvmmsg(bare.fd, bare.in, BURST, MSG_DONTWAIT, NULL);
	if (n > 0)
		bare.received += (uint64_t)n;
	return n;
}

static void
bare_drain_stamps(void)
{
	int n;

	do {
		for (size_t i = 0; i < BURST; i++) {
			bare.stamps[i].msg_hdr.msg_control = bare.stamps_control[i];
			bare.stamps[i].msg_hdr.msg_controllen = CONTROL_BYTES;
		}
		n = recvmmsg(
		    bare.fd, bare.stamps, BURST, MSG_ERRQUEUE | MSG_DONTWAIT, NULL);
		if (n > 0)
			bare.stamped += (uint64_t)n;
	} while (n == BURST);
}

static void
bare_send(int count)
{
	for (int done = 0; done < count;) {
		int n = sendmmsg(bare.fd, bare.out + done, (unsigned)(count - done), 0);

		if (n <= 0)
			break;
		bare.sent += (uint64_t)n;
		done += n;
	}
	bare_drain_stamps();
}

/* Waits for packets or stamps until this time. */
static void
bare_wait(rm_mono_t until)
{
	struct pollfd poll = { .fd = bare.fd, .events = POLLIN };
	int64_t ns = rm_mono_since(until, rm_mono_now());
	struct timespec wait = { 0 };

	if (ns > 0) {
		wait.tv_sec = ns / RM_NS_PER_S;
		wait.tv_nsec = ns % RM_NS_PER_S;
	}
	if (ppoll(&poll, 1, &wait, NULL) <= 0)
		return;
	if (poll.revents & POLLIN)
		while (bare_receive() == BURST)
			continue;
	if (poll.revents & POLLERR)
		bare_drain_stamps();
}

static int
compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The rate of a stream, which is one of the agent's targets. */
static double
gap_p99_us(int64_t *posted, size_t count, size_t streams)
{
	for (size_t i = 0; i + streams < count; i++)
		posted[i] = posted[i + streams] - posted[i];
	return figure_p99_us(posted, count > streams ? count - streams : 0);
}

/* Like the agent's targets, each stream has a random place of its own in the period. */
struct schedule {
	rm_mono_t start;
	int64_t window_ns; /* packets due within this time are sent at once */
	size_t streams;
	int64_t places[MAX_STREAMS];
};

static void
schedule_init(struct schedule *schedule, int64_t rate)
{
	struct latency random = { .state = 1 };

	schedule->start = rm_mono_now();
	schedule->window_ns = rate > FAST_RATE ? FAST_WINDOW_NS : WINDOW_NS;
	schedule->streams = (size_t)(rate / STREAM_RATE);
	for (size_t i = 0; i < schedule->streams; i++)
		schedule->places[i] = (int64_t)(latency_random(&random) % PERIOD_NS);
	qsort(schedule->places, schedule->streams, sizeof(schedule->places[0]),
	    compare_times);
}

static rm_mono_t
schedule_due(const struct schedule *schedule, size_t i)
{
	return rm_mono_add(
	    schedule->start, (int64_t)(i / schedule->streams) * PERIOD_NS +
				 schedule->places[i % schedule->streams]);
}

static void
run_send(const struct schedule *schedule, int64_t *posted, size_t total)
{
	rm_mono_t end;
	size_t asked = 0;

	while (asked < total) {
		rm_mono_t due = schedule_due(schedule, asked), now = rm_mono_now();
		int burst = 0;

		if (rm_mono_since(due, now) > 0) {
			bare_wait(due);
			continue;
		}
		while (asked < total && burst < BURST &&
		       rm_mono_since(schedule_due(schedule, asked), now) <=
			   schedule->window_ns) {
			memcpy(bare.out_bytes[burst++], &asked, sizeof(asked));
			posted[asked++] = now.ns;
		}
		bare_send(burst);
	}
	end = rm_mono_add(rm_mono_now(), SETTLE_NS);
	while (rm_mono_since(end, rm_mono_now()) > 0 && bare.received < bare.sent)
		bare_wait(end);
}

static int
main_send(char **argv)
{
	static struct schedule schedule;
	int64_t rate = atoll(argv[5]);
	size_t total = (size_t)(rate * atof(argv[6]));
	size_t bytes = (size_t)atoll(argv[7]);
	int64_t *posted = calloc(total, sizeof(*posted));
	struct rm_address to;
	uint64_t cpu;

	if (posted == NULL || rate < STREAM_RATE || rate > STREAM_RATE * MAX_STREAMS ||
	    bytes > PACKET_BYTES || rm_address_parse(argv[4], -1, &to) < 0)
		return EXIT_FAILURE;
	for (size_t i = 0; i < total; i++)
		posted[i] = -1; /* allocates its pages before the measurement */
	for (size_t i = 0; i < BURST; i++) {
		bare.out_data[i] = (struct iovec){ bare.out_bytes[i], bytes };
		bare.out[i].msg_hdr.msg_name = &to.storage;
		bare.out[i].msg_hdr.msg_namelen = to.len;
	}
	cpu = figure_cpu_ns();
	schedule_init(&schedule, rate);
	run_send(&schedule, posted, total);
	cpu = figure_cpu_ns() - cpu;
	printf("{\"sent\": %zu, \"received\": %zu, \"stamped\": %zu, \"cpu_ns\": %zu, "
	       "\"gap_p99_us\": %.1f}\n",
	    (size_t)bare.sent, (size_t)bare.received, (size_t)bare.stamped, (size_t)cpu,
	    gap_p99_us(posted, total, schedule.streams));
	free(posted);
	return EXIT_SUCCESS;
}

static int
main_echo(void)
{
	uint64_t cpu = figure_cpu_ns();
	sigset_t term, none;

	sigemptyset(&none);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	/* SIGTERM arrives during this wait, or has arrived. */
	sigprocmask(SIG_BLOCK, &term, NULL);
	while (!ended) {
		struct pollfd poll = { .fd = bare.fd, .events = POLLIN };
		int n;

		if (ppoll(&poll, 1, NULL, &none) <= 0)
			continue;
		if (!(poll.revents & POLLIN)) {
			bare_drain_stamps();
			continue;
		}
		n = bare_receive();
		for (int i = 0; i < n; i++) {
			bare.out_data[i] =
			    (struct iovec){ bare.in_bytes[i], bare.in[i].msg_len };
			bare.out[i].msg_hdr.msg_name = &bare.from[i];
			bare.out[i].msg_hdr.msg_namelen =
			    bare.in[i].msg_hdr.msg_namelen;
		}
		if (n > 0)
			bare_send(n);
	}
	cpu = figure_cpu_ns() - cpu;
	printf(
	    "{\"sent\": %zu, \"received\": %zu, \"stamped\": %zu, \"cpu_ns\": %zu}\n",
	    (size_t)bare.sent, (size_t)bare.received, (size_t)bare.stamped,
	    (size_t)cpu);
	return EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	bool echo = argc == 4 && strcmp(argv[1], "echo") == 0;
	int r;

	if (!echo && !(argc == 8 && strcmp(argv[1], "send") == 0)) {
		fprintf(stderr, "usage: see the head of bare_pair.c\n");
		return EXIT_FAILURE;
	}
	sigaction(SIGTERM, &action, NULL);
	r = bare_open(argv[2], argv[3]);
	if (r < 0) {
		fprintf(stderr, "bare_pair: %s\n", strerror(-r));
		return EXIT_FAILURE;
	}
	return echo ? main_echo() : main_send(argv);
}
