#include "region-controller/plan/coverage.h"

uint32_t
coverage_flows(uint32_t paths, double probability)
{
	/* hit[j]: the probability that the flows so far have hit exactly j paths. */
	double hit[COVERAGE_MAX_PATHS + 1] = { 1 };
	uint32_t n = paths < COVERAGE_MAX_PATHS ? paths : COVERAGE_MAX_PATHS;
	uint32_t flows = 0;

	while (flows < COVERAGE_MAX_FLOWS && (flows < n || hit[n] < probability)) {
		uint32_t most = flows < n ? flows + 1 : n;

		/* The loop runs backwards, so that hit[j - 1] is still the value
		 * without this flow. */
		for (uint32_t j = most; j > 0; j--)
			hit[j] = (hit[j] * j + hit[j - 1] * (n - j + 1)) / n;
		hit[0] = 0;
		flows++;
	}
	return flows;
}
