/*
 * port_counts - what the counters of switches' ports say, at the ends of links between
 * switches; for the verdicts on those links, and on the switches. Pure.
 *
 * Each rack's summaries name the ports that count what can explain a loss. The newest
 * summary of a rack replaces what it named before; what nobody repeats is forgotten
 * after PORT_COUNTS_KEEP_NS. Switches are called as their aggregators' configs or LLDP
 * call them: a name is the same with its domain and without, in either case.
 */
#ifndef ANALYZER_INCIDENTS_PORT_COUNTS_H
#define ANALYZER_INCIDENTS_PORT_COUNTS_H

#include <stdint.h>

#include "rackmesh/core/clock.h"

struct port_counts;
struct rm_verdict;
struct wire_summary_view;

#define PORT_COUNTS_MAX 4096 /* ports of a region; more are left out */
#define PORT_COUNTS_KEEP_NS (60 * RM_NS_PER_S)

struct port_counts_counts { /* rows of summaries, so far */
	uint64_t left_out;  /* because there was no room, or no memory */
	uint64_t refused;   /* because they make no sense */
};

struct port_counts *port_counts_new(void);              /* NULL when out of memory */
void port_counts_free(struct port_counts *port_counts); /* NULL is fine */

/* One without the rack's state, or older than PORT_COUNTS_KEEP_NS, says nothing. */
void port_counts_summary(struct port_counts *port_counts,
    const struct wire_summary_view *view, rm_mono_t now, rm_wall_t wall);

const struct port_counts_counts *port_counts_counts(
    const struct port_counts *port_counts);

/* Of a verdict on one link or one switch: what its ends, or all ends of its links, have
 * counted, into evidence.counters, as much as fits. */
void port_counts_fill(
    const struct port_counts *port_counts, struct rm_verdict *verdict, rm_mono_t now);

#endif
