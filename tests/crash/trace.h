/*
 * trace - the calls of a spool on its folder, as the recorder saw them. Files are
 * numbered (inode); a name is one in the spool's folder.
 */
#ifndef TESTS_CRASH_TRACE_H
#define TESTS_CRASH_TRACE_H

#include <stddef.h>
#include <stdint.h>

#define TRACE_NAME 40

enum trace_kind {
	TRACE_MKDIR,  /* creates the folder */
	TRACE_CREATE, /* creates name for inode */
	TRACE_RENAME, /* name, which is inode, becomes other */
	TRACE_LINK,
	TRACE_UNLINK,
	TRACE_WRITE, /* writes data at `at` of inode */
	TRACE_CUT,   /* cuts inode at `at` */
	TRACE_SYNC,
	TRACE_SYNC_FAILED, /* failed: data not synced yet never becomes durable */
	TRACE_SYNC_FOLDER,
	TRACE_SYNC_PARENT, /* syncs the folder */
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
	int inodes; /* number of inodes */
};

void trace_clear(struct trace *trace);
/* Copies data. Exits if there is no memory. */
void trace_add(struct trace *trace, const struct trace_op *op);
void trace_print(const struct trace *trace, size_t from, size_t to);

#endif
