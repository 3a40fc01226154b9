#include "rackmesh/spool/spool_disk.h"

#include <ctype.h>
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/core/crc32c.h"
#include "rackmesh/core/file.h"

static const char done_magic[8] = { 'R', 'M', 'D', 'O', 'N', 'E', '1', '\n' };

void
spool_name(const char *folder, uint64_t first_seq, const char *suffix,
    char path[SPOOL_PATH_BYTES])
{
	snprintf(path, SPOOL_PATH_BYTES, "%s/%016llx.spool%s", folder,
	    (unsigned long long)first_seq, suffix);
}

static int
write_all(int fd, const uint8_t *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

int
spool_folder_sync(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	r = fsync(fd) < 0 ? -errno : 0;
	close(fd);
	return r;
}

int
spool_folder_lock(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	r = errno == EWOULDBLOCK ? -EBUSY : -errno;
	close(fd);
	return r;
}

int
spool_file_create(const char *path, const uint8_t *data, size_t len, bool *synced)
{
	char fresh[SPOOL_PATH_BYTES + 8];
	int fd, r;

	snprintf(fresh, sizeof(fresh), "%s.new", path);
	/* Removes a file that an earlier failure has left: after a failed fsync,
	 * another fsync of the same file proves nothing. */
	if (unlink(fresh) < 0 && errno != ENOENT)
		return -errno;
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (fd < 0)
		return -errno;
	r = write_all(fd, data, len);
	if (r == 0) {
		*synced = true;
		r = fsync(fd) < 0 ? -errno : 0;
	}
	close(fd);
	if (r == 0 && rename(fresh, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(fresh);
	return r;
}

/* Appends bytes. On failure the file is cut to its old length if possible: nothing
 * after its durable part was acknowledged. */
static int
file_append(
    const char *path, const struct spool_batch *batch, bool *synced, uint64_t *bytes)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC), r = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		r = -errno;
	else if ((uint64_t)st.st_size != batch->at)
		r = -ESTALE; /* another process has changed the file */
	if (r == 0) {
		r = write_all(fd, batch->data, batch->len);
		if (r == 0) {
			*synced = true;
			r = fdatasync(fd) < 0 ? -errno : 0;
		}
		if (r < 0 && ftruncate(fd, (off_t)batch->at) < 0)
			*bytes =
			    batch->at +
			    batch->len; /* the most bytes that the file may have now */
		if (r == 0)
			*bytes = batch->at + batch->len;
	}
	close(fd);
	return r;
}

static int
batch_run(struct spool_job *job)
{
	struct spool_batch *batch = &job->batch;
	char path[SPOOL_PATH_BYTES];
	int r;

	job->batch_bytes = batch->at;
	spool_name(job->folder, batch->first_seq, "", path);
	if (batch->at > 0)
		return file_append(path, batch, &job->synced, &job->batch_bytes);
	r = spool_file_create(path, batch->data, batch->len, &job->synced);
	if (r < 0)
		return r;
	r = spool_folder_sync(job->folder);
	if (r < 0)
		unlink(path); /* since the next attempt may use another name */
	else
		job->batch_bytes = batch->len;
	return r;
}

static int
sweep_run(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int r = 0;

	if (dir == NULL)
		return -errno;
	while ((entry = readdir(dir)) != NULL) {
		size_t len = strlen(entry->d_name);

		if (len > 8 && strcmp(entry->d_name + len - 8, ".corrupt") == 0 &&
		    unlinkat(dirfd(dir), entry->d_name, 0) < 0 && errno != ENOENT)
			r = -errno;
	}
	closedir(dir);
	return r;
}

/* Removes files. Returns the first error. */
static int
unlinks_run(struct spool_job *job)
{
	int ret = 0;

	for (size_t i = 0; i < job->unlink_count; i++) {
		struct spool_unlink *one = &job->unlinks[i];
		char path[SPOOL_PATH_BYTES];
		int r = 0;

		/* If the last file were removed without `done` being written, numbers
		 * would be used a second time. */
		if (!one->covered && job->done_r < 0)
			r = job->done_r;
		spool_name(job->folder, one->first_seq, "", path);
		if (r == 0 && unlink(path) < 0 && errno != ENOENT)
			r = -errno;
		one->gone = r == 0;
		if (r < 0 && ret == 0)
			ret = r;
	}
	return ret;
}

static void
run_settled(struct spool_job *job)
{
	if (job->write_done)
		job->done_r = spool_done_write(job->folder, &job->done);
	if (job->sweep)
		job->sweep_r = sweep_run(job->folder);
	job->unlink_r = unlinks_run(job);
	if (job->batch.len > 0) {
		/* The batch needs the room of the removed files, so it is written only
		 * if their removal succeeded. */
		job->batch_r = job->unlink_r < 0  ? job->unlink_r
			       : job->sweep_r < 0 ? job->sweep_r
						  : batch_run(job);
	}
}

void
spool_job_run(struct spool_job *job)
{
	if (job->settle)
		job->settle_r = spool_settle(job);
	if (job->settle_r < 0) {
		job->batch_bytes = job->batch.at;
		job->done_r = job->sweep_r = job->unlink_r = job->settle_r;
		job->batch_r = job->settle_r;
		if (job->adopt)
			return; /* the file of that name is not of this spool */
	} else {
		run_settled(job);
	}
	if (job->done_r < 0 || job->sweep_r < 0 || job->unlink_r < 0 ||
	    job->batch_r < 0)
		spool_done_mark_unsure(job->folder, &job->done);
}

static void
done_put(uint8_t at[SPOOL_DONE_BYTES], const struct spool_done *done)
{
	uint64_t numbers[3] = { htobe64(done->identity), htobe64(done->done),
		htobe64(done->next) };
	uint32_t life = htobe32(done->life), crc;

	memset(at, 0, SPOOL_DONE_BYTES);
	memcpy(at, done_magic, sizeof(done_magic));
	memcpy(at + 8, numbers, sizeof(numbers));
	memcpy(at + 32, &life, sizeof(life));
	crc = htobe32(rm_crc32c(0, at, SPOOL_DONE_BYTES - 4));
	memcpy(at + SPOOL_DONE_BYTES - 4, &crc, sizeof(crc));
}

int
spool_done_read(const char *folder, struct spool_done *ret)
{
	char path[SPOOL_PATH_BYTES];
	uint8_t *data;
	uint64_t numbers[3];
	uint32_t life, crc;
	size_t len;
	int r;

	snprintf(path, sizeof(path), "%s/done", folder);
	r = rm_file_read(path, SPOOL_DONE_BYTES, &data, &len);
	if (r == -ENOENT || r == -ENOMEM)
		return r;
	if (r < 0)
		return -EBADMSG;
	r = -EBADMSG;
	if (len == SPOOL_DONE_BYTES) {
		memcpy(&crc, data + SPOOL_DONE_BYTES - 4, sizeof(crc));
		if (memcmp(data, done_magic, sizeof(done_magic)) == 0 &&
		    be32toh(crc) == rm_crc32c(0, data, SPOOL_DONE_BYTES - 4)) {
			memcpy(numbers, data + 8, sizeof(numbers));
			memcpy(&life, data + 32, sizeof(life));
			*ret = (struct spool_done){ be64toh(numbers[0]),
				be64toh(numbers[1]), be64toh(numbers[2]),
				be32toh(life) };
			r = 0;
		}
	}
	free(data);
	return r;
}

int
spool_done_write(const char *folder, const struct spool_done *done)
{
	char path[SPOOL_PATH_BYTES];
	uint8_t bytes[SPOOL_DONE_BYTES];

	done_put(bytes, done);
	snprintf(path, sizeof(path), "%s/done", folder);
	return rm_file_replace(path, bytes, sizeof(bytes));
}

void
spool_done_mark_unsure(const char *folder, const struct spool_done *done)
{
	struct spool_done unsure = *done;
	uint8_t bytes[SPOOL_DONE_BYTES];
	char path[SPOOL_PATH_BYTES];
	int fd;

	unsure.life = SPOOL_UNSURE;
	done_put(bytes, &unsure);
	snprintf(path, sizeof(path), "%s/done", folder);
	fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	/* The bytes are less than a sector, so the disk writes all or none of them. */
	if (pwrite(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes))
		fdatasync(fd);
	close(fd);
}

int
spool_file_read(const char *path, uint64_t at, uint8_t *data, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), r = 0;

	if (fd < 0)
		return -errno;
	while (bytes > 0 && r == 0) {
		ssize_t n = pread(fd, data, bytes, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			r = n < 0 ? -errno : -ENODATA;
			break;
		}
		data += n;
		at += (uint64_t)n;
		bytes -= (size_t)n;
	}
	close(fd);
	return r;
}

#define NAME_DIGITS 16
#define MAX_FILES (1u << 20)

static bool
ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), end_len = strlen(end);

	return len >= end_len && strcmp(name + len - end_len, end) == 0;
}

static bool
segment_name(const char *name, uint64_t *first_seq)
{
	for (int i = 0; i < NAME_DIGITS; i++)
		if (!isxdigit((unsigned char)name[i]) ||
		    isupper((unsigned char)name[i]))
			return false;
	if (strcmp(name + NAME_DIGITS, ".spool") != 0)
		return false;
	*first_seq = strtoull(name, NULL, 16);
	return true;
}

static int
add(struct spool_names *names, uint64_t first_seq)
{
	if (names->count == names->capacity) {
		size_t capacity = names->capacity == 0 ? 16 : names->capacity * 2;
		uint64_t *grown;

		if (capacity > MAX_FILES)
			return -ENOMEM;
		grown = realloc(names->first_seqs, capacity * sizeof(*grown));
		if (grown == NULL)
			return -ENOMEM;
		names->first_seqs = grown;
		names->capacity = capacity;
	}
	names->first_seqs[names->count++] = first_seq;
	return 0;
}

static int
by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int
look_at(int dir, const char *name, struct spool_names *names, uint64_t *aside)
{
	uint64_t first_seq;
	struct stat st;

	if (segment_name(name, &first_seq))
		return add(names, first_seq);
	if (ends_with(name, ".new"))
		unlinkat(dir, name, 0);
	else if (ends_with(name, SPOOL_CORRUPT) &&
		 fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		*aside += (uint64_t)st.st_size;
	return 0;
}

int
spool_names_list(const char *folder, struct spool_names *ret, uint64_t *aside)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int r = 0;

	if (dir == NULL)
		return -errno;
	for (;;) {
		errno = 0;
		entry = readdir(dir);
		if (entry == NULL || r < 0)
			break;
		r = look_at(dirfd(dir), entry->d_name, ret, aside);
	}
	if (r == 0 && errno != 0)
		r = -errno; /* some are missing */
	closedir(dir);
	if (ret->count > 0)
		qsort(ret->first_seqs, ret->count, sizeof(*ret->first_seqs), by_number);
	return r;
}

void
spool_names_clear(struct spool_names *names)
{
	free(names->first_seqs);
	*names = (struct spool_names){ 0 };
}
