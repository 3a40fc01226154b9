/*
 * ring - the last raw results of one rack, for evidence and for the API. Pure.
 *
 * Its size in bytes is fixed: a new result replaces the oldest one. The results leave
 * the rack's aggregator only in answers to requests.
 */
#ifndef TOR_AGGREGATOR_WINDOW_RING_H
#define TOR_AGGREGATOR_WINDOW_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct ring;

struct ring_result {    /* one cache line */
	rm_mono_t sent; /* on this aggregator's clock */
	uint64_t src_guid, dst_guid;
	uint32_t rtt_ns, prober_delay_ns, responder_delay_ns, round_trip_ns;
	uint32_t seq, dst_qpn;
	uint16_t src_port, size_bytes;
	uint8_t src_port_num, dst_port_num;
	uint8_t outcome, invalid_reason, kind, dscp, flags;
	uint8_t arrived_dscp : 6, arrived_ecn : 2;
	uint8_t arrived_ttl, stamp_source;
	bool late; /* its window had closed */
};

/* bytes: memory for results; at least one result is kept. */
int ring_new(size_t bytes, struct ring **ret);
void ring_free(struct ring *ring);

void ring_put(
    struct ring *ring, rm_mono_t sent, bool late, const struct wire_result *result);

size_t ring_count(const struct ring *ring);
/* The i-th newest result, from 0 on; NULL: there are fewer. Valid until the next
 * ring_put. */
const struct ring_result *ring_get(const struct ring *ring, size_t i);

/* True: this RNIC is at either end. */
bool ring_touches(const struct ring_result *result, struct wire_rnic_id id);

#endif
