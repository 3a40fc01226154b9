/*
 * summary_rnic - counts and delays of one RNIC's own probes, for summaries. Pure.
 */
#ifndef TOR_AGGREGATOR_SUMMARY_SUMMARY_RNIC_H
#define TOR_AGGREGATOR_SUMMARY_SUMMARY_RNIC_H

#include <stdbool.h>

#include "schemas/wire.h"

struct roster_rnic;
struct rm_sketch;

/* The three terms of wire_result; added to and reset together. */
struct summary_terms {
	struct rm_sketch *rtt, *prober_delay, *responder_delay;
};

bool summary_terms_init(struct summary_terms *terms); /* false: out of memory */
void summary_terms_clear(struct summary_terms *terms);
void summary_terms_add(struct summary_terms *terms, const struct wire_result *result);
void summary_terms_reset(struct summary_terms *terms);

struct summary_rnic {
	struct summary_terms terms;
	uint64_t sent;
	uint64_t outcomes[WIRE_OUTCOMES];
	bool bad;
	bool due; /* has turned bad: goes at once */
	bool has_last;
	struct wire_rnic_row last;
};

struct summary_rnic *summary_rnic_new(void); /* NULL: out of memory */
void summary_rnic_free(struct summary_rnic *rnic);
void summary_rnic_add(struct summary_rnic *rnic, const struct wire_result *result);

/* Fills .last and starts afresh. */
void summary_rnic_take(struct summary_rnic *rnic, const struct roster_rnic *who);

#endif
