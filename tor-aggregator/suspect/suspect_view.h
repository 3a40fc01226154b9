/*
 * suspect_view - the data of one window by which RNICs are named in verdicts.
 */
#ifndef TOR_AGGREGATOR_SUSPECT_SUSPECT_VIEW_H
#define TOR_AGGREGATOR_SUSPECT_SUSPECT_VIEW_H

#include "rackmesh/judge/verdict.h"

struct rack;
struct rack_blame;
struct rack_legs;
struct rack_support;
struct rack_tally;

struct rack_view { /* one window */
	const struct rack *rack;
	const struct rack_legs *legs;
	const struct rack_blame *blame;
	const struct rack_tally *tallies;
	rm_wall_t start;
	struct rack_support *support;
	double stray_share; /* share of round trips lost without a fault; 0: 0.8 % */
};

#endif
