/*
 * verbs_queue - one UD queue pair with its receive buffers and send slots, all in one
 * registered piece of memory.
 *
 * A wr_id names direction, queue, slot and the life of the slot: a completion whose
 * life is over is told apart and ignored. Buffers are either posted, or with whoever
 * took them, or waiting to be posted again: none is ever lost.
 */
#ifndef HOST_AGENT_VERBS_VERBS_QUEUE_H
#define HOST_AGENT_VERBS_VERBS_QUEUE_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct verbs_calls;
struct verbs_queue;

#define VERBS_QUEUE_QKEY 0x11524d51 /* the same everywhere; no secret */
#define VERBS_QUEUE_MAX_SLOTS 16384

struct verbs_queue_options {
	const struct verbs_calls *calls;
	struct ibv_pd *pd;
	struct ibv_cq *send_cq, *receive_cq;
	uint8_t port_num;
	uint8_t number;         /* in its wr_ids */
	uint32_t receives;      /* buffers; at least 1 */
	uint32_t receive_bytes; /* of each, without the GRH */
	uint32_t sends;         /* slots; 0: it never sends */
	uint32_t send_bytes;
};

struct verbs_send {
	const uint8_t *data; /* copied */
	size_t len;
	size_t zeros; /* so many zero bytes follow */
	struct ibv_ah *ah;
	uint32_t qpn;
	/* Kept for its completion. */
	uint64_t token;
	void *handle;
	uint8_t role;
};

/* It comes ready to send and receive, all its buffers posted. *step: the call that
 * failed, for the log. */
int verbs_queue_new(const struct verbs_queue_options *options, struct verbs_queue **ret,
    const char **step);
/* Before its CQs. What the device would not give back is leaked rather than freed.
 * on_dropped, if any, is told of every send not completed. NULL is fine. */
void verbs_queue_free(struct verbs_queue *queue,
    void (*on_dropped)(const struct verbs_send *send, void *arg), void *arg);

uint32_t verbs_queue_qpn(const struct verbs_queue *queue);
const struct ibv_qp *verbs_queue_qp(const struct verbs_queue *queue);
uint32_t verbs_queue_receive_bytes(const struct verbs_queue *queue);

/* ---- wr_ids -------------------------------------------------------------- */

bool verbs_wr_is_send(uint64_t wr_id);
uint8_t verbs_wr_queue(uint64_t wr_id); /* number; it may be of no queue at all */

/* ---- receiving ------------------------------------------------------------ */

/* Takes the buffer of a completion: GRH_BYTES, then the message. NULL: of a former
 * life. It is the caller's until he gives it back. arrived: the completion is a
 * success; what is flushed is no sign of a flood. */
uint8_t *verbs_queue_take(struct verbs_queue *queue, uint64_t wr_id, bool arrived);
/* False: its life has ended meanwhile, the buffer is no longer the caller's. */
bool verbs_queue_holds(const struct verbs_queue *queue, uint64_t wr_id);
void verbs_queue_give_back(struct verbs_queue *queue, uint64_t wr_id);
/* Posts all that came back. What the device refuses stays for the next time: -errno. */
int verbs_queue_refill(struct verbs_queue *queue);

struct verbs_queue_level {
	uint32_t posted; /* buffers that the NIC may fill */
	uint32_t unposted;
	uint32_t lowest;  /* posted, at worst */
	uint64_t low;     /* times that it fell below an eighth */
	uint64_t empty;   /* times that none was left */
	uint64_t refused; /* refills that failed */
};

void verbs_queue_level(const struct verbs_queue *queue, struct verbs_queue_level *ret);

/* ---- sending -------------------------------------------------------------- */

/* -EAGAIN: no slot is free; -EMSGSIZE; else what posting said. Always signalled. */
int verbs_queue_send(struct verbs_queue *queue, const struct verbs_send *send);

/* Frees the slot of a completion; *ret: token, handle and role. False: of a former
 * life. */
bool verbs_queue_sent(
    struct verbs_queue *queue, uint64_t wr_id, struct verbs_send *ret);
bool verbs_queue_full(const struct verbs_queue *queue); /* no slot is free */

/* ---- life ----------------------------------------------------------------- */

/* What the device says: true if it can neither send nor receive any more. */
bool verbs_queue_broken(const struct verbs_queue *queue);
/* To the error state: all that is posted completes, flushed. */
int verbs_queue_stop(struct verbs_queue *queue);

/*
 * Through RESET and up again, with its number, else as a new QP. Ends all lives: what
 * is still to complete will be ignored, and on_dropped is told of every send among it.
 */
int verbs_queue_revive(struct verbs_queue *queue,
    void (*on_dropped)(const struct verbs_send *send, void *arg), void *arg);

#endif
