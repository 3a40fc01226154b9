#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host-agent/pinglist/pinglist.h"
#include "host-agent/pinglist/pinglist_cache.h"
#include "host-agent/pinglist/pinglist_store.h"
#include "rackmesh/loop/worker.h"
#include "tests/support/arrivals.h"
#include "tests/support/loopback.h"
#include "tests/support/pinglist_fixture.h"

#define DAY_NS (24 * 3600 * RM_NS_PER_S)

struct fixture {
	char folder[40], path[64];
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct pinglist_store *pinglists;
	struct wire_writer *writer;
};

static struct fixture fixture;
static const rm_wall_t wall = { 1000 * DAY_NS };
static const rm_mono_t now = { 100 * DAY_NS };
static const struct pinglist_pair pairs[] = { { 1, 2, 1000 } };

/* Creates the store as at a start of the daemon. */
static void
start(struct fixture *f)
{
	assert_int_equal(rm_worker_new(f->loop, 8, &f->worker), 0);
	assert_int_equal(pinglist_store_new(f->folder, f->worker, &f->pinglists), 0);
	assert_int_equal(pinglist_store_add_tor(f->pinglists, "tor-a"), 0);
	assert_int_equal(pinglist_store_add_tor(f->pinglists, "tor-b"), 0);
	assert_int_equal(pinglist_store_add_tor(f->pinglists, "tor-a"), 0);
	pinglist_store_set_life(f->pinglists, 7 * DAY_NS);
}

static void
stop(struct fixture *f)
{
	rm_worker_free(f->worker);
	pinglist_store_free(f->pinglists);
}

static int
setup(void **state)
{
	struct fixture *f = &fixture;

	snprintf(f->folder, sizeof(f->folder), "/tmp/test_plans.XXXXXX");
	if (mkdtemp(f->folder) == NULL || rm_loop_new(&f->loop) < 0)
		return -1;
	snprintf(f->path, sizeof(f->path), "%.39s/pinglist-tor-a", f->folder);
	f->writer = wire_writer_new();
	start(f);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	stop(f);
	rm_loop_free(f->loop);
	wire_writer_free(f->writer);
	unlink(f->path);
	return rmdir(f->folder);
}

static bool
take_at(struct fixture *f, const char *tor, uint64_t version, rm_mono_t when, int *r)
{
	struct wire_bytes bytes = pinglist_write(f->writer, tor, version, 0, pairs, 1);
	const char *changed = NULL;
	bool taken;

	taken = pinglist_store_arrival(
	    f->pinglists, bytes.data, bytes.len, wall, when, &changed, r);
	if (taken)
		assert_string_equal(changed, tor);
	return taken;
}

static uint64_t
saved(struct fixture *f)
{
	return pinglist_store_cache_counts(f->pinglists)->saved;
}

static void
each_tor_has_one_pinglist(void **state)
{
	struct fixture *f = *state;
	int r;

	assert_int_equal(pinglist_store_tors(f->pinglists), 2);
	assert_false(pinglist_store_any(f->pinglists));
	assert_true(take_at(f, "tor-a", 2, now, &r));
	assert_false(take_at(f, "tor-a", 2, now, &r));
	assert_int_equal(r, 0);
	assert_false(take_at(f, "tor-a", 1, now, &r));
	assert_int_equal(r, 0);
	assert_true(pinglist_store_any(f->pinglists));
	assert_int_equal(pinglist_store_counts(f->pinglists)->taken, 1);
	assert_int_equal(pinglist_store_counts(f->pinglists)->same, 1);
	assert_int_equal(pinglist_store_counts(f->pinglists)->old, 1);
}

static void
damaged_pinglists_and_those_of_other_tors_are_counted(void **state)
{
	struct fixture *f = *state;
	static const uint8_t nothing[8] __attribute__((aligned(8))) = { 0 };
	const char *changed;
	int r;

	assert_false(take_at(f, "tor-x", 2, now, &r));
	assert_int_equal(r, -ENOENT);
	assert_int_equal(pinglist_store_counts(f->pinglists)->other_tor, 1);
	assert_false(pinglist_store_arrival(
	    f->pinglists, nothing, sizeof(nothing), wall, now, &changed, &r));
	assert_int_equal(r, -EBADMSG);
	assert_int_equal(pinglist_store_counts(f->pinglists)->malformed, 1);
}

static void
after_a_restart_the_copies_are_used(void **state)
{
	const char *tors[] = { "tor-a", "tor-b" };
	struct fixture *f = *state;
	struct pinglist_sum sum;
	int r;

	take_at(f, "tor-a", 2, now, &r);
	LOOPBACK_WAIT(f->loop, saved(f) == 1);
	stop(f);
	start(f);
	pinglist_store_load(f->pinglists, wall, now);
	assert_int_equal(
	    pinglist_store_sum(f->pinglists, tors, 2, rnic_number(1), &sum), 0);
	assert_true(sum.held);
	assert_int_equal(sum.target_count, 1);
	assert_int_equal(sum.peer_count, 1);
	pinglist_sum_clear(&sum);
	/* An older version does not replace the pinglist; a newer one does. */
	assert_false(take_at(f, "tor-a", 1, now, &r));
	assert_true(take_at(f, "tor-a", 3, now, &r));
}

static void
a_restart_does_not_renew_a_copy(void **state)
{
	struct fixture *f = *state;
	int r;

	take_at(f, "tor-a", 2, now, &r);
	LOOPBACK_WAIT(f->loop, saved(f) == 1);
	stop(f);
	start(f);
	pinglist_store_load(f->pinglists, (rm_wall_t){ wall.ns + 6 * DAY_NS }, now);
	assert_true(pinglist_store_any(f->pinglists));
	assert_false(pinglist_store_tick(f->pinglists, wall, rm_mono_add(now, DAY_NS)));
	assert_true(
	    pinglist_store_tick(f->pinglists, wall, rm_mono_add(now, DAY_NS + 1)));
	assert_int_equal(pinglist_store_slow(f->pinglists), 1);
	assert_int_equal(pinglist_store_counts(f->pinglists)->expired, 1);
}

static uint32_t
interval_us(struct fixture *f)
{
	const char *tors[] = { "tor-a", "tor-b" };
	struct pinglist_sum sum;
	uint32_t interval;

	assert_int_equal(
	    pinglist_store_sum(f->pinglists, tors, 2, rnic_number(1), &sum), 0);
	interval = sum.target_count == 1 ? sum.targets[0].interval_us : 0;
	pinglist_sum_clear(&sum);
	return interval;
}

/* Follows a pinglist to the end of its lifetime while no aggregator is reachable. */
static void
without_aggregators_probing_continues_then_slows_then_stops(void **state)
{
	struct fixture *f = *state;
	unsigned turns = 0;
	int r;

	take_at(f, "tor-a", 2, now, &r);
	for (int64_t hour = 0; hour <= 100 * 24; hour++) {
		turns += pinglist_store_tick(
		    f->pinglists, wall, rm_mono_add(now, hour * DAY_NS / 24));
		assert_int_equal(interval_us(f), hour <= 7 * 24    ? 1000
						 : hour <= 67 * 24 ? 10000
								   : 0);
	}
	assert_int_equal(turns, 2);
	assert_int_equal(pinglist_store_counts(f->pinglists)->expired, 1);
	assert_int_equal(pinglist_store_counts(f->pinglists)->ended, 1);
	assert_false(pinglist_store_any(f->pinglists));
}

static void
a_returning_aggregator_restores_the_full_rate(void **state)
{
	struct fixture *f = *state;
	rm_mono_t late = rm_mono_add(now, 20 * DAY_NS);
	int r;

	take_at(f, "tor-a", 2, now, &r);
	assert_true(pinglist_store_tick(f->pinglists, wall, late));
	assert_int_equal(interval_us(f), 10000);
	pinglist_store_renew(f->pinglists, "tor-b",
	    late); /* a renewal for another ToR changes nothing */
	assert_false(pinglist_store_tick(f->pinglists, wall, late));
	pinglist_store_renew(f->pinglists, "tor-a", late);
	assert_true(pinglist_store_tick(f->pinglists, wall, late));
	assert_int_equal(interval_us(f), 1000);
	assert_int_equal(pinglist_store_slow(f->pinglists), 0);
	assert_int_equal(pinglist_store_counts(f->pinglists)->recovered, 1);
}

/* The host was off for two weeks, and no aggregator is reachable. */
static void
an_expired_copy_serves_slowly_after_a_restart(void **state)
{
	struct fixture *f = *state;
	int r;

	take_at(f, "tor-a", 2, now, &r);
	LOOPBACK_WAIT(f->loop, saved(f) == 1);
	stop(f);
	start(f);
	pinglist_store_load(f->pinglists, (rm_wall_t){ wall.ns + 14 * DAY_NS }, now);
	assert_true(pinglist_store_tick(f->pinglists, wall, now));
	assert_int_equal(interval_us(f), 10000);
	stop(f);
	start(f);
	pinglist_store_load(f->pinglists, (rm_wall_t){ wall.ns + 91 * DAY_NS }, now);
	assert_false(pinglist_store_any(f->pinglists));
}

static void
no_config_lets_a_pinglist_live_longer_than_the_limit(void **state)
{
	struct fixture *f = *state;
	int r;

	pinglist_store_set_life(f->pinglists, 1000 * DAY_NS);
	take_at(f, "tor-a", 2, now, &r);
	assert_false(pinglist_store_tick(f->pinglists, wall,
	    rm_mono_add(now, PINGLIST_STORE_MAX_EXPIRE_DAYS * DAY_NS)));
	assert_true(pinglist_store_tick(f->pinglists, wall,
	    rm_mono_add(now, PINGLIST_STORE_MAX_EXPIRE_DAYS * DAY_NS + 1)));
}

static void
a_confirmed_pinglist_and_its_copy_stay(void **state)
{
	struct fixture *f = *state;
	rm_mono_t later = rm_mono_add(now, 6 * DAY_NS);
	int r;

	take_at(f, "tor-a", 2, now, &r);
	LOOPBACK_WAIT(f->loop, saved(f) == 1);
	pinglist_store_renew(f->pinglists, "tor-a", later);
	/* There is no pinglist of this ToR. */
	pinglist_store_renew(f->pinglists, "tor-b", later);
	pinglist_store_tick(f->pinglists, wall, later);
	LOOPBACK_WAIT(f->loop, saved(f) == 2);
	assert_false(
	    pinglist_store_tick(f->pinglists, wall, rm_mono_add(now, 8 * DAY_NS)));
	assert_true(pinglist_store_any(f->pinglists));
}

static void
many_changes_cost_few_writes_and_the_last_one_is_kept(void **state)
{
	struct fixture *f = *state;
	rm_mono_t later = rm_mono_add(now, 5 * RM_NS_PER_S);
	int r;

	for (uint64_t version = 1; version <= 10; version++)
		assert_true(take_at(f, "tor-a", version, now, &r));
	pinglist_store_tick(f->pinglists, wall, now);
	pinglist_store_tick(f->pinglists, wall, later);
	LOOPBACK_WAIT(f->loop, saved(f) == 2);
	stop(f);
	start(f);
	pinglist_store_load(f->pinglists, wall, now);
	assert_int_equal(
	    pinglist_view(pinglist_store_at(f->pinglists, 0))->pinglist.version, 10);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_tor_has_one_pinglist),
		TEST(damaged_pinglists_and_those_of_other_tors_are_counted),
		TEST(after_a_restart_the_copies_are_used),
		TEST(a_restart_does_not_renew_a_copy),
		TEST(without_aggregators_probing_continues_then_slows_then_stops),
		TEST(a_returning_aggregator_restores_the_full_rate),
		TEST(an_expired_copy_serves_slowly_after_a_restart),
		TEST(no_config_lets_a_pinglist_live_longer_than_the_limit),
		TEST(a_confirmed_pinglist_and_its_copy_stay),
		TEST(many_changes_cost_few_writes_and_the_last_one_is_kept),
	};

	return cmocka_run_group_tests_name("plans", tests, NULL, NULL);
}
