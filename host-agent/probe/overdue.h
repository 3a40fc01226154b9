/*
 * overdue - probes that timed out and whose reply may still come. Pure.
 *
 * It keeps the last OVERDUE_MAX of them; each holds a reference to its target.
 */
#ifndef HOST_AGENT_PROBE_OVERDUE_H
#define HOST_AGENT_PROBE_OVERDUE_H

#include <assert.h>
#include <stdint.h>

#include "host-agent/probe/pending.h"
#include "schemas/wire.h"

#define OVERDUE_MAX 4096 /* a power of two: 500 probes a second for OVERDUE_NS */
/* After the send. A result holds the delay in two fields of 32 bits. */
#define OVERDUE_NS (8 * RM_NS_PER_S)

struct overdue_probe {
	struct pending_probe probe;
	struct wire_result result; /* as it was reported */
};

struct overdue { /* zeroed at first */
	/* From the first probe that times out until overdue_clear, of each RNIC. */
	struct overdue_probe *ring;
};

#define OVERDUE_RING_BYTES (704 * 1024)
static_assert(OVERDUE_MAX * sizeof(struct overdue_probe) <= OVERDUE_RING_BYTES,
    "an agent of eight RNICs that all lose probes takes 5.5 MiB more");

/* Without memory the probe is not kept: its late reply is not reported. */
void overdue_put(struct overdue *overdue, const struct pending_probe *probe,
    const struct wire_result *result);
struct overdue_probe *overdue_find(struct overdue *overdue, uint32_t seq); /* or NULL */
void overdue_forget(struct overdue_probe *probe);
void overdue_clear(struct overdue *overdue);

/*
 * Fills the report on a reply that came at back_ns, by the clock of the probe's send
 * stamp; share_ns of the time was spent inside the responder. False: no report, because
 * the network delivered the reply in time, or the probe is too old.
 */
bool overdue_report(const struct overdue_probe *probe, int64_t back_ns,
    int64_t share_ns, int64_t timeout_ns, struct wire_result *ret);

#endif
