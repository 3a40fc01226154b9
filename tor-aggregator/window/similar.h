/*
 * similar - compares the shares of packets that two RNICs of a rack lose. If a part
 * that both share is at fault, for example their ToR, they lose a similar share.
 */
#ifndef TOR_AGGREGATOR_WINDOW_SIMILAR_H
#define TOR_AGGREGATOR_WINDOW_SIMILAR_H

#include <math.h>
#include <stdbool.h>

/* Shares are similar if the smaller one is at least this part of the larger one. */
#define SIMILAR_PART 0.6

/* False also if one of the shares is 0. */
static inline bool
similar_shares(double a, double b)
{
	return fmin(a, b) > 0 && fmin(a, b) >= SIMILAR_PART * fmax(a, b);
}

#endif
