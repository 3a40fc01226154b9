#include <errno.h>
#include <event2/event.h>

#include "host-agent/verbs/port_verbs_state.h"
#include "host-agent/verbs/verbs_calls.h"
#include "rackmesh/loop/loop.h"

#define EVENTS_PER_WAKEUP 64
#define BURSTS_PER_WAKEUP 4
#define CQS (1 + PORT_ROLES)

void
port_verbs_again(struct port_verbs *port)
{
	rm_timer_after(port->again, 0);
}

/* A fixed share; what is left comes in the next turn of the loop. Replies first: T6 is
 * taken when they are handed over. */
static void
port_turn(struct port_verbs *port)
{
	bool more = false;

	port_verbs_take_sent(port);
	for (int role = 0; role < PORT_ROLES; role++)
		port_verbs_take(port, (enum port_role)role);
	for (int role = 0; role < PORT_ROLES; role++)
		for (int i = 0; i < BURSTS_PER_WAKEUP; i++)
			if (port_verbs_deliver(port, (enum port_role)role) < PORT_BURST)
				break;
	for (int role = 0; role < PORT_ROLES; role++)
		more |= port->receives[role].count > 0;
	port_verbs_refill(port);
	if (more && port->gone == 0)
		port_verbs_again(port);
}

static struct verbs_cq *
port_cq(struct port_verbs *port, int i)
{
	return i < PORT_ROLES ? &port->receives[i].cq : &port->sends;
}

/* What was sent is looked at with the next send, unless its stamp is wanted: a wake-up
 * for each would cost more than the sending. */
static bool
port_wants_events(const struct port_verbs *port, int i)
{
	return i < PORT_ROLES || port->stamps != WIRE_STAMP_USER;
}

/* All events of the channel are taken and acknowledged: one that is not would keep its
 * queue from ever being destroyed. */
static int
port_take_events(struct port_verbs *port, unsigned events[CQS])
{
	for (int i = 0; i < EVENTS_PER_WAKEUP; i++) {
		struct ibv_cq *cq;
		int r = port->calls->get_event(port->channel, &cq);

		if (r == -EINTR)
			continue;
		if (r < 0)
			return r == -EAGAIN ? 0 : r;
		for (int j = 0; j < CQS; j++)
			if (port_cq(port, j)->cq == cq)
				events[j]++;
	}
	return 0; /* the fd is still readable: it wakes us again */
}

/* Armed first, emptied then: what completes in between is found, what comes after
 * wakes us. */
static void
port_on_channel(evutil_socket_t fd, short what, void *arg)
{
	struct port_verbs *port = arg;
	unsigned events[CQS] = { 0 };
	int r = port_take_events(port, events);

	for (int i = 0; i < CQS; i++) {
		struct ibv_cq *cq = port_cq(port, i)->cq;

		if (events[i] == 0)
			continue;
		port->calls->ack_events(cq, events[i]);
		if (r == 0 && port_wants_events(port, i))
			r = port->calls->req_notify(cq);
	}
	if (r < 0)
		port_verbs_fail(port, r);
	else
		port_turn(port);
}

static void
port_on_async(evutil_socket_t fd, short what, void *arg)
{
	struct port_verbs *port = arg;

	for (int i = 0; i < EVENTS_PER_WAKEUP && port->gone == 0; i++) {
		struct ibv_async_event event;
		int r = port->calls->get_async(port->domain->context, &event);

		if (r == -EINTR)
			continue;
		if (r == -EAGAIN)
			return;
		if (r < 0) { /* what a device that was taken away says */
			port_verbs_fail(port, r);
			return;
		}
		port_verbs_on_async(port, &event);
		port->calls->ack_async(&event);
	}
}

static void
port_on_again(void *arg)
{
	port_turn(arg);
}

static void
port_on_repair(void *arg)
{
	port_verbs_repair(arg);
}

static void
port_on_notice(void *arg)
{
	port_verbs_tell(arg); /* last use: the owner may free the port */
}

static void
port_on_patience(void *arg)
{
	port_verbs_send_waiting(arg);
}

static void
port_on_watch(void *arg)
{
	struct port_verbs *port = arg;

	rm_timer_after(port->watch, RM_NS_PER_S);
	port_verbs_watch_clock(port);
	port_turn(port); /* buffers that the device refused, sends that failed */
}

static int
port_wire_fd(struct port_verbs *port, int fd, event_callback_fn fn, struct event **ret)
{
	*ret = event_new(rm_loop_base(port->loop), fd, EV_READ | EV_PERSIST, fn, port);
	if (*ret == NULL || event_add(*ret, NULL) < 0)
		return -ENOMEM;
	return 0;
}

int
port_verbs_wire(struct port_verbs *port)
{
	int r;

	r = rm_timer_new(port->loop, port_on_again, port, &port->again);
	if (r == 0)
		r = rm_timer_new(port->loop, port_on_repair, port, &port->repair);
	if (r == 0)
		r = rm_timer_new(port->loop, port_on_notice, port, &port->notice);
	if (r == 0)
		r = rm_timer_new(port->loop, port_on_patience, port, &port->patience);
	if (r == 0)
		r = rm_timer_new(port->loop, port_on_watch, port, &port->watch);
	if (r == 0)
		r = port_wire_fd(
		    port, port->channel->fd, port_on_channel, &port->channel_event);
	if (r == 0)
		r = port_wire_fd(port, port->domain->context->async_fd, port_on_async,
		    &port->async_event);
	for (int i = 0; r == 0 && i < CQS; i++)
		if (port_wants_events(port, i))
			r = port->calls->req_notify(port_cq(port, i)->cq);
	if (r < 0)
		return r;
	port_verbs_again(port); /* what arrived before the queues were armed */
	rm_timer_after(port->watch, RM_NS_PER_S);
	return 0;
}

static void
event_drop(struct event **event)
{
	if (*event != NULL)
		event_free(*event);
	*event = NULL;
}

void
port_verbs_quiet(struct port_verbs *port)
{
	event_drop(&port->channel_event);
	event_drop(&port->async_event);
	rm_timer_stop(port->again);
	rm_timer_stop(port->repair);
	rm_timer_stop(port->patience);
	rm_timer_stop(port->watch);
}

/* Events that were told but not taken are lost with the channel; those taken are all
 * acknowledged. */
void
port_verbs_unwire(struct port_verbs *port)
{
	event_drop(&port->channel_event);
	event_drop(&port->async_event);
	rm_timer_free(port->again);
	rm_timer_free(port->repair);
	rm_timer_free(port->notice);
	rm_timer_free(port->patience);
	rm_timer_free(port->watch);
}
