/*
 * noise_fabric - simulates counts of the paths between racks, as real summaries for the
 * real localisation: per path and second, the probes sent, lost on the way out and lost
 * on the way back.
 *
 * Every rack probes every other one over every spine; a reply takes the same spine.
 * Places: every directed link, every spine, every ToR.
 */
#ifndef TESTS_SIM_NOISE_FABRIC_H
#define TESTS_SIM_NOISE_FABRIC_H

#include "tests/sim/noise.h"

#define NOISE_FABRIC_MAX_RACKS 64
#define NOISE_FABRIC_MAX_SPINES 32

struct noise_fabric;

/* link_rate_per_s: probes per second over every link and direction. */
int noise_fabric_new(uint32_t racks, uint32_t spines, double link_rate_per_s,
    double loss, struct noise_fabric **ret);
void noise_fabric_free(struct noise_fabric *fabric);
struct noise_subject noise_fabric_subject(struct noise_fabric *fabric);

#endif
