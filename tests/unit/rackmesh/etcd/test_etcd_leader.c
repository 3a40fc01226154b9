/* Candidates for leadership, of which one is the leader, and changes of the leader. */
#include "rackmesh/etcd/etcd_leader.h"

#include "tests/support/etcd_fixture.h"
#include "tests/support/loopback.h"

#define KEY "/t/leader"

struct candidate {
	struct rm_etcd_leader *leader;
	unsigned leads, follows;
};

struct fixture {
	struct etcd_fixture e;
	struct candidate one, two;
};

static void
on_lead(void *arg)
{
	struct candidate *candidate = arg;

	candidate->leads++;
}

static void
on_follow(void *arg)
{
	struct candidate *candidate = arg;

	candidate->follows++;
}

static bool
leads(const struct candidate *candidate)
{
	return rm_etcd_leader_leads(candidate->leader, rm_mono_now());
}

static const struct rm_etcd_leader_counts *
counts(const struct candidate *candidate)
{
	return rm_etcd_leader_counts(candidate->leader);
}

static void
stand(struct fixture *f, struct candidate *candidate, const char *name)
{
	struct rm_etcd_leader_options options = { KEY, name, 0 };
	struct rm_etcd_leader_callbacks callbacks = { on_lead, on_follow, candidate };

	assert_int_equal(rm_etcd_leader_new(f->e.loop, f->e.etcd, &options, &callbacks,
			     &candidate->leader),
	    0);
	assert_false(leads(candidate));
}

static bool
is_in_etcd(const struct fixture *f, const char *name)
{
	const char *value = fake_etcd_value(&f->e.fake, KEY);

	return value != NULL && strcmp(value, name) == 0;
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	etcd_fixture_open(&f->e, NULL);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_etcd_leader_free(f->one.leader);
	rm_etcd_leader_free(f->two.leader);
	etcd_fixture_close(&f->e);
	free(f);
	return 0;
}

static void
one_of_two_candidates_leads(void **state)
{
	struct fixture *f = *state;

	stand(f, &f->one, "one");
	stand(f, &f->two, "two");
	ETCD_UNTIL(&f->e, leads(&f->one) || leads(&f->two));
	ETCD_UNTIL(&f->e, f->e.fake.keepalives >= 2);
	assert_true(leads(&f->one) != leads(&f->two));
	assert_int_equal(f->one.leads + f->two.leads, 1);
	assert_int_equal(f->one.follows + f->two.follows, 0);
	assert_true(is_in_etcd(f, leads(&f->one) ? "one" : "two"));
}

static void
a_leader_with_a_new_value_writes_it_and_keeps_leading(void **state)
{
	struct fixture *f = *state;
	int64_t created;

	stand(f, &f->one, "one");
	ETCD_UNTIL(&f->e, leads(&f->one));
	created = rm_etcd_leader_created(f->one.leader);
	assert_int_equal(rm_etcd_leader_set_value(f->one.leader, "other"), 0);
	ETCD_UNTIL(&f->e, is_in_etcd(f, "other"));
	f->e.fake.keepalives = 0;
	ETCD_UNTIL(&f->e, f->e.fake.keepalives >= 5);
	assert_true(leads(&f->one));
	assert_int_equal(rm_etcd_leader_created(f->one.leader), created);
	assert_int_equal(f->one.leads, 1);
	assert_int_equal(f->one.follows, 0);
	assert_true(is_in_etcd(f, "other"));
}

static void
a_candidate_writes_its_value_when_it_becomes_leader(void **state)
{
	struct fixture *f = *state;

	stand(f, &f->one, "one");
	ETCD_UNTIL(&f->e, leads(&f->one));
	stand(f, &f->two, "two");
	f->e.fake.keepalives = 0;
	ETCD_UNTIL(&f->e, f->e.fake.keepalives >= 2);
	assert_int_equal(rm_etcd_leader_set_value(f->two.leader, "other"), 0);
	ETCD_UNTIL(&f->e, f->e.fake.keepalives >= 5);
	assert_true(is_in_etcd(f, "one"));
	rm_etcd_leader_free(f->one.leader);
	f->one.leader = NULL;
	ETCD_UNTIL(&f->e, leads(&f->two));
	assert_true(is_in_etcd(f, "other"));
}

static bool
holds(struct candidate *candidate)
{
	struct rm_etcd_compare fence[RM_ETCD_FENCE];

	rm_etcd_leader_fence(candidate->leader, fence);
	return fence[0].equals > 0;
}

static void
on_txn(const struct rm_etcd_answer *answer, void *arg)
{
	assert_int_equal(answer->r, 0);
	*(int *)arg = answer->succeeded;
}

static bool
is_let_through(struct fixture *f, const struct rm_etcd_compare fence[RM_ETCD_FENCE])
{
	const struct rm_etcd_op op = { .key = "/a", .value = "x", .value_len = 1 };
	int succeeded = -1;

	assert_int_equal(
	    rm_etcd_txn(f->e.etcd, fence, RM_ETCD_FENCE, &op, 1, on_txn, &succeeded),
	    0);
	ETCD_UNTIL(&f->e, succeeded >= 0);
	return succeeded == 1;
}

static void
the_fence_is_true_only_for_the_leader(void **state)
{
	struct fixture *f = *state;
	struct rm_etcd_compare fence[RM_ETCD_FENCE];

	stand(f, &f->one, "one");
	rm_etcd_leader_fence(f->one.leader, fence);
	assert_true(fence[0].equals < 0);
	ETCD_UNTIL(&f->e, leads(&f->one));
	rm_etcd_leader_fence(f->one.leader, fence);
	assert_string_equal(fence[0].key, KEY);
	assert_int_equal(fence[0].target, RM_ETCD_CREATE_REVISION);
	assert_int_equal(fence[0].equals, f->e.fake.revision);
	assert_string_equal(fence[1].key, KEY);
	assert_int_equal(fence[1].target, RM_ETCD_LEASE);
	assert_true(is_let_through(f, fence));
	/* Another cluster with the same revisions has another leader under this
	 * number. */
	f->e.fake.no_events = true;
	fake_etcd_plant(&f->e.fake, KEY, "two", fence[0].equals);
	/* The write is accepted while the lease is the same. */
	assert_true(is_let_through(f, fence));
	fence[1].equals++;
	assert_false(is_let_through(f, fence));
}

static void
a_leader_that_was_stopped_steps_down_by_its_own_clock(void **state)
{
	struct fixture *f = *state;
	unsigned keepalives;
	rm_mono_t now;

	stand(f, &f->one, "one");
	ETCD_UNTIL(&f->e, leads(&f->one));
	now = rm_mono_now();
	keepalives = f->e.fake.keepalives;
	assert_true(rm_etcd_leader_leads(f->one.leader, now));
	assert_false(
	    rm_etcd_leader_leads(f->one.leader, rm_mono_add(now, 2 * RM_NS_PER_S)));
	/* Refreshes get lost from here on. The time of the request counts, not its
	 * answer. */
	f->e.fake.keepalive_lost = true;
	ETCD_UNTIL(&f->e, f->e.fake.keepalives > keepalives);
	assert_false(
	    rm_etcd_leader_leads(f->one.leader, rm_mono_add(now, 2 * RM_NS_PER_S)));
	ETCD_UNTIL(&f->e, f->one.follows == 1);
	assert_int_equal(counts(&f->one)->lost, 1);
	assert_false(holds(&f->one));
}

static void
a_leader_continues_if_its_lease_has_not_expired(void **state)
{
	struct fixture *f = *state;

	stand(f, &f->one, "one");
	ETCD_UNTIL(&f->e, leads(&f->one));
	f->e.fake.keepalive_lost = true;
	ETCD_UNTIL(&f->e, f->one.follows == 1);
	f->e.fake.keepalive_lost = false;
	ETCD_UNTIL(&f->e, f->one.leads == 2);
	assert_true(leads(&f->one));
	assert_int_equal(f->e.fake.txns, 1); /* the same key */
}

static void
a_lease_without_ttl_has_expired_and_is_replaced(void **state)
{
	struct fixture *f = *state;

	stand(f, &f->one, "one");
	ETCD_UNTIL(&f->e, leads(&f->one));
	stand(f, &f->two, "two");
	f->e.fake.lease_dead = true;
	ETCD_UNTIL(&f->e, f->one.follows == 1);
	assert_false(leads(&f->one));
	f->e.fake.lease_dead = false;
	fake_etcd_delete(&f->e.fake, KEY); /* etcd has deleted the key with its lease */
	rm_etcd_leader_seen(f->two.leader, false);
	ETCD_UNTIL(&f->e, leads(&f->one) || leads(&f->two));
	assert_true(leads(&f->one) != leads(&f->two));
}

static void
a_key_deleted_by_hand_is_noticed_without_an_event(void **state)
{
	struct fixture *f = *state;

	stand(f, &f->one, "one");
	ETCD_UNTIL(&f->e, leads(&f->one));
	fake_etcd_delete(&f->e.fake, KEY);
	ETCD_UNTIL(&f->e, f->one.follows == 1);
	ETCD_UNTIL(&f->e, leads(&f->one)); /* no other candidate */
	assert_int_equal(counts(&f->one)->won, 2);
	assert_true(holds(&f->one));
	assert_int_equal(rm_etcd_leader_created(f->one.leader), f->e.fake.revision);
}

static void
a_key_deleted_by_hand_is_noticed_at_once_when_seen(void **state)
{
	struct fixture *f = *state;
	unsigned keepalives;

	stand(f, &f->one, "one");
	ETCD_UNTIL(&f->e, leads(&f->one));
	fake_etcd_delete(&f->e.fake, KEY);
	keepalives = f->e.fake.keepalives;
	rm_etcd_leader_seen(f->one.leader, false);
	ETCD_UNTIL(&f->e, f->one.follows == 1);
	/* Without the notice it would check only after several keepalives. */
	assert_in_range(f->e.fake.keepalives - keepalives, 0, 1);
}

static void
a_candidate_that_sees_the_key_deleted_campaigns_at_once(void **state)
{
	struct fixture *f = *state;
	struct loopback_watch since;

	fake_etcd_put(&f->e.fake, KEY, "somebody");
	stand(f, &f->two, "two");
	ETCD_UNTIL(&f->e, f->e.fake.reads == 1);
	fake_etcd_delete(&f->e.fake, KEY);
	since = loopback_watch();
	rm_etcd_leader_seen(f->two.leader, true);
	rm_etcd_leader_seen(f->two.leader, false);
	/* Without the notice it would read after half a second at the earliest. */
	LOOPBACK_WAIT(f->e.loop, f->e.fake.reads == 2);
	assert_true(loopback_took_ns(since) < RM_NS_PER_S / 4);
	ETCD_UNTIL(&f->e, leads(&f->two));
}

static void
a_missed_deletion_of_the_key_is_found_by_a_read(void **state)
{
	struct fixture *f = *state;

	fake_etcd_put(&f->e.fake, KEY, "somebody");
	stand(f, &f->two, "two");
	ETCD_UNTIL(&f->e, f->e.fake.reads == 1);
	fake_etcd_delete(&f->e.fake, KEY);
	ETCD_UNTIL(&f->e, leads(&f->two));
	assert_int_equal(
	    f->e.fake.reads, 2); /* the second read, at the next interval */
}

static void
a_candidate_that_won_without_an_answer_leads(void **state)
{
	struct fixture *f = *state;

	f->e.fake.silent_txn = true;
	stand(f, &f->one, "one");
	ETCD_UNTIL(&f->e, leads(&f->one));
	assert_int_equal(f->e.fake.txns, 1);
	assert_int_equal(f->e.fake.grants, 1);
	assert_true(is_in_etcd(f, "one"));
	assert_true(holds(&f->one));
	assert_int_equal(rm_etcd_leader_created(f->one.leader), f->e.fake.revision);
}

static void
a_key_with_the_own_name_but_another_lease_is_foreign(void **state)
{
	struct fixture *f = *state;

	/* For example a key of this candidate's previous process that has not
	 * expired yet. */
	fake_etcd_put(&f->e.fake, KEY, "one");
	stand(f, &f->one, "one");
	ETCD_UNTIL(&f->e, f->e.fake.reads >= 3);
	assert_int_equal(f->one.leads, 0);
	assert_int_equal(counts(&f->one)->campaigns, 0);
}

static void
a_candidate_continues_after_errors(void **state)
{
	struct fixture *f = *state;

	f->e.fake.fail_count = 6;
	f->e.fake.fail_status = 503;
	f->e.fake.fail_body = "{\"message\":\"etcdserver: no leader\",\"code\":14}";
	stand(f, &f->one, "one");
	ETCD_UNTIL(&f->e, leads(&f->one));
	f->e.fake.fail_count = 3;
	ETCD_UNTIL(&f->e, f->e.fake.fail_count == 0);
	ETCD_UNTIL(&f->e, f->e.fake.keepalives >= 2);
	assert_true(leads(&f->one));
	assert_int_equal(f->one.follows, 0);
}

static void
a_leader_that_resigns_is_replaced_at_once(void **state)
{
	struct fixture *f = *state;

	stand(f, &f->one, "one");
	ETCD_UNTIL(&f->e, leads(&f->one));
	stand(f, &f->two, "two");
	ETCD_UNTIL(&f->e, f->e.fake.reads >= 2);
	/* The fake etcd runs on the same loop and answers after the client has
	 * stopped waiting. */
	rm_etcd_leader_free(f->one.leader);
	f->one.leader = NULL;
	/* The fake expires no lease by itself. */
	ETCD_UNTIL(&f->e, f->e.fake.revokes == 1);
	rm_etcd_leader_seen(f->two.leader, false);
	ETCD_UNTIL(&f->e, leads(&f->two));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_of_two_candidates_leads),
		TEST(a_leader_with_a_new_value_writes_it_and_keeps_leading),
		TEST(a_candidate_writes_its_value_when_it_becomes_leader),
		TEST(the_fence_is_true_only_for_the_leader),
		TEST(a_leader_that_was_stopped_steps_down_by_its_own_clock),
		TEST(a_leader_continues_if_its_lease_has_not_expired),
		TEST(a_lease_without_ttl_has_expired_and_is_replaced),
		TEST(a_key_deleted_by_hand_is_noticed_without_an_event),
		TEST(a_key_deleted_by_hand_is_noticed_at_once_when_seen),
		TEST(a_candidate_that_sees_the_key_deleted_campaigns_at_once),
		TEST(a_missed_deletion_of_the_key_is_found_by_a_read),
		TEST(a_candidate_that_won_without_an_answer_leads),
		TEST(a_key_with_the_own_name_but_another_lease_is_foreign),
		TEST(a_candidate_continues_after_errors),
		TEST(a_leader_that_resigns_is_replaced_at_once),
	};

	return cmocka_run_group_tests_name("etcd_leader", tests, NULL, NULL);
}
