/*
 * The pinglists of a host, in memory and on disk, by a script: received, confirmed,
 * expired, saved, damaged, and read by an agent that restarts. A pinglist is never
 * replaced by an older one, and each target of an RNIC is listed once.
 *
 * Input: events, each a byte and its parameters.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/pinglist/pinglist.h"
#include "host-agent/pinglist/pinglist_cache.h"
#include "host-agent/pinglist/pinglist_store.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"
#include "tests/fuzz/folder.h"
#include "tests/support/arrivals.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/fake_world.h"
#include "tests/support/wire_make.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define MAX_EVENTS 64
#define DAY_NS (24 * 3600 * RM_NS_PER_S)

static const char *const tors[] = { "tor-a", "tor-b" };

struct run {
	struct fuzz_bytes bytes;
	char folder[FUZZ_FOLDER_BYTES];
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct wire_writer *writer;
	struct pinglist_store *pinglists;
	uint64_t versions[2]; /* held during this run */
};

/* Starts the agent again with the saved files. */
static void
restart(struct run *run)
{
	int r;

	rm_worker_free(run->worker);
	pinglist_store_free(run->pinglists);
	run->worker = NULL;
	run->pinglists = NULL;
	if (rm_worker_new(run->loop, 4, &run->worker) < 0)
		abort();
	failing_malloc_arm(fuzz_below(&run->bytes, 16));
	r = pinglist_store_new(run->folder, run->worker, &run->pinglists);
	if (failing_malloc_disarm() && r < 0)
		abort();
	if (r < 0 && pinglist_store_new(run->folder, run->worker, &run->pinglists) < 0)
		abort();
	for (size_t i = 0; i < 2; i++) {
		failing_malloc_arm(fuzz_below(&run->bytes, 64));
		r = pinglist_store_add_tor(run->pinglists, tors[i]);
		(void)failing_malloc_disarm();
		if (r < 0 && pinglist_store_add_tor(run->pinglists, tors[i]) < 0)
			abort();
	}
	failing_malloc_arm(fuzz_below(&run->bytes, 64));
	pinglist_store_load(run->pinglists, rm_wall_now(), rm_mono_now());
	(void)failing_malloc_disarm();
	memset(run->versions, 0, sizeof(run->versions));
}

static void
take(struct run *run)
{
	struct wire_bytes message;
	uint8_t damage = fuzz_u8(&run->bytes), *copy;
	unsigned fails = fuzz_below(&run->bytes, 64);
	const char *tor = NULL;
	int r = 1;

	if (wire_make(WIRE_PINGLIST, &run->bytes, run->writer, &message) < 0)
		return;
	copy = malloc(message.len);
	if (copy == NULL)
		abort();
	memcpy(copy, message.data, message.len);
	if (damage >= 0xf0)
		copy[fuzz_number(&run->bytes) % message.len] ^= fuzz_u8(&run->bytes);
	failing_malloc_arm(fails);
	if (pinglist_store_arrival(run->pinglists, copy, message.len, rm_wall_now(),
		rm_mono_now(), &tor, &r) &&
	    (r != 0 || tor == NULL))
		abort();
	(void)failing_malloc_disarm();
	/* The same pinglist again: it is already held, or was refused. */
	if (r > 0 || (pinglist_store_arrival(run->pinglists, copy, message.len,
			  rm_wall_now(), rm_mono_now(), &tor, &r) &&
			 fails == 0))
		abort();
	free(copy);
}

static void
damage(struct run *run)
{
	uint8_t which = fuzz_u8(&run->bytes), with = fuzz_u8(&run->bytes);
	size_t at = (size_t)fuzz_number(&run->bytes);
	struct fuzz_bytes part;
	char name[32];

	snprintf(name, sizeof(name), "pinglist-%s", tors[which & 1]);
	if (which < 0xc0) {
		fuzz_folder_damage(run->folder, name, at, with);
		return;
	}
	part = fuzz_part(&run->bytes, 64);
	fuzz_folder_write(run->folder, name, part.at, part.left);
}

static void
pass(struct run *run)
{
	uint8_t days = fuzz_u8(&run->bytes);
	unsigned fails = fuzz_below(&run->bytes, 64);

	fake_world_pass(days * DAY_NS / 8);
	failing_malloc_arm(fails);
	pinglist_store_tick(run->pinglists, rm_wall_now(), rm_mono_now());
	(void)failing_malloc_disarm();
	if (days & 1)
		fake_world_turn(); /* it is being written */
}

static void
event(struct run *run)
{
	uint8_t what = fuzz_u8(&run->bytes);

	switch (what % 8) {
	case 0:
		pinglist_store_renew(run->pinglists,
		    what == 0xf8 ? "nobody" : tors[what >> 7], rm_mono_now());
		break;
	case 1:
		pinglist_store_set_life(run->pinglists,
		    (int64_t)(fuzz_number(&run->bytes) % 1000) * DAY_NS / 8);
		break;
	case 2:
	case 3:
		pass(run);
		break;
	case 4:
		damage(run);
		break;
	case 5:
		restart(run);
		break;
	default:
		take(run);
	}
}

static bool
same_id(struct wire_rnic_id a, struct wire_rnic_id b)
{
	return a.guid == b.guid && a.port == b.port;
}

static void
check_sum(const struct run *run, struct wire_rnic_id rnic)
{
	struct pinglist_sum sum;
	int r = pinglist_store_sum(run->pinglists, tors, 2, rnic, &sum);

	if (r < 0 && r != -ENOMEM)
		abort();
	if (r < 0)
		return;
	if (sum.held != pinglist_store_any(run->pinglists))
		abort();
	for (size_t i = 0; i < sum.target_count; i++)
		if (!same_id(sum.targets[i].src, rnic))
			abort();
	pinglist_sum_clear(&sum);
}

static void
check(struct run *run)
{
	const struct pinglist_store_counts *counts =
	    pinglist_store_counts(run->pinglists);
	size_t slow = 0;

	for (size_t i = 0; i < pinglist_store_tors(run->pinglists); i++) {
		const struct pinglist *pinglist = pinglist_store_at(run->pinglists, i);
		const struct wire_pinglist_view *view = pinglist_view(pinglist);

		slow += pinglist_slow(pinglist);
		if ((view == NULL) != (pinglist_bytes(pinglist).len == 0))
			abort();
		if (view != NULL && strcmp(view->pinglist.tor, tors[i]) != 0)
			abort();
		/* Only a pinglist that has expired is replaced by an older one. */
		if (view != NULL && view->pinglist.version < run->versions[i])
			abort();
		run->versions[i] = view != NULL ? view->pinglist.version : 0;
	}
	if (slow != pinglist_store_slow(run->pinglists) ||
	    counts->recovered > counts->expired)
		abort();
	for (uint64_t guid = 0; guid < 3; guid++)
		check_sum(run, (struct wire_rnic_id){ guid, 1 });
	failing_malloc_arm(fuzz_below(&run->bytes, 64));
	check_sum(run, (struct wire_rnic_id){ 0, 0 });
	(void)failing_malloc_disarm();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct run run = { .bytes = { data, len } };

	fake_world_begin();
	fuzz_folder_make(run.folder);
	run.writer = wire_writer_new();
	if (run.writer == NULL || rm_loop_new(&run.loop) < 0)
		abort();
	restart(&run);
	for (int i = 0; i < MAX_EVENTS && run.bytes.left > 0; i++) {
		event(&run);
		check(&run);
	}
	(void)pinglist_store_cache_counts(run.pinglists);
	rm_worker_free(run.worker);
	pinglist_store_free(run.pinglists);
	wire_writer_free(run.writer);
	rm_loop_free(run.loop);
	fuzz_folder_remove(run.folder);
	fake_world_end();
	return 0;
}
