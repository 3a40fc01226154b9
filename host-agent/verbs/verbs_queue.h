/*
 * verbs_queue - one UD queue pair with its receive buffers and send slots, all in one
 * registered piece of memory.
 *
 * A wr_id has the direction, the queue, the slot and the generation (life) of the slot,
 * so a completion of an earlier generation is recognised and ignored. At any time each
 * buffer is posted, or belongs to the caller that took it, or waits to be posted again.
 */
#ifndef HOST_AGENT_VERBS_VERBS_QUEUE_H
#define HOST_AGENT_VERBS_VERBS_QUEUE_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct verbs_calls;
struct verbs_queue;

#define VERBS_QUEUE_QKEY 0x11524d51 /* the same on all hosts; not secret */
#define VERBS_QUEUE_MAX_SLOTS 16384

struct verbs_queue_options {
	const struct verbs_calls *calls;
	struct ibv_pd *pd;
	struct ibv_cq *send_cq, *receive_cq;
	uint8_t port_num;
	uint8_t number;         /* number of this queue in its wr_ids */
	uint32_t receives;      /* number of receive buffers, at least 1 */
	uint32_t receive_bytes; /* bytes of each receive buffer, without the GRH */
	uint32_t sends;         /* number of send slots; 0: the queue never sends */
	uint32_t send_bytes;
};

struct verbs_send {
	const uint8_t *data; /* copied */
	size_t len;
	size_t zeros; /* number of zero bytes that follow */
	struct ibv_ah *ah;
	uint32_t qpn;
	/* Returned by verbs_queue_sent. */
	uint64_t token;
	void *handle;
	uint8_t role;
};

/* *ret can send and receive, and all its buffers are posted. On failure *step is the
 * call that failed, for the log. */
int verbs_queue_new(const struct verbs_queue_options *options, struct verbs_queue **ret,
    const char **step);
/* Free a queue before its CQs. Memory that the device may still use is leaked.
 * on_dropped: called for each send that has not completed; NULL is allowed. */
void verbs_queue_free(struct verbs_queue *queue,
    void (*on_dropped)(const struct verbs_send *send, void *arg), void *arg);

uint32_t verbs_queue_qpn(const struct verbs_queue *queue);
const struct ibv_qp *verbs_queue_qp(const struct verbs_queue *queue);
uint32_t verbs_queue_receive_bytes(const struct verbs_queue *queue);

/* ---- wr_ids -------------------------------------------------------------- */

bool verbs_wr_is_send(uint64_t wr_id);
/* Number of the queue in a wr_id; no queue may have that number. */
uint8_t verbs_wr_queue(uint64_t wr_id);

/* ---- receiving ------------------------------------------------------------ */

/* Takes the buffer of a completion: GRH_BYTES, then the message. It belongs to the
 * caller until verbs_queue_give_back. NULL: the completion is from before the last
 * reset. arrived: the completion is a success (others are returned buffers, which do
 * not count for the level). */
uint8_t *verbs_queue_take(struct verbs_queue *queue, uint64_t wr_id, bool arrived);
/* False: the queue was reset, and the buffer does not belong to the caller any more. */
bool verbs_queue_holds(const struct verbs_queue *queue, uint64_t wr_id);
void verbs_queue_give_back(struct verbs_queue *queue, uint64_t wr_id);
/* Posts all buffers that were given back. If the device refuses some (-errno), they
 * wait for the next call. */
int verbs_queue_refill(struct verbs_queue *queue);

struct verbs_queue_level {
	uint32_t posted; /* buffers that the NIC can fill */
	uint32_t unposted;
	uint32_t lowest;  /* smallest number of posted buffers so far */
	uint64_t low;     /* times that less than an eighth of the buffers was posted */
	uint64_t empty;   /* times that no buffer was posted */
	uint64_t refused; /* calls of verbs_queue_refill that failed */
};

void verbs_queue_level(const struct verbs_queue *queue, struct verbs_queue_level *ret);

/* ---- sending -------------------------------------------------------------- */

/* -EAGAIN: no slot is free; -EMSGSIZE: the message is larger than a slot; else the
 * error of posting. Each send gives a completion. */
int verbs_queue_send(struct verbs_queue *queue, const struct verbs_send *send);

/* Frees the slot of a completion, and returns token, handle and role of the send.
 * False: the completion is from before the last reset. */
bool verbs_queue_sent(
    struct verbs_queue *queue, uint64_t wr_id, struct verbs_send *ret);
bool verbs_queue_full(const struct verbs_queue *queue); /* True: no slot is free. */

/* ---- creation and end ---- */

/* Asks the device for the state of the QP. True: it can neither send nor receive. */
bool verbs_queue_broken(const struct verbs_queue *queue);
/* Moves the QP to the error state, in which all requests complete as flushed. */
int verbs_queue_stop(struct verbs_queue *queue);

/*
 * Resets the QP, which keeps its number if possible; else a new QP replaces it.
 * Completions still to come are ignored, and on_dropped is called for each send among
 * them.
 */
int verbs_queue_revive(struct verbs_queue *queue,
    void (*on_dropped)(const struct verbs_send *send, void *arg), void *arg);

#endif
