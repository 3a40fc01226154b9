#include "tests/crash/image.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/core/fnv.h"

void
image_clear(struct image *image)
{
	for (size_t i = 0; i < IMAGE_MAX_FILES; i++)
		free(image->files[i].data);
	memset(image, 0, sizeof(*image));
}

void
image_reserve(struct image *image, size_t i, size_t len)
{
	struct image_file *file = &image->files[i];

	if (len <= file->capacity)
		return;
	file->capacity = len + 4096;
	file->data = realloc(file->data, file->capacity);
	if (file->data == NULL)
		abort();
}

void
image_copy(struct image *to, const struct image *from)
{
	to->folder = from->folder;
	to->count = from->count;
	for (size_t i = 0; i < from->count; i++) {
		memcpy(to->files[i].name, from->files[i].name, TRACE_NAME);
		to->files[i].len = from->files[i].len;
		image_reserve(to, i, from->files[i].len);
		if (from->files[i].len > 0)
			memcpy(
			    to->files[i].data, from->files[i].data, from->files[i].len);
	}
}

uint64_t
image_hash(const struct image *image)
{
	uint64_t hash = image->folder;

	for (size_t i = 0; i < image->count; i++) {
		const struct image_file *file = &image->files[i];
		uint64_t one = rm_fnv1a(RM_FNV1A, file->name, strlen(file->name) + 1);

		/* Mixes the bits well, because the hashes are added up. */
		one = rm_fnv1a(one, file->data, file->len);
		one ^= one >> 31;
		one *= UINT64_C(0x9e3779b97f4a7c15);
		hash += one ^ one >> 29;
	}
	return hash;
}

void
image_remove(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	rmdir(folder);
}

void
image_write(const struct image *image, const char *folder)
{
	int at;

	if (!image->folder)
		return;
	if (mkdir(folder, 0750) < 0)
		err(2, "mkdir %s", folder);
	at = open(folder, O_RDONLY | O_DIRECTORY);
	for (size_t i = 0; i < image->count; i++) {
		const struct image_file *file = &image->files[i];
		int fd = openat(at, file->name, O_WRONLY | O_CREAT | O_EXCL, 0640);

		if (fd < 0 || (file->len > 0 && write(fd, file->data, file->len) !=
						    (ssize_t)file->len))
			err(2, "cannot write %s/%s", folder, file->name);
		close(fd);
	}
	close(at);
}

void
image_read(struct image *image, const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	image->folder = dir != NULL;
	image->count = 0;
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		struct image_file *file = &image->files[image->count];
		struct stat st;
		int fd;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		fd = openat(dirfd(dir), entry->d_name, O_RDONLY);
		if (fd < 0 || fstat(fd, &st) < 0 || image->count == IMAGE_MAX_FILES)
			err(2, "cannot read %s/%s", folder, entry->d_name);
		snprintf(file->name, sizeof(file->name), "%.39s", entry->d_name);
		file->len = (size_t)st.st_size;
		image_reserve(image, image->count++, file->len);
		if (file->len > 0 &&
		    read(fd, file->data, file->len) != (ssize_t)file->len)
			err(2, "cannot read %s/%s", folder, file->name);
		close(fd);
	}
	if (dir != NULL)
		closedir(dir);
}

void
image_print(const struct image *image)
{
	printf("  the folder %s\n", image->folder ? "holds:" : "does not exist");
	for (size_t i = 0; i < image->count; i++)
		printf(
		    "    %-36s %zu bytes\n", image->files[i].name, image->files[i].len);
}
