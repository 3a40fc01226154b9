/*
 * bench_spool - the cost of durability: how long a record waits until it is durable,
 * and how many become durable in a second.
 *
 * Both are measured on a real disk, alternately with the yardstick: the same bytes
 * written to a file by this process alone, with one fdatasync for each group. A promise
 * under load waits for the running fsync and for its own, so a group commit can reach
 * twice the yardstick.
 */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rackmesh/core/error.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"
#include "rackmesh/spool/spool.h"
#include "tests/bench/figure.h"

#define RECORD_BYTES 256
#define GROUP 20 /* number of records appended together, each */
#define EVERY_NS (2 * RM_NS_PER_MS)
#define MOST_GROUPS 1500
#define FLOOD 400000            /* records appended as fast as they are accepted */
#define FLOOD_COMMIT (4u << 20) /* bytes: the spool's own limit */
#define ROUNDS 3
#define MAX_PATH 128

struct bench {
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct rm_spool *spool;
	char root[MAX_PATH], folder[MAX_PATH + 8], file[MAX_PATH + 8];
	rm_mono_t appended[MOST_GROUPS];
	int64_t waited[MOST_GROUPS], raw[MOST_GROUPS];
	size_t groups, made, safe;
	uint64_t first; /* number of the first record */
};

static const uint8_t record[RECORD_BYTES] = { 1, 2, 3 };

static void
on_durable(uint64_t seq, void *arg)
{
	struct bench *bench = arg;
	rm_mono_t now = rm_mono_now();

	while (bench->safe < bench->made &&
	       bench->first + (bench->safe + 1) * GROUP - 1 <= seq) {
		bench->waited[bench->safe] =
		    rm_mono_since(now, bench->appended[bench->safe]);
		bench->safe++;
	}
}

static int
open_spool(struct bench *bench, uint64_t max_bytes)
{
	const struct rm_spool_options options = { .folder = bench->folder,
		.max_bytes = max_bytes };
	const struct rm_spool_callbacks callbacks = { .on_durable = on_durable,
		.arg = bench };
	struct rm_error error = { 0 };
	int r = rm_worker_new(bench->loop, 16, &bench->worker);

	if (r == 0)
		r = rm_spool_new(bench->loop, bench->worker, &options, &callbacks,
		    &bench->spool, &error);
	if (r < 0)
		fprintf(stderr, "bench_spool: %s\n", error.text);
	return r;
}

static void
close_spool(struct bench *bench)
{
	rm_worker_free(bench->worker);
	rm_spool_free(bench->spool);
	bench->worker = NULL;
	bench->spool = NULL;
}

static int
append_group(struct bench *bench)
{
	int r = 0;

	for (int i = 0; i < GROUP && r == 0; i++)
		r = rm_spool_append(bench->spool, record, sizeof(record), NULL);
	return r;
}

static void
nothing(void *arg)
{
}

/* Appends one group in each interval, whatever the disk does. */
static int
steady(struct bench *bench)
{
	rm_mono_t due = rm_mono_now();
	struct rm_timer *timer;
	int r = rm_timer_new(bench->loop, nothing, NULL, &timer);

	bench->made = bench->safe = 0;
	bench->first = rm_spool_next(bench->spool);
	while (r == 0 && bench->safe < bench->groups) {
		if (bench->made < bench->groups &&
		    rm_mono_since(rm_mono_now(), due) >= 0) {
			bench->appended[bench->made++] = rm_mono_now();
			r = append_group(bench);
			due = rm_mono_add(due, EVERY_NS);
		}
		rm_timer_at(timer, due);
		event_base_loop(rm_loop_base(bench->loop), EVLOOP_ONCE);
		if (bench->made == bench->groups)
			due = rm_mono_add(rm_mono_now(), EVERY_NS);
	}
	rm_timer_free(timer);
	return r;
}

/* Writes bytes in parts of this size, each with one fdatasync. ns: the time of each,
 * or NULL. */
static int
raw_writes(const struct bench *bench, size_t part, size_t parts, int64_t *ns)
{
	uint8_t *data = calloc(1, part);
	int fd = open(bench->file, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600),
	    r = 0;

	if (data == NULL || fd < 0)
		r = -ENOMEM;
	for (size_t i = 0; i < parts && r == 0; i++) {
		rm_mono_t begun = rm_mono_now();

		if (write(fd, data, part) != (ssize_t)part || fdatasync(fd) < 0)
			r = -EIO;
		if (ns != NULL)
			ns[i] = rm_mono_since(rm_mono_now(), begun);
	}
	if (fd >= 0)
		close(fd);
	free(data);
	return r;
}

static int
measure_waiting(struct bench *bench)
{
	double best = 0, best_raw = 0;
	int r = 0;

	for (int i = 0; i < ROUNDS && r == 0; i++) {
		r = steady(bench);
		if (r == 0)
			r = raw_writes(bench, GROUP * (RECORD_BYTES + 16),
			    bench->groups, bench->raw);
		if (r < 0)
			break;
		figure_keep_best(&best, figure_p99_us(bench->waited, bench->groups));
		figure_keep_best(&best_raw, figure_p99_us(bench->raw, bench->groups));
	}
	if (r < 0)
		return r;
	figure_print(&(struct figure){ "a record until it is promised, p99", "us", best,
	    "write + fdatasync", best_raw, .gate = "ratio <= 4" });
	figure_print(&(struct figure){
	    "the same, on this disk", "us", best, .gate = "aim value <= 5000" });
	return 0;
}

static int
flood(struct bench *bench, double *seconds)
{
	uint64_t last = rm_spool_next(bench->spool) + FLOOD - 1;
	rm_mono_t begun = rm_mono_now();
	int r = 0;

	bench->made = bench->safe = 0;
	for (size_t i = 0; i < FLOOD && r == 0; i++) {
		r = rm_spool_append(bench->spool, record, sizeof(record), NULL);
		if (i % 1024 == 0)
			event_base_loop(rm_loop_base(bench->loop), EVLOOP_NONBLOCK);
	}
	while (r == 0 && rm_spool_unsynced_bytes(bench->spool) > 0)
		event_base_loop(rm_loop_base(bench->loop), EVLOOP_ONCE);
	*seconds = (double)rm_mono_since(rm_mono_now(), begun) / RM_NS_PER_S;
	rm_spool_done(bench->spool, last);
	return r;
}

static int
measure_flood(struct bench *bench)
{
	const size_t bytes = (size_t)FLOOD * (RECORD_BYTES + 16);
	double best = 0, best_raw = 0, seconds;
	int r = 0;

	for (int i = 0; i < ROUNDS && r == 0; i++) {
		rm_mono_t begun;

		r = flood(bench, &seconds);
		begun = rm_mono_now();
		if (r == 0)
			r = raw_writes(bench, FLOOD_COMMIT, bytes / FLOOD_COMMIT, NULL);
		if (r < 0)
			return r;
		figure_keep_best(&best, seconds);
		figure_keep_best(&best_raw,
		    (double)rm_mono_since(rm_mono_now(), begun) / RM_NS_PER_S);
	}
	figure_print(&(struct figure){ "records promised", "/s", FLOOD / best,
	    "write + fdatasync per 4 MiB", FLOOD / best_raw, .gate = "ratio >= 0.2" });
	return 0;
}

int
main(int argc, char **argv)
{
	static struct bench bench;
	char clean[MAX_PATH + 32];
	int r;

	bench.groups =
	    figure_argument(argc, argv, "--smoke") ? MOST_GROUPS / 3 : MOST_GROUPS;
	/* Must be a disk, not memory. */
	strcpy(bench.root, "/var/tmp/bench-spool.XXXXXX");
	if (mkdtemp(bench.root) == NULL || rm_loop_new(&bench.loop) < 0)
		return EXIT_FAILURE;
	snprintf(bench.folder, sizeof(bench.folder), "%s/spool", bench.root);
	snprintf(bench.file, sizeof(bench.file), "%s/raw", bench.root);
	r = open_spool(&bench, UINT64_C(1) << 30);
	if (r == 0)
		r = measure_waiting(&bench);
	if (r == 0)
		r = measure_flood(&bench);
	close_spool(&bench);
	rm_loop_free(bench.loop);
	snprintf(clean, sizeof(clean), "rm -r %s", bench.root);
	if (system(clean) != 0 || r < 0)
		fprintf(stderr, "bench_spool: %s\n", strerror(-r));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
