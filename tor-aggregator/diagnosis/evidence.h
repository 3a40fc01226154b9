/*
 * evidence - the data on one RNIC and on its switch's port in one interval: the
 * increase of each counter, and the results of its probes. Pure.
 *
 * Missing is not zero: values that were not read, or could not be, are not set.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_EVIDENCE_H
#define TOR_AGGREGATOR_DIAGNOSIS_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

#define EVIDENCE_INDEXES WIRE_COUNTER_INDEXES
#define EVIDENCE_NAME_BYTES 132 /* "host/device" */
#define EVIDENCE_PORT_BYTES 32

/* Numbers 1 to WIRE_COUNTERS - 1 are the host's, enum wire_counter; then those of
 * the switch's port at the other end of the cable, with the names of
 * docs/counters.md. */
enum evidence_number {
	EVIDENCE_SWITCH_FIRST = WIRE_COUNTERS,
	SWITCH_RX_ERR = EVIDENCE_SWITCH_FIRST,
	SWITCH_FEC_UNCORR,
	SWITCH_TX_DISCARDS,
	SWITCH_TX_BUFFER_DROPS,
	SWITCH_WRED_DROPS,
	SWITCH_ECN_MARKED,
	SWITCH_TX_PKTS,
	SWITCH_PFC_RX_FRAMES, /* by priority */
	SWITCH_PFC_TX_FRAMES,
	SWITCH_PFC_RX_PAUSE_US,
	SWITCH_PFC_TX_PAUSE_US,
	SWITCH_QUEUE_DROP_PKTS, /* by queue */
	SWITCH_PFCWD_STORMED,   /* a gauge */
	SWITCH_PFCWD_DETECTED,
	SWITCH_GROUP_DROP_PKTS, /* by group, which has the number of the priority */
	SWITCH_OPER_UP,         /* gauges */
	SWITCH_PFC_ON,
	/* Of the port's module, unless it is shared with another port; gauges. */
	SWITCH_OPTICS_RX_LOWEST_NW,
	SWITCH_OPTICS_RX_HIGHEST_NW,
	SWITCH_OPTICS_RX_LOW_ALARM_NW,
	SWITCH_GIANTS,
	SWITCH_OPER_CHANGES,
	SWITCH_FEC_CORRECTED_BITS,
	SWITCH_FEC_WORST,  /* codewords that RS(544,514) could only just correct:
			      EVIDENCE_WORST_ERRORS */
	SWITCH_SPEED_MBPS, /* gauges */
	SWITCH_LANES,
	/* Codewords that RS(528,514) could only just correct, if it is in use:
	 * EVIDENCE_SHORT_ERRORS to EVIDENCE_SHORT_MOST. */
	SWITCH_FEC_WORST_SHORT,
	SWITCH_RX_BUFFER_DROPS, /* of all classes */
	EVIDENCE_NUMBERS,
};

/* Values that are no counters, and are set directly. */
enum evidence_given {
	GIVEN_NONE,
	GIVEN_LOSS_PCT, /* of its own probes and those to it: see diagnoses_probes */
	GIVEN_SMALL_LOSS_PCT,
	GIVEN_LARGE_LOSS_PCT, /* of the full MTU */
	/* About the rack's other RNICs: set by evidence_join. */
	GIVEN_OTHERS_PAUSED,   /* how many are paused for GIVEN_PAUSED_PCT or more */
	GIVEN_OTHERS_PAUSING,  /* the most that one of them pauses the switch, in % */
	GIVEN_OTHERS_CNP,      /* how many handled CNPs */
	GIVEN_CE_ABOVE_OTHERS, /* its share of marks divided by the highest of theirs */
	EVIDENCE_GIVENS,
};

/* So many symbols of a codeword had an error, of the 15 that RS(544,514) corrects, and
 * of the 7 that RS(528,514) does. */
#define EVIDENCE_WORST_ERRORS 12
#define EVIDENCE_SHORT_ERRORS 6
#define EVIDENCE_SHORT_MOST 7

#define GIVEN_PAUSED_PCT 5
#define GIVEN_ABOVE_ALL 1000 /* factor if the others have none */

struct evidence {
	char name[EVIDENCE_NAME_BYTES];  /* "host/device" */
	char port[EVIDENCE_PORT_BYTES];  /* port of the switch; "": not known */
	int64_t host_ns, switch_ns;      /* of the intervals; 0: not read */
	uint8_t there[EVIDENCE_NUMBERS]; /* by index, in bits */
	uint64_t value[EVIDENCE_NUMBERS][EVIDENCE_INDEXES];
	uint32_t given_there; /* in bits */
	double given[EVIDENCE_GIVENS];
	char pausing[EVIDENCE_NAME_BYTES]; /* the RNIC that GIVEN_OTHERS_PAUSING is
					      about */
};

void evidence_set(
    struct evidence *evidence, unsigned number, unsigned index, uint64_t value);
/* Adds to a counter; of a gauge the latest value counts. */
void evidence_add(
    struct evidence *evidence, unsigned number, unsigned index, uint64_t value);
/* Adds the counts of the interval right after it, of the same RNIC or port: both
 * become one interval. Names, port and given values stay. */
void evidence_extend(struct evidence *evidence, const struct evidence *next);
void evidence_give(struct evidence *evidence, enum evidence_given given, double value);

bool evidence_is_switch(unsigned number);
/* The length of the interval in which the number was counted; 0: it was not read. */
double evidence_seconds(const struct evidence *evidence, unsigned number);
/* Sums the indexes that exist and, unless where is 0, at which `where` is above 0.
 * False: there is none. */
bool evidence_sum(
    const struct evidence *evidence, unsigned number, unsigned where, uint64_t *ret);
bool evidence_most(const struct evidence *evidence, unsigned number, uint64_t *ret);

#endif
