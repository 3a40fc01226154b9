#include "host-agent/pinglist/brake_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "host-agent/pinglist/brake.h"
#include "rackmesh/core/file.h"
#include "rackmesh/loop/worker.h"

struct brake_file {
	char path[PATH_MAX]; /* "": none */
	struct rm_worker *worker;
	struct brake_file_counts counts;
};

struct save_job {
	struct brake_file *file;
	uint8_t data[BRAKE_FILE_BYTES];
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

static int
save_run(void *arg)
{
	const struct save_job *job = arg;

	return rm_file_replace(job->file->path, job->data, sizeof(job->data));
}

static void
save_done(void *arg, int r)
{
	struct save_job *job = arg;

	if (r == 0)
		job->file->counts.saved++;
	else
		job->file->counts.save_failed++;
	free(job);
}

void
brake_file_save(struct brake_file *file, const struct wire_brake *brake)
{
	struct save_job *job;

	if (file->path[0] == 0)
		return;
	job = calloc(1, sizeof(*job));
	if (job != NULL) {
		job->file = file;
		brake_seal(brake, job->data);
	}
	if (job == NULL ||
	    rm_worker_submit(file->worker, save_run, save_done, job) < 0) {
		file->counts.save_skipped++;
		free(job);
	}
}

const struct brake_file_counts *
brake_file_counts(const struct brake_file *file)
{
	return &file->counts;
}
