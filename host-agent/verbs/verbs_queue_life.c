#include <errno.h>
#include <string.h>

#include "host-agent/verbs/verbs_queue_state.h"

#define INLINE_BYTES 256 /* all small probes and replies */

static int
queue_modify(struct verbs_queue *queue, enum ibv_qp_state state,
    struct ibv_qp_attr *attr, int mask)
{
	attr->qp_state = state;
	return queue->options.calls->modify_qp(queue->qp, attr, mask | IBV_QP_STATE);
}

static int
queue_to_init(struct verbs_queue *queue)
{
	struct ibv_qp_attr attr = { .pkey_index = 0,
		.port_num = queue->options.port_num,
		.qkey = VERBS_QUEUE_QKEY };

	return queue_modify(
	    queue, IBV_QPS_INIT, &attr, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
}

int
verbs_queue_rise(struct verbs_queue *queue, const char **step)
{
	struct ibv_qp_attr attr = { 0 };
	int r;

	*step = "ibv_modify_qp to RTR";
	r = queue_modify(queue, IBV_QPS_RTR, &attr, 0);
	if (r < 0)
		return r;
	*step = "ibv_modify_qp to RTS";
	return queue_modify(queue, IBV_QPS_RTS, &attr, IBV_QP_SQ_PSN);
}

int
verbs_queue_create_qp(struct verbs_queue *queue, const char **step)
{
	const struct verbs_queue_options *options = &queue->options;
	struct ibv_qp_init_attr attr = { .send_cq = options->send_cq,
		.recv_cq = options->receive_cq,
		.cap = { .max_send_wr = options->sends > 0 ? options->sends : 1,
		    .max_recv_wr = options->receives,
		    .max_send_sge = 1,
		    .max_recv_sge = 1,
		    .max_inline_data = options->sends > 0 ? INLINE_BYTES : 0 },
		.qp_type = IBV_QPT_UD,
		.sq_sig_all = 0 };
	int r;

	*step = "ibv_create_qp";
	r = options->calls->create_qp(options->pd, &attr, &queue->qp);
	if (r == -EINVAL && attr.cap.max_inline_data > 0) {
		attr.cap.max_inline_data = 0; /* the device has less, or none */
		r = options->calls->create_qp(options->pd, &attr, &queue->qp);
	}
	if (r < 0) {
		queue->qp = NULL;
		return r;
	}
	queue->max_inline = attr.cap.max_inline_data;
	*step = "ibv_modify_qp to INIT";
	return queue_to_init(queue);
}

void
verbs_queue_end_lives(struct verbs_queue *queue,
    void (*on_dropped)(const struct verbs_send *send, void *arg), void *arg)
{
	const struct verbs_queue_options *options = &queue->options;

	/* Lowest slots on top: they are used first. */
	for (uint32_t i = 0; i < options->receives; i++) {
		queue->receives[i].state = SLOT_FREE;
		queue->unposted[i] = (uint16_t)(options->receives - 1 - i);
	}
	queue->level.unposted = options->receives;
	queue->level.posted = 0;
	queue->level.lowest = options->receives;
	queue->low = false;
	for (uint32_t i = 0; i < options->sends; i++) {
		if (queue->sends[i].state != SLOT_FREE && on_dropped != NULL)
			on_dropped(&queue->sends[i].send, arg);
		queue->sends[i].state = SLOT_FREE;
		queue->unsent[i] = (uint16_t)(options->sends - 1 - i);
	}
	queue->unsent_count = options->sends;
}

bool
verbs_queue_broken(const struct verbs_queue *queue)
{
	struct ibv_qp_attr attr = { 0 };

	if (queue->qp == NULL)
		return true;
	if (queue->options.calls->query_qp(queue->qp, &attr, IBV_QP_STATE) < 0)
		return true;
	return attr.qp_state != IBV_QPS_RTS;
}

int
verbs_queue_stop(struct verbs_queue *queue)
{
	struct ibv_qp_attr attr = { 0 };

	if (queue->qp == NULL)
		return 0;
	return queue_modify(queue, IBV_QPS_ERR, &attr, 0);
}

static int
queue_reset(struct verbs_queue *queue)
{
	struct ibv_qp_attr attr = { 0 };
	const char *step;
	int r;

	if (queue->qp == NULL)
		return -ENOTCONN;
	r = queue_modify(queue, IBV_QPS_RESET, &attr, 0);
	if (r == 0)
		r = queue_to_init(queue);
	if (r == 0)
		r = verbs_queue_refill(queue);
	if (r == 0)
		r = verbs_queue_rise(queue, &step);
	return r;
}

static int
queue_recreate(struct verbs_queue *queue)
{
	const char *step;
	int r;

	if (queue->qp != NULL) {
		r = queue->options.calls->destroy_qp(queue->qp);
		if (r < 0)
			return r;
		queue->qp = NULL;
	}
	r = verbs_queue_create_qp(queue, &step);
	if (r == 0)
		r = verbs_queue_refill(queue);
	if (r == 0)
		r = verbs_queue_rise(queue, &step);
	return r;
}

int
verbs_queue_revive(struct verbs_queue *queue,
    void (*on_dropped)(const struct verbs_send *send, void *arg), void *arg)
{
	uint32_t lowest = queue->level.lowest;
	int r;

	/* From here on a completion of what was posted before is of a former life. */
	verbs_queue_end_lives(queue, on_dropped, arg);
	r = queue_reset(queue);
	if (r < 0) {
		verbs_queue_end_lives(queue, NULL, NULL);
		r = queue_recreate(queue);
	}
	queue->level.lowest = lowest;
	return r;
}
