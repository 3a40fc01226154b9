/*
 * verbs_queue - one UD queue pair with its receive buffers and send slots, all in one
 * registered piece of memory.
 *
 * A wr_id has direction, queue, slot and the generation (life) of the slot: a
 * completion of an earlier generation is recognised and ignored. Each buffer is either
 * posted, or with the caller that took it, or waiting to be posted again: none is ever
 * lost.
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
	uint8_t number;         /* part of its wr_ids */
	uint32_t receives;      /* buffers; at least 1 */
	uint32_t receive_bytes; /* of each, without the GRH */
	uint32_t sends;         /* slots; 0: it never sends */
	uint32_t send_bytes;
};

struct verbs_send {
	const uint8_t *data; /* copied */
	size_t len;
	size_t zeros; /* number of zero bytes that follow */
	struct ibv_ah *ah;
	uint32_t qpn;
	/* Returned with the completion. */
	uint64_t token;
	void *handle;
	uint8_t role;
};

/* The queue is ready to send and receive, with all its buffers posted. *step: the
 * call that failed, for the log. */
int verbs_queue_new(const struct verbs_queue_options *options, struct verbs_queue **ret,
    const char **step);
/* Free it before its CQs. Memory that the device did not release is leaked instead
 * of freed. on_dropped, if set, is called for every send not completed. NULL is
 * allowed. */
void verbs_queue_free(struct verbs_queue *queue,
    void (*on_dropped)(const struct verbs_send *send, void *arg), void *arg);

uint32_t verbs_queue_qpn(const struct verbs_queue *queue);
const struct ibv_qp *verbs_queue_qp(const struct verbs_queue *queue);
uint32_t verbs_queue_receive_bytes(const struct verbs_queue *queue);

/* ---- wr_ids -------------------------------------------------------------- */

bool verbs_wr_is_send(uint64_t wr_id);
/* Number of the queue; there may be no such queue. */
uint8_t verbs_wr_queue(uint64_t wr_id);

/* ---- receiving ------------------------------------------------------------ */

/* Takes the buffer of a completion: GRH_BYTES, then the message. NULL: from before
 * the last reset. The caller owns it until he returns it. arrived: the completion is
 * a success; flushed buffers are no sign of a flood. */
uint8_t *verbs_queue_take(struct verbs_queue *queue, uint64_t wr_id, bool arrived);
/* False: the queue was reset meanwhile, and the buffer is no longer the caller's. */
bool verbs_queue_holds(const struct verbs_queue *queue, uint64_t wr_id);
void verbs_queue_give_back(struct verbs_queue *queue, uint64_t wr_id);
/* Posts all buffers that were returned. Buffers that the device refuses wait for the
 * next call: -errno. */
int verbs_queue_refill(struct verbs_queue *queue);

struct verbs_queue_level {
	uint32_t posted; /* buffers that the NIC may fill */
	uint32_t unposted;
	uint32_t lowest;  /* lowest number of posted buffers so far */
	uint64_t low;     /* times that the number fell below an eighth */
	uint64_t empty;   /* times that no buffer was left */
	uint64_t refused; /* refills that failed */
};

void verbs_queue_level(const struct verbs_queue *queue, struct verbs_queue_level *ret);

/* ---- sending -------------------------------------------------------------- */

/* -EAGAIN: no slot is free; -EMSGSIZE; else the error of posting. Each send is
 * signalled. */
int verbs_queue_send(struct verbs_queue *queue, const struct verbs_send *send);

/* Frees the slot of a completion; *ret: token, handle and role. False: from before
 * the last reset. */
bool verbs_queue_sent(
    struct verbs_queue *queue, uint64_t wr_id, struct verbs_send *ret);
bool verbs_queue_full(const struct verbs_queue *queue); /* no slot is free */

/* ---- life ----------------------------------------------------------------- */

/* Asks the device: true if the QP can neither send nor receive any more. */
bool verbs_queue_broken(const struct verbs_queue *queue);
/* Moves the QP to the error state: all that is posted completes as flushed. */
int verbs_queue_stop(struct verbs_queue *queue);

/*
 * Resets the QP and brings it up again, with its number, else as a new QP. Begins a new
 * generation: completions still to come will be ignored, and on_dropped is called for
 * every send among them.
 */
int verbs_queue_revive(struct verbs_queue *queue,
    void (*on_dropped)(const struct verbs_send *send, void *arg), void *arg);

#endif
