#include "host-agent/udp/port_udp_flow.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host-agent/udp/port_udp_burst.h"
#include "host-agent/udp/port_udp_socket.h"
#include "rackmesh/loop/loop.h"

#define BURSTS_PER_WAKEUP 4

static void
flow_note_drops(struct port_udp_flow *flow, uint32_t drops)
{
	int32_t more = (int32_t)(drops - flow->drops);

	/* A packet may have an older number of drops than an earlier packet. */
	if (more <= 0)
		return;
	flow->drops = drops;
	flow->shared->overruns[flow->role] += (uint32_t)more;
	flow->shared->counts.overruns += (uint32_t)more;
}

/* Returns the number of packets taken; fewer than PORT_BURST: the queue is empty. */
size_t
port_udp_flow_receive(struct port_udp_flow *flow)
{
	struct port_udp_shared *shared = flow->shared;
	struct port_arrival arrivals[PORT_BURST];
	struct port_udp_read read;
	int r = port_udp_burst_receive(shared->burst, flow->fd, arrivals, &read);

	if (r < 0) {
		if (r != -EAGAIN && r != -EINTR)
			shared->counts.socket_errors++;
		return 0;
	}
	if (read.has_drops)
		flow_note_drops(flow, read.drops);
	shared->counts.truncated += read.taken - read.arrivals;
	for (size_t i = 0; i < read.arrivals; i++)
		arrivals[i].local_port = flow->local_port;
	if (read.arrivals > 0 && shared->listening[flow->role])
		shared->events[flow->role].on_arrivals(
		    arrivals, read.arrivals, shared->events[flow->role].arg);
	return read.taken;
}

/* False: the stamp belongs to no known packet. */
static bool
flow_match(struct port_udp_flow *flow, const struct port_udp_stamp_read *stamp,
    struct port_departure *ret)
{
	struct port_counts *counts = &flow->shared->counts;
	size_t at = port_udp_stamps_payload(
	    stamp->packet, stamp->len, flow->family, flow->local_port);
	uint64_t key =
	    at == 0 ? 0 : port_udp_stamps_key(stamp->packet + at, stamp->len - at);

	ret->stamp_ns = stamp->stamp_ns;
	switch (port_udp_stamps_match(&flow->stamps, stamp->id, key, &ret->token)) {
	case PORT_UDP_MATCHED:
		return true;
	case PORT_UDP_RESYNCED:
		counts->stamps_resynced++;
		return true;
	default:
		counts->stamps_unmatched++;
		return false;
	}
}

size_t
port_udp_flow_read_stamps(struct port_udp_flow *flow)
{
	struct port_udp_shared *shared = flow->shared;
	struct port_udp_stamp_read stamps[PORT_BURST];
	struct port_departure departures[PORT_BURST];
	size_t count = 0;
	int n = port_udp_burst_stamps(shared->burst, flow->fd, stamps);

	if (n < 0) {
		if (n != -EAGAIN && n != -EINTR)
			shared->counts.socket_errors++;
		return 0;
	}
	for (int i = 0; i < n; i++) {
		if (!stamps[i].stamp)
			shared->counts.socket_errors++;
		else if (flow_match(flow, &stamps[i], &departures[count]))
			count++;
	}
	if (count > 0 && shared->listening[flow->role])
		shared->events[flow->role].on_departures(
		    departures, count, shared->events[flow->role].arg);
	return (size_t)n;
}

/*
 * libevent does not report whether data or the error queue woke the loop. Most stamps
 * are read right after the send, so it is usually data.
 */
static void
flow_on_event(evutil_socket_t fd, short what, void *arg)
{
	struct port_udp_flow *flow = arg;
	size_t taken = 0, stamps = 0;

	for (int i = 0; i < BURSTS_PER_WAKEUP; i++) {
		size_t n = port_udp_flow_receive(flow);

		taken += n;
		if (n < PORT_BURST)
			break;
	}
	if (taken == 0 || port_udp_stamps_waiting(&flow->stamps))
		stamps = port_udp_flow_read_stamps(flow);
	if (taken == 0 && stamps == 0) {
		int error;
		socklen_t len = sizeof(error);

		/* Reading the socket's error clears it: an error that stays would wake
		 * the loop for ever. */
		(void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	}
}

uint32_t
port_udp_flow_key(uint8_t family, uint16_t local_port)
{
	return (uint32_t)family << 16 | local_port;
}

int
port_udp_flow_new(struct port_udp_shared *shared, enum port_role role,
    const struct port_udp_binding *binding, struct port_udp_flow **ret)
{
	struct port_udp_flow *flow = calloc(1, sizeof(*flow));
	int r;

	if (flow == NULL)
		return -ENOMEM;
	flow->key = port_udp_flow_key(binding->address.family, binding->port);
	flow->shared = shared;
	flow->role = role;
	flow->family = binding->address.family;
	flow->local_port = binding->port;
	r = port_udp_socket_open(binding, &flow->fd);
	if (r < 0) {
		free(flow);
		return r;
	}
	flow->event = event_new(rm_loop_base(shared->loop), flow->fd,
	    EV_READ | EV_PERSIST, flow_on_event, flow);
	if (flow->event == NULL || event_add(flow->event, NULL) < 0) {
		port_udp_flow_free(flow);
		return -ENOMEM;
	}
	*ret = flow;
	return 0;
}

void
port_udp_flow_free(struct port_udp_flow *flow)
{
	if (flow == NULL)
		return;
	if (flow->event != NULL)
		event_free(flow->event);
	close(flow->fd);
	free(flow);
}

/* The first error may be an ICMP error of an earlier packet, which the kernel returns
 * at the next send without trying that send: so it is tried again. */
static int
flow_send_some(struct port_udp_flow *flow, size_t first)
{
	int n = port_udp_burst_send(flow->shared->burst, flow->fd, first);

	if (n != -ECONNREFUSED && n != -EHOSTUNREACH)
		return n;
	flow->shared->counts.socket_errors++;
	return port_udp_burst_send(flow->shared->burst, flow->fd, first);
}

void
port_udp_flow_send(
    struct port_udp_flow *flow, struct port_packet **packets, size_t count)
{
	struct port_udp_burst *burst = flow->shared->burst;
	rm_mono_t posted;
	size_t done = 0;

	for (size_t i = 0; i < count; i++)
		port_udp_burst_add(burst, packets[i]);
	posted = rm_mono_now();
	while (done < count) {
		int n = flow_send_some(flow, done);

		if (n == -EINTR)
			continue;
		if (n <= 0) {
			packets[done]->posted = posted;
			packets[done++]->error = n < 0 ? n : -EIO;
			continue;
		}
		for (size_t end = done + (size_t)n; done < end; done++) {
			struct port_packet *p = packets[done];

			p->posted = posted;
			p->error = 0;
			if (port_udp_stamps_add(&flow->stamps,
				port_udp_stamps_key(p->data, p->len), p->token))
				flow->shared->counts.stamps_missing++;
		}
	}
	port_udp_burst_clear(burst);
	if (port_udp_stamps_waiting(&flow->stamps))
		port_udp_flow_read_stamps(flow);
}

void
port_udp_flow_refresh_drops(struct port_udp_flow *flow)
{
	uint32_t drops;

	if (port_udp_socket_drops(flow->fd, &drops) == 0)
		flow_note_drops(flow, drops);
}
