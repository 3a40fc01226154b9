/*
 * nic_clock - converts the raw time stamps of one RDMA device's completions to
 * nanoseconds.
 *
 * Each device counts from its own zero, so use only differences between stamps of the
 * same device. An impossible stamp makes the clock untrusted for some seconds. The
 * caller must use software stamps meanwhile, and never one stamp of each kind for one
 * interval.
 *
 * Tested with sequences of the kinds known from NICs (zeroes, stamps out of order,
 * counters that wrap at 32, 48 and 64 bits, jumps, the real-time format of mlx5), NOT
 * on hardware: no device with such stamps was available. Pure.
 */
#ifndef HOST_AGENT_VERBS_NIC_CLOCK_H
#define HOST_AGENT_VERBS_NIC_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct nic_clock;

enum nic_clock_format {
	NIC_CLOCK_CYCLES = 1, /* cycles of hca_core_clock, which wrap at the mask */
	NIC_CLOCK_REAL_TIME,  /* seconds << 32 | nanoseconds, since the epoch */
	NIC_CLOCK_WALL,       /* nanoseconds since the epoch, converted by libibverbs */
};

struct nic_clock_reading { /* the host's clocks, just after the stamp was read */
	rm_mono_t mono;
	rm_wall_t wall;
};

struct nic_clock_counts {
	uint64_t converted;
	uint64_t missing; /* stamps of value zero: the NIC gave no stamp */
	/* stamps that are lower than an earlier stamp, as is normal with
	 * several queues */
	uint64_t backward;
	uint64_t jumps; /* impossible stamps, after which the clock is not trusted */
	/* stamps that were not used, because the clock was not trusted */
	uint64_t untrusted;
	uint64_t imprecise; /* pairs of readings that took too long to be used */
};

/* Creates the converter of raw stamps. core_clock_khz: frequency of the device's clock.
 * mask: the bits of its counter. -EOPNOTSUPP: one of the two is not plausible. -ENOMEM.
 */
int nic_clock_new(uint64_t core_clock_khz, uint64_t mask, struct nic_clock **ret);
/* Creates the converter of stamps of ibv_wc_read_completion_wallclock_ns, which are
 * checked like the others but need no conversion. */
int nic_clock_new_wall(struct nic_clock **ret);
void nic_clock_free(struct nic_clock *clock); /* NULL is allowed */

/*
 * Converts the stamp of a completion. now: time at which it was polled; the event is at
 * most NIC_CLOCK_LATE_NS older. -ENODATA: the completion has no stamp. -ESTALE: the
 * clock is not trusted now.
 */
#define NIC_CLOCK_LATE_NS (2 * RM_NS_PER_S)
int nic_clock_stamp(struct nic_clock *clock, uint64_t raw,
    const struct nic_clock_reading *now, int64_t *ret);

/*
 * Takes a reading of the device's clock (ibv_query_rt_values_ex), with the host's
 * clocks before and after that call. Call it about once a second on devices that
 * support it: it finds small jumps, which stamps do not show. Not for wall-clock
 * stamps, since the call does not read that clock. Errors as above, and -EAGAIN: the
 * call took too long, so the reading is not used.
 */
int nic_clock_pair(struct nic_clock *clock, uint64_t raw, rm_mono_t before,
    const struct nic_clock_reading *after);

bool nic_clock_is_trusted(const struct nic_clock *clock, rm_mono_t now);
/* Returns 0 while there was no stamp. */
enum nic_clock_format nic_clock_format(const struct nic_clock *clock);
/* How much faster than CLOCK_MONOTONIC the device's clock runs, in parts per 10^9, as
 * computed from the last two pairs; 0: not known. */
int32_t nic_clock_drift_ppb(const struct nic_clock *clock);
const struct nic_clock_counts *nic_clock_counts(const struct nic_clock *clock);

#endif
