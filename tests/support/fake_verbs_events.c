#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "rackmesh/core/clock.h"
#include "tests/support/fake_verbs_state.h"

#define MAX_EVENTS 256
#define MAX_COMPLETIONS 16384
/* Initial size; a full-sized queue would cost a fuzzer most of its time. */
#define FIRST_ROOM 32

static void
fd_count(int fd, uint64_t more)
{
	(void)!write(fd, &more, sizeof(more));
}

static int
fd_take(int fd, struct fake_device *device)
{
	uint64_t one;

	if (device->interruptions > 0) {
		device->interruptions--;
		return -EINTR;
	}
	return read(fd, &one, sizeof(one)) < 0 ? -errno : 0;
}

uint64_t
fake_clock(const struct fake_device *device)
{
	uint64_t cycles;

	if (device->clock != NULL)
		return device->clock(device);
	cycles = (uint64_t)rm_mono_now().ns / 1000 * device->clock_khz / 1000;
	return cycles & device->clock_mask;
}

/* ---- channels ------------------------------------------------------------------- */

int
fake_create_channel(struct ibv_context *context, struct ibv_comp_channel **ret)
{
	struct fake_channel *channel = calloc(1, sizeof(*channel));

	channel->events = calloc(MAX_EVENTS, sizeof(*channel->events));
	channel->base.context = context;
	channel->base.fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	fake_object(1);
	*ret = &channel->base;
	return 0;
}

int
fake_destroy_channel(struct ibv_comp_channel *base)
{
	struct fake_channel *channel = (struct fake_channel *)base;

	if (base->refcnt > 0)
		return -EBUSY;
	close(base->fd);
	free(channel->events);
	free(channel);
	fake_object(-1);
	return 0;
}

int
fake_get_event(struct ibv_comp_channel *base, struct ibv_cq **ret)
{
	struct fake_channel *channel = (struct fake_channel *)base;
	struct fake_context *context = (struct fake_context *)base->context;
	int r = context->removed ? -EIO : fd_take(base->fd, context->device);

	if (r < 0)
		return r;
	*ret = channel->events[0];
	memmove(&channel->events[0], &channel->events[1],
	    --channel->event_count * sizeof(channel->events[0]));
	((struct fake_cq *)*ret)->unacknowledged++;
	return 0;
}

void
fake_ack_events(struct ibv_cq *base, unsigned count)
{
	struct fake_cq *cq = (struct fake_cq *)base;

	if (count > cq->unacknowledged)
		fake_violate("more events acknowledged than taken");
	cq->unacknowledged -= count;
}

/* ---- completion queues ---- */

static struct fake_cq *
cq_new(struct ibv_context *base, struct ibv_comp_channel *channel)
{
	struct fake_cq *cq = calloc(1, sizeof(*cq));

	cq->context = (struct fake_context *)base;
	cq->base.context = base;
	cq->base.channel = channel;
	channel->refcnt++;
	fake_object(1);
	return cq;
}

int
fake_create_cq(struct ibv_context *context, int depth, struct ibv_comp_channel *channel,
    struct ibv_cq **ret)
{
	struct fake_device *device = ((struct fake_context *)context)->device;

	if (device->fail_create_cq != 0)
		return device->fail_create_cq;
	*ret = &cq_new(context, channel)->base;
	return 0;
}

int
fake_destroy_cq(struct ibv_cq *base)
{
	struct fake_cq *cq = (struct fake_cq *)base;

	if (cq->users > 0) {
		fake_violate("a CQ destroyed before its QPs");
		return -EBUSY;
	}
	if (cq->unacknowledged > 0)
		fake_violate("a CQ destroyed before its events were acknowledged");
	base->channel->refcnt--;
	free(cq->queue);
	free(cq);
	fake_object(-1);
	return 0;
}

int
fake_req_notify(struct ibv_cq *base)
{
	struct fake_cq *cq = (struct fake_cq *)base;
	const struct fake_device *device = cq->context->device;

	if (device->before_arming != NULL)
		device->before_arming(device->arg);
	cq->armed = true;
	return 0;
}

void
fake_cq_push(struct fake_cq *cq, const struct ibv_wc *wc)
{
	struct fake_channel *channel = (struct fake_channel *)cq->base.channel;

	if (cq->count == MAX_COMPLETIONS) {
		fake_violate("a CQ overflowed");
		return;
	}
	if (cq->count == cq->room) {
		cq->room = cq->room == 0 ? FIRST_ROOM : cq->room * 2;
		cq->queue = realloc(cq->queue, cq->room * sizeof(*cq->queue));
	}
	cq->queue[cq->count++] = (struct fake_completion){ .wc = *wc,
		.stamp = cq->wall ? (uint64_t)rm_wall_now().ns
				  : fake_clock(cq->context->device) };
	if (!cq->armed)
		return;
	cq->armed = false;
	if (channel->event_count == MAX_EVENTS)
		abort();
	channel->events[channel->event_count++] = &cq->base;
	fd_count(channel->base.fd, 1);
}

static bool
cq_pop(struct fake_cq *cq, struct fake_completion *ret)
{
	if (cq->count == 0)
		return false;
	*ret = cq->queue[0];
	memmove(&cq->queue[0], &cq->queue[1], --cq->count * sizeof(cq->queue[0]));
	return true;
}

int
fake_poll(struct ibv_cq *base, int max, struct ibv_wc *wcs)
{
	struct fake_cq *cq = (struct fake_cq *)base;
	struct fake_completion completion;
	int n = 0;

	if (cq->context->device->fail_poll != 0)
		return cq->context->device->fail_poll;
	while (n < max && cq_pop(cq, &completion))
		wcs[n++] = completion.wc;
	return n;
}

/* ---- with stamps ---- */

static int
ex_next(struct ibv_cq_ex *ex)
{
	struct fake_cq *cq = (struct fake_cq *)ex;

	if (!cq_pop(cq, &cq->current))
		return ENOENT;
	ex->wr_id = cq->current.wc.wr_id;
	ex->status = cq->current.wc.status;
	return 0;
}

static int
ex_start(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	return ex_next(ex);
}

static void
ex_end(struct ibv_cq_ex *ex)
{
}

static const struct ibv_wc *
ex_wc(struct ibv_cq_ex *ex)
{
	return &((struct fake_cq *)ex)->current.wc;
}

static enum ibv_wc_opcode
ex_opcode(struct ibv_cq_ex *ex)
{
	fake_violate("an opcode was asked for");
	return ex_wc(ex)->opcode;
}

static uint32_t
ex_vendor_err(struct ibv_cq_ex *ex)
{
	return ex_wc(ex)->vendor_err;
}

static uint32_t
ex_byte_len(struct ibv_cq_ex *ex)
{
	return ex_wc(ex)->byte_len;
}

static uint32_t
ex_src_qp(struct ibv_cq_ex *ex)
{
	return ex_wc(ex)->src_qp;
}

static unsigned
ex_flags(struct ibv_cq_ex *ex)
{
	return ex_wc(ex)->wc_flags;
}

static uint32_t
ex_slid(struct ibv_cq_ex *ex)
{
	return ex_wc(ex)->slid;
}

static uint8_t
ex_sl(struct ibv_cq_ex *ex)
{
	return ex_wc(ex)->sl;
}

static uint64_t
ex_stamp(struct ibv_cq_ex *ex)
{
	return ((struct fake_cq *)ex)->current.stamp;
}

int
fake_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *options,
    struct ibv_cq_ex **ret)
{
	struct fake_device *device = ((struct fake_context *)context)->device;
	bool wall = options->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	bool cycles = options->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	struct fake_cq *cq;

	if ((wall && !device->wall_stamps) || (cycles && !device->cycle_stamps))
		return -EOPNOTSUPP;
	cq = cq_new(context, options->channel);
	cq->wall = wall;
	cq->ex.start_poll = ex_start;
	cq->ex.next_poll = ex_next;
	cq->ex.end_poll = ex_end;
	cq->ex.read_opcode = ex_opcode;
	cq->ex.read_vendor_err = ex_vendor_err;
	cq->ex.read_byte_len = ex_byte_len;
	cq->ex.read_src_qp = ex_src_qp;
	cq->ex.read_wc_flags = ex_flags;
	cq->ex.read_slid = ex_slid;
	cq->ex.read_sl = ex_sl;
	cq->ex.read_completion_ts = cycles ? ex_stamp : NULL;
	cq->ex.read_completion_wallclock_ns = wall ? ex_stamp : NULL;
	*ret = &cq->ex;
	return 0;
}

/* ---- async events ---- */

static void
context_report(struct fake_context *context, const struct ibv_async_event *event)
{
	if (context->event_count == MAX_EVENTS)
		abort();
	if (context->events == NULL)
		context->events = calloc(MAX_EVENTS, sizeof(*context->events));
	context->events[context->event_count++] = *event;
	fd_count(context->base.async_fd, 1);
}

void
fake_verbs_event(struct fake_device *device, enum ibv_event_type type)
{
	struct ibv_async_event event = { .element.port_num = 1, .event_type = type };

	for (struct fake_context *c = device->contexts; c != NULL; c = c->next)
		context_report(c, &event);
}

void
fake_verbs_qp_event(struct fake_device *device, enum ibv_event_type type, uint32_t qpn)
{
	struct fake_qp *qp = fake_find_qp(device, qpn);
	struct ibv_async_event event = { .event_type = type };

	if (qp == NULL)
		return;
	event.element.qp = &qp->base;
	context_report(qp->context, &event);
}

void
fake_verbs_link(struct fake_device *device, bool up)
{
	device->state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
	fake_verbs_event(device, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR);
}

void
fake_verbs_remove(struct fake_device *device)
{
	for (struct fake_context *c = device->contexts; c != NULL; c = c->next) {
		c->removed = true;
		fd_count(c->base.async_fd, 1);
	}
}

int
fake_get_async(struct ibv_context *base, struct ibv_async_event *ret)
{
	struct fake_context *context = (struct fake_context *)base;
	int r = context->removed ? -EIO : fd_take(base->async_fd, context->device);

	if (r < 0)
		return r;
	*ret = context->events[0];
	memmove(&context->events[0], &context->events[1],
	    --context->event_count * sizeof(context->events[0]));
	return 0;
}

void
fake_ack_async(struct ibv_async_event *event)
{
}
