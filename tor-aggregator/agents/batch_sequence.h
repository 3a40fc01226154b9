/*
 * batch_sequence - finds repeated and missing batches of one agent. Pure.
 *
 * Pass the incarnation and the number (seq) of every batch to batch_sequence_batch; it
 * returns whether to count the batch. A batch is never counted twice. A missing batch
 * is a loss inside Rackmesh, and never counts as loss in the network. The state is kept
 * across connections: an agent that reconnects continues its numbers.
 */
#ifndef TOR_AGGREGATOR_AGENTS_BATCH_SEQUENCE_H
#define TOR_AGGREGATOR_AGENTS_BATCH_SEQUENCE_H

#include <stdint.h>

struct batch_sequence;

enum batch_sequence_status {
	BATCH_SEQUENCE_COUNT,
	BATCH_SEQUENCE_DUPLICATE,
	/* the first batch of a new incarnation of the agent: count it */
	BATCH_SEQUENCE_RESTARTED,
};

struct batch_sequence *batch_sequence_new(void);           /* NULL when out of memory */
void batch_sequence_free(struct batch_sequence *sequence); /* NULL is allowed */

/*
 * Handles a batch, and adds the number of batches that are missing before it to *gap.
 * No batch before the first one that this aggregator receives counts as missing:
 * earlier batches may have arrived before the aggregator was restarted. seq begins with
 * 1; a batch with 0 is never counted.
 */
enum batch_sequence_status batch_sequence_batch(
    struct batch_sequence *sequence, uint64_t incarnation, uint64_t seq, uint64_t *gap);

/* Returns the number of the last batch of this incarnation that was counted; 0: none
 * was. */
uint64_t batch_sequence_counted(
    const struct batch_sequence *sequence, uint64_t incarnation);

#endif
