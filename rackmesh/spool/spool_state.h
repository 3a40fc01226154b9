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

/* The part of max_bytes that is kept for the file `done` and its temporary copy. */
#define SPOOL_RESERVE_BYTES (2 * SPOOL_DONE_BYTES)

struct rm_timer;
struct spool_fetch;

struct rm_spool {
	struct rm_worker *worker;
	char *folder; /* NULL: records are in memory only */
	uint64_t max_bytes, segment_bytes, memory_bytes;
	struct rm_spool_callbacks callbacks;
	uint64_t identity, next;
	struct spool_index index;
	uint64_t waiting, waiting_bytes;
	struct rm_spool_counts counts;
	uint64_t promised; /* the seq that was last passed to on_durable */
	struct rm_timer
	    *report; /* reports records that are in memory only as durable */

	/* The files: */
	struct spool_file *files, *active; /* oldest first; active: the last, or NULL */
	struct spool_file *retired; /* files to be removed, which used does not count */
	uint64_t used;              /* bytes of files and of *.corrupt files */
	uint64_t pending_bytes;     /* bytes of records that no job writes yet */
	uint64_t quarantine_bytes;
	uint64_t disk_end, flying_end;
	uint64_t recorded;    /* the number that the file `done` has */
	uint64_t durable_seq; /* the highest seq that is on disk */
	bool busy;            /* the job runs, and belongs to the worker */
	bool failing, retry_due;
	bool unsettled; /* a job must create or repair the folder */
	bool unread;    /* the folder could not be read, and may have records */
	uint64_t renew; /* first seq of a file that may not be durable; 0: all are */
	bool done_due, sweep_due, lazy_armed;
	struct spool_file *flying; /* the file that the job writes */
	struct spool_job job;
	struct rm_timer *retry, *lazy;

	/* Bytes of records in memory that are in files, too. */
	uint64_t cached;
	uint64_t cursor; /* position of the record that was read last */
	/* no record before evicted, or from kept_end on, is in memory */
	uint64_t evicted, kept_end;
	struct spool_fetch *fetch; /* the running fetch; NULL: none is running */
	struct rm_timer *fetch_retry;
	bool fetch_one; /* fetch one record only, as a fetch of several has failed */
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

/* True: some record that was acknowledged is not on disk. When the disk works again,
 * these records are written in batches. */
static inline bool
spool_has_acked_in_memory(const struct rm_spool *spool)
{
	for (uint64_t i = spool->disk_end; i < spool->index.last; i++) {
		const struct spool_record *record = spool_index_at(&spool->index, i);

		if (!spool_record_dropped(record))
			return record->seq <= spool->promised;
	}
	return false;
}

/* in spool_recover.c: reads the records in the folder */
int spool_recover(
    struct rm_spool *spool, uint64_t wanted_identity, struct rm_error *error);

void spool_retire(struct rm_spool *spool); /* removes the oldest file */
void spool_make_room(struct rm_spool *spool, uint64_t more);

/* in spool_commit.c: writes the records that wait, if no job is running */
void spool_commit(struct rm_spool *spool);
void spool_fail(struct rm_spool *spool);
void spool_commit_last(
    struct rm_spool *spool); /* does the same after the worker was freed */

void spool_window_evict(struct rm_spool *spool);

#endif
