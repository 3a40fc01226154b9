/*
 * verbs_calls - a table of the libibverbs functions that the agent uses.
 *
 * All other files call verbs through it, so that tests can use a provider of their own:
 * one that has hardware clocks, fails, and counts its objects. All functions return 0
 * or -errno, whatever convention libibverbs has for the call. Completion queues with
 * stamps (struct ibv_cq_ex) have functions of their own for polling.
 */
#ifndef HOST_AGENT_VERBS_VERBS_CALLS_H
#define HOST_AGENT_VERBS_VERBS_CALLS_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

struct verbs_calls {
	/* -ENODEV: there is no device of that name. */
	int (*open)(const char *device, struct ibv_context **ret);
	int (*close)(struct ibv_context *context);
	int (*query_device)(
	    struct ibv_context *context, struct ibv_device_attr_ex *ret);
	int (*query_port)(
	    struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *ret);
	int (*query_gid)(struct ibv_context *context, uint8_t port_num, int index,
	    union ibv_gid *ret);
	int (*query_clock)(struct ibv_context *context, uint64_t *cycles);

	int (*alloc_pd)(struct ibv_context *context, struct ibv_pd **ret);
	int (*dealloc_pd)(struct ibv_pd *pd);
	/* The memory has local write access, for receiving and for sending. */
	int (*reg_mr)(struct ibv_pd *pd, void *data, size_t len, struct ibv_mr **ret);
	int (*dereg_mr)(struct ibv_mr *mr);

	int (*create_channel)(
	    struct ibv_context *context, struct ibv_comp_channel **ret);
	int (*destroy_channel)(struct ibv_comp_channel *channel);
	int (*create_cq)(struct ibv_context *context, int depth,
	    struct ibv_comp_channel *channel, struct ibv_cq **ret);
	int (*create_cq_ex)(struct ibv_context *context,
	    struct ibv_cq_init_attr_ex *options, struct ibv_cq_ex **ret);
	int (*destroy_cq)(struct ibv_cq *cq);
	int (*req_notify)(struct ibv_cq *cq);
	/* -EAGAIN: there is no event. Every event must be acknowledged: else destroying
	 * the queue blocks. */
	int (*get_event)(struct ibv_comp_channel *channel, struct ibv_cq **ret);
	void (*ack_events)(struct ibv_cq *cq, unsigned count);
	/* Returns the number of completions. */
	int (*poll)(struct ibv_cq *cq, int max, struct ibv_wc *wcs);

	int (*create_qp)(
	    struct ibv_pd *pd, struct ibv_qp_init_attr *options, struct ibv_qp **ret);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *ret, int mask);
	int (*destroy_qp)(struct ibv_qp *qp);
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr);
	/* *bad: the first request of the chain that was not accepted. */
	int (*post_recv)(
	    struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

	/* It may block for a second: call it only in a thread. */
	int (*create_ah)(
	    struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **ret);
	int (*destroy_ah)(struct ibv_ah *ah);

	/* -EAGAIN: no event. */
	int (*get_async)(struct ibv_context *context, struct ibv_async_event *ret);
	void (*ack_async)(struct ibv_async_event *event);
};

extern const struct verbs_calls verbs_calls_real; /* libibverbs */

#endif
