#include "analyzer/incidents/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyzer/incidents/incident_table.h"
#include "rackmesh/core/log.h"

#define MAX_PATH 2048
#define MODE 0640

struct recorder {
	FILE *out; /* NULL: recording has ended */
	char path[MAX_PATH];
	uint64_t bytes, max_bytes;
	rm_mono_t began, last;
};

int
recorder_new(const struct recorder_options *options, struct recorder **ret)
{
	struct recorder *recorder = calloc(1, sizeof *recorder);
	int fd, r;

	if (recorder == NULL)
		return -ENOMEM;
	recorder->max_bytes = options->max_bytes;
	recorder->began = recorder->last = options->now;
	snprintf(recorder->path, sizeof recorder->path, "%s/%s-%" PRId64 ".recording",
	    options->folder, options->region, options->wall.ns);
	fd = open(
	    recorder->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, MODE);
	recorder->out = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (recorder->out == NULL) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		free(recorder);
		return r;
	}
	fprintf(recorder->out,
	    "rackmesh-recording 1\n0 centre %s %" PRId64 " %" PRId64 " %" PRId64 "\n",
	    options->region, options->row_interval_ns, recorder->began.ns,
	    options->wall.ns);
	rm_log_info(
	    "region %s: recording started: %s", options->region, recorder->path);
	*ret = recorder;
	return 0;
}

void
recorder_free(struct recorder *recorder)
{
	if (recorder == NULL)
		return;
	if (recorder->out != NULL)
		fclose(recorder->out);
	free(recorder);
}

/* Begins a line of about `bytes` bytes. NULL: the recording has stopped. */
static FILE *
line(struct recorder *recorder, rm_mono_t now, uint64_t bytes)
{
	if (recorder == NULL || recorder->out == NULL)
		return NULL;
	recorder->bytes += bytes;
	if (ferror(recorder->out) || recorder->bytes > recorder->max_bytes) {
		if (ferror(recorder->out))
			rm_log_warn(-EIO, "%s: recording stopped", recorder->path);
		else
			rm_log_warn(0, "%s: recording stopped: record.max_mib reached",
			    recorder->path);
		fclose(recorder->out);
		recorder->out = NULL;
		return NULL;
	}
	/* The times in a recording must not decrease: all lines of one turn of the loop
	 * have the time of its start. */
	if (rm_mono_since(now, recorder->last) > 0)
		recorder->last = now;
	fprintf(recorder->out, "%" PRId64 " ",
	    rm_mono_since(recorder->last, recorder->began));
	return recorder->out;
}

void
recorder_summary(
    struct recorder *recorder, const struct wire_summary_view *view, rm_mono_t now)
{
	static const char digits[] = "0123456789abcdef";
	FILE *out = line(recorder, now, 2 * view->bytes.len + 32);

	if (out == NULL)
		return;
	fputs("summary ", out);
	for (size_t i = 0; i < view->bytes.len; i++) {
		putc(digits[view->bytes.data[i] >> 4], out);
		putc(digits[view->bytes.data[i] & 15], out);
	}
	putc('\n', out);
}

void
recorder_incident(
    struct recorder *recorder, const struct wire_incident *incident, rm_mono_t now)
{
	FILE *out = line(recorder, now, 256);
	int state = (int)incident->state;

	if (incident->state == WIRE_UPDATED && incident->good_since_wall_ns != 0)
		state = RECORDER_GOOD;
	else if (incident->state == WIRE_UPDATED && incident_table_is_fall(incident))
		state = RECORDER_FELL;
	/* The part comes last, because "A or B" contains blanks. */
	if (out != NULL)
		fprintf(out,
		    "incident %s %s %" PRIu64 " %d %s %s %" PRIu64 " %" PRIu64 " %s\n",
		    incident->tor, incident->head.aggregator, incident->incident_id,
		    state, incident->part_type, incident->kind,
		    incident->opened_wall_ns, incident->changed_wall_ns,
		    incident->part);
}

void
recorder_tor(struct recorder *recorder, const char *tor,
    enum localise_tor_report report, rm_mono_t now)
{
	static const char *const names[] = {
		[LOCALISE_TOR_OVER] = "over",
		[LOCALISE_TOR_CUT_OFF] = "cut-off",
		[LOCALISE_TOR_DEAD] = "dead",
		[LOCALISE_TOR_OR_TWO] = "dead-or-two",
	};
	FILE *out = line(recorder, now, 128);

	if (out != NULL)
		fprintf(out, "tor %s %s\n", tor, names[report]);
}

void
recorder_rack_is_seen(
    struct recorder *recorder, const char *tor, bool seen, rm_mono_t now)
{
	FILE *out = line(recorder, now, 128);

	if (out != NULL)
		fprintf(out, "heard %s %s\n", tor, seen ? "yes" : "no");
}

void
recorder_row_interval(struct recorder *recorder, int64_t row_interval_ns, rm_mono_t now)
{
	FILE *out = line(recorder, now, 64);

	if (out != NULL)
		fprintf(out, "interval %" PRId64 "\n", row_interval_ns);
}

void
recorder_judged(struct recorder *recorder, rm_mono_t now, rm_wall_t wall)
{
	FILE *out = line(recorder, now, 64);

	if (out == NULL)
		return;
	fprintf(out, "judged %" PRId64 "\n", wall.ns);
	fflush(out);
}
