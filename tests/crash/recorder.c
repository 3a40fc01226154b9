#include "tests/crash/recorder.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/crash/wrapped.h"

#define MAX_FDS 1024
#define NO_INODE (-1)

enum fd_is { FD_FOREIGN, FD_FILE, FD_FOLDER, FD_PARENT };

struct name {
	char name[TRACE_NAME];
	int inode;
};

static struct {
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
} me;

enum recorder_broken recorder_broken;

void
recorder_begin(const char *parent, const char *folder, const struct image *image,
    struct trace *trace)
{
	memset(&me, 0, sizeof(me));
	me.on = true;
	me.parent = parent;
	me.folder = folder;
	me.folder_len = strlen(folder);
	me.trace = trace;
	for (size_t i = 0; i < image->count; i++) {
		memcpy(me.names[i].name, image->files[i].name, TRACE_NAME);
		me.names[i].inode = (int)i;
	}
	me.name_count = image->count;
	trace->inodes = (int)image->count;
}

void
recorder_end(void)
{
	me.on = false;
}

void
recorder_fail(enum recorder_act act, unsigned after, unsigned count, int error)
{
	me.fail = act;
	me.fail_after = after;
	me.fail_count = count;
	me.fail_errno = error;
}

unsigned
recorder_failed(void)
{
	return me.failed;
}

void
recorder_die(unsigned after)
{
	me.mortal = true;
	me.die_after = after;
}

void
recorder_live(void)
{
	me.mortal = me.dead = me.short_write = false;
	recorder_fail(RECORDER_NOTHING, 0, 0, 0);
}

/* 0: it may happen; else what it fails with. */
static int
permit(enum recorder_act act)
{
	if (me.mortal && !me.dead && me.die_after-- == 0)
		me.dead = true;
	if (me.dead)
		return EIO;
	if (me.fail != act || me.fail_count == 0)
		return 0;
	if (me.fail_after > 0) {
		me.fail_after--;
		return 0;
	}
	me.fail_count--;
	me.failed++;
	return me.fail_errno;
}

static int
refuse(int error)
{
	errno = error;
	return -1;
}

/* A path's name in the folder; NULL: it is none of ours. */
static const char *
inside(const char *path)
{
	if (!me.on)
		return NULL;
	if (strchr(path, '/') == NULL)
		return path; /* of unlinkat: the folder is all that is listed */
	if (strncmp(path, me.folder, me.folder_len) != 0 || path[me.folder_len] != '/')
		return NULL;
	return path + me.folder_len + 1;
}

static struct name *
find(const char *name)
{
	for (size_t i = 0; i < me.name_count; i++)
		if (strcmp(me.names[i].name, name) == 0)
			return &me.names[i];
	return NULL;
}

static void
forget(const char *name)
{
	struct name *found = find(name);

	if (found != NULL)
		*found = me.names[--me.name_count];
}

static void
name_is(const char *name, int inode)
{
	struct name *found = find(name);

	if (found == NULL) {
		if (me.name_count == IMAGE_MAX_FILES || strlen(name) >= TRACE_NAME)
			errx(2, "too many files, or too long a name: %s", name);
		found = &me.names[me.name_count++];
		strcpy(found->name, name);
	}
	found->inode = inode;
}

static void
record(enum trace_kind kind, int inode, const char *name, const char *other)
{
	struct trace_op op = { .kind = kind, .inode = inode };

	strncpy(op.name, name, TRACE_NAME - 1);
	strncpy(op.other, other, TRACE_NAME - 1);
	trace_add(me.trace, &op);
}

static void
opened(int fd, enum fd_is is, int inode)
{
	if (fd < 0 || fd >= MAX_FDS)
		errx(2, "too many open files");
	me.fds[fd].is = is;
	me.fds[fd].inode = inode;
}

static int
open_folder(const char *path, int flags)
{
	bool parent = strcmp(path, me.parent) == 0;
	int fd = __real_open(path, flags);

	if (fd >= 0)
		opened(fd, parent ? FD_PARENT : FD_FOLDER, NO_INODE);
	return fd;
}

int
__wrap_open(const char *path, int flags, ...)
{
	const char *name = inside(path);
	struct name *found;
	mode_t mode = 0;
	int fd, error;

	if (flags & O_CREAT) {
		va_list more;

		va_start(more, flags);
		mode = (mode_t)va_arg(more, int);
		va_end(more);
	}
	if (me.on && (strcmp(path, me.folder) == 0 || strcmp(path, me.parent) == 0))
		return open_folder(path, flags);
	if (name == NULL || (flags & O_ACCMODE) == O_RDONLY)
		return __real_open(path, flags, mode);
	found = find(name);
	error = permit(
	    found == NULL && (flags & O_CREAT) ? RECORDER_CREATE : RECORDER_NOTHING);
	if (error != 0)
		return refuse(error);
	fd = __real_open(path, flags, mode);
	if (fd < 0)
		return fd;
	if (found == NULL) {
		name_is(name, me.trace->inodes++);
		found = find(name);
		record(TRACE_CREATE, found->inode, name, "");
	} else if (flags & O_TRUNC) {
		record(TRACE_CUT, found->inode, "", "");
	}
	opened(fd, FD_FILE, found->inode);
	return fd;
}

static bool
is_file(int fd)
{
	return me.on && fd >= 0 && fd < MAX_FDS && me.fds[fd].is == FD_FILE;
}

static void
written(int fd, const void *data, size_t len, uint64_t at)
{
	struct trace_op op = { .kind = TRACE_WRITE,
		.inode = me.fds[fd].inode,
		.at = at,
		.data = (uint8_t *)(uintptr_t)data,
		.len = len };

	trace_add(me.trace, &op);
}

/* How much of it may be written; 0 and errno: nothing. */
static size_t
permit_write(size_t len)
{
	bool dead = me.dead;
	int error;

	if (me.short_write) {
		me.short_write = false;
		errno = me.fail_errno;
		return 0;
	}
	error = permit(RECORDER_WRITE);
	if (error == 0)
		return len;
	errno = error;
	if (dead)
		return 0;
	/* A part of it was written before kill -9, or the end of the room. */
	me.short_write = !me.dead;
	return len / 2;
}

ssize_t
__wrap_write(int fd, const void *data, size_t len)
{
	ssize_t n;

	if (!is_file(fd))
		return __real_write(fd, data, len);
	len = permit_write(len);
	if (len == 0)
		return -1;
	n = __real_write(fd, data, len);
	if (n > 0)
		written(
		    fd, data, (size_t)n, (uint64_t)(lseek(fd, 0, SEEK_CUR) - (off_t)n));
	return n;
}

ssize_t
__wrap_pwrite(int fd, const void *data, size_t len, off_t at)
{
	ssize_t n;

	if (!is_file(fd))
		return __real_pwrite(fd, data, len, at);
	if (permit_write(len) != len) {
		me.short_write = false;
		return -1;
	}
	n = __real_pwrite(fd, data, len, at);
	if (n > 0)
		written(fd, data, (size_t)n, (uint64_t)at);
	return n;
}

static int
sync_folder(enum trace_kind kind)
{
	int error = permit(RECORDER_SYNC_FOLDER);

	if (error != 0)
		return refuse(error);
	if (recorder_broken == BROKEN_NO_FOLDER_SYNC ||
	    (recorder_broken == BROKEN_NO_PARENT_SYNC && kind == TRACE_SYNC_PARENT))
		return 0;
	record(kind, NO_INODE, "", "");
	return 0;
}

static int
sync_file(int fd)
{
	int error;

	if (recorder_broken == BROKEN_NO_SYNC && !me.dead)
		return 0;
	error = permit(RECORDER_SYNC);
	if (error != 0 && !me.dead)
		record(TRACE_SYNC_FAILED, me.fds[fd].inode, "", "");
	if (error != 0 && (me.dead || recorder_broken != BROKEN_SYNC_AGAIN))
		return refuse(error);
	record(TRACE_SYNC, me.fds[fd].inode, "", "");
	return 0;
}

int
__wrap_fsync(int fd)
{
	if (is_file(fd))
		return sync_file(fd);
	if (!me.on || fd < 0 || fd >= MAX_FDS || me.fds[fd].is == FD_FOREIGN)
		return __real_fsync(fd);
	return sync_folder(
	    me.fds[fd].is == FD_PARENT ? TRACE_SYNC_PARENT : TRACE_SYNC_FOLDER);
}

int
__wrap_fdatasync(int fd)
{
	return is_file(fd) ? sync_file(fd) : __real_fdatasync(fd);
}

int
__wrap_ftruncate(int fd, off_t len)
{
	struct trace_op op = { .kind = TRACE_CUT, .at = (uint64_t)len };
	int error;

	if (!is_file(fd))
		return __real_ftruncate(fd, len);
	error = permit(RECORDER_NOTHING);
	if (error != 0)
		return refuse(error);
	op.inode = me.fds[fd].inode;
	trace_add(me.trace, &op);
	return __real_ftruncate(fd, len);
}

int
__wrap_close(int fd)
{
	if (me.on && fd >= 0 && fd < MAX_FDS)
		me.fds[fd].is = FD_FOREIGN;
	return __real_close(fd);
}

static int
named(enum trace_kind kind, enum recorder_act act, const char *from, const char *to)
{
	const char *name = inside(from), *other = inside(to);
	int error = permit(act), inode;

	if (error != 0)
		return refuse(error);
	if ((kind == TRACE_LINK ? __real_link(from, to) : __real_rename(from, to)) < 0)
		return -1;
	inode = find(name)->inode;
	name_is(other, inode);
	if (kind == TRACE_RENAME)
		forget(name);
	record(kind, inode, name, other);
	return 0;
}

int
__wrap_rename(const char *from, const char *to)
{
	return inside(from) == NULL ? __real_rename(from, to)
				    : named(TRACE_RENAME, RECORDER_RENAME, from, to);
}

int
__wrap_link(const char *from, const char *to)
{
	return inside(from) == NULL ? __real_link(from, to)
				    : named(TRACE_LINK, RECORDER_CREATE, from, to);
}

static int
permit_unlink(const char *name)
{
	int error;

	if (find(name) == NULL)
		return ENOENT;
	error = permit(RECORDER_UNLINK);
	if (error != 0)
		return error;
	record(TRACE_UNLINK, find(name)->inode, name, "");
	forget(name);
	return 0;
}

int
__wrap_unlink(const char *path)
{
	const char *name = inside(path);
	int error = name == NULL ? 0 : permit_unlink(name);

	return error != 0 ? refuse(error) : __real_unlink(path);
}

int
__wrap_unlinkat(int fd, const char *path, int flags)
{
	const char *name = inside(path);
	int error = name == NULL ? 0 : permit_unlink(name);

	return error != 0 ? refuse(error) : __real_unlinkat(fd, path, flags);
}

int
__wrap_mkdir(const char *path, mode_t mode)
{
	int error;

	if (!me.on || strcmp(path, me.folder) != 0)
		return __real_mkdir(path, mode);
	error = permit(RECORDER_CREATE);
	if (error != 0)
		return refuse(error);
	if (__real_mkdir(path, mode) < 0)
		return -1;
	record(TRACE_MKDIR, NO_INODE, "", "");
	return 0;
}

uint32_t
__wrap_rm_crc32c(uint32_t crc, const uint8_t *data, size_t len)
{
	return recorder_broken == BROKEN_NO_CHECKSUM ? 0x5eed
						     : __real_rm_crc32c(crc, data, len);
}
