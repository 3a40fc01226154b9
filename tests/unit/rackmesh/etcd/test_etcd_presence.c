/* A key that exists in etcd as long as its process runs. */
#include "rackmesh/etcd/etcd_presence.h"

#include "tests/support/etcd_fixture.h"
#include "tests/support/loopback.h"

#define KEY "/t/here"

struct fixture {
	struct etcd_fixture e;
	struct rm_etcd_presence *presence;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct rm_etcd_presence_options options = { KEY, "me", 1 };

	assert_non_null(f);
	etcd_fixture_open(&f->e, NULL);
	assert_int_equal(
	    rm_etcd_presence_new(f->e.loop, f->e.etcd, &options, &f->presence), 0);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_etcd_presence_free(f->presence);
	etcd_fixture_close(&f->e);
	free(f);
	return 0;
}

static bool
is_there(const struct fixture *f)
{
	const char *value = fake_etcd_value(&f->e.fake, KEY);

	return value != NULL && strcmp(value, "me") == 0;
}

static void
the_key_is_there_until_its_process_ends(void **state)
{
	struct fixture *f = *state;

	ETCD_UNTIL(&f->e, is_there(f));
	ETCD_UNTIL(&f->e, f->e.fake.keepalives >= 2);
	assert_int_equal(f->e.fake.txns, 1);
	rm_etcd_presence_free(f->presence);
	f->presence = NULL;
	ETCD_UNTIL(&f->e, !is_there(f));
}

static void
a_key_that_was_deleted_is_written_again(void **state)
{
	struct fixture *f = *state;

	ETCD_UNTIL(&f->e, is_there(f));
	fake_etcd_delete(&f->e.fake, KEY);
	rm_etcd_presence_gone(f->presence);
	ETCD_UNTIL(&f->e, is_there(f));
}

static void
a_lease_that_has_expired_is_replaced(void **state)
{
	struct fixture *f = *state;

	ETCD_UNTIL(&f->e, is_there(f));
	f->e.fake.lease_dead = true;
	fake_etcd_delete(&f->e.fake, KEY);
	ETCD_UNTIL(&f->e, is_there(f));
	f->e.fake.lease_dead = false;
	f->e.fake.keepalives = 0;
	ETCD_UNTIL(&f->e, f->e.fake.keepalives >= 2);
	assert_true(is_there(f));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_key_is_there_until_its_process_ends),
		TEST(a_key_that_was_deleted_is_written_again),
		TEST(a_lease_that_has_expired_is_replaced),
	};

	return cmocka_run_group_tests_name("etcd_presence", tests, NULL, NULL);
}
