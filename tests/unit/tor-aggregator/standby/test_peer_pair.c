#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>

#include "rackmesh/core/clock.h"
#include "tests/support/peer_pair.h"

#define RUNS 3000
#define EVENTS 60

static uint64_t
next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* The trial aborts if neither aggregator is active although one could be. */
static void
in_random_failures_an_able_aggregator_is_active(void **state)
{
	struct peer_pair_figures worst = { 0 };
	uint64_t seed = 88172645463325252;

	for (int run = 0; run < RUNS; run++) {
		uint8_t events[2 * EVENTS];
		struct peer_pair_figures figures;

		for (size_t i = 0; i < sizeof(events); i++)
			events[i] = (uint8_t)next(&seed);
		figures = peer_pair_run(events, sizeof(events));
		worst.turns += figures.turns;
		if (figures.silent_ns > worst.silent_ns)
			worst.silent_ns = figures.silent_ns;
		if (figures.both_ns > worst.both_ns)
			worst.both_ns = figures.both_ns;
	}
	printf("%llu turns; nobody for at most %lld ms, both for %lld ms\n",
	    (unsigned long long)worst.turns, (long long)(worst.silent_ns / 1000000),
	    (long long)(worst.both_ns / 1000000));
	assert_true(worst.turns > 5 * RUNS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_random_failures_an_able_aggregator_is_active),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
