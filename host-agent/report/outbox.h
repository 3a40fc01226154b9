/*
 * outbox - batches that one aggregator has not acknowledged yet. Pure.
 *
 * For batches and for results, at any moment: made = acknowledged + dropped + waiting +
 * in doubt. In doubt are batches that were dropped for newer ones while their
 * acknowledgement may be on its way: the acknowledgement, or the next session's
 * welcome, decides. So no batch is both counted by the aggregator and reported as
 * dropped.
 */
#ifndef HOST_AGENT_REPORT_OUTBOX_H
#define HOST_AGENT_REPORT_OUTBOX_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

/* Steps of the time until the acknowledgement: 0.5 ms, 1 ms, twice that, and so on
 * to about a second. */
#define OUTBOX_ACK_STEPS 12
#define OUTBOX_ACK_FIRST_NS (RM_NS_PER_MS / 2)
#define OUTBOX_PATIENCE_NS (500 * RM_NS_PER_MS)

struct outbox;

struct outbox_options {
	size_t max_items;
	size_t max_bytes;
	int64_t max_age_ns; /* older batches are too late for any window */
};

enum outbox_drop {
	OUTBOX_DROP_FULL,   /* dropped for newer ones, or larger than the limit */
	OUTBOX_DROP_OLD,    /* waited too long */
	OUTBOX_DROP_MEMORY, /* there was no memory */
	OUTBOX_DROPS
};

struct outbox_tally {
	uint64_t batches, results;
};

struct outbox_counts {
	struct outbox_tally made, sent, resent, acked;
	struct outbox_tally dropped[OUTBOX_DROPS];
	struct outbox_tally waiting, doubtful; /* now */
	/* Batches by the time from sending to acknowledgement; each step includes
	 * the steps before it. */
	uint64_t acked_within[OUTBOX_ACK_STEPS];
};

int outbox_new(const struct outbox_options *options, struct outbox **ret);
void outbox_free(struct outbox *outbox);

/* The outbox numbers the batches: this is the number to write into the next one,
 * from 1. */
uint64_t outbox_next_seq(const struct outbox *outbox);
/* Copies data; NULL: the batch could not be written, and its number stays unused. */
void outbox_push(struct outbox *outbox, rm_mono_t made, size_t results,
    const struct wire_bytes *data);

/* A new session: batches that the peer has counted are done, all others are sent
 * (again). -EBADMSG: the peer claims batches that were never made; nothing has
 * changed. */
int outbox_begin(struct outbox *outbox, uint64_t counted_seq);
/* The session has ended: nothing can be sent or acknowledged until the next. */
void outbox_end(struct outbox *outbox);

/*
 * The next batch to send in this session; borrowed until the next call. -ENOENT: none.
 * -EAGAIN: batches sent before are not acknowledged for OUTBOX_PATIENCE_NS; more data
 * in a frozen peer's socket could not be distinguished from lost data.
 */
int outbox_peek(const struct outbox *outbox, rm_mono_t now, struct wire_bytes *ret);
/* The batch of outbox_peek was sent. */
void outbox_sent(struct outbox *outbox, rm_mono_t now);

/* -EBADMSG: the batch was not sent in this session. */
int outbox_ack(struct outbox *outbox, uint64_t seq, rm_mono_t now);

void outbox_expire(struct outbox *outbox, rm_mono_t now);

size_t outbox_bytes(const struct outbox *outbox);
const struct outbox_counts *outbox_counts(const struct outbox *outbox);
/* The sum over all reasons. */
struct outbox_tally outbox_dropped(const struct outbox *outbox);

#endif
