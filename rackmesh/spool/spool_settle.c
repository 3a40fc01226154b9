#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/core/file.h"
#include "rackmesh/spool/spool_disk.h"

/* Of a path without a folder in it: the one we are in. */
static void
parent_of(const char *path, char parent[SPOOL_PATH_BYTES])
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	while (len > 0 && path[len - 1] != '/')
		len--;
	while (len > 1 && path[len - 1] == '/')
		len--;
	if (len == 0)
		snprintf(parent, SPOOL_PATH_BYTES, ".");
	else
		snprintf(parent, SPOOL_PATH_BYTES, "%.*s", (int)len, path);
}

/* The names in a folder that we may use, but not read, are its owner's business. */
static int
sync_names(const char *folder)
{
	int r = spool_folder_sync(folder);

	return r == -EACCES || r == -EPERM ? 0 : r;
}

int
spool_folder_settle(const char *folder)
{
	char parent[SPOOL_PATH_BYTES], above[SPOOL_PATH_BYTES];
	int r = mkdir(folder, 0750) < 0 ? -errno : 0;

	parent_of(folder, parent);
	if (r == -ENOENT && mkdir(parent, 0750) == 0) {
		parent_of(parent, above);
		r = sync_names(above);
		if (r == 0)
			r = mkdir(folder, 0750) < 0 ? -errno : 0;
	}
	if (r == -EROFS && access(folder, F_OK) == 0)
		r = -EEXIST;
	if (r < 0 && r != -EEXIST)
		return r;
	/* Also if it was there: whoever made it may have got no further. */
	return sync_names(parent);
}

/* Where there is no room for two of them, the fsync has to do. */
static int
sync_as_it_is(const char *path)
{
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC), r;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	r = fsync(fd) < 0 ? -errno : 0;
	close(fd);
	return r;
}

int
spool_file_renew(const char *folder, uint64_t first_seq, bool room)
{
	char path[SPOOL_PATH_BYTES];
	bool synced = false;
	uint8_t *data;
	size_t len;
	int r;

	spool_name(folder, first_seq, "", path);
	if (!room)
		return sync_as_it_is(path);
	r = rm_file_read(path, SPOOL_MAX_FILE_BYTES, &data, &len);
	if (r == -ENOENT)
		return 0; /* all of it is done with */
	if (r < 0)
		return r;
	r = spool_file_create(path, data, len, &synced);
	free(data);
	if (r == -ENOSPC || r == -EDQUOT)
		return sync_as_it_is(path);
	return r < 0 ? r : spool_folder_sync(folder);
}

int
spool_file_cut(const char *folder, uint64_t first_seq, uint64_t bytes)
{
	char path[SPOOL_PATH_BYTES];
	int fd, r;

	spool_name(folder, first_seq, "", path);
	fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = ftruncate(fd, (off_t)bytes) < 0 ? -errno : 0;
	close(fd);
	return r;
}

/* Of a folder that could not be read at the start: another life's records are not
 * ours to number. */
static int
adopt(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int r = 0;

	if (dir == NULL)
		return -errno;
	while (r == 0 && (entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, "done") == 0 ||
		    strstr(entry->d_name, ".spool") != NULL)
			r = -ENOTEMPTY;
	closedir(dir);
	return r;
}

int
spool_settle(struct spool_job *job)
{
	int r = spool_folder_settle(job->folder);

	if (r == 0 && job->lock < 0) {
		job->lock = spool_folder_lock(job->folder);
		if (job->lock == -EBUSY)
			r = -EBUSY;
	}
	if (r == 0 && job->adopt)
		r = adopt(job->folder);
	if (r == 0 && job->renew != 0)
		r = spool_file_renew(job->folder, job->renew, job->renew_room);
	return r;
}
