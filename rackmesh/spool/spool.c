#include "rackmesh/spool/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/core/file.h"
#include "rackmesh/core/random.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"
#include "rackmesh/spool/spool_disk.h"
#include "rackmesh/spool/spool_segment.h"
#include "rackmesh/spool/spool_state.h"

static int spool_fetch(struct rm_spool *spool, uint64_t position);

/* ---- removes records and files, to make room ---- */

static void
spool_release(struct rm_spool *spool, uint64_t position)
{
	struct spool_record *record = spool_index_at(&spool->index, position);

	if (record->file != NULL) {
		record->file->waiting--;
		if (record->data != NULL)
			spool->cached -= record->len;
	} else if (position >= spool->flying_end) {
		spool->pending_bytes -= spool_cost(spool, record->len);
	}
	free(record->data);
	record->data = NULL;
	record->file = NULL;
	spool->waiting--;
	spool->waiting_bytes -= record->len;
}

static void
at_least(uint64_t *position, uint64_t first)
{
	if (*position < first)
		*position = first;
}

/* Removes released records at the front. */
static void
spool_trim(struct rm_spool *spool)
{
	struct spool_index *index = &spool->index;

	while (index->first < index->last &&
	       spool_record_dropped(spool_index_at(index, index->first)))
		index->first++;
	at_least(&spool->disk_end, index->first);
	at_least(&spool->flying_end, index->first);
	at_least(&spool->cursor, index->first);
	at_least(&spool->evicted, index->first);
	at_least(&spool->kept_end, index->first);
}

static void
drop(struct rm_spool *spool, uint64_t position)
{
	spool_release(spool, position);
	spool->counts.dropped_full++;
}

void
spool_retire(struct rm_spool *spool)
{
	struct spool_file *file = spool->files, **at = &spool->retired;

	spool->files = file->next;
	if (spool->active == file)
		spool->active = NULL;
	spool->used -= file->bytes;
	/* Append at the end of the list, because a job may be removing the first files.
	 */
	while (*at != NULL)
		at = &(*at)->next;
	file->next = NULL;
	*at = file;
}

/* Drops the oldest record that waits and is in no running job. False: there is no such
 * record. */
static bool
drop_pending(struct rm_spool *spool)
{
	for (uint64_t i = spool->flying_end; i < spool->index.last; i++) {
		if (spool_record_dropped(spool_index_at(&spool->index, i)))
			continue;
		drop(spool, i);
		spool_trim(spool);
		return true;
	}
	return false;
}

/* Drops the oldest file that no job writes, or else the oldest record. */
static bool
drop_oldest(struct rm_spool *spool)
{
	struct spool_index *index = &spool->index;
	struct spool_file *file = spool->files;

	if (file == NULL || file == spool->flying)
		return drop_pending(spool);
	while (file->waiting > 0) {
		drop(spool, index->first);
		spool_trim(spool);
	}
	spool_retire(spool);
	return true;
}

static bool
drop_quarantine(struct rm_spool *spool)
{
	if (spool->quarantine_bytes == 0)
		return false;
	spool->used -= spool->quarantine_bytes;
	spool->quarantine_bytes = 0;
	spool->sweep_due = true; /* until the job has succeeded */
	return true;
}

void
spool_make_room(struct rm_spool *spool, uint64_t more)
{
	uint64_t fixed = SPOOL_RESERVE_BYTES + SPOOL_HEADER_BYTES;

	if (spool->folder == NULL) {
		while (spool->pending_bytes + more > spool->max_bytes &&
		       drop_pending(spool))
			;
		return;
	}
	while (fixed + spool->used + spool->pending_bytes + more > spool->max_bytes)
		if (!drop_quarantine(spool) && !drop_oldest(spool))
			break;
	while (spool->failing && spool->pending_bytes + more > spool->memory_bytes &&
	       drop_pending(spool))
		;
}

#define MAX_FETCH_RECORDS 1024
#define MAX_FETCH_BYTES (4u << 20) /* one record may be larger */
#define AGAIN_NS (100 * RM_NS_PER_MS)

struct fetch_record {
	uint64_t seq;
	size_t at; /* offset in bytes */
	size_t len;
	bool whole; /* the worker sets it: the record was read completely */
};

/* everything that the worker uses, except for the name of the folder */
struct spool_fetch {
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

/* A record that was readable at the start cannot be read any more. */
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
		return; /* the record was released meanwhile */
	if (!one->whole) {
		lose(spool, position);
		return;
	}
	record->data = malloc(one->len);
	if (record->data == NULL)
		return; /* the owner will request the record again */
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
	/* If several records cannot be read, each is read alone, so that only the
	 * unreadable one is lost. */
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

/* Chooses this record, and the records after it in the same file that are not in
 * memory. */
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

/* ---- records that are read back, and eviction from memory ---- */

static int
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

static void
spool_window_seen(struct rm_spool *spool, uint64_t position)
{
	/* The reader went back, so eviction begins at the front again. */
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

/* Evicts from memory first the records that were read already, then those that will be
 * read last. */
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

/* The folder of a path; "." if the path has none. */
static void
parent_of(const char *path, char parent[SPOOL_PATH_BYTES])
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	while (len > 0 && path[len - 1] != '/')
		len--;
	while (len > 1 && path[len - 1] == '/')
		len--;
	if (len == 0)
		snprintf(parent, SPOOL_PATH_BYTES, ".");
	else
		snprintf(parent, SPOOL_PATH_BYTES, "%.*s", (int)len, path);
}

/* A folder that may be used but not listed is allowed, as its owner decides about its
 * permissions. */
static int
sync_names(const char *folder)
{
	int r = spool_folder_sync(folder);

	return r == -EACCES || r == -EPERM ? 0 : r;
}

int
spool_folder_settle(const char *folder)
{
	char parent[SPOOL_PATH_BYTES], above[SPOOL_PATH_BYTES];
	int r = mkdir(folder, 0750) < 0 ? -errno : 0;

	parent_of(folder, parent);
	if (r == -ENOENT && mkdir(parent, 0750) == 0) {
		parent_of(parent, above);
		r = sync_names(above);
		if (r == 0)
			r = mkdir(folder, 0750) < 0 ? -errno : 0;
	}
	if (r == -EROFS && access(folder, F_OK) == 0)
		r = -EEXIST;
	if (r < 0 && r != -EEXIST)
		return r;
	/* Also sync a folder that existed: a former run may have been stopped between
	 * creating and syncing it. */
	return sync_names(parent);
}

/* If the disk has no room for a second copy of the file, an fsync of the file is all
 * that is possible. */
static int
sync_in_place(const char *path)
{
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC), r;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	r = fsync(fd) < 0 ? -errno : 0;
	close(fd);
	return r;
}

int
spool_file_renew(const char *folder, uint64_t first_seq, bool room)
{
	char path[SPOOL_PATH_BYTES];
	bool synced = false;
	uint8_t *data;
	size_t len;
	int r;

	spool_name(folder, first_seq, "", path);
	if (!room)
		return sync_in_place(path);
	r = rm_file_read(path, SPOOL_MAX_FILE_BYTES, &data, &len);
	if (r == -ENOENT)
		return 0; /* there is no file: all records were done */
	if (r < 0)
		return r;
	r = spool_file_create(path, data, len, &synced);
	free(data);
	if (r == -ENOSPC || r == -EDQUOT)
		return sync_in_place(path);
	return r < 0 ? r : spool_folder_sync(folder);
}

int
spool_file_cut(const char *folder, uint64_t first_seq, uint64_t bytes)
{
	char path[SPOOL_PATH_BYTES];
	int fd, r;

	spool_name(folder, first_seq, "", path);
	fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = ftruncate(fd, (off_t)bytes) < 0 ? -errno : 0;
	close(fd);
	return r;
}

/* Adopts a folder that could not be read at the start. It must not contain a spool,
 * because this run may have used the numbers of its records. */
static int
adopt(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int r = 0;

	if (dir == NULL)
		return -errno;
	while (r == 0 && (entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, "done") == 0 ||
		    strstr(entry->d_name, ".spool") != NULL)
			r = -ENOTEMPTY;
	closedir(dir);
	return r;
}

int
spool_settle(struct spool_job *job)
{
	int r = spool_folder_settle(job->folder);

	if (r == 0 && job->lock < 0) {
		job->lock = spool_folder_lock(job->folder);
		if (job->lock == -EBUSY)
			r = -EBUSY;
	}
	if (r == 0 && job->adopt)
		r = adopt(job->folder);
	if (r == 0 && job->renew != 0)
		r = spool_file_renew(job->folder, job->renew, job->renew_room);
	return r;
}

_Static_assert(RM_SPOOL_MAX_RECORD_BYTES == SPOOL_SEGMENT_MAX_RECORD_BYTES,
    "what is taken can be read again");

#define DEFAULT_MEMORY_BYTES (8u << 20)
#define DEFAULT_SEGMENT_BYTES (8u << 20)
#define MAX_SEGMENT_BYTES (32u << 20)
#define LAZY_NS (200 * RM_NS_PER_MS) /* the longest delay of writing `done` */

/* While no disk accepts records, records in memory are reported as durable. */
static void
on_report(void *arg)
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
	/* a small write shows whether the disk works */
	spool->done_due |= spool->failing;
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
	int r = rm_timer_new(loop, on_report, spool, &spool->report);

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
    struct rm_spool **ret, struct rm_error *error)
{
	struct rm_spool *spool = calloc(1, sizeof(*spool));
	int r;

	if (spool == NULL)
		return rm_error_set(error, -ENOMEM, "out of memory");
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
		rm_error_set(error, r, "cannot make a timer");
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
		rm_error_set(error, r, "%s", "the folder's name is too long");
		goto out;
	}
	r = -ENOMEM;
	spool->folder = strdup(options->folder);
	if (spool->folder == NULL)
		goto out;
	spool->job.folder = spool->folder;
	r = spool_recover(spool, options->identity, error);
	if (r < 0)
		goto out;
	spool_commit(
	    spool); /* also removes files without records, or above the limit */
	*ret = spool;
	return 0;
out:
	free(spool->folder);
	spool->folder = NULL; /* there is nothing to write */
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
	rm_timer_free(spool->report);
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
		rm_timer_after(spool->report, 0);
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
	/* Without a disk, the records in memory have another limit. */
	if (spool->folder == NULL || spool->failing)
		return 0;
	return spool->pending_bytes + (spool->busy ? spool->job.batch.len : 0);
}

const struct rm_spool_counts *
rm_spool_counts(const struct rm_spool *spool)
{
	return &spool->counts;
}
