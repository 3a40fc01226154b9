/*
 * spool - a bounded queue of records that survives restarts, in files on disk
 * (segments).
 *
 * A record gets a number (seq, from 1, never used again). It is written, and is durable
 * after an fsync of its segment. One fsync on the worker covers all records that were
 * appended during the previous one (group commit). Acknowledge a record to another
 * process only from on_durable. Records that are done are removed from the front. When
 * the spool is full, the oldest segment is removed, and its records count as dropped.
 *
 * On disk: folder/NNNNNNNNNNNNNNNN.spool, named by its first seq in hex. A segment
 * begins with a header (magic, version, the spool's identity, first seq, CRC-32C) and
 * holds records (length, seq, CRC-32C over both and the bytes). The file folder/done
 * has the number up to which records are done. It is replaced atomically, and with a
 * delay: records that were done shortly before a crash are returned again. A record
 * that was not written to its end ends a segment. Any other damaged part is moved to a
 * file *.corrupt and counted; it never prevents the start. After a failed write or
 * fsync the segment is sealed at its last durable record, and the records behind it
 * that are not done are written again into a new segment: an fsync is never repeated on
 * the same file. Data found at a start that perhaps was never synced is written again,
 * too. While the disk accepts no writes (ENOSPC, EIO, read-only), records are kept in
 * memory, `durable` is 0, and on_durable is still called for records that fit into
 * memory: they are lost if this process ends. When the disk accepts writes again, the
 * spool uses it again by itself.
 *
 * Sources: the group commit of DeWitt et al. 1984; PostgreSQL's "fsync errors" (2018)
 * on why a failed fsync is not repeated.
 */
#ifndef RACKMESH_SPOOL_SPOOL_H
#define RACKMESH_SPOOL_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/error.h"

#define RM_SPOOL_MAX_RECORD_BYTES (17u << 20)

struct rm_loop;
struct rm_spool;
struct rm_worker;

struct rm_spool_options {
	/* Copied; created, with its parent if necessary. NULL: records are kept in
	 * memory only. */
	const char *folder;
	/* maximum number of bytes of all files on disk; with folder NULL, of the
	 * records in memory
	 */
	uint64_t max_bytes;
	uint64_t segment_bytes; /* 0: an eighth of max_bytes, at most 8 MiB */
	/* Limit on bytes of records that are kept in memory for fast reading, besides
	 * records that are not durable yet; 0: 8 MiB. Older records are read from disk,
	 * on the worker. */
	uint64_t memory_bytes;
	uint64_t identity; /* a random number, used if a spool is created */
};

struct rm_spool_callbacks {
	/* All records up to seq are durable. Never called from inside rm_spool_append.
	 * May be NULL. */
	void (*on_durable)(uint64_t seq, void *arg);
	/* The record for which rm_spool_get returned -EAGAIN was read, or cannot be
	 * read: call rm_spool_get again. May be NULL. */
	void (*on_fetched)(void *arg);
	void *arg;
};

struct rm_spool_item {
	uint64_t seq;
	/* aligned to 8 bytes; borrowed until the next turn of the loop, or the next
	 * append */
	const uint8_t *data;
	size_t len;
};

struct rm_spool_counts {
	uint64_t in;    /* records appended since the start */
	uint64_t found; /* records found on disk at the start that were not done */
	uint64_t done;
	/* records dropped because the spool was full, or because they were unreadable
	 * (also counted below) */
	uint64_t dropped_full;
	/* records that were too large, or for which there was no memory: they got no
	 * seq */
	uint64_t refused;
	/* bytes in damaged parts that were moved to *.corrupt */
	uint64_t lost_corrupt_bytes;
	uint64_t quarantined; /* number of the damaged parts that were moved */
	uint64_t failed_writes, failed_syncs, syncs, written_bytes;
	/* 1: records are written to disk; 0: they are in memory only */
	uint64_t durable;
};
/* At any time in + found = done + dropped_full + waiting. */

/* Reads the records in the folder; at the start, in the caller's thread. If the folder
 * can neither be created nor read (full, read-only, no permission), the spool begins in
 * memory and creates the folder as soon as possible; records from before the restart
 * that could not be read then wait for the next start. Fails only for lack of memory,
 * if the path leads to a file, or if another process uses the folder (-EBUSY): -errno
 * and error. */
int rm_spool_new(struct rm_loop *loop, struct rm_worker *worker,
    const struct rm_spool_options *options, const struct rm_spool_callbacks *callbacks,
    struct rm_spool **ret, struct rm_error *error);
/* Free the worker first. Records that were appended and not synced are written, but not
 * synced. */
void rm_spool_free(struct rm_spool *spool);

/* A random number that never changes for this spool: (identity, seq) identifies a
 * record across restarts. */
uint64_t rm_spool_identity(const struct rm_spool *spool);
/* Returns the seq of the next append; numbers may have been skipped after a crash. */
uint64_t rm_spool_next(const struct rm_spool *spool);

/* Appends a record. -EMSGSIZE: it is empty or too large; -ENOMEM. Both count as
 * refused. seq may be NULL. */
int rm_spool_append(
    struct rm_spool *spool, const uint8_t *data, size_t len, uint64_t *seq);

/* Returns the first record with a number >= seq. -ENOENT: there is none (yet). -EAGAIN:
 * it is being read, and on_fetched follows. A record may not be durable yet: wait for
 * on_durable before its number is sent to another process, because after a crash
 * another record may get the same number. */
int rm_spool_get(struct rm_spool *spool, uint64_t seq, struct rm_spool_item *ret);

/* This record and all records before it are done, and may be removed. */
void rm_spool_done(struct rm_spool *spool, uint64_t seq);

uint64_t rm_spool_waiting(const struct rm_spool *spool); /* number of records */
uint64_t rm_spool_waiting_bytes(const struct rm_spool *spool);
/* Number of bytes that a working disk has not synced yet. All of them are in memory,
 * and only max_bytes limits them: a caller that can wait should check this number, and
 * wait for on_durable. */
uint64_t rm_spool_unsynced_bytes(const struct rm_spool *spool);
const struct rm_spool_counts *rm_spool_counts(const struct rm_spool *spool);

#endif
