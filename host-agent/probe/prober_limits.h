/* prober_limits - compiled-in limits of one prober that no pinglist can raise. The
 * limits per window are in rate_limit.h. */
#ifndef HOST_AGENT_PROBE_PROBER_LIMITS_H
#define HOST_AGENT_PROBE_PROBER_LIMITS_H

/* packets per second of one prober, to all targets */
#define PROBER_MAX_RATE_PER_S 20000
#define PROBER_MAX_BYTES_PER_S 10000000
#define PROBER_MAX_TARGETS 4096
#define PROBER_MAX_SIZE_BYTES 9000 /* UDP payload */
/* time between two probes (or pairs) to one target */
#define PROBER_MIN_INTERVAL_US 100
#define PROBER_MAX_FOCUS_MS 10000

#endif
