/*
 * localise_ends - stores the RNICs and hosts that their own rack has found bad. No path
 * causes the losses of other racks to them. Pure. A rack leaves its own bad RNICs out
 * of its rows. It cannot do so with RNICs of other racks: it sends a probe or two a
 * second to each, too few to find out that an RNIC is dead.
 */
#ifndef ANALYZER_PATHS_LOCALISE_ENDS_H
#define ANALYZER_PATHS_LOCALISE_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

/* maximum number of bad ends of one rack; losses to further ends count */
#define LOCALISE_MAX_ENDS 256
#define LOCALISE_END_BYTES (2 * RM_NAME_BYTES)
/* length of the text of a row's lost flows; the rest of a longer text is dropped */
#define LOCALISE_SAMPLES_BYTES 4096

struct localise_ends {                     /* bad ends of one rack; zeroed at first */
	char (*names)[LOCALISE_END_BYTES]; /* "host/device", or "host" */
	size_t count, room;
	/* number of the rack's RNICs, by its own report; 0: not known */
	uint32_t rnics;
};

void localise_ends_release(struct localise_ends *ends);
void localise_ends_clear(struct localise_ends *ends); /* afterwards no end is bad */

/* Marks as bad the RNIC "host/device", or all RNICs of the host "host". Returns 0;
 * -ENOBUFS: there are too many, or the name is too long; or -ENOMEM. After an error the
 * end counts as good. */
int localise_ends_add(struct localise_ends *ends, const char *name);

/*
 * Takes the probes that were lost to bad ends out of a row towards their rack. The
 * row's samples of lost flows show which share of the losses these are. row->samples
 * then points to the remaining samples, in `samples`. Returns how many probes were
 * taken out. It is 0 if most of the rack's RNICs are bad, because then the fault may be
 * a part that all of them share.
 */
uint64_t localise_ends_leave_out(const struct localise_ends *ends,
    struct wire_path_row *row, char samples[LOCALISE_SAMPLES_BYTES]);

#endif
