/*
 * spool - a bounded queue of records that survives: segments on disk, in order.
 *
 * A record gets a number (seq, from 1, never used again), is written, and is durable
 * once its segment was fsynced; one fsync on the worker covers all records appended
 * while the last one ran (group commit). Acknowledge a record to another process only
 * from on_durable. Records that are done are removed from the front; when the spool is
 * full, the oldest segment is removed first and is counted.
 *
 * On disk: folder/NNNNNNNNNNNNNNNN.spool, named by its first seq in hex. A segment
 * begins with a header (magic, version, the spool's identity, first seq, CRC-32C) and
 * holds records (length, seq, CRC-32C over both and the bytes). How far records are
 * done with lies in folder/done, replaced atomically and lazily: what was done shortly
 * before a crash comes again. A record that was not written to its end ends a segment.
 * Any other damaged part is moved to a file *.corrupt and counted; it never prevents
 * the start. After a failed write or fsync the segment is sealed at its last durable
 * record, and the records behind it that are not done are written again into a new
 * segment: an fsync is never repeated on the same file. Data found at a start that
 * perhaps was never synced is written again, too. While the disk accepts no writes
 * (ENOSPC, EIO, read-only), records are kept in memory, `durable` is 0, and on_durable
 * is still called for records that fit into memory: they are lost if this process ends.
 * When the disk accepts writes again, the spool returns to it without help.
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
	/* Copied; made, if need be with its parent. NULL: memory only. */
	const char *folder;
	uint64_t max_bytes;     /* on disk, all files; of records in memory for NULL */
	uint64_t segment_bytes; /* 0: an eighth of max_bytes, at most 8 MiB */
	/* Limit on records kept in memory for fast reading, besides those that are not
	 * durable yet; 0: 8 MiB. Older ones are read back from disk, on the worker. */
	uint64_t memory_bytes;
	uint64_t identity; /* random: for a spool that is created */
};

struct rm_spool_callbacks {
	/* Every record up to and with seq is safe. Never from inside append. May be
	 * NULL. */
	void (*on_durable)(uint64_t seq, void *arg);
	/* The record that rm_spool_get had to fetch was read, or cannot be read: call
	 * rm_spool_get again. May be NULL. */
	void (*on_fetched)(void *arg);
	void *arg;
};

struct rm_spool_item {
	uint64_t seq;
	const uint8_t *data; /* aligned to 8; borrowed until the loop turns or append */
	size_t len;
};

struct rm_spool_counts {
	uint64_t in;    /* appended since the start */
	uint64_t found; /* on disk at the start, not done with */
	uint64_t done;
	uint64_t dropped_full; /* dropped because the spool was full; or unreadable, and
				  counted below */
	uint64_t refused;      /* too large, or no memory: never got a seq */
	uint64_t lost_corrupt_bytes; /* in damaged parts that were moved to *.corrupt */
	uint64_t quarantined;        /* such parts */
	uint64_t failed_writes, failed_syncs, syncs, written_bytes;
	uint64_t durable; /* 1; 0 while records are in memory only */
};
/* Always holds: in + found = done + dropped_full + waiting. */

/* Reads the folder's records (at start, on the caller's thread). If the folder can
 * neither be made nor read (full, read-only, no permission), the spool begins in memory
 * and makes the folder as soon as it can; records from before the restart that could
 * not be read then wait for the next start. Fails only without memory, when the path
 * leads to a file, or when another process uses the folder (-EBUSY): -errno and
 * error. */
int rm_spool_new(struct rm_loop *loop, struct rm_worker *worker,
    const struct rm_spool_options *options, const struct rm_spool_callbacks *callbacks,
    struct rm_spool **ret, struct rm_error *error);
/* Free the worker first. Records that were appended and not synced are written, but not
 * synced. */
void rm_spool_free(struct rm_spool *spool);

/* Random, and never changes for this spool: (identity, seq) names a record across
 * restarts. */
uint64_t rm_spool_identity(const struct rm_spool *spool);
uint64_t rm_spool_next(const struct rm_spool *spool); /* seq of the next append. After
	a crash numbers may have been skipped */

/* -EMSGSIZE (or empty), -ENOMEM: counted as refused. seq may be NULL. */
int rm_spool_append(
    struct rm_spool *spool, const uint8_t *data, size_t len, uint64_t *seq);

/* The first record with a number >= seq. -ENOENT: there is none (yet). -EAGAIN: it is
 * being read, and on_fetched follows. The record may not be durable yet: wait for
 * on_durable before sending its number to another process, as after a crash another
 * record may get the same number. */
int rm_spool_get(struct rm_spool *spool, uint64_t seq, struct rm_spool_item *ret);

/* This record and all before it are done and may be removed. */
void rm_spool_done(struct rm_spool *spool, uint64_t seq);

uint64_t rm_spool_waiting(const struct rm_spool *spool); /* records */
uint64_t rm_spool_waiting_bytes(const struct rm_spool *spool);
/* Bytes that a working disk has not synced yet: all of them are in memory, limited only
 * by max_bytes. A caller that can wait checks this, and waits for on_durable. */
uint64_t rm_spool_unsynced_bytes(const struct rm_spool *spool);
const struct rm_spool_counts *rm_spool_counts(const struct rm_spool *spool);

#endif
