#include "analyzer/sla/sla_file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyzer/sla/sla.h"
#include "analyzer/sla/sla_kept.h"
#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/worker.h"

#define TURN_BYTES (1u << 20)

struct sla_file {
	struct rm_worker *worker;
	struct sla *sla;
	char path[PATH_MAX]; /* "": nothing is kept */
	struct sla_save save;
	int64_t saved;      /* last closed minute of the last save */
	rm_wall_t earliest; /* of the file, before it was read */
	unsigned waits; /* remaining calls of sla_file_ready; 0: the file was read */
	bool writing, failing;
	struct sla_file_counts counts;
};

static void
set_aside(struct sla_file *file, const char *reason)
{
	file->counts.aside++;
	rm_file_set_aside(file->path, ".aside", reason);
}

/* waits: how many calls of sla_file_ready a file of the future is kept for. */
static void
load(struct sla_file *file, rm_wall_t now, unsigned waits)
{
	uint8_t *data = NULL;
	size_t len;
	int r;

	file->waits = 0;
	r = rm_file_read(file->path, SLA_FILE_MAX_BYTES, &data, &len);
	if (r == -ENOENT)
		return;
	if (r == 0)
		r = sla_kept_read(file->sla, data, len, now);
	if (r == -ERANGE)
		file->earliest = sla_kept_earliest(data, len);
	free(data);
	if (r == -ERANGE && now.ns < file->earliest.ns && waits > 0) {
		file->waits = waits;
		rm_log_warn(0, "%s: not read yet: by the clock, it is of the future",
		    file->path);
		return;
	}
	if (r == -EBADMSG || r == -EFBIG)
		set_aside(file, "it is damaged, or of another version");
	else if (r == -ERANGE)
		set_aside(
		    file, "by the clock, it is older than a day, or of the future");
	else if (r < 0)
		rm_log_warn(r, "cannot read %s, started without it", file->path);
}

int
sla_file_new(struct rm_worker *worker, const char *folder, struct sla *sla,
    rm_wall_t now, struct sla_file **ret)
{
	struct sla_file *file = calloc(1, sizeof(*file));

	if (file == NULL)
		return -ENOMEM;
	file->worker = worker;
	file->sla = sla;
	file->save.max_bytes = SLA_FILE_MAX_BYTES;
	file->save.turn_bytes = TURN_BYTES;
	if (folder[0] != '\0' && snprintf(file->path, sizeof(file->path), "%s/sla",
				     folder) >= (int)sizeof(file->path)) {
		free(file);
		return -ENAMETOOLONG;
	}
	if (file->path[0] != '\0')
		load(file, now, SLA_FILE_WAIT);
	*ret = file;
	return 0;
}

bool
sla_file_ready(struct sla_file *file, rm_wall_t now)
{
	if (file->waits == 0)
		return true;
	if (now.ns < file->earliest.ns && --file->waits > 0)
		return false;
	load(file, now, 0);
	return true;
}

static int
write_run(void *job)
{
	struct sla_file *file = job;

	sla_kept_seal(&file->save);
	return rm_file_replace(file->path, file->save.data, file->save.len);
}

static void
write_done(void *job, int r)
{
	struct sla_file *file = job;

	file->writing = false;
	sla_kept_drop(&file->save);
	if (r == -EAGAIN || r == -ECANCELED) {
		file->saved = 0; /* the worker did not run it: it is made again */
		return;
	}
	file->counts.failed += r < 0;
	if (r < 0 && !file->failing)
		rm_log_warn(r, "cannot write %s", file->path);
	file->failing = r < 0;
}

static bool
is_saved(const struct sla_file *file)
{
	return file->path[0] == '\0' || file->waits > 0 ||
	       file->saved == sla_closed(file->sla);
}

/* Returns false if the save needs another turn. */
static bool
make_save(struct sla_file *file, int *r)
{
	*r = sla_kept_write(file->sla, &file->save);
	if (*r == 0)
		return false;
	file->saved = sla_closed(file->sla);
	file->counts.left_out += file->save.left_out;
	return true;
}

void
sla_file_save(struct sla_file *file)
{
	int r;

	if (file->writing || is_saved(file) || !make_save(file, &r))
		return;
	file->writing = true;
	if (r > 0)
		r = rm_worker_submit(file->worker, write_run, write_done, file);
	if (r < 0)
		write_done(file, r);
}

void
sla_file_free(struct sla_file *file)
{
	int r;

	if (file == NULL)
		return;
	if (!is_saved(file)) {
		while (!make_save(file, &r))
			;
		write_done(file, r > 0 ? write_run(file) : r);
	}
	sla_kept_drop(&file->save);
	free(file);
}

const struct sla_file_counts *
sla_file_counts(const struct sla_file *file)
{
	return &file->counts;
}
