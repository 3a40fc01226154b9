#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "rackmesh/core/random.h"
#include "rackmesh/spool/spool_disk.h"
#include "rackmesh/spool/spool_segment.h"
#include "rackmesh/spool/spool_state.h"

/* After an unclean end, this many numbers are skipped, because they may have been used
 * without reaching the disk. */
#define UNSURE_NUMBERS (UINT64_C(1) << 24)

struct recovery {
	struct rm_spool *spool;
	struct spool_done done;
	bool known;  /* done.identity is that of the spool */
	bool unsure; /* it is not known which numbers were used */
	uint64_t last_seq, highest_seq;
	struct spool_file **tail;
};

/* Sets a file aside in which nothing can be used. If that fails, the next start finds
 * it again. */
static void
set_aside(struct recovery *recovery, const char *path)
{
	struct rm_spool *spool = recovery->spool;
	char aside[SPOOL_PATH_BYTES + sizeof(SPOOL_CORRUPT)];
	struct stat st = { 0 };

	snprintf(aside, sizeof(aside), "%s" SPOOL_CORRUPT, path);
	if (lstat(path, &st) == 0)
		spool->counts.lost_corrupt_bytes += (uint64_t)st.st_size;
	spool->counts.quarantined++;
	spool->quarantine_bytes += (uint64_t)st.st_size;
	recovery->unsure = true;
	if (rename(path, aside) < 0)
		unlink(path);
}

/* Copies the whole records of a damaged file to a new file, and sets the damaged one
 * aside. If that fails, the records stay in the damaged file. */
static int
mend(struct recovery *recovery, struct spool_file *file, uint64_t from,
    const uint8_t *data, const char *path)
{
	struct rm_spool *spool = recovery->spool;
	struct spool_header head = { spool->identity, file->first_seq };
	char aside[SPOOL_PATH_BYTES + sizeof(SPOOL_CORRUPT)];
	size_t len = SPOOL_HEADER_BYTES;
	bool synced = false;
	uint8_t *clean;
	int r;

	for (uint64_t i = from; i < spool->index.last; i++)
		len += SPOOL_RECORD_BYTES + spool_index_at(&spool->index, i)->len;
	clean = malloc(len);
	if (clean == NULL)
		return -ENOMEM;
	spool_header_put(clean, &head);
	len = SPOOL_HEADER_BYTES;
	for (uint64_t i = from; i < spool->index.last; i++) {
		const struct spool_record *record = spool_index_at(&spool->index, i);
		size_t bytes = SPOOL_RECORD_BYTES + record->len;

		memcpy(clean + len, data + record->at, bytes);
		len += bytes;
	}
	snprintf(aside, sizeof(aside), "%s" SPOOL_CORRUPT, path);
	unlink(aside);
	r = link(path, aside) < 0 ? -errno : 0;
	if (r == 0)
		r = spool_file_create(path, clean, len, &synced);
	free(clean);
	if (r < 0) {
		unlink(aside);
		return 0;
	}
	spool->quarantine_bytes += file->bytes;
	file->bytes = len;
	len = SPOOL_HEADER_BYTES;
	for (uint64_t i = from; i < spool->index.last; i++) {
		struct spool_record *record = spool_index_at(&spool->index, i);

		record->at = (uint32_t)len;
		len += SPOOL_RECORD_BYTES + record->len;
	}
	return 0;
}

/* Removes the damaged end of a file, which would take up room. */
static void
cut(const struct rm_spool *spool, struct spool_file *file, uint64_t bytes)
{
	if (spool_file_cut(spool->folder, file->first_seq, bytes) == 0)
		file->bytes = bytes;
}

static void
drop_tail(struct rm_spool *spool, struct spool_file *file, uint64_t bytes)
{
	spool->used -= file->bytes;
	cut(spool, file, bytes);
	spool->used += file->bytes;
}

/* After a failed write or fsync, all records that were not durable were written again,
 * from this number on: their older copies in earlier files are dropped. */
static void
supersede(struct recovery *recovery, uint64_t first_seq)
{
	struct rm_spool *spool = recovery->spool;
	struct spool_index *index = &spool->index;
	struct spool_file *file = NULL;
	uint64_t bytes = 0;

	while (index->first < index->last) {
		const struct spool_record *record =
		    spool_index_at(index, index->last - 1);

		if (record->seq < first_seq)
			break;
		if (file != NULL && file != record->file)
			drop_tail(spool, file, bytes);
		file = record->file;
		bytes = record->at;
		file->waiting--;
		spool->waiting--;
		spool->waiting_bytes -= record->len;
		index->last--;
	}
	if (file != NULL)
		drop_tail(spool, file, bytes);
	if (recovery->highest_seq < recovery->last_seq)
		recovery->highest_seq = recovery->last_seq;
}

/* Adds the records of a file that are not done to the index. Returns 1: there was
 * damage; 0; or -ENOMEM. */
static int
take_records(
    struct recovery *recovery, struct spool_file *file, const uint8_t *data, size_t len)
{
	struct rm_spool *spool = recovery->spool;
	enum spool_scan_status status;
	struct spool_found found;
	struct spool_scan scan;
	int damaged = 0;

	spool_scan_init(&scan, data, len, file->first_seq);
	while ((status = spool_scan_next(&scan, &found)) != SPOOL_END) {
		struct spool_record record = { .seq = found.seq,
			.file = file,
			.at = (uint32_t)found.at,
			.len = (uint32_t)found.len };

		if (status == SPOOL_DAMAGE) {
			spool->counts.lost_corrupt_bytes += found.bytes;
			spool->counts.quarantined++;
			damaged = 1;
		}
		if (status == SPOOL_TORN)
			cut(spool, file, found.at);
		if (status != SPOOL_RECORD)
			continue;
		file->last_seq = recovery->last_seq = found.seq;
		if (found.seq <= recovery->done.done)
			continue;
		if (spool_index_push(&spool->index, &record) < 0)
			return -ENOMEM;
		file->waiting++;
		spool->waiting++;
		spool->waiting_bytes += found.len;
	}
	return damaged;
}

static int
take_segment(struct recovery *recovery, const struct spool_header *head,
    const uint8_t *data, size_t len, const char *path)
{
	struct rm_spool *spool = recovery->spool;
	struct spool_file *file = calloc(1, sizeof(*file));
	uint64_t from;
	int r;

	if (file == NULL)
		return -ENOMEM;
	*recovery->tail = file;
	recovery->tail = &file->next;
	file->first_seq = head->first_seq;
	file->last_seq = head->first_seq;
	file->bytes = len;
	supersede(recovery, head->first_seq);
	from = spool->index.last;
	r = take_records(recovery, file, data, len);
	if (r > 0) {
		recovery->unsure = true;
		r = mend(recovery, file, from, data, path);
	}
	spool->used += file->bytes;
	return r;
}

static int
take_file(struct recovery *recovery, uint64_t name)
{
	struct rm_spool *spool = recovery->spool;
	char path[SPOOL_PATH_BYTES];
	struct spool_header head;
	uint8_t *data;
	size_t len;
	int r;

	spool_name(spool->folder, name, "", path);
	r = rm_file_read(path, SPOOL_MAX_FILE_BYTES, &data, &len);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		set_aside(recovery, path);
		return 0;
	}
	r = spool_header_take(data, len, &head);
	if (r == 0 && !recovery->known) {
		spool->identity = head.identity;
		recovery->known = true;
	}
	if (r == -ENODATA) {
		unlink(path);
		r = 0;
	} else if (r < 0 || head.first_seq != name ||
		   head.identity != spool->identity) {
		set_aside(recovery, path);
		r = 0;
	} else {
		r = take_segment(recovery, &head, data, len, path);
	}
	free(data);
	return r;
}

static int
take_done(struct recovery *recovery)
{
	struct rm_spool *spool = recovery->spool;
	char path[SPOOL_PATH_BYTES];
	int r = spool_done_read(spool->folder, &recovery->done);

	if (r == 0) {
		if (recovery->done.next > SPOOL_MAX_SEQ ||
		    recovery->done.done >= recovery->done.next)
			r = -EBADMSG;
	}
	if (r == -EBADMSG) {
		recovery->done = (struct spool_done){ 0 };
		snprintf(path, sizeof(path), "%s/done", spool->folder);
		set_aside(recovery, path);
		return 0;
	}
	if (r == 0) {
		recovery->known = true;
		recovery->unsure = recovery->done.life == SPOOL_UNSURE;
		spool->identity = recovery->done.identity;
	}
	return r == -ENOENT ? 0 : r;
}

static void
number(struct recovery *recovery, uint64_t wanted_identity)
{
	struct rm_spool *spool = recovery->spool;

	supersede(recovery, UINT64_MAX);
	spool->next = recovery->highest_seq + 1;
	if (spool->next < recovery->done.next)
		spool->next = recovery->done.next;
	if (recovery->unsure)
		spool->next += UNSURE_NUMBERS;
	if (recovery->known)
		return;
	spool->identity = wanted_identity != 0 ? wanted_identity : rm_random_u64();
	spool->next = 1;
}

/* The disk accepts no writes now, and perhaps did not in the former run. So numbers may
 * have been used that the disk does not show. */
static void
number_unseen(struct recovery *recovery)
{
	struct rm_spool *spool = recovery->spool;

	if (!recovery->known)
		return; /* it is a new spool */
	if (spool->waiting == 0)
		spool->identity = rm_random_u64();
	else
		spool->next +=
		    UNSURE_NUMBERS + (rm_random_u64() & (UNSURE_NUMBERS - 1));
	spool->durable_seq = spool->promised = spool->next - 1;
}

/* The last file may contain records that were never synced. */
static void
settle(struct recovery *recovery)
{
	struct rm_spool *spool = recovery->spool;
	const struct spool_file *last = spool->files;
	bool room;

	while (last != NULL && last->next != NULL)
		last = last->next;
	if (last == NULL || recovery->done.life == SPOOL_CLEAN)
		return;
	room = spool->used + last->bytes <= spool->max_bytes;
	if (spool_file_renew(spool->folder, last->first_seq, room) < 0)
		spool->renew = last->first_seq;
}

/* Reads the folder into an index; -errno: the folder cannot be read. */
static int
read_folder(struct recovery *recovery)
{
	struct spool_names names = { 0 };
	int r = spool_names_list(
	    recovery->spool->folder, &names, &recovery->spool->quarantine_bytes);

	if (r == 0)
		r = take_done(recovery);
	/* `done` is written before any other file of a spool: if it is missing, the
	 * files are of another spool. */
	recovery->unsure |= r == 0 && !recovery->known && names.count > 0;
	for (size_t i = 0; i < names.count && r == 0; i++)
		r = take_file(recovery, names.first_seqs[i]);
	spool_names_clear(&names);
	return r;
}

static int
open_folder(struct rm_spool *spool, struct rm_error *error)
{
	int r = spool_folder_settle(spool->folder);

	spool->unsettled = r < 0;
	if (r == -ENOTDIR || r == -ELOOP || r == -ENAMETOOLONG)
		return rm_error_set(
		    error, r, "cannot make the folder %s", spool->folder);
	spool->job.lock = spool_folder_lock(spool->folder);
	if (spool->job.lock == -EBUSY)
		return rm_error_set(
		    error, -EBUSY, "another process uses the folder %s", spool->folder);
	return 0;
}

int
spool_recover(struct rm_spool *spool, uint64_t wanted_identity, struct rm_error *error)
{
	struct recovery recovery = { .spool = spool, .tail = &spool->files };
	int r = open_folder(spool, error);

	if (r < 0)
		return r;
	r = read_folder(&recovery);
	if (r == -ENOMEM || r == -ENOTDIR)
		return rm_error_set(
		    error, r, "cannot read the folder %s", spool->folder);
	spool->unread = r < 0;
	spool->unsettled |= spool->unread;
	number(&recovery, wanted_identity);
	spool->used += spool->quarantine_bytes;
	spool->counts.found = spool->waiting;
	spool->recorded = recovery.done.done;
	spool->durable_seq = spool->promised = spool->next - 1;
	spool->disk_end = spool->flying_end = spool->index.last;
	settle(&recovery);
	recovery.done = (struct spool_done){ spool->identity, spool_gone(spool),
		spool->next, SPOOL_RUNNING };
	if (spool->unread || spool_done_write(spool->folder, &recovery.done) < 0) {
		number_unseen(&recovery);
		spool->counts.failed_writes++;
		if (!spool->unread)
			spool_done_mark_unsure(spool->folder, &recovery.done);
		spool_fail(spool);
	} else {
		spool->recorded = recovery.done.done;
		if (spool->unsettled || spool->renew != 0)
			spool_fail(spool);
	}
	return 0;
}
