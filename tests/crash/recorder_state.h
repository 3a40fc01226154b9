/*
 * recorder_state - what the recorder knows; of the calls that go through it.
 */
#ifndef TESTS_CRASH_RECORDER_STATE_H
#define TESTS_CRASH_RECORDER_STATE_H

#include <stdint.h>

#include "tests/crash/recorder.h"

#define MAX_FDS 1024
#define NO_INODE (-1)

enum fd_is { FD_FOREIGN, FD_FILE, FD_FOLDER, FD_PARENT };

struct name {
	char name[TRACE_NAME];
	int inode;
};

struct recorder {
	bool on, dead, short_write;
	const char *parent, *folder;
	size_t folder_len;
	struct trace *trace;
	struct name names[IMAGE_MAX_FILES];
	size_t name_count;
	struct {
		enum fd_is is;
		int inode;
	} fds[MAX_FDS];
	enum recorder_act fail;
	unsigned fail_after, fail_count, failed;
	int fail_errno;
	bool mortal;
	unsigned die_after;
};

extern struct recorder recorder;

/* 0: it may happen; else what it fails with. */
int recorder_permit(enum recorder_act act);
/* A path's name in the folder; NULL: it is none of ours. */
const char *recorder_inside(const char *path);
struct name *recorder_find(const char *name);
void recorder_forget(const char *name);
void recorder_name(const char *name, int inode);
void recorder_note(
    enum trace_kind kind, int inode, const char *name, const char *other);

#endif
