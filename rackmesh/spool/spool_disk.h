/*
 * spool_disk - a spool's operations on its folder. All functions block: call them on
 * the worker, or before the loop runs. The order of the steps makes a crash harmless: a
 * file gets its name only when it is whole and synced; a file is removed only when
 * another synced file (a later segment, or `done`) shows that its numbers are used.
 */
#ifndef RACKMESH_SPOOL_SPOOL_DISK_H
#define RACKMESH_SPOOL_SPOOL_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_PATH_BYTES 4096
#define SPOOL_DONE_BYTES 48
#define SPOOL_MAX_UNLINKS 64
/* Limit on a file that is read; a larger one is no segment. */
#define SPOOL_MAX_FILE_BYTES (64u << 20)

enum spool_life {
	SPOOL_RUNNING = 0,
	SPOOL_CLEAN = 1,  /* it has ended, and all of it was synced */
	SPOOL_UNSURE = 2, /* numbers may have been used that were never on a disk */
};

struct spool_done {
	uint64_t identity;
	uint64_t done; /* all up to and with this one are gone */
	uint64_t next; /* no number from here on was used when this was written */
	uint32_t life;
};

struct spool_batch {        /* one append to one file */
	uint64_t first_seq; /* of the file */
	uint64_t at;        /* 0: a new file, the bytes begin with its header */
	uint8_t *data;      /* owned by the job */
	size_t len;         /* 0: none */
};

struct spool_unlink {
	uint64_t first_seq;
	bool covered; /* its numbers are known from a file that stays */
	bool gone;    /* answer */
};

struct spool_job {
	const char *folder; /* borrowed: constant for the spool's life */
	struct spool_done done;
	bool settle;    /* make the folder first; if that fails, nothing else is done */
	bool adopt;     /* its files were never read: it has to be empty */
	uint64_t renew; /* the file of this first seq, too; 0: none */
	bool renew_room;        /* for a second one of it */
	bool write_done, sweep; /* sweep: remove the *.corrupt files */
	struct spool_unlink unlinks[SPOOL_MAX_UNLINKS];
	size_t unlink_count;
	struct spool_batch batch;
	int lock; /* on the folder; -1: none. Of settle, also an answer */
	/* answers */
	int settle_r, done_r, sweep_r, unlink_r, batch_r;
	bool synced;          /* the fsync ran (and failed, if batch_r < 0) */
	uint64_t batch_bytes; /* of the file afterwards */
};

void spool_name(const char *folder, uint64_t first_seq, const char *suffix,
    char path[SPOOL_PATH_BYTES]);

/* In this order: settle, done, sweep, unlinks, batch. */
void spool_job_run(struct spool_job *job);

/* Made, if need be with its parent; its own name synced. */
int spool_folder_settle(const char *folder);
/* Makes a file from before the restart durable. The former process may have written the
 * file without an fsync, or with one that failed, which another fsync does not repair:
 * the file is written again, unchanged, if there is room. 0 also if the file does not
 * exist. */
int spool_file_renew(const char *folder, uint64_t first_seq, bool room);
/* Cuts the file there: bytes after it belong to no record and take room. */
int spool_file_cut(const char *folder, uint64_t first_seq, uint64_t bytes);
int spool_settle(struct spool_job *job); /* the part of the job that comes first */

int spool_done_read(const char *folder, struct spool_done *ret); /* -ENOENT, -EBADMSG */
int spool_done_write(const char *folder, const struct spool_done *done);
/* In place, for a disk that has no room: best effort. */
void spool_done_mark_unsure(const char *folder, const struct spool_done *done);

/* Writes and syncs the whole file under another name, then renames it. */
int spool_file_create(const char *path, const uint8_t *data, size_t len, bool *synced);
int spool_folder_sync(const char *folder);
/* Locks the folder. The lock lasts until the returned descriptor is closed, or the
 * process ends. -EBUSY: another process has it. Any other error: this file system
 * cannot lock. */
int spool_folder_lock(const char *folder);
/* bytes from at; -ENODATA when the file is shorter. */
int spool_file_read(const char *path, uint64_t at, uint8_t *data, size_t bytes);

/* The files in a spool's folder. */
#define SPOOL_CORRUPT ".corrupt" /* suffix of files with damaged data */

struct spool_names { /* of segments, in order */
	uint64_t *first_seqs;
	size_t count, capacity;
};

/* Removes unfinished files; adds to aside the bytes of files that were moved there
 * before. The caller clears ret, also after an error. */
int spool_names_list(const char *folder, struct spool_names *ret, uint64_t *aside);
void spool_names_clear(struct spool_names *names);

#endif
