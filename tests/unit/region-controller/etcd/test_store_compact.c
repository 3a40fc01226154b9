#include "region-controller/etcd/store_compact.h"

#include "tests/support/etcd_fixture.h"

#define AFTER_NS (20 * RM_NS_PER_MS)

struct fixture {
	struct etcd_fixture e;
	struct store_compact *compact;
	bool leads;
	int64_t revision;
	unsigned asked; /* calls of leads() */
};

static bool
leads(void *arg)
{
	struct fixture *f = arg;

	f->asked++;
	return f->leads;
}

static int64_t
revision(void *arg)
{
	return ((struct fixture *)arg)->revision;
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct store_compact_options options = {
		.after_ns = AFTER_NS, .leads = leads, .revision = revision, .arg = f
	};

	assert_non_null(f);
	etcd_fixture_open(&f->e, NULL);
	options.etcd = f->e.etcd;
	f->leads = true;
	f->revision = 10;
	assert_int_equal(store_compact_new(f->e.loop, &options, &f->compact), 0);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	store_compact_free(f->compact);
	etcd_fixture_close(&f->e);
	free(f);
	return 0;
}

static void
run(struct fixture *f, int64_t ns)
{
	rm_mono_t end = rm_mono_add(rm_mono_now(), ns);

	ETCD_UNTIL(&f->e, rm_mono_since(rm_mono_now(), end) >= 0);
}

static void
older_revisions_are_compacted(void **state)
{
	struct fixture *f = *state;

	run(f, AFTER_NS * 3 / 2);
	f->revision = 20;
	ETCD_UNTIL(&f->e, store_compact_counts(f->compact)->done == 1);
	assert_int_equal(f->e.fake.compacted_to, 10);
	/* No revision has come since. */
	run(f, 4 * AFTER_NS);
	assert_int_equal(f->e.fake.compactions, 1);
	f->revision = 30;
	ETCD_UNTIL(&f->e, f->e.fake.compactions == 2);
	assert_int_equal(f->e.fake.compacted_to, 20);
}

static void
a_standby_does_not_compact(void **state)
{
	struct fixture *f = *state;

	f->leads = false;
	run(f, AFTER_NS * 3 / 2);
	f->revision = 20;
	ETCD_UNTIL(&f->e, f->asked > 0);
	run(f, AFTER_NS);
	assert_int_equal(f->e.fake.compactions, 0);
}

static void
a_revision_that_went_back_is_of_another_etcd(void **state)
{
	struct fixture *f = *state;

	run(f, AFTER_NS * 3 / 2);
	f->revision = 5;
	run(f, 2 * AFTER_NS);
	assert_int_equal(f->e.fake.compactions, 0);
	f->revision = 6;
	ETCD_UNTIL(&f->e, f->e.fake.compactions == 1);
	assert_int_equal(f->e.fake.compacted_to, 5);
}

static void
a_failed_compaction_is_counted_and_tried_again_later(void **state)
{
	struct fixture *f = *state;

	run(f, AFTER_NS * 3 / 2);
	f->e.fake.fail_status = 400;
	f->e.fake.fail_body = "{\"message\":\"etcdserver: mvcc: required revision has "
			      "been compacted\",\"code\":11}";
	f->e.fake.fail_count = 1;
	f->revision = 20;
	ETCD_UNTIL(&f->e, store_compact_counts(f->compact)->failed == 1);
	f->revision = 30;
	ETCD_UNTIL(&f->e, store_compact_counts(f->compact)->done == 1);
	assert_true(f->e.fake.compacted_to >= 20);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(older_revisions_are_compacted),
		TEST(a_standby_does_not_compact),
		TEST(a_revision_that_went_back_is_of_another_etcd),
		TEST(a_failed_compaction_is_counted_and_tried_again_later),
	};

	return cmocka_run_group_tests_name("store_compact", tests, NULL, NULL);
}
