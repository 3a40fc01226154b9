/*
 * nic_clock - converts the raw time stamps of one RDMA device's completions to
 * nanoseconds.
 *
 * Only differences between stamps of the same device mean anything: each device has its
 * own zero. An impossible stamp makes the clock untrusted for some seconds; in that
 * time software stamps are used for both ends of an interval, never one of each kind.
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
	NIC_CLOCK_CYCLES = 1, /* of hca_core_clock, wrapping at the mask */
	NIC_CLOCK_REAL_TIME,  /* seconds << 32 | nanoseconds, since the epoch */
	NIC_CLOCK_WALL,       /* nanoseconds since the epoch, converted by libibverbs */
};

struct nic_clock_reading { /* the host's clocks, just after the stamp was read */
	rm_mono_t mono;
	rm_wall_t wall;
};

struct nic_clock_counts {
	uint64_t converted;
	uint64_t missing;   /* zero: the NIC gave no stamp */
	uint64_t backward;  /* before one seen earlier: normal with several queues */
	uint64_t jumps;     /* impossible: the clock is not trusted any more */
	uint64_t untrusted; /* not used while the clock was not trusted */
	uint64_t imprecise; /* pairs of readings that took too long */
};

/*
 * Raw cycles: core_clock_khz, mask as ibv_query_device_ex gives them (hca_core_clock,
 * completion_timestamp_mask). The first stamp decides whether the format is real time:
 * it is if the stamp is within a day of the host's wall clock. (A real-time clock that
 * is further off is taken for cycles, appears to jump, and stays untrusted.)
 * -EOPNOTSUPP: these values make no clock; -ENOMEM.
 */
int nic_clock_new(uint64_t core_clock_khz, uint64_t mask, struct nic_clock **ret);
/* ibv_wc_read_completion_wallclock_ns: passed through, checked the same way. */
int nic_clock_new_wall(struct nic_clock **ret);
void nic_clock_free(struct nic_clock *clock); /* NULL is allowed */

/*
 * Converts the stamp of a completion. now: when it was polled; the event is at most
 * NIC_CLOCK_LATE_NS older. -ENODATA: the completion has no stamp. -ESTALE: the clock is
 * not trusted at the moment.
 */
#define NIC_CLOCK_LATE_NS (2 * RM_NS_PER_S)
int nic_clock_stamp(struct nic_clock *clock, uint64_t raw,
    const struct nic_clock_reading *now, int64_t *ret);

/*
 * Takes the device's present clock (ibv_query_rt_values_ex) and the host's clocks
 * before and after that call: about every second, where the device supports it. Finds
 * small jumps, which stamps alone do not show; not for wall-clock completions, since
 * the call does not return that clock. Returns the same errors. -EAGAIN: the call took
 * too long to be of use.
 */
int nic_clock_pair(struct nic_clock *clock, uint64_t raw, rm_mono_t before,
    const struct nic_clock_reading *after);

bool nic_clock_is_trusted(const struct nic_clock *clock, rm_mono_t now);
/* 0: not known before the first stamp. */
enum nic_clock_format nic_clock_format(const struct nic_clock *clock);
/* How much faster than CLOCK_MONOTONIC the clock runs, by the last two pairs; 0:
 * unknown. */
int32_t nic_clock_drift_ppb(const struct nic_clock *clock);
const struct nic_clock_counts *nic_clock_counts(const struct nic_clock *clock);

#endif
