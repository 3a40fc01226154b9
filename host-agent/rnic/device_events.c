#include "host-agent/rnic/device_events.h"

#include <errno.h>
#include <event2/event.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rackmesh/core/netns.h"
#include "rackmesh/loop/loop.h"

/* The kernel's messages about a device have at most 2 KiB. */
#define MESSAGE_BYTES 8192
#define MESSAGES_AT_ONCE 64
#define UEVENT_KERNEL 1 /* multicast group of the kernel; udev sends to another one */

enum { LINKS, DEVICES, SOCKETS };

struct device_events {
	void (*on_change)(void *arg);
	void *arg;
	int fds[SOCKETS];
	struct event *readable[SOCKETS];
	uint64_t count;
};

bool
device_events_is_rdma(const char *data, size_t len)
{
	static const char key[] =
	    "SUBSYSTEM=infiniband"; /* also the beginning of "infiniband_verbs" */

	while (len > 0) {
		size_t part = strnlen(data, len);

		if (part >= sizeof(key) - 1 && memcmp(data, key, sizeof(key) - 1) == 0)
			return true;
		if (part == len)
			return false;
		data += part + 1;
		len -= part + 1;
	}
	return false;
}

/* Returns 1: the message is about a change; 0: it is not; < 0: there is no message. */
static int
read_one(int fd, bool devices)
{
	char data[MESSAGE_BYTES];
	struct sockaddr_nl from = { 0 };
	socklen_t from_len = sizeof(from);
	ssize_t n;

	n = recvfrom(
	    fd, data, sizeof(data), MSG_DONTWAIT, (struct sockaddr *)&from, &from_len);
	if (n < 0) /* the buffer overflowed, so any device may have changed */
		return errno == ENOBUFS ? 1 : errno == EINTR ? 0 : -errno;
	if (from.nl_pid != 0)
		return 0; /* the message is not from the kernel */
	return !devices || device_events_is_rdma(data, (size_t)n);
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct device_events *events = arg;
	bool changed = false;

	for (int i = 0; i < MESSAGES_AT_ONCE; i++) {
		int r = read_one(fd, fd == events->fds[DEVICES]);

		if (r < 0)
			break;
		events->count += (uint64_t)r;
		changed |= r > 0;
	}
	if (changed)
		events->on_change(events->arg);
}

static int
open_socket(int protocol, uint32_t groups)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = groups };
	int fd, r;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
	if (fd < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	r = -errno;
	close(fd);
	return r;
}

static int
open_links(void *arg)
{
	return open_socket(
	    NETLINK_ROUTE, RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR);
}

static int
open_sockets(struct device_events *events, const char *netns)
{
	int ns, r;

	r = rm_netns_open(netns, &ns);
	if (r < 0)
		return r;
	events->fds[LINKS] = rm_netns_call(ns, open_links, NULL);
	close(ns);
	if (events->fds[LINKS] < 0)
		return events->fds[LINKS];
	events->fds[DEVICES] = open_socket(NETLINK_KOBJECT_UEVENT, UEVENT_KERNEL);
	return events->fds[DEVICES] < 0 ? events->fds[DEVICES] : 0;
}

int
device_events_new(struct rm_loop *loop, const char *netns, void (*on_change)(void *arg),
    void *arg, struct device_events **ret)
{
	struct device_events *events = calloc(1, sizeof(*events));
	int r;

	if (events == NULL)
		return -ENOMEM;
	events->on_change = on_change;
	events->arg = arg;
	events->fds[LINKS] = events->fds[DEVICES] = -1;
	r = open_sockets(events, netns);
	for (int i = 0; i < SOCKETS && r == 0; i++) {
		events->readable[i] = event_new(rm_loop_base(loop), events->fds[i],
		    EV_READ | EV_PERSIST, on_readable, events);
		if (events->readable[i] == NULL ||
		    event_add(events->readable[i], NULL) < 0)
			r = -ENOMEM;
	}
	if (r < 0)
		device_events_free(events);
	else
		*ret = events;
	return r;
}

void
device_events_free(struct device_events *events)
{
	if (events == NULL)
		return;
	for (int i = 0; i < SOCKETS; i++) {
		if (events->readable[i] != NULL)
			event_free(events->readable[i]);
		if (events->fds[i] >= 0)
			close(events->fds[i]);
	}
	free(events);
}

const uint64_t *
device_events_count(const struct device_events *events)
{
	return &events->count;
}
