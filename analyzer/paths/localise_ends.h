/*
 * localise_ends - RNICs and hosts that their own rack has found bad: no path causes the
 * losses of other racks to them. Pure. A rack leaves its own bad RNICs out of its rows.
 * It cannot do so with RNICs of other racks: it sends a probe or two a second to each,
 * too few to find out that an RNIC is dead.
 */
#ifndef ANALYZER_PATHS_LOCALISE_ENDS_H
#define ANALYZER_PATHS_LOCALISE_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

#define LOCALISE_MAX_ENDS 256 /* bad ends of one rack; losses to more of them count */
#define LOCALISE_END_BYTES (2 * RM_NAME_BYTES)
#define LOCALISE_SAMPLES_BYTES 4096 /* text of a row's lost flows; more is dropped */

struct localise_ends {                     /* of one rack; zeroed at first */
	char (*names)[LOCALISE_END_BYTES]; /* "host/device", or "host" */
	size_t count, room;
	uint32_t rnics; /* of the rack, by its own report; 0: not known */
};

void localise_ends_release(struct localise_ends *ends);
void localise_ends_clear(struct localise_ends *ends); /* no end is bad any more */

/* Marks as bad: "host/device", or "host" for all its RNICs. After an error the end
 * counts as good. -ENOBUFS: too many, or the name is too long; -ENOMEM. */
int localise_ends_add(struct localise_ends *ends, const char *name);

/*
 * Takes the probes that were lost to bad ends out of a row towards their rack. The
 * row's samples of lost flows show which share of the losses these are. row->samples
 * then points to the remaining samples, in `samples`. Returns how many probes were
 * taken out: 0 if most of the rack's RNICs are bad, because then the fault may be a
 * part that all of them share.
 */
uint64_t localise_ends_leave_out(const struct localise_ends *ends,
    struct wire_path_row *row, char samples[LOCALISE_SAMPLES_BYTES]);

#endif
