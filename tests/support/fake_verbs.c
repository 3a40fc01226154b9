#include "tests/support/fake_verbs.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/fake_verbs_state.h"

#define DEFAULT_MAX_INLINE 400

struct fake_device *fake_devices;
struct fake_mr *fake_mrs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* threads create AHs */
static size_t objects;
static const char *violation;

void
fake_object(int change)
{
	pthread_mutex_lock(&lock);
	objects += (size_t)change;
	pthread_mutex_unlock(&lock);
}

void
fake_violate(const char *what)
{
	if (violation == NULL)
		violation = what;
}

const char *
fake_verbs_violation(void)
{
	return violation;
}

size_t
fake_verbs_objects(void)
{
	size_t count;

	pthread_mutex_lock(&lock);
	count = objects;
	pthread_mutex_unlock(&lock);
	return count;
}

struct fake_device *
fake_verbs_add(const char *name, uint8_t host)
{
	struct fake_device *device = calloc(1, sizeof(*device));

	strncpy(device->name, name, sizeof(device->name) - 1);
	device->gids[0][10] = device->gids[0][11] = 0xff;
	device->gids[0][12] = 10;
	device->gids[0][15] = host;
	device->state = IBV_PORT_ACTIVE;
	device->mtu = IBV_MTU_4096;
	device->lid = host;
	device->clock_khz = 156250;
	device->clock_mask = (UINT64_C(1) << 48) - 1;
	device->max_inline = DEFAULT_MAX_INLINE;
	device->next_qpn = 0x11;
	device->next = fake_devices;
	fake_devices = device;
	return device;
}

size_t
fake_verbs_clear(void)
{
	size_t left = fake_verbs_objects();

	while (fake_devices != NULL) {
		struct fake_device *device = fake_devices;

		fake_devices = device->next;
		free(device);
	}
	objects = 0;
	violation = NULL;
	return left;
}

struct fake_qp *
fake_find_qp(const struct fake_device *device, uint32_t qpn)
{
	for (struct fake_context *c = device->contexts; c != NULL; c = c->next)
		for (struct fake_qp *qp = c->qps; qp != NULL; qp = qp->next)
			if (qp->base.qp_num == qpn)
				return qp;
	return NULL;
}

struct fake_mr *
fake_find_mr(const struct ibv_sge *sge)
{
	for (struct fake_mr *mr = fake_mrs; mr != NULL; mr = mr->next)
		if (mr->base.lkey == sge->lkey &&
		    sge->addr >= (uintptr_t)mr->base.addr &&
		    sge->addr + sge->length <=
			(uintptr_t)mr->base.addr + mr->base.length)
			return mr;
	return NULL;
}

/* ---- devices ---- */

static struct fake_context *
fake(struct ibv_context *context)
{
	return (struct fake_context *)context;
}

static int
fake_open(const char *name, struct ibv_context **ret)
{
	struct fake_device *device = fake_devices;
	struct fake_context *context;

	while (device != NULL && strcmp(device->name, name) != 0)
		device = device->next;
	if (device == NULL)
		return -ENODEV;
	if (device->fail_open != 0)
		return device->fail_open;
	context = calloc(1, sizeof(*context));
	context->device = device;
	context->base.async_fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	context->next = device->contexts;
	device->contexts = context;
	fake_object(1);
	*ret = &context->base;
	return 0;
}

static int
fake_close(struct ibv_context *base)
{
	struct fake_context *context = fake(base), **at;

	at = (struct fake_context **)&context->device->contexts;
	while (*at != context)
		at = &(*at)->next;
	*at = context->next;
	close(base->async_fd);
	free(context->events);
	free(context);
	fake_object(-1);
	return 0;
}

static int
fake_query_device(struct ibv_context *context, struct ibv_device_attr_ex *ret)
{
	const struct fake_device *device = fake(context)->device;

	memset(ret, 0, sizeof(*ret));
	ret->orig_attr.phys_port_cnt = 1;
	ret->orig_attr.max_qp_wr = 16384;
	ret->orig_attr.max_cqe = 65536;
	if (device->cycle_stamps) {
		ret->completion_timestamp_mask = device->clock_mask;
		ret->hca_core_clock = device->clock_khz;
	}
	return 0;
}

static int
fake_query_port(
    struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *ret)
{
	const struct fake_device *device = fake(context)->device;

	if (device->fail_query_port != 0)
		return device->fail_query_port;
	memset(ret, 0, sizeof(*ret));
	ret->state = device->state;
	ret->active_mtu = device->mtu;
	ret->max_mtu = IBV_MTU_4096;
	ret->lid = device->infiniband ? device->lid : 0;
	ret->link_layer =
	    device->infiniband ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
	return 0;
}

static int
fake_query_gid(
    struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *ret)
{
	if (index < 0 || index > 1)
		return -EINVAL;
	memcpy(ret->raw, fake(context)->device->gids[index], sizeof(ret->raw));
	return 0;
}

static int
fake_query_clock(struct ibv_context *context, uint64_t *cycles)
{
	if (!fake(context)->device->cycle_stamps)
		return -EOPNOTSUPP;
	*cycles = fake_clock(fake(context)->device);
	return 0;
}

/* ---- domains, memory, handles ---- */

static int
fake_alloc_pd(struct ibv_context *context, struct ibv_pd **ret)
{
	*ret = calloc(1, sizeof(**ret));
	(*ret)->context = context;
	fake_object(1);
	return 0;
}

static int
fake_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	fake_object(-1);
	return 0;
}

static int
fake_reg_mr(struct ibv_pd *pd, void *data, size_t len, struct ibv_mr **ret)
{
	static uint32_t last_key;
	struct fake_mr *mr;

	if (fake(pd->context)->device->fail_reg_mr != 0)
		return fake(pd->context)->device->fail_reg_mr;
	mr = calloc(1, sizeof(*mr));
	mr->base.addr = data;
	mr->base.length = len;
	mr->base.lkey = ++last_key;
	mr->next = fake_mrs;
	fake_mrs = mr;
	fake_object(1);
	*ret = &mr->base;
	return 0;
}

static int
fake_dereg_mr(struct ibv_mr *base)
{
	struct fake_mr *mr = (struct fake_mr *)base, **at = &fake_mrs;

	if (mr->posted > 0)
		fake_violate("memory deregistered that a QP may write to");
	while (*at != mr)
		at = &(*at)->next;
	*at = mr->next;
	free(mr);
	fake_object(-1);
	return 0;
}

static int
fake_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **ret)
{
	struct fake_device *device = fake(pd->context)->device;
	struct fake_ah *ah;

	if (attr->is_global && memcmp(device->dead_gid, attr->grh.dgid.raw,
				   sizeof(device->dead_gid)) == 0) {
		const struct timespec wait = { .tv_nsec = 1000000 };

		/* The test may shorten the time meanwhile. */
		for (int64_t ns = 0;
		     ns < __atomic_load_n(&device->dead_ns, __ATOMIC_RELAXED);
		     ns += wait.tv_nsec)
			nanosleep(&wait, NULL);
		return -ETIMEDOUT;
	}
	ah = calloc(1, sizeof(*ah));
	ah->attr = *attr;
	fake_object(1);
	pthread_mutex_lock(&lock);
	device->handles_made++;
	pthread_mutex_unlock(&lock);
	*ret = &ah->base;
	return 0;
}

static int
fake_destroy_ah(struct ibv_ah *ah)
{
	free(ah);
	fake_object(-1);
	return 0;
}

const struct verbs_calls fake_verbs_calls = {
	.open = fake_open,
	.close = fake_close,
	.query_device = fake_query_device,
	.query_port = fake_query_port,
	.query_gid = fake_query_gid,
	.query_clock = fake_query_clock,
	.alloc_pd = fake_alloc_pd,
	.dealloc_pd = fake_dealloc_pd,
	.reg_mr = fake_reg_mr,
	.dereg_mr = fake_dereg_mr,
	.create_channel = fake_create_channel,
	.destroy_channel = fake_destroy_channel,
	.create_cq = fake_create_cq,
	.create_cq_ex = fake_create_cq_ex,
	.destroy_cq = fake_destroy_cq,
	.req_notify = fake_req_notify,
	.get_event = fake_get_event,
	.ack_events = fake_ack_events,
	.poll = fake_poll,
	.create_qp = fake_create_qp,
	.modify_qp = fake_modify_qp,
	.query_qp = fake_query_qp,
	.destroy_qp = fake_destroy_qp,
	.post_send = fake_post_send,
	.post_recv = fake_post_recv,
	.create_ah = fake_create_ah,
	.destroy_ah = fake_destroy_ah,
	.get_async = fake_get_async,
	.ack_async = fake_ack_async,
};
