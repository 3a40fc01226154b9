#include "rackmesh/loop/file_save.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/file.h"
#include "rackmesh/loop/worker.h"

typedef int (*replace_t)(const char *path, const uint8_t *data, size_t len);

struct save {
	replace_t replace;
	void (*done)(void *arg, int r);
	void *arg;
	char path[PATH_MAX];
	size_t len;
	uint8_t data[];
};

static int
save_run(void *job)
{
	const struct save *save = job;

	return save->replace(save->path, save->data, save->len);
}

static void
save_free(struct save *save)
{
	if (save->replace == rm_file_replace_secret)
		explicit_bzero(save->data, save->len);
	free(save);
}

static void
save_done(void *job, int r)
{
	struct save *save = job;
	void (*done)(void *arg, int r) = save->done;
	void *arg = save->arg;

	save_free(save);
	done(arg, r);
}

static int
save_with(replace_t replace, struct rm_worker *worker, const char *path,
    const void *data, size_t len, void (*done)(void *arg, int r), void *arg)
{
	size_t path_len = strlen(path);
	struct save *save;
	int r;

	if (path_len >= sizeof(save->path))
		return -ENAMETOOLONG;
	save = malloc(sizeof(*save) + len);
	if (save == NULL)
		return -ENOMEM;
	save->replace = replace;
	save->done = done;
	save->arg = arg;
	save->len = len;
	memcpy(save->path, path, path_len + 1);
	memcpy(save->data, data, len);
	r = rm_worker_submit(worker, save_run, save_done, save);
	if (r < 0)
		save_free(save);
	return r;
}

int
rm_file_save(struct rm_worker *worker, const char *path, const void *data, size_t len,
    void (*done)(void *arg, int r), void *arg)
{
	return save_with(rm_file_replace, worker, path, data, len, done, arg);
}

int
rm_file_save_secret(struct rm_worker *worker, const char *path, const void *data,
    size_t len, void (*done)(void *arg, int r), void *arg)
{
	return save_with(rm_file_replace_secret, worker, path, data, len, done, arg);
}
