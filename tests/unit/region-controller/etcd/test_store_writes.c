/* What a leader writes into an etcd with faults. */
#include "region-controller/etcd/store_writes.h"

#include "region-controller/etcd/store_etcd_keys.h"
#include "region-controller/store/store_plan.h"
#include "tests/support/etcd_fixture.h"

#define LEADER "/rackmesh/lab/leader"
#define A "/rackmesh/lab/rnic/a"
#define B "/rackmesh/lab/rnic/b"

struct fixture {
	struct etcd_fixture e;
	struct store_writes *writes;
	struct rm_etcd_compare fence;
	bool leads;
	int64_t revision;
	unsigned too_large, fenced, failing;
	unsigned replies;
	int first_reply, reply;
};

static bool
fence(struct rm_etcd_compare ret[RM_ETCD_FENCE], void *arg)
{
	struct fixture *f = arg;

	ret[0] = f->fence;
	ret[1] = (struct rm_etcd_compare){ LEADER, RM_ETCD_LEASE, 0 };
	return f->leads;
}

static int64_t
revision(void *arg)
{
	return ((struct fixture *)arg)->revision;
}

static void
on_too_large(const char *key, size_t len, void *arg)
{
	((struct fixture *)arg)->too_large++;
}

static void
on_fenced(void *arg)
{
	((struct fixture *)arg)->fenced++;
}

static void
on_failing(int r, const char *error, void *arg)
{
	((struct fixture *)arg)->failing++;
}

static void
on_reply(int r, const char *sentence, uint64_t token, void *arg)
{
	struct fixture *f = arg;

	assert_int_equal(token, 3);
	if (f->replies++ == 0)
		f->first_reply = r;
	f->reply = r;
}

static int
setup(void **state)
{
	static const struct rm_etcd_options quick = { .timeout_ns =
							  200 * RM_NS_PER_MS };
	struct fixture *f = calloc(1, sizeof(*f));
	struct store_writes_options options = {
		.fence = fence,
		.revision = revision,
		.on_too_large = on_too_large,
		.on_fenced = on_fenced,
		.on_failing = on_failing,
		.arg = f,
	};

	assert_non_null(f);
	etcd_fixture_open(&f->e, &quick);
	options.etcd = f->e.etcd;
	assert_int_equal(store_writes_new(f->e.loop, &options, &f->writes), 0);
	fake_etcd_put(&f->e.fake, LEADER, "{}");
	f->leads = true;
	f->fence = (struct rm_etcd_compare){ LEADER, RM_ETCD_MOD_REVISION,
		f->e.fake.revision };
	f->revision = f->e.fake.revision;
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_etcd_free(f->e.etcd);
	f->e.etcd = NULL;
	store_writes_free(f->writes);
	etcd_fixture_close(&f->e);
	free(f);
	return 0;
}

static void
put(struct fixture *f, const char *key, const char *text)
{
	const struct store_reply reply = { on_reply, 3, f };
	char *copy = text == NULL ? NULL : strdup(text);

	assert_int_equal(store_writes_put(f->writes, key, copy, &reply), 0);
}

static bool
has(struct fixture *f, const char *key, const char *text)
{
	const char *value = fake_etcd_value(&f->e.fake, key);

	return value == NULL ? text == NULL : text != NULL && strcmp(value, text) == 0;
}

static void
writes_put_together_are_one_transaction(void **state)
{
	struct fixture *f = *state;

	put(f, A, "1");
	put(f, B, "2");
	assert_true(store_writes_waits(f->writes, A));
	ETCD_UNTIL(&f->e, f->replies == 2);
	assert_int_equal(f->reply, 0);
	assert_true(has(f, A, "1") && has(f, B, "2"));
	assert_int_equal(f->e.fake.txns, 1);
	assert_false(store_writes_waits(f->writes, A));
	put(f, A, NULL);
	ETCD_UNTIL(&f->e, f->replies == 3);
	assert_true(has(f, A, NULL));
	assert_int_equal(store_writes_counts(f->writes)->operations, 3);
	assert_int_equal(store_writes_counts(f->writes)->waiting, 0);
}

static void
many_writes_are_several_transactions_of_limited_size(void **state)
{
	struct fixture *f = *state;
	const struct store_writes_counts *counts = store_writes_counts(f->writes);
	char key[STORE_KEY_BYTES];

	for (unsigned i = 0; i < 250; i++) {
		snprintf(key, sizeof(key), "/rackmesh/lab/rnic/%u", i);
		put(f, key, "x");
	}
	ETCD_UNTIL(&f->e, f->replies == 250);
	assert_int_equal(f->reply, 0);
	assert_int_equal(counts->operations, 250);
	/* On a busy machine a transaction may time out, and is then repeated. */
	assert_int_equal(counts->transactions - counts->failed, 3);
	assert_true(f->e.fake.txns >= 3);
}

static void
a_newer_value_replaces_a_waiting_one(void **state)
{
	struct fixture *f = *state;

	put(f, A, "1");
	put(f, A, "2");
	assert_int_equal(f->replies, 1);
	assert_int_equal(f->reply, -ECANCELED);
	ETCD_UNTIL(&f->e, f->replies == 2);
	assert_true(has(f, A, "2"));
	assert_int_equal(f->e.fake.txns, 1);
}

/* etcd does the write but does not answer: the same value is written again, and a newer
 * value only after that. */
static void
an_unknown_outcome_is_repeated_with_the_same_value(void **state)
{
	struct fixture *f = *state;

	f->e.fake.silent_txn = true;
	put(f, A, "1");
	ETCD_UNTIL(&f->e, f->e.fake.txns == 1);
	put(f, A, "2");
	ETCD_UNTIL(&f->e, f->e.fake.txns >= 2);
	assert_true(has(f, A, "1"));
	assert_int_equal(f->failing, 1);
	f->e.fake.silent_txn = false;
	ETCD_UNTIL(&f->e, f->replies == 2);
	assert_true(has(f, A, "2"));
	assert_true(store_writes_counts(f->writes)->failed >= 1);
}

static void
a_full_database_is_tried_again_and_reported_once(void **state)
{
	struct fixture *f = *state;

	f->e.fake.fail_status = 429;
	f->e.fake.fail_body =
	    "{\"error\":\"etcdserver: mvcc: database space exceeded\","
	    "\"code\":8}";
	f->e.fake.fail_count = 3;
	put(f, A, "1");
	ETCD_UNTIL(&f->e, f->replies == 1);
	assert_int_equal(f->reply, 0);
	assert_int_equal(f->failing, 1);
	assert_int_equal(store_writes_counts(f->writes)->failed, 3);
}

static void
a_fence_that_does_not_hold_drops_everything(void **state)
{
	struct fixture *f = *state;

	fake_etcd_put(&f->e.fake, LEADER, "{\"name\":\"another\"}");
	put(f, A, "1");
	put(f, B, "2");
	ETCD_UNTIL(&f->e, f->fenced == 1);
	assert_int_equal(f->replies, 2);
	assert_int_equal(f->reply, -ECANCELED);
	assert_true(has(f, A, NULL) && has(f, B, NULL));
	assert_int_equal(store_writes_counts(f->writes)->waiting, 0);
}

static void
a_standby_writes_nothing(void **state)
{
	struct fixture *f = *state;
	rm_mono_t until = rm_mono_add(rm_mono_now(), 100 * RM_NS_PER_MS);

	f->leads = false;
	put(f, A, "1");
	ETCD_UNTIL(&f->e, rm_mono_since(rm_mono_now(), until) > 0);
	assert_int_equal(f->e.fake.txns, 0);
	store_writes_drop(f->writes);
	assert_int_equal(f->reply, -ECANCELED);
	/* After it has become leader again, writing continues. */
	f->leads = true;
	put(f, A, "2");
	ETCD_UNTIL(&f->e, has(f, A, "2"));
}

static void
the_answer_to_a_dropped_write_changes_nothing(void **state)
{
	struct fixture *f = *state;

	f->e.fake.silent_txn = true;
	put(f, A, "1");
	ETCD_UNTIL(&f->e, f->e.fake.txns == 1);
	store_writes_drop(f->writes);
	f->e.fake.silent_txn = false;
	put(f, A, "2");
	ETCD_UNTIL(&f->e, has(f, A, "2"));
	ETCD_UNTIL(&f->e, f->replies == 2);
	assert_int_equal(f->reply, 0);
}

/* The first write was sent, so its reply is -ETIMEDOUT (unknown), not -ECANCELED (not
 * done). */
static void
a_write_dropped_while_it_is_sent_may_have_been_done(void **state)
{
	struct fixture *f = *state;

	f->e.fake.silent_txn = true;
	put(f, A, "1");
	ETCD_UNTIL(&f->e, f->e.fake.txns == 1);
	put(f, B, "2");
	store_writes_drop(f->writes);
	assert_int_equal(f->replies, 2);
	assert_int_equal(f->first_reply, -ETIMEDOUT);
	assert_int_equal(f->reply, -ECANCELED);
}

static void
a_value_that_is_too_large_is_left_out_and_the_others_are_written(void **state)
{
	struct fixture *f = *state;
	char *large = malloc(RM_ETCD_MAX_VALUE_BYTES + 2);

	memset(large, 'x', RM_ETCD_MAX_VALUE_BYTES + 1);
	large[RM_ETCD_MAX_VALUE_BYTES + 1] = '\0';
	put(f, A, large);
	put(f, B, "2");
	free(large);
	ETCD_UNTIL(&f->e, f->replies == 2);
	assert_int_equal(f->too_large, 1);
	assert_true(has(f, A, NULL) && has(f, B, "2"));
}

/* The limit of the server may be lower than ours. */
static void
a_transaction_that_is_too_large_is_halved(void **state)
{
	struct fixture *f = *state;
	char key[STORE_KEY_BYTES];

	f->e.fake.fail_status = 400;
	f->e.fake.fail_body =
	    "{\"error\":\"etcdserver: request is too large\",\"code\":3}";
	f->e.fake.fail_count = 2;
	for (unsigned i = 0; i < 8; i++) {
		snprintf(key, sizeof(key), "/rackmesh/lab/rnic/%u", i);
		put(f, key, "x");
	}
	ETCD_UNTIL(&f->e, f->replies == 8);
	assert_int_equal(f->reply, 0);
	assert_int_equal(f->too_large, 0);
	assert_true(has(f, "/rackmesh/lab/rnic/7", "x"));
}

static void
a_plan_gets_a_version_above_those_of_aggregators(void **state)
{
	const struct wire_plan plan = { .region = "lab", .tor = "t", .plane = "" };
	struct wire_writer *writer = wire_writer_new();
	struct fixture *f = *state;
	struct store_draft draft = { .tor = "t", .digest = 1, .above = 5000 };
	char base[32];

	assert_int_equal(wire_write_plan(writer, &plan, &draft.bytes), 0);
	assert_int_equal(
	    store_writes_put_plan(f->writes, "/rackmesh/lab/pinglist/t", &draft), 0);
	ETCD_UNTIL(&f->e, fake_etcd_value(&f->e.fake, "/rackmesh/lab/pinglist/t"));
	snprintf(base, sizeof(base), "\"base\":%d,", 5000 - (int)f->revision);
	assert_non_null(
	    strstr(fake_etcd_value(&f->e.fake, "/rackmesh/lab/pinglist/t"), base));
	draft.above = 1;
	assert_int_equal(
	    store_writes_put_plan(f->writes, "/rackmesh/lab/pinglist/u", &draft), 0);
	ETCD_UNTIL(&f->e, fake_etcd_value(&f->e.fake, "/rackmesh/lab/pinglist/u"));
	assert_non_null(strstr(
	    fake_etcd_value(&f->e.fake, "/rackmesh/lab/pinglist/u"), "\"base\":0,"));
	wire_writer_free(writer);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(writes_put_together_are_one_transaction),
		TEST(many_writes_are_several_transactions_of_limited_size),
		TEST(a_newer_value_replaces_a_waiting_one),
		TEST(an_unknown_outcome_is_repeated_with_the_same_value),
		TEST(a_full_database_is_tried_again_and_reported_once),
		TEST(a_fence_that_does_not_hold_drops_everything),
		TEST(a_standby_writes_nothing),
		TEST(the_answer_to_a_dropped_write_changes_nothing),
		TEST(a_write_dropped_while_it_is_sent_may_have_been_done),
		TEST(a_value_that_is_too_large_is_left_out_and_the_others_are_written),
		TEST(a_transaction_that_is_too_large_is_halved),
		TEST(a_plan_gets_a_version_above_those_of_aggregators),
	};

	return cmocka_run_group_tests_name("store_writes", tests, NULL, NULL);
}
