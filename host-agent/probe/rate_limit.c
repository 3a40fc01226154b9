#include "host-agent/probe/rate_limit.h"

/*
 * Each packet moves the due time on by the packet's cost (bytes or packets, divided
 * by the rate). A packet may be sent if the due time is at most one window ahead of
 * now. So at most rate * (T + window) is sent in a time T. With a rate 2 % below the
 * limit, that is below the limit for T = 1 s, and below a fiftieth of the limit for T
 * = 10 ms.
 */
#define KEEP_BELOW 0.98

static const struct rate_limit_meter unused = { { INT64_MIN / 2 }, 0 };

void
rate_limit_init(
    struct rate_limit *rate_limit, uint64_t packets_per_s, uint64_t bytes_per_s)
{
	*rate_limit = (struct rate_limit){ packets_per_s, bytes_per_s, unused, unused };
}

static int64_t
cost_ns(uint64_t amount, uint64_t per_s)
{
	return (int64_t)(1e9 * (double)amount / (KEEP_BELOW * (double)per_s)) + 1;
}

/* Returns the due time that the meter will have if all taken packets are sent at that
 * time. */
static rm_mono_t
meter_at(const struct rate_limit_meter *meter, rm_mono_t left)
{
	rm_mono_t from = rm_mono_since(left, meter->due) > 0 ? left : meter->due;

	return rm_mono_add(from, meter->taken_ns);
}

static int64_t
meter_wait(const struct rate_limit_meter *meter, int64_t cost, rm_mono_t now)
{
	int64_t wait =
	    rm_mono_since(meter_at(meter, now), now) + cost - RATE_LIMIT_WINDOW_NS;

	return wait > 0 ? wait : 0;
}

int64_t
rate_limit_wait(const struct rate_limit *rate_limit, rm_mono_t now)
{
	int64_t packets = meter_wait(
	    &rate_limit->packets, cost_ns(1, rate_limit->packets_per_s), now);
	int64_t bytes = meter_wait(&rate_limit->bytes,
	    cost_ns(RATE_LIMIT_LARGEST_BYTES + RATE_LIMIT_HEADER_BYTES,
		rate_limit->bytes_per_s),
	    now);

	return packets > bytes ? packets : bytes;
}

void
rate_limit_take(struct rate_limit *rate_limit, size_t bytes)
{
	rate_limit->packets.taken_ns += cost_ns(1, rate_limit->packets_per_s);
	rate_limit->bytes.taken_ns +=
	    cost_ns(bytes + RATE_LIMIT_HEADER_BYTES, rate_limit->bytes_per_s);
}

static void
meter_settle(struct rate_limit_meter *meter, rm_mono_t now)
{
	if (meter->taken_ns == 0)
		return;
	meter->due = meter_at(meter, now);
	meter->taken_ns = 0;
}

void
rate_limit_left(struct rate_limit *rate_limit, rm_mono_t now)
{
	meter_settle(&rate_limit->packets, now);
	meter_settle(&rate_limit->bytes, now);
}
