/* When plans are made, and that the loop keeps running meanwhile. */
#include "region-controller/planner.h"

#include "tests/support/etcd_fixture.h"

#include "rackmesh/core/log.h"
#include "rackmesh/etcd/etcd_leader.h"
#include "region-controller/aggregators/aggregators.h"
#include "region-controller/controller_config.h"
#include "region-controller/plan/publish.h"
#include "region-controller/store/store.h"
#include "region.h"

#define TORS 40
#define MEMBERS 4

struct fixture {
	struct store
	    store; /* the first member; stands for a store that never answers */
	struct etcd_fixture e;
	struct rm_topology *topology;
	struct registry *registry;
	struct publish *publish;
	struct aggregators *aggregators;
	struct controller_config config;
	struct planner *planner;
	bool leads;
	int64_t put_takes_ns;
	size_t puts, drops;
	uint32_t mtu; /* MTU of the changed RNIC, in its last change */
	bool changes; /* an RNIC changes at every put */
};

static const struct rm_topology *
topology_of(const struct store *store)
{
	return ((const struct fixture *)store)->topology;
}

static bool
leads(struct store *store, rm_mono_t now)
{
	return ((struct fixture *)store)->leads;
}

/* Changes the MTU of RNIC 100, the first member of tor1. */
static void
change(struct fixture *f, uint32_t mtu_bytes)
{
	struct wire_rnic rnic =
	    region_rnic(100, "tor1-h1", "tor1", REGION_V4 | REGION_V6);

	rnic.mtu_bytes = mtu_bytes;
	region_report(f->registry, &rnic);
	planner_soon(f->planner);
}

static int
put_plan(struct store *store, const struct store_draft *draft)
{
	struct fixture *f = (struct fixture *)store;
	rm_mono_t begun = rm_mono_now();
	struct wire_plan_view view;

	f->puts++;
	if (strcmp(draft->tor, "tor1") == 0) {
		struct wire_rnic rnic;

		assert_int_equal(
		    wire_open_plan(&view, draft->bytes.data, draft->bytes.len), 0);
		wire_plan_member(&view, 0, &rnic);
		f->mtu = rnic.mtu_bytes;
	}
	/* Simulates the time that a large plan takes. */
	while (rm_mono_since(rm_mono_now(), begun) < f->put_takes_ns)
		;
	if (f->changes)
		change(f, 1500 + (uint32_t)f->puts);
	return 0;
}

static int
drop_plan(struct store *store, const char *tor)
{
	((struct fixture *)store)->drops++;
	return 0;
}

static const struct store_methods methods = {
	.topology = topology_of,
	.leads = leads,
	.put_plan = put_plan,
	.drop_plan = drop_plan,
};

static const char *
standby(void *arg)
{
	return ((struct fixture *)arg)->leads ? NULL : "standby";
}

static void
quiet(enum rm_log_level level, const char *line, void *arg)
{
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct aggregators_options options = { .name = "c1", .region = "lab" };
	struct rm_error error = { 0 };

	rm_log_set_sink(quiet, NULL);
	assert_non_null(f);
	etcd_fixture_open(&f->e, NULL);
	f->store.methods = &methods;
	f->leads = true;
	f->put_takes_ns = 5 * RM_NS_PER_MS;
	f->topology = region_clos(TORS, 2);
	assert_int_equal(registry_new(&f->registry), 0);
	assert_int_equal(registry_set_topology(f->registry, f->topology), 0);
	for (unsigned i = 1; i <= TORS; i++) {
		char tor[16];

		snprintf(tor, sizeof(tor), "tor%u", i);
		region_rack(f->registry, tor, 100 * i, MEMBERS);
	}
	assert_int_equal(publish_new(&f->publish), 0);
	assert_int_equal(
	    rm_config_load(controller_options, NULL, &f->config, &error), 0);
	f->config.debounce_ms = 10;
	options.registry = f->registry;
	options.publish = f->publish;
	options.max_sessions = 1;
	options.standby = standby;
	options.arg = f;
	assert_int_equal(aggregators_new(f->e.loop, &options, &f->aggregators), 0);
	assert_int_equal(planner_new(f->e.loop, &f->config, &f->store, f->registry,
			     f->publish, &f->planner),
	    0);
	planner_start(f->planner, f->aggregators);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	planner_free(f->planner);
	aggregators_free(f->aggregators);
	publish_free(f->publish);
	registry_free(f->registry);
	rm_topology_free(f->topology);
	controller_config_clear(&f->config);
	etcd_fixture_close(&f->e);
	free(f);
	rm_log_set_sink(NULL, NULL);
	return 0;
}

static const struct planner_counts *
counts(const struct fixture *f)
{
	return planner_counts(f->planner);
}

static void
run(struct fixture *f, int64_t ns)
{
	rm_mono_t end = rm_mono_add(rm_mono_now(), ns);

	ETCD_UNTIL(&f->e, rm_mono_since(rm_mono_now(), end) >= 0);
}

static void
a_planning_of_many_racks_takes_several_turns(void **state)
{
	struct fixture *f = *state;

	planner_lead(f->planner, true);
	ETCD_UNTIL(&f->e, counts(f)->plannings == 1);
	assert_int_equal(f->puts, TORS);
	assert_int_equal(f->drops, 0);
	assert_true(counts(f)->slices >= TORS * 5 / 25);
	/* The longest turn is shorter than the whole planning: a turn ends with the
	 * rack that it has begun. */
	assert_true(counts(f)->last_us >= TORS * 5 * 1000);
	assert_true(counts(f)->longest_us < counts(f)->last_us);
	assert_int_equal(counts(f)->restarts, 0);
}

static void
a_planning_longer_than_the_lease_keeps_the_leadership(void **state)
{
	const struct rm_etcd_leader_options options = { .key = "/l", .value = "c1" };
	const struct rm_etcd_leader_callbacks callbacks = { 0 };
	struct rm_etcd_leader *leader = NULL;
	struct fixture *f = *state;
	unsigned before;

	assert_int_equal(
	    rm_etcd_leader_new(f->e.loop, f->e.etcd, &options, &callbacks, &leader), 0);
	ETCD_UNTIL(&f->e, rm_etcd_leader_leads(leader, rm_mono_now()));
	before = f->e.fake.keepalives;
	f->put_takes_ns = 60 * RM_NS_PER_MS;
	planner_lead(f->planner, true);
	ETCD_UNTIL(&f->e, counts(f)->plannings == 1);
	assert_true(counts(f)->last_us > 2000000);
	assert_true(f->e.fake.keepalives >= before + 2);
	assert_int_equal(rm_etcd_leader_counts(leader)->lost, 0);
	assert_true(rm_etcd_leader_leads(leader, rm_mono_now()));
	rm_etcd_leader_free(leader);
}

static void
a_change_meanwhile_is_not_lost(void **state)
{
	struct fixture *f = *state;

	planner_lead(f->planner, true);
	ETCD_UNTIL(&f->e, f->puts >= 3);
	assert_int_equal(f->mtu, 1500);
	change(f, 4000);
	ETCD_UNTIL(&f->e, counts(f)->plannings == 1);
	assert_int_equal(f->mtu, 4000);
	assert_int_equal(counts(f)->restarts, 1);
	assert_true(f->puts > TORS);
	/* That planning was the last one. */
	run(f, 50 * RM_NS_PER_MS);
	assert_int_equal(counts(f)->plannings, 1);
}

static void
steady_changes_do_not_prevent_plans(void **state)
{
	struct fixture *f = *state;

	f->changes = true;
	planner_lead(f->planner, true);
	ETCD_UNTIL(&f->e, counts(f)->plannings == 1);
	assert_int_equal(counts(f)->restarts, 3);
	f->changes = false;
	change(f, 4000);
	ETCD_UNTIL(&f->e, f->mtu == 4000 && counts(f)->plannings >= 2);
}

static void
an_rnic_that_is_forgotten_meanwhile_is_planned_without(void **state)
{
	struct fixture *f = *state;

	planner_lead(f->planner, true);
	ETCD_UNTIL(&f->e, f->puts >= 3);
	assert_int_equal(
	    registry_forget(f->registry, (struct rm_rnic_id){ 101, 0 }), 0);
	/* The planner is not notified of the removal: the planning under way must not
	 * use that RNIC. */
	ETCD_UNTIL(&f->e, counts(f)->plannings == 1);
	assert_int_equal(f->puts, TORS);
	planner_soon(f->planner);
	ETCD_UNTIL(&f->e, counts(f)->plannings == 2);
	assert_int_equal(planner_plan_counts(f->planner)->members, TORS * MEMBERS - 1);
}

static void
a_topology_replaced_while_planning_is_planned(void **state)
{
	struct fixture *f = *state;
	struct rm_topology *old = f->topology;

	planner_lead(f->planner, true);
	ETCD_UNTIL(&f->e, f->puts >= 3);
	f->topology = region_clos(TORS / 2, 2);
	assert_int_equal(registry_set_topology(f->registry, f->topology), 0);
	planner_drop(f->planner);
	rm_topology_free(old);
	planner_soon(f->planner);
	ETCD_UNTIL(&f->e, counts(f)->plannings == 1);
	assert_int_equal(planner_plan_counts(f->planner)->racks, TORS / 2);
}

static void
leadership_lost_meanwhile_publishes_nothing_more(void **state)
{
	struct fixture *f = *state;
	size_t before;

	planner_lead(f->planner, true);
	ETCD_UNTIL(&f->e, f->puts >= 3);
	before = f->puts;
	/* The lease has expired by the clock; the planner is not notified yet. */
	f->leads = false;
	change(f, 4000);
	run(f, 100 * RM_NS_PER_MS);
	planner_follow(f->planner);
	run(f, 100 * RM_NS_PER_MS);
	assert_int_equal(f->puts, before);
	f->leads = true;
	publish_forget_wanted(f->publish);
	planner_lead(f->planner, true);
	ETCD_UNTIL(&f->e, counts(f)->plannings == 1);
	assert_int_equal(f->puts, before + TORS);
	assert_int_equal(f->mtu, 4000);
}

static void
a_controller_that_loses_leadership_stops_planning(void **state)
{
	struct fixture *f = *state;
	size_t before;

	planner_lead(f->planner, true);
	ETCD_UNTIL(&f->e, f->puts >= 3);
	before = f->puts;
	planner_follow(f->planner);
	run(f, 100 * RM_NS_PER_MS);
	assert_int_equal(f->puts, before);
	assert_int_equal(counts(f)->plannings, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_planning_of_many_racks_takes_several_turns),
		TEST(a_planning_longer_than_the_lease_keeps_the_leadership),
		TEST(a_change_meanwhile_is_not_lost),
		TEST(steady_changes_do_not_prevent_plans),
		TEST(an_rnic_that_is_forgotten_meanwhile_is_planned_without),
		TEST(a_topology_replaced_while_planning_is_planned),
		TEST(leadership_lost_meanwhile_publishes_nothing_more),
		TEST(a_controller_that_loses_leadership_stops_planning),
	};

	return cmocka_run_group_tests_name("planner", tests, NULL, NULL);
}
