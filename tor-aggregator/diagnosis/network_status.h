/*
 * network_status - whether the network can be at fault for what an RNIC's applications
 * suffer, by its probes and its counters. Pure.
 *
 * Innocent needs both: probes that arrive, and counters by which nothing was
 * retransmitted, paused, slowed down or dropped. Where one of these is not known, it is
 * not known: silence is no innocence.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_NETWORK_STATUS_H
#define TOR_AGGREGATOR_DIAGNOSIS_NETWORK_STATUS_H

#include "tor-aggregator/diagnosis/rules.h"

struct evidence;

enum network_status {
	NETWORK_NOT_KNOWN,
	NETWORK_INNOCENT,
	NETWORK_SUSPECT,
};

const char *network_status_str(enum network_status status); /* "innocent" */

/* out: of NETWORK_SUSPECT what speaks against it, in a sentence; of NETWORK_NOT_KNOWN
 * the name of the first counter that is missing; of NETWORK_INNOCENT "". */
enum network_status network_status_of(
    const struct evidence *evidence, char out[RULE_SENTENCE_BYTES]);

#endif
