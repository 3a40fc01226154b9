#include "rackmesh/spool/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rackmesh/core/random.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/spool/spool_segment.h"
#include "rackmesh/spool/spool_state.h"

#define DEFAULT_MEMORY_BYTES (8u << 20)
#define DEFAULT_SEGMENT_BYTES (8u << 20)
#define MAX_SEGMENT_BYTES (32u << 20)
#define LAZY_NS (200 * RM_NS_PER_MS) /* that `done` may be behind */

/* While no disk takes them, memory is what a promise is made of. */
static void
on_tell(void *arg)
{
	struct rm_spool *spool = arg;

	if (spool->folder != NULL && !spool->failing)
		return;
	spool_make_room(spool, 0);
	if (spool->promised == spool->next - 1)
		return;
	spool->promised = spool->next - 1;
	if (spool->callbacks.on_durable != NULL)
		spool->callbacks.on_durable(spool->promised, spool->callbacks.arg);
}

static void
on_retry(void *arg)
{
	struct rm_spool *spool = arg;

	spool->retry_due = true;
	spool->done_due |= spool->failing; /* something that shows whether it works */
	spool_commit(spool);
}

static void
on_lazy(void *arg)
{
	struct rm_spool *spool = arg;

	spool->lazy_armed = false;
	spool->done_due = true;
	spool_commit(spool);
}

static void
on_fetch_retry(void *arg)
{
	struct rm_spool *spool = arg;

	if (spool->callbacks.on_fetched != NULL)
		spool->callbacks.on_fetched(spool->callbacks.arg);
}

static int
spool_timers(struct rm_spool *spool, struct rm_loop *loop)
{
	int r = rm_timer_new(loop, on_tell, spool, &spool->tell);

	if (r == 0)
		r = rm_timer_new(loop, on_retry, spool, &spool->retry);
	if (r == 0)
		r = rm_timer_new(loop, on_lazy, spool, &spool->lazy);
	if (r == 0)
		r = rm_timer_new(loop, on_fetch_retry, spool, &spool->fetch_retry);
	return r;
}

static uint64_t
segment_bytes(const struct rm_spool_options *options)
{
	uint64_t bytes = options->segment_bytes;

	if (bytes == 0) {
		bytes = options->max_bytes / 8;
		if (bytes > DEFAULT_SEGMENT_BYTES)
			bytes = DEFAULT_SEGMENT_BYTES;
	}
	return bytes > MAX_SEGMENT_BYTES ? MAX_SEGMENT_BYTES : bytes;
}

int
rm_spool_new(struct rm_loop *loop, struct rm_worker *worker,
    const struct rm_spool_options *options, const struct rm_spool_callbacks *callbacks,
    struct rm_spool **ret, struct rm_why *why)
{
	struct rm_spool *spool = calloc(1, sizeof(*spool));
	int r;

	if (spool == NULL)
		return rm_why(why, -ENOMEM, "out of memory");
	spool->job.lock = -1;
	spool->worker = worker;
	spool->callbacks = *callbacks;
	spool->max_bytes = options->max_bytes;
	spool->segment_bytes = segment_bytes(options);
	spool->memory_bytes =
	    options->memory_bytes == 0 ? DEFAULT_MEMORY_BYTES : options->memory_bytes;
	spool->next = 1;
	spool->counts.durable = options->folder != NULL;
	r = spool_timers(spool, loop);
	if (r < 0) {
		rm_why(why, r, "cannot make a timer");
		goto out;
	}
	if (options->folder == NULL) {
		spool->identity =
		    options->identity != 0 ? options->identity : rm_random_u64();
		*ret = spool;
		return 0;
	}
	r = -ENAMETOOLONG;
	if (strlen(options->folder) > SPOOL_PATH_BYTES - 64) {
		rm_why(why, r, "%s", "the folder's name is too long");
		goto out;
	}
	r = -ENOMEM;
	spool->folder = strdup(options->folder);
	if (spool->folder == NULL)
		goto out;
	spool->job.folder = spool->folder;
	r = spool_recover(spool, options->identity, why);
	if (r < 0)
		goto out;
	spool_commit(spool); /* files of which nothing is left, or that are too many */
	*ret = spool;
	return 0;
out:
	free(spool->folder);
	spool->folder = NULL; /* nothing to write */
	rm_spool_free(spool);
	return r;
}

static void
free_files(struct spool_file *file)
{
	while (file != NULL) {
		struct spool_file *next = file->next;

		free(file);
		file = next;
	}
}

void
rm_spool_free(struct rm_spool *spool)
{
	if (spool == NULL)
		return;
	spool_commit_last(spool);
	if (spool->job.lock >= 0)
		close(spool->job.lock);
	free_files(spool->files);
	free_files(spool->retired);
	spool_index_clear(&spool->index);
	rm_timer_free(spool->tell);
	rm_timer_free(spool->retry);
	rm_timer_free(spool->lazy);
	rm_timer_free(spool->fetch_retry);
	free(spool->folder);
	free(spool);
}

uint64_t
rm_spool_identity(const struct rm_spool *spool)
{
	return spool->identity;
}

uint64_t
rm_spool_next(const struct rm_spool *spool)
{
	return spool->next;
}

static int
append(struct rm_spool *spool, const uint8_t *data, size_t len)
{
	struct spool_record record = { .seq = spool->next, .len = (uint32_t)len };
	uint64_t fixed =
	    spool->folder == NULL ? 0 : SPOOL_RESERVE_BYTES + SPOOL_HEADER_BYTES;
	int r;

	if (len == 0 || len > RM_SPOOL_MAX_RECORD_BYTES ||
	    fixed + spool_cost(spool, len) > spool->max_bytes)
		return -EMSGSIZE;
	record.data = malloc(len);
	if (record.data == NULL)
		return -ENOMEM;
	memcpy(record.data, data, len);
	spool_make_room(spool, spool_cost(spool, len));
	r = spool_index_push(&spool->index, &record);
	if (r < 0)
		free(record.data);
	return r;
}

int
rm_spool_append(struct rm_spool *spool, const uint8_t *data, size_t len, uint64_t *seq)
{
	int r = append(spool, data, len);

	if (r < 0) {
		spool->counts.refused++;
		return r;
	}
	if (seq != NULL)
		*seq = spool->next;
	spool->next++;
	spool->counts.in++;
	spool->waiting++;
	spool->waiting_bytes += len;
	spool->pending_bytes += spool_cost(spool, len);
	if (spool->folder == NULL || spool->failing)
		rm_timer_after(spool->tell, 0);
	spool_commit(spool);
	return 0;
}

int
rm_spool_get(struct rm_spool *spool, uint64_t seq, struct rm_spool_item *ret)
{
	uint64_t position = spool_index_find(&spool->index, seq);
	const struct spool_record *record = NULL;

	for (; position < spool->index.last; position++) {
		record = spool_index_at(&spool->index, position);
		if (!spool_record_dropped(record))
			break;
	}
	if (position == spool->index.last)
		return -ENOENT;
	spool_window_seen(spool, position);
	if (record->data == NULL)
		return spool_fetch(spool, position);
	*ret = (struct rm_spool_item){ record->seq, record->data, record->len };
	return 0;
}

void
rm_spool_done(struct rm_spool *spool, uint64_t seq)
{
	struct spool_index *index = &spool->index;
	uint64_t before = index->first;

	while (index->first < index->last &&
	       spool_index_at(index, index->first)->seq <= seq) {
		spool_release(spool, index->first);
		spool->counts.done++;
		spool_trim(spool);
	}
	if (index->first == before || spool->folder == NULL)
		return;
	if (!spool->lazy_armed)
		rm_timer_after(spool->lazy, LAZY_NS);
	spool->lazy_armed = true;
}

uint64_t
rm_spool_waiting(const struct rm_spool *spool)
{
	return spool->waiting;
}

uint64_t
rm_spool_waiting_bytes(const struct rm_spool *spool)
{
	return spool->waiting_bytes;
}

uint64_t
rm_spool_unsynced_bytes(const struct rm_spool *spool)
{
	/* Without a disk memory has bounds of its own. */
	if (spool->folder == NULL || spool->failing)
		return 0;
	return spool->pending_bytes + (spool->busy ? spool->job.batch.len : 0);
}

const struct rm_spool_counts *
rm_spool_counts(const struct rm_spool *spool)
{
	return &spool->counts;
}
