/*
 * outbox - batches that one aggregator has not acknowledged yet. Pure.
 *
 * For batches and for results, at any moment: made = acknowledged + dropped + waiting +
 * in doubt. A batch is in doubt if it was dropped for newer ones while its
 * acknowledgement may be on the way. The acknowledgement, or the welcome of the next
 * session, shows whether the aggregator has counted it. So no batch is both counted by
 * the aggregator and reported as dropped.
 */
#ifndef HOST_AGENT_REPORT_OUTBOX_H
#define HOST_AGENT_REPORT_OUTBOX_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

/* Upper bounds of the steps of acked_within: the first is 0.5 ms, each further one is
 * twice the one before, up to about a second. */
#define OUTBOX_ACK_STEPS 12
#define OUTBOX_ACK_FIRST_NS (RM_NS_PER_MS / 2)
#define OUTBOX_PATIENCE_NS (500 * RM_NS_PER_MS)

struct outbox;

struct outbox_options {
	size_t max_items;
	size_t max_bytes;
	/* age at which a batch is dropped, as it is too late for any window */
	int64_t max_age_ns;
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
	struct outbox_tally waiting, doubtful; /* at present */
	/* Number of acknowledged batches by the time from sending to acknowledgement;
	 * each step includes the steps before it. */
	uint64_t acked_within[OUTBOX_ACK_STEPS];
};

int outbox_new(const struct outbox_options *options, struct outbox **ret);
void outbox_free(struct outbox *outbox);

/* Returns the number for the next batch, from 1 on; the caller writes it into the
 * batch. */
uint64_t outbox_next_seq(const struct outbox *outbox);
/* Copies the bytes of a batch. data NULL: the batch could not be written: it counts as
 * dropped, and its number stays unused. */
void outbox_push(struct outbox *outbox, rm_mono_t made, size_t results,
    const struct wire_bytes *data);

/* Begins a session. Batches up to counted_seq are done, since the peer has counted
 * them; all others are sent (again). -EBADMSG: a batch of that number was never made;
 * nothing is changed. */
int outbox_begin(struct outbox *outbox, uint64_t counted_seq);
/* Ends the session: nothing is sent or acknowledged until outbox_begin. */
void outbox_end(struct outbox *outbox);

/*
 * Returns the next batch to send in this session, borrowed until the next call.
 * -ENOENT: there is none. -EAGAIN: earlier batches have not been acknowledged for
 * OUTBOX_PATIENCE_NS. The peer may be frozen; if more batches were sent, it would not
 * be known whether it has received them.
 */
int outbox_peek(const struct outbox *outbox, rm_mono_t now, struct wire_bytes *ret);
/* Marks the batch of outbox_peek as sent. */
void outbox_sent(struct outbox *outbox, rm_mono_t now);

/* All batches up to seq are acknowledged. -EBADMSG: that batch was not sent in this
 * session. */
int outbox_ack(struct outbox *outbox, uint64_t seq, rm_mono_t now);

void outbox_expire(struct outbox *outbox, rm_mono_t now);

size_t outbox_bytes(const struct outbox *outbox);
const struct outbox_counts *outbox_counts(const struct outbox *outbox);
/* The sum over all reasons. */
struct outbox_tally outbox_dropped(const struct outbox *outbox);

#endif
