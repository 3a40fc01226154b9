/*
 * network_status - decides whether the network can be at fault for the problems of an
 * RNIC's applications, by its probes and its counters. Pure.
 *
 * The network is innocent only if probes arrive, and the counters show no
 * retransmissions, pauses, slowdowns or drops. If any of these is not known, the status
 * is not known.
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

/* out: for NETWORK_SUSPECT a sentence with the evidence against the network; for
 * NETWORK_NOT_KNOWN the name of the first missing counter; for NETWORK_INNOCENT "". */
enum network_status network_status_of(
    const struct evidence *evidence, char out[RULE_SENTENCE_BYTES]);

#endif
