/*
 * suspect_view - the data of one window for naming RNICs.
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
	/* Share of round trips that may be lost without a fault; 0: 0.8 %. */
	double stray_share;
};

#endif
