/*
 * localise_ends - RNICs and hosts that their own rack has found bad: losses of others
 * to them are not caused by a path. Pure. A rack leaves its own bad RNICs out of its
 * rows. Of other racks' RNICs it only has its own results, and with a probe or two a
 * second to an RNIC it cannot tell that the RNIC is dead.
 */
#ifndef ANALYZER_PATHS_LOCALISE_ENDS_H
#define ANALYZER_PATHS_LOCALISE_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

#define LOCALISE_MAX_ENDS 256 /* of one rack; what is beyond is not left out */
#define LOCALISE_END_BYTES (2 * RM_NAME_BYTES)
#define LOCALISE_SAMPLES_BYTES \
	4096 /* of a row's lost flows; what is beyond is dropped */

struct localise_ends {                     /* of one rack; zeroed at first */
	char (*names)[LOCALISE_END_BYTES]; /* "host/device", or "host" */
	size_t count, room;
	uint32_t rnics; /* of the rack, by its own report; 0: not known */
};

void localise_ends_release(struct localise_ends *ends);
void localise_ends_clear(struct localise_ends *ends); /* none is bad */

/* name: "host/device", or "host" for all its RNICs: it is bad. -ENOBUFS: too many, or
 * its name is too long; -ENOMEM: it counts as good. */
int localise_ends_add(struct localise_ends *ends, const char *name);

/*
 * Nothing where most of the rack's RNICs are bad: more may be at fault than these. Else
 * it takes out of a row towards that rack what was lost to its bad ends, by the row's
 * samples of lost flows: where only some of them are to bad ends, or not all lost flows
 * are named, that share of the losses. row->samples: the others, in `samples`. Returns
 * how many probes.
 */
uint64_t localise_ends_leave_out(const struct localise_ends *ends,
    struct wire_path_row *row, char samples[LOCALISE_SAMPLES_BYTES]);

#endif
