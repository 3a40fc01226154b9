/*
 * loopback - functions for tests of sockets: real TCP over 127.0.0.1, and waiting for
 * an event with a deadline instead of sleeping.
 *
 * Include it after cmocka.h. Every failure fails the test.
 */
#ifndef TESTS_SUPPORT_LOOPBACK_H
#define TESTS_SUPPORT_LOOPBACK_H

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/loop/loop.h"

/* Long, because many tests run at once on a busy machine. It passes only if a test
 * fails. */
#define LOOPBACK_PATIENCE_NS (60 * RM_NS_PER_S)

static inline struct rm_address
loopback_address(int port)
{
	struct rm_address address = { .len = sizeof(struct sockaddr_in) };
	struct sockaddr_in *in = (struct sockaddr_in *)&address.storage;

	in->sin_family = AF_INET;
	in->sin_port = htons((uint16_t)port);
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

static inline struct rm_endpoint
loopback_endpoint(int port)
{
	return (struct rm_endpoint){ .address = loopback_address(port) };
}

/* Listens on a port that the kernel chooses. */
static inline int
loopback_listen(int *port)
{
	struct rm_address address = loopback_address(0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address.storage, address.len), 0);
	assert_int_equal(listen(fd, 16), 0);
	assert_int_equal(
	    getsockname(fd, (struct sockaddr *)&address.storage, &address.len), 0);
	*port = ntohs(((struct sockaddr_in *)&address.storage)->sin_port);
	return fd;
}

/* Connects from 127.0.0.<host>, like another host. */
static inline int
loopback_connect_from(uint8_t host, int port)
{
	struct rm_address address = loopback_address(port), from = loopback_address(0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	((struct sockaddr_in *)&from.storage)->sin_addr.s_addr =
	    htonl(UINT32_C(0x7f000000) + host);
	assert_int_equal(bind(fd, (struct sockaddr *)&from.storage, from.len), 0);
	assert_int_equal(
	    connect(fd, (struct sockaddr *)&address.storage, address.len), 0);
	return fd;
}

static inline int
loopback_connect(int port)
{
	return loopback_connect_from(1, port);
}

/* Makes both ends of one TCP connection; buffer_bytes > 0 keeps the kernel's buffers
 * small. */
static inline void
loopback_pair(int fds[2], int buffer_bytes)
{
	int port;
	int listener = loopback_listen(&port);

	if (buffer_bytes > 0)
		assert_int_equal(setsockopt(listener, SOL_SOCKET, SO_RCVBUF,
				     &buffer_bytes, sizeof(buffer_bytes)),
		    0);
	fds[0] = loopback_connect(port);
	fds[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(fds[1] >= 0);
	if (buffer_bytes > 0)
		assert_int_equal(setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF,
				     &buffer_bytes, sizeof(buffer_bytes)),
		    0);
	close(listener);
}

static inline void
loopback_tick(void *arg)
{
}

/* Measures a wait without the time that the machine was busy with other processes: a
 * turn of the loop that is due after 5 ms and comes later was delayed by them. */
struct loopback_watch {
	rm_mono_t begun;
	int64_t lost_ns;
};

static inline int64_t *
loopback_lost_ns(void)
{
	static int64_t lost_ns;

	return &lost_ns;
}

static inline struct loopback_watch
loopback_watch(void)
{
	return (struct loopback_watch){ rm_mono_now(), *loopback_lost_ns() };
}

/* Time spent in LOOPBACK_WAIT since then. */
static inline int64_t
loopback_took_ns(struct loopback_watch watch)
{
	return rm_mono_since(rm_mono_now(), watch.begun) -
	       (*loopback_lost_ns() - watch.lost_ns);
}

static inline void
loopback_turn(struct rm_loop *loop, struct rm_timer *tick)
{
	const int64_t due_ns = 5 * RM_NS_PER_MS;
	const rm_mono_t begun = rm_mono_now();
	int64_t took_ns;

	rm_timer_after(tick, due_ns);
	event_base_loop(rm_loop_base(loop), EVLOOP_ONCE);
	took_ns = rm_mono_since(rm_mono_now(), begun);
	if (took_ns > 4 * due_ns)
		*loopback_lost_ns() += took_ns - due_ns;
}

/* Runs the loop until the condition holds, and checks it at least every 5 ms. */
#define LOOPBACK_WAIT(loop, condition)                                                \
	do {                                                                          \
		rm_mono_t begun_ = rm_mono_now();                                     \
		struct rm_timer *tick_;                                               \
		bool held_ = false;                                                   \
		assert_int_equal(rm_timer_new(loop, loopback_tick, NULL, &tick_), 0); \
		while (!(held_ = (condition)) &&                                      \
		       rm_mono_since(rm_mono_now(), begun_) < LOOPBACK_PATIENCE_NS)   \
			loopback_turn(loop, tick_);                                   \
		rm_timer_free(tick_);                                                 \
		if (!held_)                                                           \
			fail_msg("did not become true: %s", #condition);              \
	} while (0)

/* Runs the loop for this time, to show that something does not happen. It wakes at
 * least every 5 ms, so that still_clock counts the time. Returns the number of
 * turns. */
static inline unsigned
loopback_run(struct rm_loop *loop, int64_t ns)
{
	rm_mono_t end = rm_mono_add(rm_mono_now(), ns);
	struct rm_timer *tick;
	unsigned turns = 0;

	assert_int_equal(rm_timer_new(loop, loopback_tick, NULL, &tick), 0);
	for (; rm_mono_since(end, rm_mono_now()) > 0; turns++) {
		rm_mono_t next = rm_mono_add(rm_mono_now(), 5 * RM_NS_PER_MS);

		rm_timer_at(tick, rm_mono_since(end, next) > 0 ? next : end);
		event_base_loop(rm_loop_base(loop), EVLOOP_ONCE);
	}
	rm_timer_free(tick);
	return turns;
}

#endif
