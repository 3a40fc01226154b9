/*
 * recorder - stands between the spool and the disk: records what it does, lets chosen
 * calls fail, or all of them from some call on, as after kill -9.
 *
 * By the linker's --wrap: nothing of it is in the spool. One at a time; what happens
 * outside of the folder passes through. Broken ways to keep a spool show whether the
 * search finds anything.
 */
#ifndef TESTS_CRASH_RECORDER_H
#define TESTS_CRASH_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/crash/image.h"
#include "tests/crash/trace.h"

enum recorder_act {
	RECORDER_NOTHING,
	RECORDER_CREATE,
	RECORDER_WRITE, /* the first half is written */
	RECORDER_SYNC,
	RECORDER_SYNC_FOLDER,
	RECORDER_RENAME,
	RECORDER_UNLINK,
	RECORDER_ACTS,
};

enum recorder_broken {
	BROKEN_NOT,
	BROKEN_NO_SYNC,        /* promises before it is on disk */
	BROKEN_NO_FOLDER_SYNC, /* of new names */
	BROKEN_NO_PARENT_SYNC, /* of the folder's own name */
	BROKEN_SYNC_AGAIN,     /* a failed fsync is repeated */
	BROKEN_NO_CHECKSUM,
	BROKEN_COUNT,
};

extern enum recorder_broken recorder_broken;

/* The folder now holds image, or does not exist; its files get the numbers 0 .. */
void recorder_begin(const char *parent, const char *folder, const struct image *image,
    struct trace *trace);
void recorder_end(void);

/* The act after so many of its kind, and `count` of them, fail with this errno. */
void recorder_fail(enum recorder_act act, unsigned after, unsigned count, int error);
unsigned recorder_failed(void); /* how often, so far */
/* From the call after so many others on nothing reaches the disk any more. */
void recorder_die(unsigned after);
void recorder_live(void); /* again */

#endif
