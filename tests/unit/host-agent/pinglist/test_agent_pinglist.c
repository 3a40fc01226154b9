#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "host-agent/pinglist/pinglist.h"
#include "tests/support/arrivals.h"
#include "tests/support/pinglist_fixture.h"

struct fixture {
	struct wire_writer *writer;
	struct pinglist *tor_a, *tor_b;
};

static struct fixture fixture;

static int
setup(void **state)
{
	fixture.writer = wire_writer_new();
	*state = &fixture;
	return fixture.writer == NULL || pinglist_new("tor-a", &fixture.tor_a) < 0 ||
	       pinglist_new("tor-b", &fixture.tor_b) < 0;
}

static int
teardown(void **state)
{
	pinglist_free(fixture.tor_a);
	pinglist_free(fixture.tor_b);
	wire_writer_free(fixture.writer);
	return 0;
}

static const struct pinglist_pair pairs[] = {
	{ 1, 2, 1000 },
	{ 1, 3, 1000 },
	{ 9, 2, 1000 },
};

static enum pinglist_status
take(struct fixture *f, uint64_t version, uint32_t rotation, size_t count)
{
	struct wire_bytes bytes =
	    pinglist_write(f->writer, "tor-a", version, rotation, pairs, count);
	enum pinglist_status status;

	assert_int_equal(pinglist_arrival(f->tor_a, bytes.data, bytes.len,
			     (rm_mono_t){ 100 }, &status),
	    0);
	return status;
}

static void
the_newer_version_or_rotation_wins(void **state)
{
	assert_int_equal(take(*state, 5, 7, 1), PINGLIST_NEW);
	assert_int_equal(take(*state, 5, 7, 1), PINGLIST_SAME);
	assert_int_equal(take(*state, 5, 6, 1), PINGLIST_OLD);
	assert_int_equal(take(*state, 4, 9, 1), PINGLIST_OLD);
	assert_int_equal(take(*state, 5, 8, 1), PINGLIST_NEW);
	assert_int_equal(take(*state, 6, 0, 2), PINGLIST_NEW);
	assert_int_equal(pinglist_view(fixture.tor_a)->pinglist.version, 6);
	assert_int_equal(pinglist_view(fixture.tor_a)->pinglist.target_count, 2);
}

/* A further RNIC of the host has registered since: the plan has not changed, but
 * more of its targets belong to the host. */
static void
different_contents_under_the_same_version_are_new(void **state)
{
	assert_int_equal(take(*state, 5, 7, 1), PINGLIST_NEW);
	assert_int_equal(take(*state, 5, 7, 2), PINGLIST_NEW);
	assert_int_equal(pinglist_view(fixture.tor_a)->pinglist.target_count, 2);
	assert_int_equal(take(*state, 5, 7, 2), PINGLIST_SAME);
}

static void
a_taken_pinglist_does_not_need_the_senders_bytes(void **state)
{
	struct fixture *f = *state;
	struct wire_bytes bytes = pinglist_write(f->writer, "tor-a", 1, 0, pairs, 3);
	uint8_t *copy = malloc(bytes.len);
	struct wire_target target;
	enum pinglist_status status;

	memcpy(copy, bytes.data, bytes.len);
	assert_int_equal(
	    pinglist_arrival(f->tor_a, copy, bytes.len, (rm_mono_t){ 1 }, &status), 0);
	memset(copy, 0xff, bytes.len);
	free(copy);
	wire_pinglist_target(pinglist_view(f->tor_a), 1, &target);
	assert_int_equal(target.dst.guid, rnic_number(3).guid);
	assert_int_equal(pinglist_bytes(f->tor_a).len, bytes.len);
}

static void
damaged_pinglists_and_those_of_other_tors_change_nothing(void **state)
{
	struct fixture *f = *state;
	enum pinglist_status status;
	struct wire_bytes bytes;

	take(f, 1, 0, 2);
	bytes = pinglist_write(f->writer, "tor-b", 9, 0, pairs, 1);
	assert_int_equal(pinglist_arrival(f->tor_a, bytes.data, bytes.len,
			     (rm_mono_t){ 1 }, &status),
	    -ENOENT);
	assert_int_equal(pinglist_arrival(f->tor_a, bytes.data, bytes.len - 1,
			     (rm_mono_t){ 1 }, &status),
	    -EBADMSG);
	assert_int_equal(pinglist_view(f->tor_a)->pinglist.version, 1);
}

static void
an_unconfirmed_pinglist_slows_down_and_is_forgotten_in_the_end(void **state)
{
	struct fixture *f = *state;

	take(f, 1, 0, 1);
	assert_int_equal(pinglist_expire(f->tor_a, (rm_mono_t){ 100 }), PINGLIST_STAYS);
	pinglist_renew(f->tor_a, (rm_mono_t){ 200 });
	assert_int_equal(pinglist_expire(f->tor_a, (rm_mono_t){ 200 }), PINGLIST_STAYS);
	assert_false(pinglist_slow(f->tor_a));
	assert_int_equal(
	    pinglist_expire(f->tor_a, (rm_mono_t){ 201 }), PINGLIST_EXPIRES);
	assert_true(pinglist_slow(f->tor_a));
	assert_int_equal(pinglist_expire(f->tor_a, (rm_mono_t){ 202 }), PINGLIST_STAYS);
	pinglist_renew(f->tor_a, (rm_mono_t){ 300 });
	assert_int_equal(
	    pinglist_expire(f->tor_a, (rm_mono_t){ 203 }), PINGLIST_RECOVERS);
	assert_false(pinglist_slow(f->tor_a));

	assert_int_equal(
	    pinglist_expire(f->tor_a, (rm_mono_t){ 300 + PINGLIST_SLOW_NS }),
	    PINGLIST_EXPIRES);
	assert_non_null(pinglist_view(f->tor_a));
	assert_int_equal(
	    pinglist_expire(f->tor_a, (rm_mono_t){ 301 + PINGLIST_SLOW_NS }),
	    PINGLIST_ENDS);
	assert_null(pinglist_view(f->tor_a));
	assert_false(pinglist_slow(f->tor_a));
	assert_int_equal(
	    pinglist_expire(f->tor_a, (rm_mono_t){ 302 + PINGLIST_SLOW_NS }),
	    PINGLIST_STAYS);
	/* After the version was forgotten, any version is accepted. */
	assert_int_equal(take(f, 1, 0, 1), PINGLIST_NEW);
	/* A newer pinglist is never a slow one. */
	assert_int_equal(
	    pinglist_expire(f->tor_a, (rm_mono_t){ 101 }), PINGLIST_EXPIRES);
	assert_int_equal(take(f, 2, 0, 1), PINGLIST_NEW);
	assert_false(pinglist_slow(f->tor_a));
}

static struct pinglist_sum
sum_of(struct fixture *f, uint8_t rnic)
{
	const struct pinglist *lists[] = { f->tor_a, f->tor_b };
	struct pinglist_sum sum;

	assert_int_equal(pinglist_sum(lists, 2, rnic_number(rnic), &sum), 0);
	return sum;
}

static void
an_rnic_of_two_tors_probes_for_both_and_each_pair_once(void **state)
{
	static const struct pinglist_pair others[] = {
		{ 1, 3, 5000 },
		{ 1, 4, 5000 },
	};
	struct fixture *f = *state;
	enum pinglist_status status;
	struct pinglist_sum sum;
	struct wire_bytes bytes;

	take(f, 1, 0, 3);
	bytes = pinglist_write(f->writer, "tor-b", 1, 0, others, 2);
	pinglist_arrival(f->tor_b, bytes.data, bytes.len, (rm_mono_t){ 1 }, &status);

	sum = sum_of(f, 1);
	assert_true(sum.held);
	assert_int_equal(sum.target_count, 3);
	assert_int_equal(sum.targets[0].dst.guid, rnic_number(2).guid);
	assert_int_equal(sum.targets[1].dst.guid, rnic_number(3).guid);
	/* The interval of the first list. */
	assert_int_equal(sum.targets[1].interval_us, 1000);
	assert_int_equal(sum.targets[2].dst.guid, rnic_number(4).guid);
	assert_int_equal(sum.targets[2].flows[1], 50001);
	assert_int_equal(sum.peer_count, 5);
	pinglist_sum_clear(&sum);
}

static void
an_expired_pinglist_has_a_tenth_of_its_rate_and_lower_priority(void **state)
{
	static const struct pinglist_pair others[] = {
		{ 1, 3, 5000 },
		{ 1, 4, UINT32_MAX / 5 },
	};
	struct fixture *f = *state;
	enum pinglist_status status;
	struct pinglist_sum sum;
	struct wire_bytes bytes;

	take(f, 1, 0, 3);
	bytes = pinglist_write(f->writer, "tor-b", 1, 0, others, 2);
	pinglist_arrival(f->tor_b, bytes.data, bytes.len, (rm_mono_t){ 1000 }, &status);
	pinglist_expire(f->tor_a, (rm_mono_t){ 500 });
	pinglist_expire(f->tor_b, (rm_mono_t){ 500 });
	sum = sum_of(f, 1);
	assert_int_equal(sum.target_count, 3);
	assert_int_equal(sum.targets[0].dst.guid, rnic_number(3).guid);
	assert_int_equal(sum.targets[0].interval_us, 5000);
	assert_int_equal(sum.targets[1].dst.guid, rnic_number(4).guid);
	assert_int_equal(sum.targets[2].dst.guid, rnic_number(2).guid);
	assert_int_equal(sum.targets[2].interval_us, 10000);
	assert_int_equal(sum.peer_count, 5); /* the peers to answer are unchanged */
	pinglist_sum_clear(&sum);

	pinglist_expire(f->tor_b, (rm_mono_t){ 1001 });
	sum = sum_of(f, 1);
	assert_int_equal(sum.target_count, 3);
	assert_int_equal(sum.targets[2].interval_us, UINT32_MAX);
	pinglist_sum_clear(&sum);
}

static void
targets_of_other_hosts_are_ignored(void **state)
{
	struct pinglist_sum sum;

	take(*state, 1, 0, 3);
	sum = sum_of(*state, 7);
	assert_int_equal(sum.target_count, 0);
	assert_int_equal(sum.peer_count, 3);
	pinglist_sum_clear(&sum);
}

static void
without_any_pinglist_there_is_nothing_to_do(void **state)
{
	struct pinglist_sum sum = sum_of(*state, 1);

	assert_false(sum.held);
	assert_int_equal(sum.target_count, 0);
	assert_int_equal(sum.peer_count, 0);
	pinglist_sum_clear(&sum);
}

/* Puts count targets of RNIC 1 into both lists; the second list is in reverse order. */
static void
take_many(struct fixture *f, size_t count)
{
	static const uint16_t flows[] = { 50000 }, sizes[] = { 64 };
	static const uint8_t dscps[] = { 26 };
	struct pinglist *lists[] = { f->tor_a, f->tor_b };
	struct wire_target *targets = calloc(count, sizeof(*targets));
	enum pinglist_status status;

	assert_non_null(targets);
	for (size_t k = 0; k < 2; k++) {
		struct wire_pinglist pinglist = { .tor = pinglist_tor(lists[k]),
			.version = count,
			.targets = targets,
			.target_count = count };
		struct wire_bytes bytes;

		for (size_t i = 0; i < count; i++)
			targets[i] = (struct wire_target){ .src = rnic_number(1),
				.dst = { .guid = 1000 + (k == 0 ? i : count - i) },
				.kind = WIRE_TOR_MESH,
				.address = address_number(2, 862),
				.interval_us = 1000,
				.flows = flows,
				.flow_count = 1,
				.dscps = dscps,
				.dscp_count = 1,
				.sizes = sizes,
				.size_count = 1 };
		assert_int_equal(wire_write_pinglist(f->writer, &pinglist, &bytes), 0);
		assert_int_equal(pinglist_arrival(lists[k], bytes.data, bytes.len,
				     (rm_mono_t){ 100 }, &status),
		    0);
	}
	free(targets);
}

/* Returns CPU time, which other load on the machine does not change. */
static int64_t
sum_takes_ns(struct fixture *f, size_t count)
{
	int64_t least = INT64_MAX;

	take_many(f, count);
	for (int i = 0; i < 3; i++) {
		struct timespec from, to;
		struct pinglist_sum sum;
		int64_t took;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
		sum = sum_of(f, 1);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
		took = (to.tv_sec - from.tv_sec) * INT64_C(1000000000) + to.tv_nsec -
		       from.tv_nsec;
		least = took < least ? took : least;
		/* The second list has one target that the first one does not have. */
		assert_int_equal(sum.target_count, count + 1);
		assert_int_equal(sum.targets[count].dst.guid, 1000 + count);
		pinglist_sum_clear(&sum);
	}
	return least;
}

static void
eight_times_the_targets_cost_far_less_than_their_square(void **state)
{
	int64_t few = sum_takes_ns(*state, WIRE_MAX_TARGETS / 8);

	assert_true(sum_takes_ns(*state, WIRE_MAX_TARGETS) < 24 * few);
}

static void
each_kind_towards_the_same_rnic_is_a_target_of_its_own(void **state)
{
	static const uint16_t flows[] = { 50000 }, sizes[] = { 64 };
	static const uint8_t dscps[] = { 26 };
	struct fixture *f = *state;
	struct wire_target target = { .src = rnic_number(1),
		.dst = rnic_number(2),
		.kind = WIRE_WITNESS,
		.address = address_number(2, 862),
		.interval_us = 1000,
		.flows = flows,
		.flow_count = 1,
		.dscps = dscps,
		.dscp_count = 1,
		.sizes = sizes,
		.size_count = 1 };
	struct wire_pinglist pinglist = {
		.tor = "tor-b", .version = 1, .targets = &target, .target_count = 1
	};
	enum pinglist_status status;
	struct pinglist_sum sum;
	struct wire_bytes bytes;

	take(f, 1, 0, 1);
	assert_int_equal(wire_write_pinglist(f->writer, &pinglist, &bytes), 0);
	pinglist_arrival(f->tor_b, bytes.data, bytes.len, (rm_mono_t){ 1 }, &status);
	sum = sum_of(f, 1);
	assert_int_equal(sum.target_count, 2);
	assert_int_equal(sum.targets[1].kind, WIRE_WITNESS);
	pinglist_sum_clear(&sum);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_newer_version_or_rotation_wins),
		TEST(different_contents_under_the_same_version_are_new),
		TEST(a_taken_pinglist_does_not_need_the_senders_bytes),
		TEST(damaged_pinglists_and_those_of_other_tors_change_nothing),
		TEST(an_unconfirmed_pinglist_slows_down_and_is_forgotten_in_the_end),
		TEST(an_rnic_of_two_tors_probes_for_both_and_each_pair_once),
		TEST(eight_times_the_targets_cost_far_less_than_their_square),
		TEST(each_kind_towards_the_same_rnic_is_a_target_of_its_own),
		TEST(an_expired_pinglist_has_a_tenth_of_its_rate_and_lower_priority),
		TEST(targets_of_other_hosts_are_ignored),
		TEST(without_any_pinglist_there_is_nothing_to_do),
	};

	return cmocka_run_group_tests_name("pinglist", tests, NULL, NULL);
}
