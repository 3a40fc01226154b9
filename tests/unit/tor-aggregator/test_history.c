#include "tor-aggregator/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "rackmesh/base/worker.h"
#include "tests/support/loopback.h"
#include "tor-aggregator/uplink.h"

#define MAX_BYTES 8192 /* of all files: 2048 each */

struct world {
	char folder[64], path[128];
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct history *history;
	struct uplink *uplink;
};

static int
setup(void **state)
{
	const struct uplink_options options = { .aggregator = "agg",
		.region = "lab",
		.incarnation = 5,
		.summary_bytes = 1 << 20,
		.incident_bytes = 1 << 20 };
	struct world *world = calloc(1, sizeof(*world));
	struct uplink_sink sink = { history_send, NULL };

	*state = world;
	snprintf(world->folder, sizeof(world->folder), "/tmp/rm-history-XXXXXX");
	if (mkdtemp(world->folder) == NULL || rm_loop_new(&world->loop) < 0 ||
	    rm_worker_new(world->loop, 16, &world->worker) < 0)
		return -1;
	snprintf(world->path, sizeof(world->path), "%s/h", world->folder);
	if (history_new(world->worker, world->path, MAX_BYTES, &world->history) < 0)
		return -1;
	sink.arg = world->history;
	if (uplink_new(&options, &sink, &world->uplink) < 0)
		return -1;
	history_bind(world->history, world->uplink);
	return 0;
}

static int
teardown(void **state)
{
	struct world *world = *state;
	char command[128];

	rm_worker_free(world->worker);
	uplink_free(world->uplink);
	history_free(world->history);
	rm_loop_free(world->loop);
	snprintf(command, sizeof(command), "rm -rf %s", world->folder);
	if (system(command) != 0)
		return -1;
	free(world);
	return 0;
}

static void
put(struct world *world, int count)
{
	for (int i = 0; i < count; i++) {
		const struct wire_summary summary = { .tor = "t1",
			.end_wall_ns = 1000 + (uint64_t)i };

		uplink_summary(world->uplink, &summary);
	}
}

static off_t
size_of(const struct world *world, const char *name)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", world->path, name);
	return stat(path, &st) < 0 ? -1 : st.st_size;
}

static void
files_rotate_within_their_bound(void **state)
{
	struct world *world = *state;
	const struct uplink_counts *lane =
	    uplink_counts(world->uplink, WIRE_LANE_SUMMARY);
	off_t all = 0;

	put(world, 200);
	LOOPBACK_WAIT(world->loop, lane->delivered == 200);
	assert_int_equal(history_counts(world->history)->points, 200);
	all = size_of(world, "rackmesh.lp") + size_of(world, "rackmesh.lp.1") +
	      size_of(world, "rackmesh.lp.2") + size_of(world, "rackmesh.lp.3");
	assert_true(size_of(world, "rackmesh.lp.3") > 0);
	assert_int_equal(size_of(world, "rackmesh.lp.4"), -1);
	assert_true(all <= MAX_BYTES);
	assert_true(history_counts(world->history)->written_bytes > MAX_BYTES);
}

static void
what_could_not_be_written_is_not_acknowledged_and_goes_again(void **state)
{
	struct world *world = *state;
	const struct uplink_counts *lane =
	    uplink_counts(world->uplink, WIRE_LANE_SUMMARY);
	char away[160];

	snprintf(away, sizeof(away), "%s/away", world->folder);
	assert_int_equal(rename(world->path, away), 0);
	put(world, 3);
	LOOPBACK_WAIT(world->loop, history_counts(world->history)->failed_writes >= 1);
	assert_int_equal(lane->delivered, 0);
	assert_int_equal(uplink_spooled(world->uplink, WIRE_LANE_SUMMARY), 3);
	assert_int_equal(rename(away, world->path), 0);
	uplink_pump(world->uplink);
	LOOPBACK_WAIT(world->loop, lane->delivered == 3);
	assert_int_equal(history_counts(world->history)->points, 3);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_rotate_within_their_bound),
		TEST(what_could_not_be_written_is_not_acknowledged_and_goes_again),
	};

	return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}
