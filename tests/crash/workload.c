#include "tests/crash/workload.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/file.h"
#include "tests/crash/choices.h"
#include "tests/crash/life.h"
#include "tests/crash/recorder.h"

#define STEPS 45
#define MAX_FILE (1u << 20)

struct workload {
	struct life *life;
	struct workload_counts *counts;
	uint64_t random;
	bool gentle; /* there is no damage except by crashes */
};

static uint64_t
upto(struct workload *w, uint64_t most)
{
	return choices_random(&w->random) % (most + 1);
}

void
workload_options(uint64_t seed, struct rm_spool_options *options)
{
	static const uint32_t segments[] = { 2048, 4096, 8192, 3072 };

	*options = (struct rm_spool_options){
		.max_bytes = seed % 4 == 3 ? 12288 : 262144,
		.segment_bytes = segments[seed % 4],
		.memory_bytes = 1 << 20,
		.identity = 0x5eed0000 + seed,
	};
}

static void
appends(struct workload *w)
{
	uint64_t count = 1 + upto(w, 4);

	for (uint64_t i = 0; i < count; i++) {
		uint64_t len = ORACLE_MIN_BYTES + upto(w, 600);

		if (upto(w, 15) == 0)
			len += upto(w, 5000);
		life_append(w->life, len);
		w->counts->appended++;
	}
}

static void
some_done(struct workload *w)
{
	const struct rm_spool *spool = w->life->spool;
	uint64_t next = rm_spool_next(spool), waiting = rm_spool_waiting(spool);

	/* A reader acknowledges only records that it was given. */
	if (waiting > 0 && rm_spool_unsynced_bytes(spool) == 0)
		life_done(w->life, next - 1 - upto(w, waiting - 1));
}

static void
arm(struct workload *w)
{
	static const int errors[] = { EIO, ENOSPC, EROFS };
	enum recorder_act act = upto(w, 1) == 0
				    ? RECORDER_SYNC
				    : RECORDER_CREATE + (int)upto(w, RECORDER_ACTS - 2);
	unsigned before = recorder_failed();

	life_hold_timers(false); /* the retries are among these calls */
	recorder_fail(
	    act, (unsigned)upto(w, 1), 1 + (unsigned)upto(w, 1), errors[upto(w, 2)]);
	appends(w);
	life_turn(w->life);
	recorder_fail(RECORDER_NOTHING, 0, 0, 0);
	w->counts->calls_failed += recorder_failed() - before;
	if (act == RECORDER_SYNC || act == RECORDER_SYNC_FOLDER)
		w->counts->syncs_failed += recorder_failed() - before;
	/* The disk works again, so the spool must recover by itself. */
	life_turn(w->life);
	if (rm_spool_counts(w->life->spool)->durable != 1)
		w->life->faults->stuck++;
}

/* Atomically, since this write is not part of the search for crashes. */
static void
put_file(const struct workload *w, const char *name, const uint8_t *data, size_t len)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", w->life->options.folder, name);
	if (rm_file_replace(path, data, len) < 0)
		err(2, "cannot write %s", path);
	w->counts->damaged++;
}

/* Puts a foreign file under the name of a segment. */
static void
foreign_file(struct workload *w)
{
	uint8_t garbage[700];
	char name[TRACE_NAME];

	for (size_t i = 0; i < sizeof(garbage); i++)
		garbage[i] = (uint8_t)upto(w, 255);
	snprintf(name, sizeof(name), "%016llx.spool",
	    (unsigned long long)(UINT64_C(1) << 40) + upto(w, 3));
	put_file(w, name, garbage, 1 + upto(w, 690));
}

/* Flips one bit in the middle of a record, which may then be lost. */
static void
damage(struct workload *w, const char *name)
{
	char path[256];
	uint8_t *data;
	size_t len;
	bool hit = false;

	snprintf(path, sizeof(path), "%s/%s", w->life->options.folder, name);
	if (rm_file_read(path, MAX_FILE, &data, &len) < 0)
		return;
	for (size_t at = 32; at + 16 + ORACLE_MIN_BYTES <= len && !hit;) {
		uint32_t bytes = (uint32_t)data[at] << 24 |
				 (uint32_t)data[at + 1] << 16 |
				 (uint32_t)data[at + 2] << 8 | data[at + 3];
		struct oracle_record *record;
		uint32_t id;

		memcpy(&id, data + at + 16, sizeof(id));
		record = oracle_find(w->life->oracle, id);
		if (record == NULL || record->len != bytes || at + 16 + bytes > len)
			break;
		if (upto(w, 2) == 0) {
			data[at + 16 + upto(w, bytes - 1)] ^= 1;
			if (record->excused == ORACLE_NEVER)
				record->excused = w->life->trace->count;
			hit = true;
		}
		at += 16 + bytes;
	}
	if (hit)
		put_file(w, name, data, len);
	free(data);
}

static void
damage_one(struct workload *w)
{
	DIR *dir = opendir(w->life->options.folder);
	struct dirent *entry;
	char name[TRACE_NAME] = "";

	/* The last one in the order of names, the same in each run. */
	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (strlen(entry->d_name) == 22 && strcmp(entry->d_name, name) > 0 &&
		    upto(w, 3) > 0)
			snprintf(name, sizeof(name), "%.39s", entry->d_name);
	if (dir != NULL)
		closedir(dir);
	if (name[0] != '\0')
		damage(w, name);
}

static void
restart(struct workload *w, bool clean)
{
	life_hold_timers(false);
	if (clean)
		life_stop(w->life);
	else
		life_kill(w->life);
	w->counts->restarts++;
	w->counts->kills += !clean;
	if (!w->gentle && upto(w, 3) == 0)
		foreign_file(w);
	if (!w->gentle && upto(w, 3) == 0)
		damage_one(w);
	if (life_start(w->life) < 0)
		return;
	life_turn(w->life);
}

/* Dies in the middle of a turn. */
static void
killed(struct workload *w)
{
	appends(w);
	recorder_die((unsigned)upto(w, 9));
	life_turn(w->life);
	restart(w, false);
}

static void
step(struct workload *w)
{
	uint64_t chance = upto(w, 99);

	if (chance < 45)
		appends(w);
	else if (chance < 60)
		some_done(w);
	else if (chance < 66)
		life_hold_timers(upto(w, 1) == 0);
	else if (chance < 78 && !w->gentle)
		arm(w);
	else if (chance < 84)
		killed(w);
	else if (chance < 88)
		restart(w, true);
	if (w->life->spool != NULL && upto(w, 3) > 0)
		life_turn(w->life);
}

void
workload_run(uint64_t seed, struct life *life, struct workload_counts *counts)
{
	struct workload w = { life, counts, seed, seed % 8 == 7 };

	if (life_start(life) < 0)
		return;
	for (int i = 0; i < STEPS && life->spool != NULL; i++)
		step(&w);
	counts->dropped += life->dropped;
	if (life->spool == NULL)
		return;
	life_hold_timers(false);
	life_turn(life);
	life_walk(life);
	if (seed % 2 == 0)
		life_stop(life);
	else
		life_kill(life);
}
