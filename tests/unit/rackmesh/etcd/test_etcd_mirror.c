/* The mirror against an etcd that loses, duplicates and reorders events, or sends
 * events that never happened. */
#include "rackmesh/etcd/etcd_mirror.h"

#include "tests/support/etcd_fixture.h"
#include "tests/support/loopback.h"

#define PREFIX "/t/"
#define KEYS 64

struct fixture {
	struct etcd_fixture e;
	struct rm_etcd_mirror *mirror;
	/* The keys that the mirror has delivered. */
	struct {
		char key[64], value[64];
		int64_t mod;
	} keys[KEYS];
	size_t count;
	unsigned puts, deletes;
	unsigned went_back; /* keys whose version decreased */
	int64_t synced;
};

static size_t
place(const struct fixture *f, const char *key)
{
	size_t i = 0;

	while (i < f->count && strcmp(f->keys[i].key, key) != 0)
		i++;
	return i;
}

static void
on_put(const struct rm_etcd_value *value, void *arg)
{
	struct fixture *f = arg;
	size_t i = place(f, value->key);

	assert_true(i < KEYS);
	if (i == f->count)
		f->count++;
	else if (value->mod_revision <= f->keys[i].mod)
		f->went_back++;
	snprintf(f->keys[i].key, sizeof(f->keys[i].key), "%s", value->key);
	snprintf(f->keys[i].value, sizeof(f->keys[i].value), "%s", value->value);
	f->keys[i].mod = value->mod_revision;
	f->puts++;
}

static void
on_delete(const char *key, void *arg)
{
	struct fixture *f = arg;
	size_t i = place(f, key);

	assert_true(i < f->count);
	f->keys[i] = f->keys[--f->count];
	f->deletes++;
}

static void
on_synced(int64_t revision, void *arg)
{
	struct fixture *f = arg;

	f->synced = revision;
}

static const char *
value_of(const struct fixture *f, const char *key)
{
	size_t i = place(f, key);

	return i < f->count ? f->keys[i].value : "";
}

static bool
has(const struct fixture *f, const char *key, const char *value)
{
	return strcmp(value_of(f, key), value) == 0;
}

static const struct rm_etcd_mirror_counts *
counts(const struct fixture *f)
{
	return rm_etcd_mirror_counts(f->mirror);
}

/* True: the mirror equals the fake's content and has a watch. */
static bool
is_settled(const struct fixture *f)
{
	return f->synced >= f->e.fake.revision && fake_etcd_streams(&f->e.fake) == 1;
}

static void
begin(struct fixture *f, int64_t relist_ns, int64_t silence_ns)
{
	struct rm_etcd_mirror_options options = { PREFIX, relist_ns, silence_ns };
	struct rm_etcd_mirror_callbacks callbacks = { on_put, on_delete, on_synced, f };

	assert_int_equal(
	    rm_etcd_mirror_new(f->e.loop, f->e.etcd, &options, &callbacks, &f->mirror),
	    0);
	assert_false(rm_etcd_mirror_is_fresh(f->mirror, rm_mono_now(), RM_NS_PER_S));
	assert_int_equal(f->puts, 0);
	ETCD_UNTIL(&f->e, is_settled(f));
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	etcd_fixture_open(&f->e, NULL);
	fake_etcd_put(&f->e.fake, PREFIX "a", "a1");
	fake_etcd_put(&f->e.fake, PREFIX "b", "b1");
	fake_etcd_put(&f->e.fake, "/other", "x");
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_etcd_mirror_free(f->mirror);
	etcd_fixture_close(&f->e);
	free(f);
	return 0;
}

static void
all_keys_are_listed_and_then_watched(void **state)
{
	struct fixture *f = *state;

	begin(f, 0, 0);
	assert_int_equal(f->count, 2);
	assert_true(has(f, PREFIX "a", "a1"));
	assert_int_equal(f->e.fake.watched_from, f->e.fake.revision + 1);
	fake_etcd_put(&f->e.fake, PREFIX "c", "c1");
	fake_etcd_put(&f->e.fake, PREFIX "a", "a2");
	fake_etcd_delete(&f->e.fake, PREFIX "b");
	fake_etcd_put(&f->e.fake, PREFIX "d", "");
	ETCD_UNTIL(&f->e, is_settled(f));
	assert_int_equal(f->count, 3);
	assert_true(has(f, PREFIX "a", "a2"));
	assert_true(has(f, PREFIX "c", "c1"));
	assert_int_equal(counts(f)->lists, 1);
	assert_int_equal(counts(f)->puts, 5);
	assert_int_equal(counts(f)->deletes, 1);
	assert_int_equal(rm_etcd_mirror_revision(f->mirror), f->e.fake.revision);
	assert_true(rm_etcd_mirror_is_fresh(f->mirror, rm_mono_now(), RM_NS_PER_S));
	assert_false(rm_etcd_mirror_is_fresh(
	    f->mirror, rm_mono_add(rm_mono_now(), RM_NS_PER_S), RM_NS_PER_S / 2));
}

static void
lost_events_are_found_by_the_next_list(void **state)
{
	struct fixture *f = *state;

	begin(f, 200 * RM_NS_PER_MS, 0);
	f->e.fake.no_events = true;
	fake_etcd_put(&f->e.fake, PREFIX "a", "a2");
	fake_etcd_delete(&f->e.fake, PREFIX "b"); /* the lost deletion is found too */
	fake_etcd_put(&f->e.fake, PREFIX "c", "c1");
	assert_true(has(f, PREFIX "a", "a1"));
	ETCD_UNTIL(&f->e, is_settled(f));
	assert_true(has(f, PREFIX "a", "a2"));
	assert_true(has(f, PREFIX "c", "c1"));
	assert_int_equal(f->count, 2);
	assert_int_equal(counts(f)->healed, 3);
	assert_int_equal(counts(f)->restarts, 0);
	assert_int_equal(f->went_back, 0);
}

static void
events_reported_twice_are_handed_over_once(void **state)
{
	struct fixture *f = *state;

	begin(f, 0, 0);
	fake_etcd_put(&f->e.fake, PREFIX "a", "a2");
	fake_etcd_event(
	    &f->e.fake, PREFIX "a", "a2", f->e.fake.revision, f->e.fake.revision);
	fake_etcd_delete(&f->e.fake, PREFIX "b");
	fake_etcd_event(
	    &f->e.fake, PREFIX "b", NULL, f->e.fake.revision, f->e.fake.revision);
	fake_etcd_put(&f->e.fake, PREFIX "z", "end");
	ETCD_UNTIL(&f->e, has(f, PREFIX "z", "end"));
	assert_int_equal(f->puts, 4);
	assert_int_equal(f->deletes, 1);
	assert_int_equal(f->went_back, 0);
}

static void
events_out_of_order_never_bring_back_an_old_value(void **state)
{
	struct fixture *f = *state;
	int64_t r;

	begin(f, 0, 0);
	f->e.fake.no_events = true;
	fake_etcd_put(&f->e.fake, PREFIX "a", "a2");
	fake_etcd_put(&f->e.fake, PREFIX "c", "c1");
	fake_etcd_delete(&f->e.fake, PREFIX "c");
	fake_etcd_put(&f->e.fake, PREFIX "a", "a3");
	fake_etcd_put(&f->e.fake, PREFIX "d", "d1");
	r = f->e.fake.revision; /* so a2 has the revision r - 4 */
	fake_etcd_event(&f->e.fake, PREFIX "d", "d1", r, r);
	fake_etcd_event(&f->e.fake, PREFIX "a", "a3", r - 1, r);
	fake_etcd_event(&f->e.fake, PREFIX "c", "c1", r - 3, r);
	fake_etcd_event(&f->e.fake, PREFIX "a", "a2", r - 4, r);
	ETCD_UNTIL(&f->e, counts(f)->lists == 2);
	assert_true(has(f, PREFIX "a", "a3"));
	assert_true(has(f, PREFIX "d", "d1"));
	assert_int_equal(f->count, 3); /* c is deleted */
	assert_int_equal(f->went_back, 0);
	assert_true(counts(f)->stale >= 2);
}

static void
an_event_of_an_old_revision_is_ignored(void **state)
{
	struct fixture *f = *state;

	begin(f, 0, 0);
	fake_etcd_event(&f->e.fake, PREFIX "a", "old", 1, f->e.fake.revision);
	fake_etcd_event(&f->e.fake, PREFIX "b", NULL, 1, f->e.fake.revision);
	fake_etcd_event(&f->e.fake, PREFIX "ghost", "g", 2, f->e.fake.revision);
	ETCD_UNTIL(&f->e, counts(f)->lists == 2);
	assert_true(has(f, PREFIX "a", "a1"));
	assert_int_equal(f->count, 2);
	assert_int_equal(f->puts, 2);
	assert_int_equal(counts(f)->stale, 3);
}

static void
an_event_of_a_revision_that_never_was_is_not_accepted(void **state)
{
	struct fixture *f = *state;

	begin(f, 0, 0);
	fake_etcd_event(&f->e.fake, PREFIX "a", "dream", 1000000, 1000000);
	fake_etcd_event(&f->e.fake, PREFIX "b", NULL, 1000001, 1000001);
	ETCD_UNTIL(&f->e, counts(f)->breaks == 1);
	ETCD_UNTIL(&f->e, counts(f)->watches == 2 && is_settled(f));
	assert_true(has(f, PREFIX "a", "a1"));
	assert_true(has(f, PREFIX "b", "b1"));
	/* The new watch begins at the mirror's revision and reports later events. */
	assert_int_equal(f->e.fake.watched_from, f->e.fake.revision + 1);
	fake_etcd_put(&f->e.fake, PREFIX "a", "a2");
	ETCD_UNTIL(&f->e, has(f, PREFIX "a", "a2"));
	assert_int_equal(counts(f)->restarts, 0);
	assert_int_equal(f->went_back, 0);
}

static void
a_bookmark_of_a_revision_that_never_was_is_not_accepted(void **state)
{
	struct fixture *f = *state;

	begin(f, 0, 0);
	fake_etcd_send(&f->e.fake, "{\"result\":{\"header\":{\"cluster_id\":\"1\","
				   "\"revision\":\"5000\"}}}\n");
	ETCD_UNTIL(&f->e, counts(f)->watches == 2 && is_settled(f));
	fake_etcd_put(&f->e.fake, PREFIX "a", "a2");
	ETCD_UNTIL(&f->e, has(f, PREFIX "a", "a2"));
	assert_int_equal(counts(f)->restarts, 0);
	assert_int_equal(counts(f)->stale, 0);
}

static void
a_false_revision_that_is_plausible_is_corrected_by_the_next_list(void **state)
{
	struct fixture *f = *state;
	int64_t r;

	begin(f, 300 * RM_NS_PER_MS, 0);
	f->e.fake.no_events = true;
	fake_etcd_put(&f->e.fake, "/other", "y");
	fake_etcd_put(&f->e.fake, "/other", "z");
	r = f->e.fake.revision;
	fake_etcd_event(&f->e.fake, PREFIX "a", "dream", r, r);
	fake_etcd_event(&f->e.fake, PREFIX "ghost", "dream", r, r);
	ETCD_UNTIL(&f->e, has(f, PREFIX "ghost", "dream"));
	ETCD_UNTIL(&f->e, has(f, PREFIX "a", "a1"));
	assert_int_equal(f->count, 2);
	/* Counted, since the revision decreased. */
	assert_int_equal(counts(f)->restarts, 1);
}

static void
a_canceled_watch_is_listed_and_opened_again(void **state)
{
	struct fixture *f = *state;

	begin(f, 0, 0);
	f->e.fake.no_events = true;
	fake_etcd_put(&f->e.fake, PREFIX "a", "a2");
	f->e.fake.no_events = false;
	fake_etcd_send(&f->e.fake,
	    "{\"result\":{\"header\":{\"cluster_id\":\"1\",\"revision\":\"4\"},"
	    "\"canceled\":true,\"cancel_reason\":\"tired\"}}\n");
	ETCD_UNTIL(&f->e, counts(f)->watches == 2 && is_settled(f));
	assert_true(has(f, PREFIX "a", "a2"));
	assert_int_equal(counts(f)->lists, 2);
	assert_int_equal(counts(f)->breaks, 1);
}

static void
a_compacted_watch_is_listed_and_opened_again(void **state)
{
	struct fixture *f = *state;

	begin(f, 0, 0);
	f->e.fake.compacted = true;
	fake_etcd_cut(&f->e.fake);
	f->e.fake.no_events = true;
	fake_etcd_put(&f->e.fake, PREFIX "a", "a2");
	f->e.fake.no_events = false;
	ETCD_UNTIL(&f->e, counts(f)->breaks >= 2);
	f->e.fake.compacted = false;
	ETCD_UNTIL(&f->e, is_settled(f));
	assert_true(has(f, PREFIX "a", "a2"));
	assert_true(counts(f)->lists >= 2);
}

static void
a_watch_resumes_where_it_was_cut(void **state)
{
	struct fixture *f = *state;

	begin(f, 0, 0);
	fake_etcd_send(&f->e.fake, "{\"result\":{\"header\":{\"cluster_id\":\"1\","
				   "\"revision\":\"99\"},\"events\":[{\"kv\":{\"ke");
	fake_etcd_cut(&f->e.fake);
	fake_etcd_put(&f->e.fake, PREFIX "a", "a2");
	fake_etcd_delete(&f->e.fake, PREFIX "b");
	ETCD_UNTIL(&f->e, counts(f)->watches == 2 && is_settled(f));
	assert_true(has(f, PREFIX "a", "a2"));
	assert_int_equal(f->count, 1);
	assert_int_equal(counts(f)->lists, 1); /* without a further list */
	assert_int_equal(counts(f)->breaks, 1);
}

static void
a_malformed_line_ends_the_watch(void **state)
{
	struct fixture *f = *state;

	begin(f, 0, 0);
	fake_etcd_send(&f->e.fake, "{\"result\":{}}\n");
	ETCD_UNTIL(&f->e, counts(f)->watches == 2 && is_settled(f));
	fake_etcd_send(&f->e.fake, "nonsense\n");
	ETCD_UNTIL(&f->e, counts(f)->watches == 3 && is_settled(f));
	assert_int_equal(rm_etcd_counts(f->e.etcd)->bad_answers, 2);
	assert_int_equal(f->count, 2);
}

static void
a_silent_watch_is_noticed_and_opened_again(void **state)
{
	struct fixture *f = *state;
	struct loopback_watch since;

	begin(f, 0, 300 * RM_NS_PER_MS);
	f->e.fake.silent = true;
	f->e.fake.no_events = true; /* the stream stays open without any data */
	since = loopback_watch();
	fake_etcd_put(&f->e.fake, PREFIX "a", "a2");
	LOOPBACK_WAIT(f->e.loop, counts(f)->breaks == 1);
	assert_true(loopback_took_ns(since) < RM_NS_PER_S);
	assert_false(
	    rm_etcd_mirror_is_fresh(f->mirror, rm_mono_now(), 250 * RM_NS_PER_MS));
	f->e.fake.silent = false;
	f->e.fake.no_events = false;
	ETCD_UNTIL(&f->e, is_settled(f));
	assert_true(has(f, PREFIX "a", "a2"));
}

static void
a_list_from_a_member_behind_is_asked_for_again(void **state)
{
	struct fixture *f = *state;

	begin(f, 0, 0);
	fake_etcd_snapshot(&f->e.fake);
	fake_etcd_put(&f->e.fake, PREFIX "a", "a2");
	ETCD_UNTIL(&f->e, has(f, PREFIX "a", "a2"));
	f->e.fake.behind = 2;
	rm_etcd_mirror_relist(f->mirror);
	ETCD_UNTIL(&f->e, counts(f)->lists == 4);
	assert_true(has(f, PREFIX "a", "a2"));
	assert_int_equal(counts(f)->stale, 2);
	assert_int_equal(counts(f)->restarts, 0);
	assert_int_equal(counts(f)->watches, 1); /* the watch was never closed */
	assert_int_equal(f->went_back, 0);
}

static void
another_cluster_is_read_from_the_start(void **state)
{
	struct fixture *f = *state;

	begin(f, 0, 300 * RM_NS_PER_MS);
	f->e.fake.cluster_id = 77;
	f->e.fake.no_events = true;
	fake_etcd_delete(&f->e.fake, PREFIX "b");
	f->e.fake.no_events = false;
	f->e.fake.revision = 2;
	fake_etcd_plant(&f->e.fake, PREFIX "a", "other", 2);
	ETCD_UNTIL(&f->e, has(f, PREFIX "a", "other") && is_settled(f));
	assert_int_equal(f->count, 1);
	assert_int_equal(counts(f)->restarts, 1);
	fake_etcd_put(&f->e.fake, PREFIX "a", "next");
	ETCD_UNTIL(&f->e, has(f, PREFIX "a", "next"));
}

static void
a_restored_snapshot_is_read_from_the_start(void **state)
{
	struct fixture *f = *state;

	begin(f, 0, 300 * RM_NS_PER_MS);
	for (int i = 0; i < 5; i++)
		fake_etcd_put(&f->e.fake, PREFIX "a", "later");
	ETCD_UNTIL(&f->e, is_settled(f));
	/* The revision returns to 4, which stands for another state than before. */
	f->e.fake.revision = 4;
	fake_etcd_plant(&f->e.fake, PREFIX "a", "restored", 2);
	ETCD_UNTIL(&f->e, has(f, PREFIX "a", "restored"));
	ETCD_UNTIL(&f->e, counts(f)->watches >= 2 && is_settled(f));
	assert_int_equal(counts(f)->restarts, 1);
	fake_etcd_put(&f->e.fake, PREFIX "b", "b2");
	ETCD_UNTIL(&f->e, has(f, PREFIX "b", "b2"));
}

static void
a_mirror_waits_for_an_etcd_that_does_not_answer(void **state)
{
	struct fixture *f = *state;

	f->e.fake.fail_count = 5;
	f->e.fake.fail_status = 503;
	f->e.fake.fail_body = "{\"error\":\"x\",\"message\":\"etcdserver: no "
			      "leader\",\"code\":14}";
	begin(f, 0, 0);
	assert_int_equal(f->count, 2);
	assert_int_equal(rm_etcd_counts(f->e.etcd)->failed, 5);
}

static void
a_mirror_may_be_freed_at_any_moment(void **state)
{
	struct fixture *f = *state;
	struct rm_etcd_mirror_options options = { PREFIX, 0, 0 };
	struct rm_etcd_mirror_callbacks callbacks = { on_put, on_delete, on_synced, f };

	for (unsigned turns = 0; turns < 40; turns++) {
		assert_int_equal(rm_etcd_mirror_new(f->e.loop, f->e.etcd, &options,
				     &callbacks, &f->mirror),
		    0);
		for (unsigned i = 0; i < turns; i++)
			event_base_loop(rm_loop_base(f->e.loop), EVLOOP_ONCE);
		rm_etcd_mirror_free(f->mirror);
		f->mirror = NULL;
		f->count = 0;
	}
}

static void
count_put(const struct rm_etcd_value *value, void *arg)
{
	++*(unsigned *)arg;
}

/* A long list shows the state at its beginning. Events that the watch reports
 * meanwhile are newer, and no sign of a restored etcd. */
static void
events_that_overtake_a_list_do_not_make_it_old(void **state)
{
	unsigned puts = 0;
	struct rm_etcd_mirror_callbacks callbacks = { .on_put = count_put,
		.arg = &puts };
	struct rm_etcd_value value = { .key = PREFIX "a", .value = "1" };
	struct rm_etcd_answer list = { .cluster_id = 1, .values = &value, .count = 1 };
	struct rm_etcd_event event = { .value = value };
	struct rm_etcd_view view;

	assert_int_equal(rm_etcd_view_init(&view, PREFIX, &callbacks), 0);
	list.revision = value.mod_revision = 10;
	rm_etcd_view_ask(&view);
	assert_int_equal(rm_etcd_view_judge(&view, &list), RM_ETCD_VIEW_NEWER);
	rm_etcd_view_take_list(&view, &list, false);
	rm_etcd_view_ask(&view);
	event.value.mod_revision = 12;
	assert_true(rm_etcd_view_take_events(&view, &event, 1));
	list.revision = 11;
	assert_int_equal(rm_etcd_view_judge(&view, &list), RM_ETCD_VIEW_NEWER);
	rm_etcd_view_take_list(&view, &list, false);
	assert_int_equal(puts, 2);
	assert_int_equal(view.known, 12);
	/* For a list requested after these events the same answer would be outdated. */
	rm_etcd_view_ask(&view);
	assert_int_equal(rm_etcd_view_judge(&view, &list), RM_ETCD_VIEW_BEHIND);
	rm_etcd_view_clear(&view);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_keys_are_listed_and_then_watched),
		TEST(lost_events_are_found_by_the_next_list),
		TEST(events_reported_twice_are_handed_over_once),
		TEST(events_out_of_order_never_bring_back_an_old_value),
		TEST(an_event_of_an_old_revision_is_ignored),
		TEST(an_event_of_a_revision_that_never_was_is_not_accepted),
		TEST(a_bookmark_of_a_revision_that_never_was_is_not_accepted),
		TEST(a_false_revision_that_is_plausible_is_corrected_by_the_next_list),
		TEST(a_canceled_watch_is_listed_and_opened_again),
		TEST(a_compacted_watch_is_listed_and_opened_again),
		TEST(a_watch_resumes_where_it_was_cut),
		TEST(a_malformed_line_ends_the_watch),
		TEST(a_silent_watch_is_noticed_and_opened_again),
		TEST(a_list_from_a_member_behind_is_asked_for_again),
		cmocka_unit_test(events_that_overtake_a_list_do_not_make_it_old),
		TEST(another_cluster_is_read_from_the_start),
		TEST(a_restored_snapshot_is_read_from_the_start),
		TEST(a_mirror_waits_for_an_etcd_that_does_not_answer),
		TEST(a_mirror_may_be_freed_at_any_moment),
	};

	return cmocka_run_group_tests_name("etcd_mirror", tests, NULL, NULL);
}
