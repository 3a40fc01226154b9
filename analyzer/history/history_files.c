#include "analyzer/history/history_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/history/history_batch.h"
#include "analyzer/history/history_counts.h"
#include "rackmesh/core/backoff.h"
#include "rackmesh/core/log.h"
#include "rackmesh/core/random.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"

#define MAX_PATH 4096
#define RETRY_BASE_NS (500 * RM_NS_PER_MS)
#define RETRY_CAP_NS (5 * RM_NS_PER_S)
/* the files of incidents together get 1 / INCIDENT_SHARE of the limit */
#define INCIDENT_SHARE 8
#define FIRST_LANE WIRE_LANE_SUMMARY
#define LANES (WIRE_LANE_INCIDENT + 1)

struct lane {
	struct history_files *files;
	enum wire_lane lane;
	char path[MAX_PATH];
	uint64_t max_file_bytes;
	const char *text; /* of the batch */
	size_t len;
	struct rm_timer *timer; /* time of the next attempt */
	struct rm_backoff backoff;
	char trouble[MAX_PATH + 128];
};

struct history_files {
	struct history_files_options options;
	bool unmade; /* the folder could not be created at the start */
	struct lane lanes[LANES];
};

struct write_job { /* used by the worker while the job runs */
	struct lane *lane;
	const char *path, *text;
	size_t len;
	uint64_t max_file_bytes;
	bool make; /* the folder must be created first */
};

static void lane_attempt(void *arg);

static int
lane_init(struct history_files *files, enum wire_lane name, const char *file,
    uint64_t max_bytes)
{
	struct lane *lane = &files->lanes[name];
	int len = snprintf(lane->path, MAX_PATH, "%s/%s", files->options.folder, file);

	if (len < 0 || len + 3 > MAX_PATH)
		return -ENAMETOOLONG;
	lane->files = files;
	lane->lane = name;
	lane->max_file_bytes = max_bytes / HISTORY_FILES;
	lane->backoff = (struct rm_backoff){ RETRY_BASE_NS, RETRY_CAP_NS, 0 };
	return rm_timer_new(files->options.loop, lane_attempt, lane, &lane->timer);
}

int
history_files_new(
    const struct history_files_options *options, struct history_files **ret)
{
	struct history_files *files = calloc(1, sizeof(*files));
	uint64_t incidents = options->max_bytes / INCIDENT_SHARE;
	int r;

	if (files == NULL)
		return -ENOMEM;
	files->options = *options;
	r = lane_init(
	    files, WIRE_LANE_SUMMARY, "rackmesh.lp", options->max_bytes - incidents);
	if (r == 0)
		r = lane_init(files, WIRE_LANE_INCIDENT, "incidents.lp", incidents);
	/* Another error may be temporary: then a later write creates the folder. */
	files->unmade = mkdir(options->folder, 0750) < 0 && errno != EEXIST;
	if (r == 0 && files->unmade && errno == ENOTDIR)
		r = -ENOTDIR;
	files->options.folder = NULL; /* borrowed until the call returns */
	if (r < 0) {
		history_files_free(files);
		return r;
	}
	*ret = files;
	return 0;
}

void
history_files_free(struct history_files *files)
{
	if (files == NULL)
		return;
	for (int i = FIRST_LANE; i < LANES; i++)
		rm_timer_free(files->lanes[i].timer);
	free(files);
}

const char *
history_files_trouble(const struct history_files *files, enum wire_lane lane)
{
	return files->lanes[lane].trouble;
}

size_t
history_files_most(const struct history_files *files, enum wire_lane lane)
{
	return files->lanes[lane].max_file_bytes;
}

/* Renames path.2 to path.3, path.1 to path.2, and path to path.1. */
static int
rotate(const char *path)
{
	char from[MAX_PATH + 16], to[MAX_PATH + 16];

	for (int i = HISTORY_FILES - 1; i > 0; i--) {
		snprintf(to, sizeof(to), "%s.%d", path, i);
		if (i > 1)
			snprintf(from, sizeof(from), "%s.%d", path, i - 1);
		else
			snprintf(from, sizeof(from), "%s", path);
		if (rename(from, to) < 0 && errno != ENOENT)
			return -errno;
	}
	return 0;
}

/* Appends the text and syncs. On failure it cuts the file back to its old length. */
static int
append(int fd, const char *text, size_t len, off_t before)
{
	size_t done = 0;
	int r;

	while (done < len) {
		ssize_t n = write(fd, text + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			goto failed;
		done += (size_t)n;
	}
	if (fdatasync(fd) == 0)
		return 0;
failed:
	r = errno == 0 ? -EIO : -errno;
	/* Errors are ignored: a reader skips an incomplete point. */
	if (ftruncate(fd, before) < 0)
		return r;
	return r;
}

static int
make_folder(const char *path)
{
	char folder[MAX_PATH];

	snprintf(
	    folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
	return mkdir(folder, 0750) < 0 && errno != EEXIST ? -errno : 0;
}

static int
write_run(void *arg)
{
	struct write_job *job = arg;
	struct stat st;
	int fd, r = job->make ? make_folder(job->path) : 0;

	if (r == 0 && stat(job->path, &st) == 0 && st.st_size > 0 &&
	    (uint64_t)st.st_size + job->len > job->max_file_bytes)
		r = rotate(job->path);
	if (r < 0)
		return r;
	fd = open(job->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
	if (fd < 0)
		return -errno;
	r = fstat(fd, &st) < 0 ? -errno : append(fd, job->text, job->len, st.st_size);
	close(fd);
	return r;
}

static void
lane_back_off(struct lane *lane)
{
	rm_timer_after(
	    lane->timer, rm_backoff_next_ns(&lane->backoff, rm_random_u64()));
}

static void
write_done(void *arg, int r)
{
	struct write_job *job = arg;
	struct lane *lane = job->lane;
	const struct history_files_options *options = &lane->files->options;

	free(job);
	if (r == -ECANCELED)
		return;
	if (r < 0) {
		options->counts->failed_attempts++;
		snprintf(lane->trouble, sizeof(lane->trouble), "cannot write %s: %s",
		    lane->path, strerror(-r));
		rm_log_warn(0, "history: %s", lane->trouble);
		lane_back_off(lane);
		return;
	}
	lane->files->unmade = false;
	rm_backoff_reset(&lane->backoff);
	lane->trouble[0] = '\0';
	options->counts->batches++;
	options->counts->delivered_points += history_batch_lines(lane->text, lane->len);
	options->on_done(lane->lane, options->arg);
}

static void
lane_attempt(void *arg)
{
	struct lane *lane = arg;
	struct write_job *job = malloc(sizeof(*job));
	int r = -ENOMEM;

	if (job != NULL) {
		*job = (struct write_job){ lane, lane->path, lane->text, lane->len,
			lane->max_file_bytes, lane->files->unmade };
		r = rm_worker_submit(
		    lane->files->options.worker, write_run, write_done, job);
	}
	if (r < 0) {
		free(job);
		lane_back_off(lane);
	}
}

void
history_files_write(
    struct history_files *files, enum wire_lane name, const char *text, size_t len)
{
	struct lane *lane = &files->lanes[name];

	lane->text = text;
	lane->len = len;
	lane_attempt(lane);
}
