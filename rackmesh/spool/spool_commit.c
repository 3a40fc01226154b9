#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"
#include "rackmesh/spool/spool_segment.h"
#include "rackmesh/spool/spool_state.h"

/* A batch is copied on the loop's thread; one record may be larger than this. */
#define MAX_BATCH_BYTES (4u << 20)
#define RETRY_NS RM_NS_PER_S
/* time until the next attempt if the worker is full, or memory runs out */
#define CROWDED_NS (50 * RM_NS_PER_MS)

void
spool_fail(struct rm_spool *spool)
{
	spool->failing = true;
	spool->counts.durable = 0;
	rm_timer_after(spool->retry, RETRY_NS);
	rm_timer_after(spool->report, 0);
}

static void
append_file(struct rm_spool *spool, struct spool_file *file)
{
	struct spool_file **at = &spool->files;

	while (*at != NULL)
		at = &(*at)->next;
	file->next = NULL;
	*at = file;
}

/* Returns the file of the next batch, which may be a new one, and the end of its
 * records. NULL: out of memory. */
static struct spool_file *
batch_choose(struct rm_spool *spool, uint64_t first, uint64_t *end, size_t *len)
{
	const struct spool_record *record = spool_index_at(&spool->index, first);
	struct spool_file *file = spool->active;
	uint64_t room = spool->segment_bytes, cost = spool_cost(spool, record->len);

	if (file == NULL || file->bytes + cost > spool->segment_bytes) {
		file = calloc(1, sizeof(*file));
		if (file == NULL)
			return NULL;
		file->first_seq = record->seq;
		append_file(spool, file);
		*len = SPOOL_HEADER_BYTES;
	} else {
		room -= file->bytes;
		*len = 0;
	}
	if (room > MAX_BATCH_BYTES)
		room = MAX_BATCH_BYTES;
	for (*end = first; *end < spool->index.last; (*end)++) {
		record = spool_index_at(&spool->index, *end);
		if (spool_record_dropped(record))
			continue;
		cost = spool_cost(spool, record->len);
		if (*end > first && *len + cost > room)
			break;
		*len += cost;
	}
	return file;
}

static void
remove_flying_file(struct rm_spool *spool)
{
	struct spool_file **at = &spool->files;

	while (*at != spool->flying)
		at = &(*at)->next;
	*at = NULL; /* this was the last file */
	free(spool->flying);
}

/* The batch was not written, so its records wait again. left: bytes that the failed
 * write may have left in the file. */
static void
batch_undo(struct rm_spool *spool, uint64_t left)
{
	struct spool_batch *batch = &spool->job.batch;

	for (uint64_t i = spool->disk_end; i < spool->flying_end; i++) {
		const struct spool_record *record = spool_index_at(&spool->index, i);

		if (!spool_record_dropped(record))
			spool->pending_bytes += spool_cost(spool, record->len);
	}
	spool->flying_end = spool->disk_end;
	spool->used -= batch->len;
	if (batch->at == 0) {
		remove_flying_file(spool);
	} else {
		spool->used += left - batch->at;
		spool->flying->bytes = left;
	}
	spool->flying = NULL;
	free(batch->data);
	*batch = (struct spool_batch){ 0 };
}

static void
batch_fill(struct rm_spool *spool, uint64_t end)
{
	struct spool_batch *batch = &spool->job.batch;
	size_t at = 0;

	if (batch->at == 0) {
		struct spool_header head = { spool->identity, batch->first_seq };

		spool_header_put(batch->data, &head);
		at = SPOOL_HEADER_BYTES;
	}
	for (uint64_t i = spool->disk_end; i < end; i++) {
		struct spool_record *record = spool_index_at(&spool->index, i);

		if (spool_record_dropped(record))
			continue;
		record->at = (uint32_t)(batch->at + at);
		spool_record_put(
		    batch->data + at, record->seq, record->data, record->len);
		at += SPOOL_RECORD_BYTES + record->len;
		spool->pending_bytes -= spool_cost(spool, record->len);
		spool->flying->last_seq = record->seq;
	}
	spool->flying_end = end;
	spool->used += batch->len;
}

/* -ENOENT: no record waits. */
static int
batch_make(struct rm_spool *spool)
{
	struct spool_batch *batch = &spool->job.batch;
	uint64_t first = spool->disk_end, end;

	while (first < spool->index.last &&
	       spool_record_dropped(spool_index_at(&spool->index, first)))
		first++;
	if (first == spool->index.last)
		return -ENOENT;
	spool->flying = batch_choose(spool, first, &end, &batch->len);
	if (spool->flying == NULL) {
		batch->len = 0;
		return -ENOMEM;
	}
	batch->at = spool->flying->bytes;
	batch->first_seq = spool->flying->first_seq;
	batch->data = malloc(batch->len);
	if (batch->data == NULL) {
		if (batch->at == 0)
			remove_flying_file(spool);
		spool->flying = NULL;
		batch->len = 0;
		return -ENOMEM;
	}
	batch_fill(spool, end);
	return 0;
}

/* The records of the batch are on disk. */
static void
batch_written(struct rm_spool *spool)
{
	struct spool_batch *batch = &spool->job.batch;
	struct spool_file *file = spool->flying;

	for (uint64_t i = spool->disk_end; i < spool->flying_end; i++) {
		struct spool_record *record = spool_index_at(&spool->index, i);

		if (spool_record_dropped(record))
			continue;
		record->file = file;
		file->waiting++;
		spool->cached += record->len;
	}
	file->bytes = batch->at + batch->len;
	spool->disk_end = spool->kept_end = spool->flying_end;
	spool->counts.syncs++;
	spool->counts.written_bytes += batch->len;
	spool->active = file;
	spool->flying = NULL;
	if (spool->promised > spool->durable_seq && spool->promised <= file->last_seq)
		/* so that `done` is written as soon as records are durable */
		rm_timer_after(spool->lazy, 0);
	spool->durable_seq = file->last_seq;
	if (spool->promised < file->last_seq)
		spool->promised = file->last_seq;
	spool->failing = false;
	free(batch->data);
	*batch = (struct spool_batch){ 0 };
}

static void
batch_failed(struct rm_spool *spool, bool cancelled)
{
	const struct spool_job *job = &spool->job;

	if (!cancelled && job->synced)
		spool->counts.failed_syncs++;
	else if (!cancelled)
		spool->counts.failed_writes++;
	batch_undo(spool, cancelled ? job->batch.at : job->batch_bytes);
	spool->active = NULL; /* no more records are added to it */
	if (!cancelled)
		spool_fail(spool);
}

static void
unlinks_take(struct rm_spool *spool)
{
	const struct spool_file *newest = NULL;
	struct spool_job *job = &spool->job;

	for (const struct spool_file *file = spool->files; file != NULL;
	     file = file->next)
		newest = file;
	job->unlink_count = 0;
	for (const struct spool_file *file = spool->retired;
	     file != NULL && job->unlink_count < SPOOL_MAX_UNLINKS; file = file->next)
		job->unlinks[job->unlink_count++] = (struct spool_unlink){
			.first_seq = file->first_seq,
			.covered = newest != NULL && newest->last_seq > file->last_seq,
		};
}

/* The files of the job are the first ones of the list, in the same order. */
static void
unlinks_answer(struct rm_spool *spool)
{
	struct spool_file **at = &spool->retired;

	for (size_t i = 0; i < spool->job.unlink_count; i++) {
		struct spool_file *file = *at;

		if (!spool->job.unlinks[i].gone) {
			at = &file->next;
			continue;
		}
		*at = file->next;
		free(file);
	}
}

static void
housekeeping_answer(struct rm_spool *spool)
{
	struct spool_job *job = &spool->job;

	if (job->settle && job->settle_r == 0) {
		spool->unsettled = spool->unread = false;
		spool->renew = 0;
	}
	if (job->write_done && job->done_r == 0)
		spool->recorded = job->done.done;
	if (job->sweep && job->sweep_r == 0)
		spool->sweep_due = false;
	unlinks_answer(spool);
	if (job->settle_r < 0 || job->done_r < 0 || job->sweep_r < 0 ||
	    job->unlink_r < 0) {
		spool->counts.failed_writes++;
		spool_fail(spool);
	} else if (spool->failing && job->batch.len == 0) {
		spool->failing = false;
	}
}

static int
commit_run(void *arg)
{
	struct rm_spool *spool = arg;

	/* The worker uses only the job, which the loop does not change meanwhile. */
	spool_job_run(&spool->job);
	return 0;
}

static void
answer(struct rm_spool *spool, int r)
{
	uint64_t promised = spool->promised;

	spool->busy = false;
	if (r == 0)
		housekeeping_answer(spool);
	if (spool->job.batch.len > 0 && (r < 0 || spool->job.batch_r < 0))
		batch_failed(spool, r < 0);
	else if (spool->job.batch.len > 0)
		batch_written(spool);
	if (!spool->failing)
		spool->counts.durable = !spool_has_acked_in_memory(spool);
	spool_window_evict(spool);
	if (spool->promised > promised && spool->callbacks.on_durable != NULL)
		spool->callbacks.on_durable(spool->promised, spool->callbacks.arg);
}

static void
commit_answer(void *arg, int r)
{
	struct rm_spool *spool = arg;

	answer(spool, r);
	spool_commit(spool);
}

/* False: there is nothing to do. */
static bool
job_make(struct rm_spool *spool)
{
	struct spool_job *job = &spool->job;
	int r;

	spool_make_room(spool, 0);
	while (spool->files != NULL && spool->files->waiting == 0 &&
	       spool->files != spool->active)
		spool_retire(spool);
	unlinks_take(spool);
	job->write_done = spool->done_due || job->unlink_count > 0;
	job->done = (struct spool_done){
		.identity = spool->identity,
		.done = spool_gone(spool),
		.next = spool->next,
		.life = spool->failing || spool->promised > spool->durable_seq
			    ? SPOOL_UNSURE
			    : SPOOL_RUNNING,
	};
	job->sweep = spool->sweep_due;
	job->settle = spool->unsettled || spool->renew != 0;
	job->adopt = spool->unread;
	job->renew = spool->renew;
	job->renew_room = spool->used + spool->segment_bytes <= spool->max_bytes;
	job->settle_r = job->done_r = job->sweep_r = job->unlink_r = job->batch_r = 0;
	job->synced = false;
	/* More files must be removed than one job can: so there is no room for a batch
	 * yet. */
	r = job->unlink_count == SPOOL_MAX_UNLINKS ? -ENOENT : batch_make(spool);
	if (r == -ENOMEM)
		rm_timer_after(spool->retry, CROWDED_NS);
	if (!job->settle && !job->write_done && !job->sweep && job->batch.len == 0)
		return false;
	spool->done_due = false;
	return true;
}

void
spool_commit(struct rm_spool *spool)
{
	/* While writes to the disk fail, the timer decides when to try again. */
	if (spool->folder == NULL || spool->busy)
		return;
	if (spool->failing && !spool->retry_due)
		return;
	if (!job_make(spool))
		return;
	spool->retry_due = false;
	spool->busy = true;
	if (rm_worker_submit(spool->worker, commit_run, commit_answer, spool) == 0)
		return;
	spool->busy = false;
	if (spool->job.batch.len > 0)
		batch_undo(spool, spool->job.batch.at);
	spool->done_due = spool->job.write_done;
	rm_timer_after(spool->retry, CROWDED_NS);
}

void
spool_commit_last(struct rm_spool *spool)
{
	struct spool_done done;

	while (spool->folder != NULL && !spool->failing && job_make(spool)) {
		bool batch = spool->job.batch.len > 0;

		spool_job_run(&spool->job);
		housekeeping_answer(spool);
		if (batch && spool->job.batch_r < 0)
			batch_failed(spool, false);
		else if (batch)
			batch_written(spool);
		else if (spool->retired == NULL)
			break;
	}
	if (spool->folder == NULL || spool->unread)
		return;
	done = (struct spool_done){ spool->identity, spool_gone(spool), spool->next,
		spool->failing ? SPOOL_RUNNING : SPOOL_CLEAN };
	spool_done_write(spool->folder, &done);
}
