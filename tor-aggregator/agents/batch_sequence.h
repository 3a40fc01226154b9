/*
 * batch_sequence - the sequence of one agent's batches: finds repeated and missing
 * ones. Pure.
 *
 * Pass it every batch's (incarnation, seq); it returns whether to count the batch. A
 * batch is never counted twice, and a missing batch is a loss of Rackmesh, never of the
 * network. It is kept across connections: an agent that reconnects continues its
 * numbers.
 */
#ifndef TOR_AGGREGATOR_AGENTS_BATCH_SEQUENCE_H
#define TOR_AGGREGATOR_AGENTS_BATCH_SEQUENCE_H

#include <stdint.h>

struct batch_sequence; /* opaque, so that only batch_sequence uses its fields */

enum session_status {
	BATCH_SEQUENCE_COUNT,
	BATCH_SEQUENCE_DUPLICATE,
	BATCH_SEQUENCE_RESTARTED, /* a new incarnation of the agent: count, and start
				     anew */
};

struct batch_sequence *session_new(void);           /* NULL when out of memory */
void session_free(struct batch_sequence *sequence); /* NULL is allowed */

/*
 * Adds the number of batches missing before this one to *gap. Before the very first
 * batch none is missing: earlier ones went to this aggregator before its restart. seq
 * counts from 1; 0 is never counted.
 */
enum session_status batch_sequence_batch(
    struct batch_sequence *sequence, uint64_t incarnation, uint64_t seq, uint64_t *gap);

/* The last batch of this incarnation that was counted, 0 if none was. */
uint64_t batch_sequence_counted(
    const struct batch_sequence *sequence, uint64_t incarnation);

#endif
