#include "rackmesh/identity/key_file.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/crc32c.h"
#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "rackmesh/loop/file_save.h"

#define HEAD_BYTES 16
#define MAX_BYTES (8u << 20)

static const uint8_t magic[8] = { 'R', 'M', 'K', 'F', 0, 0, 0, 1 };

struct rm_key_files {
	char *folder;
	struct rm_worker *worker;
	struct rm_key_file_counts counts;
};

int
rm_key_files_new(
    const char *folder, struct rm_worker *worker, struct rm_key_files **ret)
{
	struct rm_key_files *files = calloc(1, sizeof(*files));

	if (files == NULL)
		return -ENOMEM;
	files->folder = strdup(folder);
	files->worker = worker;
	if (files->folder == NULL) {
		free(files);
		return -ENOMEM;
	}
	*ret = files;
	return 0;
}

void
rm_key_files_free(struct rm_key_files *files)
{
	if (files == NULL)
		return;
	free(files->folder);
	free(files);
}

static int
file_path(const struct rm_key_files *files, const char *tor, char path[PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%s/keys-%s", files->folder, tor);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static int
file_check(const uint8_t *data, size_t len)
{
	uint32_t crc, zero;

	if (len <= HEAD_BYTES || memcmp(data, magic, sizeof(magic)) != 0)
		return -EBADMSG;
	memcpy(&crc, data + 8, sizeof(crc));
	memcpy(&zero, data + 12, sizeof(zero));
	return zero == 0 &&
		       be32toh(crc) == rm_crc32c(0, data + HEAD_BYTES, len - HEAD_BYTES)
		   ? 0
		   : -EBADMSG;
}

int
rm_key_files_load(struct rm_key_files *files, const char *tor, uint8_t **file,
    const uint8_t **ret, size_t *len)
{
	struct rm_error error = { 0 };
	char path[PATH_MAX];
	uint8_t *data;
	size_t size;
	int r;

	if (files->folder[0] == '\0')
		return -ENOENT;
	r = file_path(files, tor, path);
	if (r == 0)
		r = rm_file_read_secret(
		    path, HEAD_BYTES + MAX_BYTES, &data, &size, &error);
	if (r < 0) {
		files->counts.damaged += r != -ENOENT;
		return r;
	}
	r = file_check(data, size);
	if (r < 0) {
		files->counts.damaged++;
		free(data);
		return r;
	}
	files->counts.loaded++;
	*file = data;
	*ret = data + HEAD_BYTES;
	*len = size - HEAD_BYTES;
	return 0;
}

static void
save_done(void *arg, int r)
{
	struct rm_key_files *files = arg;

	if (r == 0)
		files->counts.saved++;
	else
		files->counts.failed++;
}

void
rm_key_files_save(
    struct rm_key_files *files, const char *tor, const uint8_t *data, size_t len)
{
	char path[PATH_MAX];
	uint8_t *file = NULL;
	uint32_t crc;
	int r = -ENOMEM;

	if (files->folder[0] == '\0')
		return;
	if (len <= MAX_BYTES)
		file = calloc(1, HEAD_BYTES + len);
	if (file != NULL)
		r = file_path(files, tor, path);
	if (r == 0) {
		crc = htobe32(rm_crc32c(0, data, len));
		memcpy(file, magic, sizeof(magic));
		memcpy(file + 8, &crc, sizeof(crc));
		memcpy(file + HEAD_BYTES, data, len);
		r = rm_file_save_secret(
		    files->worker, path, file, HEAD_BYTES + len, save_done, files);
		explicit_bzero(file, HEAD_BYTES + len);
	}
	files->counts.failed += r < 0;
	free(file);
}

const struct rm_key_file_counts *
rm_key_files_counts(const struct rm_key_files *files)
{
	return &files->counts;
}
