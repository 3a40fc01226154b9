/* The etcd client's calls: errors, authentication, endpoints, pages, watches. */
#include "rackmesh/etcd/etcd.h"

#include "tests/support/etcd_fixture.h"
#include "tests/support/loopback.h"

struct fixture {
	struct etcd_fixture e;
	unsigned dones;
	int r;
	char error[160], value[64];
	bool succeeded;
	size_t count;
	int64_t revision, lease, ttl_s;
	/* values of a watch */
	struct rm_etcd_watch *watch;
	unsigned events, lines, progress, ends;
	int end_r;
	bool free_in_events;
};

static void
on_done(const struct rm_etcd_answer *answer, void *arg)
{
	struct fixture *f = arg;

	f->dones++;
	f->r = answer->r;
	f->succeeded = answer->succeeded;
	f->count = answer->count;
	f->revision = answer->revision;
	f->lease = answer->lease;
	f->ttl_s = answer->ttl_s;
	snprintf(f->error, sizeof(f->error), "%s", answer->error);
	if (answer->count > 0)
		snprintf(f->value, sizeof(f->value), "%s", answer->values[0].value);
}

static int
open_with(void **state, const struct rm_etcd_options *options)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	etcd_fixture_open(&f->e, options);
	*state = f;
	return 0;
}

static int
setup(void **state)
{
	return open_with(state, NULL);
}

static int
setup_login(void **state)
{
	struct rm_etcd_options options = {
		.user = "u",
		.password = "p",
		.timeout_ns = ETCD_DEADLINE_NS / 2,
	};

	return open_with(state, &options);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_etcd_watch_free(f->watch);
	etcd_fixture_close(&f->e);
	free(f);
	return 0;
}

static void
wait_done(struct fixture *f)
{
	assert_int_equal(f->dones, 0); /* not called from inside rm_etcd_range */
	ETCD_UNTIL(&f->e, f->dones > 0);
	assert_int_equal(f->dones, 1);
	f->dones = 0;
}

static void
get(struct fixture *f, const char *key, bool prefix)
{
	assert_int_equal(
	    rm_etcd_range(f->e.etcd, key, prefix, 0, false, on_done, f), 0);
	wait_done(f);
}

static void
a_key_is_read_and_written_once(void **state)
{
	struct fixture *f = *state;
	struct rm_etcd_compare absent = { "k", RM_ETCD_CREATE_REVISION, 0 };
	struct rm_etcd_op put = { "k", "v1", 2, 0 };

	for (int i = 0; i < 2; i++) {
		assert_int_equal(
		    rm_etcd_txn(f->e.etcd, &absent, 1, &put, 1, on_done, f), 0);
		wait_done(f);
		assert_int_equal(f->r, 0);
		assert_int_equal(f->succeeded, i == 0);
		assert_int_equal(f->revision, 2);
	}
	get(f, "k", false);
	assert_int_equal(f->count, 1);
	assert_string_equal(f->value, "v1");
	get(f, "none", false);
	assert_int_equal(f->count, 0);
	assert_int_equal(f->r, 0);
}

static void
a_range_only_has_keys_with_its_prefix(void **state)
{
	struct fixture *f = *state;

	fake_etcd_put(&f->e.fake, "a", "");
	fake_etcd_put(&f->e.fake, "a/1", "");
	fake_etcd_put(&f->e.fake, "a/2", "");
	fake_etcd_put(&f->e.fake, "a0", "");
	get(f, "a/", true);
	assert_int_equal(f->count, 2);
	get(f, "a", true);
	assert_int_equal(f->count, 4);
	get(f, "a", false);
	assert_int_equal(f->count, 1);
}

static void
a_long_range_comes_page_by_page(void **state)
{
	struct fixture *f = *state;
	char key[16];

	for (int i = 0; i < 100; i++) {
		snprintf(key, sizeof(key), "a/%02d", i);
		fake_etcd_put(&f->e.fake, key, key);
	}
	fake_etcd_put(&f->e.fake, "b", "");
	get(f, "a/", true);
	assert_int_equal(f->r, 0);
	assert_int_equal(f->count, 100);
	assert_string_equal(f->value, "a/00");
	assert_int_equal(f->e.fake.lists, 3); /* pages of 16, 32 and 52 keys */
}

static void
lease_ids_keep_all_digits_and_leases_expire(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(rm_etcd_lease_grant(f->e.etcd, 5, on_done, f), 0);
	wait_done(f);
	assert_true(f->lease == (INT64_C(1) << 60) + 1);
	assert_int_equal(f->ttl_s, 5);
	assert_int_equal(rm_etcd_lease_keepalive(f->e.etcd, f->lease, on_done, f), 0);
	wait_done(f);
	assert_true(f->lease == (INT64_C(1) << 60) + 1);
	assert_int_equal(f->ttl_s, 2);
	f->e.fake.lease_dead = true;
	assert_int_equal(rm_etcd_lease_keepalive(f->e.etcd, f->lease, on_done, f), 0);
	wait_done(f);
	assert_int_equal(f->r, 0);
	assert_int_equal(f->ttl_s, 0);
}

static void
a_token_is_fetched_once_and_again_when_refused(void **state)
{
	struct fixture *f = *state;

	f->e.fake.token = "one";
	for (int i = 0; i < 10; i++)
		assert_int_equal(
		    rm_etcd_range(f->e.etcd, "k", false, 0, false, on_done, f), 0);
	ETCD_UNTIL(&f->e, f->dones == 10);
	assert_int_equal(f->r, 0);
	assert_int_equal(f->e.fake.logins, 1);
	f->e.fake.token = "two";
	f->dones = 0;
	for (int i = 0; i < 10; i++)
		assert_int_equal(
		    rm_etcd_range(f->e.etcd, "k", false, 0, false, on_done, f), 0);
	ETCD_UNTIL(&f->e, f->dones == 10);
	assert_int_equal(f->r, 0);
	assert_int_equal(f->e.fake.logins, 2);
	assert_int_equal(rm_etcd_counts(f->e.etcd)->authentications, 2);
}

static void
a_call_is_repeated_with_a_new_token_only_once(void **state)
{
	struct fixture *f = *state;

	f->e.fake.token = "one";
	f->e.fake.fail_count = 2;
	f->e.fake.fail_status = 401;
	f->e.fake.fail_body = "{\"message\":\"etcdserver: invalid auth "
			      "token\",\"code\":16}";
	get(f, "k", false);
	assert_int_equal(f->r, -EACCES);
	assert_int_equal(f->e.fake.logins, 2);
	get(f, "k", false);
	assert_int_equal(f->r, 0);
}

static void
a_cluster_without_authentication_gets_no_login(void **state)
{
	struct fixture *f = *state;

	get(f, "k", false);
	assert_int_equal(f->r, 0);
	assert_int_equal(f->e.fake.logins, 1);
	/* The client logs in once authentication is turned on. */
	f->e.fake.token = "one";
	get(f, "k", false);
	assert_int_equal(f->r, 0);
	assert_int_equal(f->e.fake.logins, 2);
}

static void
a_call_without_a_login_is_refused_with_its_reason(void **state)
{
	struct fixture *f = *state;

	f->e.fake.token = "one";
	get(f, "k", false);
	assert_int_equal(f->r, -EACCES);
	assert_string_equal(f->error, "etcdserver: user name is empty");
	assert_int_equal(f->e.fake.logins, 0);
}

static void
after_a_failure_the_next_endpoint_is_used(void **state)
{
	struct fixture *f = *state;
	const char *endpoints[] = { "http://127.0.0.1:1", NULL };
	struct rm_etcd_options options = { endpoints, 2, NULL, NULL, 200 * RM_NS_PER_MS,
		0 };

	endpoints[1] = f->e.fake.url;
	rm_etcd_free(f->e.etcd);
	assert_int_equal(rm_etcd_new(f->e.loop, f->e.http, &options, &f->e.etcd), 0);
	/* Three simultaneous failures for the same reason count once. */
	for (int i = 0; i < 3; i++)
		assert_int_equal(
		    rm_etcd_range(f->e.etcd, "k", false, 0, false, on_done, f), 0);
	ETCD_UNTIL(&f->e, f->dones == 3);
	assert_int_equal(f->r, -ECONNREFUSED);
	assert_int_equal(rm_etcd_counts(f->e.etcd)->rotations, 1);
	assert_string_equal(rm_etcd_endpoint(f->e.etcd), f->e.fake.url);
	f->dones = 0;
	get(f, "k", false);
	assert_int_equal(f->r, 0);
	f->e.fake.silent = true;
	get(f, "k", false);
	assert_int_equal(f->r, -ETIMEDOUT);
	assert_string_equal(rm_etcd_endpoint(f->e.etcd), endpoints[0]);
}

static void
a_full_database_and_a_large_request_differ(void **state)
{
	struct fixture *f = *state;
	struct rm_etcd_op put = { "k", "v", 1, 0 };

	f->e.fake.fail_count = 1;
	f->e.fake.fail_status = 429;
	f->e.fake.fail_body = "{\"message\":\"etcdserver: mvcc: database space "
			      "exceeded\",\"code\":8}";
	assert_int_equal(rm_etcd_txn(f->e.etcd, NULL, 0, &put, 1, on_done, f), 0);
	wait_done(f);
	assert_int_equal(f->r, -ENOSPC);
	put.value_len = RM_ETCD_MAX_VALUE_BYTES + 1;
	assert_int_equal(
	    rm_etcd_txn(f->e.etcd, NULL, 0, &put, 1, on_done, f), -EMSGSIZE);
	assert_int_equal(rm_etcd_counts(f->e.etcd)->rotations, 0);
}

static void
the_number_of_waiting_calls_is_limited(void **state)
{
	struct fixture *f = *state;

	f->e.fake.token = "one"; /* the calls wait for the token */
	for (int i = 0; i < RM_ETCD_MAX_CALLS; i++)
		assert_int_equal(
		    rm_etcd_range(f->e.etcd, "k", false, 0, false, on_done, f), 0);
	assert_int_equal(
	    rm_etcd_range(f->e.etcd, "k", false, 0, false, on_done, f), -EAGAIN);
	ETCD_UNTIL(&f->e, f->dones == RM_ETCD_MAX_CALLS);
	assert_int_equal(f->r, 0);
}

static void
canceled_calls_report_nothing(void **state)
{
	struct fixture *f = *state;
	struct fixture other = { 0 };

	assert_int_equal(
	    rm_etcd_range(f->e.etcd, "k", true, 0, false, on_done, &other), 0);
	assert_int_equal(rm_etcd_lease_grant(f->e.etcd, 2, on_done, &other), 0);
	rm_etcd_forget(f->e.etcd, &other);
	get(f, "k", false);
	assert_int_equal(other.dones, 0);
	/* Calls in progress when the client is freed do not call back either. */
	assert_int_equal(
	    rm_etcd_range(f->e.etcd, "k", true, 0, false, on_done, &other), 0);
}

static void
bad_endpoints_are_refused(void **state)
{
	struct fixture *f = *state;
	static const char *const endpoints[] = { "127.0.0.1:2379" };
	struct rm_etcd_options options = { endpoints, 1, NULL, NULL, 0, 0 };
	struct rm_etcd *etcd = NULL;

	assert_int_equal(rm_etcd_new(f->e.loop, f->e.http, &options, &etcd), -EINVAL);
	options.endpoint_count = 0;
	assert_int_equal(rm_etcd_new(f->e.loop, f->e.http, &options, &etcd), -EINVAL);
	assert_null(etcd);
}

static void
on_events(const struct rm_etcd_event *events, size_t count, uint64_t cluster_id,
    int64_t revision, void *arg)
{
	struct fixture *f = arg;

	f->events += (unsigned)count;
	f->lines++;
	f->revision = revision;
	snprintf(f->value, sizeof(f->value), "%s", events[count - 1].value.value);
	if (f->free_in_events) {
		rm_etcd_watch_free(f->watch);
		f->watch = NULL;
	}
}

static void
on_progress(uint64_t cluster_id, int64_t revision, void *arg)
{
	struct fixture *f = arg;

	f->progress++;
}

static void
on_end(int r, const char *error, void *arg)
{
	struct fixture *f = arg;

	f->ends++;
	f->end_r = r;
	snprintf(f->error, sizeof(f->error), "%s", error);
	rm_etcd_watch_free(f->watch);
	f->watch = NULL;
}

static void
watch(struct fixture *f, int64_t from, int64_t silence_ns)
{
	static const struct rm_etcd_watch_callbacks callbacks = { on_events,
		on_progress, on_end };

	assert_int_equal(rm_etcd_watch_new(f->e.etcd, "a/", from, silence_ns,
			     &callbacks, f, &f->watch),
	    0);
}

static void
a_watch_reports_events_before_and_after_its_start(void **state)
{
	struct fixture *f = *state;

	fake_etcd_put(&f->e.fake, "a/1", "v1");
	fake_etcd_put(&f->e.fake, "a/1", "v2");
	watch(f, 3, RM_NS_PER_S);
	ETCD_UNTIL(&f->e, f->events == 1);
	assert_string_equal(f->value, "v2");
	fake_etcd_put(&f->e.fake, "a/2", "v3");
	ETCD_UNTIL(&f->e, f->events == 2);
	assert_string_equal(f->value, "v3");
	assert_true(f->progress > 0);
	assert_int_equal(f->ends, 0);
}

static void
a_watch_ends_if_the_revision_of_the_store_goes_back(void **state)
{
	struct fixture *f = *state;

	watch(f, 100, RM_NS_PER_S);
	ETCD_UNTIL(&f->e, f->ends == 1);
	assert_int_equal(f->end_r, -ESTALE);
}

static void
a_watch_logs_in_and_notices_when_its_rights_end(void **state)
{
	struct fixture *f = *state;

	f->e.fake.token = "one";
	watch(f, 1, RM_NS_PER_S);
	ETCD_UNTIL(&f->e, fake_etcd_streams(&f->e.fake) == 1);
	fake_etcd_send(&f->e.fake,
	    "{\"result\":{\"header\":{\"cluster_id\":\"1\",\"revision\":\"1\"},"
	    "\"canceled\":true,\"cancel_reason\":\"rpc error: code = "
	    "PermissionDenied\"}}\n");
	ETCD_UNTIL(&f->e, f->ends == 1);
	assert_int_equal(f->end_r, -EACCES);
	assert_int_equal(f->e.fake.logins, 1);
	get(f, "k", false); /* because the token may have been the reason */
	assert_int_equal(f->e.fake.logins, 2);
}

static void
the_last_line_of_a_stream_needs_no_line_end(void **state)
{
	struct fixture *f = *state;

	watch(f, 1, RM_NS_PER_S);
	ETCD_UNTIL(&f->e, fake_etcd_streams(&f->e.fake) == 1);
	fake_etcd_send(&f->e.fake,
	    "{\"error\":{\"grpc_code\":14,\"http_code\":503,"
	    "\"message\":\"transport is closing\",\"http_status\":\"x\"}}");
	fake_etcd_cut(&f->e.fake);
	ETCD_UNTIL(&f->e, f->ends == 1);
	assert_int_equal(f->end_r, -EIO);
	assert_string_equal(f->error, "transport is closing");
}

static void
a_watch_that_gets_no_answer_times_out(void **state)
{
	struct fixture *f = *state;
	const struct loopback_watch since = loopback_watch();

	f->e.fake.silent_watch = true;
	watch(f, 1, 200 * RM_NS_PER_MS);
	LOOPBACK_WAIT(f->e.loop, f->ends == 1);
	assert_int_equal(f->end_r, -ETIMEDOUT);
	assert_true(loopback_took_ns(since) < RM_NS_PER_S);
	assert_true(f->progress > 1); /* although the member is still reachable */
}

static void
a_watch_may_be_freed_while_it_reports(void **state)
{
	struct fixture *f = *state;

	f->free_in_events = true;
	for (int i = 0; i < 5; i++)
		fake_etcd_put(&f->e.fake, "a/1", "v");
	watch(f, 1, RM_NS_PER_S);
	ETCD_UNTIL(&f->e, f->events > 0);
	get(f, "k", false);
	assert_int_equal(f->lines, 1);
	assert_int_equal(f->ends, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
#define TEST_LOGIN(fn) cmocka_unit_test_setup_teardown(fn, setup_login, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_key_is_read_and_written_once),
		TEST(a_range_only_has_keys_with_its_prefix),
		TEST(a_long_range_comes_page_by_page),
		TEST(lease_ids_keep_all_digits_and_leases_expire),
		TEST_LOGIN(a_token_is_fetched_once_and_again_when_refused),
		TEST_LOGIN(a_call_is_repeated_with_a_new_token_only_once),
		TEST_LOGIN(a_cluster_without_authentication_gets_no_login),
		TEST(a_call_without_a_login_is_refused_with_its_reason),
		TEST(after_a_failure_the_next_endpoint_is_used),
		TEST(a_full_database_and_a_large_request_differ),
		TEST_LOGIN(the_number_of_waiting_calls_is_limited),
		TEST(canceled_calls_report_nothing),
		TEST(bad_endpoints_are_refused),
		TEST(a_watch_reports_events_before_and_after_its_start),
		TEST(a_watch_ends_if_the_revision_of_the_store_goes_back),
		TEST_LOGIN(a_watch_logs_in_and_notices_when_its_rights_end),
		TEST(the_last_line_of_a_stream_needs_no_line_end),
		TEST(a_watch_that_gets_no_answer_times_out),
		TEST(a_watch_may_be_freed_while_it_reports),
	};

	return cmocka_run_group_tests_name("etcd", tests, NULL, NULL);
}
