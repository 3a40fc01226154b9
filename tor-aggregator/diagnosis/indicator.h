/*
 * indicator - a number computed from evidence: a rate, a share, a ratio. Pure.
 *
 * A table in indicator.c defines the calculation, the unit and the text of each
 * indicator.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_INDICATOR_H
#define TOR_AGGREGATOR_DIAGNOSIS_INDICATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evidence;

enum indicator {
	INDICATOR_NONE,
	LINK_DOWNS,
	CARRIER_CHANGES,
	SWITCH_CHANGES,
	CRC_ERRORS,
	SYMBOL_ERRORS,
	FEC_FAILURES,
	BIT_ERROR_RATE,
	BIT_ERROR_RATE_NRZ,
	LANE_DARKER,
	LANE_BELOW_ALARM,
	SWITCH_LANE_DARKER,
	SWITCH_LANE_BELOW_ALARM,
	SWITCH_ERRORS,
	SWITCH_FEC_FAILURES,
	SWITCH_BIT_ERROR_RATE,
	SWITCH_BIT_ERROR_RATE_NRZ,
	SWITCH_FEC_NEARLY,
	SWITCH_FEC_NEARLY_NRZ,
	ICRC_ERRORS,
	PCI_OVERFLOWS,
	PCI_STALLED,
	PCI_STALLED_SECONDS,
	PCI_SIGNAL_ERRORS,
	PCI_FATAL,
	PCI_NONFATAL,
	PCI_CORRECTED,
	PCI_LANES,
	PCI_SPEED,
	DISCARDS,
	BUFFER_NEARLY_FULL,
	PFC_RECEIVED,
	PFC_RECEIVED_OF_SWITCH,
	PFC_SENT,
	PFC_SENT_OF_SWITCH,
	PAUSED,
	PAUSED_OF_SWITCH,
	PAUSING,
	PAUSING_OF_SWITCH,
	STORM_EVENTS,
	WATCHDOG_STORMS,
	WATCHDOG_STORMED,
	RECEIVE_USE,
	GLOBAL_PAUSES,
	GLOBAL_PAUSES_RECEIVED,
	PFC_ON,
	PFC_AGREEMENT_OUT,
	PFC_AGREEMENT_IN,
	OUT_OF_BUFFERS,
	RNR_SENT,
	OUT_OF_ORDER,
	SEQUENCE_NAKS,
	ACK_TIMEOUTS,
	RETRIES_EXCEEDED,
	NAKS_PER_TIMEOUT,
	SWITCH_DROPS,
	HEADROOM_DROPS,
	HEADROOM_DROPS_OF_PORT,
	LOSSLESS_SHARE,
	CE_RATIO,
	CNPS_SENT,
	CNP_PER_CE,
	CNP_RATE,
	CNP_IGNORED,
	SLOWED,
	OVERSIZE,
	SWITCH_OVERSIZE,
	PROBE_LOSS,
	SMALL_PROBE_LOSS,
	LARGE_PROBE_LOSS,
	OTHERS_PAUSED,
	OTHERS_PAUSING,
	OTHERS_SLOWED,
	CE_ABOVE_OTHERS,
	INDICATORS,
};

enum indicator_status {
	INDICATOR_KNOWN,
	/* the counters exist, but their values are too small for a result */
	INDICATOR_IDLE,
	INDICATOR_MISSING, /* a counter is missing */
};

const char *indicator_str(enum indicator indicator);  /* "symbol_errors" */
const char *indicator_unit(enum indicator indicator); /* "symbols", "%", ... */

/* True: the indicator counts errors that were corrected, so no packets are lost. */
bool indicator_is_corrected(enum indicator indicator);

enum indicator_status indicator_read(
    const struct evidence *evidence, enum indicator indicator, double *ret);

/* Writes text such as "its port counted 812 symbol errors in 10 s". There is room for
 * the longest text of each indicator, with its number, its time and its ports or RNIC;
 * an incident has room for one of them (RM_EVIDENCE_TEXT). */
#define INDICATOR_TEXT 200
void indicator_report(const struct evidence *evidence, enum indicator indicator,
    char out[INDICATOR_TEXT]);

/* Returns the name of the first missing counter that the indicator needs, such as
 * "symbol_err". */
const char *indicator_needs(const struct evidence *evidence, enum indicator indicator);

/* Sets GIVEN_OTHERS_* and GIVEN_CE_ABOVE_OTHERS of each RNIC, from the evidence of the
 * other RNICs in all. A value is not set if no other RNIC has the counters for it. */
void evidence_join(struct evidence *const *all, size_t count);

#endif
