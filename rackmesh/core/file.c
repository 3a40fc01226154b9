#include "rackmesh/core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/log.h"

#define FILE_FIRST_BYTES 4096
#define FILE_TEMPORARY ".new"
#define FILE_SECRET_MODE 0600
#define FILE_MOST_ASIDE 8 /* files that are kept aside, per path and suffix */

/* Reads to the end of the file; its size is not used, because it is 0 below /proc. */
static int
file_read_fd(int fd, size_t max_bytes, uint8_t **data, size_t *len)
{
	size_t capacity = 0;

	*data = NULL;
	*len = 0;
	for (;;) {
		ssize_t n;

		/* room for one byte more than the buffer holds, and for the 0 at the
		 * end */
		if (capacity - *len < 2) {
			size_t more = capacity == 0 ? FILE_FIRST_BYTES : capacity * 2;
			uint8_t *grown;

			if (more > max_bytes + 2)
				more = max_bytes + 2;
			grown = realloc(*data, more);
			if (grown == NULL)
				return -ENOMEM;
			*data = grown;
			capacity = more;
		}
		n = read(fd, *data + *len, capacity - 1 - *len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0) {
			(*data)[*len] = 0;
			return 0;
		}
		*len += (size_t)n;
		if (*len > max_bytes)
			return -EFBIG;
	}
}

int
rm_file_read(const char *path, size_t max_bytes, uint8_t **ret, size_t *len)
{
	uint8_t *data = NULL;
	size_t data_len = 0;
	int fd, r;

	if (max_bytes > SIZE_MAX - 2)
		return -EINVAL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = file_read_fd(fd, max_bytes, &data, &data_len);
	close(fd);
	if (r < 0) {
		free(data);
		return r;
	}
	*ret = data;
	*len = data_len;
	return 0;
}

/* Checks the file that was opened: it cannot be replaced between the check and its
 * use. */
static int
file_check_opened(int fd, const char *path, struct rm_error *error)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return rm_error_set(error, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return rm_error_set(error, -EINVAL, "%s: is not a plain file", path);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return rm_error_set(error, -EACCES,
		    "%s: belongs to user %u, expected %u or root", path,
		    (unsigned)st.st_uid, (unsigned)geteuid());
	if ((st.st_mode & 07777 & ~(mode_t)0600) != 0)
		return rm_error_set(error, -EACCES,
		    "%s: has mode %04o, expected 0600 or 0400", path,
		    (unsigned)st.st_mode & 07777);
	return 0;
}

/* Returns the opened file, or a negative errno. */
static int
file_open_secret(const char *path, struct rm_error *error)
{
	int fd, r;

	/* Without O_NONBLOCK opening a FIFO would block. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return rm_error_set(error, -errno, "%s: %s", path, strerror(errno));
	r = file_check_opened(fd, path, error);
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

int
rm_file_read_secret(const char *path, size_t max_bytes, uint8_t **ret, size_t *len,
    struct rm_error *error)
{
	uint8_t *data = NULL;
	size_t data_len = 0;
	int fd, r;

	if (max_bytes > SIZE_MAX - 2)
		return -EINVAL;
	fd = file_open_secret(path, error);
	if (fd < 0)
		return fd;
	r = file_read_fd(fd, max_bytes, &data, &data_len);
	close(fd);
	if (r < 0) {
		rm_error_set(error, r, "%s: %s", path, strerror(-r));
		free(data);
		return r;
	}
	*ret = data;
	*len = data_len;
	return 0;
}

int
rm_file_read_password(
    const char *path, char *password, size_t size, struct rm_error *error)
{
	uint8_t *data = NULL;
	size_t len = 0, line;
	int r;

	/* A line break may follow the password. */
	r = rm_file_read_secret(path, size + 1, &data, &len, error);
	if (r < 0)
		return r;
	line = strcspn((char *)data, "\r\n");
	if (line == 0 || line >= size ||
	    line + strspn((char *)data + line, "\r\n") != len)
		r = rm_error_set(error, -EINVAL,
		    "%s: expected one line of 1 to %zu bytes", path, size - 1);
	else
		memcpy(password, data, line);
	if (r == 0)
		password[line] = '\0';
	explicit_bzero(data, len);
	free(data);
	return r;
}

int
rm_file_check_secret(const char *path, struct rm_error *error)
{
	int fd;

	fd = file_open_secret(path, error);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int
file_write_fd(int fd, const uint8_t *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

/* Syncs the file's folder, so that a rename in it survives a crash. */
static int
file_sync_folder(const char *path)
{
	char copy[PATH_MAX];
	int fd, r;

	snprintf(copy, sizeof(copy), "%s", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = fsync(fd) < 0 ? -errno : 0;
	close(fd);
	return r;
}

static int
file_replace(const char *path, const uint8_t *data, size_t len, mode_t mode)
{
	char temporary[PATH_MAX];
	int fd, n, r;

	/* Always the same name, so that temporary files of crashes do not accumulate.
	 */
	n = snprintf(temporary, sizeof(temporary), "%s" FILE_TEMPORARY, path);
	if (n < 0 || (size_t)n >= sizeof(temporary))
		return -ENAMETOOLONG;
	fd = open(
	    temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	/* open() does not change the mode of a file that exists. */
	r = mode == FILE_SECRET_MODE && fchmod(fd, mode) < 0 ? -errno : 0;
	if (r == 0)
		r = file_write_fd(fd, data, len);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && rename(temporary, path) < 0)
		r = -errno;
	if (r < 0) {
		unlink(temporary);
		return r;
	}
	return file_sync_folder(path);
}

int
rm_file_replace(const char *path, const uint8_t *data, size_t len)
{
	return file_replace(path, data, len, 0666);
}

int
rm_file_replace_secret(const char *path, const uint8_t *data, size_t len)
{
	return file_replace(path, data, len, FILE_SECRET_MODE);
}

void
rm_file_set_aside(const char *path, const char *suffix, const char *reason)
{
	char aside[PATH_MAX];
	struct stat st;
	int n, r = -EEXIST;

	/* renameat2(RENAME_NOREPLACE) would do this in one step, but NFS and other file
	 * systems do not have it. */
	for (int i = 1; i <= FILE_MOST_ASIDE && r == -EEXIST; i++) {
		n = i == 1 ? snprintf(aside, sizeof(aside), "%s%s", path, suffix)
			   : snprintf(aside, sizeof(aside), "%s%s.%d", path, suffix, i);
		if (n < 0 || (size_t)n >= sizeof(aside))
			r = -ENAMETOOLONG;
		else if (lstat(aside, &st) < 0)
			r = errno == ENOENT && rename(path, aside) == 0 ? 0 : -errno;
	}
	if (r == 0)
		rm_log_warn(0, "%s: set aside as %s: %s", path, aside, reason);
	else
		rm_log_warn(r, "%s: cannot set it aside, it will be overwritten: %s",
		    path, reason);
}
