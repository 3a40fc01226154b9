#include "host-agent/verbs/nic_clock.h"

#include <errno.h>
#include <stdlib.h>

/* Clocks of devices differ by some 100 ppm at most, and NTP slows or speeds up the
 * host's clock by up to 500 ppm. */
#define DRIFT_PPM 1000
#define PAIR_SLACK_NS RM_NS_PER_MS
#define PAIR_TAKES_NS (200 * RM_NS_PER_US)
#define PAIR_LASTS_NS (60 * RM_NS_PER_S)
/* The least time between two pairs from which the drift is computed; over shorter times
 * it is too imprecise. */
#define DRIFT_OVER_NS (100 * RM_NS_PER_MS)

/* This time is longer than any probe is in flight, so no probe has one stamp from
 * before a jump and one from after it. */
#define UNTRUSTED_NS (5 * RM_NS_PER_S)

#define MIN_KHZ 1000
#define MAX_KHZ 10000000
#define MIN_PERIOD_NS RM_NS_PER_S
/* A clock that shows seconds << 32 needs at least these bits. */
#define REAL_TIME_MASK (UINT64_MAX >> 2)
#define REAL_TIME_WITHIN_S 86400
/* the year 2116; a sum of two such times does not overflow */
#define WALL_MAX (INT64_MAX / 2)

typedef __int128 wide;

struct reference { /* a time of the device, and the host's time when it was read */
	int64_t ns;
	rm_mono_t at;
};

struct nic_clock {
	enum nic_clock_format format; /* 0: none yet */
	bool wall;
	uint64_t khz, mask;
	wide period_ns; /* of the counter */

	uint64_t base_raw; /* the raw value from which cycles are counted */
	int64_t base_ns;
	wide base_rest; /* the fraction of base_ns, in units of 1 / khz ns */

	struct reference newest; /* newest stamp */
	struct reference pair;
	bool paired;
	int32_t drift_ppb;
	rm_mono_t untrusted_until;
	struct nic_clock_counts counts;
};

static int
clock_new(bool wall, uint64_t khz, uint64_t mask, struct nic_clock **ret)
{
	struct nic_clock *clock = calloc(1, sizeof(*clock));

	if (clock == NULL)
		return -ENOMEM;
	clock->wall = wall;
	clock->khz = khz;
	clock->mask = mask;
	clock->period_ns = ((wide)mask + 1) * 1000000 / (wide)khz;
	*ret = clock;
	return 0;
}

int
nic_clock_new(uint64_t core_clock_khz, uint64_t mask, struct nic_clock **ret)
{
	/* The mask must have all its bits at the low end. A virtual function may report
	 * 0 for the clock or the mask. */
	if (core_clock_khz < MIN_KHZ || core_clock_khz > MAX_KHZ ||
	    (mask & (mask + 1)) != 0 ||
	    ((wide)mask + 1) * 1000000 / (wide)core_clock_khz < MIN_PERIOD_NS)
		return -EOPNOTSUPP;
	return clock_new(false, core_clock_khz, mask, ret);
}

int
nic_clock_new_wall(struct nic_clock **ret)
{
	return clock_new(true, 1000000, UINT64_MAX, ret);
}

void
nic_clock_free(struct nic_clock *clock)
{
	free(clock);
}

static int64_t
real_time_ns(uint64_t raw)
{
	return (int64_t)(raw >> 32) * RM_NS_PER_S + (int64_t)(raw & UINT32_MAX);
}

/* A counter of cycles would reach such a value only after centuries. */
static bool
is_real_time(const struct nic_clock *clock, uint64_t raw, rm_wall_t wall)
{
	int64_t off_s = (int64_t)(raw >> 32) - wall.ns / RM_NS_PER_S;

	return clock->mask >= REAL_TIME_MASK && (raw & UINT32_MAX) < RM_NS_PER_S &&
	       off_s >= -REAL_TIME_WITHIN_S && off_s <= REAL_TIME_WITHIN_S;
}

static enum nic_clock_format
format_of(
    const struct nic_clock *clock, uint64_t raw, const struct nic_clock_reading *now)
{
	if (clock->wall)
		return NIC_CLOCK_WALL;
	return is_real_time(clock, raw, now->wall) ? NIC_CLOCK_REAL_TIME
						   : NIC_CLOCK_CYCLES;
}

/* True: raw is possible in the format of this clock. */
static bool
is_sane(const struct nic_clock *clock, uint64_t raw)
{
	if (clock->wall)
		return raw <= WALL_MAX;
	return clock->format != NIC_CLOCK_REAL_TIME || (raw & UINT32_MAX) < RM_NS_PER_S;
}

/* Returns the number of cycles since the base. The counter wraps, so many numbers are
 * possible: the result is the one nearest to the expected time. So a stamp that was
 * read late is not taken for a wrap. */
static wide
cycles_since_base(const struct nic_clock *clock, uint64_t raw, int64_t expected_ns)
{
	wide period = (wide)clock->mask + 1;
	wide expected =
	    ((wide)expected_ns - clock->base_ns) * (wide)clock->khz / 1000000;
	wide off = ((wide)(raw - clock->base_raw) - expected) % period;

	if (off < 0)
		off += period;
	if (off > period / 2)
		off -= period;
	return expected + off;
}

static wide
to_ns(const struct nic_clock *clock, uint64_t raw, int64_t expected_ns)
{
	wide cycles;

	if (clock->format == NIC_CLOCK_WALL)
		return (wide)raw;
	if (clock->format == NIC_CLOCK_REAL_TIME)
		return real_time_ns(raw);
	cycles = cycles_since_base(clock, raw, expected_ns);
	return clock->base_ns +
	       (cycles * 1000000 + clock->base_rest) / (wide)clock->khz;
}

/* Moves the base forward without loss: the fraction of a ns stays in base_rest. */
static void
move_base(struct nic_clock *clock, uint64_t raw, int64_t ns)
{
	wide scaled;

	if (clock->format != NIC_CLOCK_CYCLES || ns - clock->base_ns < RM_NS_PER_S)
		return;
	scaled = cycles_since_base(clock, raw, ns) * 1000000 + clock->base_rest;
	clock->base_raw = raw & clock->mask;
	clock->base_ns += (int64_t)(scaled / (wide)clock->khz);
	clock->base_rest = scaled % (wide)clock->khz;
}

/* Starts again with the first stamp, or with a stamp that did not fit. ns: the time
 * that this stamp gets, if the clock counts cycles. */
static void
begin(struct nic_clock *clock, uint64_t raw, int64_t ns,
    const struct nic_clock_reading *now)
{
	clock->format = format_of(clock, raw, now);
	clock->base_raw = raw & clock->mask;
	clock->base_ns = ns;
	clock->base_rest = 0;
	if (clock->format == NIC_CLOCK_REAL_TIME)
		ns = real_time_ns(raw);
	else if (clock->format == NIC_CLOCK_WALL)
		ns = (int64_t)raw;
	clock->newest = (struct reference){ ns, now->mono };
	clock->paired = false;
	clock->drift_ppb = 0;
}

static int64_t
expected_at(const struct reference *reference, rm_mono_t now)
{
	return reference->ns + rm_mono_since(now, reference->at);
}

static int64_t
slack_after(const struct reference *reference, rm_mono_t now)
{
	int64_t gap = rm_mono_since(now, reference->at);

	return (gap < 0 ? -gap : gap) / (1000000 / DRIFT_PPM);
}

/* Returns the most ns by which a stamp may be late, even on a slow host: less than half
 * a period of the counter, because beyond that a late stamp could be taken for an early
 * one. */
static int64_t
late_allowed(const struct nic_clock *clock)
{
	wide quarter = clock->period_ns / 4;

	return quarter < NIC_CLOCK_LATE_NS ? (int64_t)quarter : NIC_CLOCK_LATE_NS;
}

/* True: the clock was taken for a counter of cycles and shows real time, or the value
 * is not possible. */
static bool
is_of_another_format(
    const struct nic_clock *clock, uint64_t raw, const struct nic_clock_reading *now)
{
	return !is_sane(clock, raw) || (clock->format == NIC_CLOCK_CYCLES &&
					   is_real_time(clock, raw, now->wall));
}

static int
distrust(struct nic_clock *clock, uint64_t raw, int64_t expected_ns,
    const struct nic_clock_reading *now)
{
	clock->counts.jumps++;
	clock->counts.untrusted++;
	clock->untrusted_until = rm_mono_add(now->mono, UNTRUSTED_NS);
	if (is_sane(clock, raw))
		begin(clock, raw, expected_ns, now);
	return -ESTALE;
}

static int
answer(struct nic_clock *clock, int64_t ns, rm_mono_t now, int64_t *ret)
{
	if (!nic_clock_is_trusted(clock, now)) {
		clock->counts.untrusted++;
		return -ESTALE;
	}
	clock->counts.converted++;
	*ret = ns;
	return 0;
}

/* Handles the first stamp. Cycles begin at the host's time, which is far from an
 * overflow. */
static int
first_stamp(struct nic_clock *clock, uint64_t raw, const struct nic_clock_reading *now)
{
	if (!is_sane(clock, raw))
		return distrust(clock, raw, 0, now);
	begin(clock, raw, now->mono.ns, now);
	return 0;
}

int
nic_clock_stamp(struct nic_clock *clock, uint64_t raw,
    const struct nic_clock_reading *now, int64_t *ret)
{
	const struct reference *reference =
	    clock->paired ? &clock->pair : &clock->newest;
	int64_t late = late_allowed(clock), early = late, expected, slack;
	wide ns;
	int r;

	if (raw == 0) {
		clock->counts.missing++;
		return -ENODATA;
	}
	if (clock->format == 0) {
		r = first_stamp(clock, raw, now);
		return r < 0 ? r : answer(clock, clock->newest.ns, now->mono, ret);
	}
	if (clock->paired && rm_mono_since(now->mono, clock->pair.at) > PAIR_LASTS_NS)
		reference = &clock->newest;
	else if (clock->paired)
		early = PAIR_SLACK_NS;
	expected = expected_at(reference, now->mono);
	slack = slack_after(reference, now->mono);
	ns = to_ns(clock, raw, expected);
	if (is_of_another_format(clock, raw, now) ||
	    ns < (wide)expected - late - slack || ns > (wide)expected + early + slack)
		return distrust(clock, raw, expected, now);
	if (ns >= clock->newest.ns) {
		clock->newest = (struct reference){ (int64_t)ns, now->mono };
		move_base(clock, raw, (int64_t)ns);
	} else {
		clock->counts.backward++;
	}
	return answer(clock, (int64_t)ns, now->mono, ret);
}

/* True: the clock differs from the expected value by no more than is plausible. If the
 * expected value comes from a pair, that is little in either direction; if it comes
 * from a completion, the clock may be later, since a completion is old when it is
 * polled. */
static bool
pair_is_plausible(const struct nic_clock *clock, wide off, int64_t slack)
{
	int64_t later = clock->paired ? PAIR_SLACK_NS : late_allowed(clock);

	return off >= -(PAIR_SLACK_NS + slack) && off <= later + slack;
}

static void
take_pair(struct nic_clock *clock, uint64_t raw, const struct reference *pair)
{
	int64_t gap = rm_mono_since(pair->at, clock->pair.at);

	if (clock->paired && gap >= DRIFT_OVER_NS)
		clock->drift_ppb = (int32_t)(((wide)pair->ns - clock->pair.ns - gap) *
					     1000000000 / gap);
	if (pair->ns >= clock->newest.ns) {
		clock->newest = *pair;
		move_base(clock, raw, pair->ns);
	}
	clock->pair = *pair;
	clock->paired = true;
}

int
nic_clock_pair(struct nic_clock *clock, uint64_t raw, rm_mono_t before,
    const struct nic_clock_reading *after)
{
	const struct reference *reference =
	    clock->paired ? &clock->pair : &clock->newest;
	int64_t took = rm_mono_since(after->mono, before), expected;
	rm_mono_t at = rm_mono_add(before, took / 2);
	wide ns;
	int r;

	if (clock->wall)
		return -EOPNOTSUPP;
	if (raw == 0) {
		clock->counts.missing++;
		return -ENODATA;
	}
	if (took < 0 || took > PAIR_TAKES_NS) {
		clock->counts.imprecise++;
		return -EAGAIN;
	}
	if (clock->format == 0) {
		r = first_stamp(clock, raw, after);
		if (r == 0)
			take_pair(
			    clock, raw, &(struct reference){ clock->newest.ns, at });
		return r;
	}
	expected = expected_at(reference, at);
	ns = to_ns(clock, raw, expected);
	if (is_of_another_format(clock, raw, after) ||
	    !pair_is_plausible(clock, ns - expected, slack_after(reference, at)))
		return distrust(clock, raw, expected, after);
	take_pair(clock, raw, &(struct reference){ (int64_t)ns, at });
	return nic_clock_is_trusted(clock, at) ? 0 : -ESTALE;
}

bool
nic_clock_is_trusted(const struct nic_clock *clock, rm_mono_t now)
{
	return clock->counts.jumps == 0 ||
	       rm_mono_since(now, clock->untrusted_until) >= 0;
}

enum nic_clock_format
nic_clock_format(const struct nic_clock *clock)
{
	return clock->format;
}

int32_t
nic_clock_drift_ppb(const struct nic_clock *clock)
{
	return clock->drift_ppb;
}

const struct nic_clock_counts *
nic_clock_counts(const struct nic_clock *clock)
{
	return &clock->counts;
}
