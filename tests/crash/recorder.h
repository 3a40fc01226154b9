/*
 * recorder - between the spool and the disk: records the spool's calls, and lets chosen
 * calls fail, or all calls after some point, as after kill -9. It uses the linker's
 * --wrap, so the spool's code is unchanged.
 *
 * There is one recorder; calls outside of the folder pass through. The broken variants
 * show whether the search finds faults.
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
	RECORDER_WRITE, /* writes only the first half */
	RECORDER_SYNC,
	RECORDER_SYNC_FOLDER,
	RECORDER_RENAME,
	RECORDER_UNLINK,
	RECORDER_ACTS,
};

enum recorder_broken {
	BROKEN_NOT,
	BROKEN_NO_SYNC,        /* promises before the data is on disk */
	BROKEN_NO_FOLDER_SYNC, /* for new names */
	BROKEN_NO_PARENT_SYNC, /* for the folder's own name */
	BROKEN_SYNC_AGAIN,     /* repeats a failed fsync */
	BROKEN_NO_CHECKSUM,
	BROKEN_COUNT,
};

extern enum recorder_broken recorder_broken;

/* The folder now equals image, or does not exist. Its files get the numbers from 0. */
void recorder_begin(const char *parent, const char *folder, const struct image *image,
    struct trace *trace);
void recorder_end(void);

/* `count` calls of this kind fail with this errno, after `after` successful ones. */
void recorder_fail(enum recorder_act act, unsigned after, unsigned count, int error);
unsigned recorder_failed(void); /* how often so far */
/* After this number of further calls nothing reaches the disk any more. */
void recorder_die(unsigned after);
void recorder_live(void); /* ends recorder_die */

#endif
