#include "rackmesh/incident/incident_file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/worker.h"

#define MAX_FILE_BYTES (64u << 20)

struct rm_incident_file {
	struct rm_worker *worker;
	char path[PATH_MAX];
	char *writing; /* the job's; NULL: none runs */
	char *next;    /* newer; NULL: none */
	bool behind;   /* the last write failed */
	uint64_t failures;
	uint64_t saves;                   /* asked for */
	uint64_t writing_save, next_save; /* which of them they are */
	uint64_t tried, has;
	void (*on_write)(void *arg);
	void *arg;
};

int
rm_incident_file_new(
    struct rm_worker *worker, const char *path, struct rm_incident_file **ret)
{
	struct rm_incident_file *file;

	if (strlen(path) + sizeof(".corrupt") > PATH_MAX)
		return -ENAMETOOLONG;
	file = calloc(1, sizeof(*file));
	if (file == NULL)
		return -ENOMEM;
	file->worker = worker;
	strcpy(file->path, path);
	*ret = file;
	return 0;
}

void
rm_incident_file_free(struct rm_incident_file *file)
{
	if (file == NULL)
		return;
	/* There is no worker any more, and no loop that could be kept waiting. */
	if (file->next != NULL)
		rm_file_replace(
		    file->path, (const uint8_t *)file->next, strlen(file->next));
	free(file->next);
	free(file);
}

static void
set_aside(const struct rm_incident_file *file, const char *wrong)
{
	char aside[PATH_MAX + sizeof(".corrupt")];

	snprintf(aside, sizeof(aside), "%s.corrupt", file->path);
	rm_log_warn(0, "%s is set aside as %s: %s", file->path, aside, wrong);
	if (rename(file->path, aside) < 0)
		rm_log_warn(-errno, "and that fails");
}

json_t *
rm_incident_file_load(const struct rm_incident_file *file)
{
	json_error_t error;
	json_t *json = NULL;
	uint8_t *data;
	size_t len;
	int r;

	r = rm_file_read(file->path, MAX_FILE_BYTES, &data, &len);
	if (r == -ENOENT)
		return NULL;
	if (r == -EFBIG) {
		set_aside(file, "it is too large");
		return NULL;
	}
	if (r == 0) {
		json =
		    json_loadb((const char *)data, len, JSON_REJECT_DUPLICATES, &error);
		free(data);
		if (json == NULL && json_error_code(&error) == json_error_out_of_memory)
			r = -ENOMEM;
	}
	/* What it holds may be good: it is only we who cannot have it now. */
	if (r < 0)
		rm_log_warn(r, "cannot read %s; starting without it", file->path);
	else if (json == NULL)
		set_aside(file, error.text);
	return json;
}

static int
write_run(void *arg)
{
	struct rm_incident_file *file = arg;

	/* Of the file, only what the loop leaves alone now. */
	return rm_file_replace(
	    file->path, (const uint8_t *)file->writing, strlen(file->writing));
}

static void start_writing(struct rm_incident_file *file);

/* The state of that save is on the disk, or not. */
static void
settle(struct rm_incident_file *file, uint64_t save, int r)
{
	file->failures += r < 0;
	if (r == 0)
		file->has = save;
	if (save >= file->tried) { /* else a newer one has failed already */
		file->tried = save;
		file->behind = r < 0;
	}
	if (file->on_write != NULL)
		file->on_write(file->arg);
}

static void
write_done(void *arg, int r)
{
	struct rm_incident_file *file = arg;

	if (r == -ECANCELED && file->next == NULL)
		file->next = file->writing; /* for the end */
	else
		free(file->writing);
	file->writing = NULL;
	if (r == -ECANCELED)
		return;
	settle(file, file->writing_save, r);
	start_writing(file);
}

static void
start_writing(struct rm_incident_file *file)
{
	if (file->writing != NULL || file->next == NULL)
		return;
	file->writing = file->next;
	file->next = NULL;
	file->writing_save = file->next_save;
	if (rm_worker_submit(file->worker, write_run, write_done, file) == 0)
		return;
	/* The worker is full; at the latest the end tries again. */
	file->next = file->writing;
	file->writing = NULL;
	settle(file, file->next_save, -EAGAIN);
}

void
rm_incident_file_save(struct rm_incident_file *file, json_t *takes)
{
	char *text = takes == NULL
			 ? NULL
			 : json_dumps(takes, JSON_INDENT(2) | JSON_REAL_PRECISION(6));

	json_decref(takes);
	file->saves++;
	if (text == NULL) {
		settle(file, file->saves, -ENOMEM);
		return;
	}
	free(file->next);
	file->next = text;
	file->next_save = file->saves;
	start_writing(file);
}

void
rm_incident_file_on_write(
    struct rm_incident_file *file, void (*on_write)(void *arg), void *arg)
{
	file->on_write = on_write;
	file->arg = arg;
}

uint64_t
rm_incident_file_next(const struct rm_incident_file *file)
{
	return file->saves + 1;
}

bool
rm_incident_file_tried(const struct rm_incident_file *file, uint64_t save)
{
	return save <= file->tried;
}

bool
rm_incident_file_has(const struct rm_incident_file *file, uint64_t save)
{
	return save <= file->has;
}

bool
rm_incident_file_behind(const struct rm_incident_file *file)
{
	return file->behind && file->writing == NULL;
}

uint64_t
rm_incident_file_failures(const struct rm_incident_file *file)
{
	return file->failures;
}
