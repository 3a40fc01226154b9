/*
 * port_counts - stores which ports at the ends of links between switches have counts
 * that can explain losses. They are evidence for verdicts on those links and switches.
 * Pure.
 *
 * The summaries of a rack name these ports. The newest summary of a rack replaces the
 * ports of the one before; if no summary follows, they are forgotten after
 * PORT_COUNTS_KEEP_NS. The names of switches come from the aggregators' configs or from
 * LLDP: a name with its domain equals the name without it, and upper case equals lower
 * case.
 */
#ifndef ANALYZER_INCIDENTS_PORT_COUNTS_H
#define ANALYZER_INCIDENTS_PORT_COUNTS_H

#include <stdint.h>

#include "rackmesh/core/clock.h"

struct port_counts;
struct rm_verdict;
struct wire_summary_view;

/* maximum number of ports of a region; further ones are left out */
#define PORT_COUNTS_MAX 4096
#define PORT_COUNTS_KEEP_NS (60 * RM_NS_PER_S)

struct port_counts_counts { /* numbers of rows of summaries, so far */
	/* rows that were left out because there was no room, or no memory */
	uint64_t left_out;
	/* rows in which a name is missing, or a text is not printable ASCII */
	uint64_t refused;
};

struct port_counts *port_counts_new(void);              /* NULL when out of memory */
void port_counts_free(struct port_counts *port_counts); /* NULL is fine */

/* A summary without the rack's state, or older than PORT_COUNTS_KEEP_NS, changes
 * nothing. age_ns: age of the summary, by monotonic clocks. If it is below 0, it is not
 * known whether this summary or the one before is newer: then the rack's ports are
 * deleted. */
void port_counts_summary(struct port_counts *port_counts,
    const struct wire_summary_view *view, int64_t age_ns, rm_mono_t now);

const struct port_counts_counts *port_counts_counts(
    const struct port_counts *port_counts);

/* For a verdict on one link, switch or ToR: writes what the ports at the link's ends,
 * or at all links of the switch, have counted into evidence.counters, as much as fits.
 */
void port_counts_fill(
    const struct port_counts *port_counts, struct rm_verdict *verdict, rm_mono_t now);

#endif
