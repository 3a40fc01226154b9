/*
 * rnic_sample - RNICs with every field of their time set, for the messages that carry
 * RNICs.
 *
 * Golden files hold these values: never change them, add others.
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

/* A table that opens: nothing but an id. */
size_t rnic_forge(struct forge *forge);

#endif
