#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/loop/loop.h"
#include "region-controller/etcd/store_inbox.h"
#include "tests/support/loopback.h"

struct fixture {
	struct rm_loop *loop;
	struct store_inbox *inbox;
	int64_t takes_ns; /* time to read one value */
	size_t turns;     /* turns of the loop, counted by a timer */
	struct rm_timer *tick;
	char reported[4096]; /* reports, in the order of the inbox */
};

static void
note(struct fixture *f, const char *event, const char *of, uint64_t restarts)
{
	rm_mono_t begun = rm_mono_now();
	size_t len = strlen(f->reported);

	snprintf(f->reported + len, sizeof(f->reported) - len, "%s%s/%u ", event, of,
	    (unsigned)restarts);
	while (rm_mono_since(rm_mono_now(), begun) < f->takes_ns)
		;
}

static void
on_put(const struct rm_etcd_value *value, uint64_t restarts, void *arg)
{
	assert_int_equal(strlen(value->value), value->value_len);
	note(arg, value->key, value->value, restarts);
}

static void
on_delete(const char *key, uint64_t restarts, void *arg)
{
	note(arg, "-", key, restarts);
}

static void
on_synced(int64_t revision, uint64_t restarts, void *arg)
{
	note(arg, revision == 7 ? "s" : "?", "", restarts);
}

static void
on_tick(void *arg)
{
	struct fixture *f = arg;

	f->turns++;
	rm_timer_after(f->tick, 0);
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct store_inbox_callbacks callbacks = { on_put, on_delete, on_synced,
		f };

	assert_non_null(f);
	assert_int_equal(rm_loop_new(&f->loop), 0);
	assert_int_equal(rm_timer_new(f->loop, on_tick, f, &f->tick), 0);
	assert_int_equal(store_inbox_new(f->loop, &callbacks, &f->inbox), 0);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	store_inbox_free(f->inbox);
	rm_timer_free(f->tick);
	rm_loop_free(f->loop);
	free(f);
	return 0;
}

/* The inbox must copy key and value: both are freed here. */
static void
put(struct fixture *f, const char *key, const char *text, uint64_t restarts)
{
	char *copy = strdup(text), *name = strdup(key);
	struct rm_etcd_value value = {
		.key = name, .value = copy, .value_len = strlen(text)
	};

	store_inbox_put(f->inbox, &value, restarts);
	free(copy);
	free(name);
}

static void
changes_that_fit_into_a_turn_are_handed_over_at_once(void **state)
{
	struct fixture *f = *state;

	put(f, "a", "1", 0);
	store_inbox_delete(f->inbox, "b", 0);
	store_inbox_synced(f->inbox, 7, 0);
	assert_string_equal(f->reported, "a1/0 -b/0 s/0 ");
	assert_true(store_inbox_is_empty(f->inbox));
	assert_int_equal(store_inbox_counts(f->inbox)->deferred, 0);
}

static void
changes_beyond_a_turn_wait_in_order(void **state)
{
	struct fixture *f = *state;

	f->takes_ns =
	    STORE_INBOX_TURN_NS; /* the first value uses up the time of a whole turn */
	put(f, "a", "1", 0);
	put(f, "b", "2", 0);
	put(f, "c", "", 0);
	store_inbox_delete(f->inbox, "a", 0);
	store_inbox_synced(f->inbox, 7, 0);
	/* The next batch must wait until the first one has been handled. */
	put(f, "a", "3", 1);
	store_inbox_synced(f->inbox, 7, 1);
	assert_string_equal(f->reported, "a1/0 ");
	assert_false(store_inbox_is_empty(f->inbox));
	assert_int_equal(store_inbox_counts(f->inbox)->waiting, 6);
	rm_timer_after(f->tick, 0);
	LOOPBACK_WAIT(f->loop, store_inbox_is_empty(f->inbox));
	assert_string_equal(f->reported, "a1/0 b2/0 c/0 -a/0 s/0 a3/1 s/1 ");
	assert_true(f->turns >= 2); /* other events were handled in between */
	assert_int_equal(store_inbox_counts(f->inbox)->waiting, 0);
	assert_int_equal(store_inbox_counts(f->inbox)->waiting_bytes, 0);
}

static void
waiting_changes_are_dropped_at_the_end(void **state)
{
	struct fixture *f = *state;

	f->takes_ns = STORE_INBOX_TURN_NS;
	put(f, "a", "1", 0);
	put(f, "b", "2", 0);
	store_inbox_free(f->inbox);
	f->inbox = NULL;
	assert_string_equal(f->reported, "a1/0 ");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(changes_that_fit_into_a_turn_are_handed_over_at_once),
		TEST(changes_beyond_a_turn_wait_in_order),
		TEST(waiting_changes_are_dropped_at_the_end),
	};

	return cmocka_run_group_tests_name("store_inbox", tests, NULL, NULL);
}
