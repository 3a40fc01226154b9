#include "tor-aggregator/lasting/rack_steady.h"

#include <math.h>

/* The two hypotheses: a loss that continues still has at least CONTINUES_SHARE of its
 * rate; a loss that is over has at most IS_OVER of its rate left. */
#define CONTINUES_SHARE 0.7
#define IS_OVER 0.2

double
rack_steady_expected(uint32_t round_trips)
{
	return -expm1((double)round_trips * log1p(-RACK_STEADY_BASE)) +
	       RACK_STEADY_BURSTS;
}

double
rack_steady_weight(unsigned seconds, unsigned lossy, double expected)
{
	const double n = seconds, k = lossy;
	const double common = fmin(expected / n, 1 - 1e-9);

	if (lossy == 0 || k <= expected)
		return 0;
	return k * log(k / (n * common)) +
	       (k < n ? (n - k) * log((n - k) / (n * (1 - common))) : 0);
}

double
rack_steady_over(double before, double share, uint32_t sent, uint32_t lost)
{
	const double is_over = fmax(IS_OVER * share, RACK_STEADY_BASE);
	const double continues = fmax(CONTINUES_SHARE * share, 2 * is_over);
	const double kept = (double)sent - lost;

	return fmax(0, before + lost * log(is_over / continues) +
			   kept * (log1p(-is_over) - log1p(-continues)));
}
