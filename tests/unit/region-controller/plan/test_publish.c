#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "region-controller/plan/plan.h"
#include "region-controller/plan/publish.h"
#include "region-controller/store/plan_copy.h"
#include "region-controller/store/store.h"
#include "tests/unit/region-controller/region.h"

#define WALL(ms) ((rm_wall_t){ (ms)*RM_NS_PER_MS })

struct fixture {
	struct rm_topology *topology;
	struct registry *registry;
	struct publish *publish;
	struct wire_writer *writer;
	/* Stands for a store that numbers versions by the clock, as the file store
	 * does. */
	rm_wall_t now;
	bool is_late; /* the store does not answer; the last draft is kept in: */
	size_t puts, drops;
	uint64_t put_digest, put_above;
	bool is_due; /* publish_stored() asked for another update */
};

static int
put(const struct store_draft *draft, void *arg)
{
	struct fixture *f = arg;
	uint64_t ms = (uint64_t)(f->now.ns / RM_NS_PER_MS);
	struct store_plan plan = { .tor = draft->tor, .digest = draft->digest };

	f->puts++;
	f->put_digest = draft->digest;
	f->put_above = draft->above;
	if (f->is_late)
		return 0;
	plan.since = f->now;
	plan.version = ms > draft->above ? ms : draft->above + 1;
	if (draft->is_held)
		plan.version = draft->above;
	assert_int_equal(plan_copy_stamp(&draft->bytes, plan.version, plan.digest,
			     f->writer, &plan.bytes),
	    0);
	f->is_due = publish_stored(f->publish, &plan);
	return 0;
}

static int
drop(const char *tor, void *arg)
{
	struct fixture *f = arg;

	f->drops++;
	publish_gone(f->publish, tor);
	return 0;
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (f == NULL || registry_new(&f->registry) < 0 || publish_new(&f->publish) < 0)
		return -1;
	f->topology = region_clos(4, 2);
	f->writer = wire_writer_new();
	if (registry_set_topology(f->registry, f->topology) < 0)
		return -1;
	region_rack(f->registry, "tor1", 100, 4);
	region_rack(f->registry, "tor2", 200, 4);
	region_rack(f->registry, "tor3", 300, 4);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	publish_free(f->publish);
	registry_free(f->registry);
	rm_topology_free(f->topology);
	wire_writer_free(f->writer);
	free(f);
	return 0;
}

static int
update(struct fixture *f, rm_wall_t now)
{
	const struct publish_sink sink = { put, drop, f };
	struct publish_walk walk;
	struct plan_set *set = NULL;

	f->now = now;
	assert_int_equal(
	    plan_set_new(f->topology, f->registry, &plan_defaults, &set), 0);
	publish_begin(f->publish, &walk);
	while (publish_step(f->publish, set, &sink, &walk))
		;
	plan_set_free(set);
	return walk.failure < 0 ? walk.failure : walk.changed;
}

static uint64_t
version(struct fixture *f, const char *tor)
{
	const struct publish_tor *plan = publish_find(f->publish, tor);

	return plan == NULL ? 0 : plan->version;
}

/* Another MTU for one RNIC of tor1 changes the plans of all racks that probe it. */
static void
change_tor1(struct fixture *f, uint32_t mtu_bytes)
{
	struct wire_rnic rnic =
	    region_rnic(100, "tor1-h1", "tor1", REGION_V4 | REGION_V6);

	rnic.mtu_bytes = mtu_bytes;
	region_report(f->registry, &rnic);
}

static void
versions_begin_at_the_clock(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(update(f, WALL(5000)), 3);
	assert_int_equal(version(f, "tor1"), 5000);
	assert_int_equal(publish_find(f->publish, "tor1")->published.ns, WALL(5000).ns);
}

static void
the_message_carries_version_and_digest(void **state)
{
	struct fixture *f = *state;
	const struct publish_tor *plan;
	struct wire_plan_view view;

	assert_int_equal(update(f, WALL(5000)), 3);
	plan = publish_find(f->publish, "tor2");
	assert_int_equal(wire_open_plan(&view, plan->bytes, plan->len), 0);
	assert_string_equal(view.plan.tor, "tor2");
	assert_int_equal(view.plan.version, 5000);
	assert_true(view.plan.digest == plan->digest);
	assert_int_not_equal(plan->digest, 0);
}

static void
an_equal_plan_is_published_once(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(update(f, WALL(5000)), 3);
	assert_int_equal(update(f, WALL(6000)), 0);
	assert_int_equal(version(f, "tor1"), 5000);
	assert_int_equal(publish_counts(f->publish)->unchanged, 3);
}

static void
versions_grow_also_when_the_clock_goes_back(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(update(f, WALL(5000)), 3);
	change_tor1(f, 9000);
	assert_true(update(f, WALL(1000)) > 0);
	assert_int_equal(version(f, "tor1"), 5001);
}

static void
an_empty_rack_is_not_published_before_it_had_members(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(update(f, WALL(5000)), 3);
	assert_null(publish_find(f->publish, "tor4"));
	region_rack(f->registry, "tor4", 400, 1);
	assert_true(update(f, WALL(6000)) > 0);
	assert_int_equal(version(f, "tor4"), 6000);
	assert_int_equal(
	    registry_forget(f->registry, (struct rm_rnic_id){ 400, 0 }), 0);
	assert_true(update(f, WALL(7000)) > 0);
	assert_int_equal(version(f, "tor4"), 7000);
}

static void
a_plan_that_an_aggregator_has_keeps_its_version(void **state)
{
	struct fixture *f = *state;
	struct publish *restarted = NULL;
	uint64_t digest;

	assert_int_equal(update(f, WALL(5000)), 3);
	digest = publish_find(f->publish, "tor1")->digest;
	assert_int_equal(publish_new(&restarted), 0);
	publish_free(f->publish);
	f->publish = restarted;
	assert_false(publish_held(f->publish, "tor1", 5000, digest));
	assert_int_equal(update(f, WALL(9000)), 3);
	assert_int_equal(version(f, "tor1"), 5000);
	assert_int_equal(version(f, "tor2"), 9000);
	assert_int_equal(publish_counts(f->publish)->adopted, 1);
}

static void
a_version_is_above_those_of_all_aggregators(void **state)
{
	struct fixture *f = *state;

	assert_false(publish_held(f->publish, "tor1", 700000, 1));
	assert_int_equal(update(f, WALL(5000)), 3);
	assert_int_equal(version(f, "tor1"), 700001);
}

/* Such a version could be written into etcd but not read back, and so would be written
 * for ever. */
static void
a_version_above_the_limit_is_ignored(void **state)
{
	struct fixture *f = *state;

	assert_false(publish_held(f->publish, "tor1", UINT64_MAX, 1));
	assert_false(publish_held(f->publish, "tor1", UINT64_MAX - 1, 1));
	assert_false(publish_held(f->publish, "tor1", INT64_MAX, 1));
	assert_false(publish_held(f->publish, "tor1", INT64_MAX / 4 + 1, 1));
	assert_int_equal(update(f, WALL(5000)), 3);
	assert_int_equal(version(f, "tor1"), 5000);
	assert_true(publish_held(f->publish, "tor1", INT64_MAX / 4, 1));
	assert_int_equal(update(f, WALL(5000)), 1);
	assert_int_equal(f->put_above, INT64_MAX / 4);
}

static void
a_later_aggregator_with_a_higher_version_gets_a_newer_plan(void **state)
{
	struct fixture *f = *state;
	uint64_t digest;

	assert_int_equal(update(f, WALL(5000)), 3);
	digest = publish_find(f->publish, "tor1")->digest;
	assert_true(publish_held(f->publish, "tor1", 8000, digest + 1));
	assert_int_equal(update(f, WALL(6000)), 1);
	assert_int_equal(version(f, "tor1"), 8001);
	assert_true(publish_find(f->publish, "tor1")->digest == digest);
	assert_int_equal(update(f, WALL(6000)), 0);
}

static void
a_later_aggregator_with_the_same_plan_keeps_its_version(void **state)
{
	struct fixture *f = *state;
	uint64_t digest;

	assert_int_equal(update(f, WALL(5000)), 3);
	digest = publish_find(f->publish, "tor1")->digest;
	assert_true(publish_held(f->publish, "tor1", 8000, digest));
	assert_int_equal(update(f, WALL(6000)), 1);
	assert_int_equal(version(f, "tor1"), 8000);
	/* An older version of the same plan is no reason for an update. */
	assert_false(publish_held(f->publish, "tor1", 5000, digest));
	assert_int_equal(update(f, WALL(6000)), 0);
}

/* After a clock went back, or with two controllers, two plans may have the same
 * version. */
static void
two_plans_with_one_version_get_a_newer_version(void **state)
{
	struct fixture *f = *state;
	uint64_t digest;

	assert_int_equal(update(f, WALL(5000)), 3);
	digest = publish_find(f->publish, "tor1")->digest;
	assert_true(publish_held(f->publish, "tor1", 5000, digest + 1));
	assert_int_equal(update(f, WALL(4000)), 1);
	assert_int_equal(version(f, "tor1"), 5001);
	assert_false(publish_held(f->publish, "tor1", 5001, digest));
}

static void
two_holders_that_differ_under_one_version_get_a_newer_one(void **state)
{
	struct fixture *f = *state;
	uint64_t digest;

	assert_int_equal(update(f, WALL(5000)), 3);
	digest = publish_find(f->publish, "tor1")->digest;
	publish_free(f->publish);
	assert_int_equal(publish_new(&f->publish), 0);
	assert_false(publish_held(f->publish, "tor1", 8000, digest + 1));
	assert_false(publish_held(f->publish, "tor1", 8000, digest));
	assert_int_equal(update(f, WALL(5000)), 3);
	assert_int_equal(version(f, "tor1"), 8001);
}

static void
an_old_plan_that_comes_back_gets_a_new_version(void **state)
{
	struct fixture *f = *state;
	uint64_t digest;

	assert_int_equal(update(f, WALL(5000)), 3);
	digest = publish_find(f->publish, "tor1")->digest;
	change_tor1(f, 9000);
	assert_true(update(f, WALL(6000)) > 0);
	change_tor1(f, 1500);
	assert_true(update(f, WALL(7000)) > 0);
	assert_true(publish_find(f->publish, "tor1")->digest == digest);
	assert_int_equal(version(f, "tor1"), 7000);
}

static void
a_tor_that_leaves_the_topology_is_dropped(void **state)
{
	struct fixture *f = *state;
	struct rm_topology *fewer = region_clos(2, 2), *old = f->topology;

	assert_int_equal(update(f, WALL(5000)), 3);
	f->topology = fewer;
	assert_int_equal(registry_set_topology(f->registry, fewer), 0);
	rm_topology_free(old);
	assert_int_equal(update(f, WALL(6000)), 2);
	assert_null(publish_find(f->publish, "tor3"));
	assert_int_equal(version(f, "tor1"), 6000);
}

/* The store holds a plan that an earlier leader wrote. */
static void
stored(struct fixture *f, const char *tor, uint64_t version, uint64_t digest)
{
	struct wire_plan plan = { .region = "lab", .tor = tor, .plane = "default" };
	struct store_plan kept = { .tor = tor, .version = version, .digest = digest };

	plan.version = version;
	plan.digest = digest;
	assert_int_equal(wire_write_plan(f->writer, &plan, &kept.bytes), 0);
	f->is_due = publish_stored(f->publish, &kept);
}

static void
nothing_is_published_before_the_store_has_it(void **state)
{
	struct fixture *f = *state;

	f->is_late = true;
	assert_int_equal(update(f, WALL(5000)), 3);
	assert_null(publish_find(f->publish, "tor1"));
	/* Nor is a plan written again. */
	assert_int_equal(update(f, WALL(5000)), 0);
	assert_int_equal(f->puts, 3);
	stored(f, "tor3", 17, f->put_digest);
	assert_int_equal(version(f, "tor3"), 17);
	assert_int_equal(update(f, WALL(5000)), 0);
}

static void
a_plan_being_written_is_replaced_by_a_newer_one(void **state)
{
	struct fixture *f = *state;
	uint64_t old;

	f->is_late = true;
	assert_int_equal(update(f, WALL(5000)), 3);
	old = f->put_digest; /* digest of the plan of tor3 */
	change_tor1(f, 9000);
	assert_true(update(f, WALL(5000)) > 0);
	assert_true(f->put_digest != old);
	/* The store confirms the older plan; the newer one is still outstanding. */
	stored(f, "tor3", 17, old);
	assert_int_equal(update(f, WALL(5000)), 0);
	/* The MTU is changed back before the store has confirmed the newer plan. */
	change_tor1(f, 1500);
	assert_true(update(f, WALL(5000)) > 0);
	assert_true(f->put_digest == old);
}

static void
plans_put_in_a_lost_leadership_are_put_again(void **state)
{
	struct fixture *f = *state;

	f->is_late = true;
	assert_int_equal(update(f, WALL(5000)), 3);
	publish_forget_wanted(f->publish);
	assert_int_equal(update(f, WALL(5000)), 3);
}

static void
a_new_leader_with_the_same_plans_writes_nothing(void **state)
{
	struct fixture *f = *state;
	uint64_t digests[3];
	const char *const tors[] = { "tor1", "tor2", "tor3" };

	assert_int_equal(update(f, WALL(5000)), 3);
	for (size_t i = 0; i < 3; i++)
		digests[i] = publish_find(f->publish, tors[i])->digest;
	publish_free(f->publish);
	assert_int_equal(publish_new(&f->publish), 0);
	for (size_t i = 0; i < 3; i++)
		stored(f, tors[i], 40 + i, digests[i]);
	f->puts = 0;
	assert_int_equal(update(f, WALL(6000)), 0);
	assert_int_equal(f->puts, 0);
	assert_int_equal(version(f, "tor1"), 40);
}

/* A new etcd counts revisions from 1 again, while aggregators hold higher versions. */
static void
versions_in_a_store_that_went_back_are_raised(void **state)
{
	struct fixture *f = *state;
	uint64_t digest;

	assert_int_equal(update(f, WALL(5000)), 3);
	digest = publish_find(f->publish, "tor1")->digest;
	stored(f, "tor1", 3, digest);
	assert_true(f->is_due);
	f->is_late = true;
	assert_int_equal(update(f, WALL(6000)), 1);
	assert_int_equal(f->put_above, 5000);
	stored(f, "tor1", 5001, digest);
	assert_false(f->is_due);
	assert_int_equal(update(f, WALL(6000)), 0);
}

static void
plans_that_the_store_lost_are_put_again(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(update(f, WALL(5000)), 3);
	publish_gone(f->publish, "tor1");
	assert_null(publish_find(f->publish, "tor1"));
	assert_int_equal(update(f, WALL(5000)), 1);
	/* An aggregator holds this plan already: a store that can keep the version
	 * keeps it. */
	assert_int_equal(version(f, "tor1"), 5000);
}

/* A late write of the leader itself, or a write of another client. */
static void
another_plan_in_the_store_is_looked_at_and_replaced(void **state)
{
	struct fixture *f = *state;
	uint64_t digest;

	assert_int_equal(update(f, WALL(5000)), 3);
	digest = publish_find(f->publish, "tor1")->digest;
	stored(f, "tor1", 5001, digest);
	assert_false(f->is_due);
	stored(f, "tor1", 5002, digest + 1);
	assert_true(f->is_due);
	assert_int_equal(update(f, WALL(6000)), 1);
	assert_int_equal(f->put_digest, digest);
	assert_int_equal(f->put_above, 5002);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

/* ---- keys -------------------------------------------------------------------- */

static void
keys_of_one_epoch_and_plan_have_one_number(void **state)
{
	struct fixture *f = *state;
	uint64_t first;

	assert_int_equal(update(f, WALL(5000)), 3);
	first = publish_keys_version(f->publish, "tor1", 7, WALL(5000));
	assert_int_equal(first, 5000); /* earlier leaders numbered by the clock */
	assert_int_equal(publish_keys_version(f->publish, "tor1", 7, WALL(6000)), 5000);
	/* An aggregator that reports these keys keeps them. */
	assert_false(publish_keys_held(f->publish, "tor1", 5000));
	assert_int_equal(publish_keys_version(f->publish, "tor1", 7, WALL(6000)), 5000);
	/* Another epoch or another plan gets a newer version, although the clock has
	 * gone back. */
	assert_int_equal(publish_keys_version(f->publish, "tor1", 8, WALL(1000)), 5001);
	change_tor1(f, 9000);
	assert_true(update(f, WALL(1000)) > 0);
	assert_int_equal(publish_keys_version(f->publish, "tor1", 8, WALL(1000)), 5002);
}

/* The clock of an earlier leader was years ahead. */
static void
keys_are_numbered_above_those_of_all_aggregators(void **state)
{
	const uint64_t ahead = 10u * 365 * 86400 * 1000;
	struct fixture *f = *state;
	uint64_t first, second;

	/* An aggregator reports them before there is a plan. */
	assert_false(publish_keys_held(f->publish, "tor1", ahead));
	assert_false(publish_keys_held(f->publish, "tor1", ahead - 1));
	assert_int_equal(update(f, WALL(5000)), 3);
	first = publish_keys_version(f->publish, "tor1", 7, WALL(5000));
	assert_true(first > ahead);
	assert_int_equal(
	    publish_keys_version(f->publish, "tor1", 7, WALL(5000)), first);
	/* An aggregator that connects later reports a higher version: all aggregators
	 * get their keys anew, once. */
	assert_true(publish_keys_held(f->publish, "tor1", first + ahead));
	assert_false(publish_keys_held(f->publish, "tor1", first + 1));
	second = publish_keys_version(f->publish, "tor1", 7, WALL(5000));
	assert_true(second > first + ahead);
	assert_int_equal(
	    publish_keys_version(f->publish, "tor1", 7, WALL(5000)), second);
	/* Versions of other ToRs do not change. */
	assert_int_equal(publish_keys_version(f->publish, "tor2", 7, WALL(5000)), 5000);
	/* A version above the limit is ignored. */
	assert_false(publish_keys_held(f->publish, "tor2", UINT64_MAX));
	assert_false(publish_keys_held(f->publish, "tor2", 0));
	assert_int_equal(publish_keys_version(f->publish, "tor2", 7, WALL(5000)), 5000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(versions_begin_at_the_clock),
		TEST(the_message_carries_version_and_digest),
		TEST(an_equal_plan_is_published_once),
		TEST(versions_grow_also_when_the_clock_goes_back),
		TEST(an_empty_rack_is_not_published_before_it_had_members),
		TEST(a_plan_that_an_aggregator_has_keeps_its_version),
		TEST(a_version_is_above_those_of_all_aggregators),
		TEST(a_version_above_the_limit_is_ignored),
		TEST(a_later_aggregator_with_a_higher_version_gets_a_newer_plan),
		TEST(a_later_aggregator_with_the_same_plan_keeps_its_version),
		TEST(two_plans_with_one_version_get_a_newer_version),
		TEST(two_holders_that_differ_under_one_version_get_a_newer_one),
		TEST(an_old_plan_that_comes_back_gets_a_new_version),
		TEST(a_tor_that_leaves_the_topology_is_dropped),
		TEST(nothing_is_published_before_the_store_has_it),
		TEST(a_plan_being_written_is_replaced_by_a_newer_one),
		TEST(plans_put_in_a_lost_leadership_are_put_again),
		TEST(a_new_leader_with_the_same_plans_writes_nothing),
		TEST(versions_in_a_store_that_went_back_are_raised),
		TEST(plans_that_the_store_lost_are_put_again),
		TEST(another_plan_in_the_store_is_looked_at_and_replaced),
		TEST(keys_of_one_epoch_and_plan_have_one_number),
		TEST(keys_are_numbered_above_those_of_all_aggregators),
	};

	return cmocka_run_group_tests_name("publish", tests, NULL, NULL);
}
