#include "host-agent/verbs/verbs_calls.h"

#include <errno.h>
#include <string.h>

/*
 * libibverbs reports errors in three forms: NULL and errno; an errno as the result; -1
 * and errno. Some providers mix the last two.
 */
static int
error_of(int value)
{
	if (value == 0)
		return 0;
	if (value > 0)
		return -value;
	return errno > 0 ? -errno : -EIO;
}

static int
error_of_null(void)
{
	return errno > 0 ? -errno : -EIO;
}

static int
real_open(const char *name, struct ibv_context **ret)
{
	struct ibv_device **devices;
	int count = 0, r = -ENODEV;

	errno = 0;
	devices = ibv_get_device_list(&count);
	if (devices == NULL)
		return error_of_null() == -ENOSYS ? -ENODEV : error_of_null();
	for (int i = 0; i < count; i++) {
		struct ibv_context *context;

		if (strcmp(ibv_get_device_name(devices[i]), name) != 0)
			continue;
		errno = 0;
		context = ibv_open_device(devices[i]);
		r = context == NULL ? error_of_null() : 0;
		if (context != NULL)
			*ret = context;
		break;
	}
	/* An open context holds a reference to its device. */
	ibv_free_device_list(devices);
	return r;
}

static int
real_close(struct ibv_context *context)
{
	return error_of(ibv_close_device(context));
}

static int
real_query_device(struct ibv_context *context, struct ibv_device_attr_ex *ret)
{
	return error_of(ibv_query_device_ex(context, NULL, ret));
}

static int
real_query_port(
    struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *ret)
{
	return error_of(ibv_query_port(context, port_num, ret));
}

static int
real_query_gid(
    struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *ret)
{
	return error_of(ibv_query_gid(context, port_num, index, ret));
}

static int
real_query_clock(struct ibv_context *context, uint64_t *cycles)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	int r = error_of(ibv_query_rt_values_ex(context, &values));

	if (r < 0)
		return r;
	if (!(values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK))
		return -EOPNOTSUPP;
	*cycles = (uint64_t)values.raw_clock.tv_sec * UINT64_C(1000000000) +
		  (uint64_t)values.raw_clock.tv_nsec;
	return 0;
}

static int
real_alloc_pd(struct ibv_context *context, struct ibv_pd **ret)
{
	errno = 0;
	*ret = ibv_alloc_pd(context);
	return *ret == NULL ? error_of_null() : 0;
}

static int
real_dealloc_pd(struct ibv_pd *pd)
{
	return error_of(ibv_dealloc_pd(pd));
}

static int
real_reg_mr(struct ibv_pd *pd, void *data, size_t len, struct ibv_mr **ret)
{
	errno = 0;
	*ret = ibv_reg_mr(pd, data, len, IBV_ACCESS_LOCAL_WRITE);
	return *ret == NULL ? error_of_null() : 0;
}

static int
real_dereg_mr(struct ibv_mr *mr)
{
	return error_of(ibv_dereg_mr(mr));
}

static int
real_create_channel(struct ibv_context *context, struct ibv_comp_channel **ret)
{
	errno = 0;
	*ret = ibv_create_comp_channel(context);
	return *ret == NULL ? error_of_null() : 0;
}

static int
real_destroy_channel(struct ibv_comp_channel *channel)
{
	return error_of(ibv_destroy_comp_channel(channel));
}

static int
real_create_cq(struct ibv_context *context, int depth, struct ibv_comp_channel *channel,
    struct ibv_cq **ret)
{
	errno = 0;
	*ret = ibv_create_cq(context, depth, NULL, channel, 0);
	return *ret == NULL ? error_of_null() : 0;
}

static int
real_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *options,
    struct ibv_cq_ex **ret)
{
	errno = 0;
	*ret = ibv_create_cq_ex(context, options);
	return *ret == NULL ? error_of_null() : 0;
}

static int
real_destroy_cq(struct ibv_cq *cq)
{
	return error_of(ibv_destroy_cq(cq));
}

static int
real_req_notify(struct ibv_cq *cq)
{
	return error_of(ibv_req_notify_cq(cq, 0));
}

static int
real_get_event(struct ibv_comp_channel *channel, struct ibv_cq **ret)
{
	void *arg;

	errno = 0;
	return error_of(ibv_get_cq_event(channel, ret, &arg));
}

static void
real_ack_events(struct ibv_cq *cq, unsigned count)
{
	ibv_ack_cq_events(cq, count);
}

static int
real_poll(struct ibv_cq *cq, int max, struct ibv_wc *wcs)
{
	int n = ibv_poll_cq(cq, max, wcs);

	return n < 0 ? -EIO : n;
}

static int
real_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *options, struct ibv_qp **ret)
{
	errno = 0;
	*ret = ibv_create_qp(pd, options);
	return *ret == NULL ? error_of_null() : 0;
}

static int
real_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	return error_of(ibv_modify_qp(qp, attr, mask));
}

static int
real_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *ret, int mask)
{
	struct ibv_qp_init_attr options;

	return error_of(ibv_query_qp(qp, ret, mask, &options));
}

static int
real_destroy_qp(struct ibv_qp *qp)
{
	return error_of(ibv_destroy_qp(qp));
}

static int
real_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return error_of(ibv_post_send(qp, wr, &bad));
}

static int
real_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return error_of(ibv_post_recv(qp, wr, bad));
}

static int
real_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **ret)
{
	errno = 0;
	*ret = ibv_create_ah(pd, attr);
	return *ret == NULL ? error_of_null() : 0;
}

static int
real_destroy_ah(struct ibv_ah *ah)
{
	return error_of(ibv_destroy_ah(ah));
}

static int
real_get_async(struct ibv_context *context, struct ibv_async_event *ret)
{
	errno = 0;
	return error_of(ibv_get_async_event(context, ret));
}

static void
real_ack_async(struct ibv_async_event *event)
{
	ibv_ack_async_event(event);
}

const struct verbs_calls verbs_calls_real = {
	.open = real_open,
	.close = real_close,
	.query_device = real_query_device,
	.query_port = real_query_port,
	.query_gid = real_query_gid,
	.query_clock = real_query_clock,
	.alloc_pd = real_alloc_pd,
	.dealloc_pd = real_dealloc_pd,
	.reg_mr = real_reg_mr,
	.dereg_mr = real_dereg_mr,
	.create_channel = real_create_channel,
	.destroy_channel = real_destroy_channel,
	.create_cq = real_create_cq,
	.create_cq_ex = real_create_cq_ex,
	.destroy_cq = real_destroy_cq,
	.req_notify = real_req_notify,
	.get_event = real_get_event,
	.ack_events = real_ack_events,
	.poll = real_poll,
	.create_qp = real_create_qp,
	.modify_qp = real_modify_qp,
	.query_qp = real_query_qp,
	.destroy_qp = real_destroy_qp,
	.post_send = real_post_send,
	.post_recv = real_post_recv,
	.create_ah = real_create_ah,
	.destroy_ah = real_destroy_ah,
	.get_async = real_get_async,
	.ack_async = real_ack_async,
};
