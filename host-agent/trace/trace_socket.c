#include "host-agent/trace/trace_socket.h"

#include <errno.h>
#include <event2/event.h>
#include <netinet/icmp6.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/icmp.h>

#include "host-agent/udp/port_udp_socket.h"
#include "rackmesh/core/netns.h"
#include "rackmesh/core/random.h"
#include "rackmesh/loop/loop.h"

#define FAMILIES 2
#define ANSWERS_PER_WAKEUP 64
/* a switch may quote the whole packet; its start is enough */
#define ANSWER_MAX_BYTES 2048
#define RECEIVE_BYTES (256 << 10)

struct side { /* one family */
	struct trace_socket *port;
	uint8_t family; /* 0: this family is not used */
	int out, in;
	struct event *event;
	uint32_t drops;
};

struct trace_socket {
	struct side sides[FAMILIES];
	uint64_t secret; /* secret of the packets of this family */
	struct trace_socket_counts *counts;
	trace_socket_on_answer *on_answer;
	void *arg;
};

struct open_call {
	const struct trace_socket_options *options;
	const struct wire_address *address;
	int out, in; /* results: the two fds */
};

static int
set_option(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) < 0 ? -errno : 0;
}

static int
bind_to(int fd, const char *device)
{
	if (device == NULL || device[0] == 0)
		return 0;
	return setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device,
		   (socklen_t)strlen(device)) < 0
		   ? -errno
		   : 0;
}

/* Passes only those ICMP messages that answer traces. */
static int
filter(int fd, bool v4)
{
	if (v4) {
		struct icmp_filter pass = { ~(
		    1u << ICMP_TIME_EXCEEDED | 1u << ICMP_DEST_UNREACH) };

		return setsockopt(fd, SOL_RAW, ICMP_FILTER, &pass, sizeof(pass)) < 0
			   ? -errno
			   : 0;
	} else {
		struct icmp6_filter pass;

		ICMP6_FILTER_SETBLOCKALL(&pass);
		ICMP6_FILTER_SETPASS(ICMP6_TIME_EXCEEDED, &pass);
		ICMP6_FILTER_SETPASS(ICMP6_DST_UNREACH, &pass);
		return setsockopt(
			   fd, IPPROTO_ICMPV6, ICMP6_FILTER, &pass, sizeof(pass)) < 0
			   ? -errno
			   : 0;
	}
}

static int
open_one(const struct open_call *call, int protocol)
{
	bool v4 = call->address->family == 4;
	union port_udp_address own;
	socklen_t len = port_udp_address_from_wire(call->address, 0, &own);
	int fd, r;

	fd = socket(
	    v4 ? AF_INET : AF_INET6, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
	if (fd < 0)
		return -errno;
	r = bind_to(fd, call->options->device);
	if (r == 0 && bind(fd, &own.any, len) < 0)
		r = -errno;
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

/* IPPROTO_RAW: the agent writes the headers, and the socket receives nothing. */
static int
open_here(void *arg)
{
	struct open_call *call = arg;
	bool v4 = call->address->family == 4;
	int r;

	call->out = open_one(call, IPPROTO_RAW);
	if (call->out < 0)
		return call->out;
	call->in = open_one(call, v4 ? IPPROTO_ICMP : IPPROTO_ICMPV6);
	r = call->in;
	if (r >= 0)
		r = filter(call->in, v4);
	if (r == 0)
		r = set_option(call->in, SOL_SOCKET, SO_RCVBUF, RECEIVE_BYTES);
	if (r == 0)
		r = set_option(call->in, SOL_SOCKET, SO_RXQ_OVFL, 1);
	/* the kernel writes IPv6 headers itself without this option */
	if (r == 0 && !v4)
		r = set_option(call->out, SOL_IPV6, IPV6_HDRINCL, 1);
	if (r == 0)
		return 0;
	if (call->in >= 0)
		close(call->in);
	close(call->out);
	return r;
}

static void
note_drops(struct side *side, struct msghdr *msg)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL;
	     c = CMSG_NXTHDR(msg, c)) {
		uint32_t drops;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_RXQ_OVFL)
			continue;
		memcpy(&drops, CMSG_DATA(c), sizeof(drops));
		side->port->counts->overruns += drops - side->drops;
		side->drops = drops;
	}
}

static void
take(struct side *side, const union port_udp_address *from, const uint8_t *data,
    size_t len)
{
	struct trace_socket *port = side->port;
	struct trace_answer answer;
	struct wire_address sender;
	int r;

	port_udp_address_to_wire(from, &sender);
	port->counts->received++;
	r = trace_answer_parse(side->family, &sender, data, len, port->secret, &answer);
	if (r == 0)
		port->on_answer(&answer, port->arg);
	else if (r == -ENOENT)
		port->counts->unrelated++;
	else
		port->counts->malformed++;
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct side *side = arg;

	for (int i = 0; i < ANSWERS_PER_WAKEUP; i++) {
		uint8_t data[ANSWER_MAX_BYTES];
		union {
			struct cmsghdr align;
			uint8_t bytes[CMSG_SPACE(sizeof(uint32_t))];
		} control;
		union port_udp_address from = { .any.sa_family = AF_UNSPEC };
		struct iovec room = { data, sizeof(data) };
		struct msghdr msg = { .msg_name = &from,
			.msg_namelen = sizeof(from),
			.msg_iov = &room,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control) };
		ssize_t len = recvmsg(fd, &msg, 0);

		if (len < 0)
			return;
		note_drops(side, &msg);
		take(side, &from, data, (size_t)len);
	}
}

static int
open_side(struct trace_socket *port, struct side *side, struct rm_loop *loop,
    const struct trace_socket_options *options, int netns_fd,
    const struct wire_address *address)
{
	struct open_call call = { options, address, -1, -1 };
	int r = rm_netns_call(netns_fd, open_here, &call);

	if (r < 0)
		return r;
	side->port = port;
	side->family = address->family;
	side->out = call.out;
	side->in = call.in;
	side->event = event_new(
	    rm_loop_base(loop), side->in, EV_READ | EV_PERSIST, on_readable, side);
	return side->event == NULL || event_add(side->event, NULL) < 0 ? -ENOMEM : 0;
}

int
trace_socket_new(struct rm_loop *loop, const struct trace_socket_options *options,
    struct trace_socket_counts *counts, trace_socket_on_answer *on_answer, void *arg,
    struct trace_socket **ret)
{
	struct trace_socket *port = calloc(1, sizeof(*port));
	int netns_fd, r;

	if (port == NULL)
		return -ENOMEM;
	port->secret = rm_random_u64();
	port->counts = counts;
	port->on_answer = on_answer;
	port->arg = arg;
	r = rm_netns_open(options->netns, &netns_fd);
	if (r < 0) {
		free(port);
		return r;
	}
	for (size_t i = 0; i < FAMILIES && r == 0; i++) {
		if (options->addresses[i].family != 0)
			r = open_side(port, &port->sides[i], loop, options, netns_fd,
			    &options->addresses[i]);
	}
	close(netns_fd);
	if (r < 0)
		trace_socket_free(port);
	else
		*ret = port;
	return r;
}

void
trace_socket_free(struct trace_socket *port)
{
	if (port == NULL)
		return;
	for (size_t i = 0; i < FAMILIES; i++) {
		struct side *side = &port->sides[i];

		if (side->family == 0)
			continue;
		if (side->event != NULL)
			event_free(side->event);
		close(side->in);
		close(side->out);
	}
	free(port);
}

int
trace_socket_send(struct trace_socket *port, const struct trace_flow *flow, uint8_t ttl,
    uint16_t token)
{
	uint8_t packet[TRACE_PACKET_MAX_BYTES];
	size_t len = trace_packet_build(flow, ttl, token, port->secret, packet);

	for (size_t i = 0; i < FAMILIES; i++) {
		const struct side *side = &port->sides[i];
		union port_udp_address to;
		socklen_t to_len;

		if (side->family == 0 || side->family != flow->dst.family)
			continue;
		/* A raw socket has no port. */
		to_len = port_udp_address_from_wire(&flow->dst, 0, &to);
		if (sendto(side->out, packet, len, MSG_DONTWAIT, &to.any, to_len) < 0)
			return -errno;
		return 0;
	}
	return -EAFNOSUPPORT;
}
