#include "host-agent/verbs/verbs_cq.h"

#include <errno.h>

#include "host-agent/verbs/verbs_calls.h"

#define POLL_BATCH 32
#define FIELDS                                                                   \
	(IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_SLID | \
	    IBV_WC_EX_WITH_SL)

int
verbs_cq_open(struct verbs_cq *cq, const struct verbs_calls *calls,
    struct ibv_context *context, struct ibv_comp_channel *channel, int depth,
    enum wire_stamp_source stamps)
{
	struct ibv_cq_init_attr_ex options = {
		.cqe = (uint32_t)depth, .channel = channel, .wc_flags = FIELDS
	};
	int r;

	*cq = (struct verbs_cq){ .calls = calls, .stamps = stamps };
	if (stamps == WIRE_STAMP_NIC)
		options.wc_flags |= IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	else if (stamps == WIRE_STAMP_WALLCLOCK)
		options.wc_flags |= IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	else
		return calls->create_cq(context, depth, channel, &cq->cq);
	r = calls->create_cq_ex(context, &options, &cq->ex);
	if (r < 0) {
		cq->ex = NULL;
		return r;
	}
	cq->cq = ibv_cq_ex_to_cq(cq->ex);
	return 0;
}

int
verbs_cq_close(struct verbs_cq *cq)
{
	int r = 0;

	if (cq->cq != NULL)
		r = cq->calls->destroy_cq(cq->cq);
	cq->cq = NULL;
	cq->ex = NULL;
	return r;
}

static void
read_stamped(struct verbs_cq *cq, struct verbs_completion *completion)
{
	struct ibv_cq_ex *ex = cq->ex;

	*completion =
	    (struct verbs_completion){ .wr_id = ex->wr_id, .status = ex->status };
	if (ex->status != IBV_WC_SUCCESS) {
		completion->vendor_error = ibv_wc_read_vendor_err(ex);
		return;
	}
	completion->byte_len = ibv_wc_read_byte_len(ex);
	completion->src_qp = ibv_wc_read_src_qp(ex);
	completion->flags = ibv_wc_read_wc_flags(ex);
	completion->slid = (uint16_t)ibv_wc_read_slid(ex);
	completion->sl = ibv_wc_read_sl(ex);
	completion->stamp = cq->stamps == WIRE_STAMP_NIC
				? ibv_wc_read_completion_ts(ex)
				: ibv_wc_read_completion_wallclock_ns(ex);
}

/* A poll starts with the first completion. It must be ended only if there was one. */
static int
poll_stamped(struct verbs_cq *cq, int max, struct verbs_completion *completions)
{
	struct ibv_poll_cq_attr attr = { 0 };
	int n = 0, value = ibv_start_poll(cq->ex, &attr);

	if (value != 0)
		return value == ENOENT ? 0 : -EIO;
	do {
		read_stamped(cq, &completions[n++]);
		value = n < max ? ibv_next_poll(cq->ex) : ENOENT;
	} while (value == 0);
	ibv_end_poll(cq->ex);
	return n; /* the next poll returns the same error */
}

static int
poll_plain(struct verbs_cq *cq, int max, struct verbs_completion *completions)
{
	struct ibv_wc wcs[POLL_BATCH];
	int n = cq->calls->poll(cq->cq, max < POLL_BATCH ? max : POLL_BATCH, wcs);

	for (int i = 0; i < n; i++) {
		completions[i] = (struct verbs_completion){ .wr_id = wcs[i].wr_id,
			.status = wcs[i].status,
			.vendor_error = wcs[i].vendor_err };
		if (wcs[i].status != IBV_WC_SUCCESS)
			continue;
		completions[i].byte_len = wcs[i].byte_len;
		completions[i].src_qp = wcs[i].src_qp;
		completions[i].flags = wcs[i].wc_flags;
		completions[i].slid = wcs[i].slid;
		completions[i].sl = wcs[i].sl;
	}
	return n;
}

int
verbs_cq_poll(struct verbs_cq *cq, int max, struct verbs_completion *completions)
{
	if (max <= 0)
		return 0;
	return cq->ex != NULL ? poll_stamped(cq, max, completions)
			      : poll_plain(cq, max, completions);
}
