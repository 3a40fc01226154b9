/*
 * noise_rack - simulates counts of a rack for the real rack judge: per pair and 250 ms,
 * the probes sent, lost on the way out and lost on the way back. Racks of less than
 * four RNICs have three witnesses outside, as in plans.
 *
 * The places are: every RNIC's sending side, its receiving side, both sides; and, last,
 * the whole rack.
 */
#ifndef TESTS_SIM_NOISE_RACK_H
#define TESTS_SIM_NOISE_RACK_H

#include "tests/sim/noise.h"

#define NOISE_RACK_MAX_RNICS 16
#define NOISE_RACK_SIDES 3 /* sides of an RNIC: sending, receiving, both */

struct noise_rack;

int noise_rack_new(uint32_t rnics, double loss, struct noise_rack **ret);
void noise_rack_free(struct noise_rack *rack);
struct noise_subject noise_rack_subject(struct noise_rack *rack);

#endif
