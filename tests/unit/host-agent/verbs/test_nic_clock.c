/* Sequences of stamps of the kinds that real NICs produce. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "host-agent/verbs/nic_clock.h"

#define GHZ 1000000     /* kHz; one cycle is 1 ns */
#define CONNECTX 156250 /* kHz, of older ConnectX: one cycle is 6.4 ns */
#define START_NS (5000 * RM_NS_PER_S)
#define WALL_NS (INT64_C(1790000000) * RM_NS_PER_S)
#define MASK(bits) (UINT64_MAX >> (64 - (bits)))

/* A NIC with its own clock. */
struct nic {
	struct nic_clock *clock;
	/* Value of its counter when the host's clock was START_NS. */
	uint64_t khz, mask, first;
	int32_t ppb; /* how much faster than the host's clock */
};

static struct nic
nic_new(uint64_t khz, uint64_t mask, uint64_t first)
{
	struct nic nic = { NULL, khz, mask, first, 0 };

	assert_int_equal(nic_clock_new(khz, mask, &nic.clock), 0);
	return nic;
}

static struct nic_clock_reading
at(int64_t ns)
{
	return (struct nic_clock_reading){ { START_NS + ns }, { WALL_NS + ns } };
}

/* Returns the counter's value at this time. ns: since START_NS, by the host's clock. */
static uint64_t
counter(const struct nic *nic, int64_t ns)
{
	__int128 own = (__int128)ns + (__int128)ns * nic->ppb / 1000000000;

	return (nic->first + (uint64_t)(own * (int64_t)nic->khz / 1000000)) & nic->mask;
}

/* Converts the stamp of an event at `then` that is polled `later` ns later. */
static int
event_later(const struct nic *nic, int64_t then, int64_t later, int64_t *ret)
{
	const struct nic_clock_reading now = at(then + later);

	return nic_clock_stamp(nic->clock, counter(nic, then), &now, ret);
}

static int64_t
event(const struct nic *nic, int64_t then)
{
	int64_t ns = -1;

	assert_int_equal(event_later(nic, then, 20 * RM_NS_PER_US, &ns), 0);
	return ns;
}

static int
pair(const struct nic *nic, int64_t then)
{
	const struct nic_clock_reading after = at(then + 1000);

	return nic_clock_pair(nic->clock, counter(nic, then),
	    (rm_mono_t){ START_NS + then - 1000 }, &after);
}

static void
cycles_become_nanoseconds(void **state)
{
	struct nic nic = nic_new(CONNECTX, MASK(48), 123456789);
	int64_t start = event(&nic, 0);

	assert_int_equal(nic_clock_format(nic.clock), NIC_CLOCK_CYCLES);
	for (int64_t us = 1; us < 3 * RM_NS_PER_MS; us += 997) {
		int64_t off = event(&nic, us * 1000) - start - us * 1000;

		assert_true(off <= 0 && off >= -7); /* one cycle */
	}
	nic_clock_free(nic.clock);
}

/* With 6.4 ns a cycle, the rounding errors of an hour must not add up. */
static void
nothing_is_lost_to_rounding(void **state)
{
	struct nic nic = nic_new(CONNECTX, MASK(48), 0);
	int64_t start = event(&nic, 6400), ns = 0;

	for (int64_t i = 1; i <= 3600; i++)
		ns = event(&nic, 6400 + i * (RM_NS_PER_S + 3));
	assert_true(llabs(ns - start - 3600 * (RM_NS_PER_S + 3)) <= 7);
	nic_clock_free(nic.clock);
}

static void
a_zero_stamp_is_missing_and_not_the_year_1970(void **state)
{
	struct nic nic = nic_new(GHZ, MASK(48), 1000);
	const struct nic_clock_reading now = at(10);
	int64_t ns = 77;

	assert_int_equal(nic_clock_stamp(nic.clock, 0, &now, &ns), -ENODATA);
	(void)event(&nic, 0);
	assert_int_equal(nic_clock_stamp(nic.clock, 0, &now, &ns), -ENODATA);
	assert_int_equal(nic_clock_pair(nic.clock, 0, now.mono, &now), -ENODATA);
	assert_int_equal(ns, 77);
	assert_int_equal(nic_clock_counts(nic.clock)->missing, 3);
	assert_int_equal(nic_clock_counts(nic.clock)->jumps, 0);
	nic_clock_free(nic.clock);
}

static void
a_stamp_from_before_the_last_one_is_no_wrap(void **state)
{
	const unsigned bits[] = { 32, 48, 63, 64 };

	for (size_t i = 0; i < 4; i++) {
		struct nic nic = nic_new(GHZ, MASK(bits[i]), 50 * RM_NS_PER_MS);
		int64_t later = event(&nic, 5 * RM_NS_PER_MS), earlier = 0;

		assert_int_equal(
		    event_later(&nic, 2 * RM_NS_PER_MS, 3 * RM_NS_PER_MS, &earlier), 0);
		assert_int_equal(later - earlier, 3 * RM_NS_PER_MS);
		assert_int_equal(nic_clock_counts(nic.clock)->backward, 1);
		/* An event before the first one. */
		assert_int_equal(
		    event_later(&nic, -RM_NS_PER_MS, 6 * RM_NS_PER_MS, &earlier), 0);
		assert_int_equal(later - earlier, 6 * RM_NS_PER_MS);
		assert_int_equal(nic_clock_counts(nic.clock)->jumps, 0);
		nic_clock_free(nic.clock);
	}
}

static void
a_counter_wraps_at_its_mask(void **state)
{
	const unsigned bits[] = { 32, 48, 63, 64 };

	for (size_t i = 0; i < 4; i++) {
		struct nic nic = nic_new(GHZ, MASK(bits[i]), MASK(bits[i]) - 1000000);
		int64_t before = event(&nic, 900000), after, late = 0;

		after = event(&nic, 1100000);
		assert_true(counter(&nic, 1100000) < counter(&nic, 900000));
		assert_int_equal(after - before, 200000);
		/* A stamp from before the wrap that is read after it. */
		assert_int_equal(event_later(&nic, 950000, 200000, &late), 0);
		assert_int_equal(late - before, 50000);
		assert_int_equal(nic_clock_counts(nic.clock)->jumps, 0);
		nic_clock_free(nic.clock);
	}
}

static void
a_counter_may_wrap_any_number_of_times(void **state)
{
	struct nic nic = nic_new(GHZ, MASK(32), 4000000000);
	int64_t start = event(&nic, 0);

	/* The counter wraps every 4.29 s. Steps of 3 s, then a pause of many wraps. */
	for (int64_t s = 1; s < 200; s += 3)
		assert_int_equal(event(&nic, s * RM_NS_PER_S) - start, s * RM_NS_PER_S);
	assert_int_equal(event(&nic, 290 * RM_NS_PER_S) - start, 290 * RM_NS_PER_S);
	assert_int_equal(nic_clock_counts(nic.clock)->jumps, 0);
	nic_clock_free(nic.clock);
}

/* After the pause the number of wraps is not known. No packet in flight is that old. */
static void
after_a_very_long_pause_stamps_continue(void **state)
{
	const int64_t pause = 72000 * RM_NS_PER_S + 123;
	struct nic nic = nic_new(GHZ, MASK(32), 77);
	int64_t start;

	nic.ppb = 90000; /* the drift over the pause is one and a half wraps */
	(void)event(&nic, 0);
	start = event(&nic, pause);
	assert_true(llabs(event(&nic, pause + RM_NS_PER_S) - start - RM_NS_PER_S) <
		    100 * RM_NS_PER_US);
	assert_int_equal(nic_clock_counts(nic.clock)->jumps, 0);
	nic_clock_free(nic.clock);
}

/* An old pair alone would give a number of wraps that is wrong by one at the end. */
static void
without_further_pairs_stamps_continue(void **state)
{
	struct nic nic = nic_new(GHZ, MASK(32), 77);
	int64_t last;

	nic.ppb = 400000;
	assert_int_equal(pair(&nic, 1), 0);
	last = event(&nic, 1000);
	for (int64_t s = 1; s < 12000; s++) {
		int64_t ns = event(&nic, s * RM_NS_PER_S);

		assert_true(llabs(ns - last - RM_NS_PER_S) < RM_NS_PER_MS);
		last = ns;
	}
	assert_int_equal(nic_clock_counts(nic.clock)->jumps, 0);
	nic_clock_free(nic.clock);
}

static void
clocks_that_drift_apart_do_not_jump(void **state)
{
	struct nic nic = nic_new(GHZ, MASK(48), 77);

	nic.ppb = 100000; /* 3 ms of drift between two pairs */
	for (int64_t s = 0; s < 600; s += 30) {
		assert_int_equal(pair(&nic, s * RM_NS_PER_S), 0);
		(void)event(&nic, (s + 29) * RM_NS_PER_S);
	}
	assert_int_equal(nic_clock_counts(nic.clock)->jumps, 0);
	nic_clock_free(nic.clock);
}

static void
a_negative_difference_stays_negative(void **state)
{
	struct nic nic = nic_new(GHZ, MASK(32), MASK(32) - 5000);
	/* The difference is correct over the wrap. */
	int64_t t3 = event(&nic, 10000), t4 = event(&nic, 4000);

	assert_int_equal(t4 - t3, -6000); /* and not a whole wrap minus that */
	assert_int_equal(nic_clock_counts(nic.clock)->jumps, 0);
	nic_clock_free(nic.clock);
}

static void
check_distrust(const struct nic *nic, int64_t from)
{
	int64_t ns = 77, start;

	assert_false(nic_clock_is_trusted(nic->clock, at(from).mono));
	assert_int_equal(event_later(nic, from + RM_NS_PER_S, 1000, &ns), -ESTALE);
	assert_int_equal(event_later(nic, from + 4 * RM_NS_PER_S, 1000, &ns), -ESTALE);
	assert_int_equal(ns, 77);
	assert_int_equal(nic_clock_counts(nic->clock)->jumps, 1);
	assert_int_equal(nic_clock_counts(nic->clock)->untrusted, 3);
	start = event(nic, from + 6 * RM_NS_PER_S);
	assert_int_equal(event(nic, from + 7 * RM_NS_PER_S) - start, RM_NS_PER_S);
	assert_true(nic_clock_is_trusted(nic->clock, at(from + 7 * RM_NS_PER_S).mono));
}

static void
after_a_jump_the_clock_is_not_used_for_a_while(void **state)
{
	const int64_t jumps[] = { 3 * RM_NS_PER_S, -3 * RM_NS_PER_S,
		1000000 * RM_NS_PER_S, -1000000 * RM_NS_PER_S };

	for (size_t i = 0; i < 4; i++) {
		struct nic nic = nic_new(GHZ, MASK(64), UINT64_C(1) << 60);
		int64_t ns;

		(void)event(&nic, 0);
		(void)event(&nic, RM_NS_PER_S);
		nic.first += (uint64_t)jumps[i];
		assert_int_equal(
		    event_later(&nic, 2 * RM_NS_PER_S, 1000, &ns), -ESTALE);
		check_distrust(&nic, 2 * RM_NS_PER_S);
		nic_clock_free(nic.clock);
	}
}

static void
jumps_of_a_short_counter_are_detected_too(void **state)
{
	struct nic nic = nic_new(GHZ, MASK(32), 0);
	int64_t ns;

	(void)event(&nic, 1);
	nic.first += 1500 * RM_NS_PER_MS;
	assert_int_equal(event_later(&nic, RM_NS_PER_S, 1000, &ns), -ESTALE);
	check_distrust(&nic, RM_NS_PER_S);
	nic_clock_free(nic.clock);
}

static void
small_jumps_are_detected_by_pairs(void **state)
{
	struct nic nic = nic_new(GHZ, MASK(48), 123);
	int64_t ns;

	/* Without pairs a stamp may be as late as the host's reading. */
	(void)event(&nic, 0);
	nic.first += 5 * RM_NS_PER_MS;
	(void)event(&nic, RM_NS_PER_S);
	nic_clock_free(nic.clock);

	nic = nic_new(GHZ, MASK(48), 123);
	assert_int_equal(pair(&nic, 0), 0);
	(void)event(&nic, 1000);
	assert_int_equal(pair(&nic, RM_NS_PER_S), 0);
	nic.first += 5 * RM_NS_PER_MS;
	assert_int_equal(event_later(&nic, 2 * RM_NS_PER_S, 1000, &ns),
	    -ESTALE); /* the new offset is not trusted yet */
	check_distrust(&nic, 2 * RM_NS_PER_S);
	nic_clock_free(nic.clock);

	nic = nic_new(GHZ, MASK(48), 123);
	assert_int_equal(pair(&nic, 0), 0);
	nic.first -= 5 * RM_NS_PER_MS;
	assert_int_equal(pair(&nic, RM_NS_PER_S), -ESTALE);
	nic_clock_free(nic.clock);
}

static void
a_stall_of_the_host_is_no_jump(void **state)
{
	struct nic nic = nic_new(GHZ, MASK(48), 123);
	int64_t first = 0, second = 0;

	assert_int_equal(pair(&nic, 0), 0);
	assert_int_equal(event_later(&nic, 1000, 1500 * RM_NS_PER_MS, &first), 0);
	assert_int_equal(
	    event_later(&nic, RM_NS_PER_S, 500 * RM_NS_PER_MS, &second), 0);
	assert_int_equal(second - first, RM_NS_PER_S - 1000);
	nic_clock_free(nic.clock);

	/* The same without pairs, whichever event was read late. */
	nic = nic_new(GHZ, MASK(48), 123);
	assert_int_equal(event_later(&nic, 0, 1500 * RM_NS_PER_MS, &first), 0);
	assert_int_equal(event_later(&nic, 2 * RM_NS_PER_S, 0, &second), 0);
	assert_int_equal(second - first, 2 * RM_NS_PER_S);
	assert_int_equal(pair(&nic, 3 * RM_NS_PER_S), 0);
	assert_int_equal(nic_clock_counts(nic.clock)->jumps, 0);
	nic_clock_free(nic.clock);
}

static void
drift_is_measured_and_too_much_of_it_is_a_jump(void **state)
{
	struct nic nic = nic_new(GHZ, MASK(48), 123);

	nic.ppb = -80000;
	for (int64_t s = 0; s <= 100; s++)
		assert_int_equal(pair(&nic, s * RM_NS_PER_S), 0);
	assert_in_range(-nic_clock_drift_ppb(nic.clock), 79000, 81000);
	nic.first += (uint64_t)(100 * 80000) - (uint64_t)(100 * 5000000);
	nic.ppb = 5000000; /* 5 ms in one second */
	assert_int_equal(pair(&nic, 102 * RM_NS_PER_S), -ESTALE);
	assert_int_equal(nic_clock_counts(nic.clock)->jumps, 1);
	nic_clock_free(nic.clock);
}

static void
a_pair_that_took_too_long_is_not_used(void **state)
{
	struct nic nic = nic_new(GHZ, MASK(48), 123);
	struct nic_clock_reading after = at(5 * RM_NS_PER_MS);
	rm_mono_t before = at(0).mono;

	assert_int_equal(nic_clock_pair(nic.clock, 5, before, &after), -EAGAIN);
	assert_int_equal(nic_clock_pair(nic.clock, 5, after.mono,
			     &(struct nic_clock_reading){ before, { 0 } }),
	    -EAGAIN);
	assert_int_equal(nic_clock_counts(nic.clock)->imprecise, 2);
	assert_int_equal(nic_clock_format(nic.clock), 0);
	nic_clock_free(nic.clock);
}

/* The stamp of a NIC in real-time format (seconds and nanoseconds), whose clock is
 * off by this much. */
static uint64_t
real_time(int64_t ns, int64_t off)
{
	uint64_t wall = (uint64_t)(WALL_NS + ns + off);

	return wall / RM_NS_PER_S << 32 | wall % RM_NS_PER_S;
}

static int
real_event(struct nic_clock *clock, int64_t ns, int64_t off, int64_t *ret)
{
	const struct nic_clock_reading now = at(ns + 1000);

	return nic_clock_stamp(clock, real_time(ns, off), &now, ret);
}

static void
the_real_time_format_is_recognized(void **state)
{
	const int64_t offs[] = { 0, 37 * RM_NS_PER_S, -3600 * RM_NS_PER_S };

	for (size_t i = 0; i < 3; i++) { /* 0, TAI, a wrong time zone */
		struct nic nic = nic_new(GHZ, MASK(63), 0);
		int64_t first = 0, second = 0;

		assert_int_equal(real_event(nic.clock, 999999000, offs[i], &first), 0);
		assert_int_equal(nic_clock_format(nic.clock), NIC_CLOCK_REAL_TIME);
		assert_int_equal(first, WALL_NS + 999999000 + offs[i]);
		/* The stamp continues into the next second. */
		assert_int_equal(
		    real_event(nic.clock, 1000002000, offs[i], &second), 0);
		assert_int_equal(second - first, 3000);
		nic_clock_free(nic.clock);
	}
}

static void
a_real_time_clock_that_was_set_is_a_jump(void **state)
{
	struct nic nic = nic_new(GHZ, MASK(64), 0);
	int64_t ns, later;

	assert_int_equal(real_event(nic.clock, 0, 0, &ns), 0);
	assert_int_equal(
	    real_event(nic.clock, RM_NS_PER_S, 37 * RM_NS_PER_S, &ns), -ESTALE);
	assert_int_equal(
	    real_event(nic.clock, 7 * RM_NS_PER_S, 37 * RM_NS_PER_S, &ns), 0);
	assert_int_equal(
	    real_event(nic.clock, 8 * RM_NS_PER_S, 37 * RM_NS_PER_S, &later), 0);
	assert_int_equal(later - ns, RM_NS_PER_S);
	assert_int_equal(nic_clock_counts(nic.clock)->jumps, 1);
	nic_clock_free(nic.clock);
}

static void
more_than_a_second_of_nanoseconds_is_impossible(void **state)
{
	struct nic nic = nic_new(GHZ, MASK(64), 0);
	const struct nic_clock_reading now = at(RM_NS_PER_S);
	int64_t ns;

	assert_int_equal(real_event(nic.clock, 0, 0, &ns), 0);
	assert_int_equal(nic_clock_stamp(nic.clock,
			     real_time(RM_NS_PER_S, 0) | 0xf0000000, &now, &ns),
	    -ESTALE);
	/* Good stamps make the clock trusted again after a while. */
	assert_int_equal(real_event(nic.clock, 2 * RM_NS_PER_S, 0, &ns), -ESTALE);
	assert_int_equal(nic_clock_format(nic.clock), NIC_CLOCK_REAL_TIME);
	assert_int_equal(real_event(nic.clock, 8 * RM_NS_PER_S, 0, &ns), 0);
	assert_int_equal(ns, WALL_NS + 8 * RM_NS_PER_S);
	nic_clock_free(nic.clock);
}

static void
a_real_time_clock_far_off_is_never_used(void **state)
{
	const int64_t off = -100000 * RM_NS_PER_S - WALL_NS / 2;
	struct nic nic = nic_new(GHZ, MASK(64), 0);
	int64_t ns;
	int trusted = 0;

	for (int64_t i = 0; i < 300; i++)
		trusted += real_event(nic.clock, i * 100 * RM_NS_PER_MS, off, &ns) == 0;
	/* Until the format is recognized: one second is 2^32 in this format. */
	assert_in_range(trusted, 1, 20);
	nic_clock_free(nic.clock);
}

static void
wall_clock_completions_pass_through(void **state)
{
	const struct nic_clock_reading now = at(2000), later = at(7 * RM_NS_PER_S);
	struct nic_clock *clock;
	int64_t ns = 0;

	assert_int_equal(nic_clock_new_wall(&clock), 0);
	assert_int_equal(nic_clock_stamp(clock, UINT64_MAX, &now, &ns), -ESTALE);
	assert_int_equal(nic_clock_format(clock), 0);
	assert_int_equal(
	    nic_clock_stamp(clock, WALL_NS + 7 * RM_NS_PER_S, &later, &ns), 0);
	assert_int_equal(ns, WALL_NS + 7 * RM_NS_PER_S);
	assert_int_equal(nic_clock_format(clock), NIC_CLOCK_WALL);
	assert_int_equal(nic_clock_stamp(clock, 0, &later, &ns), -ENODATA);
	assert_int_equal(nic_clock_stamp(clock, UINT64_MAX, &later, &ns), -ESTALE);
	assert_int_equal(
	    nic_clock_pair(clock, WALL_NS, later.mono, &later), -EOPNOTSUPP);
	nic_clock_free(clock);
}

static void
unusable_clock_parameters_are_refused(void **state)
{
	struct nic_clock *clock = NULL;

	assert_int_equal(nic_clock_new(0, MASK(64), &clock), -EOPNOTSUPP);
	assert_int_equal(nic_clock_new(GHZ, 0, &clock), -EOPNOTSUPP);
	assert_int_equal(nic_clock_new(GHZ, 0xff00, &clock), -EOPNOTSUPP);
	assert_int_equal(nic_clock_new(GHZ, MASK(20), &clock), -EOPNOTSUPP);
	assert_int_equal(nic_clock_new(UINT64_MAX, MASK(64), &clock), -EOPNOTSUPP);
	assert_null(clock);
	nic_clock_free(NULL);
}

/* For any counter, with late and unordered reads, each difference is true within the
 * drift of the two clocks. A run can be repeated by its seed. */
static void
differences_are_true_whatever_the_order(void **state)
{
	const unsigned bits[] = { 32, 40, 48, 63, 64 };
	const uint64_t khz[] = { CONNECTX, 276000, GHZ };
	uint64_t backward = 0;
	unsigned seed = 7;

	for (int round = 0; round < 60; round++) {
		uint64_t mask = MASK(bits[round % 5]);
		struct nic nic =
		    nic_new(khz[round % 3], mask, mask - 1000000u * (unsigned)round);
		int64_t ns = RM_NS_PER_MS, start, then = 0;

		nic.ppb = (rand_r(&seed) % 200 - 100) * 1000;
		start = event(&nic, 0);
		for (int i = 0; i < 500; i++) {
			int64_t got = 0, off;

			ns += rand_r(&seed) % (i % 50 == 0 ? 1000000000 : 3000000);
			then = ns - rand_r(&seed) % 800000;
			assert_int_equal(event_later(&nic, then, ns - then, &got), 0);
			off = got - start - then - then / 1000 * nic.ppb / 1000000;
			assert_true(llabs(off) < 20);
			if (round % 2 == 0 && i % 10 == 0)
				assert_int_equal(pair(&nic, ns + 1000), 0);
		}
		assert_int_equal(nic_clock_counts(nic.clock)->jumps, 0);
		backward += nic_clock_counts(nic.clock)->backward;
		nic_clock_free(nic.clock);
	}
	assert_true(backward > 1000);
}

/* No value that a NIC returns causes an overflow (sanitizers check this) or is
 * trusted for long. */
static void
arbitrary_stamps_are_handled(void **state)
{
	unsigned seed = 3;

	for (int round = 0; round < 20; round++) {
		struct nic_clock *clock = NULL;
		int64_t ns, now_ns = 0;

		if (round % 4 == 0)
			assert_int_equal(nic_clock_new_wall(&clock), 0);
		else
			assert_int_equal(nic_clock_new(round % 4 == 1 ? 1000 : 10000000,
					     MASK(round < 10 ? 64 : 40), &clock),
			    0);
		for (int i = 0; i < 2000; i++) {
			uint64_t raw = (uint64_t)rand_r(&seed) << 33 ^
				       (uint64_t)rand_r(&seed) << 16 ^
				       (uint64_t)rand_r(&seed);
			struct nic_clock_reading now;

			now_ns += rand_r(&seed) % 100000000;
			now = at(now_ns);
			if (i % 100 == 0)
				raw = UINT64_MAX - (unsigned)i % 7;
			(void)nic_clock_stamp(clock, raw, &now, &ns);
			(void)nic_clock_pair(clock, raw ^ (unsigned)i, now.mono, &now);
		}
		assert_true(nic_clock_counts(clock)->jumps > 1000);
		nic_clock_free(clock);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cycles_become_nanoseconds),
		cmocka_unit_test(nothing_is_lost_to_rounding),
		cmocka_unit_test(a_zero_stamp_is_missing_and_not_the_year_1970),
		cmocka_unit_test(a_stamp_from_before_the_last_one_is_no_wrap),
		cmocka_unit_test(a_counter_wraps_at_its_mask),
		cmocka_unit_test(a_counter_may_wrap_any_number_of_times),
		cmocka_unit_test(after_a_very_long_pause_stamps_continue),
		cmocka_unit_test(without_further_pairs_stamps_continue),
		cmocka_unit_test(clocks_that_drift_apart_do_not_jump),
		cmocka_unit_test(a_negative_difference_stays_negative),
		cmocka_unit_test(after_a_jump_the_clock_is_not_used_for_a_while),
		cmocka_unit_test(jumps_of_a_short_counter_are_detected_too),
		cmocka_unit_test(small_jumps_are_detected_by_pairs),
		cmocka_unit_test(a_stall_of_the_host_is_no_jump),
		cmocka_unit_test(drift_is_measured_and_too_much_of_it_is_a_jump),
		cmocka_unit_test(a_pair_that_took_too_long_is_not_used),
		cmocka_unit_test(the_real_time_format_is_recognized),
		cmocka_unit_test(a_real_time_clock_that_was_set_is_a_jump),
		cmocka_unit_test(more_than_a_second_of_nanoseconds_is_impossible),
		cmocka_unit_test(a_real_time_clock_far_off_is_never_used),
		cmocka_unit_test(wall_clock_completions_pass_through),
		cmocka_unit_test(unusable_clock_parameters_are_refused),
		cmocka_unit_test(differences_are_true_whatever_the_order),
		cmocka_unit_test(arbitrary_stamps_are_handled),
	};

	return cmocka_run_group_tests_name("nic_clock", tests, NULL, NULL);
}
