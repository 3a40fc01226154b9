#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"
#include "rackmesh/spool/spool_segment.h"
#include "rackmesh/spool/spool_state.h"

#define MAX_FETCH_RECORDS 1024
#define MAX_FETCH_BYTES (4u << 20) /* one record may be more */
#define AGAIN_NS (100 * RM_NS_PER_MS)

struct fetch_record {
	uint64_t seq;
	size_t at; /* in bytes */
	size_t len;
	bool whole; /* answer */
};

struct spool_fetch { /* all that the worker touches, with the folder's name */
	struct rm_spool *spool;
	const char *folder;
	uint64_t file, at;
	size_t bytes, count;
	uint8_t *data;
	struct fetch_record records[MAX_FETCH_RECORDS];
};

static int
fetch_run(void *arg)
{
	struct spool_fetch *fetch = arg;
	char path[SPOOL_PATH_BYTES];
	int r;

	fetch->data = malloc(fetch->bytes);
	if (fetch->data == NULL)
		return -ENOMEM;
	spool_name(fetch->folder, fetch->file, "", path);
	r = spool_file_read(path, fetch->at, fetch->data, fetch->bytes);
	for (size_t i = 0; i < fetch->count && r == 0; i++) {
		struct fetch_record *record = &fetch->records[i];

		record->whole = spool_record_check(fetch->data + record->at,
		    SPOOL_RECORD_BYTES + record->len, record->seq, record->len);
	}
	return r;
}

/* What was found at the start is not there any more as it was. */
static void
lose(struct rm_spool *spool, uint64_t position)
{
	const struct spool_record *record = spool_index_at(&spool->index, position);

	spool->counts.lost_corrupt_bytes += SPOOL_RECORD_BYTES + record->len;
	spool->counts.quarantined++;
	spool->counts.dropped_full++;
	spool_release(spool, position);
	spool_trim(spool);
}

static void
fetched_one(struct rm_spool *spool, const struct spool_fetch *fetch,
    const struct fetch_record *one)
{
	uint64_t position = spool_index_find(&spool->index, one->seq);
	struct spool_record *record;

	if (position == spool->index.last)
		return;
	record = spool_index_at(&spool->index, position);
	if (record->seq != one->seq || record->file == NULL || record->data != NULL)
		return; /* done with, meanwhile */
	if (!one->whole) {
		lose(spool, position);
		return;
	}
	record->data = malloc(one->len);
	if (record->data == NULL)
		return; /* asked for again */
	memcpy(record->data, fetch->data + one->at + SPOOL_RECORD_BYTES, one->len);
	spool->cached += one->len;
	if (position < spool->evicted)
		spool->evicted = position;
	if (position >= spool->kept_end)
		spool->kept_end = position + 1;
}

static bool
passes(int r)
{
	return r == -ENOMEM || r == -EMFILE || r == -ENFILE || r == -EAGAIN;
}

static void
fetch_answer(void *arg, int r)
{
	struct spool_fetch *fetch = arg;
	struct rm_spool *spool = fetch->spool;

	spool->fetch = NULL;
	/* Which of them cannot be read? Only that one is lost. */
	if (r < 0 && !passes(r) && r != -ECANCELED && fetch->count > 1)
		spool->fetch_one = true;
	else if (!passes(r) && r != -ECANCELED)
		for (size_t i = 0; i < fetch->count; i++)
			fetched_one(spool, fetch, &fetch->records[i]);
	free(fetch->data);
	free(fetch);
	if (r == -ECANCELED)
		return;
	if (passes(r))
		rm_timer_after(spool->fetch_retry, AGAIN_NS);
	else if (spool->callbacks.on_fetched != NULL)
		spool->callbacks.on_fetched(spool->callbacks.arg);
}

/* From this record on, what lies behind it in its file and is not in memory. */
static void
fetch_choose(struct rm_spool *spool, struct spool_fetch *fetch, uint64_t position)
{
	const struct spool_record *first = spool_index_at(&spool->index, position);
	size_t most = spool->fetch_one ? 1 : MAX_FETCH_RECORDS;
	uint64_t room = spool->memory_bytes / 4;

	if (room > MAX_FETCH_BYTES)
		room = MAX_FETCH_BYTES;
	spool->fetch_one = false;
	fetch->spool = spool;
	fetch->folder = spool->folder;
	fetch->file = first->file->first_seq;
	fetch->at = first->at;
	for (; position < spool->index.last && fetch->count < most; position++) {
		const struct spool_record *record =
		    spool_index_at(&spool->index, position);
		size_t at = record->at - first->at;

		if (record->file != first->file || record->data != NULL)
			break;
		if (fetch->count > 0 && at + SPOOL_RECORD_BYTES + record->len > room)
			break;
		fetch->records[fetch->count++] =
		    (struct fetch_record){ record->seq, at, record->len, false };
		fetch->bytes = at + SPOOL_RECORD_BYTES + record->len;
	}
}

int
spool_fetch(struct rm_spool *spool, uint64_t position)
{
	struct spool_fetch *fetch;

	if (spool->fetch != NULL)
		return -EAGAIN;
	fetch = calloc(1, sizeof(*fetch));
	if (fetch != NULL)
		fetch_choose(spool, fetch, position);
	if (fetch == NULL ||
	    rm_worker_submit(spool->worker, fetch_run, fetch_answer, fetch) < 0) {
		free(fetch);
		rm_timer_after(spool->fetch_retry, AGAIN_NS);
		return -EAGAIN;
	}
	spool->fetch = fetch;
	return -EAGAIN;
}

void
spool_window_seen(struct rm_spool *spool, uint64_t position)
{
	/* Read once more from further in front: so is what memory should hold. */
	if (position < spool->cursor)
		spool->evicted = spool->index.first;
	spool->cursor = position;
	spool_window_evict(spool);
}

static void
evict(struct rm_spool *spool, uint64_t position)
{
	struct spool_record *record = spool_index_at(&spool->index, position);

	if (record->file == NULL || record->data == NULL)
		return;
	spool->cached -= record->len;
	free(record->data);
	record->data = NULL;
}

/* First what was read already, then what will be read last. */
void
spool_window_evict(struct rm_spool *spool)
{
	while (spool->cached > spool->memory_bytes && spool->evicted < spool->cursor &&
	       spool->evicted < spool->disk_end)
		evict(spool, spool->evicted++);
	while (spool->cached > spool->memory_bytes &&
	       spool->kept_end > spool->cursor + 1 &&
	       spool->kept_end > spool->index.first)
		evict(spool, --spool->kept_end);
}
