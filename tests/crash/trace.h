/*
 * trace - what a spool did to its folder, call by call, as the recorder saw it.
 *
 * Files are numbered (inode); a name is one in the spool's folder.
 */
#ifndef TESTS_CRASH_TRACE_H
#define TESTS_CRASH_TRACE_H

#include <stddef.h>
#include <stdint.h>

#define TRACE_NAME 40

enum trace_kind {
	TRACE_MKDIR,  /* the folder */
	TRACE_CREATE, /* name is inode */
	TRACE_RENAME, /* name, which is inode, to other */
	TRACE_LINK,
	TRACE_UNLINK,
	TRACE_WRITE, /* data at `at` of inode */
	TRACE_CUT,   /* inode ends at `at` */
	TRACE_SYNC,
	TRACE_SYNC_FAILED, /* what was not synced yet never will be */
	TRACE_SYNC_FOLDER,
	TRACE_SYNC_PARENT, /* of the folder */
};

struct trace_op {
	enum trace_kind kind;
	int inode;
	char name[TRACE_NAME], other[TRACE_NAME];
	uint64_t at;
	uint8_t *data;
	size_t len;
};

struct trace {
	struct trace_op *ops;
	size_t count, capacity;
	int inodes; /* numbers given */
};

void trace_clear(struct trace *trace);
/* Copies data; ends the program when memory does. */
void trace_add(struct trace *trace, const struct trace_op *op);
void trace_print(const struct trace *trace, size_t from, size_t to);

#endif
