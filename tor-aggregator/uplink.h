/*
 * uplink - the two lanes to the analyzer: summaries and incidents.
 *
 * Each lane numbers its messages (incarnation, seq) and keeps them in a bounded
 * queue of its own until the sink acknowledges: is responsible for them. A full queue
 * drops its oldest. At every moment, per lane: in = delivered + spooled + dropped.
 *
 * The sink is whoever takes the bytes; for now history, later a link to an analyzer.
 */
#ifndef TOR_AGGREGATOR_UPLINK_H
#define TOR_AGGREGATOR_UPLINK_H

#include <stdint.h>

#include "schemas/wire.h"

struct rm_incident;
struct uplink;

struct uplink_sink { /* zeroed: none, everything is spooled */
	/* Takes a copy and later calls uplink_acked, or uplink_failed. -EAGAIN: not
	 * now, uplink_pump tries again. Never calls back from inside. */
	int (*send)(void *arg, enum wire_lane lane, uint64_t seq, const uint8_t *data,
	    size_t len);
	void *arg;
};

struct uplink_options {
	const char *aggregator, *region; /* copied */
	uint64_t incarnation;
	size_t summary_bytes, incident_bytes; /* of the queues */
};

struct uplink_counts { /* of one lane; spooled = in - delivered - the drops */
	uint64_t in, delivered;
	uint64_t dropped_full;  /* pushed out by newer ones */
	uint64_t dropped_write; /* could not be written: too large, or out of memory */
	uint64_t bytes;         /* of what went in */
};

int uplink_new(const struct uplink_options *options, const struct uplink_sink *sink,
    struct uplink **ret);
void uplink_free(struct uplink *uplink);

/* The head is filled here. */
void uplink_summary(struct uplink *uplink, const struct wire_summary *summary);
void uplink_incident(struct uplink *uplink, const char *tor,
    enum wire_incident_state state, const struct rm_incident *incident);

/* Hands over what is waiting; after a failure, from the oldest that is not
 * acknowledged. */
void uplink_pump(struct uplink *uplink);
void uplink_acked(struct uplink *uplink, enum wire_lane lane, uint64_t seq);
void uplink_failed(struct uplink *uplink, enum wire_lane lane);

uint64_t uplink_spooled(const struct uplink *uplink, enum wire_lane lane);
const struct uplink_counts *uplink_counts(
    const struct uplink *uplink, enum wire_lane lane);

#endif
