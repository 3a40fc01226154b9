/*
 * pending - the probes in flight, and the outcome of each.
 *
 * Send stamp, reply and follow-up may come in any order, twice, or never; each probe is
 * concluded exactly once. Sequence numbers are assigned here, in order, so that the
 * probe of a reply is found without a search. Pure: time is an argument.
 */
#ifndef HOST_AGENT_PROBE_PENDING_H
#define HOST_AGENT_PROBE_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

enum pending_has {
	PENDING_IN_FLIGHT = 1,
	PENDING_SENT = 2,      /* sent_ns (T2) */
	PENDING_REPLIED = 4,   /* back_ns (T5), seen (T6) */
	PENDING_ARRIVED = 8,   /* arrived_ns (T3) */
	PENDING_ANSWERED = 16, /* answered_ns (T4) */
};

struct pending_probe {
	void *target;     /* the struct prober_target that the probe belongs to */
	rm_mono_t posted; /* T1 */
	rm_mono_t seen;   /* T6 */
	int64_t sent_ns, back_ns;        /* T2, T5: by the clock of this host's port */
	int64_t arrived_ns, answered_ns; /* T3, T4: by the clock of the reflector */
	uint64_t timestamp; /* send time in PTP format, which a reply echoes */
	/* number of overruns of this host's receive queues at the time of the send */
	uint64_t overruns;
	uint32_t seq;
	uint32_t responder_count;
	/* only with QPs; label: flow label of the probe's flow */
	uint32_t dst_qpn, label;
	uint16_t src_port, size_bytes;
	uint8_t dscp;
	uint8_t arrived_dscp, arrived_ecn, arrived_ttl;
	uint8_t has;          /* enum pending_has */
	uint8_t result_flags; /* WIRE_COUNTED, WIRE_ARRIVAL, WIRE_LATE_SEND */
	uint8_t stamp_source; /* of T5 */
	/* true: T2 and T5 are not by CLOCK_REALTIME, although timestamp is */
	bool own_clock;
	bool unstamped; /* the reply came without T5: back_ns is not valid */
};

struct pending;

/* capacity: the largest distance in sequence numbers from the oldest to the newest
 * probe in flight. */
struct pending *pending_new(size_t capacity, uint32_t first_seq); /* NULL: no memory */
void pending_free(struct pending *pending);                       /* NULL is allowed */
/* The room only grows. Pointers to probes are invalid afterwards. -ENOMEM. */
int pending_reserve(struct pending *pending, size_t capacity);

struct pending_probe *pending_add(struct pending *pending); /* NULL: full */
struct pending_probe *pending_find(struct pending *pending, uint32_t seq);
struct pending_probe *pending_oldest(struct pending *pending);
void pending_remove(struct pending *pending, struct pending_probe *probe);
size_t pending_count(const struct pending *pending);

/* True: all three delays are known, so no further message about the probe matters. */
bool pending_complete(const struct pending_probe *probe);

/*
 * Fills in the outcome, reason, times and flags of result, and no other fields. A reply
 * is in time if it arrived within timeout_ns by its stamps, however late it was read.
 * self_loss: this host itself may have lost the reply.
 */
void pending_conclude(const struct pending_probe *probe, int64_t timeout_ns,
    bool self_loss, struct wire_result *result);

#endif
