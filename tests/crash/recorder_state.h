/*
 * recorder_state - the recorder's state, for the wrapped calls.
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

/* 0: the call is allowed; else it fails with this errno. */
int recorder_permit(enum recorder_act act);
/* The name of a path inside the folder; NULL: it is outside. */
const char *recorder_inside(const char *path);
struct name *recorder_find(const char *name);
void recorder_forget(const char *name);
void recorder_name(const char *name, int inode);
void recorder_note(
    enum trace_kind kind, int inode, const char *name, const char *other);

#endif
