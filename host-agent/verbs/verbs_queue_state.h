/*
 * verbs_queue_state - what the files of verbs_queue share.
 */
#ifndef HOST_AGENT_VERBS_VERBS_QUEUE_STATE_H
#define HOST_AGENT_VERBS_VERBS_QUEUE_STATE_H

#include "host-agent/verbs/verbs_calls.h"
#include "host-agent/verbs/verbs_queue.h"

enum slot_state { SLOT_FREE, SLOT_POSTED, SLOT_TAKEN };

struct receive_slot {
	uint32_t life;
	enum slot_state state;
};

struct send_slot {
	uint32_t life;
	enum slot_state state;
	struct verbs_send send; /* data and address handle not kept */
};

struct verbs_queue {
	struct verbs_queue_options options;
	struct ibv_qp *qp; /* NULL: lost, to be made anew */
	struct ibv_mr *mr;
	uint32_t max_inline;
	uint32_t life; /* of the slot posted last */

	uint8_t *memory; /* buffers to receive into, then buffers to send from */
	size_t memory_bytes, receive_stride, send_stride;

	struct receive_slot *receives;
	uint16_t *unposted; /* stack */
	struct send_slot *sends;
	uint16_t *unsent; /* stack of the free ones */
	uint32_t unsent_count;
	struct verbs_queue_level level;
	bool low;
};

/* Creates the QP and brings it up to INIT. */
int verbs_queue_create_qp(struct verbs_queue *queue, const char **step);
/* INIT -> RTR -> RTS. */
int verbs_queue_rise(struct verbs_queue *queue, const char **step);
/* Every slot is free again, whatever the device still does with it. */
void verbs_queue_end_lives(struct verbs_queue *queue,
    void (*on_dropped)(const struct verbs_send *send, void *arg), void *arg);

#endif
