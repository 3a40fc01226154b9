/*
 * indicator - a number computed from evidence: a rate, a share, a ratio. Pure.
 *
 * One table defines the computation, the unit and the text of each.
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
	INDICATOR_IDLE,    /* its counters exist, but counted too little for it */
	INDICATOR_MISSING, /* a counter is missing */
};

const char *indicator_str(enum indicator indicator);  /* "symbol_errors" */
const char *indicator_unit(enum indicator indicator); /* "symbols", "%", ... */

/* True: FEC corrects what it counts, so that it loses no packet. */
bool indicator_is_corrected(enum indicator indicator);

enum indicator_status indicator_read(
    const struct evidence *evidence, enum indicator indicator, double *ret);

/* "its port counted 812 symbol errors in 10 s". Cut to fit. */
#define INDICATOR_TEXT 160
void indicator_report(const struct evidence *evidence, enum indicator indicator,
    char out[INDICATOR_TEXT]);

/* The name of the first counter that it needs and that is missing: "symbol_err". */
const char *indicator_needs(const struct evidence *evidence, enum indicator indicator);

/* Fills in for each of them what the others of their rack do: GIVEN_OTHERS_* and
 * GIVEN_CE_ABOVE_OTHERS. Nothing is filled in if no other one counts it. */
void evidence_join(struct evidence *const *all, size_t count);

#endif
