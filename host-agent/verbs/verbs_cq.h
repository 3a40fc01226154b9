/*
 * verbs_cq - one completion queue, with stamps of the NIC or without.
 *
 * If a completion is not a success, only its wr_id, status and vendor_error are valid.
 * The opcode is never used: wr_id identifies the request.
 */
#ifndef HOST_AGENT_VERBS_VERBS_CQ_H
#define HOST_AGENT_VERBS_VERBS_CQ_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

struct verbs_calls;

struct verbs_completion {
	uint64_t wr_id;
	/* raw cycles or ns of the wall clock, by the kind of queue; 0: the queue has no
	 * stamps */
	uint64_t stamp;
	enum ibv_wc_status status;
	uint32_t vendor_error;
	uint32_t byte_len; /* number of bytes, including the 40 bytes of the GRH */
	uint32_t src_qp;
	unsigned flags; /* enum ibv_wc_flags */
	uint16_t slid;
	uint8_t sl;
};

struct verbs_cq {
	const struct verbs_calls *calls;
	struct ibv_cq *cq;    /* NULL: not open */
	struct ibv_cq_ex *ex; /* the same queue, if it has stamps; else NULL */
	enum wire_stamp_source stamps;
};

/*
 * stamps: WIRE_STAMP_NIC and WIRE_STAMP_WALLCLOCK open a queue with such stamps, other
 * values a plain one. -EOPNOTSUPP, or another error: the device has no such stamps.
 */
int verbs_cq_open(struct verbs_cq *cq, const struct verbs_calls *calls,
    struct ibv_context *context, struct ibv_comp_channel *channel, int depth,
    enum wire_stamp_source stamps);
int verbs_cq_close(struct verbs_cq *cq);

/* Returns the number of completions, at most max, or -errno. */
int verbs_cq_poll(struct verbs_cq *cq, int max, struct verbs_completion *completions);

#endif
