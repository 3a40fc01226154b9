#include "tests/crash/life.h"

#include <dirent.h>
#include <errno.h>
#include <event2/event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "rackmesh/core/error.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/spool/spool_state.h"
#include "tests/crash/recorder.h"
#include "tests/crash/wrapped.h"

#define MAX_JOBS 16
#define MAX_TURNS 12 /* a limit: while calls fail, work is always due */
#define MAX_START_NS RM_NS_PER_S
#define NOW (ORACLE_NEVER - 1)
#define HELD_NS (3600 * RM_NS_PER_S)

static struct job {
	int (*run)(void *job);
	void (*done)(void *job, int r);
	void *job;
} jobs[MAX_JOBS];
static size_t job_count;
static bool held, stopping;
static struct life *alive;

void
__wrap_rm_timer_after(struct rm_timer *timer, int64_t ns)
{
	__real_rm_timer_after(timer, held && ns > 0 ? HELD_NS : 0);
}

void
life_hold_timers(bool hold)
{
	held = hold;
}

uint64_t
life_fault_count(const struct life_faults *faults)
{
	return faults->lost + faults->invented + faults->altered + faults->disordered +
	       faults->refused + faults->slow + faults->stuck + faults->numbers;
}

static void fault(struct life *life, uint64_t *which, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void
fault(struct life *life, uint64_t *which, const char *format, ...)
{
	va_list args;

	*which += 1;
	if (life->faults->first[0] != '\0')
		return;
	va_start(args, format);
	vsnprintf(life->faults->first, sizeof(life->faults->first), format, args);
	va_end(args);
}

static uint64_t
folder_bytes(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	uint64_t bytes = 0;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		struct stat st;

		if (fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 &&
		    S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	}
	if (dir != NULL)
		closedir(dir);
	return bytes;
}

/* The oracle learns from the spool only which records a full spool has dropped: as
 * many as the spool counts, and only if its folder was full. */
static void
notice_drops(struct life *life)
{
	uint64_t dropped = rm_spool_counts(life->spool)->dropped_full;

	if (dropped == life->dropped_seen)
		return;
	if (folder_bytes(life->options.folder) < life->options.max_bytes / 2)
		fault(life, &life->faults->lost, "a spool that is not full drops");
	for (size_t i = 0; i < life->oracle->count; i++) {
		struct oracle_record *record = &life->oracle->records[i];
		uint64_t at = spool_index_find(&life->spool->index, record->seq);
		const struct spool_record *there =
		    at == life->spool->index.last
			? NULL
			: spool_index_at(&life->spool->index, at);

		if (record->excused != ORACLE_NEVER || life->dropped_seen == dropped ||
		    (there != NULL && there->seq == record->seq &&
			!spool_record_dropped(there)))
			continue;
		record->excused = life->trace->count;
		life->dropped_seen++;
		life->dropped++;
	}
	life->dropped_seen = dropped;
}

int
__wrap_rm_worker_submit(struct rm_worker *worker, int (*run)(void *job),
    void (*done)(void *job, int r), void *job)
{
	if (job_count == MAX_JOBS || stopping)
		return -EAGAIN;
	if (alive != NULL)
		notice_drops(alive);
	jobs[job_count++] = (struct job){ run, done, job };
	return 0;
}

static void
on_durable(uint64_t seq, void *arg)
{
	struct life *life = arg;

	/* A promise that is kept in memory only ends with the process. */
	if (rm_spool_counts(life->spool)->durable == 1)
		oracle_promised(life->oracle, rm_spool_identity(life->spool), seq,
		    life->trace->count);
}

static void
on_fetched(void *arg)
{
}

static void
balance(struct life *life)
{
	const struct rm_spool_counts *c = rm_spool_counts(life->spool);

	if (c->in + c->found !=
	    c->done + c->dropped_full + rm_spool_waiting(life->spool))
		fault(life, &life->faults->stuck, "the counts do not balance");
}

static bool
get(struct life *life, uint64_t seq, struct rm_spool_item *item)
{
	int r = rm_spool_get(life->spool, seq, item);

	for (int i = 0; i < MAX_TURNS && r == -EAGAIN; i++) {
		life_turn(life);
		r = rm_spool_get(life->spool, seq, item);
	}
	if (r < 0 && r != -ENOENT)
		fault(life, &life->faults->stuck, "cannot get a record: %d", r);
	return r == 0;
}

/* Notes the records that were found as promised, as the users of a spool do, and
 * forgets those that were not: their numbers may be used for other records. */
static void
take_over(struct life *life)
{
	uint64_t identity = rm_spool_identity(life->spool);
	struct rm_spool_item item;
	size_t at = 0;

	for (uint64_t seq = 0; get(life, seq, &item); seq = item.seq + 1) {
		uint32_t id = 0;

		if (item.len < ORACLE_MIN_BYTES)
			continue; /* the walk reports it */
		memcpy(&id, item.data, sizeof(id));
		for (; at < life->oracle->count; at++) {
			struct oracle_record *record = &life->oracle->records[at];

			if (record->id >= id)
				break;
			if (record->excused == ORACLE_NEVER &&
			    record->promised == ORACLE_NEVER)
				record->excused = life->trace->count;
		}
		at += at < life->oracle->count && life->oracle->records[at].id == id;
	}
	for (; at < life->oracle->count; at++) {
		struct oracle_record *record = &life->oracle->records[at];

		if (record->excused == ORACLE_NEVER && record->promised == ORACLE_NEVER)
			record->excused = life->trace->count;
	}
	if (rm_spool_counts(life->spool)->durable == 1)
		oracle_promised(life->oracle, identity, UINT64_MAX, life->trace->count);
}

static void
check_numbers(struct life *life)
{
	uint64_t next = rm_spool_next(life->spool);

	for (size_t i = 0; i < life->oracle->count; i++) {
		const struct oracle_record *record = &life->oracle->records[i];

		if (record->promised == ORACLE_NEVER)
			continue;
		if (record->identity != rm_spool_identity(life->spool))
			fault(life, &life->faults->numbers,
			    "record %u was promised under another identity",
			    record->id);
		else if (record->seq >= next)
			fault(life, &life->faults->numbers,
			    "number %llu was promised, %llu is next",
			    (unsigned long long)record->seq, (unsigned long long)next);
	}
}

/* CPU time, including the worker's jobs, which this process runs itself. Other load
 * on the host does not count. */
static int64_t
work_ns(void)
{
	struct timespec ts = { 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * RM_NS_PER_S + ts.tv_nsec;
}

int
life_start(struct life *life)
{
	const struct rm_spool_callbacks callbacks = { on_durable, on_fetched, life };
	const int64_t begun_ns = work_ns();
	struct rm_error error = { 0 };
	int64_t ns;
	int r;

	/* The worker of this program has no thread; life_turn runs its jobs. */
	r = rm_spool_new(
	    life->loop, NULL, &life->options, &callbacks, &life->spool, &error);
	ns = work_ns() - begun_ns;
	if (ns > life->slowest_ns)
		life->slowest_ns = ns;
	if (r < 0) {
		life->spool = NULL;
		fault(life, &life->faults->refused, "refused to start: %s", error.text);
		return r;
	}
	if (ns > MAX_START_NS)
		fault(life, &life->faults->slow, "took %lld ms to start",
		    (long long)(ns / RM_NS_PER_MS));
	life->dropped_seen = 0;
	notice_drops(life);
	alive = life;
	balance(life);
	check_numbers(life);
	life_walk(life);
	take_over(life);
	return 0;
}

void
life_turn(struct life *life)
{
	for (int i = 0; i < MAX_TURNS; i++) {
		struct job now[MAX_JOBS];
		size_t count;

		event_base_loop(rm_loop_base(life->loop), EVLOOP_NONBLOCK);
		count = job_count;
		memcpy(now, jobs, sizeof(now));
		job_count = 0;
		if (count == 0)
			return;
		for (size_t k = 0; k < count; k++)
			now[k].done(now[k].job, now[k].run(now[k].job));
	}
}

void
life_append(struct life *life, size_t len)
{
	uint8_t bytes[ORACLE_MAX_BYTES];

	oracle_append(life->oracle, rm_spool_identity(life->spool),
	    rm_spool_next(life->spool), len, life->trace->count, bytes);
	if (rm_spool_append(life->spool, bytes, len, NULL) < 0) {
		fault(life, &life->faults->stuck, "cannot append");
		oracle_append_failed(life->oracle);
	}
	notice_drops(life);
	balance(life);
}

void
life_done(struct life *life, uint64_t seq)
{
	oracle_excused(
	    life->oracle, rm_spool_identity(life->spool), seq, life->trace->count);
	rm_spool_done(life->spool, seq);
	balance(life);
}

static void
look_at(struct life *life, const struct rm_spool_item *item, uint32_t *last, bool *seen)
{
	uint8_t bytes[ORACLE_MAX_BYTES];
	struct oracle_record *record = NULL;
	uint32_t id = 0;

	if (item->len >= ORACLE_MIN_BYTES && item->len <= ORACLE_MAX_BYTES) {
		memcpy(&id, item->data, sizeof(id));
		record = oracle_find(life->oracle, id);
	}
	if (record == NULL || record->seq != item->seq ||
	    record->identity != rm_spool_identity(life->spool)) {
		fault(life, &life->faults->invented, "nobody has appended number %llu",
		    (unsigned long long)item->seq);
		return;
	}
	oracle_bytes(id, bytes, item->len);
	if (item->len != record->len || memcmp(bytes, item->data, item->len) != 0)
		fault(life, &life->faults->altered, "record %u was altered", id);
	if (id <= *last)
		fault(life, &life->faults->disordered, "record %u after %u", id, *last);
	*last = id;
	seen[record - life->oracle->records] = true;
}

void
life_walk(struct life *life)
{
	bool *seen = calloc(life->oracle->count + 1, sizeof(*seen));
	struct rm_spool_item item;
	uint32_t last = 0;

	if (seen == NULL)
		abort();
	for (uint64_t seq = 0; get(life, seq, &item); seq = item.seq + 1)
		look_at(life, &item, &last, seen);
	for (size_t i = 0; i < life->oracle->count; i++)
		if (!seen[i] && oracle_requires(&life->oracle->records[i], NOW))
			fault(life, &life->faults->lost,
			    "record %u, number %llu was promised and is lost",
			    life->oracle->records[i].id,
			    (unsigned long long)life->oracle->records[i].seq);
	free(seen);
	balance(life);
}

void
life_works(struct life *life)
{
	size_t before = life->oracle->count;

	life_append(life, 20);
	life_append(life, 600);
	life_turn(life);
	for (size_t i = before; i < life->oracle->count; i++)
		if (life->oracle->records[i].promised == ORACLE_NEVER)
			fault(life, &life->faults->stuck, "promises nothing");
	life_walk(life);
}

static void
end(struct life *life)
{
	stopping = true; /* takes the place of a freed worker */
	alive = NULL;
	for (size_t i = 0; i < job_count; i++)
		jobs[i].done(jobs[i].job, -ECANCELED);
	job_count = 0;
	rm_spool_free(life->spool);
	life->spool = NULL;
	stopping = false;
}

void
life_stop(struct life *life)
{
	life_turn(life);
	end(life);
}

void
life_kill(struct life *life)
{
	recorder_die(0);
	end(life);
	recorder_live();
}
