#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/packet/grh.h"
#include "tests/support/fake_verbs_state.h"

#define RUBBISH 0x5a5a5a5a
#define HOPS 3
#define MAX_SLOTS 65536

static struct fake_cq *
receive_cq(const struct fake_qp *qp)
{
	return (struct fake_cq *)qp->base.recv_cq;
}

/* Only wr_id, status and vendor_err are defined, as with every provider. */
static void
complete_badly(struct fake_cq *cq, uint64_t wr_id, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	memset(&wc, 0x5a, sizeof(wc));
	wc.wr_id = wr_id;
	wc.status = status;
	/* Some providers report a flushed receive as a send. */
	wc.opcode = cq->count % 2 == 0 ? IBV_WC_SEND : (enum ibv_wc_opcode)RUBBISH;
	wc.vendor_err = 0xf5;
	fake_cq_push(cq, &wc);
}

static bool
receive_pop(struct fake_qp *qp, struct fake_receive *ret)
{
	if (qp->count == 0)
		return false;
	*ret = qp->receives[qp->first];
	qp->first = (qp->first + 1) % qp->cap.max_recv_wr;
	qp->count--;
	ret->mr->posted--;
	return true;
}

static void
fake_forget(struct fake_qp *qp)
{
	struct fake_receive receive;

	while (receive_pop(qp, &receive))
		;
	qp->held_count = 0;
}

static void
fake_flush(struct fake_qp *qp)
{
	struct fake_receive receive;

	while (receive_pop(qp, &receive))
		complete_badly(receive_cq(qp), receive.wr_id, IBV_WC_WR_FLUSH_ERR);
	for (size_t i = 0; i < qp->held_count; i++)
		complete_badly((struct fake_cq *)qp->base.send_cq, qp->held[i],
		    IBV_WC_WR_FLUSH_ERR);
	qp->held_count = 0;
}

void
fake_verbs_break(struct fake_device *device, uint32_t qpn)
{
	struct fake_qp *qp = fake_find_qp(device, qpn);

	if (qp == NULL)
		return;
	qp->base.state = IBV_QPS_ERR;
	fake_flush(qp);
}

bool
fake_verbs_is_broken(struct fake_device *device, uint32_t qpn)
{
	const struct fake_qp *qp = fake_find_qp(device, qpn);

	return qp == NULL || qp->base.state != IBV_QPS_RTS;
}

int
fake_post_recv(struct ibv_qp *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fake_qp *qp = (struct fake_qp *)base;
	struct fake_device *device = qp->context->device;

	for (; wr != NULL; wr = wr->next) {
		struct fake_mr *mr = fake_find_mr(wr->sg_list);

		*bad = wr;
		if (device->scarce && device->receives_left == 0)
			return -ENOMEM;
		if (base->state == IBV_QPS_RESET)
			return -EINVAL;
		if (qp->count == qp->cap.max_recv_wr)
			return -ENOMEM;
		if (mr == NULL) {
			fake_violate("a buffer posted that is not registered");
			return -EINVAL;
		}
		if (device->scarce)
			device->receives_left--;
		mr->posted++;
		qp->receives[(qp->first + qp->count++) % qp->cap.max_recv_wr] =
		    (struct fake_receive){ wr->wr_id, *wr->sg_list, mr };
		if (base->state == IBV_QPS_ERR)
			fake_flush(qp);
	}
	return 0;
}

static void
put_ipv4(uint8_t grh[GRH_BYTES], const struct ibv_ah_attr *attr, const uint8_t *src)
{
	uint8_t *header = grh + 20;
	uint32_t sum = 0;

	memset(grh, 0xa5, 20);
	memset(header, 0, 20);
	header[0] = 0x45;
	header[1] = attr->grh.traffic_class;
	header[8] = (uint8_t)(attr->grh.hop_limit - HOPS);
	header[9] = 17;
	memcpy(header + 12, src + 12, 4);
	memcpy(header + 16, attr->grh.dgid.raw + 12, 4);
	for (int i = 0; i < 20; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	header[10] = (uint8_t)(sum >> 8);
	header[11] = (uint8_t)sum;
}

static void
put_ipv6(uint8_t grh[GRH_BYTES], const struct ibv_ah_attr *attr, const uint8_t *src)
{
	uint8_t class = attr->grh.traffic_class;
	uint32_t label = attr->grh.flow_label;

	memset(grh, 0, GRH_BYTES);
	grh[0] = (uint8_t)(0x60 | class >> 4);
	grh[1] = (uint8_t)(class << 4 | (label >> 16 & 0x0f));
	grh[2] = (uint8_t)(label >> 8);
	grh[3] = (uint8_t)label;
	grh[7] = (uint8_t)(attr->grh.hop_limit - HOPS);
	memcpy(grh + 8, src, 16);
	memcpy(grh + 24, attr->grh.dgid.raw, 16);
}

bool
fake_verbs_arrive(struct fake_device *device, uint32_t qpn, const void *bytes,
    size_t len, const struct ibv_wc *wc)
{
	struct fake_qp *qp = fake_find_qp(device, qpn);
	struct fake_receive receive;
	struct ibv_wc whole = *wc;

	if (qp == NULL || qp->base.state < IBV_QPS_RTR ||
	    qp->base.state == IBV_QPS_ERR || !receive_pop(qp, &receive)) {
		device->dropped++;
		return false;
	}
	if (len > receive.sge.length)
		len = receive.sge.length;
	memcpy((void *)(uintptr_t)receive.sge.addr, bytes, len);
	whole.wr_id = receive.wr_id;
	fake_cq_push(receive_cq(qp), &whole);
	return true;
}

void
fake_verbs_complete(struct fake_device *device, uint32_t qpn, const struct ibv_wc *wc)
{
	struct fake_qp *qp = fake_find_qp(device, qpn);

	if (qp != NULL)
		fake_cq_push(receive_cq(qp), wc);
}

uint64_t
fake_verbs_next_receive(struct fake_device *device, uint32_t qpn)
{
	const struct fake_qp *qp = fake_find_qp(device, qpn);

	return qp == NULL || qp->count == 0 ? 0 : qp->receives[qp->first].wr_id;
}

size_t
fake_verbs_posted(struct fake_device *device, uint32_t qpn)
{
	const struct fake_qp *qp = fake_find_qp(device, qpn);

	return qp == NULL ? 0 : qp->count;
}

static struct fake_device *
device_at(const struct ibv_ah_attr *attr)
{
	for (struct fake_device *d = fake_devices; d != NULL; d = d->next) {
		if (!attr->is_global && d->lid == attr->dlid)
			return d;
		for (int i = 0; i < 2 && attr->is_global; i++)
			if (memcmp(d->gids[i], attr->grh.dgid.raw, 16) == 0)
				return d;
	}
	return NULL;
}

static void
deliver(struct fake_qp *from, const struct ibv_send_wr *wr)
{
	const struct ibv_ah_attr *attr = &((struct fake_ah *)wr->wr.ud.ah)->attr;
	const uint8_t *src = from->context->device->gids[attr->grh.sgid_index & 1];
	struct fake_device *to = device_at(attr);
	uint8_t message[GRH_BYTES + 4096];
	struct ibv_wc wc = { .src_qp = from->base.qp_num,
		.wc_flags = attr->is_global ? IBV_WC_GRH : 0,
		.slid = from->context->device->lid,
		.sl = attr->sl };

	if (to == NULL || to->state != IBV_PORT_ACTIVE)
		return;
	memset(message, 0xa5, GRH_BYTES);
	if (attr->is_global && attr->grh.dgid.raw[10] == 0xff)
		put_ipv4(message, attr, src);
	else if (attr->is_global)
		put_ipv6(message, attr, src);
	memcpy(message + GRH_BYTES, (void *)(uintptr_t)wr->sg_list->addr,
	    wr->sg_list->length);
	wc.byte_len = GRH_BYTES + wr->sg_list->length;
	wc.opcode = IBV_WC_RECV;
	fake_verbs_arrive(to, wr->wr.ud.remote_qpn, message, wc.byte_len, &wc);
}

int
fake_post_send(struct ibv_qp *base, struct ibv_send_wr *wr)
{
	struct fake_qp *qp = (struct fake_qp *)base;
	struct fake_device *device = qp->context->device;
	struct ibv_wc wc = { .wr_id = wr->wr_id, .opcode = IBV_WC_SEND };
	bool is_inline = wr->send_flags & IBV_SEND_INLINE;

	if (device->fail_post_send != 0)
		return device->fail_post_send;
	if (qp->held_count == qp->cap.max_send_wr)
		return -ENOMEM;
	if (is_inline && wr->sg_list->length > qp->cap.max_inline_data)
		fake_violate("more sent inline than the QP can");
	if (!is_inline && fake_find_mr(wr->sg_list) == NULL)
		fake_violate("a buffer sent that is not registered");
	if (wr->wr.ud.ah == NULL || wr->sg_list->length > 4096)
		return -EINVAL;
	device->sent++;
	device->inlined += is_inline;
	device->last_ah = ((struct fake_ah *)wr->wr.ud.ah)->attr;
	device->last_qpn = base->qp_num;
	qp->held[qp->held_count++] = wr->wr_id;
	if (base->state == IBV_QPS_ERR) {
		fake_flush(qp);
		return 0;
	}
	if (!device->drop)
		deliver(qp, wr);
	if (device->hold_sends)
		return 0;
	qp->held_count--;
	fake_cq_push((struct fake_cq *)base->send_cq, &wc);
	return 0;
}

void
fake_verbs_release(struct fake_device *device)
{
	for (struct fake_context *c = device->contexts; c != NULL; c = c->next)
		for (struct fake_qp *qp = c->qps; qp != NULL; qp = qp->next) {
			for (size_t i = 0; i < qp->held_count; i++)
				fake_cq_push((struct fake_cq *)qp->base.send_cq,
				    &(struct ibv_wc){
					.wr_id = qp->held[i], .opcode = IBV_WC_SEND });
			qp->held_count = 0;
		}
}

/* ---- QPs ---- */

int
fake_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *options, struct ibv_qp **ret)
{
	struct fake_context *context = (struct fake_context *)pd->context;
	struct fake_device *device = context->device;
	struct fake_qp *qp;

	if (device->fail_create_qp != 0)
		return device->fail_create_qp;
	if (options->cap.max_inline_data > device->max_inline ||
	    options->cap.max_recv_wr > MAX_SLOTS)
		return -EINVAL;
	qp = calloc(1, sizeof(*qp));
	qp->context = context;
	qp->cap = options->cap;
	qp->receives = calloc(options->cap.max_recv_wr, sizeof(*qp->receives));
	qp->held = calloc(options->cap.max_send_wr, sizeof(*qp->held));
	qp->base.context = pd->context;
	qp->base.qp_num = device->next_qpn++;
	qp->base.send_cq = options->send_cq;
	qp->base.recv_cq = options->recv_cq;
	qp->base.state = IBV_QPS_RESET;
	((struct fake_cq *)options->send_cq)->users++;
	((struct fake_cq *)options->recv_cq)->users++;
	qp->next = context->qps;
	context->qps = qp;
	fake_object(1);
	*ret = &qp->base;
	return 0;
}

int
fake_modify_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask)
{
	struct fake_qp *qp = (struct fake_qp *)base;
	enum ibv_qp_state from = base->state, to = attr->qp_state;
	int init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;

	if (to == IBV_QPS_RESET && qp->context->device->fail_reset != 0)
		return qp->context->device->fail_reset;
	if ((to == IBV_QPS_INIT && (from != IBV_QPS_RESET || mask != init)) ||
	    (to == IBV_QPS_RTR && from != IBV_QPS_INIT) ||
	    (to == IBV_QPS_RTS &&
		(from != IBV_QPS_RTR || mask != (IBV_QP_STATE | IBV_QP_SQ_PSN))))
		return -EINVAL;
	base->state = to;
	if (to == IBV_QPS_RESET)
		fake_forget(qp);
	else if (to == IBV_QPS_ERR)
		fake_flush(qp);
	return 0;
}

int
fake_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *ret, int mask)
{
	ret->qp_state = qp->state;
	return 0;
}

int
fake_destroy_qp(struct ibv_qp *base)
{
	struct fake_qp *qp = (struct fake_qp *)base, **at = &qp->context->qps;

	fake_forget(qp);
	((struct fake_cq *)base->send_cq)->users--;
	((struct fake_cq *)base->recv_cq)->users--;
	while (*at != qp)
		at = &(*at)->next;
	*at = qp->next;
	free(qp->receives);
	free(qp->held);
	free(qp);
	fake_object(-1);
	return 0;
}
