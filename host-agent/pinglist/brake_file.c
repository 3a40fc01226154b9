#include "host-agent/pinglist/brake_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "host-agent/pinglist/brake.h"
#include "rackmesh/core/file.h"
#include "rackmesh/loop/file_save.h"

struct brake_file {
	char path[PATH_MAX]; /* "": none */
	struct rm_worker *worker;
	struct brake_file_counts counts;
};

int
brake_file_new(const char *folder, struct rm_worker *worker, struct brake_file **ret)
{
	struct brake_file *file = calloc(1, sizeof(*file));
	int n = 0;

	if (file == NULL)
		return -ENOMEM;
	file->worker = worker;
	if (folder[0] != 0)
		n = snprintf(file->path, sizeof(file->path), "%s/brake", folder);
	if (n < 0 || (size_t)n >= sizeof(file->path)) {
		free(file);
		return -ENAMETOOLONG;
	}
	*ret = file;
	return 0;
}

void
brake_file_free(struct brake_file *file)
{
	free(file);
}

int
brake_file_load(const struct brake_file *file, struct brake *brake)
{
	uint8_t *data;
	size_t len;
	int r;

	if (file->path[0] == 0)
		return -ENOENT;
	r = rm_file_read(file->path, BRAKE_FILE_BYTES, &data, &len);
	if (r < 0)
		return r;
	r = brake_open(brake, data, len);
	free(data);
	return r;
}

static void
save_done(void *arg, int r)
{
	struct brake_file *file = arg;

	if (r == 0)
		file->counts.saved++;
	else
		file->counts.save_failed++;
}

void
brake_file_save(struct brake_file *file, const struct wire_brake *brake)
{
	uint8_t data[BRAKE_FILE_BYTES];

	if (file->path[0] == 0)
		return;
	brake_seal(brake, data);
	if (rm_file_save(
		file->worker, file->path, data, sizeof(data), save_done, file) < 0)
		file->counts.save_skipped++;
}

const struct brake_file_counts *
brake_file_counts(const struct brake_file *file)
{
	return &file->counts;
}
