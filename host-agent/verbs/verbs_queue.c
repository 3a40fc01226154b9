#include "host-agent/verbs/verbs_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/packet/grh.h"
#include "host-agent/verbs/verbs_calls.h"

enum slot_state { SLOT_FREE, SLOT_POSTED, SLOT_TAKEN };

struct receive_slot {
	uint32_t life;
	enum slot_state state;
};

struct send_slot {
	uint32_t life;
	enum slot_state state;
	struct verbs_send send; /* a send request without data and address handle */
};

struct verbs_queue {
	struct verbs_queue_options options;
	struct ibv_qp *qp; /* NULL: the QP could not be created again */
	struct ibv_mr *mr;
	uint32_t max_inline;
	uint32_t life; /* generation of the slot when it was last posted */

	uint8_t *memory; /* receive buffers, then send buffers */
	size_t memory_bytes, receive_stride, send_stride;

	struct receive_slot *receives;
	uint16_t *unposted; /* stack */
	struct send_slot *sends;
	uint16_t *unsent; /* stack of the free slots */
	uint32_t unsent_count;
	struct verbs_queue_level level;
	bool low;
};

#define INLINE_BYTES 256 /* room for all small probes and replies */

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

/* Moves the QP from INIT to RTR to RTS. */
static int
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

/* Creates the QP and brings it up to INIT. */
static int
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
		/* the device supports less inline data, or none */
		attr.cap.max_inline_data = 0;
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

/* Ends the generation of all slots: they are free again, even if the device still uses
 * them. */
static void
verbs_queue_end_lives(struct verbs_queue *queue,
    void (*on_dropped)(const struct verbs_send *send, void *arg), void *arg)
{
	const struct verbs_queue_options *options = &queue->options;

	/* The stack gives the lowest slots first. */
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

	/* From here on, completions of earlier requests are ignored. */
	verbs_queue_end_lives(queue, on_dropped, arg);
	r = queue_reset(queue);
	if (r < 0) {
		verbs_queue_end_lives(queue, NULL, NULL);
		r = queue_recreate(queue);
	}
	queue->level.lowest = lowest;
	return r;
}

#define STRIDE 64 /* a cache line */
#define PAGE_BYTES 4096
#define REFILL_CHAIN 32
/* The level is low if less than 1 / LOW_SHARE of the buffers are posted. */
#define LOW_SHARE 8

#define WR_SEND (UINT64_C(1) << 63)
#define WR_QUEUE_SHIFT 48
#define WR_SLOT_SHIFT 32

static uint64_t
wr_make(const struct verbs_queue *queue, bool send, uint16_t slot, uint32_t life)
{
	return (send ? WR_SEND : 0) |
	       (uint64_t)queue->options.number << WR_QUEUE_SHIFT |
	       (uint64_t)slot << WR_SLOT_SHIFT | life;
}

static uint16_t
wr_slot(uint64_t wr_id)
{
	return (uint16_t)(wr_id >> WR_SLOT_SHIFT);
}

bool
verbs_wr_is_send(uint64_t wr_id)
{
	return wr_id & WR_SEND;
}

uint8_t
verbs_wr_queue(uint64_t wr_id)
{
	return (uint8_t)(wr_id >> WR_QUEUE_SHIFT);
}

static size_t
round_up(size_t bytes, size_t to)
{
	return (bytes + to - 1) / to * to;
}

static int
queue_allocate(struct verbs_queue *queue)
{
	const struct verbs_queue_options *options = &queue->options;
	void *memory;

	queue->receive_stride = round_up(GRH_BYTES + options->receive_bytes, STRIDE);
	queue->send_stride = round_up(options->send_bytes, STRIDE);
	queue->memory_bytes = round_up(options->receives * queue->receive_stride +
					   options->sends * queue->send_stride,
	    PAGE_BYTES);
	queue->receives = calloc(options->receives, sizeof(*queue->receives));
	queue->unposted = calloc(options->receives, sizeof(*queue->unposted));
	queue->sends = calloc(options->sends + 1, sizeof(*queue->sends));
	queue->unsent = calloc(options->sends + 1, sizeof(*queue->unsent));
	if (queue->receives == NULL || queue->unposted == NULL ||
	    queue->sends == NULL || queue->unsent == NULL)
		return -ENOMEM;
	if (posix_memalign(&memory, PAGE_BYTES, queue->memory_bytes) != 0)
		return -ENOMEM;
	queue->memory = memory;
	return 0;
}

int
verbs_queue_new(const struct verbs_queue_options *options, struct verbs_queue **ret,
    const char **step)
{
	struct verbs_queue *queue;
	int r;

	*step = "options";
	if (options->receives == 0 || options->receives > VERBS_QUEUE_MAX_SLOTS ||
	    options->sends > VERBS_QUEUE_MAX_SLOTS)
		return -EINVAL;
	*step = "memory";
	queue = calloc(1, sizeof(*queue));
	if (queue == NULL)
		return -ENOMEM;
	queue->options = *options;
	r = queue_allocate(queue);
	if (r < 0)
		goto out;
	verbs_queue_end_lives(queue, NULL, NULL);
	*step = "ibv_reg_mr";
	r = options->calls->reg_mr(
	    options->pd, queue->memory, queue->memory_bytes, &queue->mr);
	if (r < 0) {
		queue->mr = NULL;
		goto out;
	}
	r = verbs_queue_create_qp(queue, step);
	if (r < 0)
		goto out;
	*step = "ibv_post_recv";
	r = verbs_queue_refill(queue);
	if (r == 0)
		r = verbs_queue_rise(queue, step);
	if (r < 0)
		goto out;
	*ret = queue;
	return 0;
out:
	verbs_queue_free(queue, NULL, NULL);
	return r;
}

void
verbs_queue_free(struct verbs_queue *queue,
    void (*on_dropped)(const struct verbs_send *send, void *arg), void *arg)
{
	const struct verbs_calls *calls;
	bool leak = false;

	if (queue == NULL)
		return;
	calls = queue->options.calls;
	/* If the QP could not be destroyed, the device may still write to the
	 * memory. */
	if (queue->qp != NULL)
		leak = calls->destroy_qp(queue->qp) < 0;
	if (on_dropped != NULL && queue->sends != NULL)
		verbs_queue_end_lives(queue, on_dropped, arg);
	if (queue->mr != NULL && !leak)
		leak = calls->dereg_mr(queue->mr) < 0;
	if (!leak)
		free(queue->memory);
	free(queue->receives);
	free(queue->unposted);
	free(queue->sends);
	free(queue->unsent);
	free(queue);
}

uint32_t
verbs_queue_qpn(const struct verbs_queue *queue)
{
	return queue->qp != NULL ? queue->qp->qp_num : 0;
}

const struct ibv_qp *
verbs_queue_qp(const struct verbs_queue *queue)
{
	return queue->qp;
}

uint32_t
verbs_queue_receive_bytes(const struct verbs_queue *queue)
{
	return queue->options.receive_bytes;
}

/* ---- receiving ---- */

/* Returns NULL if the completion is from before the last reset, or belongs to no
 * request of this queue. */
static struct receive_slot *
receive_find(const struct verbs_queue *queue, uint64_t wr_id, enum slot_state state)
{
	uint16_t i = wr_slot(wr_id);
	struct receive_slot *slot;

	if (verbs_wr_is_send(wr_id) || i >= queue->options.receives)
		return NULL;
	slot = &queue->receives[i];
	return slot->state == state && slot->life == (uint32_t)wr_id ? slot : NULL;
}

static void
level_fell(struct verbs_queue *queue)
{
	struct verbs_queue_level *level = &queue->level;

	if (level->posted < level->lowest)
		level->lowest = level->posted;
	if (!queue->low && level->posted < queue->options.receives / LOW_SHARE) {
		queue->low = true;
		level->low++;
	}
	if (level->posted == 0)
		level->empty++;
}

uint8_t *
verbs_queue_take(struct verbs_queue *queue, uint64_t wr_id, bool arrived)
{
	struct receive_slot *slot = receive_find(queue, wr_id, SLOT_POSTED);

	if (slot == NULL)
		return NULL;
	slot->state = SLOT_TAKEN;
	queue->level.posted--;
	if (arrived)
		level_fell(queue);
	return queue->memory + wr_slot(wr_id) * queue->receive_stride;
}

bool
verbs_queue_holds(const struct verbs_queue *queue, uint64_t wr_id)
{
	return receive_find(queue, wr_id, SLOT_TAKEN) != NULL;
}

void
verbs_queue_give_back(struct verbs_queue *queue, uint64_t wr_id)
{
	struct receive_slot *slot = receive_find(queue, wr_id, SLOT_TAKEN);

	if (slot == NULL)
		return;
	slot->state = SLOT_FREE;
	queue->unposted[queue->level.unposted++] = wr_slot(wr_id);
}

/* Posts the n slots at the top of the stack. Returns how many the device accepted. */
static size_t
receive_post(struct verbs_queue *queue, size_t n, int *error)
{
	struct ibv_recv_wr wrs[REFILL_CHAIN], *bad = &wrs[0];
	struct ibv_sge sges[REFILL_CHAIN];
	size_t taken = n;

	for (size_t i = 0; i < n; i++) {
		uint16_t slot = queue->unposted[queue->level.unposted - 1 - i];

		queue->receives[slot].life = ++queue->life;
		sges[i] = (struct ibv_sge){ .addr = (uintptr_t)queue->memory +
						    slot * queue->receive_stride,
			.length = GRH_BYTES + queue->options.receive_bytes,
			.lkey = queue->mr->lkey };
		wrs[i] = (struct ibv_recv_wr){ .wr_id = wr_make(
						   queue, false, slot, queue->life),
			.next = i + 1 < n ? &wrs[i + 1] : NULL,
			.sg_list = &sges[i],
			.num_sge = 1 };
	}
	*error = queue->options.calls->post_recv(queue->qp, wrs, &bad);
	if (*error < 0)
		taken = bad >= wrs && bad < wrs + n ? (size_t)(bad - wrs) : 0;
	for (size_t i = 0; i < taken; i++)
		queue->receives[queue->unposted[--queue->level.unposted]].state =
		    SLOT_POSTED;
	queue->level.posted += (uint32_t)taken;
	return taken;
}

int
verbs_queue_refill(struct verbs_queue *queue)
{
	struct verbs_queue_level *level = &queue->level;
	int r = 0;

	if (queue->qp == NULL)
		return -ENOTCONN;
	while (level->unposted > 0 && r == 0)
		receive_post(queue,
		    level->unposted < REFILL_CHAIN ? level->unposted : REFILL_CHAIN,
		    &r);
	if (r < 0)
		level->refused++;
	if (level->posted >= queue->options.receives / 2)
		queue->low = false;
	return r;
}

void
verbs_queue_level(const struct verbs_queue *queue, struct verbs_queue_level *ret)
{
	*ret = queue->level;
}

/* ---- sending ---- */

int
verbs_queue_send(struct verbs_queue *queue, const struct verbs_send *send)
{
	size_t len = send->len + send->zeros;
	struct send_slot *slot;
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	uint16_t i;
	int r;

	if (len > queue->options.send_bytes)
		return -EMSGSIZE;
	if (queue->qp == NULL || queue->unsent_count == 0)
		return -EAGAIN;
	i = queue->unsent[queue->unsent_count - 1];
	slot = &queue->sends[i];
	sge =
	    (struct ibv_sge){ .addr = (uintptr_t)queue->memory +
				      queue->options.receives * queue->receive_stride +
				      i * queue->send_stride,
		    .length = (uint32_t)len,
		    .lkey = queue->mr->lkey };
	memcpy((void *)(uintptr_t)sge.addr, send->data, send->len);
	memset((uint8_t *)(uintptr_t)sge.addr + send->len, 0, send->zeros);
	slot->life = ++queue->life;
	wr = (struct ibv_send_wr){ .wr_id = wr_make(queue, true, i, slot->life),
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED |
			      (len <= queue->max_inline ? IBV_SEND_INLINE : 0),
		.wr.ud = { .ah = send->ah,
		    .remote_qpn = send->qpn,
		    .remote_qkey = VERBS_QUEUE_QKEY } };
	r = queue->options.calls->post_send(queue->qp, &wr);
	if (r < 0)
		return r;
	slot->send = *send;
	slot->send.data = NULL;
	slot->send.ah = NULL;
	slot->state = SLOT_POSTED;
	queue->unsent_count--;
	return 0;
}

bool
verbs_queue_sent(struct verbs_queue *queue, uint64_t wr_id, struct verbs_send *ret)
{
	uint16_t i = wr_slot(wr_id);
	struct send_slot *slot;

	if (!verbs_wr_is_send(wr_id) || i >= queue->options.sends)
		return false;
	slot = &queue->sends[i];
	if (slot->state != SLOT_POSTED || slot->life != (uint32_t)wr_id)
		return false;
	slot->state = SLOT_FREE;
	queue->unsent[queue->unsent_count++] = i;
	*ret = slot->send;
	return true;
}

bool
verbs_queue_full(const struct verbs_queue *queue)
{
	return queue->unsent_count == 0;
}
