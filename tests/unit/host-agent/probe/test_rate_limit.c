#include "host-agent/probe/rate_limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

#define MOST 400000
#define US RM_NS_PER_US
#define MS RM_NS_PER_MS

struct left {
	int64_t at_ns;
	uint64_t bytes;
};

struct wire { /* the packets in the order in which they were sent */
	struct rate_limit rate_limit;
	struct left *left;
	size_t count;
	rm_mono_t now;
	uint64_t random;
};

static int
setup(void **state)
{
	struct wire *wire = calloc(1, sizeof(*wire));

	if (wire == NULL)
		return -1;
	wire->left = calloc(MOST, sizeof(*wire->left));
	wire->now = (rm_mono_t){ 5 * RM_NS_PER_S };
	wire->random = 1;
	*state = wire;
	return wire->left == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	struct wire *wire = *state;

	free(wire->left);
	free(wire);
	return 0;
}

static uint64_t
draw(struct wire *wire, uint64_t below)
{
	wire->random = wire->random * UINT64_C(6364136223846793005) + 1;
	return (wire->random >> 33) % below;
}

/* Sends in bursts until the limit allows no more, then lets time pass, and repeats. */
static void
send_greedily(struct wire *wire, size_t bytes, int64_t hold_up_ns, int64_t wait_ns)
{
	size_t n = 0;

	while (n < 32 && rate_limit_wait(&wire->rate_limit, wire->now) == 0) {
		rate_limit_take(&wire->rate_limit, bytes);
		n++;
	}
	wire->now = rm_mono_add(wire->now, hold_up_ns);
	rate_limit_left(&wire->rate_limit, wire->now);
	for (size_t i = 0; i < n; i++) {
		assert_true(wire->count < MOST);
		wire->left[wire->count++] =
		    (struct left){ wire->now.ns, bytes + RATE_LIMIT_HEADER_BYTES };
	}
	wire->now = rm_mono_add(wire->now, wait_ns);
}

/* Returns the largest sum in any window of this length, wherever the window begins. */
static void
most_within(
    const struct wire *wire, int64_t window_ns, uint64_t *packets, uint64_t *bytes)
{
	uint64_t inside = 0, first = 0;

	*packets = *bytes = 0;
	for (size_t i = 0; i < wire->count; i++) {
		inside += wire->left[i].bytes;
		while (wire->left[first].at_ns <= wire->left[i].at_ns - window_ns)
			inside -= wire->left[first++].bytes;
		if (i - first + 1 > *packets)
			*packets = i - first + 1;
		if (inside > *bytes)
			*bytes = inside;
	}
}

static void
expect_held(const struct wire *wire, bool by_bytes)
{
	uint64_t packets, bytes, per_s;

	most_within(wire, RM_NS_PER_S, &packets, &bytes);
	per_s = by_bytes ? bytes : packets;
	assert_true(packets <= wire->rate_limit.packets_per_s);
	assert_true(bytes <= wire->rate_limit.bytes_per_s);
	/* The limit determined the rate, and not the test. */
	assert_true(per_s * 100 > (by_bytes ? wire->rate_limit.bytes_per_s
					    : wire->rate_limit.packets_per_s) *
				      90);
	most_within(wire, RATE_LIMIT_WINDOW_NS, &packets, &bytes);
	assert_true(
	    packets * RATE_LIMIT_WINDOWS_PER_RATE <= wire->rate_limit.packets_per_s);
	assert_true(
	    bytes * RATE_LIMIT_WINDOWS_PER_RATE <= wire->rate_limit.bytes_per_s);
}

static void
small_packets_are_held_by_their_number(void **state)
{
	struct wire *wire = *state;

	rate_limit_init(&wire->rate_limit, RATE_LIMIT_RNIC_PACKETS_PER_S,
	    RATE_LIMIT_RNIC_BYTES_PER_S);
	while (wire->now.ns < 9 * RM_NS_PER_S)
		send_greedily(wire, 44, 0, 50 * US);
	expect_held(wire, false);
}

static void
large_packets_are_held_by_their_bytes(void **state)
{
	struct wire *wire = *state;

	rate_limit_init(&wire->rate_limit, RATE_LIMIT_RNIC_PACKETS_PER_S,
	    RATE_LIMIT_RNIC_BYTES_PER_S);
	while (wire->now.ns < 9 * RM_NS_PER_S)
		send_greedily(wire, RATE_LIMIT_LARGEST_BYTES, 0, 50 * US);
	expect_held(wire, true);
}

/* The kernel may stop the process for any time between the check and the send. */
static void
waiting_packets_do_not_leave_in_a_bunch(void **state)
{
	struct wire *wire = *state;
	uint64_t packets, bytes;

	rate_limit_init(&wire->rate_limit, RATE_LIMIT_HOST_PACKETS_PER_S,
	    RATE_LIMIT_HOST_BYTES_PER_S);
	while (wire->now.ns < 9 * RM_NS_PER_S) {
		int64_t hold_up = draw(wire, 50) == 0 ? (int64_t)draw(wire, 40) * MS
						      : (int64_t)draw(wire, 300) * US;

		send_greedily(wire, draw(wire, 2) ? 44 : 1472, hold_up,
		    (int64_t)draw(wire, 200) * US);
	}
	most_within(wire, RM_NS_PER_S, &packets, &bytes);
	assert_true(packets <= RATE_LIMIT_HOST_PACKETS_PER_S);
	assert_true(bytes <= RATE_LIMIT_HOST_BYTES_PER_S);
	assert_true(packets > RATE_LIMIT_HOST_PACKETS_PER_S / 10);
	most_within(wire, RATE_LIMIT_WINDOW_NS, &packets, &bytes);
	assert_true(
	    packets * RATE_LIMIT_WINDOWS_PER_RATE <= RATE_LIMIT_HOST_PACKETS_PER_S);
	assert_true(bytes * RATE_LIMIT_WINDOWS_PER_RATE <= RATE_LIMIT_HOST_BYTES_PER_S);
}

static void
unused_rate_is_kept_for_one_window_only(void **state)
{
	struct wire *wire = *state;
	uint64_t packets, bytes;

	rate_limit_init(&wire->rate_limit, RATE_LIMIT_RNIC_PACKETS_PER_S,
	    RATE_LIMIT_RNIC_BYTES_PER_S);
	for (int i = 0; i < 1000; i++)
		send_greedily(wire, 44, 0, 0);
	wire->now = rm_mono_add(wire->now, 3600 * RM_NS_PER_S);
	for (int i = 0; i < 1000; i++)
		send_greedily(wire, 44, 0, 0);
	most_within(wire, RATE_LIMIT_WINDOW_NS, &packets, &bytes);
	assert_in_range(packets, 200, 500);
}

static void
packets_may_leave_after_the_reported_wait(void **state)
{
	struct wire *wire = *state;
	int64_t wait;

	rate_limit_init(&wire->rate_limit, 1000, 1000000000);
	assert_int_equal(rate_limit_wait(&wire->rate_limit, wire->now), 0);
	while ((wait = rate_limit_wait(&wire->rate_limit, wire->now)) == 0)
		rate_limit_take(&wire->rate_limit, 100);
	rate_limit_left(&wire->rate_limit, wire->now);
	assert_in_range(wait, 1, 2 * MS);
	assert_int_not_equal(
	    rate_limit_wait(&wire->rate_limit, rm_mono_add(wire->now, wait - 1)), 0);
	assert_int_equal(
	    rate_limit_wait(&wire->rate_limit, rm_mono_add(wire->now, wait)), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(small_packets_are_held_by_their_number),
		TEST(large_packets_are_held_by_their_bytes),
		TEST(waiting_packets_do_not_leave_in_a_bunch),
		TEST(unused_rate_is_kept_for_one_window_only),
		TEST(packets_may_leave_after_the_reported_wait),
	};

	return cmocka_run_group_tests_name("ceiling", tests, NULL, NULL);
}
