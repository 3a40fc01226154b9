/*
 * overdue - probes that timed out and whose reply may still come. Pure. The last
 * OVERDUE_MAX such probes are kept; each has a reference to its target.
 */
#ifndef HOST_AGENT_PROBE_OVERDUE_H
#define HOST_AGENT_PROBE_OVERDUE_H

#include <assert.h>
#include <stdint.h>

#include "host-agent/probe/pending.h"
#include "schemas/wire.h"

/* a power of two, enough for 500 lost probes a second over OVERDUE_NS */
#define OVERDUE_MAX 4096
/* A reply is waited for this long after the send. A result has the delay in two fields
 * of 32 bits. */
#define OVERDUE_NS (8 * RM_NS_PER_S)

struct overdue_probe {
	struct pending_probe probe;
	/* the result that was reported when the probe timed out */
	struct wire_result result;
};

struct overdue { /* all zeros at first */
	/* Allocated at the first probe that times out, freed by overdue_clear. Each
	 * RNIC has one. */
	struct overdue_probe *ring;
};

#define OVERDUE_RING_BYTES (704 * 1024)
static_assert(OVERDUE_MAX * sizeof(struct overdue_probe) <= OVERDUE_RING_BYTES,
    "an agent of eight RNICs that all lose probes takes 5.5 MiB more");

/* Keeps a probe that has timed out. If memory runs out the probe is not kept, and a
 * late reply to it is not reported. */
void overdue_put(struct overdue *overdue, const struct pending_probe *probe,
    const struct wire_result *result);
struct overdue_probe *overdue_find(struct overdue *overdue, uint32_t seq); /* or NULL */
void overdue_forget(struct overdue_probe *probe);
void overdue_clear(struct overdue *overdue);

/*
 * Fills in the report of a late reply. back_ns: arrival of the reply, by the clock of
 * the probe's send stamp. share_ns: the part of the delay that passed inside the
 * responder. False: nothing is to be reported, because the network delivered the reply
 * in time, or because the probe is too old.
 */
bool overdue_report(const struct overdue_probe *probe, int64_t back_ns,
    int64_t share_ns, int64_t timeout_ns, struct wire_result *ret);

#endif
