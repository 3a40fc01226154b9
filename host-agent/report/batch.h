/*
 * batch - collects results for one ResultBatch message. Pure.
 *
 * Ages are computed when the batch is written, relative to the batch's time, so waiting
 * does not make them wrong.
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

/* now: the time at which the result was known. False: full, the result was not
 * added. */
bool batch_add(struct batch *batch, const struct wire_result *result, rm_mono_t sent,
    rm_mono_t now);

size_t batch_count(const struct batch *batch);
bool batch_full(const struct batch *batch);
/* When the oldest of its results has waited long enough; undefined for an empty
 * batch. */
rm_mono_t batch_deadline(const struct batch *batch);

/*
 * Writes all results and empties the batch, also on failure (-ENOMEM: the results are
 * lost, the caller counts them). head.now_ns is filled here. *out lives in the writer.
 */
int batch_make(struct batch *batch, struct wire_writer *writer,
    struct wire_batch_head *head, rm_mono_t now, struct wire_bytes *out);

#endif
