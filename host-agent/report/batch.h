/*
 * batch - collects results for one ResultBatch message. Pure.
 *
 * The age of each result is computed when the batch is written, so results may wait in
 * the batch.
 */
#ifndef HOST_AGENT_REPORT_BATCH_H
#define HOST_AGENT_REPORT_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct batch;

int batch_new(size_t max_results, int64_t max_age_ns, struct batch **ret);
void batch_free(struct batch *batch);

/* now: the time at which the result became known. False: the batch is full, and the
 * result was not added. */
bool batch_add(struct batch *batch, const struct wire_result *result, rm_mono_t sent,
    rm_mono_t now);

size_t batch_count(const struct batch *batch);
bool batch_full(const struct batch *batch);
/* Returns the time at which the batch should be sent, because its oldest result has
 * waited long enough. Do not call it for an empty batch. */
rm_mono_t batch_deadline(const struct batch *batch);

/*
 * Writes all results into a message and empties the batch. The function fills in
 * head.now_ns. *out is borrowed from the writer. On failure (-ENOMEM) the batch is
 * empty, too: the results are lost, and the caller counts them.
 */
int batch_make(struct batch *batch, struct wire_writer *writer,
    struct wire_batch_head *head, rm_mono_t now, struct wire_bytes *out);

#endif
