#include "tor-aggregator/controller/resolver.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define S RM_NS_PER_S

static int
setup(void **state)
{
	struct resolver *resolver;
	int r = resolver_new(7, &resolver);

	*state = resolver;
	return r;
}

static int
teardown(void **state)
{
	resolver_free(*state);
	return 0;
}

static int
ask(struct resolver *resolver, const char *host, uint64_t token, uint64_t *ours)
{
	struct resolver_asker asker = { .incarnation = 5, .token = token };

	snprintf(asker.host, sizeof(asker.host), "%s", host);
	return resolver_ask(resolver, (rm_mono_t){ 10 * S }, &asker, ours);
}

static void
an_answer_finds_its_request(void **state)
{
	struct resolver_asker asker;
	uint64_t a, b;

	assert_int_equal(ask(*state, "h1", 1, &a), 0);
	assert_int_equal(ask(*state, "h2", 1, &b), 0);
	assert_int_not_equal(a, b);
	assert_true(resolver_answered(*state, a, &asker));
	assert_string_equal(asker.host, "h1");
	assert_int_equal(asker.token, 1);
	assert_int_equal(asker.incarnation, 5);
	assert_true(resolver_answered(*state, b, &asker));
	assert_string_equal(asker.host, "h2");
}

static void
an_answer_comes_once(void **state)
{
	struct resolver_asker asker;
	uint64_t old, fresh;

	ask(*state, "h1", 1, &old);
	assert_true(resolver_answered(*state, old, &asker));
	assert_false(resolver_answered(*state, old, &asker));
	/* A late answer is not taken for the answer to a newer request. */
	ask(*state, "h2", 2, &fresh);
	assert_false(resolver_answered(*state, old, &asker));
	assert_int_equal(resolver_counts(*state)->unknown, 2);
	assert_true(resolver_answered(*state, fresh, &asker));
}

static void
requests_expire(void **state)
{
	struct resolver_asker asker;
	uint64_t token;

	ask(*state, "h1", 1, &token);
	assert_false(resolver_expired(*state, (rm_mono_t){ 13 * S - 1 }, &asker));
	assert_true(resolver_expired(*state, (rm_mono_t){ 13 * S }, &asker));
	assert_string_equal(asker.host, "h1");
	assert_false(resolver_expired(*state, (rm_mono_t){ 13 * S }, &asker));
	assert_false(resolver_answered(*state, token, &asker));
	assert_int_equal(resolver_counts(*state)->expired, 1);
}

static void
one_agent_cannot_use_all_requests(void **state)
{
	uint64_t token;

	for (int i = 0; i < RESOLVER_MAX_PER_AGENT; i++)
		assert_int_equal(ask(*state, "h1", 1, &token), 0);
	assert_int_equal(ask(*state, "h1", 1, &token), -ENOSPC);
	assert_int_equal(ask(*state, "h2", 1, &token), 0);
	assert_int_equal(resolver_counts(*state)->refused, 1);
}

static void
requests_are_bounded(void **state)
{
	uint64_t token;
	char host[16];

	for (int i = 0; i < RESOLVER_MAX_PENDING; i++) {
		snprintf(host, sizeof(host), "h%d", i % 8);
		assert_int_equal(ask(*state, host, 1, &token), 0);
	}
	assert_int_equal(ask(*state, "h9", 1, &token), -ENOSPC);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_answer_finds_its_request),
		TEST(an_answer_comes_once),
		TEST(requests_expire),
		TEST(one_agent_cannot_use_all_requests),
		TEST(requests_are_bounded),
	};

	return cmocka_run_group_tests_name("resolver", tests, NULL, NULL);
}
