#include "tor-aggregator/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/base/worker.h"
#include "tor-aggregator/history_points.h"
#include "tor-aggregator/uplink.h"

#define MAX_PATH 4096

struct history {
	struct rm_worker *worker;
	struct uplink *uplink;
	char path[MAX_PATH];
	uint64_t max_file_bytes;
	/* One job per lane at a time: a later one that succeeds would otherwise
	 * acknowledge an earlier one that failed. */
	bool busy[WIRE_LANE_INCIDENT + 1];
	struct history_counts counts;
};

struct write_job { /* all that the worker touches; text follows */
	struct history *history;
	enum wire_lane lane;
	uint64_t seq, points, max_file_bytes;
	char path[MAX_PATH];
	size_t len;
	char text[];
};

int
history_new(struct rm_worker *worker, const char *folder, uint64_t max_bytes,
    struct history **ret)
{
	struct history *history = calloc(1, sizeof(*history));
	int len;

	if (history == NULL)
		return -ENOMEM;
	history->worker = worker;
	history->max_file_bytes = max_bytes / HISTORY_FILES;
	len = snprintf(history->path, sizeof(history->path), "%s/rackmesh.lp", folder);
	if (len < 0 || len + 3 > MAX_PATH) {
		free(history);
		return -ENAMETOOLONG;
	}
	if (mkdir(folder, 0750) < 0 && errno != EEXIST) {
		int r = -errno;

		free(history);
		return r;
	}
	*ret = history;
	return 0;
}

void
history_free(struct history *history)
{
	free(history);
}

void
history_bind(struct history *history, struct uplink *uplink)
{
	history->uplink = uplink;
}

const struct history_counts *
history_counts(const struct history *history)
{
	return &history->counts;
}

/* path.2 becomes path.3, path.1 path.2, path path.1. */
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

/* All of it, on disk, or the file is cut back to where it was. */
static int
append(int fd, const char *text, size_t len, off_t before)
{
	size_t done = 0;

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
failed:;
	int r = errno == 0 ? -EIO : -errno;

	/* Best effort: a torn point would be refused by whoever reads it. */
	if (ftruncate(fd, before) < 0)
		return r;
	return r;
}

static int
write_run(void *arg)
{
	struct write_job *job = arg;
	struct stat st;
	int fd, r = 0;

	if (stat(job->path, &st) == 0 && st.st_size > 0 &&
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
write_done(void *arg, int r)
{
	struct write_job *job = arg;
	struct history *history = job->history;

	history->busy[job->lane] = false;
	if (r < 0) {
		history->counts.failed_writes++;
		uplink_failed(history->uplink, job->lane);
	} else {
		history->counts.points += job->points;
		history->counts.written_bytes += job->len;
		uplink_acked(history->uplink, job->lane, job->seq);
	}
	free(job);
}

int
history_send(
    void *arg, enum wire_lane lane, uint64_t seq, const uint8_t *data, size_t len)
{
	struct history *history = arg;
	struct write_job *job;
	uint64_t points = 0;
	size_t text_len = 0;
	char *text = NULL;
	int r;

	if (history->busy[lane])
		return -EAGAIN;
	r = history_points(data, len, &text, &text_len, &points);
	if (r == -ENOMEM)
		return r;
	/* What cannot be written never will be: acknowledged with what comes next. */
	if (r < 0) {
		history->counts.refused_messages++;
		text_len = 0;
		points = 0;
	}
	job = malloc(sizeof(*job) + text_len);
	if (job == NULL) {
		free(text);
		return -ENOMEM;
	}
	job->history = history;
	job->lane = lane;
	job->seq = seq;
	job->points = points;
	job->max_file_bytes = history->max_file_bytes;
	memcpy(job->path, history->path, sizeof(job->path));
	job->len = text_len;
	if (text_len > 0)
		memcpy(job->text, text, text_len);
	free(text);
	r = rm_worker_submit(history->worker, write_run, write_done, job);
	if (r < 0) {
		free(job);
		return r;
	}
	history->busy[lane] = true;
	return 0;
}
