#include "host-agent/report/batch.h"

#include <errno.h>
#include <stdlib.h>

#define BATCH_MAX_RESULTS 4096

struct batch {
	size_t max_results, count;
	int64_t max_age_ns;
	rm_mono_t oldest; /* when the first result was added */
	struct wire_result *results;
	rm_mono_t *sent;
};

_Static_assert(BATCH_MAX_RESULTS <= WIRE_MAX_RESULTS, "a batch fits into the outbox");

int
batch_new(size_t max_results, int64_t max_age_ns, struct batch **ret)
{
	struct batch *batch;

	if (max_results == 0 || max_results > BATCH_MAX_RESULTS)
		return -EINVAL;
	batch = calloc(1, sizeof(*batch));
	if (batch == NULL)
		return -ENOMEM;
	batch->max_results = max_results;
	batch->max_age_ns = max_age_ns;
	batch->results = calloc(max_results, sizeof(*batch->results));
	batch->sent = calloc(max_results, sizeof(*batch->sent));
	if (batch->results == NULL || batch->sent == NULL) {
		batch_free(batch);
		return -ENOMEM;
	}
	*ret = batch;
	return 0;
}

void
batch_free(struct batch *batch)
{
	if (batch == NULL)
		return;
	free(batch->results);
	free(batch->sent);
	free(batch);
}

bool
batch_add(struct batch *batch, const struct wire_result *result, rm_mono_t sent,
    rm_mono_t now)
{
	if (batch->count == batch->max_results)
		return false;
	if (batch->count == 0)
		batch->oldest = now;
	batch->results[batch->count] = *result;
	batch->sent[batch->count] = sent;
	batch->count++;
	return true;
}

size_t
batch_count(const struct batch *batch)
{
	return batch->count;
}

bool
batch_full(const struct batch *batch)
{
	return batch->count == batch->max_results;
}

rm_mono_t
batch_deadline(const struct batch *batch)
{
	return rm_mono_add(batch->oldest, batch->max_age_ns);
}

int
batch_make(struct batch *batch, struct wire_writer *writer,
    struct wire_batch_head *head, rm_mono_t now, struct wire_bytes *out)
{
	size_t count = batch->count;

	for (size_t i = 0; i < count; i++) {
		int64_t age = rm_mono_since(now, batch->sent[i]);

		batch->results[i].sent_age_ns = age > 0 ? (uint64_t)age : 0;
	}
	head->now_ns = (uint64_t)now.ns;
	batch->count = 0;
	return wire_write_batch(writer, head, batch->results, count, out);
}
