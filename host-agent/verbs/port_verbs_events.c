#include <errno.h>
#include <event2/event.h>
#include <string.h>

#include "host-agent/verbs/port_verbs_state.h"
#include "host-agent/verbs/verbs_calls.h"
#include "rackmesh/loop/loop.h"

#define REPAIR_GAP_NS (200 * RM_NS_PER_MS) /* least time between two attempts */
/* Attempts in a row; the pause doubles after each failure. After the last attempt the
 * port has failed. */
#define REPAIRS 6

static void port_verbs_quiet(struct port_verbs *port);

static void
notice_soon(struct port_verbs *port)
{
	rm_timer_after(port->notice, 0);
}

static void
renumbered(struct port_verbs *port)
{
	port->report_renumbered = true;
	notice_soon(port);
}

/* Makes one report only, because the owner may free the port in the callback. */
static void
port_verbs_report(struct port_verbs *port)
{
	const struct port_verbs_events *events = &port->events;
	bool link = port->report_link;
	bool numbers = !link && port->report_renumbered;
	bool gone = !link && !numbers && port->report_gone;

	port->report_link = false;
	if (numbers)
		port->report_renumbered = false;
	if (gone)
		port->report_gone = false;
	if (port->report_renumbered || port->report_gone)
		notice_soon(port);
	if (link && events->on_link != NULL)
		events->on_link(port->link_up, events->arg);
	else if (numbers && events->on_renumbered != NULL)
		events->on_renumbered(events->arg);
	else if (gone && events->on_gone != NULL)
		events->on_gone(port->gone, events->arg);
}

void
port_verbs_fail(struct port_verbs *port, int reason)
{
	if (port->gone != 0)
		return;
	port->gone = reason;
	port->link_up = false;
	port_verbs_quiet(port);
	port_verbs_drop_waiting(port);
	port->report_gone = true;
	notice_soon(port);
}

/* ---- queues ---- */

void
port_verbs_suspect(struct port_verbs *port, struct port_verbs_queue *queue)
{
	int64_t since = rm_mono_since(rm_mono_now(), port->repaired);

	if (port->gone != 0 || queue->suspect)
		return;
	queue->suspect = true;
	if (port->repairs_failed > 0)
		return; /* the timer of the next attempt is armed already */
	rm_timer_after(
	    port->repair, since >= REPAIR_GAP_NS ? 0 : REPAIR_GAP_NS - since);
}

static int
queue_repair(struct port_verbs *port, struct port_verbs_queue *queue)
{
	int r;

	queue->flushed = false;
	if (!queue->lost && !verbs_queue_broken(queue->queue))
		return 0;
	r = verbs_queue_revive(queue->queue, port_verbs_drop_sent, port);
	queue->lost = r < 0;
	if (r < 0)
		return r;
	if (verbs_queue_qpn(queue->queue) == queue->qpn) {
		port->counts.reset++;
		return 0;
	}
	port->counts.rebuilt++;
	port_verbs_number(port, queue);
	renumbered(port);
	return 0;
}

static void
port_verbs_repair(struct port_verbs *port)
{
	int error = 0;

	port->repaired = rm_mono_now();
	/* First delivers the packets that arrived before the reset. */
	for (int role = 0; role < PORT_ROLES; role++)
		(void)port_drain(&port->base, (enum port_role)role);
	if (port->gone != 0)
		return;
	for (size_t i = 0; i < port->queue_count; i++) {
		struct port_verbs_queue *queue = &port->queues[i];
		int r = 0;

		if (!queue->suspect)
			continue;
		queue->suspect = false;
		r = queue_repair(port, queue);
		if (r == 0)
			continue;
		queue->suspect = true;
		error = r;
	}
	port_verbs_again(port);
	if (error == 0) {
		port->repairs_failed = 0;
	} else if (++port->repairs_failed > REPAIRS) {
		port_verbs_fail(port, error);
	} else {
		rm_timer_after(port->repair, REPAIR_GAP_NS << port->repairs_failed);
	}
}

/* ---- events of the device ---- */

/* Reads the present state of the port: an event only shows that something has
 * changed. */
static void
port_look(struct port_verbs *port)
{
	struct ibv_port_attr attr = { 0 };
	bool was_up = port->link_up;
	uint32_t mtu_bytes = port->mtu_bytes;
	uint16_t lid = port->lid;
	int r = port->calls->query_port(
	    port->domain->context, port->options.port_num, &attr);

	if (r < 0) {
		port_verbs_fail(port, r);
		return;
	}
	port_verbs_read_port(port, &attr);
	if (port->link_up && port->mtu_bytes != mtu_bytes) {
		/* The receive buffers have the size of the old MTU. */
		port_verbs_fail(port, -ESTALE);
		return;
	}
	port->mtu_bytes = mtu_bytes;
	if (port->lid != lid) {
		port_verbs_forget_handles(port);
		renumbered(port);
	}
	if (port->link_up == was_up)
		return;
	port->report_link = true;
	notice_soon(port);
	if (!port->link_up) {
		port_verbs_drop_waiting(port);
		return;
	}
	/* after a change of the network the handles may have wrong MACs */
	port_verbs_forget_handles(port);
	for (size_t i = 0; i < port->queue_count; i++)
		port_verbs_suspect(port, &port->queues[i]);
}

void
port_verbs_check_lid(struct port_verbs *port)
{
	if (port->options.lid != 0 && port->options.lid != port->lid)
		renumbered(port);
}

static void
port_look_at_gids(struct port_verbs *port)
{
	bool changed = false;

	for (int i = 0; i < PORT_VERBS_GIDS; i++) {
		union ibv_gid gid;

		if (port->options.gids[i].address.family == 0)
			continue;
		if (port->calls->query_gid(port->domain->context,
			port->options.port_num, port->options.gids[i].index,
			&gid) < 0 ||
		    memcmp(gid.raw, port->options.gids[i].gid, sizeof(gid.raw)) != 0)
			changed = true;
	}
	if (!changed)
		return;
	port_verbs_forget_handles(port);
	renumbered(port);
}

static void
port_suspect_qp(struct port_verbs *port, const struct ibv_qp *qp)
{
	for (size_t i = 0; i < port->queue_count; i++)
		if (verbs_queue_qp(port->queues[i].queue) == qp)
			port_verbs_suspect(port, &port->queues[i]);
}

static void
port_verbs_on_async(struct port_verbs *port, const struct ibv_async_event *event)
{
	bool ours = event->element.port_num == port->options.port_num;

	switch (event->event_type) {
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
		if (ours)
			port_look(port);
		break;
	case IBV_EVENT_GID_CHANGE:
		if (ours)
			port_look_at_gids(port);
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		port_suspect_qp(port, event->element.qp);
		break;
	case IBV_EVENT_DEVICE_FATAL:
	/* completions were lost, so the port does not work any more */
	case IBV_EVENT_CQ_ERR:
		port_verbs_fail(port, -EIO);
		break;
	default:
		break;
	}
}

#define EVENTS_PER_WAKEUP 64
#define BURSTS_PER_WAKEUP 4
#define CQS (1 + PORT_ROLES)

void
port_verbs_again(struct port_verbs *port)
{
	rm_timer_after(port->again, 0);
}

/* Handles a fixed number of packets; the rest follows in the next turn of the loop.
 * Replies come first, since T6 is the time of their delivery. */
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

/* Completions of sends are read at the next send: an event for each would cost more
 * than the send. Events are needed only if a completion has the stamp. */
static bool
port_wants_events(const struct port_verbs *port, int i)
{
	return i < PORT_ROLES || port->stamps != WIRE_STAMP_USER;
}

/* Takes and acknowledges all events of the channel. An event that is not acknowledged
 * would block the destruction of its queue for ever. */
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
	return 0; /* The fd is still readable, and wakes the loop again. */
}

/* Arms the queues before it drains them: so a completion in between is drained, and a
 * later one wakes the loop. */
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
		if (r < 0) { /* a removed device returns such an error */
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
	port_verbs_report(arg); /* last use: the owner may free the port */
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
	/* Once a second: posts buffers that the device has refused, and takes
	 * completions of sends that have failed. */
	port_turn(port);
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
	/* Packets may have arrived before the queues were armed. */
	port_verbs_again(port);
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

/* Stops all events of a device that was removed. */
static void
port_verbs_quiet(struct port_verbs *port)
{
	event_drop(&port->channel_event);
	event_drop(&port->async_event);
	rm_timer_stop(port->again);
	rm_timer_stop(port->repair);
	rm_timer_stop(port->patience);
	rm_timer_stop(port->watch);
}

/* Acknowledges all events that were taken; events that were not taken end with the
 * channel. */
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
