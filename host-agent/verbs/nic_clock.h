/*
 * nic_clock - converts the raw time stamps of one RDMA device's completions to
 * nanoseconds.
 *
 * Only differences between stamps of the same device mean anything: its zero is its
 * own. A stamp that cannot be true makes the clock untrusted for some seconds; until
 * then software stamps have to do, for both ends of what is measured: never one of
 * each.
 *
 * Tested with sequences of the kinds that NICs were seen to give (zeroes, stamps out of
 * order, counters that wrap at 32, 48 and 64 bits, jumps, the real-time format of
 * mlx5), NOT on hardware: no device with such stamps was there to try. Pure.
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
	NIC_CLOCK_WALL,       /* nanoseconds since the epoch, as libibverbs converted */
};

struct nic_clock_reading { /* our clocks, just after the stamp was read */
	rm_mono_t mono;
	rm_wall_t wall;
};

struct nic_clock_counts {
	uint64_t converted;
	uint64_t missing;   /* zero: the NIC gave none */
	uint64_t backward;  /* before one seen earlier: normal with several queues */
	uint64_t jumps;     /* impossible: the clock lost its trust */
	uint64_t untrusted; /* refused until it had it again */
	uint64_t vague;     /* pairs that took too long */
};

/*
 * Raw cycles: core_clock_khz, mask as ibv_query_device_ex gives them (hca_core_clock,
 * completion_timestamp_mask). Whether they are the real-time format is found out from
 * the first stamp: one that is within a day of our wall clock is. (A real-time clock
 * further off is taken for cycles, seen to jump, and stays untrusted.)
 * -EOPNOTSUPP: no clock can be made of these; -ENOMEM.
 */
int nic_clock_new(uint64_t core_clock_khz, uint64_t mask, struct nic_clock **ret);
/* ibv_wc_read_completion_wallclock_ns: passed through, checked the same way. */
int nic_clock_new_wall(struct nic_clock **ret);
void nic_clock_free(struct nic_clock *clock); /* NULL is fine */

/*
 * A completion's stamp. now: when it was polled; the event is at most NIC_CLOCK_LATE_NS
 * older. -ENODATA: there is none. -ESTALE: the clock is not trusted at the moment.
 */
#define NIC_CLOCK_LATE_NS (2 * RM_NS_PER_S)
int nic_clock_stamp(struct nic_clock *clock, uint64_t raw,
    const struct nic_clock_reading *now, int64_t *ret);

/*
 * The device's clock as it is now (ibv_query_rt_values_ex) and ours before and after
 * that: every second or so, where the device has it. Finds small jumps, which stamps
 * alone do not show; not for wall-clock completions, which that call does not give.
 * Returns as above. -EAGAIN: it took too long to tell anything.
 */
int nic_clock_pair(struct nic_clock *clock, uint64_t raw, rm_mono_t before,
    const struct nic_clock_reading *after);

bool nic_clock_is_trusted(const struct nic_clock *clock, rm_mono_t now);
/* 0: not known before the first stamp. */
enum nic_clock_format nic_clock_format(const struct nic_clock *clock);
/* How much faster than CLOCK_MONOTONIC it runs, between the last two pairs; 0: unknown.
 */
int32_t nic_clock_drift_ppb(const struct nic_clock *clock);
const struct nic_clock_counts *nic_clock_counts(const struct nic_clock *clock);

#endif
