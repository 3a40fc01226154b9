/*
 * rnic_sample - sample RNICs, whose fields are all set as of the release that added
 * each, for messages that contain RNICs.
 *
 * Golden files contain these values: never change them, only add others.
 */
#ifndef UNIT_RNIC_SAMPLE_H
#define UNIT_RNIC_SAMPLE_H

#include "forge.h"
#include "schemas/wire.h"

#define RNIC_SAMPLES 2

extern const struct wire_rnic rnic_samples[RNIC_SAMPLES];
extern const struct wire_rnic rnic_roce; /* with a second QP, a LID and a link */

void rnic_expect(const struct wire_rnic *got, const struct wire_rnic *want);

/* Fields of a forged RNIC table. */
enum {
	RNIC_ID,
	RNIC_HOST,
	RNIC_DEVICE,
	RNIC_DRIVER,
	RNIC_ATTACHMENTS,
	RNIC_PLANE,
	RNIC_ADDRESSES,
	RNIC_QPN,
	RNIC_LARGE_QPN = 10,
	RNIC_LINK = 12,
	RNIC_FIELDS
};

/* A table with an id only, which is the least that is accepted. */
size_t rnic_forge(struct forge *forge);

#endif
