/*
 * folder - a folder of the target's own for code that reads and writes files. It is in
 * memory, so that a sync costs nothing, and removed at the end of each input.
 */
#ifndef TESTS_FUZZ_FOLDER_H
#define TESTS_FUZZ_FOLDER_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FUZZ_FOLDER_BYTES 32

static inline void
fuzz_folder_make(char path[FUZZ_FOLDER_BYTES])
{
	strcpy(path, "/dev/shm/rackmesh-fuzz-XXXXXX");
	if (mkdtemp(path) == NULL)
		abort();
}

/* Removes the folder and its content. */
static inline void
fuzz_folder_remove(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir == NULL || closedir(dir) < 0 || rmdir(path) < 0)
		abort();
}

static inline void
fuzz_folder_write(const char *folder, const char *name, const void *data, size_t len)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, len) != (ssize_t)len || close(fd) < 0)
		abort();
}

/* Changes one byte of the file. False: the file is missing or empty. */
static inline bool
fuzz_folder_damage(const char *folder, const char *name, size_t at, uint8_t with)
{
	char path[256];
	struct stat st;
	uint8_t byte;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) < 0)
		abort();
	if (st.st_size > 0) {
		at %= (size_t)st.st_size;
		if (pread(fd, &byte, 1, (off_t)at) != 1)
			abort();
		byte ^= with;
		if (pwrite(fd, &byte, 1, (off_t)at) != 1)
			abort();
	}
	close(fd);
	return st.st_size > 0;
}

#endif
