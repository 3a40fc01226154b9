/*
 * session - what one agent's stream of batches proves about itself. Pure.
 *
 * Feed it every batch's (incarnation, seq); it says whether to count the batch.
 * A batch is never counted twice, and a gap is a loss of ours, never of the
 * network. It outlives connections: an agent that reconnects goes on where it was.
 */
#ifndef TOR_AGGREGATOR_AGENTS_SESSION_H
#define TOR_AGGREGATOR_AGENTS_SESSION_H

#include <stdint.h>

struct session; /* opaque only to keep its fields its own */

enum session_status {
	SESSION_COUNT,
	SESSION_DUPLICATE,
	SESSION_RESTARTED, /* a new life of the agent: count, and start afresh */
};

struct session *session_new(void);          /* NULL when out of memory */
void session_free(struct session *session); /* NULL is fine */

/*
 * Adds to *gap how many batches are missing before this one. The first batch of
 * all tells nothing about those before it: they went to an earlier life of ours.
 * seq counts from 1; 0 is a duplicate of nothing and never counted.
 */
enum session_status session_batch(
    struct session *session, uint64_t incarnation, uint64_t seq, uint64_t *gap);

/* The last batch of this incarnation that was counted, 0 if none was. */
uint64_t session_counted(const struct session *session, uint64_t incarnation);

#endif
