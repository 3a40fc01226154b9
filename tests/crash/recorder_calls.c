#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/crash/recorder_state.h"
#include "tests/crash/wrapped.h"

static int
refuse(int error)
{
	errno = error;
	return -1;
}

static void
opened(int fd, enum fd_is is, int inode)
{
	if (fd < 0 || fd >= MAX_FDS)
		errx(2, "too many open files");
	recorder.fds[fd].is = is;
	recorder.fds[fd].inode = inode;
}

static int
open_folder(const char *path, int flags)
{
	bool parent = strcmp(path, recorder.parent) == 0;
	int fd = __real_open(path, flags);

	if (fd >= 0)
		opened(fd, parent ? FD_PARENT : FD_FOLDER, NO_INODE);
	return fd;
}

int
__wrap_open(const char *path, int flags, ...)
{
	const char *name = recorder_inside(path);
	struct name *found;
	mode_t mode = 0;
	int fd, error;

	if (flags & O_CREAT) {
		va_list more;

		va_start(more, flags);
		mode = (mode_t)va_arg(more, int);
		va_end(more);
	}
	if (recorder.on &&
	    (strcmp(path, recorder.folder) == 0 || strcmp(path, recorder.parent) == 0))
		return open_folder(path, flags);
	if (name == NULL || (flags & O_ACCMODE) == O_RDONLY)
		return __real_open(path, flags, mode);
	found = recorder_find(name);
	error = recorder_permit(
	    found == NULL && (flags & O_CREAT) ? RECORDER_CREATE : RECORDER_NOTHING);
	if (error != 0)
		return refuse(error);
	fd = __real_open(path, flags, mode);
	if (fd < 0)
		return fd;
	if (found == NULL) {
		recorder_name(name, recorder.trace->inodes++);
		found = recorder_find(name);
		recorder_note(TRACE_CREATE, found->inode, name, "");
	} else if (flags & O_TRUNC) {
		recorder_note(TRACE_CUT, found->inode, "", "");
	}
	opened(fd, FD_FILE, found->inode);
	return fd;
}

static bool
is_file(int fd)
{
	return recorder.on && fd >= 0 && fd < MAX_FDS && recorder.fds[fd].is == FD_FILE;
}

static void
written(int fd, const void *data, size_t len, uint64_t at)
{
	struct trace_op op = { .kind = TRACE_WRITE,
		.inode = recorder.fds[fd].inode,
		.at = at,
		.data = (uint8_t *)(uintptr_t)data,
		.len = len };

	trace_add(recorder.trace, &op);
}

/* Returns how much may be written. 0 with errno: nothing. */
static size_t
permit_write(size_t len)
{
	bool dead = recorder.dead;
	int error;

	if (recorder.short_write) {
		recorder.short_write = false;
		errno = recorder.fail_errno;
		return 0;
	}
	error = recorder_permit(RECORDER_WRITE);
	if (error == 0)
		return len;
	errno = error;
	if (dead)
		return 0;
	/* A part was written before kill -9, or before the disk was full. */
	recorder.short_write = !recorder.dead;
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
		recorder.short_write = false;
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
	int error = recorder_permit(RECORDER_SYNC_FOLDER);

	if (error != 0)
		return refuse(error);
	if (recorder_broken == BROKEN_NO_FOLDER_SYNC ||
	    (recorder_broken == BROKEN_NO_PARENT_SYNC && kind == TRACE_SYNC_PARENT))
		return 0;
	recorder_note(kind, NO_INODE, "", "");
	return 0;
}

static int
sync_file(int fd)
{
	int error;

	if (recorder_broken == BROKEN_NO_SYNC && !recorder.dead)
		return 0;
	error = recorder_permit(RECORDER_SYNC);
	if (error != 0 && !recorder.dead)
		recorder_note(TRACE_SYNC_FAILED, recorder.fds[fd].inode, "", "");
	if (error != 0 && (recorder.dead || recorder_broken != BROKEN_SYNC_AGAIN))
		return refuse(error);
	recorder_note(TRACE_SYNC, recorder.fds[fd].inode, "", "");
	return 0;
}

int
__wrap_fsync(int fd)
{
	if (is_file(fd))
		return sync_file(fd);
	if (!recorder.on || fd < 0 || fd >= MAX_FDS ||
	    recorder.fds[fd].is == FD_FOREIGN)
		return __real_fsync(fd);
	return sync_folder(
	    recorder.fds[fd].is == FD_PARENT ? TRACE_SYNC_PARENT : TRACE_SYNC_FOLDER);
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
	error = recorder_permit(RECORDER_NOTHING);
	if (error != 0)
		return refuse(error);
	op.inode = recorder.fds[fd].inode;
	trace_add(recorder.trace, &op);
	return __real_ftruncate(fd, len);
}

int
__wrap_close(int fd)
{
	if (recorder.on && fd >= 0 && fd < MAX_FDS)
		recorder.fds[fd].is = FD_FOREIGN;
	return __real_close(fd);
}

static int
named(enum trace_kind kind, enum recorder_act act, const char *from, const char *to)
{
	const char *name = recorder_inside(from), *other = recorder_inside(to);
	int error = recorder_permit(act), inode;

	if (error != 0)
		return refuse(error);
	if ((kind == TRACE_LINK ? __real_link(from, to) : __real_rename(from, to)) < 0)
		return -1;
	inode = recorder_find(name)->inode;
	recorder_name(other, inode);
	if (kind == TRACE_RENAME)
		recorder_forget(name);
	recorder_note(kind, inode, name, other);
	return 0;
}

int
__wrap_rename(const char *from, const char *to)
{
	return recorder_inside(from) == NULL
		   ? __real_rename(from, to)
		   : named(TRACE_RENAME, RECORDER_RENAME, from, to);
}

int
__wrap_link(const char *from, const char *to)
{
	return recorder_inside(from) == NULL
		   ? __real_link(from, to)
		   : named(TRACE_LINK, RECORDER_CREATE, from, to);
}

static int
permit_unlink(const char *name)
{
	int error;

	if (recorder_find(name) == NULL)
		return ENOENT;
	error = recorder_permit(RECORDER_UNLINK);
	if (error != 0)
		return error;
	recorder_note(TRACE_UNLINK, recorder_find(name)->inode, name, "");
	recorder_forget(name);
	return 0;
}

int
__wrap_unlink(const char *path)
{
	const char *name = recorder_inside(path);
	int error = name == NULL ? 0 : permit_unlink(name);

	return error != 0 ? refuse(error) : __real_unlink(path);
}

int
__wrap_unlinkat(int fd, const char *path, int flags)
{
	const char *name = recorder_inside(path);
	int error = name == NULL ? 0 : permit_unlink(name);

	return error != 0 ? refuse(error) : __real_unlinkat(fd, path, flags);
}

int
__wrap_mkdir(const char *path, mode_t mode)
{
	int error;

	if (!recorder.on || strcmp(path, recorder.folder) != 0)
		return __real_mkdir(path, mode);
	error = recorder_permit(RECORDER_CREATE);
	if (error != 0)
		return refuse(error);
	if (__real_mkdir(path, mode) < 0)
		return -1;
	recorder_note(TRACE_MKDIR, NO_INODE, "", "");
	return 0;
}

uint32_t
__wrap_rm_crc32c(uint32_t crc, const uint8_t *data, size_t len)
{
	return recorder_broken == BROKEN_NO_CHECKSUM ? 0x5eed
						     : __real_rm_crc32c(crc, data, len);
}
