/* Names through the real getaddrinfo: see tests/support/resolver.h. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "rackmesh/core/error.h"
#include "rackmesh/net/lookup.h"
#include "tests/support/loopback.h"
#include "tests/support/resolver.h"

struct fixture {
	struct rm_loop *loop;
	struct rm_lookup *lookup;
	unsigned answers;
	int r;
	char reason[256];
	char found[RM_ENDPOINT_ADDRESSES][RM_ADDRESS_TEXT];
	size_t count;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	return f == NULL ? -1 : rm_loop_new(&f->loop);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_lookup_free(f->lookup);
	rm_loop_free(f->loop);
	free(f);
	return 0;
}

static void
on_answer(const struct rm_lookup_answer *answer, void *arg)
{
	struct fixture *f = arg;

	f->lookup = NULL;
	f->answers++;
	f->r = answer->r;
	f->count = answer->count;
	snprintf(f->reason, sizeof(f->reason), "%s", answer->reason);
	for (size_t i = 0; i < answer->count; i++)
		rm_address_format(&answer->addresses[i], f->found[i]);
}

static struct rm_endpoint
endpoint_of(const char *text)
{
	struct rm_endpoint endpoint;

	assert_int_equal(rm_endpoint_parse(text, &endpoint), 0);
	return endpoint;
}

static void
ask(struct fixture *f, const char *text)
{
	struct rm_endpoint endpoint = endpoint_of(text);

	assert_int_equal(
	    rm_lookup_new(f->loop, &endpoint, RM_LOOKUPS_MAX, on_answer, f, &f->lookup),
	    0);
}

static void
every_address_of_a_name_is_found_with_the_port(void **state)
{
	struct fixture *f = *state;

	resolver_hosts("127.0.0.1 localhost\n127.0.0.3 agg\n127.0.0.4 agg\n::1 agg6\n");
	ask(f, "agg:7471");
	assert_int_equal(f->answers, 0);
	LOOPBACK_WAIT(f->loop, f->answers == 1);
	assert_int_equal(f->r, 0);
	assert_int_equal(f->count, 2);
	assert_string_equal(f->found[0], "127.0.0.3:7471");
	assert_string_equal(f->found[1], "127.0.0.4:7471");
	ask(f, "agg6:1");
	LOOPBACK_WAIT(f->loop, f->answers == 2);
	assert_string_equal(f->found[0], "[::1]:1");
	ask(f, "localhost:2");
	LOOPBACK_WAIT(f->loop, f->answers == 3);
	assert_string_equal(f->found[0], "127.0.0.1:2");
}

static void
a_name_without_an_address_is_reported_with_the_resolvers_error(void **state)
{
	struct fixture *f = *state;
	const uint64_t failed = rm_lookup_counts()->failed;

	ask(f, "nobody.invalid:7471");
	LOOPBACK_WAIT(f->loop, f->answers == 1);
	assert_int_equal(f->r, -EAGAIN); /* no name server is running */
	assert_int_equal(f->count, 0);
	assert_string_equal(f->reason,
	    "cannot resolve nobody.invalid: Temporary failure in name resolution");
	assert_int_equal(rm_lookup_counts()->failed, failed + 1);
}

static void
the_number_of_addresses_of_a_name_is_limited(void **state)
{
	struct fixture *f = *state;
	char hosts[4096] = "";
	size_t len = 0;

	for (int i = 1; i <= RM_ENDPOINT_ADDRESSES + 9; i++)
		len += (size_t)snprintf(
		    hosts + len, sizeof(hosts) - len, "127.0.1.%d many\n", i);
	resolver_hosts(hosts);
	ask(f, "many:7471");
	LOOPBACK_WAIT(f->loop, f->answers == 1);
	assert_int_equal(f->count, RM_ENDPOINT_ADDRESSES);
}

static void
a_numeric_address_is_its_own_answer(void **state)
{
	struct rm_endpoint endpoint = endpoint_of("10.0.0.1:7471");
	struct rm_address addresses[RM_ENDPOINT_ADDRESSES];
	size_t count = 0;

	assert_int_equal(rm_endpoint_resolve(&endpoint, addresses, &count, NULL), 0);
	assert_int_equal(count, 1);
	assert_true(rm_address_equal(&addresses[0], &endpoint.address));
}

/* While a server is slow the loop runs, other names are resolved, and giving up does
 * not wait. The number of threads is limited. */
static void
a_silent_name_server_delays_no_other_look_up(void **state)
{
	struct fixture *f = *state;
	struct rm_lookup *lookups[RM_LOOKUPS_MAX] = { NULL };
	struct rm_endpoint endpoint = endpoint_of("slow.invalid:7471");
	struct fixture other = { .loop = f->loop };
	/* questions of all threads; each sends an A and an AAAA query */
	unsigned questions = 1;
	int server = resolver_silent();

	resolver_hosts("127.0.0.3 agg\n");
	ask(f, "slow.invalid:7471");
	LOOPBACK_WAIT(f->loop, resolver_asked(server));
	ask(&other, "agg:7471");
	LOOPBACK_WAIT(f->loop, other.answers == 1);
	assert_int_equal(other.r, 0);
	assert_int_equal(f->answers, 0);

	for (size_t i = 1; i < RM_LOOKUPS_MAX; i++)
		assert_int_equal(rm_lookup_new(f->loop, &endpoint, RM_LOOKUPS_MAX,
				     on_answer, f, &lookups[i]),
		    0);
	assert_int_equal(rm_lookup_new(f->loop, &endpoint, RM_LOOKUPS_MAX, on_answer, f,
			     &lookups[0]),
	    -EBUSY);
	for (size_t i = 1; i < RM_LOOKUPS_MAX; i++)
		rm_lookup_free(lookups[i]);
	/* The requests were given up, and their threads still exist: nobody waited
	 * for them. */
	assert_int_equal(rm_lookup_new(f->loop, &endpoint, RM_LOOKUPS_MAX, on_answer, f,
			     &lookups[0]),
	    -EBUSY);
	assert_int_equal(f->answers, 0);
	/* Wait until the threads hang in a system call: one that just ends would be
	 * reported as a leak. */
	LOOPBACK_WAIT(
	    f->loop, (questions += resolver_asked(server)) == 2 * RM_LOOKUPS_MAX);
	close(server);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_address_of_a_name_is_found_with_the_port),
		TEST(a_name_without_an_address_is_reported_with_the_resolvers_error),
		TEST(the_number_of_addresses_of_a_name_is_limited),
		TEST(a_numeric_address_is_its_own_answer),
		/* The last test, because its threads outlive it. */
		TEST(a_silent_name_server_delays_no_other_look_up),
	};

	return resolver_own() ? cmocka_run_group_tests_name("lookup", tests, NULL, NULL)
			      : 77;
}
