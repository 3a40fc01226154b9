/*
 * spool_state - the spool's struct; private to the files of the spool.
 *
 * Positions of the index, in order: records in files, records that a running job writes
 * (disk_end .. flying_end), records that wait for the next job.
 */
#ifndef RACKMESH_SPOOL_SPOOL_STATE_H
#define RACKMESH_SPOOL_SPOOL_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/spool/spool.h"
#include "rackmesh/spool/spool_disk.h"
#include "rackmesh/spool/spool_index.h"

/* The part of max_bytes for the file `done` and its temporary copy. */
#define SPOOL_RESERVE_BYTES (2 * SPOOL_DONE_BYTES)

struct rm_timer;
struct spool_fetch;

struct rm_spool {
	struct rm_worker *worker;
	char *folder; /* NULL: memory only */
	uint64_t max_bytes, segment_bytes, memory_bytes;
	struct rm_spool_callbacks callbacks;
	uint64_t identity, next;
	struct spool_index index;
	uint64_t waiting, waiting_bytes;
	struct rm_spool_counts counts;
	uint64_t promised; /* on_durable was called with this */
	struct rm_timer
	    *report; /* records acknowledged while they are in memory only */

	/* On disk. */
	struct spool_file *files, *active; /* oldest first; active: the last, or NULL */
	struct spool_file *retired;        /* to be removed; not counted in used */
	uint64_t used;                     /* bytes of files, and of *.corrupt files */
	uint64_t pending_bytes;            /* that no job writes yet */
	uint64_t quarantine_bytes;
	uint64_t disk_end, flying_end;
	uint64_t recorded;    /* `done` says so */
	uint64_t durable_seq; /* the last on disk */
	bool busy;            /* the job runs, and is the worker's */
	bool failing, retry_due;
	bool unsettled; /* the folder must be repaired by a job */
	bool unread;    /* it could not be read: there may be records in it */
	uint64_t renew; /* the file of this first seq may not be durable; 0: all are */
	bool done_due, sweep_due, lazy_armed;
	struct spool_file *flying; /* the job's file */
	struct spool_job job;
	struct rm_timer *retry, *lazy;

	/* Records in memory that lie in files, too. */
	uint64_t cached;
	uint64_t cursor;            /* position that was read last */
	uint64_t evicted, kept_end; /* none in memory before, or from there on */
	struct spool_fetch *fetch;  /* runs */
	struct rm_timer *fetch_retry;
	bool fetch_one; /* a larger one has failed */
};

static inline uint64_t
spool_cost(const struct rm_spool *spool, size_t len)
{
	return spool->folder == NULL ? len : len + 16;
}

static inline uint64_t
spool_gone(const struct rm_spool *spool)
{
	return spool->index.first == spool->index.last
		   ? spool->next - 1
		   : spool_index_at(&spool->index, spool->index.first)->seq - 1;
}

/* True: some acknowledged record is not on the disk. When the disk works again, these
 * are written batch by batch. */
static inline bool
spool_memory_keeps_promises(const struct rm_spool *spool)
{
	for (uint64_t i = spool->disk_end; i < spool->index.last; i++) {
		const struct spool_record *record = spool_index_at(&spool->index, i);

		if (!spool_record_dropped(record))
			return record->seq <= spool->promised;
	}
	return false;
}

/* spool_recover: what the folder holds. */
int spool_recover(
    struct rm_spool *spool, uint64_t wanted_identity, struct rm_error *error);

void spool_retire(struct rm_spool *spool); /* the oldest file */
void spool_make_room(struct rm_spool *spool, uint64_t more);

/* spool_commit: writes what waits, when no job runs. */
void spool_commit(struct rm_spool *spool);
void spool_fail(struct rm_spool *spool);
void spool_commit_last(struct rm_spool *spool); /* the worker was freed */

void spool_window_evict(struct rm_spool *spool);

#endif
