/*
 * pending - the probes in flight, and the outcome of each.
 *
 * Send stamp, reply and follow-up may come in any order, twice, or never; each probe is
 * concluded exactly once. Sequence numbers are assigned here, one after the other, so
 * that a reply finds its probe without a search. Pure: time is an argument.
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
	void *target;                    /* the prober's */
	rm_mono_t posted;                /* T1 */
	rm_mono_t seen;                  /* T6 */
	int64_t sent_ns, back_ns;        /* T2, T5: our port's clock */
	int64_t arrived_ns, answered_ns; /* T3, T4: the reflector's clock */
	uint64_t timestamp;              /* as sent, in PTP format: a reply echoes it */
	uint64_t overruns; /* of this host's receive queues when it was sent */
	uint32_t seq;
	uint32_t responder_count;
	uint32_t dst_qpn, label; /* only with QPs; label: of its flow */
	uint16_t src_port, size_bytes;
	uint8_t dscp;
	uint8_t arrived_dscp, arrived_ecn, arrived_ttl;
	uint8_t has;          /* enum pending_has */
	uint8_t result_flags; /* WIRE_COUNTED, WIRE_ARRIVAL, WIRE_LATE_SEND */
	uint8_t stamp_source; /* of T5 */
	bool own_clock; /* T2 and T5 are from another clock than CLOCK_REALTIME, which
			   timestamp is from */
	bool unstamped; /* the reply came without T5: back_ns is not valid */
};

struct pending;

/* capacity: how far the oldest probe in flight may be behind the newest, in sequence
 * numbers. */
struct pending *pending_new(size_t capacity, uint32_t first_seq); /* NULL: no memory */
void pending_free(struct pending *pending);                       /* NULL is allowed */
/* Only grows; pointers to probes are invalid after it. */
int pending_reserve(struct pending *pending, size_t capacity);

struct pending_probe *pending_add(struct pending *pending); /* NULL: full */
struct pending_probe *pending_find(struct pending *pending, uint32_t seq);
struct pending_probe *pending_oldest(struct pending *pending);
void pending_remove(struct pending *pending, struct pending_probe *probe);
size_t pending_count(const struct pending *pending);

/* All three delays are known: waiting any longer brings nothing. */
bool pending_complete(const struct pending_probe *probe);

/*
 * Fills outcome, reason, times, flags of result; the other fields are not changed. A
 * reply that arrived within timeout_ns by its stamps is in time, however late it was
 * read. self_loss: this host itself may have lost the reply.
 */
void pending_conclude(const struct pending_probe *probe, int64_t timeout_ns,
    bool self_loss, struct wire_result *result);

#endif
