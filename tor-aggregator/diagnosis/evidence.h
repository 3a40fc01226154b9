/*
 * evidence - the data on one RNIC and on its switch's port in one interval: the
 * increase of each counter, and the results of its probes. Pure.
 *
 * A value that was not read, or could not be read, is not set; it must not be taken for
 * 0.
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
	/* a value for each priority group, which has the number of the priority */
	SWITCH_GROUP_DROP_PKTS,
	SWITCH_OPER_UP, /* gauges */
	SWITCH_PFC_ON,
	/* Gauges of the port's optical module; not set if another port shares the
	 * module. */
	SWITCH_OPTICS_RX_LOWEST_NW,
	SWITCH_OPTICS_RX_HIGHEST_NW,
	SWITCH_OPTICS_RX_LOW_ALARM_NW,
	SWITCH_GIANTS,
	SWITCH_OPER_CHANGES,
	SWITCH_FEC_CORRECTED_BITS,
	/* Codewords close to the limit of what RS(544,514) can correct: with at least
	 * EVIDENCE_WORST_ERRORS wrong symbols. */
	SWITCH_FEC_WORST,
	SWITCH_SPEED_MBPS, /* gauges */
	SWITCH_LANES,
	SWITCH_LANE_MBPS, /* nominal rate of the module's lanes */
	/* Codewords that RS(528,514) could only just correct, if it is in use: with
	 * EVIDENCE_SHORT_ERRORS to EVIDENCE_SHORT_MOST. */
	SWITCH_FEC_WORST_SHORT,
	SWITCH_RX_BUFFER_DROPS,  /* of all classes */
	SWITCH_GPAUSE_RX_FRAMES, /* global pauses (802.3x) */
	SWITCH_GPAUSE_TX_FRAMES,
	EVIDENCE_NUMBERS,
};

/* Values that are not counters. */
enum evidence_given {
	GIVEN_NONE,
	/* lost share of the probes from and to the RNIC, see diagnoses_probes */
	GIVEN_LOSS_PCT,
	GIVEN_SMALL_LOSS_PCT,
	GIVEN_LARGE_LOSS_PCT, /* lost share of the probes with the full MTU */
	/* The numbers below are about the other RNICs of the rack; evidence_join sets
	   them. */
	/* number of RNICs that are paused for GIVEN_PAUSED_PCT or more */
	GIVEN_OTHERS_PAUSED,
	/* the highest share of time, in %, for which one RNIC pauses the switch */
	GIVEN_OTHERS_PAUSING,
	GIVEN_OTHERS_CNP, /* number of RNICs that handled CNPs */
	/* this RNIC's share of marked packets, divided by the highest share of
	 * another */
	GIVEN_CE_ABOVE_OTHERS,
	EVIDENCE_GIVENS,
};

/* Numbers of symbols with an error in one codeword. RS(544,514) can correct 15,
 * RS(528,514) can correct 7. */
#define EVIDENCE_WORST_ERRORS 12
#define EVIDENCE_SHORT_ERRORS 6
#define EVIDENCE_SHORT_MOST 7

#define GIVEN_PAUSED_PCT 5
#define GIVEN_ABOVE_ALL 1000 /* GIVEN_CE_ABOVE_OTHERS if the others have no marks */

#define EVIDENCE_CABLES 4         /* of one bond, at one switch */
#define EVIDENCE_CABLE_NUMBERS 14 /* numbers that evidence_add_cable combines */

struct evidence_cable {
	char port[EVIDENCE_PORT_BYTES];
	/* the values of this port, summed up over their indexes */
	uint64_t value[EVIDENCE_CABLE_NUMBERS];
};

struct evidence {
	char name[EVIDENCE_NAME_BYTES]; /* "host/device" */
	char port[EVIDENCE_PORT_BYTES]; /* name of the switch's port; "": not known */
	/* lengths of the intervals; 0: the device was not read */
	int64_t host_ns, switch_ns;
	/* number of counters that were not used, because their increase is not possible
	 */
	unsigned impossible;
	/* bits: the indexes for which the number is set */
	uint8_t there[EVIDENCE_NUMBERS];
	uint64_t value[EVIDENCE_NUMBERS][EVIDENCE_INDEXES];
	uint32_t given_there; /* bits of enum evidence_given that are set */
	double given[EVIDENCE_GIVENS];
	/* name of the RNIC that pauses the switch for GIVEN_OTHERS_PAUSING */
	char pausing[EVIDENCE_NAME_BYTES];
	/* number of cables of the bond whose port this is; 0 or 1: it is no bond */
	unsigned cables;
	/* the ports that evidence_add_cable combined, the first one included; further
	 * ones than EVIDENCE_CABLES are not listed. 0: only one port was added */
	struct evidence_cable of_cables[EVIDENCE_CABLES];
	size_t of_cable_count;
};

void evidence_set(
    struct evidence *evidence, unsigned number, unsigned index, uint64_t value);
/* Adds value to a counter, or sets a gauge to value. */
void evidence_add(
    struct evidence *evidence, unsigned number, unsigned index, uint64_t value);
/* Adds the evidence of the next interval of the same RNIC or port, so that both are one
 * interval. Names, port and given values stay. */
void evidence_extend(struct evidence *evidence, const struct evidence *next);
/* Adds the evidence of another port of the switch that has a cable to the same bond,
 * for the same interval: the bond's RNIC counts what all its cables carry. Increases
 * are added if both ports have them, since half of the traffic must not be compared
 * with all of the RNIC's. The longest paused time is used, as it is for the ports of
 * the RNIC. States of a cable (errors, optics, changes) are not taken: they are judged
 * for each port. evidence->port stays the name of the first port. */
void evidence_add_cable(struct evidence *evidence, const struct evidence *cable);
#define EVIDENCE_PORTS_BYTES 80
/* Writes the name of the port whose number this is. If ports of a bond were combined in
 * it: those with at least EVIDENCE_SHOWS of the value of the highest one, and, in
 * brackets, all ports if there are others. Names are never cut: if there is no room for
 * all, the number of the others is written. */
#define EVIDENCE_SHOWS 0.1
void evidence_ports(
    const struct evidence *evidence, unsigned number, char out[EVIDENCE_PORTS_BYTES]);
void evidence_give(struct evidence *evidence, enum evidence_given given, double value);

bool evidence_is_switch(unsigned number);
/* Returns the length in seconds of the interval in which the number was counted; 0: it
 * was not read. */
double evidence_seconds(const struct evidence *evidence, unsigned number);
/* True: the counter of this number may have increased by delta in ns. If not, it is an
 * error of the device: more than a port of 800 Gb/s has bits, or, of a paused time,
 * more than the interval and the minute after which a switch may update it. */
bool evidence_is_possible(unsigned number, uint64_t delta, int64_t ns);
/* Sums up the values of a number over its indexes. where: only indexes at which this
 * number is above 0; 0: all indexes. False: there is no such index. */
bool evidence_sum(
    const struct evidence *evidence, unsigned number, unsigned where, uint64_t *ret);
bool evidence_most(const struct evidence *evidence, unsigned number, uint64_t *ret);

#endif
