/*
 * spool_disk - a spool's operations on its folder. All functions block: call them on
 * the worker, or before the loop runs. The order of the steps makes a crash harmless: a
 * file gets its name after it was completely written and synced; a file is removed only
 * after another synced file (a later segment, or `done`) shows that its numbers were
 * used.
 */
#ifndef RACKMESH_SPOOL_SPOOL_DISK_H
#define RACKMESH_SPOOL_SPOOL_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_PATH_BYTES 4096
#define SPOOL_DONE_BYTES 48
#define SPOOL_MAX_UNLINKS 64
/* Largest file that is read; a larger one is no segment. */
#define SPOOL_MAX_FILE_BYTES (64u << 20)

enum spool_life {
	SPOOL_RUNNING = 0,
	SPOOL_CLEAN = 1, /* the last process has ended in order, and all was synced */
	/* numbers may have been used by records that never were on disk */
	SPOOL_UNSURE = 2,
};

struct spool_done {
	uint64_t identity;
	uint64_t done; /* all records up to this number are done */
	uint64_t next; /* no number from here on was used when the file was written */
	uint32_t life;
};

struct spool_batch {        /* bytes to append to one file */
	uint64_t first_seq; /* of the file */
	uint64_t at;   /* offset; 0: a new file, whose bytes begin with the header */
	uint8_t *data; /* owned by the job */
	size_t len;    /* 0: none */
};

struct spool_unlink {
	uint64_t first_seq;
	/* another file, which is not removed, shows that its numbers were used */
	bool covered;
	bool gone; /* result: the file was removed */
};

struct spool_job {
	const char *folder; /* borrowed; valid for the spool's life */
	struct spool_done done;
	bool settle;     /* first create the folder; if that fails, do nothing else */
	bool adopt;      /* the folder's files were never read: it must be empty */
	uint64_t renew;  /* the first seq of a file to make durable as well; 0: none */
	bool renew_room; /* there is room for a second copy of that file */
	bool write_done, sweep; /* sweep: remove the *.corrupt files */
	struct spool_unlink unlinks[SPOOL_MAX_UNLINKS];
	size_t unlink_count;
	struct spool_batch batch;
	/* lock on the folder; -1: there is none. The step `settle` may set it */
	int lock;
	/* results: */
	int settle_r, done_r, sweep_r, unlink_r, batch_r;
	bool synced;          /* the fsync was called (and failed, if batch_r < 0) */
	uint64_t batch_bytes; /* size of the file after the batch was written */
};

void spool_name(const char *folder, uint64_t first_seq, const char *suffix,
    char path[SPOOL_PATH_BYTES]);

/* Does the steps in this order: settle, done, sweep, unlinks, batch. */
void spool_job_run(struct spool_job *job);

/* Creates the folder, with its parent if necessary, and syncs its name. */
int spool_folder_settle(const char *folder);
/* Makes a file of an earlier process durable. That process may have written it without
 * an fsync, or with a failed one, which another fsync does not repair. So the file is
 * copied, unchanged, if there is room. Returns 0 also if the file does not exist. */
int spool_file_renew(const char *folder, uint64_t first_seq, bool room);
/* Cuts the file to bytes: what follows belongs to no record and takes up room. */
int spool_file_cut(const char *folder, uint64_t first_seq, uint64_t bytes);
int spool_settle(struct spool_job *job); /* the first step of a job */

int spool_done_read(const char *folder, struct spool_done *ret); /* -ENOENT, -EBADMSG */
int spool_done_write(const char *folder, const struct spool_done *done);
/* Changes the file in place, for a disk without room. It may fail. */
void spool_done_mark_unsure(const char *folder, const struct spool_done *done);

/* Writes and syncs the whole file under another name, then renames it. */
int spool_file_create(const char *path, const uint8_t *data, size_t len, bool *synced);
int spool_folder_sync(const char *folder);
/* Locks the folder. The lock lasts until the returned descriptor is closed, or the
 * process ends. -EBUSY: another process has it. Any other error: this file system
 * cannot lock. */
int spool_folder_lock(const char *folder);
/* Reads bytes from offset at. -ENODATA: the file is shorter. */
int spool_file_read(const char *path, uint64_t at, uint8_t *data, size_t bytes);

/* The files in a spool's folder. */
#define SPOOL_CORRUPT ".corrupt" /* suffix of files with damaged data */

struct spool_names { /* names of segments, in order */
	uint64_t *first_seqs;
	size_t count, capacity;
};

/* Lists the segments, and removes unfinished files. Adds to *aside the bytes of damaged
 * files that were set aside before. The caller clears *ret, also after an error. */
int spool_names_list(const char *folder, struct spool_names *ret, uint64_t *aside);
void spool_names_clear(struct spool_names *names);

#endif
